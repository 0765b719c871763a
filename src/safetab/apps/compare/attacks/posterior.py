"""The chance that each number is 1, or at least 1, given all that one group has published.

The prior, the start and the moves are made in one way for every protection: what a protection tells
comes in as windows alone. True counts are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from safetab.apps.compare.attacks.moves import Factors, Moves, Walker, moves_of, walk
from safetab.apps.compare.attacks.solver import propagated, window_ends
from safetab.apps.compare.protections.protection import Floats, Windows
from safetab.apps.compare.tables.attacked_area import System
from safetab.apps.compare.tables.exact_tables import Int64s, Rows
from safetab.foundation.compiled import compiled

_FitsAll = Callable[[Int64s], Int64s | None]
"""Finds a data set that fits everything published, of low cost, or None.

It is a solver, for when the walk finds no such data set.
"""
DISAGREE = 1.1
"""Chains with a larger R-hat don't agree: what only one of them says is not said."""
_AGREED = 1.05  # chains sample until their R-hat is less
_LEAST_BLOCKS, _MOST_BLOCKS, _INSIDE = 12, 200, 0.5
_LEAST_WEIGHT, _MOST_WEIGHT = 0.5, 12.0
_LEAST_EXPECTED = 1e-9  # nothing is impossible to the prior
_UNLIKELY = 30.0  # the prior's largest count has a chance of about exp(-30)


class Effort(NamedTuple):
    """The length of sampling: data sets that a chain records in a round, and the most rounds.

    Rounds end when the chains agree.
    """

    records: int = 500
    rounds: int = 24


class Chances(NamedTuple):
    """The attacker's belief about each number.

    `is_finished` is False if too few data sets were found that fit.
    """

    is_one: Floats
    is_present: Floats
    r_hat: float = 1.0
    outside: int = 0  # data sets at the ends of rounds that lie outside a window
    is_finished: bool = True


