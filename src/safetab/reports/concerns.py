"""What in a release is worth a human's eye, most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np

from safetab.privacy.reference import FAR_ABOVE, level_far_above, total_far_above
from safetab.privacy.stages import Stage
from safetab.products.product import Selector
from safetab.release.numbers.level_numbers import RULES
from safetab.reports.level_summary import CELLS, TOTALS, LevelSummary, margin_of
from safetab.reports.markup import Markup, element, joined, name
from safetab.reports.pairs import PairAbove
from safetab.reports.release_summary import ReleaseSummary
from safetab.reports.wording import level_name, percent, rounded_up

_MANY_EMPTY = 0.1
"""A level's bound on empty groups is a concern if it is above this share of the level's published groups."""
_EXAMPLES = 3


class Urgency(Enum):
    """The value is what people read."""

    STOP = "Stop"
    LOOK = "Look"
    KNOW = "Know"


@dataclass(frozen=True, slots=True)
class Concern:
    """A sentence, what it means, and where it holds."""

    urgency: Urgency
    headline: str
    meaning: str
    where: tuple[str, ...] = ()


def concerns_of(release: ReleaseSummary) -> tuple[Concern, ...]:
    is_made_here = release.facts.origin is None
    found = [concern for look in _LOOKS if is_made_here or look not in _OF_CURATORS for concern in look(release)]
    return tuple(sorted(found, key=lambda concern: list(Urgency).index(concern.urgency)))


def _not_for_release(release: ReleaseSummary) -> Iterator[Concern]:
    status = release.facts.status
    if not status.is_for_release:
        yield Concern(Urgency.STOP, "This is not for release", status.sentence)


def _levels_without_protection(release: ReleaseSummary) -> Iterator[Concern]:
    where = [level_name(level.facts) for level in release.measured_levels if not level.design.is_protected]
    if where:
        yield Concern(
            Urgency.STOP,
            f"{_levels(release, len(where))} without protection",
            "The noise there is 0 more often than not, so the numbers are exact counts. Real people would be exposed.",
            tuple(where),
        )


def _far_above_2020(release: ReleaseSummary) -> Iterator[Concern]:
    definition = release.universe.definition
    product = release.universe.product
    total = total_far_above(product, definition, release.loss.unbounded)
    sentences = [(level, level_far_above(product, definition, level.design.budget)) for level in release.levels]
    where = tuple(f"{level_name(level.facts)}: {sentence}" for level, sentence in sentences if sentence is not None)
    if total is not None or where:
        yield Concern(
            Urgency.LOOK,
            f"The privacy loss is far above that of the {product.reference.name}",
            (f"{total} " if total is not None else "")
            + f"A total or a level gets this warning above {FAR_ABOVE} times its counterpart of 2020. Was this loss"
            " decided on?",
            where,
        )


_WHY_NOTHING = {
    Selector.NOISY_STAGE_1: "Is the level needed, or its budget too small?",
    Selector.PUBLISHED_TOTALS: "No published total selects a group there. Is the level needed?",
}


def _levels_without_groups(release: ReleaseSummary) -> Iterator[Concern]:
    where = [
        level_name(level.facts) for level in release.measured_levels if level.possible_groups and not level.shown_groups
    ]
    if where:
        yield Concern(
            Urgency.LOOK,
            f"{_levels(release, len(where))} paid for and without a published group",
            f"Budget was spent there, and nothing came out. {_WHY_NOTHING[release.universe.product.selector]}",
            tuple(where),
        )


def _levels_without_entities(release: ReleaseSummary) -> Iterator[Concern]:
    where = [level_name(level.facts) for level in release.levels if level.design.budget and not level.possible_groups]
    if where:
        yield Concern(
            Urgency.LOOK,
            f"{_levels(release, len(where))} with a budget and without anything to measure",
            "The budget is counted in the stated loss, but it was not spent: no area or no group of the public lists is"
            " at the level. With a budget of 0 there, the stated loss would be smaller and the numbers the same.",
            tuple(where),
        )


def _thresholds_within_noise(release: ReleaseSummary) -> Iterator[Concern]:
    where = []
    for level in release.measured_levels:
        threshold, margin = (
            level.design.suppression_threshold,
            margin_of(level.design, Stage.STAGE_2, 1, release.confidence),
        )
        if threshold is not None and margin is not None and threshold < margin:
            where.append(f"{level_name(level.facts)}: published above {threshold:,}, margin of error {margin:,}")
    if where:
        yield Concern(
            Urgency.LOOK,
            f"{_levels(release, len(where))} where the suppression threshold is within the noise",
            f"More than {float(50 * (1 - release.confidence)):.10g}% of empty groups are published there, on average.",
            tuple(where),
        )


def _no_suppression(release: ReleaseSummary) -> Iterator[Concern]:
    where = [
        level_name(level.facts)
        for level in release.measured_levels
        if level.facts.geography.is_substate and level.publishes_every_group
    ]
    if where:
        yield Concern(
            Urgency.LOOK,
            f"{_levels(release, len(where))} below state where nothing is suppressed",
            "Every group has a number there, and nearly all such groups are empty.",
            tuple(where),
        )


def _many_empty(release: ReleaseSummary) -> Iterator[Concern]:
    where = [
        f"{level_name(level.facts)}: {level.own_groups:,} published, bound {rounded_up(level.empty_groups_published)}"
        for level in release.measured_levels
        if not level.publishes_every_group and level.empty_groups_published > _MANY_EMPTY * level.own_groups > 0
    ]
    if where:
        yield Concern(
            Urgency.LOOK,
            f"{_levels(release, len(where))} where many published groups may be empty",
            f"The bound on published groups with nobody in them, which holds on average, is above {_MANY_EMPTY:.0%} of"
            " the published ones.",
            tuple(where),
        )


def _totals_that_may_be_zero(release: ReleaseSummary) -> Iterator[Concern]:
    found = _by_level(release, lambda level: level.totals_that_may_be_zero)
    everything = sum(level.shown_totals for level in release.levels)
    if found:
        count = sum(counted for _, counted in found)
        yield Concern(
            Urgency.LOOK,
            f"{count:,} published totals may be zero",
            f"That is {percent(count, everything)} of all published totals: their interval at {release.confidence_text}"
            " reaches down to zero. They say that a group is small, and not whether anybody is in it.",
            tuple(f"{level_name(level.facts)}: {counted:,} of {level.shown_totals:,}" for level, counted in found),
        )


def _negative(release: ReleaseSummary) -> Iterator[Concern]:
    negative = _by_level(release, lambda level: int(level.negative.sum()))
    if negative:
        yield Concern(
            Urgency.LOOK,
            f"{sum(counted for _, counted in negative):,} totals and cells of {release.detail} are below zero",
            "They are what was measured: zero or a small number, plus noise. Readers need to be told; sums need them.",
            tuple(
                f"{level_name(level.facts)}: totals {level.negative[TOTALS]:,}, cells {level.negative[CELLS]:,}"
                for level, _ in negative
            ),
        )


def _alone_above_partner(release: ReleaseSummary) -> Iterator[Concern]:
    above = _by_level(release, lambda level: level.pairs.above)
    if above:
        examples = [(level, pair) for level, _ in above for pair in level.pairs.widest]
        examples.sort(key=lambda one: -one[1].excess)
        yield Concern(
            Urgency.LOOK,
            f"{sum(counted for _, counted in above):,} totals of Alone groups are above those of their partners",
            "Everyone in a group alone is also in the same group alone or in any combination, so the second number"
            " should be at least as large. Each group has its own random noise, so it may not be. The largest"
            " differences are listed.",
            (
                *(
                    f"{level_name(level.facts)}: {counted:,} of {level.pairs.compared:,} pairs"
                    for level, counted in above
                ),
                *(_pair(release, level, pair) for level, pair in examples[:_EXAMPLES]),
            ),
        )


def _clamped(release: ReleaseSummary) -> Iterator[Concern]:
    if not release.universe.allow_negative_counts:
        yield Concern(
            Urgency.KNOW,
            "Numbers below zero were raised to zero",
            f"Totals of {release.detail} add up such numbers and are too large on average; they have no margin"
            " of error. The columns unclamped_count and unclamped_margin_of_error are the ones to add up.",
        )


def _rules(release: ReleaseSummary) -> Iterator[Concern]:
    for number, rule in enumerate(RULES):
        ruled = _by_level(release, partial(_acted_on, number))
        if ruled:
            yield Concern(
                Urgency.KNOW,
                f"The rule {rule.value} acted on {sum(counted for _, counted in ruled):,} numbers",
                f"By it, {rule.explanation}. This is against misreading and does nothing for privacy.",
                tuple(f"{level_name(level.facts)}: {counted:,}" for level, counted in ruled),
            )


def _acted_on(rule: int, level: LevelSummary) -> int:
    return int(level.ruled[rule])


def _copied_beyond(release: ReleaseSummary) -> Iterator[Concern]:
    beyond = _by_level(release, lambda level: level.copied_beyond)
    if beyond:
        yield Concern(
            Urgency.KNOW,
            f"{sum(counted for _, counted in beyond):,} copied groups that their level does not tabulate",
            "They were copied because that was asked for (--copy-all).",
            tuple(f"{level_name(level.facts)}: {counted:,}" for level, counted in beyond),
        )


_LOOKS: tuple[Callable[[ReleaseSummary], Iterable[Concern]], ...] = (
    _not_for_release,
    _levels_without_protection,
    _far_above_2020,
    _levels_without_groups,
    _levels_without_entities,
    _no_suppression,
    _thresholds_within_noise,
    _many_empty,
    _totals_that_may_be_zero,
    _negative,
    _alone_above_partner,
    _clamped,
    _rules,
    _copied_beyond,
)


_OF_CURATORS = (_far_above_2020, _levels_without_groups, _levels_without_entities)
"""Looks at what a curator can still change, which readers of published numbers can't."""


