"""What follows from published numbers by adding and subtracting alone: bounds of every true count.

Each number is a sum of unknown true counts, and often also a sum of other numbers: a county's is the
sum of its tracts'. A bound of a sum bounds its parts, and the parts' bounds bound the sum. These two
steps are repeated until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.tables.exact_tables import Int64s, Rows

MOST_SWEEPS = 1000
"""Bounds are right after any sweep; further sweeps only make them narrower."""


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The least and the greatest true count that propagation leaves possible."""

    unknown_low: Int64s
    unknown_high: Int64s
    row_low: Int64s
    row_high: Int64s
    is_consistent: bool  # False: no data set fits


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """Sums among numbers and unknowns. Numbers have the places 0, 1, ...; the unknowns follow them.

    In relation i, the count at place totals[i] is the sum of those at the places of parts' row i.
    """

    totals: Int64s
    parts: Rows


def propagated(rows: Rows, low: Int64s, high: Int64s, unknowns_high: Int64s) -> Bounds:
    """Bounds of numbers and unknowns, from bounds of the numbers; unknowns are 0 at least."""
    relations = relations_of(rows, len(unknowns_high))
    lows = np.concatenate([low, np.zeros(len(unknowns_high), dtype=np.int64)])
    highs = np.concatenate([high, unknowns_high])
    for _ in range(MOST_SWEEPS):
        before = lows.copy(), highs.copy()
        _sweep(relations, lows, highs)
        is_fixed = np.array_equal(before[0], lows) and np.array_equal(before[1], highs)
        if is_fixed or np.any(lows > highs):
            break
    numbers = len(rows)
    is_consistent = not np.any(lows > highs)
    return Bounds(lows[numbers:], highs[numbers:], lows[:numbers], highs[:numbers], is_consistent)


def _sweep(relations: Relations, lows: Int64s, highs: Int64s) -> None:
    """Narrow the bounds once, in place: of all totals, then of all parts."""
    totals, parts = relations.totals, relations.parts
    starts, members = parts.starts[:-1], parts.members
    sums_low, sums_high = np.add.reduceat(lows[members], starts), np.add.reduceat(highs[members], starts)
    np.maximum.at(lows, totals, sums_low)
    np.minimum.at(highs, totals, sums_high)
    sizes = np.diff(parts.starts)
    slack_above = np.repeat(lows[totals] - sums_high, sizes) + highs[members]
    slack_below = np.repeat(highs[totals] - sums_low, sizes) + lows[members]
    np.maximum.at(lows, members, slack_above)
    np.minimum.at(highs, members, slack_below)


def relations_of(rows: Rows, unknowns: int) -> Relations:
    """Each number as a sum of the largest numbers inside it, in every way that the numbers allow.

    Unknowns fill what the numbers of such a sum leave open.
    """
    return _relations(rows.starts.tobytes(), rows.members.tobytes(), unknowns)


@lru_cache(maxsize=64)
def _relations(starts: bytes, members: bytes, unknowns: int) -> Relations:
    rows = Rows(np.frombuffer(starts, dtype=np.int64), np.frombuffer(members, dtype=np.int64))
    is_part = rows.is_part(unknowns)
    shared = is_part.astype(np.float32) @ is_part.T.astype(np.float32)
    is_child = _is_child(shared)
    totals: list[int] = []
    parts: list[list[int]] = []
    for number in np.flatnonzero(is_part.any(axis=1)):
        for family in _families(np.flatnonzero(is_child[number]), shared):
            rest = is_part[number] & ~is_part[family].any(axis=0)
            totals.append(int(number))
            parts.append([*family, *(len(rows) + np.flatnonzero(rest)).tolist()])
    return Relations(np.array(totals, dtype=np.int64), Rows.of_lists(parts))


def _is_child(shared: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether number j is one of the largest inside number i; of equal ones, the first is inside the others."""
    sizes = shared.diagonal()
    is_inside = (shared == sizes) & (sizes > 0)
    is_inside &= (sizes < sizes[:, None]) | np.tri(len(sizes), k=-1, dtype=np.bool_)
    between = is_inside.astype(np.float32)
    return np.asarray(is_inside & ~(between @ between > 0))


def _families(children: Int64s, shared: NDArray[np.float32]) -> list[list[int]]:
    """Sets of children without a common unknown, each child in one at least; without children, one empty set."""
    families: list[list[int]] = []
    used: set[int] = set()
    for place, first in enumerate(children.tolist()):
        if first in used:
            continue
        family = [first]
        for child in np.roll(children, -place)[1:].tolist():
            if not shared[child, family].any():
                family.append(child)
        used.update(family)
        families.append(family)
    return families or [[]]
