"""A statistical lower bound on the privacy loss, compared with the exact delta(epsilon) of the noise that is claimed.

If the program is (epsilon, delta)-private, then P[S] <= exp(epsilon) Q[S] + delta for every set S of releases, where P
and Q are the two worlds. So P[S] - exp(epsilon) Q[S] is at most delta, and with confidence bounds for P[S] and Q[S] it
is a lower bound on delta, whatever the program does. It must not exceed the delta of the calibrated noise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from flint import arb
from numpy.typing import NDArray

from safetab.audit.audited_product import LossWorld
from safetab.audit.counted_level import counted_levels
from safetab.audit.loss_samples import Distinguisher, Samples, joined
from safetab.audit.verdicts import Verdict, verdict
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.privacy.calibration import Noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_curve import ChangedCounts, LossCurve

LOSS = "loss"
CONFIDENCE = 0.9999
_POWER = 2.327  # standard errors that an estimate stays above, 99 times of 100
_TO_CHOOSE = 10  # a tenth of the samples chooses S and epsilon, the others judge
_EPSILONS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(39, 10))
_FINENESS = 1e-9
_ROUNDING = 1e-15
_LIMITS = 200
_NEARLY = 0.95  # a right program gains nothing over the claim: what could gain most decides
_MOST_FACTOR = Fraction(4)
_NEEDED_FACTOR = Fraction(3, 2)  # of the budget: where spending so much would not be found, a check shows nothing
_LEAST_SHARE = 0.85  # of the budget that must be seen where nothing is suppressed, in a full audit


@dataclass(frozen=True, slots=True)
class Bound:
    """With confidence CONFIDENCE the loss has a delta of at least this, at this epsilon."""

    epsilon: Fraction
    delta: float
    inside: float  # shares of the samples that lie in S, with the person
    outside: float  # and without
    trials: int


def loss_check(world: LossWorld, folder: Path, runs: int, advance: Callable[[], None], processes: int = 1) -> Verdict:
    """The bound stays below the claim, and comes near it where nothing is suppressed."""
    folder.mkdir(parents=True, exist_ok=True)
    distinguisher = Distinguisher(counted_levels(world, folder / "here"))
    parts: list[Samples] = []
    with _samplers(world, folder, distinguisher, processes) as samples_of:
        for sample in samples_of(_in_parts(runs)):
            parts.append(sample)
            advance()
    return judged(world, joined(parts), is_full=runs >= world.runs)


def judged(world: LossWorld, samples: Samples, *, is_full: bool) -> Verdict:
    claim = ClaimedLoss(world)
    bound = delta_bound(samples, claim)
    claimed = claim.delta(bound.epsilon)
    share, found = claim.factor_with(bound.epsilon, bound.delta), claim.found_with_99_percent(bound)
    words = f"delta at least {bound.delta:.5f} at epsilon {float(bound.epsilon):g}, claimed {claimed:.5f}"
    faults = [f"{words}: at least {share:.1%} of the budget is lost"] if bound.delta > claimed else []
    if is_full and not world.is_suppressed and share < _LEAST_SHARE:
        faults.append(f"only {share:.1%} of the loss was seen: the claim is loose, or the audit has lost its edge")
    seen = f"{words}: {share:.1%} of the budget, {2 * len(samples.without):,} samples"
    power = f"a budget overspent by {found - 1:.1%}" if found < _MOST_FACTOR else "nothing below fourfold spending"
    could_find = bound.delta > 0 and found <= _NEEDED_FACTOR
    if not could_find and not faults:
        seen = f"{seen}, too few to show a budget overspent by {float(_NEEDED_FACTOR - 1):.0%}"
        if bound.delta <= 0:
            seen, power = f"{2 * len(samples.without):,} samples are too few to show any loss here", ""
        seen += "" if is_full else ": run the full audit"
    return verdict(f"{LOSS}: {world.name}", faults, seen, power, could_find=could_find)


@dataclass(frozen=True, slots=True)
class ClaimedLoss:
    """The exact curve of what a world's config.json asks for; nothing of the program's own plan is in it."""

    world: LossWorld

    def delta(self, epsilon: Fraction, factor: Fraction = Fraction(1)) -> float:
        """An upper bound, in floating point, for `factor` times the level's budget."""
        world = self.world
        curve = _curve(world.definition, world.stability, world.budget * factor, world.fractions)
        return float(curve.delta(epsilon).upper()) + _ROUNDING

    def factor_with(self, epsilon: Fraction, delta: float) -> float:
        """How much of the budget has this delta at this epsilon."""
        low, high = Fraction(0), _MOST_FACTOR
        while high - low > Fraction(1, 2000):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(epsilon, middle) < delta else (low, middle)
        return float(high)

    def found_with_99_percent(self, bound: Bound) -> float:
        """The least multiple of the budget whose spending the same samples would show, 99 times of 100.

        The bound lies below what is seen; what is seen must lie above the claim by as much, and by its own spread.
        """
        weight = math.exp(bound.epsilon)
        errors = [math.sqrt(p * (1 - p) / bound.trials) for p in (bound.inside, bound.outside)]
        below = bound.inside - weight * bound.outside - bound.delta
        needed = below + _POWER * math.hypot(errors[0], weight * errors[1])
        return self.factor_with(bound.epsilon, self.delta(bound.epsilon) + needed)


