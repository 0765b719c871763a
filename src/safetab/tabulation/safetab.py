"""Algorithm 1 of the paper: every level of a pass, one after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.census.population_groups import GroupUniverse
from safetab.engines.contract import GroupCounts
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import Ledger
from safetab.products.product import Shape
from safetab.tabulation.measurements import Measurements
from safetab.tabulation.tabulate_level import tabulate_level


def safetab(
    levels: Iterable[LevelPlan], counts: GroupCounts, ledger: Ledger, groups_at_once: int, threads: int
) -> Iterator[Generator[Measurements]]:
    """Measure each population group level in turn and yield its measurements as they are made.

    Neighbours: add or remove one record, which is in at most `stability` groups of each level.
    Spends: the budgets of the levels, each charged to the ledger before its noise is drawn.
    Proof: docs/privacy.md#theorem.
    """
    shared = _TotalsOnce(counts)
    for level in levels:
        yield tabulate_level(level, shared, ledger, groups_at_once, threads)


class _TotalsOnce:
    """Counts the totals of a level once for all of its table families."""

    def __init__(self, counts: GroupCounts) -> None:
        self._counts = counts
        self._universe: GroupUniverse | None = None
        self._totals: ExactCounts | None = None

    def totals(self, level: LevelPlan) -> ExactCounts:
        if self._totals is None or level.universe is not self._universe:
            self._totals = None  # let go of the last level's before the next are asked for
            self._universe, self._totals = level.universe, self._counts.totals(level)
        return self._totals

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        return self._counts.cells(level, groups_of)
