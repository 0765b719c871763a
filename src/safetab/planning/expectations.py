"""What a plan lets one expect: margins of error, and how much is published about groups with nobody in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from flint import arb, ctx

from safetab.distributions.noise_distribution import DEFAULT_BITS
from safetab.planning.run_plan import LevelPlan, StagePlan
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage
from safetab.products.product import Thresholds
from safetab.products.safetab_p.tables import SEX_BY_AGE_TABLES, Table

CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class TableMargins:
    """Margins of error of the published numbers of a table; a table that is a total has no cells."""

    total: int
    cell: int | None = None
    sex_marginal: int | None = None


@dataclass(frozen=True, slots=True)
class LevelMargins:
    """Margins of error, each exact for its number's own noise."""

    stage_1_total: int | None
    total_only: int | None
    tables: Mapping[Table, TableMargins]


@dataclass(frozen=True, slots=True)
class EmptyGroupOutput:
    """What is published, on average, if nobody is in any group of the level.

    Nearly all groups of a census are empty, so this is close for `published_groups`, and never below it; a group with
    people in it is published at least as often, so the rows of a real run are at least these.
    """

    published_groups: float
    t1_rows: float
    t2_rows: float


def margins_of(plan: LevelPlan, confidence: Fraction = CONFIDENCE) -> LevelMargins:
    return margins_of_stages(plan.stages, confidence)


def margins_of_stages(stages: Mapping[Stage, StagePlan], confidence: Fraction) -> LevelMargins:
    noise_of = {stage: stage_plan.noise for stage, stage_plan in stages.items()}
    tables = {}
    if Stage.STAGE_2 in noise_of:
        cell = noise_of[Stage.STAGE_2]
        tables[Table.TOTAL] = TableMargins(total=_margin(cell, 1, confidence))
        for table in SEX_BY_AGE_TABLES:
            tables[table] = TableMargins(
                total=_margin(cell, table.cells, confidence),
                cell=_margin(cell, 1, confidence),
                sex_marginal=_margin(cell, table.cells_of_a_sex, confidence),
            )
    return LevelMargins(
        stage_1_total=_margin(noise_of[Stage.STAGE_1], 1, confidence) if Stage.STAGE_1 in noise_of else None,
        total_only=_margin(noise_of[Stage.TOTAL_ONLY], 1, confidence) if Stage.TOTAL_ONLY in noise_of else None,
        tables=MappingProxyType(tables),
    )


def output_if_all_groups_are_empty(plan: LevelPlan) -> EmptyGroupOutput:
    adaptive, total_only = plan.universe.adaptive_groups, plan.universe.total_only_groups
    if Stage.STAGE_2 not in plan.stages:
        measured = total_only if Stage.TOTAL_ONLY in plan.stages else 0
        return EmptyGroupOutput(measured, measured, 0.0)
    noise_of = {stage: stage_plan.noise for stage, stage_plan in plan.stages.items()}
    published = publication_chance(noise_of, plan.thresholds, plan.suppression_threshold)
    chances = table_chances(noise_of[Stage.STAGE_1], plan.thresholds)
    with ctx.workprec(DEFAULT_BITS):
        t2_rows = sum((chances[table] * table.t2_rows for table in SEX_BY_AGE_TABLES), arb(0))
        groups = float((adaptive * published).mid()) + total_only
        return EmptyGroupOutput(groups, groups, float((adaptive * t2_rows).mid()))


def publication_chance(
    noise_of: Mapping[Stage, Noise], thresholds: Thresholds, suppression_threshold: int | None, true_size: int = 0
) -> arb:
    """How likely a group of so many people, measured in two stages, is published."""
    if suppression_threshold is None:
        return arb(1)
    chances = table_chances(noise_of[Stage.STAGE_1], thresholds, true_size)
    with ctx.workprec(DEFAULT_BITS):
        with_table = sum((chances[table] for table in SEX_BY_AGE_TABLES), arb(0))
        return with_table + chances[Table.TOTAL] * noise_of[Stage.STAGE_2].tail(suppression_threshold + 1 - true_size)


def table_chances(stage_1_noise: Noise, thresholds: Thresholds, true_size: int = 0) -> Mapping[Table, arb]:
    """How likely a group of so many people gets each table."""
    first, second, third = (thresholds.least_total_of(table) - true_size for table in SEX_BY_AGE_TABLES)
    chances = (
        stage_1_noise.cdf(first - 1),
        stage_1_noise.chance_between(first, second),
        stage_1_noise.chance_between(second, third),
        stage_1_noise.tail(third),
    )
    return dict(zip(Table, chances, strict=True))


@lru_cache(maxsize=1024)
def _margin(noise: Noise, draws: int, confidence: Fraction) -> int:
    return noise.sum_of(draws).margin_of_error(confidence)
