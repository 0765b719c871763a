"""Both stages of one level. Only the empty groups that can be published are examined one by one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.level_design import LevelDesign, passes_suppression
from safetab.core.algorithm.measurements import Measurements
from safetab.core.algorithm.run_plan import LevelPlan, chosen_shapes
from safetab.core.mechanisms.noisy_count import indices_whose_noise_may_exceed, noisy_count
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.exact_counts import ExactCounts, union_of
from safetab.core.privacy.ledger import DrawingRight, Ledger
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.in_threads import results_in_threads
from safetab.model.products.product import Selector, Shape


class EmptyGroups:
    """Finds the indices at which an empty group may be published.

    Such a group is published only if its stage-1 noise reaches the first threshold or its stage-2
    total exceeds the suppression threshold. The first words at its addresses decide both. Elsewhere
    nothing is published, and nothing needs to be drawn. Without a threshold no stage-1 noise
    matters. The answer does not depend on who was counted: it covers every index, including
    non-empty groups.

    Proof: docs/privacy.md#lazy-empty-groups.
    """

    def __init__(self, design: LevelDesign, stage_1: DrawingRight, stage_2: DrawingRight) -> None:
        self._suppression_threshold = design.suppression_threshold
        self._first_threshold = design.thresholds.first
        self._stage_1 = stage_1
        self._stage_2 = stage_2

    def that_may_be_published(self, first: int, end: int) -> NDArray[np.int64]:
        """The indices in [first, end) at which an empty group may be published."""
        if self._suppression_threshold is None:
            return np.arange(first, end)
        passing = indices_whose_noise_may_exceed(
            self._suppression_threshold, first, end, self._stage_2
        )
        if self._first_threshold is None:
            return passing
        with_table = indices_whose_noise_may_exceed(
            self._first_threshold - 1, first, end, self._stage_1
        )
        return union_of(passing, with_table)


Measure = Callable[[ExactCounts], NDArray[np.int64]]
"""`noisy_count` of one event and shape."""
Recorder = Callable[[Measure, ExactCounts, MeasurementEvent, Shape], NDArray[np.int64]]
"""Sees how made-up people are measured and returns the numbers: docs/privacy.md#noisy-count."""


@dataclass(frozen=True, slots=True)
class _PaidLevel:
    """A level whose budget has been charged: what is counted, and the rights to draw its noise."""

    plan: LevelPlan
    engine: GroupCounts
    rights: Mapping[Stage, DrawingRight]
    sizes: BatchSizes
    threads: int
    recorder: Recorder | None

    def noisy(self, counts: ExactCounts, shape: Shape, stage: Stage) -> NDArray[np.int64]:
        """The numbers of `noisy_count`, which a recorder draws and remembers."""
        right = self.rights[stage]
        measure = partial(noisy_count, shape=shape, right=right)
        if self.recorder is None:
            return measure(counts)
        return self.recorder(measure, counts, right.event, shape)


def tabulate_level(
    plan: LevelPlan,
    engine: GroupCounts,
    ledger: Ledger,
    sizes: BatchSizes = USUAL_SIZES,
    threads: int = 1,
    recorder: Recorder | None = None,
) -> Generator[Measurements]:
    """Measure every population group of one level, as finely as its noisy size allows.

    Neighbours: add or remove one record, which is in at most `stability` groups of the level, or
    one unit with several such records.
    Spends: the level's budget, charged to the ledger before any noise is drawn.
    Proof: docs/privacy.md#level, without a recorder.
    """
    stages = plan.design.stages
    if not plan.universe.size or not stages:
        return
    rights = {stage: _charged(plan, stage, ledger) for stage in stages}
    level = _PaidLevel(plan, engine, rights, sizes, threads, recorder)
    totals = engine.totals(plan)
    if Stage.STAGE_2 in level.rights:
        yield from _ADAPTIVE[plan.design.product.selector](level, totals)
    if Stage.TOTAL_ONLY in level.rights:
        yield _total_only(level, totals)


def _charged(plan: LevelPlan, stage: Stage, ledger: Ledger) -> DrawingRight:
    """The right to draw a stage's noise, after its budget was charged."""
    design = plan.design
    event = MeasurementEvent(
        product=design.product,
        family=design.family,
        level=design.level,
        stage=stage,
        definition=design.definition,
        sensitivity=design.sensitivity,
        cost=design.stages[stage].budget,
    )
    return ledger.charge(event)


