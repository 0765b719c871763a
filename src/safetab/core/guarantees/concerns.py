"""Thresholds and chances that leave the choice to noise, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.calibration import Stage
from safetab.foundation.findings import FindingsOf, shortened
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import Selector, Shape

_HALF = Fraction(1, 2)


def warn_of_noisy_choices(
    config: RunConfig, levels: Iterable[LevelPlan], findings: FindingsOf
) -> None:
    """Add a warning for each concern about what is suppressed and which tables are chosen."""
    of_suppression = concern_of_suppression(config)
    if of_suppression is not None:
        findings.warning("", of_suppression)
    measured = [level for level in levels if len(level.universe.entities)]
    for sentence, alike in levels_by_sentence(measured, concerns_of_thresholds).items():
        findings.warning(shortened(alike, 3, "; "), sentence)


def levels_by_sentence(
    levels: Iterable[LevelPlan], sentences: Callable[[LevelDesign], Iterable[str]]
) -> Mapping[str, list[LevelPlan]]:
    """The levels that each sentence is true of."""
    found = dict[str, list[LevelPlan]]()
    for level in levels:
        for sentence in sentences(level.design):
            found.setdefault(sentence, []).append(level)
    return found


def concern_of_suppression(config: RunConfig) -> str | None:
    """A sentence if empty groups are rarely withheld where small totals should be."""
    if not config.product.has_stage_1:
        return None
    measured = [level.geography.kind for level in config.levels if config.budget_of(level) > 0]
    if not any(kind.suppresses for kind in config.census.kinds):
        is_of_parts = any(not kind.is_whole for kind in measured)
        return "Without `suppress` every empty group is published." if is_of_parts else None
    if config.zero_suppression_chance > _HALF or not any(kind.suppresses for kind in measured):
        return None
    if config.zero_suppression_chance == 0:
        return "A suppression chance of 0 publishes every empty group."
    return "A suppression chance of one half or less publishes many empty groups."


def concerns_of_choice(design: LevelDesign) -> Iterator[str]:
    """Sentences on thresholds that empty groups reach, or that are not above T."""
    lowest = design.thresholds.first
    if lowest is None or Stage.STAGE_1 not in design.stages:
        return
    stage_1 = design.margins().stage_1_total
    assert stage_1 is not None
    if lowest <= stage_1:
        yield (
            f"The lowest threshold, {lowest:,}, lies within the noise of stage 1"
            f" (±{stage_1:,} at 95 %): groups with nobody in them would get tables."
        )
    if design.suppression_threshold is not None and lowest <= design.suppression_threshold:
        suppressed_to = f"the suppression threshold T = {design.suppression_threshold:,}"
        yield f"The lowest threshold, {lowest:,}, is not above {suppressed_to}."


def concern_of_total(design: LevelDesign, shape: Shape) -> str | None:
    """A sentence if the total of a table is less precise than its threshold is large."""
    threshold = design.thresholds.least_total_of(shape, design.family)
    total = design.margin(shape.kind("total"))
    if total <= threshold:
        return None
    at, _ = at_threshold(design, threshold)
    table = table_in_words(design, shape)
    return f"{at} the total of {table} has a larger margin of error: ±{total:,} at 95 %."


def concerns_of_thresholds(design: LevelDesign) -> Iterator[str]:
    """Sentences on all thresholds of a level that lie within noise.

    There are none if the level's noise can't be drawn.
    """
    if Stage.STAGE_2 not in design.stages or not design.can_be_drawn:
        return
    yield from concerns_of_choice(design)
    for shape in design.family.finer if design.thresholds.totals else ():
        concern = concern_of_total(design, shape)
        if concern is not None:
            yield concern


def table_in_words(design: LevelDesign, shape: Shape) -> str:
    """The table of a shape, in a sentence."""
    return f"the table with {shape.divisions} {design.family.divided_into}"


def at_threshold(design: LevelDesign, threshold: int) -> tuple[str, str]:
    """The beginning of a sentence on a group at a threshold, and words before a number."""
    if (
        design.product.selector is Selector.PUBLISHED_TOTALS
    ):  # of people; records have one of the group each
        nouns = design.product.record.nouns
        return (
            f"At its threshold of {threshold:,} people a group has at most as many {nouns};",
            " at most",
        )
    return f"At its threshold of {threshold:,} {design.product.record.counted},", ""
