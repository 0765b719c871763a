"""docs/benchmarks.md, as `growth` writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tools.benchmarks.commands import Cost
from tools.benchmarks.runs import SHARES, BenchmarkRun

HEAD = """# Benchmarks

Written by `python -m tools.benchmarks.growth`; `python -m tools.benchmarks.small` is a short version that prints to
the terminal. No test decides on a time.

Each line is one run of `safetab run` in a separate process, with `--threads 2 --memory {memory}`, on a synthetic
census (`safetab synthesize`, seed 2020, Parquet). CPU seconds are those of all cores, peak memory is the largest
resident size, both as the operating system counts them. Other work on the machine makes times longer, so compare the
ratio to plain reading: DuckDB with 2 threads reads every value of the person records once (`select min(hash(c)), ...`),
the query alone, right before the run.
"""
SHARES_TEXT = """
Shares of the CPU time: *start* loads the interpreter and its libraries; *public files* reads and checks the lists and
the geography and makes the plan; *read, check, encode* reads the persons once; *count* counts in both stages; *noise*
draws and decides, with the counting done beside it; *write* writes the tables and the measurements; *release* writes
the tidy release and the report and reads the whole output back. The run writes them into the confidential log.
"""
BESIDE_TEXT = """
## For comparison: the same counting as plain queries

These queries only count: no check of a record, no noise, no tables. Persons are encoded once (a number for the
block, one for the combination of codes), then each level is joined to the entities of the blocks and the
iterations of the codes and grouped: totals of all groups, then sex by age of the groups whose total reaches the
first threshold (`tools/benchmarks/counting_in_sql.py`, `counting_in_polars.py`; 2 threads each). Both must give the
same sums, and for up to a million people so must the totals of a run without noise.
"""
BUREAU_TEXT = """
## The Bureau's figures

These are as reported, not measured here: on other machines, and with another input. The Bureau's SafeTab-P, on Spark,
took up to 9 hours for 300 million simulated people, on three machines with 64 processors and 488 GB of memory each.
"""


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cost_table(
    unit: str, size_of: Callable[[BenchmarkRun], int], runs: Sequence[BenchmarkRun]
) -> str:
    header = (
        unit,
        "CPU s",
        "wall s",
        "peak memory",
        "plain reading, CPU s (wall)",
        "CPU to plain reading",
    )
    return markdown_table(
        header,
        [
            (
                f"{size_of(run):,}",
                *in_words(run.cost),
                f"{run.plain_reading.cpu_seconds:.2f} ({run.plain_reading.wall_seconds:.2f})",
                f"{run.reading_ratio:.1f}",
            )
            for run in runs
        ],
    )


def in_words(cost: Cost) -> tuple[str, str, str]:
    return (
        f"{cost.cpu_seconds:.1f}",
        f"{cost.wall_seconds:.1f}",
        f"{cost.peak_bytes / 10**9:.2f} GB",
    )


def share_table(
    unit: str, size_of: Callable[[BenchmarkRun], int], runs: Sequence[BenchmarkRun]
) -> str:
    rows = []
    for run in runs:
        total = sum(run.shares.values())
        rows.append(
            (f"{size_of(run):,}", *(f"{run.shares[share] / total:.0%}" for share in SHARES))
        )
    return markdown_table((unit, *SHARES), rows)


def beside_table(runs: Sequence[BenchmarkRun]) -> str:
    header = (
        "people",
        "the whole run, CPU s",
        "SQL, CPU s",
        "wall s",
        "peak memory",
        "Polars, CPU s",
        "wall s",
        "peak memory",
    )
    rows = []
    for run in runs:
        if run.in_sql is not None:
            polars = in_words(run.in_polars) if run.in_polars else ("-", "-", "-")
            rows.append(
                (
                    f"{run.census.people:,}",
                    f"{run.cost.cpu_seconds:.1f}",
                    *in_words(run.in_sql),
                    *polars,
                )
            )
    return markdown_table(header, rows)


def text_lines(text: BenchmarkRun, parquet: BenchmarkRun) -> str:
    ratio = text.cost.cpu_seconds / parquet.cost.cpu_seconds
    return (
        f"{text.census.people:,} people from pipe-delimited text:"
        f" {text.cost.cpu_seconds:.1f} CPU seconds, {ratio:.2f} times the run from Parquet"
        f" ({parquet.cost.cpu_seconds:.1f}); plain reading of the text takes"
        f" {text.plain_reading.cpu_seconds:.2f}."
    )
