"""Reads the names of areas, which are optional, and anybody may have written them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from safetab.census.area_levels import AreaLevel
from safetab.census.census import Census
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Checked, FindingsOf
from safetab.readers.delimited import NAME_RULE, SEPARATOR, RowProblems, read_rows

NAMES_FILE = "geography-names.txt"

AreaNames = Mapping[tuple[AreaLevel, str], str]

_HEADER = ("REGION_TYPE", "REGION_ID", "NAME")


def area_names_path(data: Path) -> Path | None:
    """The file of the names, or None."""
    path = data / NAMES_FILE
    try:
        return path if path.exists() else None
    except OSError as error:
        raise_if_the_machine_failed(error)
        return None


def read_area_names(data: Path, census: Census) -> Checked[AreaNames]:
    """Names by level and id, and every finding about the file.

    Without a file, the names are empty. The file may also name entities that the geography lacks.
    """
    path = area_names_path(data)
    findings = FindingsOf(NAMES_FILE)
    names: dict[tuple[AreaLevel, str], str] = {}
    right = names if path is None else _names_of_right(path, census)
    if path is None or right is not None:
        return Checked(right, ())
    problems = RowProblems(findings)
    levels = {level.label: level for level in census.area_levels}
    for line, (label, region, name) in read_rows(path, _HEADER, findings, may_be_empty=True):
        level = levels.get(label)
        if level is None:
            problems.add(line, "REGION_TYPE", f"must be one of {', '.join(levels)}", label)
        elif not re.fullmatch(level.kind.ids.pattern, region):
            problems.add(line, "REGION_ID", f"{level.kind.ids.rule} for {label}", region)
        else:
            if (level, region) in names:
                problems.add(line, "REGION_ID", "named more than once; keep one row per entity", f"{label} {region}")
            names.setdefault((level, region), name)
        if not name.isprintable() or not name.strip():
            problems.add(line, "NAME", NAME_RULE, name)
    problems.report()
    return Checked(None if findings.has_errors else MappingProxyType(names), findings.findings)


def _names_of_right(path: Path, census: Census) -> AreaNames | None:
    """The names if no line breaks a rule, otherwise None.

    This is nearly always so, and then no line needs a check of its own.
    """
    try:
        header, _, body = read_text(path).partition("\n")
    except UnreadableFile:
        return None
    rows = _right_row(census).findall(body)
    lines = body.rstrip("\n").count("\n") + 1 if body.strip("\n") else 0
    found = dict(rows)
    texts = "".join(found.values())
    if header != SEPARATOR.join(_HEADER) or not len(found) == len(rows) == lines or not texts.isprintable():
        return None
    return _NamesOfLines(found, census) if all(map(str.strip, found.values())) else None


@cache
def _right_row(census: Census) -> re.Pattern[str]:
    keys = (rf"{re.escape(level.label)}\|{level.kind.ids.pattern}" for level in census.area_levels)
    return re.compile(rf"^({'|'.join(keys)})\|([^|\n]*)$", re.MULTILINE)


class _NamesOfLines(Mapping[tuple[AreaLevel, str], str]):
    """Names by level and id, stored by the text in front of the name, which is split on demand."""

    def __init__(self, name_after: Mapping[str, str], census: Census) -> None:
        self._name_after = name_after
        self._census = census

    def __getitem__(self, key: tuple[AreaLevel, str]) -> str:
        return self._name_after[f"{key[0].label}{SEPARATOR}{key[1]}"]

    def __iter__(self) -> Iterator[tuple[AreaLevel, str]]:
        for label, region in (before.split(SEPARATOR) for before in self._name_after):
            yield self._census.area_level(label), region

    def __len__(self) -> int:
        return len(self._name_after)
