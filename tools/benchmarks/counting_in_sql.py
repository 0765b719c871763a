"""The same counting as plain SQL in DuckDB.

For each level it takes the total of every group, then the cells of the large ones.

`python -m tools.benchmarks.counting_in_sql PARAMETERS DATA` prints sums to compare, as JSON. No
checks, no noise, no tables: only the counts. Groups are large by their exact totals, as there is no
noise.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb

from tools.benchmarks.censuses import THREADS
from tools.benchmarks.counting_tables import (
    CHECK_PRIME,
    CODE_COLUMNS,
    CountingTables,
    LevelTables,
    added,
)
from tools.benchmarks.plain_reading import person_source

BLOCK = "CAST(TABBLKST || TABBLKCOU || TABTRACTCE || TABBLK AS BIGINT)"
GROUPS = "encoded JOIN entity_of_block USING (block) JOIN iterations_of_codes USING (pattern)"
SUMS = (
    "count(*), coalesce(sum(persons), 0), coalesce(sum(persons * ((31 * entity + iteration) %"
    f" {CHECK_PRIME})), 0)"
)


def encode(database: duckdb.DuckDBPyConnection, tables: CountingTables, data: Path) -> None:
    codes = ", ".join(f"coalesce({column}, 'Null') AS {column}" for column in CODE_COLUMNS)
    names = ", ".join(CODE_COLUMNS)
    database.execute(
        f"CREATE VIEW persons AS SELECT {BLOCK} AS block, {codes}, CAST(QSEX AS TINYINT) AS sex,"
        f" CAST(QAGE AS TINYINT) AS age FROM {person_source(data)}"
    )
    distinct = database.sql(f"SELECT DISTINCT {names} FROM persons").to_arrow_table()
    database.register("numbered", tables.numbered(distinct))
    database.execute(
        "CREATE TEMP TABLE encoded AS SELECT block, pattern, sex,"
        f" age FROM persons JOIN numbered USING ({names})"
    )


def count_level(database: duckdb.DuckDBPyConnection, level: LevelTables) -> tuple[int, ...]:
    database.register("entity_of_block", level.entity_of_block)
    database.register("iterations_of_codes", level.iterations_of_codes)
    database.execute(
        "CREATE OR REPLACE TEMP TABLE totals AS"
        f" SELECT entity, iteration, count(*) AS persons FROM {GROUPS} GROUP BY entity, iteration"
    )
    database.execute(
        "CREATE OR REPLACE TEMP TABLE cells AS SELECT entity, iteration, sex, age,"
        f" count(*) AS persons FROM {GROUPS} SEMI JOIN (SELECT entity,"
        f" iteration FROM totals WHERE persons >= {level.first_threshold}) USING (entity,"
        " iteration) GROUP BY entity, iteration, sex, age"
    )
    return tuple(
        number
        for table in ("totals", "cells")
        for number in database.sql(f"SELECT {SUMS} FROM {table}").fetchall()[0]
    )


def main() -> None:
    parameters, data = map(Path, sys.argv[1:])
    database, tables = duckdb.connect(), CountingTables(parameters, data)
    database.execute(f"SET threads = {THREADS}")
    encode(database, tables, data)
    sums: dict[str, list[int]] = {}
    for level in tables.levels():
        added(sums, level.geography, count_level(database, level))
    print(json.dumps(sums))


if __name__ == "__main__":
    main()
