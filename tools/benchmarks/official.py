"""Published totals of national size, read into a release: time and memory.

`python -m tools.benchmarks.official [ROWS]`. Made-up totals of tracts in the form of the bulk file
of T01001, with the parameters of the demo; no person is read.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from safetab.apps.synthetic.demo_census import write_demo_census
from safetab.inputs.configuration import read_config
from safetab.inputs.public_files import read_public_lists
from safetab.model.us.us_census import DETAILED, US

ROWS = 10_000_000
READ = """
import resource, sys
from pathlib import Path
from safetab.apps.bureau.official import OfficialRequest, read_official_release
file, parameters, new = map(Path, sys.argv[1:])
read_official_release([file], new, OfficialRequest(parameters))
spent = resource.getrusage(resource.RUSAGE_SELF)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  \
# of this process, not its parent
print(f"{spent.ru_utime + spent.ru_stime:.1f} CPU s, {int(peak.split()[1]) // 1024:,} MB of memory")
"""
TRACTS_OF_A_COUNTY = 200


def write_totals(path: Path, parameters: Path, rows: int) -> None:
    """Every group of the lists in as many tracts as make so many rows."""
    config, lists = read_config(parameters).require(), read_public_lists(parameters).require()
    codes = [
        one.code
        for one in lists.iterations
        if one.level == DETAILED and one.is_tabulated(US.kind("county"))
    ]
    states = sorted(
        state
        for tabulation_pass in config.passes
        for state in config.parts_of(tabulation_pass)
        if state != "72"
    )
    tracts = -(-rows // len(codes))
    number = np.arange(tracts)
    county, tract = divmod(number // len(states), TRACTS_OF_A_COUNTY)
    ids = [
        f"{states[n % len(states)]}{one + 1:03}{other + 1:06}"
        for n, one, other in zip(number.tolist(), county.tolist(), tract.tolist(), strict=True)
    ]
    which = np.repeat(np.arange(tracts), len(codes))[:rows]
    counts = 100 + np.random.default_rng(1).geometric(0.01, rows)
    table = pa.table(
        {
            "REGION_TYPE": pa.array(["TRACT"]).take(pa.array(np.zeros(rows, dtype=np.int64))),
            "REGION_ID": pa.array(ids).take(pa.array(which)),
            "ITERID": pa.array(codes).take(pa.array(np.arange(rows) % len(codes))),
            "COUNT": counts,
            "ANN": pa.nulls(rows, pa.string()),
        }
    )
    pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="none"))


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        parameters, file = Path(folder) / "census" / "parameters", Path(folder) / "T01001.csv"
        write_demo_census(parameters.parent)
        write_totals(file, parameters, rows)
        print(f"{rows:,} rows:", end=" ", flush=True)
        subprocess.run(
            [sys.executable, "-c", READ, str(file), str(parameters), str(Path(folder) / "new")],
            check=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
