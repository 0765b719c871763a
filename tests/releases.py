"""Reads releases back, slowly and plainly, for tests."""

import json
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.inside import OutputChecks, Slice, statuses

Row = dict[str, Any]


def numbers_of(out):
    """All rows of a release's numbers, with the geography level of their folder."""
    rows = []
    for path in sorted((out / "release" / "numbers").rglob("*.parquet")):
        level = path.parent.name.removeprefix("geography_level=")
        rows += [{"geography_level": level, **row} for row in pq.read_table(path, partitioning=None).to_pylist()]
    return rows


unchanged_numbers_of = cache(numbers_of)
"""Of an output that stays as it is, its rows too."""


def json_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def files_of(folder):
    """The content of every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def universe_of(out, name):
    return pq.read_table(out / "release" / "universe" / f"{name}.parquet").to_pylist()


def group(row):
    return row["geography_level"], row["region_id"], row["iteration_code"]


def totals_of(rows):
    return {group(row): row for row in rows if row["table_id"] == "T01001"}


def status_of(release, level, region, code):
    """The row of one group among the statuses of a release."""
    batches = statuses(release, Slice((level,), (region,), (code,)))
    return pa.Table.from_batches(batches).to_pylist()[0]


def check_output(output, universe, options):
    """Run all checks on a complete output. Raises RunFailed if it is not what it must be."""
    checks = OutputChecks(output, universe, options)
    with checks.of_tables_beside():
        pass
    with checks.of_numbers_beside():
        pass
    checks.of_remaining_files()
