"""Patterns: the part of a record's codes that decides its iterations, at every level.

The loops work on plain integer arrays and are compiled. They know nothing of rules or files: every
code has its number in the public list, 0 stands for no code, -1 for a code that is not valid and -2
for an answer that is not stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.model.census.groups import IterationMap

Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

_SEVERAL, _SINGLE = (
    8,
    8,
)  # up to eight answers to one question, and behind them the single answer to the other
CODES = _SEVERAL + 1
"""The number of columns of codes that the loops take."""
_WRONG = -1
_PATTERNS_AT_ONCE = 1 << 16
_MOST_OF_A_MAP = (
    10  # iterations: one of each of eight answers, one of all of them, one of the single answer
)
_PAIR_FACTOR = 40_503  # spreads codes, so that similar pairs of codes are remembered apart


class PatternTable:
    """Numbers patterns in the order they are met.

    Combinations that mean the same share a number.
    """

    def __init__(
        self, most_answers: int, *, may_be_empty: bool = False, may_skip: bool = False
    ) -> None:
        """`may_be_empty` and `may_skip` are those of `order_codes`."""
        self.most_answers = most_answers
        self.may_be_empty = may_be_empty
        self.may_skip = may_skip
        self._codes = np.zeros((1 << 10, CODES), dtype=np.int16)
        self._slots = np.full(4 * len(self._codes), -1, dtype=np.int32)
        self.recent = np.full(1 << 16, -1, dtype=np.int32)
        self.count = 0
        self._lock = RLock()

    @property
    def codes(self) -> Int16s:
        """The codes of each pattern: those of several answers, rising, then zeros.

        The single one ends it.
        """
        return self._codes[: self.count]

    def numbers_of(self, ordered: Int16s) -> Int32s:
        """The pattern of each row of codes, ordered as in `codes`; -1 if the first is negative."""
        patterns = np.empty(len(ordered), dtype=np.int32)
        number = compiled_if_worthwhile(_number_patterns, len(ordered))
        reached = 0
        with self._lock:
            while True:
                tables = (self._slots, self._codes, self.count, self.recent)
                reached, self.count = number(ordered, reached, *tables, patterns)
                if reached == len(patterns):
                    return patterns
                self._make_room()

    def _make_room(self) -> None:
        """Make the table four times as large; patterns keep their numbers and find new slots."""
        old = self._codes
        self._codes = np.zeros((4 * len(old), CODES), dtype=np.int16)
        self._slots = np.full(4 * len(self._codes), -1, dtype=np.int32)
        self.recent.fill(-1)  # an empty pattern would be found before it is numbered anew
        self.count = 0
        self.numbers_of(old)


class ThreadPatterns:
    """One thread's table of patterns, in front of the shared one, which numbers new patterns."""

    def __init__(self, shared: PatternTable) -> None:
        self._shared = shared
        self._own = PatternTable(
            shared.most_answers, may_be_empty=shared.may_be_empty, may_skip=shared.may_skip
        )
        # the shared number is at the own number plus 1; the first entry stands for no pattern
        self._shared_number = np.full(1 << 10, -1, dtype=np.int32)
        self._known = 0

    def numbers_of(self, codes: Int16s) -> Int32s:
        """The pattern of each column of codes, or -1 if they break a rule."""
        themselves = np.arange(int(codes.max(initial=0)) + 2).astype(
            np.int16
        )  # each number at its own position
        themselves[-1] = -1
        return self.numbers_of_positions(tuple(codes.astype(np.int32)), (themselves,) * len(codes))

    def numbers_of_positions(
        self, positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...]
    ) -> Int32s:
        """The pattern of each row, whose codes are numbers[column][positions[column][row]]."""
        patterns = np.full(len(positions[0]), -1, dtype=np.int32)
        if self._own.count:
            # the first position that stands for no code, or -1, which no row has
            no_codes = [np.flatnonzero(of_column == 0)[:1] for of_column in numbers]
            no_code = np.array(
                [found[0] if len(found) else -1 for found in no_codes], dtype=np.int32
            )
            tables = (self._own.recent, self._own.codes, self._shared_number)
            remember = compiled_if_worthwhile(_remembered_patterns, len(patterns))
            remember(positions, numbers, no_code, *tables, patterns)
        rest = np.flatnonzero(patterns < 0)
        codes = np.empty((len(numbers), len(rest)), dtype=np.int16)
        compiled_if_worthwhile(_codes_of_rows, len(rest))(positions, numbers, rest, codes)
        patterns[rest] = self._looked_up(codes)
        return patterns

    def _looked_up(self, codes: Int16s) -> Int32s:
        """The numbers of these patterns in the shared table."""
        ordered = np.empty((codes.shape[1], CODES), dtype=np.int16)
        order = compiled_if_worthwhile(order_codes, len(ordered))
        order(codes, self._own.most_answers, ordered, self._own.may_be_empty, self._own.may_skip)
        own = self._own.numbers_of(ordered)
        if (
            self._known < self._own.count
        ):  # ask the shared table for the numbers of what is new here
            end = self._own.count + 1
            if end > len(self._shared_number):
                self._shared_number = np.resize(self._shared_number, 4 * end)
            self._shared_number[self._known + 1 : end] = self._shared.numbers_of(
                self._own.codes[self._known :]
            )
            self._known = self._own.count
        return self._shared_number[own + 1]