def posterior(
    system: System,
    shape: float,
    windows: Windows,
    seed: Sequence[int],
    effort: Effort,
    any_fit: _FitsAll = lambda _: None,
) -> Chances:
    """The chances of every number, from two chains with starts of their own.

    `shape` is the prior's.
    """
    rows, expected = system.rows, np.maximum(system.expected, _LEAST_EXPECTED)
    factors = _factors(system, expected, shape, windows)
    if factors is None:
        nothing = np.zeros(len(rows))
        return Chances(nothing, nothing, is_finished=False)
    free = np.flatnonzero(factors.least < factors.most)
    if not len(free):
        return _certain(rows, factors, is_finished=True)
    moves = moves_of(rows, free, np.diff(factors.starts), np.random.default_rng([*seed, 2]))
    chains = []
    for random in (np.random.default_rng([*seed, chain]) for chain in (0, 1)):
        drawn = random.negative_binomial(shape, shape / (shape + expected))
        chains.append(_Chain(rows, factors, moves, random, drawn))
    costs = np.random.default_rng([*seed, 3]).integers(-10, 11, len(expected))
    if not all(
        chain.has_settled(any_fit, cost)
        for chain, cost in zip(chains, (costs, -costs), strict=True)
    ):
        return _certain(rows, factors, is_finished=False)
    r_hat, outside = 1.0, 0
    for _ in range(effort.rounds):
        for chain in chains:
            chain.sample(effort.records)
        records = min(chain.records for chain in chains)
        if records < max(effort.records // 10, 2):
            return _certain(rows, factors, is_finished=False)
        outside += sum(_is_outside(rows, factors, chain.walker.last) for chain in chains)
        first, second = (chain.walker.ones[system.leaves] / chain.records for chain in chains)
        r_hat = _r_hat(first, second, records)
        if r_hat < _AGREED:
            break
    of_both = np.mean if r_hat <= DISAGREE else np.min
    is_one = of_both([chain.walker.ones / chain.records for chain in chains], axis=0)
    is_present = of_both([chain.walker.present / chain.records for chain in chains], axis=0)
    return Chances(is_one, is_present, r_hat, outside)


def _factors(system: System, expected: Floats, shape: float, windows: Windows) -> Factors | None:
    """The prior and the windows, with the bounds of each unknown that follow from them.

    None if nothing fits. A window goes from the least possible count to the largest; holes between
    have the next possible log.
    """
    rows, sizes = system.rows, np.diff(windows.starts)
    number = np.repeat(np.arange(len(sizes)), sizes)
    count = windows.firsts[number] + np.arange(len(number)) - windows.starts[number]
    is_possible = (count >= np.maximum(system.least, 0)[number]) & (count <= system.most[number])
    logs = np.where(is_possible, windows.logs, -np.inf)
    low, high = window_ends(replace(windows, logs=logs))
    largest = np.ceil(_UNLIKELY * (1 + expected * (1 + 1 / shape))).astype(np.int64)
    np.maximum.at(largest, rows.members, np.where(sizes > 0, high, 0)[rows.row_of_member])
    bounds = propagated(rows, low, np.where(sizes > 0, high, rows.sums(largest)), largest)
    if not bounds.is_consistent:
        return None
    logs = logs[(count >= low[number]) & (count <= high[number])]
    possible, places = np.flatnonzero(logs > -np.inf), np.arange(len(logs))
    after = possible[np.searchsorted(possible, places)]
    before = possible[np.searchsorted(possible, places, side="right") - 1]
    nearest = np.where(places - before <= after - places, before, after)
    starts = np.append(0, np.cumsum(np.where(sizes > 0, high - low + 1, 0)))
    counts = np.arange(1, int(bounds.unknown_high.max(initial=0)) + 1)
    growth = np.append(0.0, np.cumsum(np.log((counts - 1 + shape) / counts)))
    rates = np.log(expected / (expected + shape))
    of_windows = low, starts, logs[nearest], np.abs(places - nearest)
    factors = Factors(bounds.unknown_low, bounds.unknown_high, rates, growth, *of_windows)
    is_known = np.array_equal(factors.least, factors.most)
    return None if is_known and _is_outside(rows, factors, factors.least) else factors


def _certain(rows: Rows, factors: Factors, *, is_finished: bool) -> Chances:
    """The chances that bounds alone make certain.

    That is everything if one data set is left. Bounds are also used if too few data sets were found
    that fit.
    """
    sizes, most = np.diff(factors.starts), rows.sums(factors.most)
    least = np.maximum(rows.sums(factors.least), factors.firsts)
    most = np.where(sizes > 0, np.minimum(most, factors.firsts + sizes - 1), most)
    is_one = (least == 1) & (most == 1)
    return Chances(
        is_one.astype(np.float64), (least >= 1).astype(np.float64), is_finished=is_finished
    )


def _is_outside(rows: Rows, factors: Factors, counts: Int64s) -> bool:
    """Whether a data set breaks any window, counted anew."""
    sizes = np.diff(factors.starts)
    tells = np.flatnonzero(sizes)
    at, last = (rows.sums(counts) - factors.firsts)[tells], sizes[tells] - 1
    is_hole = factors.far[factors.starts[tells] + np.clip(at, 0, last)] > 0
    return bool(np.any((at < 0) | (at > last) | is_hole) or np.any(counts < 0))


def _r_hat(first: Floats, second: Floats, records: int) -> float:
    """Gelman and Rubin's R-hat of two chains, from how often each leaf was 1.

    It is that of the leaf where it is largest.
    """
    within = (first * (1 - first) + second * (1 - second)) / 2
    between = (first - second) ** 2 / 2
    return float(np.sqrt(1 + between / np.maximum(within, 1 / records)).max(initial=1.0))


class _Chain:
    """One walk over data sets, from a start that need not fit."""

    def __init__(
        self, rows: Rows, factors: Factors, moves: Moves, random: np.random.Generator, start: Int64s
    ) -> None:
        self._rows, self._factors, self._moves, self._random = rows, factors, moves, random
        self._free = int(np.count_nonzero(factors.least < factors.most))
        widths = (factors.most - factors.least)[moves.who]
        self._longest = np.log(np.minimum.reduceat(widths, moves.who_starts[:-1]) + 1.0)
        self.walker = self._walker_near(start)
        self._weight = 2.0
        self.records = 0

    def _walker_near(self, counts: Int64s) -> Walker:
        counts = np.clip(counts, self._factors.least, self._factors.most)
        sums = self._rows.sums(counts)
        return Walker(counts, sums, np.zeros_like(sums), np.zeros_like(sums), counts.copy())

    def _walk(self, steps: int, every: int) -> tuple[float, int]:
        """Go some steps.

        Returns the share of them inside all windows, and how many data sets were recorded.
        """
        picks, is_undone = np.divmod(self._random.integers(0, 2 * len(self._longest), steps), 2)
        times = 1 - 2 * is_undone
        farther = self._random.random(-(-steps // 2)) * self._longest[picks[::2]]
        times[::2] *= np.exp(farther).astype(np.int64)  # every second move may go far
        draws = picks, times, -self._random.standard_exponential(steps)
        inside, recorded = compiled(walk)(
            self._factors, self._moves, self.walker, draws, self._weight, every
        )
        return inside / steps, recorded

    def has_settled(self, any_fit: _FitsAll, costs: Int64s) -> bool:
        """Walk from the start into the windows, and find the weight that suits them.

        With this weight it stays inside half of the time. A walk that does not find in begins again
        with a low weight: it may be in a dead end. If it stays outside, a solver's data set is its
        start, several times if need be: it may get lost again.
        """
        steps, shares = 2_000 + 50 * self._free, []
        for block in range(_MOST_BLOCKS):
            share, _ = self._walk(steps, steps)
            shares.append(share)
            self._weight = max(
                self._weight * float(np.exp((_INSIDE - share) / (2 + block / 20))), _LEAST_WEIGHT
            )
            if self._weight > _MOST_WEIGHT:
                self._weight = _MOST_WEIGHT if share else 2 * _LEAST_WEIGHT
            if block >= _LEAST_BLOCKS and np.mean(shares[-10:]) > _INSIDE / 2:
                break
            if block and block % (_MOST_BLOCKS // 4) == 0 and not any(shares[-10:]):
                if (fit := any_fit(costs)) is None:
                    return False
                self.walker = self._walker_near(fit)
                self._weight = _MOST_WEIGHT
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
