"""Secondary suppression: withhold more numbers, so that the withheld ones can't be computed from the others.

For each number that must be withheld, a linear program finds the cheapest other table that has the
same shown numbers but another value there; the numbers that differ in it are withheld as well
(Kelly, Golden and Assad, "Cell suppression: disclosure protection for sensitive tabular data", 1992;
Cox, "Network models for complementary cell suppression", 1995). The other table must be one that
the reader believes possible. Where zeros are shown, the reader knows that a withheld number is 1 or
more: a table with a 0 in its place protects nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.linear_programs import IntegerProgram, LinearProgram
from safetab.comparison.tables.exact_tables import ExactTables

Range = tuple[int, int]
CLOSE = 1e-6
"""A number that a linear program moves by less hasn't moved."""


def secondary(
    tables: ExactTables, is_primary: NDArray[np.bool_], *, zeros_shown: bool, width: int = 1, limit: float
) -> tuple[NDArray[np.bool_], bool]:
    """Whether each number is withheld, and whether `limit` (seconds of work) left any of them computable.

    Every primary number can be larger by `width` for all that a reader knows, and smaller by `width`
    where a withheld number may be so small.
    """
    if not is_primary.any():
        return is_primary, False
    pattern = _Pattern(tables, is_primary, zeros_shown=zeros_shown)
    seconds = _protect(pattern, width, limit)
    not_finished = _audit(pattern, width, limit - seconds)
    return is_primary | pattern.is_number_withheld, not_finished


