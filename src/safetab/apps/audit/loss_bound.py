"""A lower bound on the privacy loss, from releases of worlds with and without a record.

Many releases are made. What a release reveals about the record is its log-likelihood ratio.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.apps.audit.audited_product import LossWorld, due_noise
from safetab.apps.audit.verdicts import LossSeen, Verdict, verdict
from safetab.core.algorithm.measurements import Measurements
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.algorithm.tabulate_level import tabulate_level
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import Ledger
from safetab.core.privacy.loss_curve import ChangedCounts, LossCurve
from safetab.foundation.progress import NoProgress
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Shape
from safetab.runs.guards import backend_of
from safetab.runs.inputs import checked_engine, read_inputs
from safetab.runs.options import RunOptions

_RARE = Fraction(1, 10**12)
_Samples = NDArray[np.float64]
"""Log-likelihood ratios in two rows.

They are of the samples with the record, and of as many without it.
"""


@dataclass(frozen=True, slots=True, eq=False)
class _CountedLevel:
    """A level counted once, so that it can be measured many times; follows `GroupCounts`."""

    plan: LevelPlan
    counted: Mapping[Shape, ExactCounts]

    def totals(self, _: LevelPlan) -> ExactCounts:
        """The exact totals of the level's groups."""
        return self.counted[self.plan.family.total]

    def cells(
        self, _: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """The exact cells of some groups of each shape, without asking the engine again."""
        return {shape: self.counted[shape].of_groups(groups) for shape, groups in groups_of.items()}

    def of_entities(self, shape: Shape) -> NDArray[np.int64]:
        """The counts by entity, iteration and cell."""
        universe = self.plan.universe
        every = self.counted[shape].of_groups(np.arange(universe.size)).confidential_counts
        return every.reshape(len(universe.entities), len(universe.iterations), shape.cells)


def _counted_levels(world: LossWorld, folder: Path) -> tuple[_CountedLevel, ...]:
    """The level of each table family that has a budget, counted from files by a run's engine."""
    written = world.write(folder)
    inputs = read_inputs(written.parameters, written.data)
    levels = []
    with (
        backend_of(RunOptions()) as backend,
        checked_engine(inputs, backend, NoProgress()) as (_, engine),
    ):
        engine.prepare()
        for plan in inputs.require().plan.levels:
            totals = engine.totals(plan)
            counted = {plan.family.total: totals}
            for shape in plan.family.finer:
                counted |= engine.cells(plan, {shape: totals.indices})
            levels.append(_CountedLevel(plan, counted))
    return tuple(levels)


class _Distinguisher:
    """The best test of whether the record is in an entity, given what was released about it.

    It knows the design and all other records. That it is the best test matters only for its power:
    a bound from any test holds for every program.
    """

    def __init__(self, levels: Sequence[_CountedLevel]) -> None:
        plans = [level.plan for level in levels]
        self._budgets = {(plan.family, plan.level): plan.design.budget for plan in plans}
        self._levels = [_LevelOfEntities(level) for level in levels]

    def samples(self) -> _Samples:
        """The samples of one run with its own key; every second entity has the record."""
        ledger = Ledger(self._budgets, AddressedBits.of_the_operating_system())
        ratios = np.sum([level.log_ratios(ledger) for level in self._levels], axis=0)
        return np.stack([ratios[1::2], ratios[::2]])


class _LevelOfEntities:
    """The evidence on the record in the numbers of one table family, entity by entity."""

    def __init__(self, level: _CountedLevel) -> None:
        family, design = level.plan.family, level.plan.design
        self._level = level
        without, with_record = level.of_entities(family.total)[:2, :, 0]
        self._is_changed = without != with_record
        self._by = int(np.abs(with_record - without).max())  # the records of a unit are all equal
        self._without = {shape: level.of_entities(shape)[0] for shape in family.shapes}
        self._cell = {}  # the record's cell in each iteration; 0 where it is in none
        for shape in family.shapes:
            counts = level.of_entities(shape)
            self._cell[shape] = np.abs(counts[1] - counts[0]).argmax(axis=1)
        self._ratios_of_stage = {
            stage: _log_ratios(planned.noise, self._by) for stage, planned in design.stages.items()
        }
        self._absence = np.array([self._log_ratio_of_absence(int(count)) for count in without])

    def _log_ratio_of_absence(self, count: int) -> float:
        """The log-likelihood ratio of a suppressed group whose count without the record is this."""
        design = self._level.plan.design
        if design.suppression_threshold is None:
            return 0.0
        ratio = design.suppression_chance(count + self._by) / design.suppression_chance(count)
        return float(ratio.log())

    def log_ratios(self, ledger: Ledger) -> NDArray[np.float64]:
        """The ratio of each entity in a run that pays from this ledger."""
        plan = self._level.plan
        ratios = np.zeros((len(plan.universe.entities), len(plan.universe.iterations)))
        is_published = np.zeros(ratios.shape, dtype=np.bool_)
        for measured in tabulate_level(plan, self._level, ledger):
            self._add_ratios(measured, ratios.reshape(-1))
            is_published.reshape(-1)[measured.indices] = True
        of_groups = np.where(is_published, ratios, self._absence)
        return np.asarray(of_groups[:, self._is_changed].sum(axis=1))

    def _add_ratios(self, measured: Measurements, ratios: NDArray[np.float64]) -> None:
        """Add to each group's ratio what its noisy numbers reveal.

        They are its total of stage 1 and its cells.
        """
        total = self._level.plan.family.total
        iterations = measured.plan.universe.index.iteration_of(measured.indices)
        if measured.stage_1_totals is not None:
            noise = measured.stage_1_totals - self._without[total][iterations, 0]
            ratios[measured.indices] += _at(self._ratios_of_stage[Stage.STAGE_1], noise)
        for shape, values in measured.values.items():
            groups = measured.groups_of(shape)
            of_group = iterations[groups]
            cells = self._cell[shape][of_group]
            noise = values[np.arange(len(groups)), cells] - self._without[shape][of_group, cells]
            ratios[measured.indices[groups]] += _at(self._ratios_of_stage[measured.stage], noise)


def _at(ratios: NDArray[np.float64], noise: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(ratios[np.clip(noise + len(ratios) // 2, 0, len(ratios) - 1)])


def _log_ratios(noise: NoiseDistribution, by: int) -> NDArray[np.float64]:
    """The log-ratio of a number's chances with and without the record, for noise from -M to M.

    For noise x this is log P[X = x - by] - log P[X = x], if the record changes the number by `by`.
    """
    most = noise.least_with_tail_below(_RARE)
    values = range(-most - by, most + 1)
    logs = np.array([float(noise.probability(value).log()) for value in values])
    return np.asarray(logs[:-by] - logs[by:])


LOSS = "loss"
_CONFIDENCE = 0.9999
_POWER = 2.327  # standard errors that an estimate stays above, 99 times of 100
_SHARE_TO_CHOOSE = 10  # a tenth of the samples chooses S and epsilon, the others judge
_EPSILONS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(39, 10))
_FINENESS = 1e-9
_ROUNDING = 1e-15
_LIMITS = 200
_NEARLY = 0.95  # a correct program gains nothing over the claim: what could gain most decides
_MOST_FACTOR = Fraction(4)
_STEPS_OF_FACTOR = 2048
# if spending this multiple of the budget could go unnoticed, the check shows nothing
_NEEDED_FACTOR = Fraction(3, 2)
_LEAST_SHARE = 0.85  # of the budget that a full audit must see where nothing is suppressed


@dataclass(frozen=True, slots=True)
class _Bound:
    """A delta that the true delta at this epsilon exceeds, with confidence 99.99 %."""

    epsilon: Fraction
    delta: float
    inside: float  # share of the samples with the record that lie in S
    outside: float  # share of the samples without the record that lie in S
    trials: int


def loss_check(
    world: LossWorld, folder: Path, runs: int, advance: Callable[[], None], processes: int = 1
) -> Verdict:
    """Check that the bound stays below the claim.

    It must also come near the claim where nothing is suppressed. Calls `advance` after each of
    `steps_of(runs)` parts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    distinguisher = _Distinguisher(_counted_levels(world, folder / "here"))
    parts: list[_Samples] = []
    with ExitStack() as stack:
        samples: Iterable[_Samples] = (
            _samples_of_runs(distinguisher, part) for part in _in_parts(runs)
        )
        if processes > 1:
            starting = (processes, get_context("spawn"), _begin_process, (world, folder))
            pool = stack.enter_context(ProcessPoolExecutor(*starting))
            samples = pool.map(_samples_in_process, _in_parts(runs))
        for sample in samples:
            parts.append(sample)
            advance()
    return judged(world, np.concatenate(parts, axis=1), is_full=runs >= world.runs)


def judged(world: LossWorld, samples: _Samples, *, is_full: bool) -> Verdict:
    """The verdict on these samples; only a full audit must see most of the budget."""
    bound = _delta_bound(samples, world)
    claimed = _claimed_delta(world, bound.epsilon)
    share = _factor_with(world, bound.epsilon, bound.delta)
    found = _found_with_99_percent(world, bound)
    number = f"{samples.size:,} samples"
    at_epsilon = f"at epsilon {float(bound.epsilon):g}, claimed {claimed:.5f}"
    words = f"delta at least {bound.delta:.5f} {at_epsilon}"
    faults = []
    if bound.delta > claimed:
        faults.append(f"{words}: at least {share:.1%} of the budget is lost")
    if is_full and not world.is_suppressed and share < _LEAST_SHARE:
        faults.append(
            f"only {share:.1%} of the loss was seen:"
            " the claim is loose, or the audit has lost its edge"
        )
    seen = f"{words}: {share:.1%} of the budget, {number}"
    power = f"a budget overspent by {found - 1:.1%}"
    if found >= _MOST_FACTOR:
        power = "nothing below fourfold spending"
    could_find = bound.delta > 0 and found <= _NEEDED_FACTOR
    if not could_find and not faults:
        overspent = f"a budget overspent by {float(_NEEDED_FACTOR - 1):.0%}"
        seen = f"{seen}, too few to show {overspent}"
        if bound.delta <= 0:
            seen, power = f"{number} are too few to show any loss here", ""
        seen += "" if is_full else ": run the full audit"
    found_verdict = verdict(f"{LOSS}: {world.name}", faults, seen, power, could_find=could_find)
    return replace(found_verdict, loss=LossSeen(share, found) if bound.delta > 0 else None)


def _claimed_delta(world: LossWorld, epsilon: Fraction, factor: Fraction = Fraction(1)) -> float:
    """The delta that a world's config.json asks for with `factor` times its budget.

    It is computed without the program's plan. It is an upper bound, in floating point.
    """
    budget = world.budget * factor
    curve = _curve(world.definition, world.stability, world.most_records, budget, world.fractions)
    return float(curve.delta(epsilon).upper()) + _ROUNDING


def _factor_with(world: LossWorld, epsilon: Fraction, delta: float) -> float:
    """The multiple of the budget that has this delta at this epsilon, in steps of 1/2048."""

    def has_delta(steps: int) -> bool:
        return (
            delta <= 0 or _claimed_delta(world, epsilon, Fraction(steps, _STEPS_OF_FACTOR)) >= delta
        )

    most = int(_MOST_FACTOR * _STEPS_OF_FACTOR)
    return bisect_left(range(most), True, lo=1, key=has_delta) / _STEPS_OF_FACTOR


def _found_with_99_percent(world: LossWorld, bound: _Bound) -> float:
    """The least multiple of the budget that the same number of samples shows 99 times of 100.

    The bound lies below the estimate, so the estimate must exceed the claim by that distance
    and by its own spread.
    """
    weight = math.exp(bound.epsilon)
    inside, outside = (
        math.sqrt(share * (1 - share) / bound.trials) for share in (bound.inside, bound.outside)
    )
    below = bound.inside - weight * bound.outside - bound.delta
    needed = below + _POWER * math.hypot(inside, weight * outside)
    return _factor_with(world, bound.epsilon, _claimed_delta(world, bound.epsilon) + needed)


@lru_cache(maxsize=4096)
def _curve(
    definition: PrivacyDefinition,
    stability: int,
    most: int,
    budget: Fraction,
    fractions: tuple[Fraction, ...],
) -> LossCurve:
    noises = [due_noise(definition, stability, most, budget * fraction) for fraction in fractions]
    return LossCurve(tuple(ChangedCounts(noise, stability, most) for noise in noises))


def _delta_bound(samples: _Samples, world: LossWorld) -> _Bound:
    """A lower bound on delta that holds with confidence 99.99 % for any program.

    S is every ratio above a limit. A tenth of the samples chooses the limit and epsilon, the others
    judge.
    """
    choosing = samples.shape[1] // _SHARE_TO_CHOOSE
    first, judging = np.split(samples, [choosing], axis=1)
    _, limit, epsilon = max(
        _promising_limit(first, epsilon, _claimed_delta(world, epsilon)) for epsilon in _EPSILONS
    )
    trials = judging.shape[1]
    inside, outside = np.count_nonzero(judging >= limit, axis=1).tolist()
    error = (1 - _CONFIDENCE) / 2
    least = _clopper_pearson_limit(inside, trials, error)
    most = 1 - _clopper_pearson_limit(trials - outside, trials, error)
    delta = least - math.exp(epsilon) * most
    return _Bound(epsilon, delta, inside / trials, outside / trials, trials)


def _promising_limit(
    samples: _Samples, epsilon: Fraction, claimed: float
) -> tuple[float, float, Fraction]:
    """The limit at which the estimate is most standard errors above the claim.

    These standard errors come first.
    """
    limits = np.unique(np.quantile(samples[0], np.linspace(0.02, 0.999, _LIMITS)))
    inside, outside = (
        1 - np.searchsorted(np.sort(ratios), limits) / len(ratios) for ratios in samples
    )
    weight = math.exp(epsilon)
    least = 1 / samples.shape[1]
    errors = [np.sqrt(np.maximum(share * (1 - share), least)) for share in (inside, outside)]
    above_claim = inside - weight * outside - _NEARLY * claimed
    gain = above_claim / (errors[0] + weight * errors[1])
    best = int(np.argmax(gain))
    return float(gain[best]), float(limits[best]), epsilon


def _clopper_pearson_limit(successes: int, trials: int, error: float) -> float:
    """A number that the true probability of success exceeds, except with probability `error`."""
    if not successes:
        return 0.0
    low, high = 0.0, successes / trials
    failures = arb(trials - successes + 1)
    while high - low > _FINENESS * high:
        middle = (low + high) / 2
        if arb(middle).beta_lower(arb(successes), failures, regularized=True) < error:
            low = middle
        else:
            high = middle
    return low


def steps_of(runs: int) -> int:
    """The number of times that `loss_check` calls its function `advance`."""
    return len(_in_parts(runs))


def _in_parts(runs: int) -> list[int]:
    at_once = max(runs // 20, 1)
    return [min(at_once, runs - first) for first in range(0, runs, at_once)]


_IN_THIS_PROCESS: list[_Distinguisher] = []


def _begin_process(world: LossWorld, folder: Path) -> None:
    levels = _counted_levels(world, folder / f"process-{os.getpid()}")
    _IN_THIS_PROCESS.append(_Distinguisher(levels))


def _samples_in_process(runs: int) -> _Samples:
    return _samples_of_runs(_IN_THIS_PROCESS[0], runs)


def _samples_of_runs(distinguisher: _Distinguisher, runs: int) -> _Samples:
    return np.concatenate([distinguisher.samples() for _ in range(runs)], axis=1)
