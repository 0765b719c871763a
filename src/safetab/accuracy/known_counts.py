"""An engine's answers, kept in memory: the persons are counted once, however often the algorithm runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.engines.contract import GroupCounts
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.tables import Table

_FINEST = Table.SEX_BY_AGE_23
_HARDLY_EVER = Fraction(1, 10**12)
_MOST_GROUPS = 1 << 20  # whose cells are kept, in a level: 380 MB


class KnownCounts:
    """Keeps to the protocol `GroupCounts`; its numbers are the engine's.

    Of groups that can hardly fail to stay below the first threshold no cells are kept: the engine is asked if one of
    them gets a table after all. A group with nobody in it has nobody in its cells.
    """

    def __init__(self, engine: GroupCounts, levels: Sequence[LevelPlan], done: Callable[[], None]) -> None:
        self._engine = engine
        self._asking = Lock()  # runs go side by side, an engine answers one at a time
        self._totals: dict[PopulationGroupLevel, ExactCounts] = {}
        self._finest: dict[PopulationGroupLevel, ExactCounts] = {}
        for level in levels:
            self._totals[level.level] = engine.totals(level)
            places = self._that_may_get_a_table(level)
            self._finest[level.level] = engine.cells(level, {_FINEST: places})[_FINEST] if len(places) else _NOBODY
            done()

    def totals(self, level: LevelPlan) -> ExactCounts:
        return self._totals[level.level]

    def cells(self, level: LevelPlan, places_of: Mapping[Table, NDArray[np.int64]]) -> Mapping[Table, ExactCounts]:
        return {
            table: ExactCounts(places, _coarsened(self._finest_of(level, places), table))
            for table, places in places_of.items()
        }

    def _finest_of(self, level: LevelPlan, places: NDArray[np.int64]) -> NDArray[np.int64]:
        kept, cells = self._finest[level.level], np.zeros((len(places), _FINEST.cells), dtype=np.int64)
        is_kept = np.isin(places, kept.places, assume_unique=True)
        cells[is_kept] = kept.of_places(places[is_kept]).confidential_counts
        is_unknown = ~is_kept & np.isin(places, self._totals[level.level].places, assume_unique=True)
        if is_unknown.any():
            with self._asking:
                asked = self._engine.cells(level, {_FINEST: places[is_unknown]})[_FINEST]
            cells[is_unknown] = asked.confidential_counts
        return cells

    def _that_may_get_a_table(self, level: LevelPlan) -> NDArray[np.int64]:
        if Stage.STAGE_1 not in level.stages:
            return _NOBODY.places
        totals, noise = self._totals[level.level], level.stages[Stage.STAGE_1].noise
        reach = noise.least_with_tail_below(_HARDLY_EVER)
        sizes, width = totals.confidential_counts[:, 0], len(level.universe.iterations)
        is_adaptive = ~np.array([iteration.is_total_only for iteration in level.universe.iterations], dtype=np.bool_)
        may = is_adaptive[totals.places % width] & (sizes > level.thresholds.sex_by_age_4 - reach)
        chosen = np.flatnonzero(may)
        if len(chosen) > _MOST_GROUPS:
            chosen = np.sort(chosen[np.argsort(sizes[chosen], kind="stable")[-_MOST_GROUPS:]])
        return totals.places[chosen]


_NOBODY = ExactCounts(np.empty(0, dtype=np.int64), np.empty((0, _FINEST.cells), dtype=np.int64))


def _coarsened(finest: NDArray[np.int64], table: Table) -> NDArray[np.int64]:
    """The cells of a table from those of the finest, whose ages begin wherever another table's do."""
    starts = [_FINEST.age_starts.index(age) for age in table.age_starts]
    both_sexes = [*starts, *(start + _FINEST.cells_of_a_sex for start in starts)]
    return np.asarray(np.add.reduceat(finest, both_sexes, axis=1))
