"""The page: sections in the order in which people ask, in one file that needs no other."""

from __future__ import annotations

from collections.abc import Callable

from safetab.census.geography_levels import EntityKind
from safetab.planning.losses import epsilons_by_delta
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.products.product import Selector
from safetab.reports.concerns import concern_list, concerns_of
from safetab.reports.cost_section import SHOWN_DELTA, SYMBOLS, cost_section, power
from safetab.reports.document import contents_and_sections, document
from safetab.reports.groups_section import availability_section, groups_section
from safetab.reports.markup import Markup, element, joined, name
from safetab.reports.origin_words import ABOUT, KICKER, RULES, origin_notes
from safetab.reports.page_tables import paragraphs
from safetab.reports.precision_section import empty_section, precision_appendix, precision_section
from safetab.reports.release_summary import ReleaseSummary
from safetab.reports.wording import PASS_NAMES, percent

_TITLE = "Detailed race and ethnicity groups"


def page_of(release: ReleaseSummary) -> str:
    """The same release gives the same bytes."""
    selects = release.universe.product.selector is Selector.NOISY_STAGE_1
    sections = (
        ("eye", "Worth a human's eye", _concerns(release)),
        ("groups", "What was released", _by_family(release, groups_section)),
        ("availability", "What is available", _by_family(release, availability_section)),
        ("precision", "How precise it is", _by_family(release, precision_section)),
        *([("empty", "Published groups that may be empty", empty_section(release))] if selects else []),
        ("cost", "What it cost in privacy", cost_section(release)),
        ("about", "About this release", _about(release)),
        ("appendix", "Appendix: precision in numbers", _by_family(release, precision_appendix)),
    )
    body = element(
        "body",
        _header(release),
        contents_and_sections(sections),
        element("footer", paragraphs(f"Made by safetab {release.facts.version} from the release alone.")),
    )
    facts = release.facts
    what = "release of" if facts.status.is_for_release else f"{facts.status.value}, not a release, made on"
    return document(f"{_TITLE}: {what} {facts.date.isoformat()}", body)


def _by_family(release: ReleaseSummary, section: Callable[[ReleaseSummary], Markup]) -> Markup:
    """Once for each table family, below its name if there are several."""
    parts = release.by_family()
    if len(parts) == 1:
        return section(release)
    return joined([joined([element("h3", one.family.name.capitalize()), section(one)]) for one in parts])


def _header(release: ReleaseSummary) -> Markup:
    day, status = release.facts.date, release.facts.status
    kicker, what = (
        (KICKER, ABOUT.format(nouns=release.record.nouns))
        if release.facts.origin is not None
        else (
            "Release report",
            f"Counts of {release.record.nouns} with noise that protects every {release.record.noun}, and what they"
            " tell. Released ",
        )
        if status.is_for_release
        else ("Report", f"Counts of {release.record.nouns} that do not exist, and what they would tell. Made on ")
    )
    return element(
        "header",
        element("p", status.line, class_="status" if status.is_for_release else "forbidden"),
        element("p", kicker, class_="kicker"),
        element("h1", _TITLE),
        element("p", what, element("time", f"{day.day} {day:%B} {day.year}", datetime=day.isoformat()), "."),
        paragraphs(*origin_notes(release.facts.origin)),
        _key_figures(release),
    )


def _key_figures(release: ReleaseSummary) -> Markup:
    shown, possible = (
        sum(level.shown_groups for level in release.levels),
        sum(level.possible_groups for level in release.levels),
    )
    what = "totals of groups" if release.universe.product.has_several_families else "groups with a total"
    symbol, loss = SYMBOLS[release.universe.definition], release.loss.unbounded
    figures = [
        (f"{shown:,}", f"{what}, {percent(shown, possible)} of {possible:,} possible ones"),
        (f"{sum(level.rows for level in release.levels):,}", "numbers, each with its margin of error"),
        (f"{symbol} = {loss_text(loss)}", f"privacy loss of a {release.record.noun} at most{_as_epsilon(release)}"),
        (f"{len(concerns_of(release))}", "points worth a human's eye"),
    ]
    return element(
        "dl",
        *(element("div", element("dt", words), element("dd", number)) for number, words in figures),
        class_="figures",
    )


def _as_epsilon(release: ReleaseSummary) -> str:
    if release.universe.definition is PrivacyDefinition.PURE_DP:
        return ""
    epsilon = epsilons_by_delta(release.loss.unbounded)[SHOWN_DELTA]
    return f" (ε = {loss_text(epsilon)} at δ = {power(SHOWN_DELTA)})"


def _concerns(release: ReleaseSummary) -> Markup:
    concerns = concerns_of(release)
    return concern_list(concerns) if concerns else paragraphs("Nothing stands out.")


def _about(release: ReleaseSummary) -> Markup:
    options = release.facts.options
    rules = [element("li", element("code", rule.value), f": {rule.explanation}") for rule in options.rules]
    coterminous = (
        "Areas with the same blocks have the same numbers."
        if options.coterminous
        else "Each area has numbers of its own, also where two areas have the same blocks."
    )
    return joined(
        [
            *(_people(release, which) for which in range(len(release.universe.passes))),
            element("p", element("strong", "Coterminous areas. "), coterminous),
            element("p", element("strong", "Rules. "), _rules_in_words(release)),
            element("ul", *rules) if rules else "",
            paragraphs(
                f"Groups alone or in any combination overlap: a {release.record.noun} can be in several. README.txt,"
                " beside the numbers, says how to read a number; universe/ and datapackage.json say what every"
                " column is."
            ),
        ]
    )


def _rules_in_words(release: ReleaseSummary) -> str:
    if release.facts.origin is not None:
        return RULES
    return "Applied to the numbers:" if release.facts.options.rules else "None was applied."


def _people(release: ReleaseSummary, which: int) -> Markup:
    """The areas of one pass, by name."""
    tabulation_pass = release.universe.passes[which]
    level = next(
        level
        for level in release.universe.entities
        if level.tabulation_pass is tabulation_pass and level.entity_kind is EntityKind.STATE
    )
    names = sorted(release.universe.entities[level].names)
    return element(
        "p",
        element("strong", f"{PASS_NAMES[tabulation_pass]}. "),
        "State level: ",
        joined([name(one) for one in names], ", "),
        ".",
    )
