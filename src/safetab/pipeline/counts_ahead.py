"""While one level is measured, the totals of the next are counted beside it: they depend on no noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from safetab.engines.contract import GroupCounts
from safetab.foundation.interrupts import interrupts_held
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape


class CountsAhead:
    """An engine's answers about the levels of a pass, which are asked for in their order.

    The totals of one level are held beside those that are measured. What was begun is waited for at the end.
    """

    def __init__(self, counts: GroupCounts, levels: Sequence[LevelPlan], *, is_beside: bool) -> None:
        """With not `is_beside` nothing is counted before it is asked for."""
        self._counts = counts
        self._is_beside = is_beside
        measured = [level for level in levels if level.universe.size and level.design.stages]
        self._levels = list({id(level.universe): level for level in reversed(measured)}.values())[::-1]
        self._pool = ThreadPoolExecutor(1)
        self._ahead: tuple[LevelPlan, Future[ExactCounts]] | None = None

    def totals(self, level: LevelPlan) -> ExactCounts:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0].universe is level.universe:
            totals = ahead[1].result()
        else:
            totals = self._counts.totals(level)
        following = self._after(level) if self._is_beside else None
        if following is not None:
            self._ahead = following, self._pool.submit(self._counts.totals, following)
        return totals

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        return self._counts.cells(level, groups_of)

    def _after(self, level: LevelPlan) -> LevelPlan | None:
        """The next level of other groups: table families of one level have the same totals."""
        return next((after for one, after in pairwise(self._levels) if one.universe is level.universe), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with interrupts_held():
            self._pool.shutdown(cancel_futures=True)
