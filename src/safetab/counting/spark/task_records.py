"""The data of a task on an executor: public lists it was sent, and records by piece.

Imports no Spark. A task keeps its records in memory, where the local engine uses files. Spark
encrypts whatever it moves to disk.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.counting.encoding import AreaLookup, Encoding, ListedLookup, PartAtoms
from safetab.counting.local.numbers_file import N
from safetab.counting.local.part_records import Attributes, PartRecords, SortedRecords
from safetab.counting.patterns import Int32s, PatternTable
from safetab.model.census.area_levels import Pass
from safetab.model.census.groups import IterationMap
from safetab.model.census.sensitivity import CodeMaps
from safetab.model.products.record import RecordLayout

Pieces = tuple[PartAtoms, ...]
"""Some pieces for each part, in this order: neighbouring atoms whose records one task counts."""


def packed(value: object) -> bytes:
    """A result as bytes. Arrays stay writable or not, so one compiled loop serves both engines."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def unpacked(result: bytes) -> Any:
    """A result that a task of the same run has packed."""
    return pickle.loads(result)  # noqa: S301 - the executors run the driver's code as it is


@dataclass(frozen=True, slots=True, eq=False)
class TaskInputs:
    """Public lists for encoding and counting.

    A piece's key decides which task Spark sends it to.
    """

    record: RecordLayout
    numbers_of_codes: tuple[Mapping[str, int], Mapping[str, int]]
    most_answers: int
    may_be_empty: bool
    may_skip: bool
    parts_of_pass: dict[Pass, list[int]]
    parts_there: frozenset[int]
    area_lookup: AreaLookup | ListedLookup
    iteration_maps: list[IterationMap]
    iteration_number: dict[str, int]
    pieces: Pieces
    keys: tuple[int, ...]

    @classmethod
    def of_encoding(cls, encoding: Encoding, keys: Sequence[int]) -> TaskInputs:
        """About as many pieces as there are keys, and at least one for each part."""
        pieces = pieces_of(encoding.parts, len(keys))
        maps = (
            IterationMap(*map(_picklable, of_map.classifications))
            for of_map in encoding.iteration_maps
        )
        return cls(
            record=encoding.record,
            numbers_of_codes=encoding.numbers_of_codes,
            most_answers=encoding.patterns.most_answers,
            may_be_empty=encoding.patterns.may_be_empty,
            may_skip=encoding.patterns.may_skip,
            parts_of_pass=encoding.parts_of_pass,
            parts_there=encoding.parts_there,
            area_lookup=encoding.listed_lookup if encoding.record.fields else encoding.area_lookup,
            iteration_maps=list(maps),
            iteration_number=encoding.iteration_number,
            pieces=pieces,
            keys=tuple(keys[number * len(keys) // len(pieces)] for number in range(len(pieces))),
        )


def _picklable(maps: CodeMaps) -> CodeMaps:
    """The maps as plain dictionaries."""
    return replace(maps, any_of=dict(maps.any_of), only=dict(maps.only))


def pieces_of(parts: Sequence[PartAtoms], wanted: int) -> Pieces:
    """Cut each part's atoms into about equal pieces, `wanted` in all and at least one for each."""
    atoms = sum(part.end_atom - part.first_atom for part in parts)
    pieces = list[PartAtoms]()
    for part in parts:
        here = part.end_atom - part.first_atom
        count = max(1, round(wanted * here / atoms))
        bounds = [part.first_atom + here * number // count for number in range(count + 1)]
        pieces += [PartAtoms(part.tabulation_pass, *bounds[n : n + 2]) for n in range(count)]
    return tuple(pieces)


class TaskEncoding(Encoding):
    """The encoding of one task, made of what was sent; `parts` are the pieces that it counts."""

    def __init__(self, inputs: TaskInputs) -> None:
        self.record = inputs.record
        self.parts_of_pass = inputs.parts_of_pass
        self.parts_there = inputs.parts_there
        self.numbers_of_codes = inputs.numbers_of_codes
        may_be_empty, may_skip = inputs.may_be_empty, inputs.may_skip
        self.patterns = PatternTable(
            inputs.most_answers, may_be_empty=may_be_empty, may_skip=may_skip
        )
        self.iteration_number = inputs.iteration_number
        self.iteration_maps = inputs.iteration_maps
        self.parts: list[PartAtoms] = []
        if isinstance(inputs.area_lookup, ListedLookup):
            self.listed_lookup = inputs.area_lookup
        else:
            self.area_lookup = inputs.area_lookup


class TaskRecords(PartRecords):
    """Keeps in memory, by piece, what `PartRecords` keeps in files by part."""

    def __init__(self, inputs: TaskInputs) -> None:
        super().__init__(Path(), inputs.pieces, inputs.record.attribute_values)
        self._of_piece: dict[int, list[tuple[Int32s, Int32s, Attributes]]] = {}
        self.count = 0

    @property
    def numbers(self) -> list[int]:
        """The pieces with records, rising."""
        return sorted(self._of_piece)

    def take_pieces(self, codes: NDArray[np.int16]) -> Iterator[tuple[int, bytes]]:
        """Hand over each piece's records, packed, with its patterns numbered anew.

        Then forget them.
        """
        for piece in self.numbers:
            atoms, patterns, attributes = map(
                np.concatenate, zip(*self._of_piece.pop(piece), strict=True)
            )
            used, pattern_of_record = renumbered(patterns, len(codes))
            yield piece, packed((atoms, pattern_of_record, attributes, codes[used]))
        self.count = 0

    def add_piece(self, piece: int, records: bytes, patterns: PatternTable) -> None:
        """Add records that another task's `take_pieces` packed.

        Their patterns are numbered as here.
        """
        atoms, pattern_of_record, attributes, codes = unpacked(records)
        self._append(piece, atoms, patterns.numbers_of(codes)[pattern_of_record], attributes)

    def size_of(self, part: int) -> int:
        """The number of records of the piece at this position among `numbers`."""
        return sum(len(atoms) for atoms, *_ in self._of_piece[self.numbers[part]])

    def sorted_part(self, part: int) -> SortedRecords:
        """The records of the piece at this position among `numbers`, by atom and pattern."""
        piece = self.numbers[part]
        atoms, patterns, attributes = map(np.concatenate, zip(*self._of_piece[piece], strict=True))
        return self._sorted(piece, atoms, patterns, attributes)

    def _append(self, part: int, atoms: Int32s, patterns: Int32s, attributes: Attributes) -> None:
        self._of_piece.setdefault(part, []).append((atoms, patterns, attributes))
        self.count += len(atoms)

    # There are no files to name.
    def _kept(self, part: int, name: str, numbers: NDArray[N]) -> NDArray[N]:  # noqa: ARG002
        kept = numbers.copy()
        kept.flags.writeable = False  # like arrays that are read from a file
        return kept


def renumbered(
    patterns: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The patterns below `count` that occur, rising, and each given one's position among them."""
    is_used = np.zeros(count, dtype=np.bool_)
    is_used[patterns] = True
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1).astype(np.int32)[patterns]
