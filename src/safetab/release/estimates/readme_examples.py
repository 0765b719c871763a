"""Examples for the README of a release, made by running them on that release."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from safetab.foundation.findings import InvalidInput
from safetab.foundation.safe_csv import safe_text
from safetab.model.census.census import Census
from safetab.model.census.groups import CharacteristicIteration
from safetab.model.products.product import TOTAL_LINE
from safetab.release.estimates.estimate import Estimate
from safetab.release.estimates.open_release import Release
from safetab.release.estimates.reading.lookup import Entity
from safetab.release.files.data_dictionary import CSV_FOLDER, geo_id
from safetab.release.files.documents import ReadmeExamples
from safetab.release.files.group_statuses import NOT_SELECTED, NOT_TABULATED, SUPPRESSED
from safetab.release.files.numbers.number_files import NUMBERS_FOLDER, PUBLISHED, STATUSES
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import ReleaseLevel

_WIDTH, _INDENT = 80, "    "
_LONGEST_NAME, _LONGEST_NAMES = 36, 46
_TYPED = re.compile(r"[\w ,.()'/-]+")
_SEARCHED = [
    "region_id",
    "iteration_code",
    "table_id",
    "line",
    "status",
    "count",
    "margin_of_error",
]


@dataclass(frozen=True, slots=True)
class _Shown:
    """The number that the examples show, and where it is."""

    file: str  # in the release
    entity: Entity
    group: CharacteristicIteration
    table_id: str
    count: int
    margin: int


def readme_examples(folder: ReleaseFolder) -> ReadmeExamples:
    """Examples of what to type in this release's folder, with their real output."""
    release = Release(folder)
    shown = _largest(folder, release)
    if shown is None:
        return ReadmeExamples("  This release has no numbers, so that there is nothing to show.\n")
    area, group = _words(release, shown)
    is_enough = _is_found(release.area, shown.entity, area)  # areas of two levels may share an id
    on_terminal = _example(
        "On the terminal, a number with its margin, and the group's whole table:",
        f"$ safetab show . {_in_shell(area)} {_in_shell(group)}",
        f"$ safetab show . {_in_shell(area)} {_in_shell(group)} --table",
    )
    parts = [
        *([on_terminal, _terminal_of_absent(release, shown, area)] if is_enough else []),
        _in_python(release, area, group, None if is_enough else shown.entity.geography.label),
        _from_parquet(shown),
        _from_csv(shown, folder.universe.census) if folder.facts.options.csv else _EXPORTED,
    ]
    return ReadmeExamples("\n".join(part for part in parts if part), (shown.count, shown.margin))


def _terminal_of_absent(release: Release, shown: _Shown, area: str) -> str:
    """Why a group in the same area has no number, preferably one that could have had one."""
    rows = release.status(area=shown.entity).table
    status = rows["status"].to_pylist()
    absent = [
        status.index(why) for why in (SUPPRESSED, NOT_SELECTED, NOT_TABULATED) if why in status
    ]
    if not absent:
        return ""
    first = rows.slice(absent[0], 1).to_pylist()[0]
    code = first["iteration_code"]
    command = (
        f"$ safetab status . --area {_in_shell(area)}"
        f" --group {code if code.isalnum() else _in_shell(code)}"
    )
    return _example(f"Why there is no number for {first['iteration_name']} there:", command)


def _in_python(release: Release, area: str, group: str, level: str | None) -> str:
    """The example that asks for the number in Python.

    It has the level of the area if it needs one.
    """
    answer = release.total(area, group, level=level)
    assert isinstance(answer, Estimate)
    low, high = answer.interval
    return _example(
        "In Python, with the exact distribution of its noise:",
        ">>> import safetab",
        '>>> release = safetab.open_release(".")',
        f">>> number = release.total({_literal(area)},",
        f"...                        {_literal(group)}"
        f"{'' if level is None else f', level={_literal(level)}'})",
        ">>> number.value, number.margin_of_error, number.interval",
        f"({answer.value}, {answer.margin_of_error}, ({low}, {high}))",
    )


def _from_parquet(shown: _Shown) -> str:
    """The example that reads the number from its Parquet file."""
    return _example(
        "In Python without safetab (pip install pyarrow):",
        ">>> import pyarrow.parquet",
        f'>>> file = "{shown.file}"',
        ">>> rows = pyarrow.parquet.read_table(file, filters=[",
        f'...     ("region_id", "=", {_literal(shown.entity.region_id)}),'
        f' ("iteration_code", "=", {_literal(shown.group.code)}),',
        f'...     ("table_id", "=", "{shown.table_id}"), ("line", "=", {TOTAL_LINE})]).to_pylist()',
        '>>> [(row["count"], row["margin_of_error"]) for row in rows]',
        f"[({shown.count}, {shown.margin})]",
    )


