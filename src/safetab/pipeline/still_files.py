"""The files of a run must keep still while they are read: the manifest hashes the bytes that were used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetab.engines.backend import Persons
from safetab.engines.person_location import PersonLocation
from safetab.foundation.failures import RunFailed
from safetab.foundation.file_identity import identity_of
from safetab.foundation.findings import InvalidInput
from safetab.outputs.manifest import hashes_by_name
from safetab.readers.cef.reader_file import CefFiles

_DEPTH = 4  # OUT/release/numbers/geography_level=COUNTY


class StillFiles:
    """What files were before a run read them: another file, size or time of change is noticed."""

    def __init__(self, given: Iterable[Path]) -> None:
        """Looks at these files, and at those of the folders among them, however deep a release has its numbers."""
        self._identities = {path.absolute(): identity_of(path) for one in given for path in _files_at(one, _DEPTH)}

    def watch(self, files: Iterable[Path]) -> None:
        """Looks at these too, unless it did before: files that a run finds elsewhere than where it was told to look."""
        for path in files:
            self._identities.setdefault(path.absolute(), identity_of(path))

    def hashes_of(self, files: dict[str, Path]) -> dict[str, str]:
        """By their names; of files that were not seen before, such as copies of the run's own, as they are."""
        hashes = hashes_by_name(files)
        self.require(files.values())
        return hashes

    @contextmanager
    def blamed_first(self) -> Iterator[None]:
        """Around what finds mistakes in the files: of a file that changed meanwhile, a mistake says nothing."""
        try:
            yield
        except InvalidInput:
            self.require(self._identities)
            raise

    def require(self, files: Iterable[Path]) -> None:
        """Raises RunFailed if a file isn't what it was when it was first looked at."""
        for path in files:
            seen = path.absolute()
            if seen in self._identities and self._identities[seen] != identity_of(path):
                raise RunFailed(
                    f"{path.name} changed while the run was reading it. Nothing was written. Keep the files of a run as"
                    " they are until it ends."
                )


def record_files(persons: Persons) -> tuple[Path, ...]:
    """The files of this machine that hold records."""
    if isinstance(persons, PersonLocation):
        return persons.parts_of_this_machine
    if isinstance(persons, CefFiles):
        of_states = ((one.persons, one.units, one.counts) for one in persons.states)
        return tuple(path for files in of_states for path in files if path is not None)
    return persons.parts


def _files_at(path: Path, depth: int) -> Iterator[Path]:
    try:
        if depth and path.is_dir():
            for inside in path.iterdir():
                yield from _files_at(inside, depth - 1)
        elif path.is_file():
            yield path
    except OSError:  # found where it is read
        return
