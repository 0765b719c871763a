"""The page of a comparison, for a committee: one file without script, network or verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from math import sqrt

from safetab.apps.compare.measures.utility import error_by_size, share_by_size, unlike_levels
from safetab.apps.compare.pages import committee_table, words
from safetab.apps.compare.pages.committee_table import (
    FEW_GROUPS,
    Row,
    at_most,
    headings,
    is_of_few,
    spec_code,
    spelled,
)
from safetab.apps.compare.pages.words import WORDS, html, letter_of, text
from safetab.apps.compare.results import Claims, Compared, Comparison, Exposure, WorkedExample
from safetab.foundation.findings import VERSION
from safetab.model.census.census import capitalized
from safetab.release.report import page_parts
from safetab.release.report.charts import MARKS, Axis, Plot, Series, figure, log_axis, share_axis
from safetab.release.report.page_parts import (
    Markup,
    element,
    five_lines,
    joined,
    name,
    paragraphs,
    plain_table,
)
from safetab.release.report.shares import share
from safetab.runs.observed.tally import SIZE_STARTS

_WITH_EXAMPLE = {"proven", "named", "averaging", "differencing"}
_FURTHER = ("presence", "averaging", "differencing")
"""The attacks without a column in the committee's tables."""
_SPANS = (
    "groups_1_to_9_published",
    "groups_10_to_99_published",
    "error_10_to_99",
    "proven",
    "named_right",
    "ranked_right",
)
_BY_ATTACK, _MEMBERSHIP = {"named_right", "ranked_right"}, "membership_measured"
_COLOURS = (3, 1, 2, 4)
_DASHES = ("", "5 2", "1.5 2", "7 2 1.5 2", "3 3", "9 3")
_LEAST_ERROR, _NOBODY = 0.1, 0.25
"""The beginning of the logarithmic axis of errors, and the place of 0 on that of people.

The second axis is of people exposed.
"""


def compare_page(comparison: Comparison) -> str:
    """The whole page as HTML. The same comparison gives the same bytes."""
    rows = committee_table.committee_rows(comparison)
    given = _given(comparison, rows)
    exposed = "nothing_attacked" if comparison.baseline is None else "exposed"
    worked = "worked" if given["broken"] == "0" else "did_not_work"
    answers = (
        "what",
        "released",
        "users",
        exposed,
        worked if comparison.controls else "no_controls",
        "not_said",
    )
    lines = five_lines(*(html(key, **given) for key in answers), leads=WORDS["leads"])
    contents = (
        html(
            "committees",
            users=committee_table.users_table(comparison, rows),
            users_notes=_note_list(text("users_notes", **given) + text("on_paper")),
            exposed=committee_table.exposed_table(comparison, rows),
            exposed_notes=_note_list(text("exposed_notes", **given)),
        ),
        joined([_note_list(text("pictures", **given)), pictures(comparison, rows)]),
        _one_area(comparison),
        _attacks(comparison, given)
        if comparison.baseline
        else paragraphs(text("nothing_attacked")),
        html("agencies", cards=joined(map(_agency, range(len(rows)), comparison.protections))),
        _controls(comparison),
        _list(one.format(**given) for one in WORDS["does_not_say"]),
        _about(comparison),
    )
    sections = [
        (key, title, own)
        for (key, title), own in zip(WORDS["sections"].items(), contents, strict=True)
    ]
    header = html("header", lines=lines, banner=text("banner", **given), kicker=text("kicker"))
    footer = element("footer", paragraphs(text("made", version=VERSION, **given)))
    body = element(
        "body", header, page_parts.contents_and_sections(sections), footer, class_="compare"
    )
    return page_parts.document(text("kicker"), body)