def _by_level(release: ReleaseSummary, count: Callable[[LevelSummary], int]) -> list[tuple[LevelSummary, int]]:
    """The levels where something is counted at all."""
    return [(level, count(level)) for level in release.levels if count(level)]


def _levels(release: ReleaseSummary, count: int) -> str:
    what = "table family of a level" if release.universe.product.has_several_families else "level"
    many = "table families of levels" if release.universe.product.has_several_families else "levels"
    return f"1 {what}" if count == 1 else f"{count} {many}"


def _pair(release: ReleaseSummary, level: LevelSummary, pair: PairAbove) -> Markup:
    entities = release.universe.entities[level.facts.geography]
    place = entities.names[int(np.searchsorted(entities.ids, pair.entity))]
    alone = level.facts.iterations[pair.alone].name
    return joined(
        [
            f"{level_name(level.facts)}: ",
            name(place),
            ", ",
            name(alone),
            f": {pair.alone_count:,} alone, {pair.partner_count:,} alone or in any combination",
        ]
    )


def concern_list(concerns: Iterable[Concern]) -> Markup:
    items = [
        element(
            "li",
            element("span", concern.urgency.value, class_=f"badge {concern.urgency.value.lower()}"),
            element(
                "div",
                element("h3", concern.headline),
                element("p", concern.meaning),
                element("ul", *(element("li", place) for place in concern.where)) if concern.where else "",
            ),
        )
        for concern in concerns
    ]
    return element("ul", *items, class_="concerns")
