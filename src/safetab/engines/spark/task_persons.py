"""Encoded persons of a task, in its memory, by the parts of the atoms that they are sent on to. Imports no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local import person_arrays
from safetab.engines.local.counting_loops import sort_by_atom
from safetab.engines.local.person_loops import Attributes
from safetab.engines.local.state_persons import N, SortedPersons, StatePersons
from safetab.engines.pattern_table import PatternTable
from safetab.engines.spark.sent_lists import SentLists
from safetab.foundation.compiled import compiled_if_worthwhile


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EncodedPart:
    """Persons of one part. A pattern is a row of `codes`, which has those that occur: tasks number them differently."""

    atoms: NDArray[np.int32]
    patterns: NDArray[np.int32]
    attributes: Attributes
    codes: NDArray[np.int16]

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        return {"atoms": self.atoms, "patterns": self.patterns, "attributes": self.attributes, "codes": self.codes}

    @classmethod
    def of_columns(cls, row: Mapping[str, Any], attribute_type: np.dtype[Any]) -> EncodedPart:
        return cls(
            np.frombuffer(row["atoms"], dtype=np.int32),
            np.frombuffer(row["patterns"], dtype=np.int32),
            np.frombuffer(row["attributes"], dtype=attribute_type),
            np.frombuffer(row["codes"], dtype=np.int16).reshape(-1, 9),
        )


class TaskPersons(StatePersons):
    """Keeps in memory, by part, what `StatePersons` keeps in files by state: no person is on an executor's disk."""

    def __init__(self, lists: SentLists) -> None:
        super().__init__(Path(), lists.bounds, lists.parts[-1].end_atom, lists.record.attribute_values)
        self._of_part: dict[int, list[tuple[NDArray[np.int32], NDArray[np.int32], Attributes]]] = {}
        self.people = 0

    @property
    def numbers(self) -> list[int]:
        """The parts with people."""
        return sorted(self._of_part)

    def taken(self, codes: NDArray[np.int16]) -> Iterator[tuple[int, EncodedPart]]:
        """The persons of each part, who are then no longer here; `codes` are those of all patterns."""
        for part in self.numbers:
            atoms, patterns, attributes = map(np.concatenate, zip(*self._of_part.pop(part), strict=True))
            used, pattern_of_person = renumbered(patterns, len(codes))
            yield part, EncodedPart(atoms, pattern_of_person, attributes, codes[used])
        self.people = 0

    def add_part(self, part: int, persons: EncodedPart, patterns: PatternTable) -> None:
        """Adds persons whom another task encoded, with their patterns as this one numbers them."""
        number_here = patterns.numbers_of(persons.codes)
        self._append(part, persons.atoms, number_here[persons.patterns], persons.attributes)

    def size_of(self, state: int) -> int:
        return sum(len(atoms) for atoms, *_ in self._of_part[self.numbers[state]])

    def sorted_state(self, state: int) -> SortedPersons:
        """Of the part at this position among `numbers`."""
        part = self.numbers[state]
        atoms, patterns, attributes = map(np.concatenate, zip(*self._of_part[part], strict=True))
        starts = np.zeros(self._bounds[part + 1] - self._bounds[part] + 1, dtype=np.int64)
        by_atom = np.empty_like(patterns), np.empty_like(attributes)
        loop = compiled_if_worthwhile(sort_by_atom, len(atoms), person_arrays.sort_by_atom)
        loop(atoms - np.int32(self._bounds[part]), patterns, attributes, starts, *by_atom)
        return self._in_runs(part, starts, *by_atom, attributes)

    def _append(
        self, state: int, atoms: NDArray[np.int32], patterns: NDArray[np.int32], attributes: Attributes
    ) -> None:
        self._of_part.setdefault(state, []).append((atoms, patterns, attributes))
        self.people += len(atoms)

    def _kept(self, state: int, name: str, numbers: NDArray[N]) -> NDArray[N]:  # noqa: ARG002 - no files to name
        kept = numbers.copy()
        kept.flags.writeable = False  # as what is read from a file
        return kept


def renumbered(patterns: NDArray[np.int32], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Those of `count` patterns that occur, rising; and for each person or run its pattern's position among them."""
    is_used = np.zeros(count, dtype=np.bool_)
    is_used[patterns] = True
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1).astype(np.int32)[patterns]