def _by_noisy_stage_1(level: _PaidLevel, totals: ExactCounts) -> Iterator[Measurements]:
    """Stage 1, the choice of a shape, and stage 2.

    Empty groups that can't be published are skipped.
    """
    universe, design = level.plan.universe, level.plan.design
    at_once = level.sizes.groups
    is_adaptive = ~universe.is_total_only
    empty = EmptyGroups(design, level.rights[Stage.STAGE_1], level.rights[Stage.STAGE_2])
    firsts = range(0, universe.size, at_once)
    ranges = [(first, min(first + at_once, universe.size)) for first in firsts]
    pieces = (partial(empty.that_may_be_published, first, end) for first, end in ranges)
    threads = (
        1 if design.suppression_threshold is None else level.threads
    )  # without it nothing is looked for
    with closing(results_in_threads(pieces, threads)) as found:
        for (first, end), of_empty in zip(ranges, found, strict=True):
            groups = union_of(totals.between(first, end).indices, of_empty)
            counts = totals.of_groups(groups[is_adaptive[universe.index.iteration_of(groups)]])
            stage_1 = level.noisy(counts, design.family.total, Stage.STAGE_1)[:, 0]
            shapes = chosen_shapes(stage_1, design.thresholds)
            for part in _parts_of_bounded_size(level, shapes):
                yield _stage_2(level, counts.some(part), stage_1[part], shapes[part])


def _by_published_totals(level: _PaidLevel, totals: ExactCounts) -> Iterator[Measurements]:
    """Every group with a published total, and no other group.

    Its total chooses its shape.
    """
    selected = level.plan.selected
    assert selected is not None
    for first in range(0, len(selected.indices), level.sizes.groups):
        some = slice(first, first + level.sizes.groups)
        counts = totals.of_groups(selected.indices[some])
        shapes = chosen_shapes(selected.totals[some], level.plan.design.thresholds)
        for part in _parts_of_bounded_size(level, shapes):
            yield _stage_2(level, counts.some(part), None, shapes[part])


def _every_group(level: _PaidLevel, totals: ExactCounts) -> Iterator[Measurements]:
    """Every group of the universe in the finest shape, with or without records.

    Nothing is suppressed.

    Proof: docs/privacy.md#every-group.
    """
    plan = level.plan
    for first in range(0, plan.universe.size, level.sizes.groups):
        groups = np.arange(first, min(first + level.sizes.groups, plan.universe.size))
        counts = totals.of_groups(groups)
        shapes = np.full(len(groups), plan.family.number_of(plan.family.finest), dtype=np.int8)
        for part in _parts_of_bounded_size(level, shapes):
            yield _stage_2(level, counts.some(part), None, shapes[part])


_ADAPTIVE = {  # how groups with tables are measured, by what selects these
    Selector.NOISY_STAGE_1: _by_noisy_stage_1,
    Selector.PUBLISHED_TOTALS: _by_published_totals,
    Selector.NONE: _every_group,
}


def _parts_of_bounded_size(level: _PaidLevel, shapes: NDArray[np.int8]) -> Iterator[slice]:
    """Runs of groups with about `sizes.cells` cells each, however many groups get tables."""
    cells = np.cumsum(np.array([shape.cells for shape in level.plan.family.shapes])[shapes])
    batch = np.append(cells // level.sizes.cells, -1)
    ends = np.flatnonzero(np.diff(batch)) + 1
    yield from (slice(first, end) for first, end in pairwise([0, *ends.tolist()]))


def _stage_2(
    level: _PaidLevel,
    counts: ExactCounts,
    stage_1: NDArray[np.int64] | None,
    shapes: NDArray[np.int8],
) -> Measurements:
    """Measure each group in its chosen shape. Suppressed totals leave no trace."""
    family = level.plan.family
    is_total = shapes == family.number_of(family.total)
    noisy_totals = level.noisy(counts.some(is_total), family.total, Stage.STAGE_2)
    is_kept = passes_suppression(noisy_totals[:, 0], level.plan.design.suppression_threshold)
    values = {family.total: noisy_totals[is_kept]}
    chosen = {shape: counts.indices[shapes == family.number_of(shape)] for shape in family.finer}
    groups_of = {shape: groups for shape, groups in chosen.items() if len(groups)}
    if groups_of:
        for shape, cells in level.engine.cells(level.plan, groups_of).items():
            values[shape] = level.noisy(cells, shape, Stage.STAGE_2)
    is_published = np.ones(len(shapes), dtype=np.bool_)
    is_published[is_total] = is_kept
    of_stage_1 = None if stage_1 is None else stage_1[is_published]
    published = (counts.indices[is_published], shapes[is_published], of_stage_1)
    return Measurements(level.plan, Stage.STAGE_2, *published, values)


def _total_only(level: _PaidLevel, totals: ExactCounts) -> Measurements:
    """Totals of total-only groups, with the level's whole budget. They are never suppressed."""
    total, universe = level.plan.family.total, level.plan.universe
    total_only = np.flatnonzero(universe.is_total_only)
    entities = np.arange(len(universe.entities))[:, None]
    counts = totals.of_groups(universe.index.index_of(entities, total_only).reshape(-1))
    values = level.noisy(counts, total, Stage.TOTAL_ONLY)
    shapes = np.zeros(len(counts.indices), dtype=np.int8)
    return Measurements(level.plan, Stage.TOTAL_ONLY, counts.indices, shapes, None, {total: values})
