"""How likely each number is to be 1, or at least 1, given everything published about one group.

The prior, the start and the moves are made in one way for every protection: what a protection tells
comes in as windows alone. True counts do not come in at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from safetab.comparison.attacks.moves import moves_of
from safetab.comparison.attacks.posterior_loops import Draws, Factors, Floats, Moves, Walker, walk
from safetab.comparison.attacks.unknowns import NothingFitsError, Unknowns, factors_of
from safetab.comparison.protections.protection import Windows
from safetab.comparison.tables.exact_tables import Int64s
from safetab.foundation.compiled import compiled

FitsAll = Callable[[Int64s], Int64s | None]
"""Finds a data set that fits everything published, of low cost, or None: a solver, if the walk finds none."""

DISAGREE = 1.1
"""Chains with a larger R-hat don't agree: what only one of them says is not said."""

_LEAST_BLOCKS, _MOST_BLOCKS, _INSIDE = 12, 200, 0.5
_LEAST_WEIGHT, _MOST_WEIGHT = 0.5, 12.0


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to sample: data sets recorded by each chain in a round, and rounds until chains agree."""

    records: int = 500
    rounds: int = 24
    agreed: float = 1.05  # chains agree at this R-hat


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """What the attacker believes of each number. `is_finished` is False if no data set was found that fits."""

    is_one: Floats
    is_present: Floats
    r_hat: float = 1.0
    outside: int = 0  # data sets at the ends of rounds that lie outside a window
    is_finished: bool = True


def posterior(
    unknowns: Unknowns, windows: Windows, seed: Sequence[int], effort: Effort, any_fit: FitsAll | None = None
) -> Chances:
    """The chances of every number, from two chains with starts of their own."""
    try:
        factors = factors_of(unknowns, windows)
        free = np.flatnonzero(factors.least < factors.most)
        if not len(free):
            return _known(unknowns, factors)
    except NothingFitsError:
        nothing = np.zeros(len(unknowns.numbers))
        return Chances(nothing, nothing, is_finished=False)
    moves = moves_of(unknowns.numbers, free, np.diff(factors.starts), np.random.default_rng([*seed, 2]))
    chains = [_Chain(unknowns, factors, moves, np.random.default_rng([*seed, chain])) for chain in (0, 1)]
    costs = np.random.default_rng([*seed, 3]).integers(-10, 11, len(unknowns.expected))
    if not all(chain.has_settled(any_fit, cost) for chain, cost in zip(chains, (costs, -costs), strict=True)):
        return _certain(unknowns, factors)
    r_hat, outside = 1.0, 0
    for _ in range(effort.rounds):
        for chain in chains:
            chain.sample(effort.records)
        if min(chain.records for chain in chains) < max(effort.records // 10, 2):
            return _certain(unknowns, factors)
        outside += sum(chain.is_outside(chain.walker.last) for chain in chains)
        first, second = (chain.walker.ones[unknowns.leaves] / chain.records for chain in chains)
        r_hat = _r_hat(first, second, min(chain.records for chain in chains))
        if r_hat < effort.agreed:
            break
    of_both = np.mean if r_hat <= DISAGREE else np.min
    is_one = of_both([chain.walker.ones / chain.records for chain in chains], axis=0)
    is_present = of_both([chain.walker.present / chain.records for chain in chains], axis=0)
    return Chances(is_one, is_present, r_hat, outside)


def _certain(unknowns: Unknowns, factors: Factors) -> Chances:
    """What bounds alone make certain, where no data set was found that fits."""
    rows, sizes = unknowns.numbers, np.diff(factors.starts)
    least, most = rows.sums(factors.least), rows.sums(factors.most)
    least = np.where(sizes > 0, np.maximum(least, factors.firsts), least)
    most = np.where(sizes > 0, np.minimum(most, factors.firsts + sizes - 1), most)
    is_one = (least == 1) & (most == 1)
    return Chances(is_one.astype(np.float64), (least >= 1).astype(np.float64), is_finished=False)


def _known(unknowns: Unknowns, factors: Factors) -> Chances:
    """The one data set that the bounds leave. Raises NothingFitsError if it doesn't fit."""
    if _is_outside(unknowns, factors, factors.least):
        raise NothingFitsError
    sums = unknowns.numbers.sums(factors.least)
    return Chances((sums == 1).astype(np.float64), (sums >= 1).astype(np.float64))


