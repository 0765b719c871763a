"""Count exactly once, run the real algorithm many times, and tally what a release would show.

An error is what the release shows minus the truth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.measurements import Measurements, line_sums
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan
from safetab.core.algorithm.tabulate_level import tabulate_level
from safetab.core.mechanisms.noisy_count import noisy_count
from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.ledger import Ledger
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.foundation.in_threads import Workers
from safetab.foundation.progress import Progress
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import Census
from safetab.model.products.product import Product, Selector, Shape, TableFamily
from safetab.release.files.coterminous import Copies, SetsOfPasses, sets_of_passes
from safetab.release.files.numbers.level_numbers import (
    NO_INTERVAL,
    NumberKinds,
    Numbers,
    NumbersOfLevel,
    interval_around,
)
from safetab.release.files.numbers.published_groups import NO_DONOR, PublishedGroups, joined, merged
from safetab.release.files.release_options import ReleaseOptions, ReleaseRule
from safetab.release.files.release_universe import Universe, universe_of_run
from safetab.runs.inputs import RunInputs
from safetab.runs.observed.tally import (
    COMBINED,
    CONFIDENCES,
    TOTAL,
    USUAL,
    Errors,
    GroupsOfShape,
    LevelTally,
    MeasuredAs,
)
from safetab.runs.observed.theory import LevelTheory
from safetab.runs.observed.truth import KnownCounts, LevelTruth, level_truth
from safetab.runs.options import RunOptions

_STAGES = {MeasuredAs.ADAPTIVE: Stage.STAGE_2, MeasuredAs.TOTAL_ONLY: Stage.TOTAL_ONLY}


@dataclass(frozen=True, slots=True, eq=False)
class AssessedLevel:
    """A level, its number in the release, its truth, and the sums and theory of its errors."""

    number: int
    truth: LevelTruth
    tallies: Mapping[MeasuredAs, LevelTally]
    theories: Mapping[MeasuredAs, LevelTheory]


@dataclass(frozen=True, slots=True, eq=False)
class SeenNumbers:
    """The numbers that a run publishes of groups with one shape.

    There is a row for each group, and a column for each line.
    """

    shape: Shape
    indices: NDArray[np.int64]  # of the groups, in the level's universe
    truths: NDArray[np.int64]
    counts: NDArray[np.int64]
    is_shown: NDArray[np.bool_]
    # Whether the interval that comes with the number, for 95 %, holds the truth.
    is_in_interval: NDArray[np.bool_]


Observer = Callable[[LevelPlan, SeenNumbers], None]
"""Is shown the numbers of one run, part by part."""
Observers = Callable[[int], AbstractContextManager[Observer]]
"""The observer of each run, by its number; the context ends when the run does."""


class _AssessedRuns:
    """Runs one configuration any number of times, each time with new noise."""

    def __init__(
        self,
        plan: RunPlan,
        universe: Universe,
        counts: KnownCounts,
        levels: Mapping[int, AssessedLevel],
        options: ReleaseOptions,
        sets: SetsOfPasses,
    ) -> None:
        self._plan = plan
        self._universe = universe
        self._counts = counts
        self._levels = levels
        self._options = options
        self._sets = sets
        self._kinds = NumberKinds(universe, options.confidence)
        margins = [NumberKinds(universe, confidence).margins for confidence in CONFIDENCES]
        self._margins = np.stack(margins, axis=1).astype(float)
        self._numbers = {
            number: NumbersOfLevel(universe, level.truth.release_level, self._kinds, options)
            for number, level in levels.items()
        }
        compares_groups = ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER in options.rules
        self._needs_whole_levels = bool(sets) or compares_groups

    def run(self, bits: AddressedBits, observer: Observer | None) -> None:
        """Run once with a new ledger, and add the errors to the tallies.

        The numbers are shown to the observer.
        """
        ledger = Ledger(self._plan.config.budgets, bits)
        for tabulation_pass in self._plan.config.passes:
            held: list[tuple[int, PublishedGroups]] = []
            for plan in self._plan.levels_of(tabulation_pass):
                level = self._levels[self._universe.number_of_level[plan.family, plan.level]]
                for groups in self._published(level, plan, ledger):
                    if self._needs_whole_levels:
                        held.append((level.number, groups))
                    else:
                        self._assess(level, groups, observer)
            if held:
                self._assess_whole_levels(tabulation_pass, held, observer)

    def _assess_whole_levels(
        self,
        tabulation_pass: Pass,
        held: list[tuple[int, PublishedGroups]],
        observer: Observer | None,
    ) -> None:
        """Tally the levels of a pass, given by number and published groups, with their copies."""
        copies = None
        if self._options.coterminous is not None:
            sets = self._sets[tabulation_pass]
            copies = Copies(self._universe, tabulation_pass, sets, self._options.coterminous, held)
        for number in dict.fromkeys(number for number, _ in held):
            groups = joined([groups for of_level, groups in held if of_level == number])
            groups = groups.chosen(np.argsort(groups.indices, kind="stable"))
            if copies is not None:
                groups = merged(groups, copies.to_level(number))
            self._assess(self._levels[number], groups, observer)

    def _published(
        self, level: AssessedLevel, plan: LevelPlan, ledger: Ledger
    ) -> Iterator[PublishedGroups]:
        """The published groups of a level, part by part; tallies the suppressed ones at the end."""
        published = [np.empty(0, dtype=np.int64)]
        for measurements in tabulate_level(plan, self._counts, ledger):
            if measurements.stage is Stage.STAGE_2:
                published.append(measurements.indices)
            if len(measurements.indices):
                yield _published_groups(measurements, level)
        if plan.design.suppression_threshold is not None:
            self._assess_suppressed(level, np.concatenate(published), ledger)

    def _assess_suppressed(
        self, level: AssessedLevel, published: NDArray[np.int64], ledger: Ledger
    ) -> None:
        """Tally the noise that suppression hid: asked again at its address, it is the same.

        Empty groups are left out. They are not drawn one by one, so their noise is known only where
        it is large, which would mislead.
        """
        truth = level.truth
        plan = truth.plan
        total = plan.family.total
        design, stage = plan.design, Stage.STAGE_2
        charged = (design.definition, design.sensitivity, design.stages[stage].budget)
        event = MeasurementEvent(design.product, design.family, design.level, stage, *charged)
        right = ledger.right_to_read_again(event)
        exact = truth.suppressed(published)
        noise = noisy_count(exact, total, right) - exact.confidential_counts
        kinds = truth.kind_of[plan.universe.index.iteration_of(exact.indices)]
        adaptive = np.array([level.number]), np.array([False])
        kind = self._kinds.first_of_groups(*adaptive, plan.family.number_of(total))
        margins = np.broadcast_to(self._margins[kind], (len(noise), len(CONFIDENCES)))
        groups = GroupsOfShape(total, kinds, truth.size_index_of(exact.indices))
        level.tallies[MeasuredAs.ADAPTIVE].add_draws(TOTAL, groups, noise.astype(float), margins)

    def _assess(
        self, level: AssessedLevel, groups: PublishedGroups, observer: Observer | None
    ) -> None:
        """Tally the errors of these groups; all of an entity if a rule compares groups of one."""
        truth, shapes = level.truth, level.truth.plan.family.shapes
        numbers = self._numbers[level.number].of(groups)
        released, own = truth.release_level.index, truth.plan.universe.index
        # groups that the level does not tabulate itself are left out
        position = truth.own_position[released.iteration_of(groups.indices)]
        indices = own.index_of(released.entity_of(groups.indices), position)
        lines = np.array([len(shape.lines) for shape in shapes])[groups.shapes]
        rows = np.cumsum(lines) - lines
        for measured in level.tallies:
            is_total_only = measured is MeasuredAs.TOTAL_ONLY
            is_own = (position >= 0) & (
                truth.plan.universe.is_total_only[position] == is_total_only
            )
            for number, shape in enumerate(shapes):
                chosen = np.flatnonzero(is_own & (groups.shapes == number))
                if not len(chosen):
                    continue
                own_indices = indices[chosen]
                kinds = truth.kind_of[position[chosen]]
                seen = GroupsOfShape(shape, kinds, truth.size_index_of(own_indices))
                of_shape = groups.chosen(chosen)
                part = _GroupsOfShape(seen, own_indices, of_shape, numbers, rows[chosen])
                self._assess_part(level, measured, part, observer)

    def _assess_part(
        self,
        level: AssessedLevel,
        measured: MeasuredAs,
        part: _GroupsOfShape,
        observer: Observer | None,
    ) -> None:
        """Tally every sort of number of groups with one shape."""
        shape, numbers = part.seen.shape, part.numbers
        tally = level.tallies[measured]
        truth = level.truth
        if shape is truth.plan.family.total:
            cells = truth.totals.of_groups(part.indices)
        else:
            cells = self._counts.cells(truth.plan, {shape: part.indices})[shape]
        exact = line_sums(cells.confidential_counts, shape.lines)
        all_rows = part.rows[:, None] + np.arange(len(shape.lines))
        errors = (numbers.counts[all_rows] - exact).astype(float)
        drawn = (numbers.unclamped[all_rows] - exact).astype(float)
        is_shown = ~numbers.is_withheld[all_rows]
        tally.add_published(part.seen, is_shown[:, 0], errors[:, 0])
        # numbers of their own that would be known whatever their noise: of empty groups that may
        # be suppressed, only those with large noise are known
        is_drawn = part.groups.donors == NO_DONOR
        if level.theories[measured].is_selected(shape):
            is_drawn = is_drawn & (truth.sizes[part.seen.size_indices] > 0)
        for sort in tally.sorts:
            lines = sort.lines(shape)
            if not len(lines):
                continue
            margins = self._margins[numbers.kinds[all_rows[:, lines[0]]]]
            of_sort = Errors(errors[:, lines], exact[:, lines], is_shown[:, lines], margins)
            tally.add_errors(sort, part.seen, of_sort)
            own = part.seen_of(is_drawn)
            tally.add_draws(sort, own, drawn[is_drawn][:, lines], margins[is_drawn])
        margins = self._margins[numbers.kinds[part.rows]]
        plain = Errors(drawn[:, :1], exact[:, :1], is_shown[:, :1], margins)
        is_holding = _assess_intervals(tally, part, plain)
        self._assess_combined(level, measured, part, plain)
        if observer is not None:
            is_within = np.abs(errors) <= self._margins[numbers.kinds[all_rows], USUAL]
            is_within[:, 0] = is_holding
            counts = numbers.counts[all_rows]
            observer(
                truth.plan, SeenNumbers(shape, part.indices, exact, counts, is_shown, is_within)
            )

    def _assess_combined(
        self, level: AssessedLevel, measured: MeasuredAs, part: _GroupsOfShape, plain: Errors
    ) -> None:
        """Tally combined totals of both stages; copies have those of another level: left out."""
        theory, shape = level.theories[measured], part.seen.shape
        if not theory.has_combined(shape):
            return
        share = float(theory.combined_share(shape))
        first = (part.groups.stage_1_totals[:, None] - plain.truths).astype(float)
        is_shown = plain.is_shown & (part.groups.donors == NO_DONOR)[:, None]
        margins = np.broadcast_to(np.array(theory.combined_margins(shape)), plain.margins.shape)
        errors = share * plain.errors + (1 - share) * first
        combined = Errors(errors, plain.truths, is_shown, margins)
        level.tallies[measured].add_errors(COMBINED, part.seen, combined)


@dataclass(frozen=True, slots=True, eq=False)
class _GroupsOfShape:
    """Groups of a level with one shape: their indices in its universe and rows in the release."""

    seen: GroupsOfShape
    indices: NDArray[np.int64]
    groups: PublishedGroups
    numbers: Numbers  # of the whole level
    rows: NDArray[np.int64]  # where each group's rows begin

    def seen_of(self, chosen: NDArray[np.bool_]) -> GroupsOfShape:
        """Some of the groups."""
        return GroupsOfShape(
            self.seen.shape, self.seen.kinds[chosen], self.seen.size_indices[chosen]
        )


def _assess_intervals(tally: LevelTally, part: _GroupsOfShape, plain: Errors) -> NDArray[np.bool_]:
    """Tally the release's intervals of totals, and return whether each holds.

    They are selection-aware ones, or else by margin of error.
    """
    low = part.numbers.low[part.rows]
    high = part.numbers.high[part.rows]
    truth = plain.truths[:, 0]
    is_shown = plain.is_shown[:, 0]
    is_selected = low != NO_INTERVAL
    margins = plain.margins[:, USUAL].astype(np.int64)
    around = interval_around(part.numbers.unclamped[part.rows], margins)
    low, high = (np.where(is_selected, *ends) for ends in zip((low, high), around, strict=True))
    is_holding = (low <= truth) & (truth <= high)
    tally.add_intervals(part.seen_of(is_shown), is_selected[is_shown], is_holding[is_shown])
    return np.asarray(is_holding)


def _published_groups(measurements: Measurements, level: AssessedLevel) -> PublishedGroups:
    """The groups as they would be read back from the measurement file."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """The result of the runs of one configuration."""

    plan: RunPlan
    options: ReleaseOptions
    runs: int
    levels: tuple[AssessedLevel, ...]

    @property
    def product(self) -> Product:
        """The product whose configuration was assessed."""
        return self.plan.config.product

    @property
    def census(self) -> Census:
        """The census whose levels were assessed."""
        return self.plan.config.census

    @property
    def has_suppression(self) -> bool:
        """Whether a noisy first stage chooses tables, and small totals may be suppressed."""
        return self.product.selector is Selector.NOISY_STAGE_1

    def by_family(self) -> Iterator[tuple[TableFamily, Assessment]]:
        """Each table family with an assessment of its levels alone."""
        for family in self.product.families:
            levels = tuple(level for level in self.levels if level.truth.plan.family is family)
            yield family, replace(self, levels=levels)

    @property
    def has_theory(self) -> bool:
        """Whether theory applies: it describes measured numbers, not copied or clamped ones."""
        is_plain = not self.options.rules and self.options.coterminous is None
        return is_plain and self.plan.config.allow_negative_counts


def bits_of_run(run: int, test_key: bytes | None) -> AddressedBits:
    """The random bits of a run, from its own key.

    With a test key, which only synthetic data may have, the keys of the runs follow from it.
    """
    if test_key is None:
        return AddressedBits.of_the_operating_system()
    return AddressedBits(hashlib.sha256(test_key + run.to_bytes(8, "big")).digest())


def assess(
    inputs: RunInputs,
    engine: GroupCounts,
    options: RunOptions,
    runs: int,
    progress: Progress,
    observers: Observers | None = None,
) -> Assessment:
    """Run the algorithm many times and compare its numbers with the truth.

    The result is made from the truth and is confidential: its numbers are never released. Counts
    that are known already are not counted again.
    Proof: docs/privacy.md#accuracy.
    """
    plan = inputs.plan
    universe = universe_of_run(plan, inputs.files.geography_of_pass, inputs.files.names)
    if isinstance(engine, KnownCounts):
        counts = engine
    else:
        progress.step("Counting exactly", len(plan.levels))
        counts = KnownCounts(engine, plan.levels, progress.advance)
    kinds = plan.config.census.group_kinds
    levels = {}
    for level_plan in plan.levels:
        number = universe.number_of_level[level_plan.family, level_plan.level]
        truth = level_truth(kinds, level_plan, universe.levels[number], counts.totals(level_plan))
        design = level_plan.design
        ways = [measured for measured, stage in _STAGES.items() if stage in design.stages]
        tallies = {
            measured: LevelTally(level_plan.family, len(kinds), truth.sizes) for measured in ways
        }
        theories = {measured: LevelTheory(design, measured) for measured in ways}
        levels[number] = AssessedLevel(number, truth, tallies, theories)
    release = options.release
    sets = (
        sets_of_passes(inputs.populated, release.coterminous, universe.census)
        if release.coterminous
        else {}
    )
    assessed = _AssessedRuns(plan, universe, counts, levels, release, sets)
    progress.step("Running the algorithm", runs)
    pool = Workers(min(options.threads, runs))

    def run_once(run: int) -> None:
        with observers(run) if observers else nullcontext() as observer:
            assessed.run(bits_of_run(run, options.test_key), observer)

    try:
        for _ in pool.results_of(partial(run_once, run) for run in range(runs)):
            progress.advance()
    finally:  # the first failure, or Ctrl-C, stops runs that have not begun
        pool.shutdown(cancel_futures=True)
    return Assessment(plan, release, runs, tuple(levels.values()))
