"""Rounding and suppression: to a multiple of a base, or small counts withheld.

Secondary suppression withholds more numbers, so that the withheld ones can't be computed from the
others. For each number that must be withheld, a linear program finds the cheapest other table that
has the same shown numbers but another value there; the numbers that differ in it are withheld as
well (Kelly, Golden and Assad, "Cell suppression: disclosure protection for sensitive tabular data",
1992; Cox, "Network models for complementary cell suppression", 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.linear_programs import IntegerProgram, LinearProgram, is_available
from safetab.apps.compare.protections.method import Form, Made, Method, Place, Wrong
from safetab.apps.compare.protections.protection import Floats, Known, NumberStep, Windows, between
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, PublishedTables

_Program = LinearProgram | IntegerProgram
_CLOSE = 1e-6  # a number that a linear program moves by less hasn't moved
_SECONDS = 600.0  # of work, for secondary suppression
_FOUR_DIGITS = tuple((10**digits, 10 ** (digits - 3)) for digits in range(6, 16))
REVIEW_BOARD = ((0, 10), (100, 50), (1_000, 100), (10_000, 500), (100_000, 1_000), *_FOUR_DIGITS)
"""The ladder `drb`: counts lose more digits the larger they are."""
EXACT = ((0, 1),)
"""The ladder of suppression: what is shown is exact."""


@dataclass(frozen=True, slots=True)
class Rounding(NumberStep):
    """Rounds each number to the nearest multiple of its base, and withholds small numbers.

    Halves go to the even multiple. `ladder` lists (count, base): from this count on numbers are
    rounded to this base. With `width`, more numbers are withheld, so that no withheld number can be
    computed from sums to within less than it; only where the tables say what their numbers are sums
    of.
    """

    ladder: tuple[tuple[int, int], ...]
    withheld_below: int = 0
    zeros_shown: bool = True
    width: int = 0
    is_of_groups: bool = False  # whether all numbers of a group are withheld if its total is small

    def protect(self, tables: ExactTables, _: np.random.Generator) -> PublishedTables:
        """The rounded numbers without those that are withheld; nothing is random."""
        numbers = self._rounded(tables.counts)
        is_withheld = self._is_small(tables.group_totals if self.is_of_groups else tables.counts)
        if not self.width or tables.parts is None:
            return PublishedTables.of(numbers, is_withheld)
        is_withheld, not_finished = secondary(
            tables, is_withheld, zeros_shown=self.zeros_shown, width=self.width, limit=_SECONDS
        )
        return PublishedTables.of(numbers, is_withheld, is_finished=not not_finished)

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        """The windows that hold every count that rounds to the number.

        A withheld number is small, or anything if it may be a secondary one.
        """
        is_shown, values = published.is_shown, published.numbers.data[published.is_shown]
        # whether its own count decides
        is_judged = known.is_total if self.is_of_groups else np.ones_like(is_shown)
        least = np.where(is_judged, int(self.zeros_shown), 0)
        most = np.where(self.width > 0, known.most, self.withheld_below - 1)
        largest = values.max(initial=0)
        counts = np.arange(largest + self._bases(largest) + 1)
        counts = counts[self.is_of_groups | ~self._is_small(counts)]
        shown = self._rounded(counts)  # in rising order
        least[is_shown] = counts[np.searchsorted(shown, values)]
        most[is_shown] = counts[np.searchsorted(shown, values, side="right") - 1]
        most = np.where(is_judged & is_shown & (most < self.withheld_below), 0, most)
        return between(least, most, known)

    @property
    def largest_error(self) -> int | None:
        """Half the first base, unless larger ones follow."""
        return self.ladder[0][1] // 2 if self.ladder[0][1] >= self.ladder[-1][1] else None

    @property
    def has_least_width(self) -> bool:
        return self.width == 1 and self.zeros_shown

    def _is_small(self, counts: Int64s) -> NDArray[np.bool_]:
        return np.asarray((counts < self.withheld_below) & ((counts > 0) | (not self.zeros_shown)))

    def _bases(self, counts: Int64s) -> Int64s:
        starts, bases = np.array(self.ladder, dtype=np.int64).T
        return np.asarray(bases[np.searchsorted(starts, counts, side="right") - 1])

    def _rounded(self, counts: Int64s) -> Int64s:
        bases = self._bases(counts)
        return np.rint(counts / bases).astype(np.int64) * bases


def secondary(
    tables: ExactTables,
    is_primary: NDArray[np.bool_],
    *,
    zeros_shown: bool,
    width: int = 1,
    limit: float,
) -> tuple[NDArray[np.bool_], bool]:
    """Whether each number is withheld, and whether any of them can still be computed.

    That can be if `limit` (seconds of work) was reached. For all that a reader knows, a primary
    number can be larger by `width`, and smaller if there is room.
    """
    if not is_primary.any():
        return is_primary, False
    pattern = _Pattern(tables, is_primary, zeros_shown=zeros_shown, width=width)
    seconds = _protect(pattern, width, limit)
    not_finished = _audit(pattern, width, limit - seconds)
    return is_primary | pattern.is_number_withheld, not_finished


class _Pattern:
    """The sums that are withheld, and the values of each that a reader must hold possible.

    Numbers with the same unknowns are one sum; unknowns in the same sums are one unknown. Where
    zeros are shown, an unknown in one of them is known to be 0 and left out, and a withheld number
    is 1 or more: a table with a 0 in its place protects nothing.
    """

    def __init__(
        self, tables: ExactTables, is_primary: NDArray[np.bool_], *, zeros_shown: bool, width: int
    ) -> None:
        assert tables.parts is not None, (
            "secondary suppression needs to know what numbers are sums of"
        )
        is_part = tables.parts.is_part(int(tables.parts.members.max(initial=-1)) + 1)
        is_part[:, is_part[(tables.counts == 0) & ~is_primary & zeros_shown].any(axis=0)] = False
        _, first, inverse = np.unique(is_part, axis=0, return_index=True, return_inverse=True)
        can_move = is_part.any(axis=1)
        same_as = first[inverse.ravel()][can_move]
        numbers, sum_of, sizes = np.unique(same_as, return_inverse=True, return_counts=True)
        self._sum_of = np.full(len(is_part), -1)  # by number; -1: it can't move
        self._sum_of[can_move] = sum_of
        columns = is_part[numbers][:, is_part[numbers].any(axis=0)]
        columns = columns[:, np.argsort(columns.argmax(axis=0), kind="stable")]
        # by sum and unknown
        self.is_part = columns[:, np.sort(np.unique(columns, axis=1, return_index=True)[1])]
        self.unknowns = int(self.is_part.shape[1])
        self.values = tables.counts[numbers]
        self.room = np.maximum(self.values - int(zeros_shown), 0)  # how far each can fall
        self.costs = sizes * (1 + self.values)  # of withholding: 1 + value for each number
        self.is_primary = np.bincount(sum_of, is_primary[can_move], len(numbers)) > 0
        self.is_withheld = self.is_primary.copy()
        # the most of any number, in the tables that are looked at
        self.most = int(self.values.sum()) + width
        # the extremes seen in tables that fit
        self.lowest, self.highest = self.values.copy(), self.values.copy()

    @property
    def is_number_withheld(self) -> NDArray[np.bool_]:
        """Whether each number is in a sum that is withheld."""
        return np.asarray(np.append(self.is_withheld, False)[self._sum_of])

    def fill(self, program: _Program) -> None:
        """Say in `program` that each sum is its value plus what it rises minus what it falls."""
        for _ in range(self.unknowns):
            program.add_unknown(0, self.most)
        costs = np.where(self.is_withheld, 0, self.costs).tolist()
        for place, (value, cost) in enumerate(zip(self.values.tolist(), costs, strict=True)):
            parts = np.flatnonzero(self.is_part[place]).tolist()
            rise = program.add_unknown(0, self.most, cost)
            fall = program.add_unknown(0, int(self.room[place]), cost)
            program.add_row([*parts, rise, fall], [*([1] * len(parts)), -1, 1], value, value)

    def move(
        self, program: _Program, place: int, rise: tuple[int, int], fall: tuple[int, int]
    ) -> None:
        """Ask for tables in which the sum rises and falls so much."""
        unknown = self.unknowns + 2 * place
        program.set_bounds(unknown, *rise)
        program.set_bounds(unknown + 1, *fall)

    def moved(self, solution: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The distance that each sum moves, and whether it must be withheld for that."""
        changes = solution[self.unknowns :: 2] - solution[self.unknowns + 1 :: 2]
        return changes, (np.abs(changes) > _CLOSE) & ~self.is_withheld

    def withhold(self, program: _Program, solution: Floats) -> None:
        """Withhold the sums that the solution moves, and remember where they can be."""
        changes, is_new = self.moved(solution)
        self.is_withheld |= is_new
        for place in np.flatnonzero(np.repeat(is_new, 2)).tolist():
            program.set_cost(self.unknowns + place, 0)
        # a solution in whole numbers: people can be like that
        if np.abs(solution - solution.round()).max(initial=0) < _CLOSE:
            seen = self.values + changes.round().astype(np.int64)
            np.minimum(self.lowest, seen, out=self.lowest)
            np.maximum(self.highest, seen, out=self.highest)

    def in_falling_order(self, is_asked: NDArray[np.bool_]) -> list[int]:
        """The places of the sums asked for, from the largest value down."""
        return [
            place for place in np.argsort(-self.values, kind="stable").tolist() if is_asked[place]
        ]


