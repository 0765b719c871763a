"""Algorithm 1 of the paper: every level of a pass, one after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.measurements import Measurements
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.algorithm.tabulate_level import tabulate_level
from safetab.core.privacy.ledger import Ledger


def safetab(
    levels: Iterable[LevelPlan], counts: GroupCounts, ledger: Ledger, groups_at_once: int, threads: int
) -> Iterator[Generator[Measurements]]:
    """Measure each population group level in turn and yield its measurements as they are made.

    Neighbours: add or remove one record, or all records of one unit, which moves the counts of each
    level by at most its sensitivity.
    Spends: the budgets of the levels, each charged to the ledger before its noise is drawn.
    Proof: docs/privacy.md#theorem.
    """
    for level in levels:
        yield tabulate_level(level, counts, ledger, groups_at_once, threads)
