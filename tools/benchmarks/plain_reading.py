"""The yardstick: DuckDB reads every value of the person records once.

`python -m tools.benchmarks.plain_reading DATA`. Prints CPU and wall seconds of the query alone, as
JSON: what starting Python takes is not in it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import duckdb

from safetab.model.products.safetab_p.safetab_p import PERSON_RECORD
from tools.benchmarks.censuses import THREADS


def person_source(data: Path) -> str:
    folder = data / "person-records"
    parts = (
        sorted(map(str, folder.iterdir()))
        if folder.is_dir()
        else [str(next(data.glob("person-records.*")))]
    )
    if parts[0].endswith(".parquet"):
        return f"read_parquet({parts})"
    return f"read_csv({parts}, delim = '|', header = true, all_varchar = true, quote = '')"


def main() -> None:
    database = duckdb.connect()
    database.execute(f"SET threads = {THREADS}")
    values = ", ".join(f"min(hash({column}))" for column in PERSON_RECORD.columns)
    began = time.process_time(), time.perf_counter()
    database.execute(f"SELECT {values} FROM {person_source(Path(sys.argv[1]))}").fetchall()
    print(json.dumps([time.process_time() - began[0], time.perf_counter() - began[1]]))


if __name__ == "__main__":
    main()
