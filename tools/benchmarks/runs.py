"""A run of a census, what each of its steps took, and what the yardsticks took beside it."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.benchmarks.censuses import THREADS, Census, parameters_without_noise
from tools.benchmarks.commands import Cost, measured_program, measured_safetab

MEMORY = "4GB"
SHARES = ("start", "public files", "read, check, encode", "count", "noise", "write", "release")
_TIME = re.compile(r' (step|of it) "([^"]+)": [0-9.]+ s, ([0-9.]+) CPU s$', re.MULTILINE)
_STEPS = {
    "Reading the public files": "public files",
    "Checking the person records": "read, check, encode",
    "Writing and checking the release": "release",
}


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """`shares` are CPU seconds. A yardstick that was left out is None."""

    census: Census
    cost: Cost
    shares: Mapping[str, float]
    plain_reading: Cost
    in_sql: Cost | None = None
    in_polars: Cost | None = None

    @property
    def reading_ratio(self) -> float:
        return self.cost.cpu_seconds / self.plain_reading.cpu_seconds


def benchmark_run(census: Census, folder: Path, *, counts_beside: bool = False) -> BenchmarkRun:
    made = census.made_in(folder)
    print(f"running {made.name}", flush=True)
    reading = measured_program("plain_reading", made / "data")
    plain_reading = Cost(*json.loads(reading.printed), reading.cost.peak_bytes)
    cost, shares = run_of(made / "parameters", made / "data", folder / "output")
    in_sql, in_polars = _counted_beside(made, folder) if counts_beside else (None, None)
    return BenchmarkRun(census, cost, shares, plain_reading, in_sql, in_polars)


def run_of(
    parameters: Path, data: Path, out: Path, threads: int = THREADS, key: str | None = None
) -> tuple[Cost, dict[str, float]]:
    log = out.parent / f"{out.name}.confidential.log"
    log.unlink(missing_ok=True)
    limits = ("--threads", threads, "--memory", MEMORY, "--temp", out.parent)
    cost = measured_safetab(
        "run", parameters, data, out, "--overwrite", *limits, *(("--test-key", key) if key else ())
    ).cost
    return cost, shares_of(log.read_text(), cost.cpu_seconds)


def shares_of(log: str, cpu_seconds: float) -> dict[str, float]:
    """CPU seconds of each share; writing is what tabulation took beyond counting and noise."""
    steps: dict[str, float] = {}
    parts: dict[str, float] = {}
    for kind, name, seconds in _TIME.findall(log):
        (steps if kind == "step" else parts)[name] = float(seconds)
    shares = {share: steps.get(step, 0.0) for step, share in _STEPS.items()}
    counting, noise = parts.get("counting", 0.0), parts.get("noise", 0.0)
    shares |= {
        "count": steps.get("Counting the persons of each state", 0.0) + counting,
        "noise": noise,
    }
    shares["write"] = steps["Tabulating the levels"] - counting - noise
    shares["start"] = max(0.0, cpu_seconds - sum(steps.values()))
    return {share: shares[share] for share in SHARES}


def _counted_beside(made: Path, folder: Path) -> tuple[Cost, Cost | None]:
    """The cost of the plain queries.

    All of them, and small runs without noise, must count the same.
    """
    inputs = made / "parameters", made / "data"
    sql = measured_program("counting_in_sql", *inputs)
    sums = json.loads(sql.printed)
    if _is_small(made):
        _compare_with_a_run_without_noise(made, folder, sums)
    if importlib.util.find_spec("polars") is None:
        print("Polars is not installed: left out", flush=True)
        return sql.cost, None
    polars = measured_program("counting_in_polars", *inputs, POLARS_MAX_THREADS=str(THREADS))
    if json.loads(polars.printed) != sums:
        raise RuntimeError(f"DuckDB and Polars count {made.name} differently")
    return sql.cost, polars.cost


def _is_small(made: Path) -> bool:
    return sum(path.stat().st_size for path in (made / "data").rglob("*")) < 50_000_000


def _compare_with_a_run_without_noise(
    made: Path, folder: Path, sums: Mapping[str, list[int]]
) -> None:
    parameters, out = parameters_without_noise(made), folder / "output-without-noise"
    run_of(parameters, made / "data", out)
    ours = json.loads(measured_program("counting_without_noise", out).printed)
    shutil.rmtree(out)
    shutil.rmtree(parameters)
    if ours != {geography: of_level[:3] for geography, of_level in sums.items() if of_level[0]}:
        raise RuntimeError(f"a run without noise and DuckDB count {made.name} differently")
    print("a run without noise has the same totals as the plain query", flush=True)
