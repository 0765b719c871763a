"""The same counting in Polars, and the same sums: see counting_in_sql."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

from tools.benchmarks.counting_tables import (
    CHECK_PRIME,
    CODE_COLUMNS,
    CountingTables,
    LevelTables,
    added,
)

GROUP = ["entity", "iteration"]


def encoded_persons(tables: CountingTables, data: Path) -> pl.DataFrame:
    persons = pl.scan_parquet(sorted((data / "person-records").iterdir())).select(
        (pl.col("TABBLKST") + pl.col("TABBLKCOU") + pl.col("TABTRACTCE") + pl.col("TABBLK"))
        .cast(pl.Int64)
        .alias("block"),
        *(pl.col(column).cast(pl.String).fill_null("Null") for column in CODE_COLUMNS),
        pl.col("QSEX").cast(pl.String).cast(pl.Int8).alias("sex"),
        pl.col("QAGE").cast(pl.String).cast(pl.Int8).alias("age"),
    )
    distinct = persons.select(CODE_COLUMNS).unique().collect(engine="streaming")
    numbered = pl.from_arrow(tables.numbered(distinct.to_arrow()))
    assert isinstance(numbered, pl.DataFrame)
    numbered = numbered.with_columns(pl.col(column).cast(pl.String) for column in CODE_COLUMNS)
    encoded = persons.join(numbered.lazy(), on=list(CODE_COLUMNS)).select(
        "block", "pattern", "sex", "age"
    )
    return encoded.collect(engine="streaming")


def count_level(encoded: pl.DataFrame, level: LevelTables) -> tuple[int, ...]:
    blocks, lists = (
        pl.from_arrow(table) for table in (level.entity_of_block, level.iterations_of_codes)
    )
    assert isinstance(blocks, pl.DataFrame)
    assert isinstance(lists, pl.DataFrame)
    groups = encoded.lazy().join(blocks.lazy(), on="block").join(lists.lazy(), on="pattern")
    totals = groups.group_by(GROUP).agg(pl.len().alias("persons")).collect(engine="streaming")
    large = totals.lazy().filter(pl.col("persons") >= level.first_threshold).select(GROUP)
    cells = (
        groups.join(large, on=GROUP, how="semi")
        .group_by([*GROUP, "sex", "age"])
        .agg(pl.len().alias("persons"))
    )
    return (*sums_of(totals), *sums_of(cells.collect(engine="streaming")))


def sums_of(counts: pl.DataFrame) -> tuple[int, int, int]:
    persons = pl.col("persons").cast(pl.Int64)
    weighed = persons * ((31 * pl.col("entity") + pl.col("iteration")) % CHECK_PRIME)
    both = counts.select(persons.sum(), weighed.sum().alias("weighed")).row(0)
    return (len(counts), *both)


def main() -> None:
    parameters, data = map(Path, sys.argv[1:])
    tables = CountingTables(parameters, data)
    encoded = encoded_persons(tables, data)
    sums: dict[str, list[int]] = {}
    for level in tables.levels():
        added(sums, level.geography, count_level(encoded, level))
    print(json.dumps(sums))


if __name__ == "__main__":
    main()
