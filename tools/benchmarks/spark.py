"""Spark beside the local engine on the same files: the last section of docs/benchmarks.md.

BENCH_SPARK_PEOPLE lists the sizes, separated by blanks; BENCH_FOLDER keeps the censuses.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tools.benchmarks import report
from tools.benchmarks.censuses import THREADS, Census
from tools.benchmarks.commands import Cost, measured_program, measured_safetab
from tools.benchmarks.machine import described_commit, described_machine
from tools.benchmarks.page import PAGE, SPARK_HEADING, without_spark
from tools.benchmarks.runs import MEMORY
from tools.benchmarks.same_bytes import KEY, require_same_bytes

TEXT = """
`python -m tools.benchmarks.spark` writes this section. Both engines run on the same Parquet files in processes of
their own, with one test key, and must write the same bytes. CPU seconds are those of all processes, Java and Spark's
Python included. *Start* is a Spark session that is started and stopped and does nothing. A ratio compares the rest of
a Spark run with the local run.
"""
NATION = 334_735_155
_FAR_APART = 10
EXECUTORS, CORES = 8, 4
ENGINES = ("local", "spark")


@dataclass(frozen=True, slots=True)
class Pair:
    people: int
    local: Cost
    spark: Cost
    start: Cost

    @property
    def ratio(self) -> float:
        """Spark's CPU seconds, its start aside, to those of the local engine."""
        return (self.spark.cpu_seconds - self.start.cpu_seconds) / self.local.cpu_seconds


def nation_text(pairs: list[Pair]) -> str:
    """The cost of a nation, extrapolated from the smallest and the largest size.

    Empty if these are too close. Both runs have the same start, and the machine makes it vary: the
    shorter one is subtracted from both.
    """
    small, large = pairs[0], pairs[-1]
    if large.people < _FAR_APART * small.people:
        return ""
    start = min(small.start.cpu_seconds, large.start.cpu_seconds)
    beside_start = [pair.spark.cpu_seconds - start for pair in (small, large)]
    each = (beside_start[1] - beside_start[0]) / (large.people - small.people)
    fixed = beside_start[0] - each * small.people
    nation = each * NATION + fixed
    seconds = nation / (EXECUTORS * CORES)
    return f"""
### How many executors a nation needs

This is extrapolated from the sizes above and not measured: {1e6 * each:.1f} CPU microseconds a person, and
{fixed:.0f} CPU seconds that don't grow with people (Java compiling, public tables, noise on the driver). The nation's
{NATION:,} would take {nation:,.0f} CPU seconds: {nation / 60:.0f} minutes of one core, about {seconds:.0f} seconds of
{EXECUTORS} executors with {CORES} cores each, if all of it could be spread evenly, which is impossible
for the constant part.
Shuffles between machines make it more; executors that stay warm make it less. At about 10 bytes per person, estimated
from the columns, the nation is 4 GB encoded, which {EXECUTORS} executors of 4 GB keep in memory and fewer
keep on disk. The driver needs what a local run needs, and the counts of one level.
"""


def main() -> None:
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute()
    sizes = os.environ.get("BENCH_SPARK_PEOPLE", "1000000 3000000 10000000").split()
    facts = "\n".join([*described_machine(), described_commit()])
    pairs: list[Pair] = []
    for size in sizes:
        pairs.append(measured_pair(Census(int(size)), folder))
        parts = [
            without_spark(PAGE.read_text()),
            SPARK_HEADING,
            TEXT,
            facts,
            table(pairs),
            nation_text(pairs),
        ]
        PAGE.write_text("\n\n".join(part.strip() for part in parts if part) + "\n")
    print(f"wrote the last section of {PAGE.name}")


def measured_pair(census: Census, folder: Path) -> Pair:
    made = census.made_in(folder)
    outputs = {name: folder / f"output-{name}" for name in ENGINES}
    costs = {}
    for name, out in outputs.items():
        print(f"running {made.name} with {name}", flush=True)
        limits = (
            "--threads",
            THREADS,
            "--memory",
            MEMORY,
            "--temp",
            folder,
            "--test-key",
            KEY,
            "--overwrite",
        )
        run = ("run", made / "parameters", made / "data", out, "--engine", name)
        costs[name] = measured_safetab(*run, *limits).cost
        require_same_bytes(outputs["local"], out)
    start = measured_program("spark_start").cost
    for out in outputs.values():
        shutil.rmtree(out)
    pair = Pair(census.people, **costs, start=start)
    print(f"{census.people:,} people: {pair.ratio:.1f} times the CPU of local", flush=True)
    return pair


def table(pairs: list[Pair]) -> str:
    header = (
        "people", "local, CPU s", "wall s", "peak memory", "Spark, CPU s", "wall s",
        "of it start, CPU s", "CPU to local, start aside",
    )  # fmt: skip
    return report.markdown_table(
        header,
        [
            (
                f"{pair.people:,}",
                *report.in_words(pair.local),
                *report.in_words(pair.spark)[:2],
                f"{pair.start.cpu_seconds:.1f}",
                f"{pair.ratio:.1f}",
            )
            for pair in pairs
        ],
    )


if __name__ == "__main__":
    main()
