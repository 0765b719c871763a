"""Encoded records on disk, part by part, then sorted by atom and pattern.

The files are in the run's own temporary folder. A record takes 8 bytes and its attribute; once it
is sorted, less. Records that share atom and pattern are a run: they differ in their attribute
alone, so whatever depends on atom and pattern is looked up once for the whole run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.counting.encoding import PartAtoms
from safetab.counting.local.numbers_file import N, NumbersFile
from safetab.counting.patterns import Int32s, Int64s
from safetab.foundation.arrays import run_starts
from safetab.foundation.compiled import compiled_if_worthwhile

Attributes = NDArray[np.unsignedinteger]
_FEW_BYTES = 1 << 16  # a file costs more than the memory


class SortedRecords(NamedTuple):
    """The records of one part by its atoms, and those of an atom by pattern, as runs.

    Atom a has the records starts[a] up to starts[a + 1] and the runs run_starts[a] up to
    run_starts[a + 1]; the records of a run follow each other in `attributes`. Compiled loops take
    it as it is.
    """

    starts: Int64s
    run_starts: Int64s
    run_patterns: Int32s
    run_sizes: Int32s
    attributes: Attributes


class PartRecords:
    """Collects records in any order and from any thread; then returns those of one part by atom."""

    def __init__(self, folder: Path, parts: Sequence[PartAtoms], values: int) -> None:
        """Store in `folder` the records of these parts, by rising atoms; attributes < `values`."""
        self._folder = folder
        self._lock = Lock()
        ends = [part.end_atom for part in parts[-1:]]
        self._bounds = np.array([*(part.first_atom for part in parts), *ends], dtype=np.int64)
        self.attribute_type = np.min_scalar_type(values - 1)
        self._files: dict[tuple[int, str], NumbersFile[Any]] = {}
        self._mapped: dict[NumbersFile[Any], NDArray[Any]] = {}

    def add(self, atoms: Int32s, patterns: Int32s, attributes: Attributes) -> None:
        """Store records, given by parallel arrays."""
        if not len(atoms):
            return
        least, most = np.searchsorted(self._bounds, [atoms.min(), atoms.max()], side="right") - 1
        if least == most:
            self._append(int(least), atoms, patterns, attributes)
            return
        parts = np.searchsorted(self._bounds, atoms, side="right") - 1
        order = np.argsort(parts.astype(np.min_scalar_type(len(self._bounds))), kind="stable")
        starts = run_starts(parts[order])
        for part, here in zip(
            parts[order[starts]].tolist(), np.split(order, starts[1:]), strict=True
        ):
            self._append(part, atoms[here], patterns[here], attributes[here])

    def size_of(self, part: int) -> int:
        """The number of records of a part."""
        return self._file(part, "atom", np.int32).count

    def sorted_part(self, part: int) -> SortedRecords:
        """A part's records by its own atoms; they are kept in files, and read as they are needed.

        Raises RunFailed if a disk changed them.
        """
        files = self._encoded(part)
        atoms, patterns, attributes = (file.read() for file in files)
        for file in files:
            file.remove()
        return self._sorted(part, atoms, patterns, attributes)

    def require_lengths(self) -> None:
        """Raise RunFailed if a file of sorted records was cut short or removed."""
        for file in self._mapped:
            file.require_length()

    def require_intact(self) -> None:
        """Raise RunFailed if sorted records are not those that were written."""
        self.require_lengths()
        for file, numbers in self._mapped.items():
            file.require_written(numbers)

    def _sorted(
        self, part: int, atoms: Int32s, patterns: Int32s, attributes: Attributes
    ) -> SortedRecords:
        """The records of a part by atom and, within an atom, in runs of one pattern."""
        starts = np.zeros(self._bounds[part + 1] - self._bounds[part] + 1, dtype=np.int64)
        by_atom = np.empty_like(patterns), np.empty_like(attributes)
        own_atoms = atoms - np.int32(self._bounds[part])
        compiled_if_worthwhile(sort_by_atom, len(own_atoms))(
            own_atoms, patterns, attributes, starts, *by_atom
        )
        run_of_pattern = np.full(int(patterns.max(initial=-1)) + 1, -1, dtype=np.int32)
        run_starts = np.empty_like(starts)
        run_patterns = np.empty_like(patterns)  # most of it is never touched
        run_sizes = np.empty_like(patterns)
        grouped = np.empty_like(attributes)
        group = compiled_if_worthwhile(group_by_pattern, len(grouped))
        group(starts, *by_atom, run_of_pattern, run_starts, run_patterns, run_sizes, grouped)
        runs = int(run_starts[-1])
        kept = (
            self._kept(part, "pattern", run_patterns[:runs]),
            self._kept(part, "size", run_sizes[:runs]),
        )
        return SortedRecords(starts, run_starts, *kept, self._kept(part, "attribute", grouped))

    def _append(self, part: int, atoms: Int32s, patterns: Int32s, attributes: Attributes) -> None:
        with self._lock:  # the three files of a part stay in step
            for file, numbers in zip(
                self._encoded(part), (atoms, patterns, attributes), strict=True
            ):
                file.append(numbers)

    def _encoded(self, part: int) -> tuple[NumbersFile[Any], ...]:
        """The files of a part's records before they are sorted."""
        attributes = self._file(part, "attribute", self.attribute_type)
        return self._file(part, "atom", np.int32), self._file(part, "pattern", np.int32), attributes

    def _kept(self, part: int, name: str, numbers: NDArray[N]) -> NDArray[N]:
        """The given numbers, read-only: as a file mapped into memory, or few as a copy."""
        if numbers.nbytes <= _FEW_BYTES:
            few = numbers.copy()  # what they are part of is larger
            few.flags.writeable = False  # of the type that all others have
            return few
        file = self._file(part, f"sorted-{name}", numbers.dtype)
        file.append(numbers)
        self._mapped[file] = file.mapped()
        return self._mapped[file]

    def _file(self, part: int, name: str, number_type: type[N] | np.dtype[N]) -> NumbersFile[N]:
        found = self._files.get((part, name))
        if found is None:
            path = self._folder / f"records-{part}.{name}"
            found = self._files[part, name] = NumbersFile(path, number_type)
        return found


