"""Algorithm 1 of the paper: every level of a pass, one after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.measurements import Measurements
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.algorithm.tabulate_level import Recorder, tabulate_level
from safetab.core.privacy.ledger import Ledger
from safetab.foundation.batch_sizes import BatchSizes


def safetab(
    levels: Iterable[LevelPlan],
    counts: GroupCounts,
    ledger: Ledger,
    sizes: BatchSizes,
    threads: int,
    recorder: Recorder | None = None,
) -> Iterator[Generator[Measurements]]:
    """Measure each population group level in turn and yield its measurements as they are made.

    Neighbours: add or remove one record, or all records of one unit, which moves the counts of each
    level by at most its sensitivity.
    Spends: the budgets of the levels, each charged to the ledger before its noise is drawn.
    Proof: docs/privacy.md#theorem, without a recorder.
    """
    for level in levels:
        yield tabulate_level(level, counts, ledger, sizes, threads, recorder)
