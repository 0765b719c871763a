"""The gain of a second thread, as a section of docs/benchmarks.md.

It also says what sixteen would gain if the serial part stays serial. Wall seconds are compared, so
the cores must be idle: the section says what the load was.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tools.benchmarks.censuses import Census
from tools.benchmarks.commands import Cost
from tools.benchmarks.report import in_words, markdown_table
from tools.benchmarks.runs import run_of
from tools.benchmarks.same_bytes import KEY, require_same_bytes

PREDICTED_CORES = 16
TEXT = """
## By threads, at {people:,} people

Threads read, encode and count persons, and search for empty groups that may be published. One thread reads public
files and draws noise, except for what Arrow does in several; at most two write tables and the release, and one
more checks the files written before. Both runs have one test key, and their outputs are the same bytes; otherwise
there would be no table. The serial share is computed from both wall times by Amdahl's law. The line of {cores}
threads is predicted from it, not measured, and is somewhat too good, since work for two threads doesn't gain from
more. Load average of the last minute before the runs: {load:.1f}; other work makes both wall times, and so the
share, unreliable.
"""


@dataclass(frozen=True, slots=True)
class Amdahl:
    """Wall seconds with one thread, and the share of them that more threads don't shorten."""

    alone_seconds: float
    serial_share: float

    @classmethod
    def of(cls, alone_seconds: float, several_seconds: float, threads: int) -> Amdahl:
        """From w(n) = w(1) (s + (1 - s) / n); s lies between 0 and 1, whatever the clock says."""
        share = (several_seconds / alone_seconds - 1 / threads) / (1 - 1 / threads)
        return cls(alone_seconds, min(max(share, 0.0), 1.0))

    def seconds(self, threads: int) -> float:
        return self.alone_seconds * (self.serial_share + (1 - self.serial_share) / threads)


def threads_section(people: int, folder: Path) -> list[str]:
    made, load = Census(people).made_in(folder), os.getloadavg()[0]
    costs: dict[int, Cost] = {}
    outputs = {threads: folder / f"output-{threads}" for threads in (1, 2)}
    for threads, out in outputs.items():
        print(f"running {made.name} with {threads} threads", flush=True)
        costs[threads], _ = run_of(made / "parameters", made / "data", out, threads, KEY)
    require_same_bytes(*outputs.values())
    for out in outputs.values():
        shutil.rmtree(out)
    law = Amdahl.of(costs[1].wall_seconds, costs[2].wall_seconds, 2)
    rows = [(f"{threads}", *in_words(cost)) for threads, cost in costs.items()]
    rows.append((f"{PREDICTED_CORES} (predicted)", "-", f"{law.seconds(PREDICTED_CORES):.1f}", "-"))
    return [
        TEXT.format(people=people, cores=PREDICTED_CORES, load=load),
        markdown_table(("threads", "CPU s", "wall s", "peak memory"), rows),
        f"Serial share: {law.serial_share:.0%}; wall to half the CPU with 2 threads:"
        f" {2 * costs[2].wall_seconds / costs[2].cpu_seconds:.2f} (asked: 1.25).",
    ]
