"""The page of a comparison, for a committee: one file without script, network or verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt

from safetab.assessment.pages.page_parts import share
from safetab.census.census import capitalized
from safetab.comparison.pages import words
from safetab.comparison.pages.committee_table import (
    Row,
    baseline_heading,
    committee_rows,
    committee_section,
    error_text,
    heading_of,
    ranked_cells,
    spec_code,
)
from safetab.comparison.pages.curves import pictures
from safetab.comparison.pages.words import letter_of, text
from safetab.comparison.results import Compared, Comparison, Exposure, WorkedExample
from safetab.foundation.findings import VERSION
from safetab.reports.page_parts import (
    Markup,
    contents_and_sections,
    document,
    element,
    five_lines,
    joined,
    link,
    name,
    paragraphs,
    plain_table,
)

_NOTHING = "none"
_FURTHER = ("presence", "averaging", "differencing")
"""The attacks without a column in the committee's tables."""
_ASKED = ("groups_published", "cells_shown")
_FOUND = {"proven": "proven", "named": "named_right"}


def compare_page(comparison: Comparison) -> str:
    """The whole page as HTML. The same comparison gives the same bytes."""
    nouns, rows = comparison.census.nouns, committee_rows(comparison)
    sections = (
        ("committee", "The protections side by side", _committee(comparison, rows)),
        (
            "pictures",
            "Three pictures",
            joined([paragraphs(_about_pictures(comparison, rows)), pictures(comparison, rows)]),
        ),
        ("one-area", "What one area sees", _one_area(comparison)),
        ("attacks", "How people are exposed", _attacks(comparison)),
        ("agencies", "What is said for each, what its agency publishes, and what was assumed", _agencies(comparison)),
        ("controls", "Checks of the attack itself", _controls(comparison)),
        ("does-not-say", "What this page does not say", _does_not_say(comparison)),
        ("about", "How it was run", _about(comparison)),
    )
    header = element(
        "header",
        element("p", text("banner", nouns=nouns), class_="forbidden"),
        element("p", text("kicker"), class_="kicker"),
        element("h1", text("title")),
        _lines(comparison, rows),
    )
    footer = element("footer", paragraphs(text("made", version=VERSION, nouns=nouns)))
    return document(text("kicker"), element("body", header, contents_and_sections(sections), footer, class_="compare"))


def _lines(comparison: Comparison, rows: Sequence[Row]) -> Markup:
    """The lines at the top: what was compared, and where a reader finds the answers.

    They give what users get and who is exposed from the least to the most, without saying by which.
    """
    nouns, protecting = comparison.census.nouns, [row for row in rows if row["protection"] != _NOTHING] or rows
    shares = {"least": "groups_1_to_9_published", "published": "groups_10_to_99_published"}
    users = {
        key: _span([row[column] for row in protecting], lambda value: share(value, 0)) for key, column in shares.items()
    }
    users["error"] = _span([row["error_10_to_99"] for row in protecting], error_text)
    users["without"] = text("without_none") if len(protecting) < len(rows) else ""
    return five_lines(
        _what(comparison, rows),
        text("released", nouns=nouns),
        joined([capitalized(text("users", nouns=nouns, **users)), link("committee", "each protection's numbers"), "."]),
        _exposed(comparison, protecting),
        _worked(comparison),
        joined([text("not_said"), link("does-not-say", "six things it does not say"), "."]),
        leads=words.LEADS,
    )


def _what(comparison: Comparison, rows: Sequence[Row]) -> str:
    census, specs = comparison.census, [one.protection.spec for one in comparison.protections]
    count = len([spec for spec in specs if spec != _NOTHING])
    protections = f"{count} {'protection' if count == 1 else 'protections'}"
    protections += ", and no protection," if count < len(specs) else ""
    not_all = text("not_all") if any((row[name] or 0) < 1 for row in rows for name in _ASKED) else ""
    not_all = text("not_all_safetab") if any(one.protection.is_safetab for one in comparison.protections) else not_all
    given = {"people": census.people, "nouns": census.nouns, "tables": census.tables, "not_all": not_all}
    return text("what", protections=protections, **given) + (text("stress_test") if census.is_stress_test else "")


def _exposed(comparison: Comparison, rows: Sequence[Row]) -> str:
    attacked = [row for row in rows if row.get("uniques") is not None]
    if not attacked:
        return text("nothing_attacked")
    found = {key: _span([row[column] for row in attacked], "{:,}".format) for key, column in _FOUND.items()}
    found["without"] = " where anything is protected" if len(rows) < len(comparison.protections) else ""
    census, uniques = comparison.census, attacked[0]["uniques"]
    exposed = text("exposed", nouns=census.nouns, area=census.attacked_area, uniques=uniques, **found)
    return joined([exposed, link("attacks", "how it was done"), "."])