def _given(comparison: Comparison, rows: Sequence[Row]) -> dict[str, str]:
    """The words and numbers of the page's sentences, and the notes that hold.

    They give what users get and who is exposed from the least to the most, without saying by which.
    """
    census, baseline = comparison.census, comparison.baseline
    protecting = [
        row
        for row, one in zip(rows, comparison.protections, strict=True)
        if not one.protection.is_exact
    ]
    spanned, count = protecting or rows, len(protecting)
    is_less = len(spanned) < len(rows)
    likeliest = Claims(0, 0) if baseline is None else baseline.likeliest
    cells, before = likeliest.claims, likeliest.right
    runs = max(max(one.utility["runs"].to_pylist()) for one in comparison.protections)
    lists = _lists(comparison, rows)
    given = {
        **{key: str(value) for key, value in asdict(census).items()},
        "people": f"{census.people:,}",
        "protections": f"{count} {'protection' if count == 1 else 'protections'}",
        "and_none": ", and no protection," if count < len(rows) else "",
        "of_groups": f"{'With protection, of' if is_less else 'Of'} the groups",
        "where_protected": ", with protection" if is_less else "",
        **{column: _span(spanned, column) for column in _SPANS},
        "uniques": f"{rows[0]['uniques'] or 0:,}",
        "ranked": f"{cells:,}",
        "few_groups": str(FEW_GROUPS),
        "before": f"{before:,}",
        "moves": str(round(sqrt(before * (1 - before / max(cells, 1))))),
        "checks": str(len(comparison.controls)),
        "broken": str(sum(not one.holds for one in comparison.controls)),
        "draws": f"{runs:,} {'draw' if runs == 1 else 'draws'}",
        "limits_stated": text(
            "limit_stated" if lists["guaranteed"] else "no_limit_stated", **lists
        ),
        **lists,
    }
    return given | _notes(comparison, rows, given)


def _lists(comparison: Comparison, rows: Sequence[Row]) -> dict[str, str]:
    """The protections that some sentences are about, by letters, with numbers of theirs.

    A list is empty if there are none.
    """
    late = {row["letter"]: groups for row in rows if (groups := row["groups_not_finished"])}
    hidden = {
        row["letter"]: row["error_10_to_99"] for row in rows if is_of_few(row, "error_10_to_99")
    }
    # after swapping, membership is that of numbers which it leaves alone
    certain = [
        row
        for row, one in zip(rows, comparison.protections, strict=True)
        if not one.protection.is_drawn_again
    ]
    means = [
        f"{row[_MEMBERSHIP]:.2f} of {row['letter']}"
        for row in certain
        if 0 < (row[_MEMBERSHIP] or 0) < 1
    ]
    numbers = [one.protection.numbers for one in comparison.protections]
    safetab = [
        (at, one.utility)
        for at, one in enumerate(comparison.protections)
        if one.protection.is_safetab
    ]
    by_level = {letter_of(at): unlike_levels(table) for at, table in safetab}
    return {
        "late": ", ".join(late),
        "late_ranked": _named_and_ranked(row for row in rows if row["letter"] in late),
        "repeating": ", ".join(
            letter_of(at)
            for at, one in enumerate(comparison.protections)
            if one.protection.repeats_errors
        ),
        "groups_late": ", ".join(f"{letter}: {groups:,}" for letter, groups in late.items()),
        "hidden": ", ".join(hidden),
        "few": ", ".join(
            f"{letter}: {spelled('error', error)}"
            for letter, error in hidden.items()
            if error is not None
        ),
        "certain": ", ".join(means) if comparison.census.attacked == 1 else "",
        "not_applicable": ", ".join(
            row["letter"] for row in rows if row["proven"] is None and row["uniques"] is not None
        ),
        "limited": ", ".join(row["letter"] for row in rows if row["shares_are_upper_limits"]),
        "least_width": ", ".join(
            letter_of(at) for at, own in enumerate(numbers) if own and own.has_least_width
        ),
        "by_level": ", ".join(
            f"{least} to {most} ({letter})" for letter, (least, most, _) in by_level.items()
        ),
        "too_large": ", ".join(
            f"{bias:.1f} ({letter})" for letter, (*_, bias) in by_level.items() if bias is not None
        ),
        "checked": "".join(
            letter_of(at) for at, one in enumerate(comparison.protections) if one.is_checked
        ),
        "guaranteed": ", ".join(
            row["letter"] for row in rows if row["membership_limit_of_guarantee"] is not None
        ),
        "shown_1_to_9": _shares_shown(rows, "groups_1_to_9_published"),
        "shown_10_to_99": _shares_shown(rows, "groups_10_to_99_published"),
    }


