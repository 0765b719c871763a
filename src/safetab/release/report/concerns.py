"""Points of a release that somebody should check, most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from safetab.core.algorithm.level_design import margin_of
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.reference import (
    FAR_ABOVE,
    beyond_protection,
    level_far_above,
    total_far_above,
)
from safetab.foundation.templates import template_texts
from safetab.release.files.numbers.level_numbers import RULES
from safetab.release.files.numbers.number_files import PUBLISHED
from safetab.release.report.page_parts import (
    Markup,
    element,
    joined,
    level_name,
    name,
    percent,
    rounded_up,
)
from safetab.release.report.release_summary import (
    CELLS,
    TOTALS,
    LevelSummary,
    PairAbove,
    ReleaseSummary,
)

_MANY_EMPTY = 0.1
"""A level's bound on empty groups is a concern above this share of the level's published groups."""
_EXAMPLES = 3
_TEXTS = template_texts("report/texts.toml")


class _Urgency(Enum):
    """The urgency of a point, most urgent first. The value is the word on the page."""

    STOP = "Stop"
    LOOK = "Check"
    KNOW = "Note"


@dataclass(frozen=True, slots=True)
class Concern:
    """A headline, what it means, and the places where it holds."""

    urgency: _Urgency
    headline: str
    meaning: str
    where: tuple[str, ...] = ()


_Concerns = Sequence[Concern]


def concerns_of(release: ReleaseSummary) -> tuple[Concern, ...]:
    """All points to check, most urgent first. Empty if nothing stands out."""
    checks = (
        _CHECKS
        if release.facts.origin is None
        else [one for one in _CHECKS if one not in _FOR_CURATORS]
    )
    found = [concern for check in checks for concern in check(release)]
    return tuple(sorted(found, key=lambda concern: list(_Urgency).index(concern.urgency)))


def _not_for_release(release: ReleaseSummary) -> _Concerns:
    status = release.facts.status
    return (
        []
        if status.is_for_release
        else [Concern(_Urgency.STOP, "This is not for release", status.sentence)]
    )


def _levels_without_protection(release: ReleaseSummary) -> _Concerns:
    where = [
        level_name(level.facts)
        for level in release.measured_levels
        if not level.design.is_protected
    ]
    meaning = "The noise there is 0 more than half the time, so most numbers are exact counts."
    meaning += " Real people would be exposed."
    return _about_levels(release, "without protection", meaning, where, _Urgency.STOP)


def _far_above_2020(release: ReleaseSummary) -> _Concerns:
    """A total or levels whose loss is many times that of the 2020 release."""
    definition, product = release.universe.definition, release.universe.product
    if product.reference is None:
        return []
    total = total_far_above(product, definition, release.loss.unbounded)
    sentences = [
        (level, level_far_above(product, definition, level.design.budget))
        for level in release.levels
    ]
    where = [
        f"{level_name(level.facts)}: {sentence}"
        for level, sentence in sentences
        if sentence is not None
    ]
    meaning = (
        f"This warning appears when a total or a level is more than {FAR_ABOVE} times"
        " its counterpart of 2020."
    )
    meaning += " Was this loss intended?"
    headline = f"The privacy loss is far above that of the {product.reference.name}"
    if total is not None:
        meaning = f"{total} {meaning}"
    return (
        [Concern(_Urgency.LOOK, headline, meaning, tuple(where))]
        if total is not None or where
        else []
    )


def _beyond_protection(release: ReleaseSummary) -> _Concerns:
    """A total whose loss leaves almost no doubt about anybody's presence.

    It is named where no reference says so.
    """
    definition, product = release.universe.definition, release.universe.product
    total = release.loss.unbounded
    sentence = beyond_protection(product, definition, total)
    if sentence is None or total_far_above(product, definition, total) is not None:
        return []
    return [
        Concern(
            _Urgency.LOOK,
            "The privacy loss is beyond any protection",
            f"{sentence} Was this loss intended?",
        )
    ]


def _levels_without_groups(release: ReleaseSummary) -> _Concerns:
    """Levels that spent budget without publishing any group."""
    empty = [
        level
        for level in release.measured_levels
        if level.possible_groups and not level.shown_groups
    ]
    why = _TEXTS["why_nothing"][release.universe.product.selector.value]
    meaning = f"Budget was spent there, but no group was published. {why}"
    where = [level_name(level.facts) for level in empty]
    return _about_levels(release, "with a budget but no published group", meaning, where)


def _levels_without_entities(release: ReleaseSummary) -> _Concerns:
    """Levels whose budget counts although nothing was measured with it."""
    where = [
        level_name(level.facts)
        for level in release.levels
        if level.design.budget and not level.possible_groups
    ]
    return _about_levels(
        release, "with a budget but nothing to measure", _TEXTS["nothing_to_measure"], where
    )


def _thresholds_within_noise(release: ReleaseSummary) -> _Concerns:
    """Levels that publish many empty groups because T is below the margin of error."""
    where = []
    for level in release.measured_levels:
        threshold = level.design.suppression_threshold
        if threshold is not None:
            margin = margin_of(level.design.noise(Stage.STAGE_2), 1, release.confidence)
            if threshold < margin:
                where.append(
                    f"{level_name(level.facts)}: published above {threshold:,},"
                    f" margin of error {margin:,}"
                )
    percentage = f"{float(50 * (1 - release.confidence)):.10g}%"
    meaning = f"More than {percentage} of empty groups are published there, on average."
    return _about_levels(
        release, "where the suppression threshold is within the noise", meaning, where
    )


def _no_suppression(release: ReleaseSummary) -> _Concerns:
    below = [level for level in release.measured_levels if level.facts.geography.kind.suppresses]
    where = [level_name(level.facts) for level in below if level.publishes_every_group]
    meaning = "Every group gets a number there, and nearly all of these groups are empty."
    words = release.universe.census.words
    return _about_levels(
        release, f"{words.below_short or words.below} where nothing is suppressed", meaning, where
    )


def _many_empty(release: ReleaseSummary) -> _Concerns:
    """Levels whose published groups may be empty in large part."""
    where = []
    for level in release.measured_levels:
        bound, published = level.empty_groups_published, level.with_status(PUBLISHED)
        if not level.publishes_every_group and bound > _MANY_EMPTY * published > 0:
            where.append(
                f"{level_name(level.facts)}: {published:,} published, bound {rounded_up(bound)}"
            )
    bounded = "The bound on the average number of published groups with nobody in them"
    meaning = f"{bounded} is above {_MANY_EMPTY:.0%} of the published groups."
    return _about_levels(release, "where many published groups may be empty", meaning, where)


def _totals_that_may_be_zero(release: ReleaseSummary) -> _Concerns:
    found = _counted(release, lambda level: level.totals_that_may_be_zero)
    count = _sum(found)
    share = percent(count, sum(level.shown_totals for level in release.levels))
    meaning = _TEXTS["may_be_zero"].format(share=share, confidence=release.confidence_text)
    where = tuple(
        f"{level_name(level.facts)}: {counted:,} of {level.shown_totals:,}"
        for level, counted in found
    )
    return (
        [Concern(_Urgency.LOOK, f"{count:,} published totals may be zero", meaning, where)]
        if found
        else []
    )


def _negative(release: ReleaseSummary) -> _Concerns:
    """Levels with numbers below zero, which readers may not expect."""
    found = _counted(release, lambda level: int(level.negative.sum()))
    where = []
    for level, _ in found:
        totals, cells = level.negative[TOTALS], level.negative[CELLS]
        where.append(f"{level_name(level.facts)}: totals {totals:,}, cells {cells:,}")
    headline = f"{_sum(found):,} totals and cells of {release.detail} are below zero"
    meaning = "This is what was measured: zero or a small number, plus noise."
    meaning += " Explain it to readers, and keep these numbers in sums."
    return [Concern(_Urgency.LOOK, headline, meaning, tuple(where))] if found else []


def _alone_above_partner(release: ReleaseSummary) -> _Concerns:
    """Pairs of groups whose order noise has reversed, with the widest examples."""
    found = _counted(release, lambda level: level.pairs.above)
    by_level = [
        f"{level_name(level.facts)}: {above:,} of {level.pairs.compared:,} pairs"
        for level, above in found
    ]
    examples = [(level, pair) for level, _ in found for pair in level.pairs.widest]
    examples.sort(key=lambda example: -example[1].excess)
    if not found:
        return []
    only, any_ = _only_and_any(release)
    headline = f"Pairs in which {only} is above {any_}: {_sum(found):,}"
    if release.universe.specification is None:
        only, any_ = f"a group {only}", f"the same group {any_}"
        headline = f"Pairs in which {only} came out larger than {any_}: {_sum(found):,}"
    meaning = _TEXTS["only_above_any"].format(only=only, any=any_)
    widest = [_pair_in_words(release, level, pair) for level, pair in examples[:_EXAMPLES]]
    return [Concern(_Urgency.LOOK, headline, meaning, (*by_level, *widest))]


def _only_and_any(release: ReleaseSummary) -> tuple[str, str]:
    """The names of groups of records with only some codes, and of those with any.

    They are given as the ends of names, or as examples.
    """
    specification = release.universe.specification
    if specification is None:
        only, any_ = release.universe.census.only_and_any[0]
        return only.ends[0], any_.ends[0]
    words = specification.groups
    only_x, any_x = (text.replace("{name}", "X") for text in (words.only_words, words.any_words))
    return f"“{only_x}”", f"“{any_x}”"


def _pair_in_words(release: ReleaseSummary, level: LevelSummary, pair: PairAbove) -> Markup:
    """A pair with its area and group, whose names come from the data."""
    entities = release.universe.entities[level.facts.geography]
    group, partner = (
        name(level.facts.iterations[number].name) for number in (pair.alone, pair.partner)
    )
    where = [f"{level_name(level.facts)}: ", name(entities.names[pair.entity]), ", ", group]
    if release.universe.specification is not None:
        return joined([*where, f" {pair.alone_count:,}, ", partner, f" {pair.partner_count:,}"])
    only, any_ = _only_and_any(release)
    return joined([*where, f": {pair.alone_count:,} {only}, {pair.partner_count:,} {any_}"])


def _clamped(release: ReleaseSummary) -> _Concerns:
    """A note if the release shows no negative numbers."""
    if release.universe.allow_negative_counts:
        return []
    meaning = _TEXTS["clamped"].format(detail=release.detail)
    return [Concern(_Urgency.KNOW, "Numbers below zero were raised to zero", meaning)]


def _rules(release: ReleaseSummary) -> _Concerns:
    """One note for each release rule that changed or withheld numbers."""
    concerns = []
    for number, rule in enumerate(RULES):
        found = [
            (level, int(level.ruled[number])) for level in release.levels if level.ruled[number]
        ]
        if found:
            headline = f"The rule {rule.value} acted on {_sum(found):,} numbers"
            does = rule.explained(release.universe.census.words)
            meaning = f"With it, {does}. It prevents misreading and does nothing for privacy."
            concerns.append(Concern(_Urgency.KNOW, headline, meaning, _levels_with_counts(found)))
    return concerns


def _copied_beyond(release: ReleaseSummary) -> _Concerns:
    found = _counted(release, lambda level: level.copied_beyond)
    headline = f"{_sum(found):,} copied groups that their level does not tabulate"
    meaning = "They were copied because --copy-all asked for it."
    return [Concern(_Urgency.KNOW, headline, meaning, _levels_with_counts(found))] if found else []


_CHECKS: tuple[Callable[[ReleaseSummary], _Concerns], ...] = (
    _not_for_release, _levels_without_protection, _far_above_2020, _beyond_protection,
    _levels_without_groups, _levels_without_entities, _no_suppression, _thresholds_within_noise,
    _many_empty, _totals_that_may_be_zero, _negative, _alone_above_partner, _clamped, _rules,
    _copied_beyond,
)  # fmt: skip
_FOR_CURATORS = (
    _far_above_2020,
    _beyond_protection,
    _levels_without_groups,
    _levels_without_entities,
)
"""Checks of things that a curator can still change, but a reader of published numbers can't."""


