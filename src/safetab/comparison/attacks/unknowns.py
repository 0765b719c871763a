"""What an attacker works with: unknown counts, their prior, and windows; true counts are not here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.attacks.posterior_loops import Factors, Floats
from safetab.comparison.attacks.propagation import propagated
from safetab.comparison.protections.protection import Windows
from safetab.comparison.tables.attacked_area import System
from safetab.comparison.tables.exact_tables import Int64s, Rows

_LEAST_EXPECTED = 1e-9  # nothing is impossible to the prior
_UNLIKELY = 30.0  # the prior's largest count has a chance of about exp(-30)


@dataclass(frozen=True, slots=True, eq=False)
class Unknowns:
    """One group as the attacker sees it before anything is published. No true count is in it."""

    expected: Floats  # of each unknown, by the prior
    shape: float  # of the prior's negative binomial
    numbers: Rows  # the unknowns of each number
    leaves: Int64s
    least: Int64s  # that the design of the tables allows each number
    most: Int64s

    @classmethod
    def of(cls, system: System, shape: float) -> Self:
        """The system without its truth."""
        assert system.exact.parts is not None, "an attacked number is a sum of unknowns"
        expected = np.maximum(system.expected, _LEAST_EXPECTED)
        return cls(expected, shape, system.exact.parts, system.leaves, np.maximum(system.least, 0), system.most)

    @property
    def largest(self) -> Int64s:
        """A count that the prior calls all but impossible, for each unknown."""
        return np.ceil(_UNLIKELY * (1 + self.expected * (1 + 1 / self.shape))).astype(np.int64)


def without_truth(system: System) -> System:
    """The system as an attack may look at it: every true count and every record key is 0."""
    nothing = np.zeros_like(system.exact.counts)
    hidden = replace(system.exact, counts=nothing, keys=np.zeros_like(system.exact.keys), group_totals=nothing)
    return replace(system, truth=np.zeros_like(system.truth), exact=hidden)


class NothingFitsError(Exception):
    """No data set fits everything that is published."""


def factors_of(unknowns: Unknowns, windows: Windows) -> Factors:
    """The prior and the windows, with the bounds of each unknown that follow from them at once.

    Raises NothingFitsError.
    """
    firsts, starts, logs, far = _whole_windows(unknowns, windows)
    lasts = firsts + np.diff(starts) - 1
    least, most = _bounds(unknowns, firsts, lasts, np.diff(starts) > 0)
    growth = np.zeros(int(most.max(initial=0)) + 1)
    counts = np.arange(1, len(growth))
    growth[1:] = np.cumsum(np.log((counts - 1 + unknowns.shape) / counts))
    rates = np.log(unknowns.expected / (unknowns.expected + unknowns.shape))
    return Factors(least, most, rates, growth, firsts, starts, logs, far)


def _whole_windows(unknowns: Unknowns, windows: Windows) -> tuple[Int64s, Int64s, Floats, Int64s]:
    """Windows from the least possible count to the largest; holes between have the next possible log."""
    sizes = np.diff(windows.starts)
    number = np.repeat(np.arange(len(sizes)), sizes)
    count = windows.firsts[number] + np.arange(len(number)) - windows.starts[number]
    is_possible = (count >= unknowns.least[number]) & (count <= unknowns.most[number])
    possible = np.flatnonzero(np.isfinite(windows.logs) & is_possible)
    tells, first_at = np.unique(number[possible], return_index=True)
    if len(tells) < np.count_nonzero(sizes):
        raise NothingFitsError
    last_at = np.append(first_at[1:], len(possible))[: len(tells)] - 1
    firsts, new_sizes = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    firsts[tells] = count[possible[first_at]]
    new_sizes[tells] = count[possible[last_at]] + 1 - firsts[tells]
    starts = np.concatenate([[0], np.cumsum(new_sizes)])
    all_of = np.repeat(possible[first_at], new_sizes[tells])
    places = all_of + np.arange(starts[-1]) - starts[np.repeat(tells, new_sizes[tells])]
    after = np.searchsorted(possible, places)
    before = np.maximum(np.searchsorted(possible, places, side="right") - 1, 0)
    is_before = places - possible[before] <= possible[after] - places
    nearest = np.where(is_before, possible[before], possible[after])
    return firsts, starts, windows.logs[nearest], np.abs(places - nearest)


def _bounds(unknowns: Unknowns, firsts: Int64s, lasts: Int64s, tells: NDArray[np.bool_]) -> tuple[Int64s, Int64s]:
    """The least and the largest count of each unknown that follow from all windows."""
    rows, largest = unknowns.numbers, unknowns.largest
    number = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    np.maximum.at(largest, rows.members, lasts[number])
    bounds = propagated(rows, firsts, np.where(tells, lasts, rows.sums(largest)), largest)
    if not bounds.is_consistent:
        raise NothingFitsError
    return bounds.unknown_low, bounds.unknown_high