def _worked(comparison: Comparison) -> str:
    """Whether the checks of the attack hold."""
    checks, broken = len(comparison.controls), sum(not one.holds for one in comparison.controls)
    if not checks:
        return text("no_controls")
    answer = text("did_not_work" if broken else "worked", checks=checks, broken=broken)
    return joined([answer, link("controls", "what was checked"), "."])


def _attacked(comparison: Comparison) -> list[Exposure]:
    return [one.exposure for one in comparison.protections if one.exposure is not None]


def _span(values: Sequence[float | None], spelled: Callable[[float], str]) -> str:
    """From the least to the most of some values, in words."""
    known = [value for value in values if value is not None]
    ends = dict.fromkeys([spelled(min(known)), spelled(max(known))]) if known else ["none"]
    return " to ".join(ends)


def _committee(comparison: Comparison, rows: Sequence[Row]) -> Markup:
    census, (users, exposed) = comparison.census, committee_section(comparison, rows)
    assumed = element("span", " * partly assumed.", class_="on-paper")
    of_users, of_exposed = _users_notes(comparison), text("exposed_notes")
    apart = {row["letter"]: row.get("groups_whose_chains_disagree") for row in rows}
    groups = ", ".join(f"{letter}: {count:,}" for letter, count in apart.items() if count)
    of_exposed += text("apart", groups=groups) if groups else ""
    of_exposed += text("by_true_size") if census.has_tables_by_true_size else ""
    notes = (element("p", of_users, assumed, class_="notes"), element("p", of_exposed, class_="notes"))
    return element("div", users, notes[0], exposed, notes[1], class_="committees")


def _users_notes(comparison: Comparison) -> str:
    census, compared = comparison.census, comparison.protections
    runs = max((max(one.utility["runs"].to_pylist(), default=1) for one in compared), default=1)
    notes = text("users_notes", nouns=census.nouns, draws=f"{runs:,} {'draw' if runs == 1 else 'draws'}")
    if any(one.protection.is_safetab for one in compared):
        has_whole = census.whole not in {"", "no area"}
        notes += text("safetab_notes") + (text("empty_groups", whole=census.whole) if has_whole else "")
    notes += text("swap_notes") if any("swap" in one.protection.spec for one in compared) else ""
    return notes + (text("secondary_notes") if any("secondary=" in one.protection.spec for one in compared) else "")


def _about_pictures(comparison: Comparison, rows: Sequence[Row]) -> str:
    """How to read the pictures, and which protections have no point in the third."""
    hidden = [row["letter"] for row in rows if row["error_10_to_99"] is None]
    apart = [row["letter"] for row in rows if row.get("groups_whose_chains_disagree")]
    shares = {row["letter"]: row["groups_10_to_99_published"] for row in rows if row["letter"] not in hidden}
    few = [f"{letter} shows {share(value, 0)}" for letter, value in shares.items() if value is not None and value < 1]
    without = text("no_groups_shown", letters=", ".join(hidden)) if hidden else ""
    without += text("chains_apart", letters=", ".join(apart)) if apart else ""
    return text(
        "pictures",
        nouns=comparison.census.nouns,
        lines=text("lines_of_sweep" if comparison.is_sweep else "points"),
        without_point=without if _attacked(comparison) else "",
        few_shown=text("few_shown", shares=", ".join(few)) if few else "",
    )


def _does_not_say(comparison: Comparison) -> Markup:
    sweep = ": see the lines of the third picture" if comparison.is_sweep else ""
    return _list(one.format(sweep=sweep) for one in words.DOES_NOT_SAY)


def _one_area(comparison: Comparison) -> Markup:
    """The groups of one area, as each protection prints them beside the truth."""
    if not comparison.shown:
        return Markup("")
    names = [
        joined([element("strong", f"{letter_of(number)} "), one.protection.name])
        for number, one in enumerate(comparison.protections)
    ]
    specs = [one.protection.spec for one in comparison.protections]
    rows = [
        (name(shown.group), [f"{shown.truth:,}", *(shown.printed[spec] for spec in specs)])
        for shown in comparison.shown
    ]
    given = {"count": len(rows), "groups": comparison.census.groups, "area": comparison.shown_area}
    table = plain_table(text("one_area_caption", **given), ("Group", "True count", *names), rows)
    return element("div", table, class_="one-area")


def _attacks(comparison: Comparison) -> Markup:
    """Each attack in plain words, with its example from this run, and the measures outside the first table."""
    census, attacked = comparison.census, _attacked(comparison)
    if not attacked:
        return paragraphs(text("nothing_attacked"))
    given = {
        "area": census.attacked_area,
        "areas": census.areas,
        "nouns": census.nouns,
        "uniques": f"{attacked[0].uniques:,}",
        "ranked": f"{ranked_cells(comparison):,}",
        "chance": _chance(comparison),
    }
    parts = []
    for attack, explained in words.ATTACKS.items():
        examples = [_example(one) for one in comparison.examples if one.attack == attack]
        body = [element("h3", attack.capitalize()), element("p", explained.format(**given)), *examples]
        parts.append(element("div", *body, class_="further" if attack in _FURTHER else ""))
    cards = element("div", *parts, class_="cards")
    return joined([paragraphs(text("attacker", **given)), cards, _further(comparison)])


