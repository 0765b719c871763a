"""TabulatePopulationGroup for all groups of a level at once, streamed by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safetab.census.group_universe import GroupUniverse
from safetab.engines.contract import GroupCounts
from safetab.mechanisms.addressed_bits import AddressedBits
from safetab.mechanisms.noisy_count import noisy_count
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts, all_of
from safetab.privacy.ledger import DrawingRight, Ledger, MeasurementEvent
from safetab.products.safetab_p.tables import SEX_BY_AGE_TABLES, Stage, Table, Thresholds
from safetab.tabulation.empty_groups import EmptyGroups
from safetab.tabulation.measurements import TABLES, Measurements

PLACES_AT_ONCE = 1 << 21
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class _PaidLevel:
    """A level whose budget is charged: what is counted, and the rights to draw its noise."""

    plan: LevelPlan
    engine: GroupCounts
    rights: Mapping[Stage, DrawingRight]
    bits: AddressedBits

    def noisy(self, counts: ExactCounts, table: Table, stage: Stage) -> NDArray[np.int64]:
        return noisy_count(counts, table, self.rights[stage], self.bits)


def tabulate_level(
    plan: LevelPlan, engine: GroupCounts, ledger: Ledger, bits: AddressedBits, places_at_once: int = PLACES_AT_ONCE
) -> Iterator[Measurements]:
    """Measures every population group of one level, as finely as its noisy size allows.

    Neighbours: add or remove one person, who is in at most `plan.stability` groups of the level.
    Spends: the level's budget, charged to the ledger before any noise is drawn.
    Proof: docs/privacy.md#level.
    """
    if not plan.universe.size or not plan.stages:
        return
    level = _PaidLevel(plan, engine, {stage: _charged(plan, stage, ledger) for stage in plan.stages}, bits)
    totals = engine.totals(plan)
    if Stage.STAGE_2 in level.rights:
        yield from _adaptive(level, totals, places_at_once)
    if Stage.TOTAL_ONLY in level.rights:
        yield _total_only(level, totals)


def _charged(plan: LevelPlan, stage: Stage, ledger: Ledger) -> DrawingRight:
    return ledger.charge(
        MeasurementEvent(plan.level, stage, plan.definition, plan.stability, plan.stages[stage].budget)
    )


def _adaptive(level: _PaidLevel, totals: ExactCounts, places_at_once: int) -> Iterator[Measurements]:
    """Stage 1, the choice of a table, stage 2; empty groups that can't be published are never touched."""
    universe = level.plan.universe
    is_adaptive = ~np.array([iteration.is_total_only for iteration in universe.iterations], dtype=np.bool_)
    empty = EmptyGroups(level.plan, level.rights[Stage.STAGE_1], level.rights[Stage.STAGE_2], level.bits)
    for first in range(0, universe.size, places_at_once):
        end = min(first + places_at_once, universe.size)
        places = all_of(totals.between(first, end).places, empty.that_may_be_published(first, end))
        counts = totals.of_places(places[is_adaptive[places % len(universe.iterations)]])
        stage_1 = level.noisy(counts, Table.TOTAL, Stage.STAGE_1)[:, 0]
        tables = chosen_tables(stage_1, level.plan.thresholds)
        for part in _parts_of_bounded_size(tables):
            yield _stage_2(level, counts.of_places(counts.places[part]), stage_1[part], tables[part])


def _parts_of_bounded_size(tables: NDArray[np.int8]) -> Iterator[slice]:
    """Neighbouring groups that have about _CELLS_AT_ONCE cells together, however many groups get tables."""
    cells = np.cumsum(np.array([table.cells for table in TABLES])[tables])
    batch = np.append(cells // _CELLS_AT_ONCE, -1)
    ends = np.flatnonzero(np.diff(batch)) + 1
    yield from (slice(first, end) for first, end in pairwise([0, *ends.tolist()]))


def chosen_tables(noisy_totals: NDArray[np.int64], thresholds: Thresholds) -> NDArray[np.int8]:
    """For each noisy total the table of its group, as a position in TABLES; reaching a threshold moves it up."""
    return np.searchsorted(np.array(thresholds.as_tuple), noisy_totals, side="right").astype(np.int8)


def _stage_2(
    level: _PaidLevel, counts: ExactCounts, stage_1: NDArray[np.int64], tables: NDArray[np.int8]
) -> Measurements:
    """The table that each group's noisy total chose; totals that suppression takes leave no trace."""
    is_total = tables == TABLES.index(Table.TOTAL)
    noisy_totals = level.noisy(counts.of_places(counts.places[is_total]), Table.TOTAL, Stage.STAGE_2)
    is_kept = passes_suppression(noisy_totals[:, 0], level.plan.suppression_threshold)
    values = {Table.TOTAL: noisy_totals[is_kept]}
    chosen = {table: counts.places[tables == TABLES.index(table)] for table in SEX_BY_AGE_TABLES}
    places_of = {table: places for table, places in chosen.items() if len(places)}
    if places_of:
        for table, cells in level.engine.cells(level.plan, places_of).items():
            values[table] = level.noisy(cells, table, Stage.STAGE_2)
    is_published = np.ones(len(tables), dtype=np.bool_)
    is_published[is_total] = is_kept
    published = (counts.places[is_published], tables[is_published], stage_1[is_published])
    return Measurements(level.plan, Stage.STAGE_2, *published, values)


def passes_suppression(noisy_totals: NDArray[np.int64], threshold: int | None) -> NDArray[np.bool_]:
    """A total is published only above the suppression threshold, where there is one."""
    if threshold is None:
        return np.ones(len(noisy_totals), dtype=np.bool_)
    return noisy_totals > threshold


def _total_only(level: _PaidLevel, totals: ExactCounts) -> Measurements:
    """Groups that get a total whatever their size, with the level's whole budget; they are never suppressed."""
    counts = totals.of_places(_total_only_places(level.plan.universe))
    values = level.noisy(counts, Table.TOTAL, Stage.TOTAL_ONLY)
    tables = np.full(len(counts.places), TABLES.index(Table.TOTAL), dtype=np.int8)
    return Measurements(level.plan, Stage.TOTAL_ONLY, counts.places, tables, None, {Table.TOTAL: values})


def _total_only_places(universe: GroupUniverse) -> NDArray[np.int64]:
    iterations = len(universe.iterations)
    total_only = np.flatnonzero([iteration.is_total_only for iteration in universe.iterations])
    return (np.arange(len(universe.entities))[:, None] * iterations + total_only).reshape(-1)