def _notes(comparison: Comparison, rows: Sequence[Row], given: Mapping[str, str]) -> dict[str, str]:
    """The notes in the page's sentences, by their keys; empty if they don't hold."""
    census = comparison.census
    swapped = [one.protection for one in comparison.protections if one.protection.records]
    others = [
        row
        for row, one in zip(rows, comparison.protections, strict=True)
        if not one.protection.is_safetab
    ]
    has_safetab = len(others) < len(rows)
    is_short = any(
        (row[column] or 0) < 1 for row in others for column in ("groups_published", "cells_shown")
    )
    reasons = [WORDS["some_withhold"]] * is_short + [WORDS["safetab_chose"]] * has_safetab
    holds = {
        "not_all": reasons,
        "stress_test": census.is_stress_test,
        "empty_groups": has_safetab and census.whole not in {"", "no area"},
        "swap_notes": swapped,
        "safetab_elsewhere": census.larger_left and has_safetab,
        "threshold_notes": any(
            not own.is_of_areas for protection in swapped for own in protection.selections
        ),
        "after_swapping": swapped,
        "same_errors": any(one.protection.repeats_errors for one in comparison.protections),
        "chance": comparison.baseline and comparison.baseline.likeliest.right,
        "of_each_area": census.attacked > 1,
        "by_true_size": not census.is_stress_test,
        "third_picture": comparison.baseline,
        "shares_published": given["shown_1_to_9"] or given["shown_10_to_99"] or given["limited"],
        "lines_of_sweep": comparison.is_sweep and comparison.baseline,
        "points": comparison.baseline and not comparison.is_sweep,
        "sweep": comparison.is_sweep and comparison.baseline,
        "no_groups_shown": given["hidden"] and comparison.baseline,
        "too_high_or_low": given["repeating"] and comparison.baseline,
        **{note: given[what] for note, what in WORDS["notes_of"].items()},
    }
    reason = ", and ".join(reasons)
    return {
        note: text(note, reasons=reason, **given) if is_so else "" for note, is_so in holds.items()
    }


def _named_and_ranked(rows: Iterable[Row]) -> str:
    """The numbers of people whom the attack named and ranked, for each protection."""
    return ", ".join(
        f"{row['letter']} with {row['named_right']:,} and {row['ranked_right']:,}" for row in rows
    )


def _shares_shown(rows: Sequence[Row], column: str) -> str:
    """The share of some groups that each protection shows, if it does not show all."""
    return ", ".join(
        f"{row['letter']} shows {at_most(row, column)}" for row in rows if (row[column] or 0) < 1
    )


def _span(rows: Sequence[Row], column: str) -> str:
    """The span of a column in words, from the least to the most.

    Means of few groups and unfinished attacks are left out.
    """
    kept = [row for row in rows if column not in _BY_ATTACK or not row["groups_not_finished"]]
    known = [
        row[column] for row in kept if row.get(column) is not None and not is_of_few(row, column)
    ]
    if not known:
        is_error = column.startswith("error")
        return "none" if kept and not is_error else text("not_known") + " of" * is_error
    return " to ".join(dict.fromkeys([spelled(column, min(known)), spelled(column, max(known))]))


def pictures(comparison: Comparison, rows: Sequence[Row]) -> Markup:
    """Error and share published against true size, and the trade-off, below one legend.

    A family of protections has one mark and one colour, protections of one family differ by their
    dashes, and a letter stands at every line. No colour says anything about a result.
    """
    looks, tables = _looks(comparison), [one.utility for one in comparison.protections]
    errors, shares = (
        _lines(looks, map(by_size, tables)) for by_size in (error_by_size, share_by_size)
    )
    label = f"mean error of totals that are shown, {comparison.census.nouns}"
    up = _error_axis(label, [y for one in errors for _, y in one.points])
    # all lines meet at the right, so the letter of each stands where it first reaches a half
    rising = [
        replace(one, label_at=next((at for at, (_, y) in enumerate(one.points) if y >= 1 / 2), -1))
        for one in shares
    ]
    plots = (
        _by_size("Error against true size", up, errors),
        _by_size(
            "Share published against true size", share_axis("groups that have a total"), rising
        ),
        _trade_off(comparison, looks, rows),
    )
    legend = element("ul", *map(_legend_item, looks), class_="legend looks")
    return joined(
        [legend, element("div", *(figure(plot) for plot in plots if plot), class_="plots")]
    )


def _looks(comparison: Comparison) -> list[Series]:
    """The look of each protection in pictures, without points."""
    families, looks = [one.protection.family for one in comparison.protections], []
    for number, (family, one) in enumerate(zip(families, comparison.protections, strict=True)):
        look, before = list(dict.fromkeys(families)).index(family), families[:number].count(family)
        dash, colour = _DASHES[before % len(_DASHES)], _COLOURS[look % len(_COLOURS)]
        looks.append(
            Series(one.protection.name, colour, mark=look, dash=dash, label=letter_of(number))
        )
    return looks


