"""What the tables of households cost beside those of the people they fit, in one run.

BENCH_PEOPLE says how many people; the nation has 334,735,155. The small case is timed if it lies
beside the project.
"""

from __future__ import annotations

import os
from pathlib import Path

from safetab.foundation.findings import VERSION
from tools import PROJECT
from tools.benchmarks.censuses import LISTS_OF_2020, THREADS
from tools.benchmarks.commands import Cost, measured_safetab
from tools.benchmarks.machine import described_commit, described_machine

MOST_OF_PERSONS = 1 / 3
SMALL_CASE = PROJECT.parent / "shared" / "households" / "case-tricky"
BUREAU_CPU_SECONDS = 312
"""What the Bureau's program took for the small case, on another machine."""
LEAST_FASTER = 200


def main() -> None:
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute()
    people = int(os.environ.get("BENCH_PEOPLE", "1000000"))
    lines = ["", *described_machine(), described_commit(), _beside_persons(folder, people)]
    if SMALL_CASE.is_dir():
        lines.append(_small_case(folder))
    print("\n".join(lines))


def _beside_persons(folder: Path, people: int) -> str:
    census = folder / f"census-{VERSION}-{people}-people-with-households"
    if not census.exists():
        folder.mkdir(parents=True, exist_ok=True)
        lists = ("--parameters", LISTS_OF_2020) if LISTS_OF_2020.is_dir() else ()
        measured_safetab(
            "synthesize", census, "--people", people, "--threads", THREADS, "--households", *lists
        )
    data, persons, households = census / "data", folder / "persons", folder / "households"
    limits = ("--overwrite", "--threads", THREADS, "--temp", folder)
    own = measured_safetab(
        "run", census / "parameters", data, persons, "--coterminous", *limits
    ).cost
    parameters = census / "household-parameters"
    other = measured_safetab("run", parameters, data, households, "--totals", persons, *limits).cost
    ratio = other.cpu_seconds / own.cpu_seconds
    return (
        f"- {people:,} people and their households: {_words(own)} for persons,"
        f" {_words(other)} for households, {ratio:.2f} times (at most {MOST_OF_PERSONS:.2f}:"
        f" {_verdict(ratio <= MOST_OF_PERSONS)})"
    )


def _small_case(folder: Path) -> str:
    out = folder / "small-case"
    cost = measured_safetab(
        "run", SMALL_CASE / "parameters", SMALL_CASE / "data", out, "--overwrite"
    ).cost
    times = BUREAU_CPU_SECONDS / cost.cpu_seconds
    return (
        f"- 700 households: {_words(cost)}, {times:.0f} times cheaper than the"
        f" {BUREAU_CPU_SECONDS} of the Bureau's program (at least {LEAST_FASTER}:"
        f" {_verdict(times >= LEAST_FASTER)})"
    )


def _words(cost: Cost) -> str:
    return f"{cost.cpu_seconds:.1f} CPU seconds and {cost.peak_bytes / 2**20:,.0f} MB"


def _verdict(is_kept: bool) -> str:
    return "kept" if is_kept else "MISSED"


if __name__ == "__main__":
    main()
