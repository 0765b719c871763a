"""Settings that make no sense or protect too little, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.census import PopulationGroupLevel
from safetab.foundation.argument_types import checks_arguments
from safetab.planning.level_design import LevelDesign
from safetab.privacy.calibration import Stage
from safetab.privacy.reference import level_far_above, total_far_above
from safetab.products.product import Selector, Shape, TableFamily
from safetab.tuning.tuning import Tuning

NO_PROTECTION = (
    "This setting protects nobody at this level: the noise is 0 with a chance above 1/2, so a number is more likely"
    " exact than not. `safetab run` refuses it for real people."
)


@dataclass(frozen=True, slots=True)
class ParameterConcern:
    """A concern about one level, or about the whole configuration."""

    level: PopulationGroupLevel | None
    text: str
    family: TableFamily | None = None  # of the level, where a product has several


@checks_arguments
def concerns(tuning: Tuning) -> tuple[ParameterConcern, ...]:
    """What makes no sense in a configuration, or protects too little; first what is about all levels.

    Args:
        tuning: The configuration.
    """
    found = [ParameterConcern(None, text) for text in _of_all(tuning)]
    for one in tuning.by_family():
        family = one.family if tuning.config.product.has_several_families else None
        for level, tuned in one.levels.items():
            found += [ParameterConcern(level, text, family) for text in _of_level(tuned.design)]
    return tuple(found)


def _of_all(tuning: Tuning) -> Iterator[str]:
    """Concerns about the whole configuration."""
    config = tuning.config
    far_above = total_far_above(config.product, config.privacy_definition, tuning.loss.unbounded)
    if far_above is not None:
        yield far_above
    used, most = config.most_answers, config.census.most_answers
    if used < most:
        yield (
            f"Only the first {used} of {most} {config.census.words.answers} are used, also to judge who is in"
            f" a group alone: {config.product.record.nouns} with more codes are missing from some of their groups."
        )
    if 0 < config.zero_suppression_chance <= Fraction(1, 2):
        yield "A suppression chance of one half or less publishes many empty groups."


def _of_level(design: LevelDesign) -> Iterator[str]:
    """Concerns about one level."""
    far_above = level_far_above(design.product, design.definition, design.budget)
    if far_above is not None:
        yield far_above
    for stage in design.stages.values():
        complaint = stage.noise.out_of_sampler_range
        if complaint is not None:
            yield f"This noise can't be drawn: {complaint}. A run would refuse it."
            return
    if not design.is_protected:
        yield NO_PROTECTION
    if Stage.STAGE_2 not in design.stages:
        return
    if Stage.STAGE_1 in design.stages:
        yield from _of_stage_1(design)
    for shape in design.family.finer if design.thresholds.totals else ():
        yield from _of_shape(design, shape)


def _of_stage_1(design: LevelDesign) -> Iterator[str]:
    """Concerns about the choice of tables by stage 1."""
    lowest = design.thresholds.first
    if lowest is None:
        return
    stage_1 = design.margins().stage_1_total
    assert stage_1 is not None
    if lowest <= stage_1:
        yield (
            f"The lowest threshold, {lowest:,}, lies within the noise of stage 1 (±{stage_1:,} at 95 %):"
            " groups with nobody in them would get tables."
        )
    if design.suppression_threshold is not None and lowest <= design.suppression_threshold:
        suppressed_to = f"the suppression threshold T = {design.suppression_threshold:,}"
        yield f"The lowest threshold, {lowest:,}, is not above {suppressed_to}."


def _of_shape(design: LevelDesign, shape: Shape) -> Iterator[str]:
    """Concerns about one table of a level."""
    table = f"the table with {shape.divisions} {design.family.divided_into}"
    threshold = design.thresholds.least_total_of(shape, design.family)
    total, cell = (design.margin(shape.kind(name)) for name in ("total", "cell"))
    at, at_most = f"At its threshold of {threshold:,} {design.product.record.counted},", ""
    if design.product.selector is Selector.PUBLISHED_TOTALS:  # of people; records have one of the group each
        nouns = design.product.record.nouns
        at, at_most = f"At its threshold of {threshold:,} people a group has at most as many {nouns};", " at most"
    if total > threshold:
        yield f"{at} the total of {table} has a larger margin of error: ±{total:,} at 95 %."
    elif cell * shape.cells > threshold:
        yield (
            f"{at} a cell of {table} holds{at_most}"
            f" {threshold // shape.cells:,} on average, less than its margin of error: ±{cell:,} at 95 %."
        )
