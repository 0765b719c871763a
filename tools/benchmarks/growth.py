"""The growth of cost with people, tracts and iterations.

`python -m tools.benchmarks.growth` writes docs/benchmarks.md. Sizes come from the environment,
parted by blanks: BENCH_PEOPLE, BENCH_TRACTS, BENCH_TRACTS_PEOPLE, BENCH_ITERATIONS,
BENCH_ITERATIONS_PEOPLE, BENCH_TEXT_PEOPLE, BENCH_THREADS_PEOPLE. BENCH_FULL=1 adds the whole
nation. Censuses are kept in BENCH_FOLDER.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path

from tools.benchmarks import report
from tools.benchmarks.censuses import Census
from tools.benchmarks.machine import described_commit, described_machine
from tools.benchmarks.page import PAGE, spark_section
from tools.benchmarks.runs import MEMORY, BenchmarkRun, benchmark_run
from tools.benchmarks.start_up import start_up_lines
from tools.benchmarks.threads import threads_section

NATION = 334_735_155
MOST_COUNTED_BESIDE = 33_473_515


def sizes(name: str, otherwise: str) -> list[int]:
    return [int(size) for size in os.environ.get(name, otherwise).replace(",", "").split()]


def main() -> None:
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute()
    people = sizes("BENCH_PEOPLE", "100000 1000000 10000000 33473515")
    if os.environ.get("BENCH_FULL"):
        people.append(NATION)
    commit = described_commit()
    start_up = start_up_lines(folder)  # also compiles what is compiled at first use
    by_people = [
        benchmark_run(Census(number), folder, counts_beside=number <= MOST_COUNTED_BESIDE)
        for number in people
    ]
    facts = "\n".join([lists_of(by_people), *described_machine(), commit, *start_up])
    parts = [report.HEAD.format(memory=MEMORY), facts, *section("people", _people, by_people)]
    parts += [report.BESIDE_TEXT, report.beside_table(by_people), report.BUREAU_TEXT]
    tracts_people = sizes("BENCH_TRACTS_PEOPLE", "10000000")[0]
    tracts = [
        Census(tracts_people, tracts=number)
        for number in sizes("BENCH_TRACTS", "100 1000 10000 100000")
    ]
    parts += section("tracts", _tracts, [benchmark_run(census, folder) for census in tracts])
    iterations_people = sizes("BENCH_ITERATIONS_PEOPLE", "1000000")[0]
    iterations = [
        Census(iterations_people, iterations=number)
        for number in sizes("BENCH_ITERATIONS", "100 300 1000 3000")
    ]
    parts += section(
        "iterations", _iterations, [benchmark_run(census, folder) for census in iterations]
    )
    text_people = sizes("BENCH_TEXT_PEOPLE", "1000000")[0]
    in_text = benchmark_run(Census(text_people, form="text"), folder)
    parts += [
        "## From text",
        report.text_lines(in_text, benchmark_run(Census(text_people), folder)),
    ]
    parts += threads_section(sizes("BENCH_THREADS_PEOPLE", "10000000")[0], folder)
    parts.append(spark_section(PAGE.read_text()))
    PAGE.write_text("\n\n".join(part.strip() for part in parts if part) + "\n")
    print(f"wrote {PAGE.name}")


def lists_of(runs: list[BenchmarkRun]) -> str:
    has_lists = all(run.census.has_lists_of_2020 for run in runs)
    today = datetime.datetime.now(datetime.UTC).date()
    lists = "those of 2020" if has_lists else "of the synthetic census"
    return (
        f"- {today}; code lists, budgets and thresholds: {lists},"
        " but by iterations of the synthetic census"
    )


def section(
    unit: str, size_of: Callable[[BenchmarkRun], int], runs: list[BenchmarkRun]
) -> list[str]:
    """How cost grows with one thing, all else being equal."""
    people = {run.census.people for run in runs}
    at = f", at {people.pop():,} people" if unit != "people" else ", at the geography of the nation"
    shares_text = report.SHARES_TEXT if unit == "people" else ""
    return [
        f"## By {unit}{at}",
        report.cost_table(unit, size_of, runs),
        shares_text,
        report.share_table(unit, size_of, runs),
    ]


def _people(run: BenchmarkRun) -> int:
    return run.census.people


def _tracts(run: BenchmarkRun) -> int:
    return run.census.tracts or 0


def _iterations(run: BenchmarkRun) -> int:
    return run.census.iterations or 0


if __name__ == "__main__":
    main()