class _Pattern:
    """Which sums are withheld, and what values of each are possible for all that a reader knows.

    Numbers with the same unknowns are one sum; unknowns in the same sums are one unknown. Where zeros
    are shown, an unknown in one of them is known to be 0 and left out.
    """

    def __init__(self, tables: ExactTables, is_primary: NDArray[np.bool_], *, zeros_shown: bool) -> None:
        assert tables.parts is not None, "secondary suppression needs to know what numbers are sums of"
        self.least = int(zeros_shown)  # of a withheld number, as a reader knows
        is_part = tables.parts.is_part(int(tables.parts.members.max(initial=-1)) + 1)
        is_part[:, is_part[(tables.counts == 0) & ~is_primary & zeros_shown].any(axis=0)] = False
        _, first, inverse = np.unique(is_part, axis=0, return_index=True, return_inverse=True)
        self._can_move = is_part.any(axis=1)  # by number, as is the next
        same_as = first[inverse.ravel()][self._can_move]
        numbers, self._sum_of, sizes = np.unique(same_as, return_inverse=True, return_counts=True)
        columns = is_part[numbers][:, is_part[numbers].any(axis=0)]
        columns = columns[:, np.argsort(columns.argmax(axis=0), kind="stable")]
        self.is_part = columns[:, np.sort(np.unique(columns, axis=1, return_index=True)[1])]  # by sum and unknown
        self.unknowns = int(self.is_part.shape[1])
        self.values = tables.counts[numbers]
        self.costs = sizes * (1 + self.values)  # of withholding: 1 + value for each number
        self.is_primary = np.bincount(self._sum_of, is_primary[self._can_move], len(numbers)) > 0
        self.is_withheld = self.is_primary.copy()
        self.most = int(self.values.sum()) + 1  # of any number, in the tables that are looked at
        self.lowest, self.highest = self.values.copy(), self.values.copy()  # seen in tables that fit

    @property
    def is_number_withheld(self) -> NDArray[np.bool_]:
        """Whether each number is in a sum that is withheld."""
        is_withheld = np.zeros(self._can_move.shape, dtype=np.bool_)
        is_withheld[self._can_move] = self.is_withheld[self._sum_of]
        return is_withheld

    def fill(self, program: LinearProgram | IntegerProgram) -> None:
        """Say in `program` that each sum is its value plus what it rises minus what it falls."""
        for _ in range(self.unknowns):
            program.add_unknown(0, self.most)
        costs = np.where(self.is_withheld, 0, self.costs).tolist()
        for place, (value, cost) in enumerate(zip(self.values.tolist(), costs, strict=True)):
            parts = np.flatnonzero(self.is_part[place]).tolist()
            rise = program.add_unknown(0, self.most, cost)
            fall = program.add_unknown(*self.room(place), cost)
            program.add_row([*parts, rise, fall], [*([1] * len(parts)), -1, 1], value, value)

    def move(self, program: LinearProgram | IntegerProgram, place: int, rise: Range, fall: Range) -> None:
        """Ask for tables in which the sum rises and falls so much."""
        unknown = self.unknowns + 2 * place
        program.set_bounds(unknown, *rise)
        program.set_bounds(unknown + 1, *fall)

    def room(self, place: int) -> Range:
        """How far the sum can fall."""
        return 0, max(int(self.values[place]) - self.least, 0)

    def changes(self, solution: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each sum moves."""
        return solution[self.unknowns :: 2] - solution[self.unknowns + 1 :: 2]

    def cost(self, solution: NDArray[np.float64]) -> int:
        """What it costs to withhold the sums that the solution moves."""
        is_new = (np.abs(self.changes(solution)) > CLOSE) & ~self.is_withheld
        return int(self.costs[is_new].sum())

    def withhold(self, program: LinearProgram | IntegerProgram, solution: NDArray[np.float64]) -> None:
        """Withhold the sums that the solution moves, and remember where they can be."""
        changes = self.changes(solution)
        for place in np.flatnonzero((np.abs(changes) > CLOSE) & ~self.is_withheld).tolist():
            self.is_withheld[place] = True
            rise = self.unknowns + 2 * place
            program.set_cost(rise, 0)
            program.set_cost(rise + 1, 0)
        if np.abs(solution - solution.round()).max(initial=0) < CLOSE:  # in whole numbers: people can be so
            seen = self.values + changes.round().astype(np.int64)
            np.minimum(self.lowest, seen, out=self.lowest)
            np.maximum(self.highest, seen, out=self.highest)

    def in_falling_order(self, is_asked: NDArray[np.bool_]) -> list[int]:
        """The places of the sums asked for, from the largest value down."""
        places = np.flatnonzero(is_asked)
        return [int(place) for place in places[np.argsort(-self.values[places], kind="stable")]]


def _protect(pattern: _Pattern, width: int, limit: float) -> float:
    """Withhold what every primary number needs; returns the seconds of work."""
    program = LinearProgram()
    pattern.fill(program)
    for place in pattern.in_falling_order(pattern.is_primary):
        value = int(pattern.values[place])
        up, down = (width, width), (0, 0)
        for step in (width, -width):
            is_seen = pattern.lowest[place] <= value + step <= pattern.highest[place]
            if not is_seen and value + step >= pattern.least and program.seconds <= limit:
                pattern.move(program, place, up, down)
                if (solution := program.solution()) is not None:
                    pattern.withhold(program, solution)
            up, down = down, up
        pattern.move(program, place, (0, pattern.most), pattern.room(place))
    return program.seconds


def _audit(pattern: _Pattern, width: int, limit: float) -> bool:
    """Protect again, in whole numbers, what has one possible value only; returns whether any is left."""
    is_left = False
    for place in pattern.in_falling_order(pattern.is_withheld):
        if pattern.lowest[place] < pattern.highest[place]:
            continue
        program = IntegerProgram()
        pattern.fill(program)
        _, room = pattern.room(place)
        found: list[NDArray[np.float64]] = []
        for rise, fall in (((width, pattern.most), (0, 0)), ((0, 0), (width, room))):
            if fall[0] <= fall[1]:
                pattern.move(program, place, rise, fall)
                answer = program.solution(limit)
                limit -= answer.seconds
                found += [] if answer.values is None else [answer.values.astype(np.float64)]
        if found:
            pattern.withhold(program, min(found, key=pattern.cost))
        is_left |= not found
    return is_left
