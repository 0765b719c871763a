"""geography-names.txt: what geographic entities are called. Optional, public; text that anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from safetab.census.geography_levels import GeographyLevel
from safetab.foundation.findings import Checked, FindingsOf
from safetab.readers.delimited import NAME_RULE, RowProblems, read_rows

NAMES_FILE = "geography-names.txt"

GeographyNames = Mapping[tuple[GeographyLevel, str], str]

_HEADER = ("REGION_TYPE", "REGION_ID", "NAME")
_LEVELS = {level.label: (level, level.entity_kind.id_digits) for level in GeographyLevel}
_UNKNOWN = (None, 0)


def geography_names_path(data: Path) -> Path | None:
    """Where the names are, if they are given."""
    path = data / NAMES_FILE
    try:
        return path if path.exists() else None
    except OSError:
        return None


def read_geography_names(data: Path) -> Checked[GeographyNames]:
    """Names by level and id; none if the file isn't there. Entities that no geography lists may have names too."""
    path, findings = geography_names_path(data), FindingsOf(NAMES_FILE)
    names: dict[tuple[GeographyLevel, str], str] = {}
    if path is None:
        return Checked(MappingProxyType(names), ())
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
