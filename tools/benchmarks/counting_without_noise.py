"""The sums of counting_in_sql from the table t1 of a run without noise.

Run it as `... counting_without_noise OUT`.
"""

from __future__ import annotations

import json
import sys

import duckdb

from tools.benchmarks.counting_tables import CHECK_PRIME


def main() -> None:
    rows = duckdb.sql(
        "SELECT REGION_TYPE, count(*), sum(persons), sum(persons * ((31 * entity + iteration) %"
        f" {CHECK_PRIME})) FROM (SELECT REGION_TYPE, CAST(REGION_ID AS BIGINT) AS entity,"
        " CAST(ITERATION_CODE AS BIGINT) AS iteration, CAST(COUNT AS BIGINT) AS persons FROM"
        f" read_csv('{sys.argv[1]}/t1/*.csv', delim = '|', all_varchar = true)) WHERE persons > 0"
        " GROUP BY REGION_TYPE"
    ).fetchall()
    print(json.dumps({geography: [int(number) for number in sums] for geography, *sums in rows}))


if __name__ == "__main__":
    main()
