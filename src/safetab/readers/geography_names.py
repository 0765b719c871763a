"""geography-names.txt: what geographic entities are called. Optional, public; text that anybody may have written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from safetab.census.geography_levels import GeographyLevel
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.text_files import UnreadableFile, read_text
from safetab.readers.delimited import NAME_RULE, SEPARATOR, RowProblems, read_rows

NAMES_FILE = "geography-names.txt"

GeographyNames = Mapping[tuple[GeographyLevel, str], str]

_HEADER = ("REGION_TYPE", "REGION_ID", "NAME")
_LEVELS = {level.label: (level, level.entity_kind.id_digits) for level in GeographyLevel}
_UNKNOWN = (None, 0)
_KEYS = "|".join(rf"{re.escape(label)}\|[0-9]{{{digits}}}" for label, (_, digits) in _LEVELS.items())
_RIGHT_ROW = re.compile(rf"^({_KEYS})\|([^|\n]*)$", re.MULTILINE)


def geography_names_path(data: Path) -> Path | None:
    """Where the names are, if they are given."""
    path = data / NAMES_FILE
    try:
        return path if path.exists() else None
    except OSError as error:
        raise_if_the_machine_failed(error)
        return None


def read_geography_names(data: Path) -> Checked[GeographyNames]:
    """Names by level and id; none if the file isn't there. Entities that no geography lists may have names too."""
    path, findings = geography_names_path(data), FindingsOf(NAMES_FILE)
    names: dict[tuple[GeographyLevel, str], str] = {}
    if path is None:
        return Checked(MappingProxyType(names), ())
    right = _names_of_right(path)
    if right is not None:
        return Checked(right, ())
    problems = RowProblems(findings)
    named = 0
    for line, (label, region, name) in read_rows(path, _HEADER, findings, may_be_empty=True):
        level, digits = _LEVELS.get(label, _UNKNOWN)
        if level is None:
            problems.add(line, "REGION_TYPE", f"must be one of {', '.join(_LEVELS)}", label)
        elif not (len(region) == digits and region.isascii() and region.isdigit()):
            problems.add(line, "REGION_ID", f"must be {digits} digits for {label}", region)
        else:
            names.setdefault((level, region), name)
            if len(names) == named:
                problems.add(line, "REGION_ID", "named more than once; keep one row an entity", f"{label} {region}")
            named = len(names)
        if not name.isprintable() or not name.strip():
            problems.add(line, "NAME", NAME_RULE, name)
    problems.report()
    return Checked(None if findings.has_errors else MappingProxyType(names), findings.findings)


def _names_of_right(path: Path) -> GeographyNames | None:
    """The names if no line breaks a rule, as is mostly so: then no line need be looked at by itself."""
    try:
        header, _, body = read_text(path).partition("\n")
    except UnreadableFile:
        return None
    rows = _RIGHT_ROW.findall(body)
    lines = body.rstrip("\n").count("\n") + 1 if body.strip("\n") else 0
    found = dict(rows)
    texts = "".join(found.values())
    if header != SEPARATOR.join(_HEADER) or not len(found) == len(rows) == lines or not texts.isprintable():
        return None
    return _NamesOfLines(found) if all(map(str.strip, found.values())) else None


class _NamesOfLines(Mapping[tuple[GeographyLevel, str], str]):
    """Kept by the text before the name, which is taken apart when somebody asks."""

    def __init__(self, name_after: Mapping[str, str]) -> None:
        self._name_after = name_after

    def __getitem__(self, key: tuple[GeographyLevel, str]) -> str:
        return self._name_after[f"{key[0].label}{SEPARATOR}{key[1]}"]

    def __iter__(self) -> Iterator[tuple[GeographyLevel, str]]:
        for label, region in (before.split(SEPARATOR) for before in self._name_after):
            yield _LEVELS[label][0], region

    def __len__(self) -> int:
        return len(self._name_after)
