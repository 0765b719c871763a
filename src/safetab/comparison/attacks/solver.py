"""What is proven: numbers that are 1 in every data set that fits everything published.

Propagation comes first. CP-SAT decides what it leaves open, where OR-Tools is installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.comparison import linear_programs
from safetab.comparison.attacks.propagation import Bounds, propagated, relations_of
from safetab.comparison.linear_programs import Answer, IntegerProgram
from safetab.comparison.protections.protection import Windows
from safetab.comparison.tables.attacked_area import System
from safetab.comparison.tables.exact_tables import Int64s

QUICK = 0.02
"""Seconds of work for a question that need not be answered."""


@dataclass(frozen=True, slots=True, eq=False)
class Proofs:
    """Which candidates are proven to be 1, and what was left undecided."""

    is_proven: NDArray[np.bool_]  # an element for each candidate
    not_finished: int  # candidates that the limit left undecided
    is_by_propagation_alone: bool  # OR-Tools isn't installed


def proven(system: System, windows: Windows, candidates: Int64s, limit: float) -> Proofs:
    """The candidates (places of numbers) whose true count is 1 in every data set that fits all windows.

    Where no data set fits, nothing is proven. `limit` is the solver's work in seconds.
    """
    bounds = bounds_of(system, windows)
    low, high = bounds.row_low[candidates], bounds.row_high[candidates]
    is_proven = (low == 1) & (high == 1) & bounds.is_consistent
    is_open = (low <= 1) & (high >= 1) & ~is_proven & bounds.is_consistent
    has_solver = linear_programs.is_available()
    if not has_solver or not is_open.any():
        return Proofs(is_proven, 0, is_by_propagation_alone=not has_solver)
    program = _program(system, windows, bounds)
    answer = program.solution(limit)
    if answer.values is None:
        nothing_fits = answer.is_finished
        is_proven &= not nothing_fits
        return Proofs(is_proven, 0 if nothing_fits else int(is_open.sum()), is_by_propagation_alone=False)
    is_proven[is_open], not_finished = _always_one(program, answer, candidates[is_open], bounds, limit)
    return Proofs(is_proven, not_finished, is_by_propagation_alone=False)


def any_fit(system: System, windows: Windows, limit: float, costs: Iterable[int] = ()) -> Int64s | None:
    """The unknowns of one data set that fits all windows, of low cost, or None: none fits, or none was found."""
    bounds = bounds_of(system, windows)
    if not bounds.is_consistent or not linear_programs.is_available():
        return None
    program, numbers = _program(system, windows, bounds), len(windows.firsts)
    for unknown, cost in enumerate(costs, numbers):
        program.set_cost(unknown, int(cost))
    answer = program.solution(limit)
    return None if answer.values is None else answer.values[numbers:]


def bounds_of(system: System, windows: Windows) -> Bounds:
    """What the windows, the design of the tables and the people in each area leave possible, by propagation."""
    low, high = window_ends(windows)
    low = np.maximum(low, np.maximum(system.least, 0))
    high = np.minimum(high, np.minimum(system.most, system.exact.area_people))
    everybody = np.full(len(system.truth), system.exact.area_people.max(initial=0))
    return propagated(system.rows, low, high, everybody)


def window_ends(windows: Windows) -> tuple[Int64s, Int64s]:
    """The least and the greatest possible true count of each number; a window without any has 1 and 0."""
    possible = np.append(np.flatnonzero(windows.logs > -np.inf), -1)
    starts, ends = windows.starts[:-1], windows.starts[1:]
    first, last = np.searchsorted(possible[:-1], starts), np.searchsorted(possible[:-1], ends) - 1
    kinds = [starts == ends, last < first]  # tells nothing; nothing is possible
    low = np.select(kinds, [0, 1], windows.firsts - starts + possible[first])
    return low, np.select(kinds, [np.iinfo(np.int64).max, 0], windows.firsts - starts + possible[last])


def _program(system: System, windows: Windows, bounds: Bounds) -> IntegerProgram:
    """The data sets that fit: first an unknown for each number, within its window; then the unknowns."""
    program = IntegerProgram()
    for number, (low, high) in enumerate(zip(bounds.row_low.tolist(), bounds.row_high.tolist(), strict=True)):
        first, logs = windows.of(number)
        is_impossible = logs[max(low - first, 0) : high - first + 1] == -np.inf
        if is_impossible.any():
            program.add_unknown_of((max(low, first) + np.flatnonzero(~is_impossible)).tolist())
        else:
            program.add_unknown(low, high)
    for low, high in zip(bounds.unknown_low.tolist(), bounds.unknown_high.tolist(), strict=True):
        program.add_unknown(low, high)
    relations = relations_of(system.rows, len(system.truth))
    for total, start, end in zip(relations.totals, relations.parts.starts, relations.parts.starts[1:], strict=False):
        parts = relations.parts.members[start:end].tolist()
        program.add_row([int(total), *parts], [-1, *([1] * len(parts))], 0, 0)
    return program


def _always_one(
    program: IntegerProgram, answer: Answer, numbers: Int64s, bounds: Bounds, limit: float
) -> tuple[NDArray[np.bool_], int]:
    """Whether each number is 1 in every data set of the program, and how many stayed undecided.

    `answer` is a first data set. Strike out the numbers that aren't 1 in it, and ask for a data set in
    which many of the others aren't. If no data set has that many, ask for fewer. When not even one
    can be other than 1, all that are left are always 1.
    """
    others = [_is_other_than_one(program, number, bounds) for number in numbers.tolist()]
    every = [unknown for pair in others for unknown in pair]
    asked = program.add_unknown(0, len(numbers))
    program.add_row([*every, asked], [*([1] * len(every)), -1], 0, len(every))
    is_left = np.ones(len(numbers), dtype=np.bool_)
    least = len(numbers)
    while True:
        limit -= answer.seconds
        if answer.values is not None:
            is_struck = is_left & (answer.values[numbers] != 1)
            is_left &= ~is_struck
            for unknown in (unknown for place in np.flatnonzero(is_struck) for unknown in others[place]):
                program.set_bounds(unknown, 0, 0)
            least = min(least, int(is_left.sum()) // 2)
        elif least == 1:
            return (is_left, 0) if answer.is_finished else (np.zeros_like(is_left), int(is_left.sum()))
        else:
            least //= 3
        if not is_left.any():
            return is_left, 0
        least = max(least, 1)
        program.set_bounds(asked, least, len(numbers))
        answer = program.solution(limit if least == 1 else min(limit, QUICK))


def _is_other_than_one(program: IntegerProgram, number: int, bounds: Bounds) -> list[int]:
    """Unknowns that may be 1 only where the number is 0, or 2 or more."""
    low, high = int(bounds.row_low[number]), int(bounds.row_high[number])
    others = []
    for coefficient in [high] * (low <= 0) + [-2] * (high >= 2):
        others.append(program.add_unknown(0, 1))
        program.add_row([number, others[-1]], [1, coefficient], 0, high)
    return others
