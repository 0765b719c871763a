"""The committee's two tables: a row for each protection, in the order that was asked for, or by name.

No row is placed by a result, no cell has a colour, and nothing is added up to a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from safetab.assessment.pages.page_parts import share
from safetab.comparison.measures.utility import summary
from safetab.comparison.pages import words
from safetab.comparison.results import Claims, Compared, Comparison, Exposure
from safetab.reports.page_parts import Markup, element, joined, void, whole_table

_USUAL_RANKED = 500
Row = dict[str, Any]


def committee_table(comparison: Comparison) -> pa.Table:
    """The table of committee.csv; a measure that does not apply, or was not made, is null."""
    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in words.FILE_COLUMNS.items()])
    return pa.Table.from_pylist(committee_rows(comparison), schema)


def committee_rows(comparison: Comparison) -> list[Row]:
    """The rows of the table, by the names of its columns."""
    ranked = ranked_cells(comparison)
    before = comparison.baseline.ranked.get(ranked) if comparison.baseline else None
    rows = []
    for number, one in enumerate(comparison.protections):
        row: Row = {
            "letter": words.letter_of(number),
            "protection": one.protection.spec,
            "name": one.protection.name,
            **summary(one.utility),
            "guarantee": one.guarantee,
            "comes_with_a_number": one.comes_with,
        }
        if one.exposure is not None:
            row |= {
                "uniques": one.exposure.uniques,
                "proven": one.exposure.proven.right if one.exposure.proven else None,
                "named_claims": one.exposure.named.claims,
                "named_right": one.exposure.named.right,
                "groups_whose_chains_disagree": one.exposure.groups_apart,
                "ranked_cells": ranked or None,
                "ranked_right": one.exposure.ranked.get(ranked),
                "ranked_right_of_baseline": before,
                "membership_measured": one.exposure.membership,
                "membership_limit_of_guarantee": one.exposure.membership_bound,
            }
        rows.append(row)
    return rows


def ranked_cells(comparison: Comparison) -> int:
    """How many of the likeliest cells are looked at: 500 if all attacks have it, else the most that all have, or 0."""
    attacked = [set(one.exposure.ranked) for one in comparison.protections if one.exposure is not None]
    shared = set.intersection(*attacked) if attacked else set[int]()
    return _USUAL_RANKED if _USUAL_RANKED in shared else max(shared, default=0)


def committee_section(comparison: Comparison, rows: Sequence[Row]) -> tuple[Markup, Markup]:
    """The two tables as HTML: what users get, and who is exposed, with the baseline's row below all protections."""
    census, ranked = comparison.census, ranked_cells(comparison)
    heads = [heading_of(str(row["letter"]), one) for row, one in zip(rows, comparison.protections, strict=True)]
    users = [_html_row(head, _users(row)) for head, row in zip(heads, rows, strict=True)]
    exposed = [
        _html_row(head, _exposed(row, one.exposure), (one.guarantee, one.comes_with))
        for head, row, one in zip(heads, rows, comparison.protections, strict=True)
    ]
    bodies = [element("tbody", *exposed)]
    if comparison.baseline is not None:
        bodies.append(element("tbody", _baseline_row(comparison.baseline, ranked)))
    given = {"Nouns": census.nouns.capitalize(), "ranked": f"{ranked:,}" if ranked else ""}
    area = f" in {census.attacked_area}" if census.attacked_area else ""
    return (
        _table(words.text("users_caption"), words.USERS_HEADS, given, [element("tbody", *users)]),
        _table(words.text("exposed_caption", area=area), words.OTHER_HEADS, given, bodies),
    )


def _table(caption: str, heads: Mapping[str, str], given: Mapping[str, str], bodies: Sequence[Markup]) -> Markup:
    texts = ("Protection", *(text.format(**given) for text in heads.values()))
    columns = element("colgroup", *[void("col")] * len(texts))
    head = element("thead", element("tr", *(element("th", text, scope="col") for text in texts)))
    return element("div", whole_table(caption, joined([columns, head]), bodies), class_="committee")


def _html_row(heading: str, cells: Sequence[str], texts: Sequence[str] = ()) -> Markup:
    return element(
        "tr",
        element("th", heading, scope="row"),
        *(element("td", text) for text in cells),
        *(element("td", text, class_="text") for text in texts),
    )


def _users(row: Row) -> list[str]:
    spelled = {name: error_text if name.startswith("error") else _share for name in words.USERS_HEADS}
    return [spell(row[name]) for name, spell in spelled.items()]


def heading_of(letter: str, compared: Compared) -> Markup:
    """The heading of a protection's row: its letter, its name, its definition, and whether anything was assumed."""
    protection = compared.protection
    is_assumed = protection.source is not None and protection.source.assumed
    assumed = element("small", "partly assumed") if is_assumed else ""
    return joined([element("strong", f"{letter} "), protection.name, " ", spec_code(protection.spec), assumed])


def spec_code(spec: str) -> Markup:
    """A definition as code, which may break after a step or a parameter."""
    return element("code", Markup(joined([spec]).replace("+", "+<wbr>").replace(",", ",<wbr>").replace(":", ":<wbr>")))


def _exposed(row: Row, exposure: Exposure | None) -> Sequence[str]:
    """What the attack found: proven, named, ranked and membership, each as measured or why not."""
    if exposure is None:
        return [words.NOT_ATTACKED] * 4
    right, before = row["ranked_right"], row["ranked_right_of_baseline"]
    return [
        words.NOT_APPLICABLE if exposure.proven is None else f"{exposure.proven.right:,}",
        claims_text(exposure.named) + (" †" if exposure.groups_apart else ""),
        _count(right) + ("" if right is None or before is None else f" ({before:,})"),
        words.NOT_MEASURED if exposure.membership is None else f"{exposure.membership:.2f}",
    ]


def baseline_heading() -> Markup:
    """The heading of the baseline's row."""
    return joined([element("strong", "Baseline"), words.BASELINE])


def _baseline_row(baseline: Exposure, ranked: int) -> Markup:
    found = (words.NOT_APPLICABLE, claims_text(baseline.named), _count(baseline.ranked.get(ranked)))
    return _html_row(baseline_heading(), (*found, words.NOT_APPLICABLE), [words.NOT_APPLICABLE] * 2)


def claims_text(claims: Claims) -> str:
    """Right claims of all claims, with their precision."""
    if not claims.claims:
        return "no claims"
    return f"{claims.right:,} of {claims.claims:,} ({share(claims.precision, 0)})"


def error_text(error: object) -> str:
    """A mean error: two decimals below 10, and words if no number of its size is shown."""
    if not isinstance(error, float):
        return words.NONE_SHOWN
    return f"{error:.2f}" if error < 10 else f"{error:,.1f}"


def _share(value: object) -> str:
    return share(value, 0) if isinstance(value, float) else words.NONE_SHOWN


def _count(value: object) -> str:
    return words.NOT_MEASURED if value is None else f"{value:,}"
