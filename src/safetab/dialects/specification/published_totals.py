"""Reads published totals of a census that a specification describes: area_level, area, group and count."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from safetab.census.area_levels import AreaLevel
from safetab.census.census import Census
from safetab.census.population_groups import PublishedTotals, TotalsOfLevel
from safetab.dialects.specification.public_tables import read_columns
from safetab.foundation.findings import Checked, FindingsOf, shortened

_LEVEL, _AREA, _GROUP, _COUNT = "area_level", "area", "group", "count"
_INTEGER = re.compile("[+-]?[0-9]{1,18}")
_Row = tuple[int, int, int]
"""The number of an area, the position of a group's code, and a count."""


def find_specified_totals(name: str, parameters: Path, data: Path) -> Path | None:
    """The file of totals in PARAMETERS or in DATA."""
    names = (name, f"{name}.csv")
    places = (folder / each for folder in (parameters, data) for each in names)
    return next((path for path in places if path.is_file()), None)


def read_specified_totals(path: Path, census: Census) -> Checked[PublishedTotals]:
    """The totals of a file, and every finding about it."""
    findings = FindingsOf(path.name)
    texts = read_columns(path, (_LEVEL, _AREA, _GROUP, _COUNT), findings)
    if texts is None:
        return Checked(None, findings.findings)
    columns = {name: column.to_pylist() for name, column in texts.items()}
    codes = tuple(sorted(set(columns[_GROUP])))
    position_of = {code: position for position, code in enumerate(codes)}
    levels = {level.label: level for level in census.area_levels}
    wrong = defaultdict[tuple[str, str], dict[str, None]](dict)  # values by column and rule, each once
    rows: dict[AreaLevel, list[_Row]] = {}
    for label, area, group, count in zip(*columns.values(), strict=True):
        level = levels.get(label)
        if level is None:
            wrong[_LEVEL, f"must be one of {', '.join(levels)}"][label] = None
        elif not _INTEGER.fullmatch(count):
            wrong[_COUNT, "must be an integer"][count] = None
        else:
            try:
                rows.setdefault(level, []).append((level.kind.ids.number(area), position_of[group], int(count)))
            except ValueError:
                wrong[_AREA, f"must be listed in {census.words.areas_file}"][area] = None
    for (column, rule), values in wrong.items():
        findings.error(column, f"{shortened(values)}: {rule}.")
    if findings.has_errors:
        return Checked(None, findings.findings)
    return Checked(PublishedTotals(codes, {level: _totals(of_level) for level, of_level in rows.items()}), ())


def _totals(rows: list[_Row]) -> TotalsOfLevel:
    return TotalsOfLevel(*np.array(rows, dtype=np.int64).T)
