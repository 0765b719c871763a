"""Spark beside the local engine on the same files: `make bench-spark` writes the last section of docs/benchmarks.md.

Sizes come from BENCH_SPARK_PEOPLE, parted by blanks; censuses are kept in BENCH_FOLDER.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report
from benchmarks.censuses import THREADS, Census
from benchmarks.commands import Cost, measured_program, measured_safetab
from benchmarks.machine import described_commit, described_machine
from benchmarks.page import PAGE, SPARK_HEADING, without_spark
from benchmarks.runs import MEMORY
from benchmarks.same_bytes import KEY, require_same_bytes

TEXT = """
`make bench-spark` writes this section. Both engines run on the same Parquet files in processes of their own, with
one test key; their outputs are the same bytes, else there would be no table. CPU seconds are those of all processes,
the Java virtual machine and Spark's Python included. *Start* is a Spark session that is started and stopped and does
nothing; a ratio is that of the rest of a Spark run to the local run. Executors *with Python* count with the compiled
loops, those *without* with Spark's expressions.
"""
NATION = 334_735_155
_FAR_APART = 10
EXECUTORS, CORES = 8, 4
WITHOUT_PYTHON = ("--spark-conf", "spark.pyspark.python=none")
RUNS: dict[str, tuple[str, ...]] = {
    "local": ("--engine", "local"),
    "spark": ("--engine", "spark"),
    "expressions": ("--engine", "spark", *WITHOUT_PYTHON),
}


@dataclass(frozen=True, slots=True)
class Pair:
    people: int
    local: Cost
    spark: Cost
    expressions: Cost
    start: Cost

    @property
    def ratio(self) -> float:
        return self._to_local(self.spark)

    @property
    def ratio_of_expressions(self) -> float:
        return self._to_local(self.expressions)

    def _to_local(self, cost: Cost) -> float:
        return (cost.cpu_seconds - self.start.cpu_seconds) / self.local.cpu_seconds


def nation_text(pairs: list[Pair]) -> str:
    """Extrapolated from the smallest and the largest size measured; nothing, if these are too near to each other.

    A start is the same for both, so what the starts differ by is the machine's: the lesser is taken off both.
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

Extrapolated from the sizes above, with Python, no measurement: {1e6 * each:.1f} CPU microseconds a person, and
{fixed:.0f} CPU seconds that don't grow with people (Java compiling, public tables, noise on the driver). The nation's
{NATION:,} would take {nation:,.0f} CPU seconds: {nation / 60:.0f} minutes of one core, about {seconds:.0f} seconds of
{EXECUTORS} executors with {CORES} cores each, if all of it could be spread evenly, which what doesn't grow can't.
Shuffles between machines make it more; executors that stay warm make it less. At about 10 bytes a person, reckoned
from the columns, the nation is 4 GB encoded, which {EXECUTORS} executors of 4 GB keep in memory and fewer keep on disk.
The driver needs what a local run needs, and the counts of one level.
"""


def main() -> None:
    folder = Path(os.environ.get("BENCH_FOLDER", "build/bench")).absolute()
    sizes = os.environ.get("BENCH_SPARK_PEOPLE", "1000000 3000000 10000000").split()
    facts = "\n".join([*described_machine(), described_commit()])
    pairs: list[Pair] = []
    for size in sizes:
        pairs.append(measured_pair(Census(int(size)), folder))
        parts = [without_spark(PAGE.read_text()), SPARK_HEADING, TEXT, facts, table(pairs), nation_text(pairs)]
        PAGE.write_text("\n\n".join(part.strip() for part in parts if part) + "\n")
    print(f"wrote the last section of {PAGE.name}")


def measured_pair(census: Census, folder: Path) -> Pair:
    made = census.made_in(folder)
    outputs = {name: folder / f"output-{name}" for name in RUNS}
    costs = {}
    for name, out in outputs.items():
        print(f"running {made.name} with {name}", flush=True)
        limits = ("--threads", THREADS, "--memory", MEMORY, "--temp", folder, "--test-key", KEY, "--overwrite")
        costs[name] = measured_safetab("run", made / "parameters", made / "data", out, *RUNS[name], *limits).cost
        require_same_bytes(outputs["local"], out)
    start = measured_program("spark_start").cost
    for out in outputs.values():
        shutil.rmtree(out)
    pair = Pair(census.people, **costs, start=start)
    print(f"{census.people:,} people: {pair.ratio:.1f}, {pair.ratio_of_expressions:.1f} times", flush=True)
    return pair


def table(pairs: list[Pair]) -> str:
    header = (
        "people", "local, CPU s", "wall s", "peak memory", "Spark with Python, CPU s", "wall s",
        "without, CPU s", "wall s", "of each start, CPU s", "CPU to local, start aside: with Python", "without",
    )  # fmt: skip
    return report.markdown_table(
        header,
        [
            (
                f"{pair.people:,}",
                *report.in_words(pair.local),
                *report.in_words(pair.spark)[:2],
                *report.in_words(pair.expressions)[:2],
                f"{pair.start.cpu_seconds:.1f}",
                f"{pair.ratio:.1f}",
                f"{pair.ratio_of_expressions:.1f}",
            )
            for pair in pairs
        ],
    )


if __name__ == "__main__":
    main()
