"""Patterns: what matters of a person's codes. People of one pattern are in the same iterations at every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.census.iteration_map import IterationMap
from safetab.engines.local import person_arrays
from safetab.engines.local.person_loops import (
    codes_of_rows,
    iterations_of_patterns,
    number_patterns,
    order_codes,
    remembered_patterns,
)
from safetab.foundation.compiled import compiled_if_worthwhile

CODE_END = 10_000
"""Above every code."""

_CODES_THEMSELVES = np.append(np.arange(CODE_END, dtype=np.int16), np.int16(-1))  # at -1, too
_PATTERNS_AT_ONCE = 1 << 16
_MOST_OF_A_MAP = 10  # eight in combination, one alone, one ethnicity


class PatternTable:
    """Numbers the patterns as they are met; code combinations that mean the same share a number."""

    def __init__(self, max_race_codes: int) -> None:
        self.max_race_codes = max_race_codes
        self._codes = np.zeros((1 << 10, 9), dtype=np.int16)
        self._slots = np.full(4 * len(self._codes), -1, dtype=np.int32)
        self.recent = np.full(1 << 16, -1, dtype=np.int32)
        self.count = 0
        self._lock = Lock()

    @property
    def codes(self) -> NDArray[np.int16]:
        """For each pattern its race codes, rising, then zeros, and the ethnicity code at the end."""
        return self._codes[: self.count]

    def numbers_of(self, ordered: NDArray[np.int16]) -> NDArray[np.int32]:
        """Of rows as `codes` has them, or -1 where the first code is negative; threads take turns."""
        with self._lock:
            return self._numbers_of_ordered(ordered)

    def _numbers_of_ordered(self, ordered: NDArray[np.int16]) -> NDArray[np.int32]:
        patterns, reached = np.empty(len(ordered), dtype=np.int32), 0
        loop = compiled_if_worthwhile(number_patterns, len(ordered), person_arrays.number_patterns)
        while True:
            tables = (self._slots, self._codes, self.count, self.recent)
            reached, self.count = loop(ordered, reached, *tables, patterns)
            if reached == len(patterns):
                return patterns
            self._make_room()

    def _make_room(self) -> None:
        """Four times as much; the patterns keep their numbers, and find new slots."""
        old = self._codes
        self._codes = np.zeros((4 * len(old), 9), dtype=np.int16)
        self._slots = np.full(4 * len(self._codes), -1, dtype=np.int32)
        self.count = 0
        self._numbers_of_ordered(old)


class ThreadPatterns:
    """What one thread asks: a table of its own, in front of the one that all share and that numbers what is new."""

    def __init__(self, shared: PatternTable) -> None:
        self._shared, self._own = shared, PatternTable(shared.max_race_codes)
        self._shared_number = np.full(1 << 10, -1, dtype=np.int32)  # by own number plus 1: the first is of no pattern
        self._known = 0

    def numbers_of(self, codes: NDArray[np.int16]) -> NDArray[np.int32]:
        """The pattern of each column of codes, or -1 if they break a rule; 0 stands for no code, -1 for a wrong one."""
        return self.numbers_of_positions(tuple(codes.astype(np.int32)), (_CODES_THEMSELVES,) * len(codes))

    def numbers_of_positions(
        self, positions: tuple[NDArray[np.int32], ...], numbers: tuple[NDArray[np.int16], ...]
    ) -> NDArray[np.int32]:
        """The same for rows whose codes are numbers[column][positions[column]]."""
        patterns = np.full(len(positions[0]), -1, dtype=np.int32)
        if self._own.count:
            no_code = np.array([_position_of_none(of_column) for of_column in numbers], dtype=np.int32)
            loop = compiled_if_worthwhile(remembered_patterns, len(patterns), person_arrays.remembered_patterns)
            loop(positions, numbers, no_code, self._own.recent, self._own.codes, self._shared_number, patterns)
        rest = np.flatnonzero(patterns < 0)
        codes = np.empty((len(numbers), len(rest)), dtype=np.int16)
        gather = compiled_if_worthwhile(codes_of_rows, codes.size, person_arrays.codes_of_rows)
        gather(positions, numbers, rest, codes)
        patterns[rest] = self._looked_up(codes)
        return patterns

    def _looked_up(self, codes: NDArray[np.int16]) -> NDArray[np.int32]:
        ordered = np.empty((codes.shape[1], 9), dtype=np.int16)
        loop = compiled_if_worthwhile(order_codes, len(ordered), person_arrays.order_codes)
        loop(codes, self._own.max_race_codes, ordered)
        own = self._own.numbers_of(ordered)
        if self._known < self._own.count:
            self._learn_shared_numbers()
        return self._shared_number[own + 1]

    def _learn_shared_numbers(self) -> None:
        """Those of the patterns that are new here."""
        end = self._own.count + 1
        if end > len(self._shared_number):
            larger = np.empty(4 * end, dtype=np.int32)
            larger[: self._known + 1] = self._shared_number[: self._known + 1]
            self._shared_number = larger
        self._shared_number[self._known + 1 : end] = self._shared.numbers_of(self._own.codes[self._known :])
        self._known = self._own.count


def _position_of_none(numbers: NDArray[np.int16]) -> int:
    """Where a column first has what stands for no code, or -1, which no row says."""
    found = np.flatnonzero(numbers == 0)
    return int(found[0]) if len(found) else -1


@dataclass(frozen=True, slots=True, eq=False)
class IterationLists:
    """Iterations of pattern p: iterations[starts[p] : starts[p + 1]]."""

    starts: NDArray[np.int64]
    iterations: NDArray[np.int32]


def iteration_lists(
    pattern_codes: NDArray[np.int16], maps: Sequence[IterationMap], number_of: Mapping[str, int]
) -> IterationLists:
    """For each pattern the iterations of all maps, each once, by their numbers."""
    alone, in_combination, ethnicity = (
        np.stack([_numbers(getattr(one, kind), number_of) for one in maps])
        for kind in ("alone", "in_combination", "ethnicity")
    )
    starts, lists = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    on_arrays = person_arrays.iterations_of_patterns
    work = len(pattern_codes) * len(maps)
    loop = compiled_if_worthwhile(iterations_of_patterns, work, on_arrays)
    for first in range(0, len(pattern_codes), _PATTERNS_AT_ONCE):
        part = pattern_codes[first : first + _PATTERNS_AT_ONCE]
        starts_of_part = np.empty(len(part) + 1, dtype=np.int64)
        found = np.empty(len(part) * _MOST_OF_A_MAP * len(maps), dtype=np.int32)
        loop(part, alone, in_combination, ethnicity, starts_of_part, found)
        lists.append(found[: starts_of_part[-1]].copy())
        starts.append(starts_of_part[1:] + starts[-1][-1])
    return IterationLists(np.concatenate(starts), np.concatenate(lists))


def _numbers(iteration_of_code: Mapping[str, str], number_of: Mapping[str, int]) -> NDArray[np.int32]:
    numbers = np.full(CODE_END, -1, dtype=np.int32)
    for code, iteration in iteration_of_code.items():
        numbers[int(code)] = number_of[iteration]
    return numbers
