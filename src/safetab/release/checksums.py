"""SHA256SUMS of a release: what each of its files must be, in the form that `sha256sum -c` reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.outputs.manifest import sha256_of

CHECKSUMS_FILE = "SHA256SUMS"
CHECKSUMS = "checksums"
"""Where datapackage.json says that there are some."""

_DIGITS = 64


def write_checksums(release: Path) -> None:
    """Of every file of the release; nothing may be written into it afterwards."""
    lines = [f"{sha256_of(release / name)}  {name}\n" for name in _names_of(release) if name != CHECKSUMS_FILE]
    (release / CHECKSUMS_FILE).write_text("".join(lines), encoding="utf-8", newline="\n")


def check_files(release: Path) -> None:
    """Raises InvalidInput if a file is missing, foreign, a link, or not what was released."""
    if not _is_file(release / CHECKSUMS_FILE):
        raise _damaged(release, [f"its {CHECKSUMS_FILE} is no file"])
    present = {name for name in _names_of(release) if name != CHECKSUMS_FILE}
    files = {name for name in present if _is_file(release / name)}
    try:
        released = _read(release / CHECKSUMS_FILE)
        changed = [name for name in sorted(files & released.keys()) if sha256_of(release / name) != released[name]]
    except (OSError, ValueError) as error:
        raise_if_the_machine_failed(error)
        raise _damaged(release, ["a file can't be read"]) from None
    faults = {
        "files that were released are missing": released.keys() - present,
        "files are there that were not released": present - released.keys(),
        "links, or what is no file": present - files,
        "not what was released": changed,
    }
    if any(faults.values()):
        raise _damaged(release, [f"{what}: {shortened(sorted(names))}" for what, names in faults.items() if names])


def _read(path: Path) -> Mapping[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line[_DIGITS + 2 :]: line[:_DIGITS] for line in lines}


def _names_of(release: Path) -> list[str]:
    """What machines of readers leave behind is none of the release."""
    paths = (path.relative_to(release) for path in release.rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted(path.as_posix() for path in paths if not any(_is_left_behind(part) for part in path.parts))


def _is_left_behind(name: str) -> bool:
    return name.startswith(".") or name in {"Thumbs.db", "desktop.ini"}


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _damaged(release: Path, faults: Iterable[str]) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(release), "", f"{one}. Get the release again.") for one in faults])