def _legend_item(look: Series) -> Markup:
    """A sample of a protection's line with its letter and name."""
    dash = html("dash", dash=look.dash) if look.dash else ""
    drawn = {"colour": str(look.colour), "mark": MARKS[look.mark % len(MARKS)], "dash": dash}
    return html("legend_item", name=f"{look.label} {look.name}", **drawn)


def _lines(looks: Sequence[Series], by_size: Iterable[Mapping[str, float | None]]) -> list[Series]:
    """Each protection's values at the least true size of their classes.

    Classes without a value are left out.
    """
    series = []
    for look, values in zip(looks, by_size, strict=True):
        sizes = zip(SIZE_STARTS[1:], values.values(), strict=True)
        points = [(float(start), value) for start, value in sizes if value is not None]
        series.append(replace(look, points=points, line=points))
    return series


def _by_size(title: str, up: Axis, series: Sequence[Series]) -> Plot:
    across = log_axis(
        "true size of the group", 1, max((x for one in series for x, _ in one.points), default=10.0)
    )
    described = ["By the least true size of a class."]
    for one in series:
        values = ", ".join(f"{y:.3g} from {x:,.0f} on" for x, y in one.points) or "none shown"
        described.append(f"{one.label} {one.name}: {values}.")
    return Plot(title, across, up, series, description=" ".join(described))


def _error_axis(label: str, errors: Sequence[float]) -> Axis:
    axis = log_axis(label, _LEAST_ERROR, max([1.0, *errors]))
    (low, text), *more = axis.ticks
    return replace(axis, ticks=((low, f"≤{text}"), *more))


def _trade_off(comparison: Comparison, looks: Sequence[Series], rows: Sequence[Row]) -> Plot | None:
    """People exposed against the error of small groups, joined by lines in a sweep.

    None without any point.
    """
    series, described = list[Series](), []
    for is_proven in (False, True):
        lines: dict[int, Series] = {}
        for look, row in zip(looks, rows, strict=True):
            error, right = row["error_10_to_99"], row["proven" if is_proven else "named_right"]
            if right is not None and not (
                is_of_few(row, "error_10_to_99") or row["groups_not_finished"]
            ):
                point, label = (error, float(right)), "" if is_proven else look.label
                series.append(replace(look, points=[point], is_hollow=not is_proven, label=label))
                described.append(
                    f"{look.label}, {'proven' if is_proven else 'named'}:"
                    f" error {error:.2f}, {right:,}."
                )
                before = lines.get(
                    look.mark, Series("", look.colour, dash="" if is_proven else "4 2")
                )
                lines[look.mark] = replace(before, line=[*before.line, point])
        series += lines.values() if comparison.is_sweep else ()
    points = [point for one in series for point in one.points]
    if not points:
        return None
    exposed = log_axis("", 1, max(10.0, *(y for _, y in points)))
    label = f"{comparison.census.nouns} exposed: proven solid, named hollow"
    up = Axis(label, _NOBODY, exposed.high, ((_NOBODY, "0"), *exposed.ticks), is_log=True)
    across = _error_axis("mean error of groups of 10 to 99 that are shown", [x for x, _ in points])
    return Plot("Error and people exposed", across, up, series, description=" ".join(described))


def _one_area(comparison: Comparison) -> Markup:
    """The groups of one area, as each protection prints them beside the truth."""
    if not comparison.shown:
        return Markup("")
    protections = [one.protection for one in comparison.protections]
    names = [
        joined([element("strong", f"{letter_of(at)} "), one.name])
        for at, one in enumerate(protections)
    ]
    rows = [
        (name(shown.group), [f"{shown.truth:,}", *(shown.printed[one.spec] for one in protections)])
        for shown in comparison.shown
    ]
    given = {"count": len(rows), "groups": comparison.census.groups, "area": comparison.shown_area}
    table = plain_table(text("one_area_caption", **given), ("Group", "True count", *names), rows)
    return element("div", table, class_="one-area")


def _attacks(comparison: Comparison, given: Mapping[str, str]) -> Markup:
    """Each attack in plain words, with its example from this run.

    The measures outside the first table come last.
    """
    parts = []
    for attack, explained in WORDS["attacks"].items():
        examples = [_example(one) for one in comparison.examples if one.attack == attack]
        if attack in _WITH_EXAMPLE and not examples:
            examples = [element("p", text("no_example"), class_="example")]
        body = [
            element("h3", attack.capitalize()),
            element("p", explained.format(**given)),
            *examples,
        ]
        parts.append(element("div", *body, class_="further" if attack in _FURTHER else ""))
    attacker, cards = paragraphs(text("attacker", **given)), element("div", *parts, class_="cards")
    return joined([attacker, cards, _further(comparison)])


