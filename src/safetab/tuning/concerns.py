"""Settings that make no sense or protect too little, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.distributions.sampler_range import out_of_sampler_range
from safetab.privacy.reference import level_far_above, total_far_above
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.tables import SEX_BY_AGE_TABLES, Table
from safetab.tuning.level_facts import MOST_RACE_CODES
from safetab.tuning.tuned_level import Number, TunedLevel
from safetab.tuning.tuning import Tuning

NO_PROTECTION = (
    "This setting protects nobody at this level: the noise is 0 with a chance above 1/2, so a number is more likely"
    " exact than not. `safetab run` refuses it for real people."
)


@dataclass(frozen=True, slots=True)
class Concern:
    """About a level, or about all of them."""

    level: PopulationGroupLevel | None
    text: str


def concerns(tuning: Tuning) -> tuple[Concern, ...]:
    found = [Concern(None, text) for text in _of_all(tuning)]
    for level, tuned in tuning.levels.items():
        found += [Concern(level, text) for text in _of_level(tuned)]
    return tuple(found)


def _of_all(tuning: Tuning) -> Iterator[str]:
    config = tuning.config
    far_above = total_far_above(config.privacy_definition, tuning.loss.unbounded)
    if far_above is not None:
        yield far_above
    if config.max_race_codes < MOST_RACE_CODES:
        yield (
            f"Only the first {config.max_race_codes} of {MOST_RACE_CODES} race codes are used, also to judge who is in"
            " a group alone: people with more codes are missing from some of their groups."
        )
    if 0 < config.zero_suppression_chance <= Fraction(1, 2):
        yield "A suppression chance of one half or less hides hardly any empty group."


def _of_level(tuned: TunedLevel) -> Iterator[str]:
    far_above = level_far_above(tuned.config.privacy_definition, tuned.budget)
    if far_above is not None:
        yield far_above
    for plan in tuned.stages.values():
        complaint = out_of_sampler_range(plan.noise)
        if complaint is not None:
            yield f"This noise can't be drawn: {complaint}. A run would refuse it."
            return
    if any(plan.noise.is_mostly_zero for plan in tuned.stages.values()):
        yield NO_PROTECTION
    if Stage.STAGE_2 not in tuned.stages:
        return
    lowest = tuned.thresholds.sex_by_age_4
    stage_1 = tuned.margins().stage_1_total
    assert stage_1 is not None
    if lowest <= stage_1:
        yield (
            f"The lowest threshold, {lowest:,}, lies within the noise of stage 1 (±{stage_1:,} at 95 %):"
            " groups with nobody in them would get tables."
        )
    if tuned.suppression_threshold is not None and lowest <= tuned.suppression_threshold:
        yield (
            f"The lowest threshold, {lowest:,}, is not above the suppression threshold T = "
            f"{tuned.suppression_threshold:,}."
        )
    for table in SEX_BY_AGE_TABLES:
        yield from _of_table(tuned, table)


def _of_table(tuned: TunedLevel, table: Table) -> Iterator[str]:
    ages = table.cells_of_a_sex
    threshold = tuned.thresholds.least_total_of(table)
    total, cell = tuned.margin(table, Number.TOTAL), tuned.margin(table, Number.CELL)
    if total > threshold:
        yield (
            f"At its threshold of {threshold:,} persons, the total of the table with {ages} ages has a larger margin"
            f" of error: ±{total:,} at 95 %."
        )
    elif cell * table.cells > threshold:
        yield (
            f"At its threshold of {threshold:,} persons, a cell of the table with {ages} ages holds"
            f" {threshold // table.cells:,} on average, less than its margin of error: ±{cell:,} at 95 %."
        )
