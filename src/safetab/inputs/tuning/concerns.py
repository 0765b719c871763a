"""Settings that make no sense or protect too little, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.guarantees.concerns import (
    at_threshold,
    concern_of_suppression,
    concern_of_total,
    concerns_of_choice,
    table_in_words,
)
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.reference import level_far_above, total_too_large
from safetab.foundation.argument_types import checks_arguments
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.products.product import Shape, TableFamily

NO_PROTECTION = (
    "This setting protects nobody at this level: the noise is 0 with a chance above 1/2,"
    " so a number is more likely exact than not. `safetab run` refuses it for real people."
)


@dataclass(frozen=True, slots=True)
class ParameterConcern:
    """A concern about one level, or about the whole configuration."""

    level: PopulationGroupLevel | None
    text: str
    family: TableFamily | None = None  # of the level, where a product has several


@checks_arguments
def concerns(tuning: Tuning) -> tuple[ParameterConcern, ...]:
    """Concerns about a configuration: what makes no sense in it, or protects too little.

    Those about all levels come first.

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
    yield from total_too_large(config.product, config.privacy_definition, tuning.loss.unbounded)
    used, most = config.most_answers, config.census.most_answers
    if used < most:
        yield (
            f"Only the first {used} of {most} {config.census.words.answers} are used,"
            f" also to judge who is in a group alone: {config.product.record.nouns} with more codes"
            " are missing from some of their groups."
        )
    of_suppression = concern_of_suppression(config)
    if of_suppression is not None:
        yield of_suppression


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
    yield from concerns_of_choice(design)
    for shape in design.family.finer if design.thresholds.totals else ():
        of_table = concern_of_total(design, shape) or _of_cells(design, shape)
        if of_table is not None:
            yield of_table


def _of_cells(design: LevelDesign, shape: Shape) -> str | None:
    """A sentence if the cells of a table are mostly noise at its threshold."""
    threshold = design.thresholds.least_total_of(shape, design.family)
    cell = design.margin(shape.kind("cell"))
    if cell * shape.cells <= threshold:
        return None
    at, at_most = at_threshold(design, threshold)
    return (
        f"{at} a cell of {table_in_words(design, shape)} holds{at_most}"
        f" {threshold // shape.cells:,} on average, less than its margin of error:"
        f" ±{cell:,} at 95 %."
    )