class IterationLists(NamedTuple):
    """The iterations of all patterns; pattern p has iterations[starts[p] : starts[p + 1]]."""

    starts: Int64s
    iterations: Int32s


def iteration_lists(
    pattern_codes: Int16s,
    maps: Sequence[IterationMap],
    number_of: Mapping[str, int],
    numbers_of_codes: tuple[Mapping[str, int], Mapping[str, int]],
) -> IterationLists:
    """For each pattern the iterations of all maps, each once, by their numbers.

    Codes have numbers of their own in the classification with several answers and in the other one.
    """
    rows = [(of_map.several.only, of_map.several.any_of, of_map.single.any_of) for of_map in maps]
    rows += [({}, {}, of_map.single.only) for of_map in maps if of_map.single.only]
    several, single_codes = numbers_of_codes
    most = max([0, *several.values(), *single_codes.values()])
    numbers = np.full((3, len(rows), most + 1), -1, dtype=np.int32)
    for level, of_maps in enumerate(rows):
        of_slots = zip(of_maps, (several, several, single_codes), strict=True)
        for which, (iteration_of_code, number_of_code) in enumerate(of_slots):
            for code, iteration in iteration_of_code.items():
                numbers[which, level, number_of_code[code]] = number_of[iteration]
    only, any_of, single = numbers
    starts, lists = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for first in range(0, len(pattern_codes), _PATTERNS_AT_ONCE):
        part = pattern_codes[first : first + _PATTERNS_AT_ONCE]
        starts_of_part = np.empty(len(part) + 1, dtype=np.int64)
        found = np.empty(len(part) * _MOST_OF_A_MAP * len(rows), dtype=np.int32)
        write_lists = compiled_if_worthwhile(iterations_of_patterns, len(part) * len(rows))
        write_lists(part, only, any_of, single, starts_of_part, found)
        lists.append(found[: starts_of_part[-1]].copy())
        starts.append(starts_of_part[1:] + starts[-1][-1])
    return IterationLists(np.concatenate(starts), np.concatenate(lists))


def _remembered_patterns(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...], no_code: Int32s, recent: Int32s,
    pattern_codes: Int16s, shared_number: Int32s, patterns: Int32s,
) -> None:  # fmt: skip
    """Write the pattern of each row that has one of several answers and is remembered.

    All other rows get -1. `positions` says where in `numbers` the codes of a row are, and `no_code`
    where a column has none. `recent` is that of `_number_patterns`; `shared_number` has -1 and then
    what to write for each pattern. Most records have one answer of several, and few combinations of
    it with the single one.
    """
    first, second, third, fourth, fifth, sixth, seventh, eighth, last = positions
    of_first, of_last, mask = numbers[0], numbers[_SINGLE], len(recent) - 1
    no_2, no_3, no_4, no_5, no_6, no_7, no_8 = (
        no_code[1], no_code[2], no_code[3], no_code[4], no_code[5], no_code[6], no_code[7],
    )  # fmt: skip
    for row in range(len(patterns)):
        others = (
            (second[row] ^ no_2) | (third[row] ^ no_3) | (fourth[row] ^ no_4) | (fifth[row] ^ no_5)
        )
        others |= (sixth[row] ^ no_6) | (seventh[row] ^ no_7) | (eighth[row] ^ no_8)
        only, single = np.int64(of_first[first[row]]), np.int64(of_last[last[row]])
        number = recent[(only * _PAIR_FACTOR + single) & mask]
        if (
            others
            or number < 0
            or pattern_codes[number, 0] != only
            or pattern_codes[number, _SINGLE] != single
        ):
            number = np.int32(-1)
        patterns[row] = shared_number[number + 1]


def _codes_of_rows(
    positions: tuple[Int32s, ...], numbers: tuple[Int16s, ...], rows: Int64s, codes: Int16s
) -> None:
    """Write a column of codes, numbers[n][positions[n][row]], for each of these rows. Compiled."""
    # the arrays of `positions` have one type: all or none of them are writeable
    for column in range(len(codes)):
        at, of_column = positions[column], numbers[column]
        for place in range(len(rows)):
            codes[column, place] = of_column[at[rows[place]]]


