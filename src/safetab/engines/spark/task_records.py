"""What a task on an executor holds: public lists that it was sent, and encoded records by part.

Imports no Spark. A task keeps its records in memory, where the local engine uses files. Spark
encrypts whatever it moves to disk.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import Pass
from safetab.census.groups import IterationMap
from safetab.engines.encoding import BlockLookup, Encoding, StateAtoms
from safetab.engines.local.state_records import Attributes, N, SortedRecords, StateRecords
from safetab.engines.patterns import Int32s, PatternTable
from safetab.products.record import RecordLayout

Parts = tuple[StateAtoms, ...]
"""Some parts for each state, in this order: neighbouring atoms whose records one task counts."""


def packed(value: object) -> bytes:
    """A result as bytes. Arrays stay writable or not, so one compiled loop serves both engines."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpacked(result: bytes) -> Any:
    """A result that a task of the same run has packed."""
    return pickle.loads(result)  # noqa: S301 - the executors run the driver's code as it is


@dataclass(frozen=True, slots=True, eq=False)
class TaskInputs:
    """Public lists for encoding and counting; a part's key decides which task Spark sends it to."""

    record: RecordLayout
    codes: frozenset[str]
    max_race_codes: int
    states_of_pass: dict[Pass, list[int]]
    block_lookup: BlockLookup
    iteration_maps: list[IterationMap]
    iteration_number: dict[str, int]
    parts: Parts
    keys: tuple[int, ...]

    @classmethod
    def of_encoding(cls, encoding: Encoding, codes: Collection[str], keys: Sequence[int]) -> TaskInputs:
        """About as many parts as there are keys, and at least one for each state."""
        parts = parts_of(encoding.states, len(keys))
        maps = (
            IterationMap(dict(of_map.alone), dict(of_map.in_combination), dict(of_map.ethnicity), of_map.max_race_codes)
            for of_map in encoding.iteration_maps  # plain dictionaries can be pickled
        )
        return cls(
            record=encoding.record,
            codes=frozenset(codes),
            max_race_codes=encoding.patterns.max_race_codes,
            states_of_pass=encoding.states_of_pass,
            block_lookup=encoding.block_lookup,
            iteration_maps=list(maps),
            iteration_number=encoding.iteration_number,
            parts=parts,
            keys=tuple(keys[number * len(keys) // len(parts)] for number in range(len(parts))),
        )


def parts_of(states: Sequence[StateAtoms], wanted: int) -> Parts:
    """Cut each state's atoms into about equal parts, `wanted` in all and at least one for each."""
    atoms = sum(state.end_atom - state.first_atom for state in states)
    parts = list[StateAtoms]()
    for state in states:
        here = state.end_atom - state.first_atom
        count = max(1, round(wanted * here / atoms))
        bounds = [state.first_atom + here * number // count for number in range(count + 1)]
        parts += [StateAtoms(state.tabulation_pass, *bounds[n : n + 2]) for n in range(count)]
    return tuple(parts)


class TaskEncoding(Encoding):
    """The encoding of one task, made of what was sent; `states` are the parts that it counts."""

    def __init__(self, inputs: TaskInputs) -> None:
        self.record = inputs.record
        self.states_of_pass = inputs.states_of_pass
        self.patterns = PatternTable(inputs.max_race_codes)
        self.iteration_number = inputs.iteration_number
        self.iteration_maps = inputs.iteration_maps
        self.states: list[StateAtoms] = []
        self.block_lookup = inputs.block_lookup


class TaskRecords(StateRecords):
    """Keeps in memory, by part, what `StateRecords` keeps in files by state."""

    def __init__(self, inputs: TaskInputs) -> None:
        super().__init__(Path(), inputs.parts, inputs.record.attribute_values)
        self._of_part: dict[int, list[tuple[Int32s, Int32s, Attributes]]] = {}
        self.count = 0

    @property
    def numbers(self) -> list[int]:
        """The parts with records, rising."""
        return sorted(self._of_part)

    def take_parts(self, codes: NDArray[np.int16]) -> Iterator[tuple[int, bytes]]:
        """Hand over each part's records, packed, with its patterns numbered anew; then forget them."""
        for part in self.numbers:
            atoms, patterns, attributes = map(np.concatenate, zip(*self._of_part.pop(part), strict=True))
            used, pattern_of_record = renumbered(patterns, len(codes))
            yield part, packed((atoms, pattern_of_record, attributes, codes[used]))
        self.count = 0

    def add_part(self, part: int, records: bytes, patterns: PatternTable) -> None:
        """Add records that another task's `take_parts` packed, and number their patterns as here."""
        atoms, pattern_of_record, attributes, codes = unpacked(records)
        self._append(part, atoms, patterns.numbers_of(codes)[pattern_of_record], attributes)

    def size_of(self, state: int) -> int:
        """The number of records of the part at this position among `numbers`."""
        return sum(len(atoms) for atoms, *_ in self._of_part[self.numbers[state]])

    def sorted_state(self, state: int) -> SortedRecords:
        """The records of the part at this position among `numbers`, by atom and pattern."""
        part = self.numbers[state]
        atoms, patterns, attributes = map(np.concatenate, zip(*self._of_part[part], strict=True))
        return self._sorted(part, atoms, patterns, attributes)

    def _append(self, state: int, atoms: Int32s, patterns: Int32s, attributes: Attributes) -> None:
        self._of_part.setdefault(state, []).append((atoms, patterns, attributes))
        self.count += len(atoms)

    def _kept(self, state: int, name: str, numbers: NDArray[N]) -> NDArray[N]:  # noqa: ARG002 - no files to name
        kept = numbers.copy()
        kept.flags.writeable = False  # like arrays that are read from a file
        return kept


def renumbered(patterns: NDArray[np.int32], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The patterns below `count` that occur, rising, and each given one's position among them."""
    is_used = np.zeros(count, dtype=np.bool_)
    is_used[patterns] = True
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1).astype(np.int32)[patterns]