@lru_cache(maxsize=4096)
def _curve(
    definition: PrivacyDefinition, stability: int, budget: Fraction, fractions: tuple[Fraction, ...]
) -> LossCurve:
    """Calibrated here anew: sigma squared = stability / (2 rho), scale = stability / epsilon."""
    costs = [budget * fraction for fraction in fractions]
    noises: list[Noise] = [DiscreteGaussian(stability / (2 * cost)) for cost in costs]
    if definition is PrivacyDefinition.PURE_DP:
        noises = [DiscreteLaplace(stability / cost) for cost in costs]
    return LossCurve(tuple(ChangedCounts(noise, stability) for noise in noises))


def delta_bound(samples: Samples, claim: ClaimedLoss) -> Bound:
    """With confidence CONFIDENCE, no smaller delta is true of the program that gave these samples.

    S is all that lies above a limit. A tenth of the samples chooses it and epsilon, the others judge.
    """
    choosing = len(samples.with_person) // _TO_CHOOSE
    first = Samples(samples.with_person[:choosing], samples.without[:choosing])
    _, limit, epsilon = max(_promising_limit(first, one, claim.delta(one)) for one in _EPSILONS)
    trials = len(samples.with_person) - choosing
    inside, outside = (int(np.count_nonzero(one[choosing:] >= limit)) for one in (samples.with_person, samples.without))
    error = (1 - CONFIDENCE) / 2
    least = clopper_pearson_limit(inside, trials, error)
    most = 1 - clopper_pearson_limit(trials - outside, trials, error)
    delta = least - math.exp(epsilon) * most
    return Bound(epsilon, delta, inside / trials, outside / trials, trials)


def _promising_limit(samples: Samples, epsilon: Fraction, claimed: float) -> tuple[float, float, Fraction]:
    """The limit at which most standard errors lie between what is seen and what is claimed, and how many they are."""
    limits = np.unique(np.quantile(samples.with_person, np.linspace(0.02, 0.999, _LIMITS)))
    inside, outside = (_share_from(one, limits) for one in (samples.with_person, samples.without))
    weight, least = math.exp(epsilon), 1 / len(samples.without)
    errors = [np.sqrt(np.maximum(share * (1 - share), least)) for share in (inside, outside)]
    gain = (inside - weight * outside - _NEARLY * claimed) / (errors[0] + weight * errors[1])
    best = int(np.argmax(gain))
    return float(gain[best]), float(limits[best]), epsilon


def _share_from(values: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 - np.searchsorted(np.sort(values), limits) / len(values)


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


def steps_of(runs: int) -> int:
    """How often `loss_check` tells that it goes on."""
    return len(_in_parts(runs))


def _in_parts(runs: int) -> list[int]:
    at_once = max(runs // 20, 1)
    return [min(at_once, runs - first) for first in range(0, runs, at_once)]


_IN_THIS_PROCESS: list[Distinguisher] = []


@contextmanager
def _samplers(
    world: LossWorld, folder: Path, distinguisher: Distinguisher, processes: int
) -> Iterator[Callable[[list[int]], Iterator[Samples]]]:
    """What answers many tasks in their order, with one process or several."""
    if processes == 1:
        yield lambda tasks: (_samples_of_runs(distinguisher, runs) for runs in tasks)
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin_process, (world, folder)) as pool:
        yield lambda tasks: pool.map(_samples_in_process, tasks)


def _begin_process(world: LossWorld, folder: Path) -> None:
    _IN_THIS_PROCESS.append(Distinguisher(counted_levels(world, folder / f"process-{os.getpid()}")))


def _samples_in_process(runs: int) -> Samples:
    return _samples_of_runs(_IN_THIS_PROCESS[0], runs)


def _samples_of_runs(distinguisher: Distinguisher, runs: int) -> Samples:
    return joined([distinguisher.samples() for _ in range(runs)])