def _protect(pattern: _Pattern, width: int, limit: float) -> float:
    """Withhold what every primary number needs; returns the seconds of work."""
    program = LinearProgram()
    pattern.fill(program)
    for place in pattern.in_falling_order(pattern.is_primary):
        value, room = int(pattern.values[place]), int(pattern.room[place])
        for rise, fall in ((width, 0), (0, width)):
            is_seen = pattern.lowest[place] <= value + rise - fall <= pattern.highest[place]
            if not is_seen and fall <= room and program.seconds <= limit:
                pattern.move(program, place, (rise, rise), (fall, fall))
                if (solution := program.solution()) is not None:
                    pattern.withhold(program, solution)
        pattern.move(program, place, (0, pattern.most), (0, room))
    return program.seconds


def _audit(pattern: _Pattern, width: int, limit: float) -> bool:
    """Protect again, in whole numbers, what has one possible value only.

    Returns whether any is left.
    """
    is_left = False
    for place in pattern.in_falling_order(pattern.is_withheld):
        if pattern.lowest[place] < pattern.highest[place]:
            continue
        program = IntegerProgram()
        pattern.fill(program)
        room, found = int(pattern.room[place]), list[Floats]()
        for rise, fall in (((width, pattern.most), (0, 0)), ((0, 0), (width, room))):
            if fall[0] <= fall[1]:
                pattern.move(program, place, rise, fall)
                answer = program.solution(limit)
                limit -= answer.seconds
                found += [] if answer.values is None else [answer.values.astype(np.float64)]
        if found:
            pattern.withhold(
                program, min(found, key=lambda each: pattern.costs[pattern.moved(each)[1]].sum())
            )
        is_left |= not found
    return is_left


