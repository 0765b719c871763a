"""SHA256SUMS of a release: what each of its files must be, in the form that `sha256sum -c` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.outputs.manifest import hashes_by_name
from safetab.release.damage import damage_told

CHECKSUMS_FILE = "SHA256SUMS"
CHECKSUMS = "checksums"
"""Where datapackage.json says that there are some."""

_DIGITS = 64


def write_checksums(release: Path) -> None:
    """Of every file of the release; nothing may be written into it afterwards."""
    sums = hashes_by_name({name: release / name for name in _names_of(release) if name != CHECKSUMS_FILE})
    (release / CHECKSUMS_FILE).write_text(_lines(sums), encoding="utf-8", newline="\n")


def check_files(release: Path) -> None:
    """Raises InvalidInput if a file is missing, foreign, a link, or not what was released."""
    if not _is_file(release / CHECKSUMS_FILE):
        raise _damaged(release, [f"its {CHECKSUMS_FILE} is no file"])
    with damage_told(release, "a file can't be read. Get the release again."):
        _check(release)


def names_with_checksums(release: Path) -> set[str]:
    """The files that were released, and their checksums. Raises ValueError if there are none to read."""
    if not _is_file(release / CHECKSUMS_FILE):
        raise ValueError(CHECKSUMS_FILE)
    return {CHECKSUMS_FILE, *_read((release / CHECKSUMS_FILE).read_text(encoding="utf-8"))}


def _check(release: Path) -> None:
    present = {name for name in _names_of(release) if name != CHECKSUMS_FILE}
    files = {name for name in present if _is_file(release / name)}
    text = (release / CHECKSUMS_FILE).read_bytes().decode("utf-8")
    released = _read(text)
    found = hashes_by_name({name: release / name for name in sorted(files & released.keys())})
    changed = [name for name, one in found.items() if one != released[name]]
    if text != _lines(released):
        changed.append(CHECKSUMS_FILE)
    faults = {
        "files that were released are missing": released.keys() - present,
        "files are there that were not released": present - released.keys(),
        "links, or what is no file": present - files,
        "not what was released": changed,
    }
    if any(faults.values()):
        raise _damaged(release, [f"{what}: {shortened(sorted(names))}" for what, names in faults.items() if names])


def _read(text: str) -> Mapping[str, str]:
    return {line[_DIGITS + 2 :]: line[:_DIGITS] for line in text.splitlines()}


def _lines(sums: Mapping[str, str]) -> str:
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def _names_of(release: Path) -> list[str]:
    """What machines of readers leave behind is none of the release."""
    paths = (path.relative_to(release) for path in _paths_in(release) if not path.is_dir() or path.is_symlink())
    return sorted(path.as_posix() for path in paths if not any(_is_left_behind(part) for part in path.parts))


def _paths_in(folder: Path) -> Iterator[Path]:
    """A folder that can't be listed is an error: what is in it would seem to be missing."""
    for path in folder.iterdir():
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _paths_in(path)


def _is_left_behind(name: str) -> bool:
    return name.startswith(".") or name in {"Thumbs.db", "desktop.ini"}


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _damaged(release: Path, faults: Iterable[str]) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(release), "", f"{one}. Get the release again.") for one in faults])