def order_codes(  # noqa: C901 - compiled as a whole
    codes: Int16s,
    most_codes: int,
    ordered: Int16s,
    may_be_empty: bool = False,
    may_skip: bool = False,
) -> None:
    """Write the pattern of each column of codes as a row of its own.

    That is the set of the first `most_codes` of several codes, rising, then zeros, and at the end
    the single code. The first number is -1 if the codes break a rule: one is not valid; the first
    or the single one is absent, unless it `may_be_empty`; or one follows an absent code, unless
    answers `may_skip`. An answer that is not stated is in no set. Where it may be empty, the number
    of an absent answer that is required is -1.
    """
    for row in range(len(ordered)):
        for position in range(CODES):
            ordered[row, position] = 0
        count, has_ended = 0, False
        is_right = bool(codes[0, row] > 0 and codes[_SINGLE, row] > 0)
        if may_be_empty:
            is_right = bool(codes[_SINGLE, row] >= 0)
        for position in range(_SEVERAL):
            code = codes[position, row]
            if code == 0:
                has_ended = True
                continue
            if code == _WRONG or (has_ended and not may_skip):
                is_right = False
            if code < 0:
                continue
            slot = count
            while slot > 0 and ordered[row, slot - 1] > code:
                slot -= 1
            if position >= most_codes or (slot > 0 and ordered[row, slot - 1] == code):
                continue
            for moved in range(count, slot, -1):
                ordered[row, moved] = ordered[row, moved - 1]
            ordered[row, slot] = code
            count += 1
        ordered[row, _SINGLE] = codes[_SINGLE, row]
        if not is_right:
            ordered[row, 0] = -1


def _number_patterns(  # noqa: C901, PLR0912, PLR0913, PLR0917
    ordered: Int16s, first_row: int, slots: Int32s, pattern_codes: Int16s, known: int,
    recent: Int32s, patterns: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """Write the pattern of each row of ordered codes from `first_row` on.

    It is -1 if the first code of a row is negative. New patterns are numbered from `known` on and
    kept in `pattern_codes`; `slots` is a hash table of their numbers, -1 where it is free. `recent`
    remembers patterns of one answer of several by their two codes, -1 where it remembers none.
    Return the first row that was not reached because the table is full, and the number of patterns.
    """
    mask, recent_mask = len(slots) - 1, len(recent) - 1
    for row in range(first_row, len(patterns)):
        if known >= len(pattern_codes):
            return row, known
        only, single = int(ordered[row, 0]), int(ordered[row, _SINGLE])
        if only < 0:
            patterns[row] = -1
            continue
        pair = (only * _PAIR_FACTOR + single) & recent_mask
        if ordered[row, 1] == 0:
            number = recent[pair]
            if (
                number >= 0
                and pattern_codes[number, 0] == only
                and pattern_codes[number, _SINGLE] == single
            ):
                patterns[row] = number
                continue
        slot = 0
        for position in range(CODES):
            slot = ((slot ^ ordered[row, position]) * 0x5BD1E995) & 0x7FFFFFFFFFFF
            slot = (slot ^ (slot >> 29)) & 0x7FFFFFFF
        slot = (slot ^ (slot >> 15)) & mask
        is_found = False
        while not is_found and slots[slot] >= 0:
            is_found = True
            for position in range(CODES):
                if pattern_codes[slots[slot], position] != ordered[row, position]:
                    is_found = False
            if not is_found:
                slot = (slot + 1) & mask
        if not is_found:
            for position in range(CODES):
                pattern_codes[known, position] = ordered[row, position]
            slots[slot] = known
            known += 1
        patterns[row] = slots[slot]
        if ordered[row, 1] == 0:
            recent[pair] = slots[slot]
    return len(patterns), known


def iterations_of_patterns(  # noqa: C901
    pattern_codes: Int16s,
    only: Int32s,
    any_of: Int32s,
    single: Int32s,
    starts: Int64s,
    found: Int32s,
) -> None:
    """Write the iterations of each pattern one after the other, and where those of each begin.

    Each row of a map is for one level and grain, and has an iteration for every code, or -1. Only:
    all codes of the pattern lie in one and the same iteration.
    """
    count = 0
    for pattern in range(len(pattern_codes)):
        starts[pattern] = count
        for level in range(len(only)):
            around = only[level, pattern_codes[pattern, 0]]
            for step in range(_MOST_OF_A_MAP):  # eight codes, then all of them, then the single one
                iteration = -1
                if step < _SEVERAL:
                    code = pattern_codes[pattern, step]
                    if code > 0:
                        iteration = any_of[level, code]
                        if only[level, code] != around:
                            around = -1
                elif step == _SEVERAL:
                    iteration = around
                else:
                    iteration = single[level, pattern_codes[pattern, _SINGLE]]
                if iteration < 0:
                    continue
                is_new = True
                for earlier in range(starts[pattern], count):
                    if found[earlier] == iteration:
                        is_new = False
                if is_new:
                    found[count] = iteration
                    count += 1
    starts[len(pattern_codes)] = count
