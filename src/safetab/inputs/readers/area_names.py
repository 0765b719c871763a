"""Reads the names of areas, which are optional, and anybody may have written them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf
from safetab.inputs.readers.delimited import NAME_RULE, RowProblems, read_rows
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import Census

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
    problems = RowProblems(findings)
    names: dict[tuple[AreaLevel, str], str] = {}
    levels = {
        level.label: (level, re.compile(level.kind.ids.pattern)) for level in census.area_levels
    }
    rows = [] if path is None else read_rows(path, _HEADER, findings, may_be_empty=True)
    for line, (label, region, name) in rows:
        level, ids = levels.get(label, (None, None))
        if level is None or ids is None:
            problems.add(line, "REGION_TYPE", f"must be one of {', '.join(levels)}", label)
        elif not ids.fullmatch(region):
            problems.add(line, "REGION_ID", f"{level.kind.ids.rule} for {label}", region)
        else:
            if (level, region) in names:
                problems.add(
                    line,
                    "REGION_ID",
                    "named more than once; keep one row per entity",
                    f"{label} {region}",
                )
            names.setdefault((level, region), name)
        if not name.isprintable() or not name.strip():
            problems.add(line, "NAME", NAME_RULE, name)
    problems.report()
    return Checked(None if findings.has_errors else MappingProxyType(names), findings.findings)
