"""The plan of a run: groups, noise, cost, and output if all groups were empty.

Reads no record.

Where published totals choose tables, they also select the groups that are measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from flint import arb
from numpy.typing import NDArray

from safetab.core.algorithm.level_design import CONFIDENCE, LevelDesign, margin_of
from safetab.core.noise.noise_distribution import DEFAULT_BITS, working_precision
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.foundation.arrays import find_sorted
from safetab.foundation.findings import Finding, FindingsOf, shortened
from safetab.foundation.result_tables import Result
from safetab.model.census import population_groups
from safetab.model.census.area_levels import AreaLevel, Pass
from safetab.model.census.areas import Areas
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.groups import PublicLists
from safetab.model.census.population_groups import GroupUniverse, TotalsOfLevel
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import Selector, TableFamily, Thresholds


@dataclass(frozen=True, slots=True, eq=False)
class SelectedGroups:
    """The groups that have a published total, sorted by index, with those totals. A public fact."""

    indices: NDArray[np.int64]
    totals: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """One table family of one level, with the groups for which it is measured."""

    design: LevelDesign
    universe: GroupUniverse
    selected: SelectedGroups | None = (
        None  # those with a published total, if such totals choose tables
    )

    @property
    def level(self) -> PopulationGroupLevel:
        return self.design.level

    @property
    def family(self) -> TableFamily:
        return self.design.family

    @property
    def measured_groups(self) -> int:
        """The number of measured groups: the whole universe, or those with a published total."""
        return self.universe.size if self.selected is None else len(self.selected.indices)

    def known_shapes(self) -> tuple[NDArray[np.int64], NDArray[np.int8]] | None:
        """The indices and shapes of the measured groups, unless a noisy stage 1 chooses shapes."""
        if self.selected is not None:
            return self.selected.indices, chosen_shapes(
                self.selected.totals, self.design.thresholds
            )
        if self.design.product.selector is not Selector.NONE or not self.design.stages:
            return None
        shape = self.family.number_of(self.family.finest)
        return np.arange(self.universe.size), np.full(self.universe.size, shape, dtype=np.int8)

    def __str__(self) -> str:
        return (
            f"{self.level}"
            f"{f', {self.family.name}' if self.design.product.has_several_families else ''}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class RunPlan(Result):
    """The levels that a run tabulates, in order, and those left out because their budget is 0."""

    config: RunConfig
    lists: PublicLists
    levels: tuple[LevelPlan, ...]
    levels_left_out: tuple[PopulationGroupLevel, ...]
    public_files: Mapping[str, Path] = field(default_factory=dict)  # that it was made from, by name

    def levels_of(self, tabulation_pass: Pass) -> tuple[LevelPlan, ...]:
        """The plans of the levels that one pass tabulates."""
        return tuple(
            plan for plan in self.levels if plan.level.geography.tabulation_pass == tabulation_pass
        )

    @property
    def unprotected_levels(self) -> tuple[PopulationGroupLevel, ...]:
        """The levels whose numbers are more likely exact than not.

        This is a public fact of the budgets alone.
        """
        return tuple(
            dict.fromkeys(plan.level for plan in self.levels if not plan.design.is_protected)
        )

    def loss_of(self, tabulation_pass: Pass) -> PrivacyLoss:
        """The cost of a pass to a person in it: the sum of the budgets of its levels."""
        return loss_of_config_pass(self.config, tabulation_pass)

    def loss_of_a_person(self, tabulation_pass: Pass) -> Fraction:
        """The cost of a pass to a person whose presence is at stake.

        A record that stands for several people, such as a household, is only changed by one
        person's presence, so the bounded loss applies.
        Proof: docs/privacy.md#two-products.
        """
        loss = self.loss_of(tabulation_pass)
        return loss.bounded if self.config.product.record.holds_people else loss.unbounded

    @property
    def loss(self) -> PrivacyLoss:
        """The cost of the whole run to a person."""
        return loss_of_config(self.config)

    @property
    def _title(self) -> str:
        groups = sum({plan.level: plan.universe.size for plan in self.levels}.values())
        loss = f"{self.config.privacy_definition.budget_symbol} {float(self.loss.unbounded):.6g}"
        return (
            f"Plan of a run of {self.config.product.name}: {groups:,} groups, {loss} (unbounded)."
        )

    def to_arrow(self) -> pa.Table:
        """A row for each level and family of tables.

        It has the groups, the budget, and the margin of error of a cell at 95 %.
        """
        return pa.Table.from_pylist([_row_of(plan) for plan in self.levels])

    def losses(self) -> pa.Table:
        """A row for each pass, then one for the whole run.

        It has the cost to a person, unbounded and bounded.
        """
        unit, whole = self.config.privacy_definition.budget_symbol, {"whole run": self.loss}
        of_each = {each.name: self.loss_of(each) for each in self.config.passes} | whole
        return pa.Table.from_pylist([
            {"pass": name, "unit": unit,
             "unbounded": float(loss.unbounded), "bounded": float(loss.bounded)}
            for name, loss in of_each.items()
        ])  # fmt: skip


def _row_of(plan: LevelPlan) -> dict[str, object]:
    design = plan.design
    drawn = Stage.STAGE_2 in design.stages and design.can_be_drawn
    return {
        "geography_level": plan.level.geography.label,
        "iteration_level": plan.level.iterations.name,
        "family": plan.family.name,
        "groups": plan.universe.size,
        "stability": design.stability,
        "unit": design.definition.budget_symbol,
        "budget": float(design.budget),
        "margin_of_error": margin_of(design.noise(Stage.STAGE_2), 1, CONFIDENCE) if drawn else None,
        "suppression_threshold": design.suppression_threshold,
    }


def loss_of_config_pass(config: RunConfig, tabulation_pass: Pass) -> PrivacyLoss:
    """The cost of a pass to a person in it: the sum of the budgets of its levels."""
    return loss_of_a_pass(
        config.budget_of(level) for level in config.census.levels_of([tabulation_pass])
    )


def loss_of_config(config: RunConfig) -> PrivacyLoss:
    """The cost of a whole run to a person."""
    return loss_of_disjoint_passes(loss_of_config_pass(config, each) for each in config.passes)


@dataclass(frozen=True, slots=True)
class _EmptyGroupOutput:
    """The published output, on average, if every group of the level is empty.

    Nearly all groups of a census are empty, so `published_groups` is close to what a real run
    publishes, and never above it. A group with people in it is published at least as often, so a
    real run has at least these rows.
    """

    published_groups: float
    rows: Mapping[str, float]  # by the folder of a table file


def output_if_all_groups_are_empty(plan: LevelPlan) -> _EmptyGroupOutput:
    """The expected output of one level if all of its groups were empty."""
    design, universe = plan.design, plan.universe
    if (
        design.product.selector is not Selector.NOISY_STAGE_1
    ):  # which groups get which tables is public
        groups_of_shape = _groups_of_shapes(plan)
        rows = {}
        for file in design.product.files:
            rows_of_shape = [
                len(shape.file_rows.get(file.folder, ())) for shape in plan.family.shapes
            ]
            rows[file.folder] = float(groups_of_shape @ rows_of_shape)
        return _EmptyGroupOutput(float(groups_of_shape.sum()), rows)
    groups = design.empty_groups_published(universe.adaptive_groups, universe.total_only_groups)
    rows = {file.folder: _rows(plan, file.folder, groups) for file in design.product.files}
    return _EmptyGroupOutput(groups, rows)


def _groups_of_shapes(plan: LevelPlan) -> NDArray[np.int64]:
    """The number of measured groups that get each shape, where no noise decides."""
    if plan.selected is None:
        return np.array(
            [0] * len(plan.family.finer) + [plan.universe.size if plan.design.stages else 0]
        )
    shapes = chosen_shapes(plan.selected.totals, plan.design.thresholds)
    return np.bincount(shapes, minlength=len(plan.family.shapes))


def _rows(plan: LevelPlan, folder: str, published_groups: float) -> float:
    """The expected rows in one table file. A lone total has one row, in the file of totals."""
    family = plan.family
    if folder in family.total.file_rows:
        return published_groups
    if Stage.STAGE_2 not in plan.design.stages:
        return 0.0
    chances = plan.design.shape_chances()
    with working_precision(DEFAULT_BITS):
        of_a_group = sum(
            (chances[shape] * len(shape.file_rows.get(folder, ())) for shape in family.finer),
            arb(0),
        )
        return float((plan.universe.adaptive_groups * of_a_group).mid())


def chosen_shapes(totals: NDArray[np.int64], thresholds: Thresholds) -> NDArray[np.int8]:
    """Each group's position in its family's ladder: reaching a threshold moves it up."""
    return np.searchsorted(np.array(thresholds.totals), totals, side="right").astype(np.int8)


def selected_groups(
    universe: GroupUniverse, totals: population_groups.PublishedTotals
) -> SelectedGroups:
    """The groups of the universe that have a published total. No other group is measured."""
    of_level = totals.of_level.get(universe.level.geography)
    if of_level is None or not len(universe.entities):
        none = np.empty(0, dtype=np.int64)
        return SelectedGroups(none, none)
    position_of = {
        iteration.code: position for position, iteration in enumerate(universe.iterations)
    }
    positions = np.array([position_of.get(code, -1) for code in totals.codes], dtype=np.int64)
    entity, is_known = find_sorted(universe.entities, of_level.entity)
    iteration = positions[of_level.code]
    rows = np.flatnonzero(is_known & (iteration >= 0))
    indices = universe.index.index_of(entity[rows], iteration[rows])
    order = np.argsort(indices, kind="stable")
    return SelectedGroups(indices[order], of_level.count[rows][order])


def check_totals(
    name: str,
    totals: population_groups.PublishedTotals,
    config: RunConfig,
    lists: PublicLists,
    whole: Areas,
    of_pass: Mapping[Pass, Areas],
) -> tuple[Finding, ...]:
    """Errors for totals of unknown regions or iterations; warnings that count ignored ones.

    `name` is of their file.
    """
    findings = FindingsOf(name)
    known = {iteration.code: iteration for iteration in lists.iterations}
    ignored: Counter[str] = Counter()
    for geography, of_level in totals.of_level.items():
        kind = geography.kind
        is_known = np.isin(of_level.entity, whole.entities(kind))
        unknown_codes = {
            totals.codes[position] for position in np.unique(of_level.code)
        } - known.keys()
        _refuse_unknown(geography, of_level.entity[~is_known], unknown_codes, config, findings)
        _refuse_repeated(geography, of_level, totals.codes, findings)
        if geography.tabulation_pass not in of_pass:
            ignored["of a pass that doesn't run"] += len(of_level.entity)
            continue
        is_inside = np.isin(of_level.entity, of_pass[geography.tabulation_pass].entities(kind))
        ignored[f"of regions outside {config.spelling.parts}"] += int(
            np.count_nonzero(is_known & ~is_inside)
        )
        present, times = np.unique(of_level.code[is_inside], return_counts=True)
        for position, rows in zip(present.tolist(), times.tolist(), strict=True):
            iteration = known.get(totals.codes[position])
            if iteration is not None and not iteration.level.is_tabulated:
                ignored[f"of {iteration.level.name.lower()} groups, which are never tabulated"] += (
                    rows
                )
            elif iteration is not None and not iteration.is_tabulated(kind):
                ignored[
                    "of iterations that are not tabulated at their level (coterminous copies)"
                ] += rows
    for why, rows in ignored.items():
        if rows:
            findings.warning(
                "", f"{rows:,} {'total is' if rows == 1 else 'totals are'} {why}: ignored."
            )
    return findings.findings


def _refuse_unknown(
    geography: AreaLevel,
    regions: NDArray[np.int64],
    codes: set[str],
    config: RunConfig,
    findings: FindingsOf,
) -> None:
    """Report totals of regions and iterations that the public files do not have."""
    if len(regions):
        ids = shortened(geography.kind.ids.text(entity) for entity in np.unique(regions).tolist())
        advice = f"Give the {config.census.words.areas_file} of the totals."
        findings.error("REGION_ID", f"{geography.label} {ids}: not in the geography. {advice}")
    if codes:
        column, what = (
            ("group", "groups") if config.specification else ("ITERATION_CODE", "iterations")
        )
        findings.error(
            column, f"{shortened(sorted(codes))} at {geography.label}: not in the lists of {what}."
        )


def _refuse_repeated(
    geography: AreaLevel, of_level: TotalsOfLevel, codes: Sequence[str], findings: FindingsOf
) -> None:
    """Report groups with two totals: they would be measured twice and count their records twice."""
    groups = np.sort(of_level.entity * len(codes) + of_level.code)
    again = groups[1:][np.diff(groups) == 0]
    if len(again):
        regions = (divmod(group, len(codes)) for group in again.tolist())
        names = [f"{geography.kind.ids.text(entity)} {codes[code]}" for entity, code in regions]
        findings.error(
            "", f"a group has more than one total: {geography.label} {shortened(names)}. Keep one."
        )