def _about_levels(
    release: ReleaseSummary,
    ending: str,
    meaning: str,
    where: Sequence[str],
    urgency: _Urgency = _Urgency.LOOK,
) -> _Concerns:
    """A concern whose headline counts the levels in `where`, or none without any."""
    several_families = release.universe.product.has_several_families
    one, several = (
        ("table family of a level", "table families of levels")
        if several_families
        else ("level", "levels")
    )
    headline = f"{len(where)} {one if len(where) == 1 else several} {ending}"
    return [Concern(urgency, headline, meaning, tuple(where))] if where else []


def _counted(
    release: ReleaseSummary, count: Callable[[LevelSummary], int]
) -> list[tuple[LevelSummary, int]]:
    """The levels whose count is not 0, each with its count."""
    counts = [(level, count(level)) for level in release.levels]
    return [(level, number) for level, number in counts if number]


def _sum(counts: Iterable[tuple[LevelSummary, int]]) -> int:
    return sum(number for _, number in counts)


def _levels_with_counts(counts: Iterable[tuple[LevelSummary, int]]) -> tuple[str, ...]:
    return tuple(f"{level_name(level.facts)}: {number:,}" for level, number in counts)


def concern_list(concerns: Iterable[Concern]) -> Markup:
    """The concerns as a list, each with a badge for its urgency."""
    items = []
    for concern in concerns:
        badge = element(
            "span", concern.urgency.value, class_=f"badge {concern.urgency.name.lower()}"
        )
        places = [element("li", place) for place in concern.where]
        where = element("ul", *places) if places else ""
        text = element("div", element("h3", concern.headline), element("p", concern.meaning), where)
        items.append(element("li", badge, text))
    return element("ul", *items, class_="concerns")