def _chance(comparison: Comparison) -> str:
    """By how much chance alone moves the baseline's number: one standard deviation."""
    ranked, baseline = ranked_cells(comparison), comparison.baseline
    right = 0 if baseline is None else baseline.ranked.get(ranked, 0)
    return text("chance", moves=round(sqrt(right * (1 - right / ranked)))) if right else ""


def _example(example: WorkedExample) -> Markup:
    """One deduction from this run: what is published, the steps, and the truth."""
    rows = [(what, [number]) for what, number in example.published]
    return element(
        "div",
        element("p", "From this run, ", spec_code(example.protection)),
        plain_table(example.about, ("Number", "Published"), rows),
        element("ol", *(element("li", step) for step in example.steps)),
        element("p", f"Truth: {example.truth}"),
        class_="example",
    )


def _further(comparison: Comparison) -> Markup:
    """Presence, averaging and differencing, which the committee's tables leave out."""
    splits, nouns = max((list(one.averaging) for one in _attacked(comparison)), key=len), comparison.census.nouns
    rows = [
        (heading_of(letter_of(number), one), _further_cells(one, nouns))
        for number, one in enumerate(comparison.protections)
    ]
    if comparison.baseline is not None:
        not_applicable = [words.NOT_APPLICABLE] * 2
        rows.append((baseline_heading(), [_presence(comparison.baseline), *not_applicable]))
    given = {"splits": ", ".join(map(str, splits)), "nouns": nouns}
    heads = ("Protection", *(words.FURTHER[attack].format(**given) for attack in _FURTHER))
    return element("div", plain_table(words.FURTHER["caption"], heads, rows), class_="further")


def _further_cells(compared: Compared, nouns: str) -> list[str]:
    found, further = compared.exposure, words.FURTHER
    if found is None:
        return [words.NOT_ATTACKED] * 3
    averaging = ", ".join(share(value, 0) for value in found.averaging.values()) or words.NOT_MEASURED
    if compared.protection.is_safetab and found.averaging:
        averaging = further["one_budget"].format(share=share(found.averaging[min(found.averaging)], 0))
    slivers = words.NOT_MEASURED
    if found.differencing is not None:
        slivers = further["slivers"].format(people=found.differencing[1], nouns=nouns, slivers=found.differencing[0])
    return [_presence(found), averaging, slivers]


def _presence(found: Exposure) -> str:
    right = found.presence.right
    return words.FURTHER["found"].format(right=right, wrong=found.presence.claims - right)


def _agencies(comparison: Comparison) -> Markup:
    """A section for each protection, which begins with what is said for it; paper has no more than that."""
    cards = [_agency(letter_of(number), one) for number, one in enumerate(comparison.protections)]
    on_paper = element("p", text("agencies_on_paper"), class_="on-paper")
    return joined([on_paper, element("div", *cards, class_="cards")])


def _agency(letter: str, compared: Compared) -> Markup:
    protection, source = compared.protection, compared.protection.source
    parts = [
        element("h3", f"{letter} {protection.name}"),
        element("p", element("strong", "What is said for it: "), words.said_for(protection.spec)),
    ]
    if protection.spec == _NOTHING:
        parts.append(element("p", text("no_agency")))
    elif source is None:
        parts.append(element("p", text("no_preset"), spec_code(protection.spec)))
    else:
        agency = ", ".join(filter(None, (source.agency, source.years)))
        named = ". ".join(filter(None, (agency, source.document)))
        published = " ".join(source.published) or "Nothing about the parameters."
        parts += [
            element("p", element("strong", "Agency: "), f"{named}. ", spec_code(protection.spec)),
            element("p", element("strong", "Published: "), published),
            element("p", element("strong", "Assumed here: "), " ".join(source.assumed) or "Nothing."),
        ]
    return element("div", *parts, class_="agency")


def _controls(comparison: Comparison) -> Markup:
    """The controls, which tell whether an attack that finds nobody could have found somebody."""
    if not comparison.controls:
        return paragraphs(text("no_controls"))
    rows = [
        (capitalized(one.name), (one.sentence, "holds" if one.holds else "DOES NOT HOLD"))
        for one in comparison.controls
    ]
    table = plain_table("Checks of the attack", ("Check", "What was done, and what came out", "Result"), rows)
    return joined([paragraphs(text("controls")), element("div", table, class_="words controls")])


def _about(comparison: Comparison) -> Markup:
    facts = [element("li", element("strong", f"{key}: "), value) for key, value in comparison.facts.items()]
    late = joined([element("h3", "Not finished"), _list(comparison.not_finished)])
    end = late if comparison.not_finished else paragraphs(text("finished"))
    return joined([element("ul", *facts, class_="facts"), end])


def _list(texts: Iterable[str]) -> Markup:
    return element("ul", *(element("li", one) for one in texts))