def _example(example: WorkedExample) -> Markup:
    """One deduction from this run: what is published, the steps, and the truth."""
    rows = [(what, [number]) for what, number in example.published]
    table = plain_table(example.about, ("Number", "Published"), rows)
    steps = joined(element("li", step) for step in example.steps)
    return html(
        "example", spec=spec_code(example.protection), table=table, steps=steps, truth=example.truth
    )


def _further(comparison: Comparison) -> Markup:
    """Presence, averaging and differencing, which the committee's tables leave out."""
    further: Mapping[str, str] = WORDS["further"]
    nouns, splits, rows = comparison.census.nouns, list[int](), []
    of_page = committee_table.committee_rows(comparison)
    for heading, one, row in zip(
        headings(comparison), comparison.protections, of_page, strict=True
    ):
        if (exposure := one.exposure) is not None:
            is_all = exposure.presence == Claims(exposure.small_groups, exposure.small_groups)
            mark = "" if is_all else row["marks"]
            splits = max(splits, list(exposure.averaging), key=len)
            shares = ", ".join(share(value, 0) for value in exposure.averaging.values())
            one_budget = (
                further["one_budget"].format(share=shares)
                if list(exposure.averaging) == [0]
                else ""
            )
            slivers, people = exposure.differencing or (0, 0)
            following = further["slivers"].format(people=people, nouns=nouns, slivers=slivers)
            rows.append(
                (
                    heading,
                    [
                        _presence(exposure) + mark,
                        one_budget or shares or words.NOT_MEASURED,
                        following,
                    ],
                )
            )
    if comparison.baseline is not None:
        rows.append(
            (html("baseline"), [_presence(comparison.baseline), *[words.NOT_APPLICABLE] * 2])
        )
    small = 0 if comparison.baseline is None else comparison.baseline.small_groups
    given = {"splits": ", ".join(map(str, splits)), "nouns": nouns, "small": f"{small:,}"}
    heads = ("Protection", *(further[attack].format(**given) for attack in _FURTHER))
    return element("div", plain_table(further["caption"], heads, rows), class_="further")


def _presence(found: Exposure) -> str:
    right = found.presence.right
    return str(WORDS["further"]["found"].format(right=right, wrong=found.presence.claims - right))


def _agency(number: int, compared: Compared) -> Markup:
    """The section of one protection, which begins with what is said for it."""
    protection, source = compared.protection, compared.protection.source
    given = {
        "letter": letter_of(number),
        "name": protection.name,
        "spec": spec_code(protection.spec),
    }
    key = "no_agency" if protection.is_exact else "no_preset" if source is None else "source"
    if source is not None:
        agency = ", ".join(filter(None, (source.agency, source.years)))
        given["named"] = ". ".join(filter(None, (agency, source.document)))
        given["published"] = " ".join(source.published) or "Nothing about the parameters."
        given["assumed"] = " ".join(source.assumed) or text("nothing_assumed")
    return html("agency", said=words.said_for(protection), source=html(key, **given), **given)


def _controls(comparison: Comparison) -> Markup:
    """The controls, which tell whether an attack that finds nobody could have found somebody."""
    if not comparison.controls:
        return paragraphs(text("no_controls"))
    results = {True: "holds", False: "DOES NOT HOLD"}
    rows = [
        (capitalized(one.name), (one.sentence, results[one.holds])) for one in comparison.controls
    ]
    table = plain_table(
        "Checks of the attack", ("Check", "What was done, and what came out", "Result"), rows
    )
    return joined([paragraphs(text("controls")), element("div", table, class_="words controls")])


def _about(comparison: Comparison) -> Markup:
    facts = [
        element("li", element("strong", f"{key}: "), value)
        for key, value in comparison.facts.items()
    ]
    late = joined([element("h3", "Not finished"), _list(comparison.not_finished)])
    end = late if comparison.not_finished else paragraphs(text("finished"))
    return joined([element("ul", *facts, class_="facts"), end])


def _note_list(notes: str) -> Markup:
    """Notes as a list: what each line is about, before " | ", and what it says of it."""
    items = []
    for line in notes.splitlines():
        about, _, said = line.partition(" | ")
        items.append(
            element(
                "li",
                element("strong", f"{about} "),
                said,
                class_="on-paper" if about == "*" else "",
            )
        )
    return element("ul", *items, class_="notes")


def _list(texts: Iterable[str]) -> Markup:
    return element("ul", *(element("li", one) for one in texts))
