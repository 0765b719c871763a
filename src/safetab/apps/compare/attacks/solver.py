"""Proofs: the numbers that are 1 in every data set that fits everything published.

Propagation, that is adding and subtracting, comes first. Each number is a sum of unknown true
counts, and often also a sum of other numbers: a county's is the sum of its tracts'. A bound of a
sum bounds its parts, and the parts' bounds bound the sum; these two steps are repeated until
nothing changes. CP-SAT decides what that leaves open, where OR-Tools is installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.linear_programs import IntegerProgram, is_available
from safetab.apps.compare.protections.protection import Windows
from safetab.apps.compare.tables.attacked_area import System
from safetab.apps.compare.tables.exact_tables import Int64s, Rows

_MOST_SWEEPS = 1000  # bounds are right after any sweep; further sweeps only make them narrower


class _Bounds(NamedTuple):
    """The least and the greatest true count that propagation leaves possible."""

    unknown_low: Int64s
    unknown_high: Int64s
    row_low: Int64s
    row_high: Int64s
    is_consistent: bool  # False: no data set fits


def proven(
    system: System, windows: Windows, candidates: Int64s, limit: float
) -> tuple[NDArray[np.bool_], int]:
    """Whether each candidate is 1 in every data set that fits, and how many stay undecided.

    A candidate is the place of a number. Where no data set fits, nothing is proven. `limit` is the
    solver's work in seconds. The solver gives a data set: strike out the candidates that aren't 1
    in it, and ask for one in which another isn't. When no data set is like that, all that are left
    are always 1.
    """
    bounds = bounds_of(system, windows)
    low, high = bounds.row_low[candidates], bounds.row_high[candidates]
    is_proven = (low == 1) & (high == 1) & bounds.is_consistent
    is_open = (low <= 1) & (high >= 1) & ~is_proven & bounds.is_consistent
    if not is_open.any() or not is_available():
        return is_proven, 0
    program = _program(system, windows, bounds)
    answer = program.solution(limit)
    if answer.values is None and answer.is_finished:
        return np.zeros_like(is_proven), 0
    others = {
        place: _is_other_than_one(program, int(candidates[place]), bounds)
        for place in np.flatnonzero(is_open)
    }
    every = [unknown for of_number in others.values() for unknown in of_number]
    program.add_row(every, [1] * len(every), 1, 2 * len(others))
    while answer.values is not None:
        limit -= answer.seconds
        is_struck = is_open & (answer.values[candidates] != 1)
        is_open &= ~is_struck
        for unknown in (
            unknown for place in np.flatnonzero(is_struck) for unknown in others[place]
        ):
            program.set_bounds(unknown, 0, 0)
        answer = program.solution(limit)
    return (is_proven | is_open, 0) if answer.is_finished else (is_proven, int(is_open.sum()))


def any_fit(
    system: System, windows: Windows, limit: float, costs: Iterable[int] = ()
) -> Int64s | None:
    """The unknowns of one data set that fits all windows, of low cost, or None.

    None if no data set fits, or none was found.
    """
    bounds = bounds_of(system, windows)
    if not bounds.is_consistent or not is_available():
        return None
    program, numbers = _program(system, windows, bounds), len(windows.firsts)
    for unknown, cost in enumerate(costs, numbers):
        program.set_cost(unknown, int(cost))
    answer = program.solution(limit)
    return None if answer.values is None else answer.values[numbers:]


def bounds_of(system: System, windows: Windows) -> _Bounds:
    """The bounds that the windows, the tables' design and the areas' people leave possible.

    They are found by propagation.
    """
    low, high = window_ends(windows)
    low = np.maximum(low, np.maximum(system.least, 0))
    high = np.minimum(high, np.minimum(system.most, system.exact.area_people))
    everybody = np.full(len(system.truth), system.exact.area_people.max(initial=0))
    return propagated(system.rows, low, high, everybody)


def window_ends(windows: Windows) -> tuple[Int64s, Int64s]:
    """The least and the greatest possible true count of each number.

    A window without any has 1 and 0.
    """
    possible = np.append(np.flatnonzero(windows.logs > -np.inf), -1)
    starts, ends = windows.starts[:-1], windows.starts[1:]
    first, last = np.searchsorted(possible[:-1], starts), np.searchsorted(possible[:-1], ends) - 1
    kinds = [starts == ends, last < first]  # tells nothing; nothing is possible
    low = np.select(kinds, [0, 1], windows.firsts - starts + possible[first])
    return low, np.select(
        kinds, [np.iinfo(np.int64).max, 0], windows.firsts - starts + possible[last]
    )


def propagated(rows: Rows, low: Int64s, high: Int64s, unknowns_high: Int64s) -> _Bounds:
    """Bounds of numbers and unknowns, from bounds of the numbers; unknowns are 0 at least."""
    totals, parts = relations_of(rows, len(unknowns_high))
    numbers, members, relation = len(rows), parts.members, parts.row_of_member
    lows, highs = np.append(low, np.zeros_like(unknowns_high)), np.append(high, unknowns_high)
    ends = np.stack([lows, -highs])  # both can only rise
    for _ in range(_MOST_SWEEPS):
        before = ends.copy()
        sums = np.add.reduceat(ends[:, members], parts.starts[:-1], axis=1)
        for of_all, of_totals in zip(ends, sums, strict=True):
            np.maximum.at(of_all, totals, of_totals)
        rest = (ends[:, totals] + sums[::-1])[:, relation] - ends[::-1, members]
        for of_all, of_parts in zip(ends, rest, strict=True):
            np.maximum.at(of_all, members, of_parts)
        is_consistent = not np.any(ends[0] > -ends[1])
        if not is_consistent or np.array_equal(before, ends):
            break
    lows, highs = ends[0], -ends[1]
    return _Bounds(lows[numbers:], highs[numbers:], lows[:numbers], highs[:numbers], is_consistent)


def relations_of(rows: Rows, unknowns: int) -> tuple[Int64s, Rows]:
    """Each number as a sum of the largest numbers inside it, in every way that they allow.

    Unknowns fill what the numbers of such a sum leave open. Numbers have the places 0, 1, ...; the
    unknowns follow them. The count at place totals[i] is the sum of those at the places of row i.
    """
    return _relations(rows.starts.tobytes(), rows.members.tobytes(), unknowns)


@lru_cache(maxsize=64)
def _relations(starts: bytes, members: bytes, unknowns: int) -> tuple[Int64s, Rows]:
    """The relations of rows that come as bytes: the cache finds equal rows by them."""
    rows = Rows(np.frombuffer(starts, dtype=np.int64), np.frombuffer(members, dtype=np.int64))
    is_part = rows.is_part(unknowns)
    shared = is_part.astype(np.float32) @ is_part.T.astype(np.float32)
    sizes = shared.diagonal()
    # number j in number i; of equal ones, the first in the others
    is_inside = (shared == sizes) & (sizes > 0)
    is_inside &= (sizes < sizes[:, None]) | np.tri(len(sizes), k=-1, dtype=np.bool_)
    between = is_inside.astype(np.float32)
    is_child = is_inside & ~(between @ between > 0)
    totals: list[int] = []
    parts: list[list[int]] = []
    for number in np.flatnonzero(sizes).tolist():
        for family in _families(np.flatnonzero(is_child[number]), shared):
            rest = is_part[number] & ~is_part[family].any(axis=0)
            totals.append(number)
            parts.append([*family, *(len(rows) + np.flatnonzero(rest)).tolist()])
    return np.array(totals, dtype=np.int64), Rows.of_lists(parts)


def _families(children: Int64s, shared: NDArray[np.float32]) -> list[list[int]]:
    """Sets of children without a common unknown, each child in one at least.

    Without children there is one empty set.
    """
    families: list[list[int]] = []
    for place, first in enumerate(children.tolist()):
        if not any(first in family for family in families):
            families.append([first])
            for child in np.roll(children, -place)[1:].tolist():
                if not shared[child, families[-1]].any():
                    families[-1].append(child)
    return families or [[]]


def _program(system: System, windows: Windows, bounds: _Bounds) -> IntegerProgram:
    """The data sets that fit, as an integer program.

    First comes an unknown for each number, within its window; then the unknowns.
    """
    program = IntegerProgram()
    for number, (low, high) in enumerate(
        zip(bounds.row_low.tolist(), bounds.row_high.tolist(), strict=True)
    ):
        first, logs = windows.of(number)
        program.add_unknown(low, high, holes=(first + np.flatnonzero(logs == -np.inf)).tolist())
    for low, high in zip(bounds.unknown_low.tolist(), bounds.unknown_high.tolist(), strict=True):
        program.add_unknown(low, high)
    totals, parts = relations_of(system.rows, len(system.truth))
    for total, of_total in zip(
        totals.tolist(), np.split(parts.members, parts.starts[1:-1]), strict=False
    ):
        program.add_row([total, *of_total.tolist()], [-1, *([1] * len(of_total))], 0, 0)
    return program


def _is_other_than_one(program: IntegerProgram, number: int, bounds: _Bounds) -> list[int]:
    """Unknowns that may be 1 only where the number is 0, or 2 or more."""
    low, high = int(bounds.row_low[number]), int(bounds.row_high[number])
    others = []
    for coefficient in [high] * (low <= 0) + [-2] * (high >= 2):
        others.append(program.add_unknown(0, 1))
        program.add_row([number, others[-1]], [1, coefficient], 0, high)
    return others
