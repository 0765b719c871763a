"""One run of the real algorithm on known counts, and its errors: what a release would show, beside the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.assessment.classes import COMBINED, CONFIDENCES, TOTAL, USUAL, MeasuredAs
from safetab.assessment.known_counts import KnownCounts
from safetab.assessment.tally import Errors, Groups, LevelTally
from safetab.assessment.theory import LevelTheory
from safetab.assessment.truth import LevelTruth
from safetab.mechanisms.noisy_count import noisy_count
from safetab.planning.level_design import LevelDesign
from safetab.planning.run_plan import LevelPlan, RunPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.ledger import Ledger
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage
from safetab.products.product import Shape
from safetab.release.coterminous.copies import Copies, PassSets
from safetab.release.numbers.level_numbers import NO_INTERVAL, Numbers, NumbersOfLevel
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import NO_DONOR, PublishedGroups, joined, merged
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_rules import ReleaseRule
from safetab.release.release_universe import Universe
from safetab.tabulation.marginals import line_sums
from safetab.tabulation.measurements import Measurements
from safetab.tabulation.tabulate_level import tabulate_level


@dataclass(frozen=True, slots=True, eq=False)
class AssessedLevel:
    """A level, its number in the release, and what its runs come to."""

    number: int
    truth: LevelTruth
    tallies: Mapping[MeasuredAs, LevelTally]
    theories: Mapping[MeasuredAs, LevelTheory]


class AssessedRuns:
    """Runs one configuration again and again, each time with other noise."""

    def __init__(
        self,
        plan: RunPlan,
        universe: Universe,
        counts: KnownCounts,
        levels: Mapping[int, AssessedLevel],
        options: ReleaseOptions,
        sets: tuple[PassSets, ...],
    ) -> None:
        self._plan = plan
        self._universe = universe
        self._counts = counts
        self._levels = levels
        self._options = options
        self._sets = {one.tabulation_pass: one for one in sets}
        self._kinds = NumberKinds(universe, options.confidence)
        self._margins = np.stack([NumberKinds(universe, one).margins for one in CONFIDENCES], axis=1).astype(float)
        self._numbers = {
            number: NumbersOfLevel(universe, level.truth.release_level, self._kinds, options)
            for number, level in levels.items()
        }
        self._needs_whole_levels = bool(sets) or ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER in options.rules

    def run(self, bits: AddressedBits) -> None:
        """One run, with a ledger of its own; nothing of it is kept but sums."""
        ledger = Ledger(self._plan.config.budgets, bits)
        for tabulation_pass in self._plan.config.passes:
            held: list[tuple[int, PublishedGroups]] = []
            for plan in self._plan.levels_of(tabulation_pass):
                level = self._levels[self._universe.number_of_level[plan.family, plan.level]]
                for groups in self._published(level, plan, ledger):
                    if self._needs_whole_levels:
                        held.append((level.number, groups))
                    else:
                        self._assess(level, groups)
            if not held:
                continue
            copies = None
            if self._options.coterminous is not None:
                copies = Copies(self._universe, self._sets[tabulation_pass], self._options.coterminous, held)
            for number in dict.fromkeys(number for number, _ in held):
                own = joined([groups for of_level, groups in held if of_level == number])
                own = own.chosen(np.argsort(own.indices, kind="stable"))
                self._assess(self._levels[number], merged(own, copies.to_level(number)) if copies else own)

    def _published(self, level: AssessedLevel, plan: LevelPlan, ledger: Ledger) -> Iterator[PublishedGroups]:
        published = [np.empty(0, dtype=np.int64)]
        for measurements in tabulate_level(plan, self._counts, ledger):
            if measurements.stage is Stage.STAGE_2:
                published.append(measurements.indices)
            if len(measurements.indices):
                yield _published_groups(measurements, level)
        if plan.design.suppression_threshold is not None:
            self._assess_suppressed(level, np.concatenate(published), ledger)

    def _assess_suppressed(self, level: AssessedLevel, published: NDArray[np.int64], ledger: Ledger) -> None:
        """The noise that suppression hid: asked again at its address, which gives the same number.

        Groups with somebody in them alone: empty ones are not drawn one by one; their noise is known only where it is
        large, and would mislead.
        """
        truth, plan, total = level.truth, level.truth.plan, level.truth.plan.family.total
        right = ledger.right_to_read_again(_stage_2_event(plan.design))
        exact = truth.suppressed(published)
        noise = noisy_count(exact, total, right) - exact.confidential_counts
        kinds = truth.kind_of[plan.universe.index.iteration_of(exact.indices)]
        kind = self._kinds.first(level.number, is_total_only=False, shape_number=plan.family.number_of(total))
        margins = np.broadcast_to(self._margins[kind], (len(noise), len(CONFIDENCES)))
        groups = Groups(total, kinds, truth.size_index_of(exact.indices))
        level.tallies[MeasuredAs.ADAPTIVE].add_draws(TOTAL, groups, noise.astype(float), margins)

    def _assess(self, level: AssessedLevel, groups: PublishedGroups) -> None:
        """Groups of whole entities, where a rule compares groups of one entity."""
        truth, shapes = level.truth, level.truth.plan.family.shapes
        numbers = self._numbers[level.number].of(groups)
        released, own = truth.release_level.index, truth.plan.universe.index
        # groups that the level doesn't tabulate itself are left out
        position = truth.own_position[released.iteration_of(groups.indices)]
        indices = own.index_of(released.entity_of(groups.indices), position)
        lines = np.array([len(shape.lines) for shape in shapes])[groups.shapes]
        rows = np.cumsum(lines) - lines
        for measured in level.tallies:
            is_own = (position >= 0) & (truth.is_total_only[position] == (measured is MeasuredAs.TOTAL_ONLY))
            for number, shape in enumerate(shapes):
                chosen = np.flatnonzero(is_own & (groups.shapes == number))
                if len(chosen):
                    seen = Groups(shape, truth.kind_of[position[chosen]], truth.size_index_of(indices[chosen]))
                    part = _GroupsOfShape(seen, indices[chosen], groups.chosen(chosen), numbers, rows[chosen])
                    self._assess_part(level, measured, part)

    def _assess_part(self, level: AssessedLevel, measured: MeasuredAs, part: _GroupsOfShape) -> None:
        shape, tally, numbers = part.seen.shape, level.tallies[measured], part.numbers
        exact = line_sums(self._exact(level.truth, shape, part.indices), shape.lines)
        all_rows = part.rows[:, None] + np.arange(len(shape.lines))
        errors = (numbers.counts[all_rows] - exact).astype(float)
        drawn = (numbers.unclamped[all_rows] - exact).astype(float)
        is_shown = ~numbers.is_withheld[all_rows]
        tally.add_published(part.seen, is_shown[:, 0], errors[:, 0])
        was_drawn = self._was_drawn_whatever_came(level, measured, part)
        for sort in tally.sorts:
            lines = sort.lines(shape)
            if not len(lines):
                continue
            margins = self._margins[numbers.kinds[all_rows[:, lines[0]]]]
            tally.add_errors(sort, part.seen, Errors(errors[:, lines], exact[:, lines], is_shown[:, lines], margins))
            tally.add_draws(sort, part.seen_of(was_drawn), drawn[was_drawn][:, lines], margins[was_drawn])
        plain = Errors(drawn[:, :1], exact[:, :1], is_shown[:, :1], self._margins[numbers.kinds[part.rows]])
        _assess_intervals(tally, part, plain)
        self._assess_combined(level, measured, part, plain)

    def _was_drawn_whatever_came(
        self, level: AssessedLevel, measured: MeasuredAs, part: _GroupsOfShape
    ) -> NDArray[np.bool_]:
        """Own numbers of groups whose every draw is known: not of empty groups where only large noise is looked at."""
        is_own = part.groups.donors == NO_DONOR
        is_lazy = level.theories[measured].is_selected(part.seen.shape)
        return np.asarray(is_own & (level.truth.sizes[part.seen.size_indices] > 0)) if is_lazy else is_own

    def _assess_combined(self, level: AssessedLevel, measured: MeasuredAs, part: _GroupsOfShape, plain: Errors) -> None:
        """Stage-1 and stage-2 totals together; copied groups have those of another level, and are left out."""
        theory, shape = level.theories[measured], part.seen.shape
        if not theory.has_combined(shape):
            return
        share = float(theory.combined_share(shape))
        first = (part.groups.stage_1_totals[:, None] - plain.truths).astype(float)
        is_shown = plain.is_shown & (part.groups.donors == NO_DONOR)[:, None]
        margins = np.broadcast_to(np.array(theory.combined_margins(shape)), plain.margins.shape)
        errors = share * plain.errors + (1 - share) * first
        level.tallies[measured].add_errors(COMBINED, part.seen, Errors(errors, plain.truths, is_shown, margins))

    def _exact(self, truth: LevelTruth, shape: Shape, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        if shape is truth.plan.family.total:
            return truth.totals.of_groups(indices).confidential_counts
        return self._counts.cells(truth.plan, {shape: indices})[shape].confidential_counts


@dataclass(frozen=True, slots=True, eq=False)
class _GroupsOfShape:
    """Groups of a level that got one shape, their indices in the level's universe, and their rows of the release."""

    seen: Groups
    indices: NDArray[np.int64]
    groups: PublishedGroups
    numbers: Numbers  # of the whole level
    rows: NDArray[np.int64]  # where each group's rows begin

    def seen_of(self, chosen: NDArray[np.bool_]) -> Groups:
        return Groups(self.seen.shape, self.seen.kinds[chosen], self.seen.size_indices[chosen])


