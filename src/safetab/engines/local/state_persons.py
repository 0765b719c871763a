"""Encoded persons on disk, state by state, in the run's own temporary folder: 8 bytes and an attribute, then less."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.engines.local import person_arrays
from safetab.engines.local.counting_loops import RunsOfPersons, group_by_pattern, sort_by_atom
from safetab.engines.local.person_loops import Attributes
from safetab.foundation.compiled import compiled_if_worthwhile

N = TypeVar("N", bound=np.integer)
_FILES = ("atom", "pattern", "attribute")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SortedPersons:
    """The persons of one state by its atoms, and those of an atom by pattern, as runs."""

    runs: RunsOfPersons

    @property
    def run_patterns(self) -> NDArray[np.int32]:
        return self.runs[2]

    @property
    def people(self) -> int:
        return len(self.runs[4])


class StatePersons:
    """Collects persons in any order and from any thread, then gives those of one state by atom."""

    def __init__(self, folder: Path, first_atoms: NDArray[np.int64], atom_count: int, values: int) -> None:
        """`first_atoms` are the least atoms of the states, rising; an attribute is below `values`."""
        self._folder = folder
        self._lock = Lock()
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

    def size_of(self, state: int) -> int:
        """Grows with the number of persons of a state."""
        path = self._path(state, "atom")
        return path.stat().st_size if path.exists() else 0

    def sorted_state(self, state: int) -> SortedPersons:
        """The persons of a state, numbered by its own atoms; kept in files, and read as they are needed."""
        atoms, patterns = self._read(state, "atom", np.int32), self._read(state, "pattern", np.int32)
        attributes = self._read(state, "attribute", self.attribute_type)
        starts = np.zeros(self._bounds[state + 1] - self._bounds[state] + 1, dtype=np.int64)
        by_atom = np.empty_like(patterns), np.empty_like(attributes)
        loop = compiled_if_worthwhile(sort_by_atom, len(atoms), person_arrays.sort_by_atom)
        loop(atoms - np.int32(self._bounds[state]), patterns, attributes, starts, *by_atom)
        self._path(state, "atom").unlink(missing_ok=True)
        return self._in_runs(state, starts, *by_atom, attributes)

    def _in_runs(
        self, state: int, starts: NDArray[np.int64], patterns: NDArray[np.int32], attributes: Attributes,
        grouped: Attributes,
    ) -> SortedPersons:  # fmt: skip
        """`grouped` is overwritten."""
        run_of_pattern = np.full(int(patterns.max(initial=-1)) + 1, -1, dtype=np.int32)
        run_starts = np.empty_like(starts)
        run_patterns, run_people = np.empty_like(patterns), np.empty_like(patterns)  # mostly never touched
        loop = compiled_if_worthwhile(group_by_pattern, len(patterns), person_arrays.group_by_pattern)
        loop(starts, patterns, attributes, run_of_pattern, run_starts, run_patterns, run_people, grouped)
        runs = int(run_starts[-1])
        kept_patterns = self._kept(state, "pattern", run_patterns[:runs])
        kept_people = self._kept(state, "people", run_people[:runs])
        return SortedPersons((starts, run_starts, kept_patterns, kept_people, self._kept(state, "attribute", grouped)))

    def _append(
        self, state: int, atoms: NDArray[np.int32], patterns: NDArray[np.int32], attributes: Attributes
    ) -> None:
        with self._lock:  # the three files of a state stay in step
            for name, numbers in zip(_FILES, (atoms, patterns, attributes), strict=True):
                with _opened(self._path(state, name), "ab") as file:
                    file.write(np.ascontiguousarray(numbers).data)

    def _read(self, state: int, name: str, number_type: type[N] | np.dtype[N]) -> NDArray[N]:
        path = self._path(state, name)
        return np.fromfile(path, dtype=number_type) if path.exists() else np.empty(0, dtype=number_type)

    def _kept(self, state: int, name: str, numbers: NDArray[N]) -> NDArray[N]:
        if not len(numbers):
            numbers.flags.writeable = False  # of the type that all others have
            return numbers
        with _opened(self._path(state, name), "wb") as file:
            file.write(numbers.data)
        return np.memmap(self._path(state, name), dtype=numbers.dtype, mode="r")

    def _path(self, state: int, name: str) -> Path:
        return self._folder / f"persons-{state}.{name}"


def _opened(path: Path, mode: Literal["ab", "wb"]) -> BinaryIO:
    """A file for its owner alone, whatever the umask."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))