def _round(base: int) -> Made:
    return Rounding(((0, base),)), f"rounding to the nearest {base}"


def _by_rule(
    ladder: tuple[tuple[int, int], ...], withheld_below: int, words: str, _: str, zeros: str
) -> Made:
    return Rounding(ladder, withheld_below, zeros == "shown"), words


def _suppress(below: int, secondary: str, zeros: str, width: int) -> Made:
    is_lp = secondary == "lp"
    if width > 1 and not is_lp:
        raise Wrong({"range": "It can only be given with secondary=lp."})
    if is_lp and not is_available():
        raise Wrong(
            {
                "secondary": "lp needs OR-Tools, which is not installed."
                " Install it: pip install ortools."
            }
        )
    words = f"suppression of counts below {below}{', with secondary suppression' if is_lp else ''}"
    return Rounding(EXACT, below, zeros == "shown", width * is_lp), words


_RULES_OF_1980 = Rounding(((0, 5), (3, 1)), 15, is_of_groups=True)
"""Every number of a group of 1 to 14 people is withheld; elsewhere 1 and 2 become 0."""


def _suppress_as_in_1980(_: str) -> Made:
    return _RULES_OF_1980, "suppression by the rules of 1980"


_MANY, _ZEROS = range(1, 10**6 + 1), {"zeros": (("shown", "withheld"), "shown")}
_HOW_MUCH = {"secondary": (("none", "lp"), "none"), **_ZEROS, "range": (_MANY, 1)}
ROUNDING = Method(
    "rounding",
    Place.NUMBERS,
    (
        Form("round", _round, {"base": _MANY}),
        Form(
            "round",
            partial(_by_rule, REVIEW_BOARD, 15, "rounding ladder"),
            {"ladder": ("drb",)},
            _ZEROS,
        ),
        Form("round", partial(_by_rule, ((0, 5),), 10, "10-5 rule"), {"rule": ("10-5",)}, _ZEROS),
    ),
)
SUPPRESSION = Method(
    "suppression",
    Place.NUMBERS,
    (
        Form("suppress", _suppress, {"below": _MANY}, _HOW_MUCH),
        Form("suppress", _suppress_as_in_1980, {"rule": ("1980",)}, said="suppress:rule=1980"),
    ),
)