def _from_csv(shown: _Shown, census: Census) -> str:
    """The example that reads the number from a CSV file."""
    level = shown.entity.geography.label
    file = f"{CSV_FOLDER}/{NUMBERS_FOLDER}/{level}.csv"
    area = safe_text(geo_id(census, shown.entity.geography, shown.entity.region_id))
    group = shown.group.code
    # R reads a column of digits as numbers.
    in_r = group if group.isdecimal() else _literal(safe_text(group))
    return _example(
        "From the CSV files, with Python alone, and with R alone:",
        ">>> import csv",
        f'>>> with open("{file}", encoding="utf-8") as file:',
        "...     rows = list(csv.DictReader(file))",
        '>>> [row["count"] for row in rows if',
        '...     (row["geo_id"], row["iteration_code"])'
        f" == ({_literal(area)}, {_literal(safe_text(group))})",
        f'...     and (row["table_id"], row["line"]) == ("{shown.table_id}", "{TOTAL_LINE}")]',
        f"['{shown.count}']",
        "",
        f'> rows <- read.csv("{file}")',
        f"> subset(rows, geo_id == {_literal(area)} & iteration_code == {in_r} &",
        f'+        table_id == "{shown.table_id}" & line == {TOTAL_LINE})$count',
        f"[1] {shown.count}",
    )


def _in_shell(text: str) -> str:
    """The text between quotes, as a shell takes it."""
    return f'"{text}"' if _TYPED.fullmatch(text) else shlex.quote(text)


def _literal(text: str) -> str:
    """The text between quotes, as Python and R take it."""
    return json.dumps(text, ensure_ascii=False)


def _example(heading: str, *lines: str) -> str:
    filled = textwrap.fill(heading, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    return "\n".join([filled, *(f"{_INDENT}{line}".rstrip() for line in lines), ""])


_EXPORTED = _example("CSV files, in a new folder beside this one:", "$ safetab export . ../as-csv")


def _largest(folder: ReleaseFolder, release: Release) -> _Shown | None:
    """The largest total of a fine group among the first rows of a level that has any."""
    census = folder.universe.census
    labels = [*census.example_order, *(level.label for level in census.area_levels)]

    def order(level: ReleaseLevel) -> tuple[int, int]:
        return labels.index(level.geography.label), -level.level.iterations.number

    by_level = (
        _largest_of(folder, release, level) for level in sorted(folder.universe.levels, key=order)
    )
    return next((shown for shown in by_level if shown is not None), None)


def _largest_of(folder: ReleaseFolder, release: Release, level: ReleaseLevel) -> _Shown | None:
    """The largest total that one level shows, from one row group: it is only an example."""
    file = folder.open_numbers(level)
    batch = None if file is None else next(file.batches(_SEARCHED), None)
    if file is None or batch is None:
        return None
    is_shown = (batch.status == STATUSES.index(PUBLISHED)) & batch.has("margin_of_error")
    chosen = np.flatnonzero(batch.is_total & is_shown)
    if not len(chosen):
        return None
    largest = int(chosen[np.argmax(batch.integers("count")[chosen])])
    row = batch.table.slice(largest, 1).to_pylist()[0]
    name = file.path.relative_to(folder.path).as_posix()
    entity = release.area(row["region_id"], level.geography.label)
    group = release.group(row["iteration_code"])
    return _Shown(name, entity, group, row["table_id"], row["count"], row["margin_of_error"])


def _words(release: Release, shown: _Shown) -> tuple[str, str]:
    """Texts to type for the area and the group: short, unambiguous names, else ids."""
    area, group = shown.entity.region_id, shown.group.code
    if _is_typed(shown.group.name) and _is_found(release.group, shown.group, shown.group.name):
        group = shown.group.name
    fits = len(shown.entity.name) + len(group) <= _LONGEST_NAMES
    if (
        fits
        and _is_typed(shown.entity.name)
        and _is_found(release.area, shown.entity, shown.entity.name)
    ):
        area = shown.entity.name
    return area, group


def _is_typed(name: str) -> bool:
    """Whether a name can be typed between quotes, in shells and in Python, and is short enough."""
    return len(name) <= _LONGEST_NAME and _TYPED.fullmatch(name) is not None


def _is_found(
    find: Callable[[str], object], wanted: Entity | CharacteristicIteration, text: str
) -> bool:
    try:
        return find(text) == wanted
    except InvalidInput:
        return False