def _stage_2_event(design: LevelDesign) -> MeasurementEvent:
    """What was charged for a level's stage 2."""
    cost = design.stages[Stage.STAGE_2].budget
    return MeasurementEvent(
        design.product, design.family, design.level, Stage.STAGE_2, design.definition, design.stability, cost
    )


def _assess_intervals(tally: LevelTally, part: _GroupsOfShape, plain: Errors) -> None:
    """What the release gives a total: the selection-aware interval if it has one, else its margin of error."""
    low, high, truth = part.numbers.low[part.rows], part.numbers.high[part.rows], plain.truths[:, 0]
    is_selected, is_shown = low != NO_INTERVAL, plain.is_shown[:, 0]
    is_within = np.abs(plain.errors[:, 0]) <= plain.margins[:, USUAL]
    is_holding = np.where(is_selected, (low <= truth) & (truth <= high), is_within)
    tally.add_intervals(part.seen_of(is_shown), is_selected[is_shown], is_holding[is_shown])


def _published_groups(measurements: Measurements, level: AssessedLevel) -> PublishedGroups:
    """As they would be read back from the measurement file."""
    truth, family, own = level.truth, measurements.plan.family, measurements.plan.universe.index
    entity, iteration = own.entity_of(measurements.indices), own.iteration_of(measurements.indices)
    cells = family.cells[measurements.shape_numbers]
    starts, values = np.cumsum(cells) - cells, np.empty(int(cells.sum()), dtype=np.int64)
    for shape, of_shape in measurements.values.items():
        values[starts[measurements.groups_of(shape)][:, None] + np.arange(shape.cells)] = of_shape
    is_total_only = measurements.stage is Stage.TOTAL_ONLY
    stage_1 = measurements.stage_1_totals
    return PublishedGroups(
        family=family,
        indices=truth.release_level.index.index_of(entity, truth.release_position[iteration]),
        shapes=measurements.shape_numbers,
        is_total_only=np.full(len(entity), is_total_only),
        stage_1_totals=np.zeros(len(entity), dtype=np.int64) if stage_1 is None else stage_1,
        measured_at=np.full(len(entity), level.number, dtype=np.int16),
        donors=np.full(len(entity), NO_DONOR, dtype=np.int64),
        values=values,
    )
