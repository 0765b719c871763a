"""A statistical lower bound on the privacy loss, from how well many runs tell two neighbouring worlds apart.

If the program is (epsilon, delta)-private, then P[S] <= exp(epsilon) Q[S] + delta for every set S of releases, where P
and Q are the two worlds. So log((P[S] - delta) / Q[S]) is at most epsilon, and with confidence bounds for P[S] and Q[S]
it is a lower bound that must not exceed what is claimed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.audit import worlds
from safetab.audit.verdicts import Verdict, verdict
from safetab.census.geography_levels import GeographyLevel
from safetab.foundation.progress import NoProgress
from safetab.pipeline.backends import backend_of
from safetab.pipeline.inputs import checked_engine, read_inputs
from safetab.pipeline.options import RunOptions
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import Noise
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import Ledger
from safetab.privacy.loss_text import loss_text
from safetab.privacy.stages import Stage
from safetab.products.product import Shape
from safetab.tabulation.tabulate_level import tabulate_level

LOSS = "loss"
CONFIDENCE = 0.999
_MOST = 10**6  # above all noisy totals
_TO_CHOOSE = 10  # a tenth of the runs chooses S, the others judge it
_RUNS_AT_ONCE = 10_000
_ABSENT = np.iinfo(np.int64).min
_RARE = Fraction(1, 10**12)
_FINENESS = 1e-9


@dataclass(frozen=True, slots=True)
class LossWorld:
    """Two neighbouring worlds of one level, and the delta at which their loss is bounded."""

    name: str
    geography: GeographyLevel
    budget: float
    delta: Fraction
    runs: int  # of each of the two worlds, in a full audit
    least_share_of_claim: float = 0.0
    person: worlds.Person = worlds.FILLS_ALL_GROUPS
    all_total_only: bool = False
    changes: dict[str, Any] | None = None

    def steps(self, runs: int) -> int:
        """How often `loss_check` tells that it goes on."""
        return 2 * -(-runs // _RUNS_AT_ONCE)

    def write(self, folder: Path, people: tuple[worlds.Person, ...]) -> worlds.AuditWorld:
        thresholds = {"thresholds_p": {key: [_MOST] * 3 for key in worlds.audit_config()["thresholds_p"]}}
        config = worlds.config_of_one_level(self.geography, self.budget, **thresholds, **(self.changes or {}))
        return worlds.write_world(folder, people, config, all_total_only=self.all_total_only)


LOSS_WORLDS = (
    LossWorld("totals, rho 0.5", GeographyLevel.USA, 0.5, Fraction(3, 1000), 3_000_000, 0.8, all_total_only=True),
    LossWorld("both stages, rho 0.25", GeographyLevel.USA, 0.25, Fraction(1, 100), 100_000),
    LossWorld(
        "suppression, rho 0.05", GeographyLevel.TRACT, 0.05, Fraction(1, 100), 100_000,
        changes={"zero_suppression_chance": 0.6},
    ),
    LossWorld(
        "geometric noise, one code, epsilon 1", GeographyLevel.USA, 1, Fraction(0), 100_000, 0.8, all_total_only=True,
        changes={"privacy_defn": "puredp", "max_race_codes": 1},
        person=worlds.Person(worlds.CROWDED_BLOCK, worlds.EIGHT_RACES[:1], worlds.FILLS_ALL_GROUPS.ethnicity),
    ),
)  # fmt: skip


def loss_check(world: LossWorld, folder: Path, runs: int, advance: Callable[[], None], processes: int = 1) -> Verdict:
    """The bound stays below the claim, and comes near it where one person fills all groups that a person can."""
    experiment = _experiment(world, folder / "here")
    parts = [min(_RUNS_AT_ONCE, runs - first) for first in range(0, runs, _RUNS_AT_ONCE)]
    ratios: dict[bool, list[NDArray[np.float64]]] = {True: [], False: []}
    tasks = [(is_there, part) for is_there in (True, False) for part in parts]
    with _samplers(world, folder, experiment, processes) as samples_of:
        for (is_there, _), sample in zip(tasks, samples_of(tasks), strict=True):
            ratios[is_there].append(sample)
            advance()
    bound = epsilon_bound(np.concatenate(ratios[True]), np.concatenate(ratios[False]), float(world.delta))
    claim = _claim(experiment.without.plan, world.delta)
    claimed = loss_text(claim, 5)
    faults = [f"at least {bound:.3f} is lost, and {claimed} is claimed"] if bound > claim else []
    if runs >= world.runs and bound < world.least_share_of_claim * claim:
        faults.append(f"only {bound:.3f} of {claimed} was seen: the claim is loose, or the audit has lost its edge")
    found = f"epsilon at least {bound:.3f}, claimed {claimed} at delta {float(world.delta):g}"
    return verdict(f"{LOSS}: {world.name}", faults, f"{found}: {bound / claim:.0%}, {runs:,} runs of each world")


@dataclass(frozen=True, slots=True, eq=False)
class _CountedLevel:
    """A level whose totals are at hand, so that runs need not count again; keeps to the protocol `GroupCounts`."""

    plan: LevelPlan
    counted: ExactCounts

    def totals(self, _: LevelPlan) -> ExactCounts:
        return self.counted

    def cells(self, _: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        raise NotImplementedError(f"a group reached the threshold of one of {len(groups_of)} tables")

    def totals_of(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.counted.of_groups(indices).confidential_counts[:, 0]


def _counted(world: LossWorld, folder: Path, people: tuple[worlds.Person, ...]) -> _CountedLevel:
    written = world.write(folder, people)
    inputs = read_inputs(written.parameters, written.data)
    with backend_of(RunOptions()) as backend, checked_engine(inputs, backend, NoProgress()) as (_, engine):
        engine.prepare()
        plan = inputs.require().plan.levels[0]
        return _CountedLevel(plan, engine.totals(plan))


@dataclass(frozen=True, slots=True, eq=False)
class _Distinguisher:
    """The best test there is of which of two worlds a release comes from: its log-likelihood ratio."""

    changed: NDArray[np.int64]
    counts_without: NDArray[np.int64]
    ratio_of_noise: dict[Stage, NDArray[np.float64]]
    ratio_of_absence: NDArray[np.float64]

    def log_ratios(self, released: Mapping[Stage, NDArray[np.int64]]) -> NDArray[np.float64]:
        """The log ratios of many releases: each is a row with what it has for the person's groups, or _ABSENT."""
        ratio = np.zeros(1)
        for stage, numbers in released.items():
            ratios = self.ratio_of_noise[stage]
            noise = np.clip(numbers - self.counts_without + len(ratios) // 2, 0, len(ratios) - 1)
            absent = self.ratio_of_absence if stage is Stage.STAGE_2 else 0.0
            ratio = ratio + np.where(numbers == _ABSENT, absent, ratios[noise]).sum(axis=1)
        return ratio


def _distinguisher(without: _CountedLevel, with_person: _CountedLevel) -> _Distinguisher:
    indices = np.union1d(without.counted.indices, with_person.counted.indices)
    changed = indices[without.totals_of(indices) != with_person.totals_of(indices)]
    before, plan = without.totals_of(changed), without.plan
    absence = np.zeros(len(changed))
    if plan.design.suppression_threshold is not None:
        noise = plan.design.stages[Stage.STAGE_2].noise
        left = [plan.design.suppression_threshold - count for count in before.tolist()]
        absence = np.array([float((noise.cdf(most - 1) / noise.cdf(most)).log()) for most in left])
    ratios = {stage: _log_ratios(planned.noise) for stage, planned in plan.design.stages.items()}
    return _Distinguisher(changed, before, ratios, absence)


def _log_ratios(noise: Noise) -> NDArray[np.float64]:
    """How much likelier a number is with one person more, for noise from -M to M: log P[X = x - 1] - log P[X = x]."""
    most = noise.least_with_tail_below(_RARE)
    logs = np.array([float(noise.probability(value).log()) for value in range(-most - 1, most + 1)])
    return -np.diff(logs)


@dataclass(frozen=True, slots=True, eq=False)
class _Experiment:
    """Both worlds, counted, and what tells them apart."""

    without: _CountedLevel
    with_person: _CountedLevel
    distinguisher: _Distinguisher

    def sample(self, is_there: bool, runs: int) -> NDArray[np.float64]:
        """The log-likelihood ratio of what each run released, with the person there or not."""
        level, changed = self.with_person if is_there else self.without, self.distinguisher.changed
        released = {stage: np.full((runs, len(changed)), _ABSENT) for stage in level.plan.design.stages}
        for run in range(runs):
            _run_once(level, changed, {stage: rows[run] for stage, rows in released.items()})
        return self.distinguisher.log_ratios(released)


def _experiment(world: LossWorld, folder: Path) -> _Experiment:
    without = _counted(world, folder / "without", worlds.POPULATION)
    with_person = _counted(world, folder / "with", (*worlds.POPULATION, world.person))
    return _Experiment(without, with_person, _distinguisher(without, with_person))


_Tasks = list[tuple[bool, int]]
_Samples = Iterable[NDArray[np.float64]]
_IN_THIS_PROCESS: list[_Experiment] = []


@contextmanager
def _samplers(
    world: LossWorld, folder: Path, experiment: _Experiment, processes: int
) -> Iterator[Callable[[_Tasks], _Samples]]:
    """What answers many tasks in their order, with one process or several."""
    if processes == 1:
        yield lambda tasks: (experiment.sample(*task) for task in tasks)
        return
    start = (world, folder)
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin_process, start) as pool:
        yield lambda tasks: pool.map(_sample_in_process, tasks)


