"""Whether the files of a release are intact: checksums, and what to say about a damaged file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from safetab.foundation.failures import OF_THE_PATH, RunFailed, is_out_of_memory, refusal_of
from safetab.foundation.files import why_unreadable
from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.foundation.new_files import SIGNATURE_FILES
from safetab.release.outputs.manifest import hashes_by_name

OF_CONTENT = (
    pa.ArrowException, ValueError, LookupError, TypeError, AttributeError, StopIteration,
    RecursionError,
)  # fmt: skip


@contextmanager
def damage_as_invalid_input(
    path: Path, message: str = "is damaged. Get the release again."
) -> Iterator[None]:
    """Raise InvalidInput with the message if the content of `path`, read inside, is wrong.

    An error of the machine is not damage: it raises RunFailed, unless the path itself is wrong.
    """
    try:
        yield
    except (OSError, *OF_CONTENT) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        refusal = (
            error if isinstance(error, OSError) and error.errno is not None else refusal_of(error)
        )
        if refusal is not None:
            where = Path(refusal.filename) if isinstance(refusal.filename, str) else path
            why = why_unreadable(where, refusal)
            raise (invalid(path, why) if refusal.errno in OF_THE_PATH else RunFailed(why)) from None
        raise invalid(path, message) from None


def document_of(path: Path) -> str:
    """The text of a document of a release that is passed on unchanged."""
    with damage_as_invalid_input(path):
        return path.read_text(encoding="utf-8")


def invalid(path: Path, *messages: str) -> InvalidInput:
    """The exception with these messages about one path."""
    return InvalidInput([Finding(Severity.ERROR, str(path), "", message) for message in messages])


CHECKSUMS_FILE = "SHA256SUMS"
_UNLISTED = (CHECKSUMS_FILE, *SIGNATURE_FILES)
"""A signature comes after the checksums, so these don't list it."""
CHECKSUMS = "checksums"
"""The entry of datapackage.json that says that there are some."""


def write_checksums(release: Path) -> None:
    """Write the checksum of every file. Nothing may be added to the release afterwards."""
    sums = hashes_by_name(
        {name: release / name for name in _names_of(release) if name not in _UNLISTED}
    )
    (release / CHECKSUMS_FILE).write_text(_lines(sums), encoding="utf-8", newline="\n")


def check_files(release: Path) -> None:
    """Raise InvalidInput if a file is missing, foreign, a link, or not as it was released."""
    if not is_regular_file(release / CHECKSUMS_FILE):
        state = "not a file" if (release / CHECKSUMS_FILE).exists() else "missing"
        raise invalid(release, f"its {CHECKSUMS_FILE} is {state}. Get the release again.")
    with damage_as_invalid_input(release, "a file can't be read. Get the release again."):
        present = {name for name in _names_of(release) if name not in _UNLISTED}
        files = {name for name in present if is_regular_file(release / name)}
        text = (release / CHECKSUMS_FILE).read_bytes().decode("utf-8")
        released = _read(text)
        found = hashes_by_name({name: release / name for name in sorted(files & released.keys())})
    changed = [name for name, digest in found.items() if digest != released[name]]
    if text != _lines(released):
        changed.append(CHECKSUMS_FILE)
    faults = {
        "files that were released are missing": released.keys() - present,
        f"files that {CHECKSUMS_FILE} doesn't list": present - released.keys(),
        "links, or not regular files": present - files,
        "changed after the release was made": changed,
    }
    messages = [f"{what}: {shortened(sorted(names))}" for what, names in faults.items() if names]
    if messages:
        raise invalid(release, *(f"{message}. Get the release again." for message in messages))


def names_with_checksums(release: Path) -> set[str]:
    """The released files, the list of checksums and the signature.

    Raises ValueError if the list is missing.
    """
    if not is_regular_file(release / CHECKSUMS_FILE):
        raise ValueError(CHECKSUMS_FILE)
    return {*_UNLISTED, *_read((release / CHECKSUMS_FILE).read_text(encoding="utf-8"))}


def _read(text: str) -> Mapping[str, str]:
    return {line[66:]: line[:64] for line in text.splitlines()}  # 64 digits, two spaces, the name


def _lines(sums: Mapping[str, str]) -> str:
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def _names_of(release: Path) -> list[str]:
    """The files of the release, without those that readers' machines leave behind."""
    paths = (
        path.relative_to(release)
        for path in _paths_in(release)
        if not path.is_dir() or path.is_symlink()
    )
    left_behind = ("Thumbs.db", "desktop.ini")
    kept = (
        path
        for path in paths
        if not any(part[0] == "." or part in left_behind for part in path.parts)
    )
    return sorted(path.as_posix() for path in kept)


def _paths_in(folder: Path) -> Iterator[Path]:
    """All paths in a folder.

    Raises if a folder can't be listed: its files would seem to be missing.
    """
    for path in folder.iterdir():
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _paths_in(path)


def is_regular_file(path: Path) -> bool:
    """Whether a path is a file, and no link to one."""
    return path.is_file() and not path.is_symlink()
