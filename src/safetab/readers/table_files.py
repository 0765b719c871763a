"""Finds the files of a large table: text, gzipped text or Parquet, one file or a folder of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf, shortened
from safetab.foundation.text_files import why_unreadable


class TableForm(Enum):
    """The value is the ending of the file name."""

    TEXT = ".txt"
    GZIPPED_TEXT = ".txt.gz"
    PARQUET = ".parquet"


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The parts of one table, all of one form, in the order of their names."""

    form: TableForm
    parts: tuple[Path, ...]
    rows: int | None = None  # as their bytes say, once these were looked at


def find_table(folder: Path, table: str, findings: FindingsOf, otherwise: str = "") -> TableFiles | None:
    """The files of a table, or nothing and a finding about what is missing (and what to do otherwise) or ambiguous."""
    try:
        files = _find_table(folder, table, findings, otherwise)
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_unreadable(folder, error))
        return None
    if files is not None and not all(_is_utf8(path) for path in files.parts):
        findings.error("", "a name in its path is not UTF-8. Rename it.")
        return None
    return files


def find_table_at(path: Path, findings: FindingsOf) -> TableFiles | None:
    """The files of a table that is given by its own path: a file with a known ending, or a folder of such files."""
    try:
        if path.is_dir():
            return _parts_of(path, findings)
        if not path.exists():
            findings.error("", f"there is no file {path}.")
        elif not path.is_file() or not _has_known_ending(path):
            findings.error("", f"{path} must be a file that ends in {', '.join(form.value for form in TableForm)}.")
        elif not _is_utf8(path):
            findings.error("", "a name in its path is not UTF-8. Rename it.")
        else:
            return TableFiles(_form_of(path), (path,))
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", why_unreadable(path, error))
    return None


def table_paths_at(path: Path) -> tuple[Path, ...]:
    """The files that a table given by its own path is read from, and no other file of its folder."""
    files = find_table_at(path, FindingsOf(path.name))
    return files.parts if files else ()


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _find_table(folder: Path, table: str, findings: FindingsOf, otherwise: str) -> TableFiles | None:
    if not folder.is_dir():
        advice = ' For an .ini file, config.json must say "reader": "cef".' if folder.suffix == ".ini" else ""
        findings.error("", f"{folder} is not a directory. Give the directory that holds {table}.txt.{advice}")
        return None
    candidates = [folder / f"{table}{form.value}" for form in TableForm] + [folder / table]
    present = [path for path in candidates if path.exists()]
    if not present:
        forms = f"{table}.txt, {table}.txt.gz, {table}.parquet, or folder {table}"
        findings.error("", f"{folder} holds no {forms}.{otherwise}")
        return None
    if len(present) > 1:
        names = shortened(path.name for path in present)
        findings.error("", f"{folder} holds more than one form of this table: {names}. Keep one.")
        return None
    if present[0] == folder / table:
        return _parts_of(present[0], findings)
    if not present[0].is_file():  # a pipe, say, could not be read twice
        kind = "a directory" if present[0].is_dir() else "something else"
        findings.error("", f"{present[0]} is {kind}, not a file.")
        return None
    return TableFiles(_form_of(present[0]), (present[0],))


def _parts_of(folder: Path, findings: FindingsOf) -> TableFiles | None:
    """Names that begin with . or _ are other programs' notes, such as Spark's _SUCCESS."""
    if not folder.is_dir():
        findings.error("", f"{folder} is a file without an ending. Name it {folder.name}.txt, or make it a folder.")
        return None
    parts = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    strange = [path.name for path in parts if not path.is_file() or not _has_known_ending(path)]
    if strange:
        endings = ", ".join(form.value for form in TableForm)
        findings.error("", f"{folder} holds what is no part of a table: {shortened(strange)}. Parts end in {endings}.")
        return None
    forms = {_form_of(path) for path in parts}
    if len(forms) > 1:
        findings.error("", f"{folder} holds more than one form of this table. Keep one.")
        return None
    if not parts:
        findings.error("", f"{folder} is empty.")
        return None
    return TableFiles(forms.pop(), tuple(parts)) if _are_different_files(parts, findings) else None


def _are_different_files(parts: list[Path], findings: FindingsOf) -> bool:
    """By links one file could be two parts, and its records would count twice."""
    names: dict[tuple[int, int], list[str]] = {}
    for path in parts:
        status = path.stat()
        names.setdefault((status.st_dev, status.st_ino), []).append(path.name)
    same = [of_one for of_one in names.values() if len(of_one) > 1]
    for of_one in same:
        findings.error("", f"{shortened(of_one)} are the same file, by links. Keep one.")
    return not same


def _has_known_ending(path: Path) -> bool:
    return any(path.name.endswith(form.value) for form in TableForm)


def _form_of(path: Path) -> TableForm:
    return next(form for form in TableForm if path.name.endswith(form.value))