def _begin_process(world: LossWorld, folder: Path) -> None:
    _IN_THIS_PROCESS.append(_experiment(world, folder / f"process-{os.getpid()}"))


def _sample_in_process(task: tuple[bool, int]) -> NDArray[np.float64]:
    return _IN_THIS_PROCESS[0].sample(*task)


def _run_once(level: _CountedLevel, changed: NDArray[np.int64], released: Mapping[Stage, NDArray[np.int64]]) -> None:
    """Writes what one run released about the changed groups, with a key of its own."""
    budgets = {(level.plan.family, level.plan.level): level.plan.design.budget}
    ledger = Ledger(budgets, AddressedBits.of_the_operating_system())
    for measured in tabulate_level(level.plan, level, ledger):
        of_group = np.full(level.plan.universe.size, _ABSENT)
        of_group[measured.indices] = measured.values[level.plan.family.total][:, 0]
        np.copyto(released[measured.stage], of_group[changed], where=of_group[changed] != _ABSENT)
        if measured.stage_1_totals is not None:
            of_group[measured.indices] = measured.stage_1_totals
            released[Stage.STAGE_1][:] = of_group[changed]


def epsilon_bound(with_person: NDArray[np.float64], without: NDArray[np.float64], delta: float) -> float:
    """With confidence CONFIDENCE, no smaller epsilon is true of the program that gave these two samples.

    S is all that lies above a limit, which a tenth of the samples chooses and the others judge.
    """
    choosing = len(with_person) // _TO_CHOOSE
    limit = _promising_limit(with_person[:choosing], without[:choosing], delta)
    trials = len(with_person) - choosing
    inside, outside = (int(np.count_nonzero(one[choosing:] >= limit)) for one in (with_person, without))
    error = (1 - CONFIDENCE) / 2
    least = clopper_pearson_limit(inside, trials, error)
    most = 1 - clopper_pearson_limit(trials - outside, trials, error)
    return math.log((least - delta) / most) if least > delta else -math.inf


