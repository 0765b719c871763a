"""Encoded persons on disk, state by state, in the run's own temporary folder: 8 bytes and an attribute, then 4."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local import person_arrays
from safetab.engines.local.person_loops import Attributes, sort_by_atom
from safetab.foundation.compiled import compiled_if_worthwhile

N = TypeVar("N", bound=np.integer)
_FILES = ("atom", "pattern", "attribute")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SortedPersons:
    """The persons of one state by atom: those of its atom a are at starts[a] up to starts[a + 1]."""

    starts: NDArray[np.int64]
    patterns: NDArray[np.int32]
    attributes: Attributes

    @property
    def people(self) -> int:
        return len(self.patterns)


class StatePersons:
    """Collects persons in any order, then gives those of one state by atom."""

    def __init__(self, folder: Path, first_atoms: NDArray[np.int64], atom_count: int, values: int) -> None:
        """`first_atoms` are the least atoms of the states, rising; an attribute is below `values`."""
        self._folder = folder
        self._bounds = np.append(first_atoms, atom_count)
        self.attribute_type = np.min_scalar_type(values - 1)

    def add(self, atoms: NDArray[np.int32], patterns: NDArray[np.int32], attributes: Attributes) -> None:
        if not len(atoms):
            return
        least, most = np.searchsorted(self._bounds, [atoms.min(), atoms.max()], side="right") - 1
        if least == most:
            self._append(int(least), atoms, patterns, attributes)
            return
        states = np.searchsorted(self._bounds, atoms, side="right") - 1
        for state in np.unique(states).tolist():
            is_there = states == state
            self._append(state, atoms[is_there], patterns[is_there], attributes[is_there])

    def sorted_state(self, state: int) -> SortedPersons:
        """The persons of a state, numbered by its own atoms; kept in files, and read as they are needed."""
        atoms, patterns = self._read(state, "atom", np.int32), self._read(state, "pattern", np.int32)
        attributes = self._read(state, "attribute", self.attribute_type)
        starts = np.zeros(self._bounds[state + 1] - self._bounds[state] + 1, dtype=np.int64)
        sorted_patterns, sorted_attributes = np.empty_like(patterns), np.empty_like(attributes)
        loop = compiled_if_worthwhile(sort_by_atom, len(atoms), person_arrays.sort_by_atom)
        loop(atoms - np.int32(self._bounds[state]), patterns, attributes, starts, sorted_patterns, sorted_attributes)
        self._path(state, "atom").unlink(missing_ok=True)
        return SortedPersons(
            starts, self._kept(state, "pattern", sorted_patterns), self._kept(state, "attribute", sorted_attributes)
        )

    def _append(
        self, state: int, atoms: NDArray[np.int32], patterns: NDArray[np.int32], attributes: Attributes
    ) -> None:
        for name, numbers in zip(_FILES, (atoms, patterns, attributes), strict=True):
            with _opened(self._path(state, name), "ab") as file:
                file.write(np.ascontiguousarray(numbers).data)

    def _read(self, state: int, name: str, number_type: type[N] | np.dtype[N]) -> NDArray[N]:
        path = self._path(state, name)
        return np.fromfile(path, dtype=number_type) if path.exists() else np.empty(0, dtype=number_type)

    def _kept(self, state: int, name: str, numbers: NDArray[N]) -> NDArray[N]:
        if not len(numbers):
            return numbers
        with _opened(self._path(state, name), "wb") as file:
            file.write(numbers.data)
        return np.memmap(self._path(state, name), dtype=numbers.dtype, mode="r")

    def _path(self, state: int, name: str) -> Path:
        return self._folder / f"persons-{state}.{name}"


def _opened(path: Path, mode: Literal["ab", "wb"]) -> BinaryIO:
    """A file for its owner alone, whatever the umask."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))