def _is_outside(unknowns: Unknowns, factors: Factors, counts: Int64s) -> bool:
    """Whether a data set breaks any window, counted anew."""
    sums, sizes = unknowns.numbers.sums(counts), np.diff(factors.starts)
    tells = np.flatnonzero(sizes)
    at = (sums - factors.firsts)[tells]
    is_in = (at >= 0) & (at < sizes[tells])
    is_hole = factors.far[factors.starts[tells] + np.clip(at, 0, sizes[tells] - 1)] > 0
    return bool(np.any(~is_in | is_hole)) or bool(np.any(counts < 0))


def _r_hat(first: Floats, second: Floats, records: int) -> float:
    """Gelman and Rubin's R-hat of two chains, from how often each leaf was 1: of the leaf where it is largest."""
    within = (first * (1 - first) + second * (1 - second)) / 2
    between = (first - second) ** 2 / 2
    return float(np.sqrt(1 + between / np.maximum(within, 1 / records)).max(initial=1.0))


class _Chain:
    """One walk over data sets."""

    def __init__(self, unknowns: Unknowns, factors: Factors, moves: Moves, random: np.random.Generator) -> None:
        self._unknowns, self._factors, self._moves, self._random = unknowns, factors, moves, random
        self._free = int(np.count_nonzero(factors.least < factors.most))
        widths = (factors.most - factors.least)[moves.who]
        self._longest = np.log(np.minimum.reduceat(widths, moves.who_starts[:-1]) + 1.0)
        shape = unknowns.shape
        drawn = random.negative_binomial(shape, shape / (shape + unknowns.expected))
        self.walker = self._walker_at(np.clip(drawn, factors.least, factors.most))
        self.weight = 2.0
        self.records = 0

    def _walker_at(self, counts: Int64s) -> Walker:
        sums = self._unknowns.numbers.sums(counts)
        return Walker(counts.copy(), sums, np.zeros_like(sums), np.zeros_like(sums), counts.copy())

    def is_outside(self, counts: Int64s) -> bool:
        """Whether the data set breaks a window."""
        return _is_outside(self._unknowns, self._factors, counts)

    def _walk(self, steps: int, every: int) -> tuple[float, int]:
        """Go some steps: the share of them inside all windows, and how many data sets were recorded."""
        picks, is_undone = np.divmod(self._random.integers(0, 2 * len(self._longest), steps), 2)
        times = 1 - 2 * is_undone
        farther = self._random.random(-(-steps // 2)) * self._longest[picks[::2]]
        times[::2] *= np.exp(farther).astype(np.int64)  # every second move may go far
        draws = Draws(picks, times, -self._random.standard_exponential(steps))
        inside, recorded = compiled(walk)(self._factors, self._moves, self.walker, draws, self.weight, every)
        return inside / steps, recorded

    def has_settled(self, any_fit: FitsAll | None, costs: Int64s) -> bool:
        """Walk from the prior's draw into the windows, and find the weight that keeps it there half of the time.

        A walk that does not find in begins again with a low weight: it may be in a dead end.
        """
        steps, shares = 2_000 + 50 * self._free, []
        for block in range(_MOST_BLOCKS):
            share, _ = self._walk(steps, steps)
            shares.append(share)
            self.weight = max(self.weight * float(np.exp((_INSIDE - share) / (2 + block / 20))), _LEAST_WEIGHT)
            if self.weight > _MOST_WEIGHT:
                self.weight = _MOST_WEIGHT if share else 2 * _LEAST_WEIGHT
            if block >= _LEAST_BLOCKS and np.mean(shares[-10:]) > _INSIDE / 2:
                break
            if block == _MOST_BLOCKS // 4 and not any(shares[-10:]):
                if any_fit is None or (fit := any_fit(costs)) is None:
                    return False
                self.walker = self._walker_at(np.clip(fit, self._factors.least, self._factors.most))
                self.weight = _MOST_WEIGHT
        self.walker.ones[:] = self.walker.present[:] = 0
        return any(shares)

    def sample(self, records: int) -> None:
        """Record about this number of data sets."""
        every = max(self._free, 10)
        wanted, steps = self.records + records, 0
        while self.records < wanted and steps < 20 * records * every:
            part = max(1, min(2 * (wanted - self.records), (1 << 16) // every)) * every
            self.records += self._walk(part, every)[1]
            steps += part
