"""`python -m tools.benchmarks.small`: minutes, for everyday use; the ratios are printed last."""

from __future__ import annotations

import os
from pathlib import Path

from tools.benchmarks import report
from tools.benchmarks.cef import cef_lines
from tools.benchmarks.censuses import Census
from tools.benchmarks.machine import described_commit, described_machine
from tools.benchmarks.runs import benchmark_run
from tools.benchmarks.start_up import start_up_lines

PEOPLE = (100_000, 1_000_000)


def main() -> None:
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute()
    start_up = start_up_lines(folder)
    runs = [benchmark_run(Census(people), folder, counts_beside=True) for people in PEOPLE]
    in_text = benchmark_run(Census(PEOPLE[-1], form="text"), folder)
    from_cef = cef_lines(in_text, folder)
    print("\n".join(["", *described_machine(), described_commit(), *start_up, ""]))
    for table in (report.cost_table, report.share_table):
        print(table("people", lambda run: run.census.people, runs))
    print(report.beside_table(runs))
    print(report.text_lines(in_text, runs[-1]))
    print(from_cef)
    for run in runs:
        assert run.in_sql is not None
        print(
            f"{run.census.people:,} people: {run.reading_ratio:.1f} times plain reading,"
            f" {run.cost.cpu_seconds / run.in_sql.cpu_seconds:.2f} times the plain query"
        )


if __name__ == "__main__":
    main()