def _promising_limit(with_person: NDArray[np.float64], without: NDArray[np.float64], delta: float) -> float:
    """Where the bound would be greatest, as far as a small sample and rough standard errors tell."""
    limits = np.quantile(with_person, np.linspace(0.3, 0.999, 500))
    inside, outside = (1 - np.searchsorted(np.sort(sample), limits) / len(sample) for sample in (with_person, without))
    errors = 3.3 / math.sqrt(len(with_person) * (_TO_CHOOSE - 1))
    gain = (inside - errors * np.sqrt(inside) - delta) / (outside + errors * np.sqrt(outside) + errors**2)
    return float(limits[np.argmax(gain)])


def clopper_pearson_limit(successes: int, trials: int, error: float) -> float:
    """Below the true probability of success, but for a chance of `error`."""
    if not successes:
        return 0.0
    low, high = 0.0, successes / trials
    while high - low > _FINENESS * high:
        middle = (low + high) / 2
        at_least_so_many = arb(middle).beta_lower(arb(successes), arb(trials - successes + 1), regularized=True)
        low, high = (middle, high) if at_least_so_many < error else (low, middle)
    return low


def _claim(plan: LevelPlan, delta: Fraction) -> Fraction:
    budget = plan.design.budget
    return budget if plan.design.definition is PrivacyDefinition.PURE_DP else epsilon_of_rho(budget, delta)