def sort_by_atom(
    atoms: Int32s, patterns: Int32s, attributes: Attributes, starts: Int64s,
    sorted_patterns: Int32s, sorted_attributes: Attributes,
) -> None:  # fmt: skip
    """Put the records of each atom together, at starts[a] up to starts[a + 1]. Compiled."""
    for record in range(len(atoms)):
        starts[atoms[record] + 1] += 1
    for atom in range(len(starts) - 1):
        starts[atom + 1] += starts[atom]
    for record in range(len(atoms) - 1, -1, -1):
        atom = atoms[record]
        starts[atom + 1] -= 1
        sorted_patterns[starts[atom + 1]] = patterns[record]
        sorted_attributes[starts[atom + 1]] = attributes[record]
    for atom in range(1, len(starts) - 1):
        starts[atom] = starts[atom + 1]
    starts[len(starts) - 1] = len(atoms)


def group_by_pattern(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    starts: Int64s, patterns: Int32s, attributes: Attributes, run_of_pattern: Int32s,
    run_starts: Int64s, run_patterns: Int32s, run_sizes: Int32s, grouped: Attributes,
) -> None:  # fmt: skip
    """Put the records of each pattern together, inside their atom. Compiled.

    `grouped` gets their attributes. `run_of_pattern` is -1 for every pattern; `patterns` is
    overwritten.
    """
    found, most = 0, 0
    for atom in range(len(starts) - 1):
        most = max(most, starts[atom + 1] - starts[atom])
    places = np.empty(most, dtype=np.int64)
    for atom in range(len(starts) - 1):
        run_starts[atom] = first = found
        for record in range(starts[atom], starts[atom + 1]):
            pattern = patterns[record]
            if run_of_pattern[pattern] < first:
                run_of_pattern[pattern] = found
                run_patterns[found] = pattern
                run_sizes[found] = 0
                found += 1
            run = run_of_pattern[pattern]
            run_sizes[run] += 1
            patterns[record] = run
        place = starts[atom]
        for run in range(first, found):
            places[run - first] = place
            place += run_sizes[run]
        for record in range(starts[atom], starts[atom + 1]):
            of_atom = patterns[record] - first
            grouped[places[of_atom]] = attributes[record]
            places[of_atom] += 1
    run_starts[len(starts) - 1] = found
