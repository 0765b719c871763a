"""The committee's two tables: a row for each protection, in a neutral order.

It is the order that was asked for, or by name. No row is placed by a result, no cell has a colour,
and nothing is added up to a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import pyarrow as pa

from safetab.apps.compare.measures.utility import summary
from safetab.apps.compare.pages import words
from safetab.apps.compare.pages.words import WORDS, html
from safetab.apps.compare.results import Compared, Comparison
from safetab.release.report.page_parts import Markup, element, joined, void, whole_table
from safetab.release.report.shares import share

FEW_GROUPS = 30
"""A mean error of fewer groups is printed with their number."""
_LATE, _REPEATED, _LIMIT = "\u00a0†", "\u00a0§", "\u00a0‡"  # marks stay beside their numbers
Row = dict[str, Any]


def committee_table(comparison: Comparison) -> pa.Table:
    """The table of committee.csv; a measure that does not apply, or was not made, is null."""
    schema = pa.schema(
        [(name, pa.type_for_alias(kind)) for name, kind in WORDS["file_columns"].items()]
    )
    return pa.Table.from_pylist(committee_rows(comparison), schema)


def committee_rows(comparison: Comparison) -> list[Row]:
    """The rows of the table, by the names of its columns."""
    rows = []
    one: Any
    for number, one in enumerate(comparison.protections):
        row: Row = {"letter": words.letter_of(number), **summary(one.utility)}
        for column, path in WORDS["columns_of_results"].items():
            row[column] = reduce(
                lambda found, part: getattr(found, part, None), path.split("."), one
            )
        row["ranked_right_of_baseline"] = (
            comparison.baseline and comparison.baseline.likeliest.right
        )
        known, *marks = one.comes_with
        if row["interval_holding"] is not None and (
            one.protection.is_safetab or one.protection.largest_error
        ):
            known += words.text("interval_held", share=share(row["interval_holding"], 0))
        row["comes_with_a_number"] = "; ".join([known, *marks])
        row["guarantee"] = stated_guarantee(one)
        row["shares_are_upper_limits"] = one.protection.is_secondary
        row["marks"] = (
            _LATE * bool(row["groups_not_finished"]) + _REPEATED * one.protection.repeats_errors
        )
        rows.append(row)
    return rows


def stated_guarantee(compared: Compared) -> str:
    """The formal guarantee in words, if there is one.

    It also says whether linear programs checked what is withheld.
    """
    return compared.guarantee + (words.text("checked_by_programs") if compared.is_checked else "")


def users_table(comparison: Comparison, rows: Sequence[Row]) -> Markup:
    """The table of what users get, as HTML."""
    cells = [[_with_groups(row, column) for column in WORDS["users_heads"]] for row in rows]
    return _table(
        comparison, "users", [element("tbody", *map(_html_row, headings(comparison), cells))]
    )


def exposed_table(comparison: Comparison, rows: Sequence[Row]) -> Markup:
    """Who is exposed, as HTML, with the baseline's row below all protections."""
    marked = [f"{one.guarantee}{' ¶' if one.is_checked else ''}" for one in comparison.protections]
    texts = [(limit, row["comes_with_a_number"]) for limit, row in zip(marked, rows, strict=True)]
    bodies = [element("tbody", *map(_html_row, headings(comparison), map(_exposed, rows), texts))]
    if comparison.baseline is not None:
        named, ranked = comparison.baseline.named, f"{comparison.baseline.likeliest.right:,}"
        found = (
            words.NOT_APPLICABLE,
            _claims(named.right, named.claims),
            ranked,
            words.NOT_APPLICABLE,
        )
        bodies.append(
            element("tbody", _html_row(html("baseline"), found, [words.NOT_APPLICABLE] * 2))
        )
    return _table(comparison, "exposed", bodies)


def _table(comparison: Comparison, name: str, bodies: Sequence[Markup]) -> Markup:
    area, baseline = comparison.census.attacked_area, comparison.baseline
    ranked = "" if baseline is None else f"{baseline.likeliest.claims:,}"
    given = {
        "Nouns": comparison.census.nouns.capitalize(),
        "ranked": ranked,
        "area": f" in {area}" if area else "",
    }
    texts = ("Protection", *(text.format(**given) for text in WORDS[f"{name}_heads"].values()))
    columns = element("colgroup", *[void("col")] * len(texts))
    head = element("thead", element("tr", *(element("th", text, scope="col") for text in texts)))
    table = whole_table(words.text(f"{name}_caption", **given), joined([columns, head]), bodies)
    return element("div", table, class_="committee")


def _html_row(heading: str, cells: Sequence[str], texts: Sequence[str] = ()) -> Markup:
    found = [
        *(element("td", text) for text in cells),
        *(element("td", text, class_="text") for text in texts),
    ]
    return element("tr", element("th", heading, scope="row"), *found)


def headings(comparison: Comparison) -> list[Markup]:
    """The heading of each protection's row.

    It has the protection's letter, its name, its definition, and whether anything was assumed.
    """
    found = []
    for number, protection in enumerate(one.protection for one in comparison.protections):
        assumed = html("assumed") if protection.source and protection.source.assumed else ""
        assumed = assumed or (html("as_given") if protection.is_safetab else "")
        given = {"letter": words.letter_of(number), "name": protection.name, "assumed": assumed}
        found.append(html("heading", spec=spec_code(protection.spec), **given))
    return found


def spec_code(spec: str) -> Markup:
    """A definition as code, which may break after a step or a parameter."""
    return element(
        "code",
        Markup(joined([spec]).replace("+", "+<wbr>").replace(",", ",<wbr>").replace(":", ":<wbr>")),
    )


def _exposed(row: Row) -> Sequence[str]:
    """The attack's results: proven, named, ranked and membership, as measured or why not."""
    if row["uniques"] is None:
        return [words.NOT_ATTACKED] * 4
    named = _claims(row["named_right"], row["named_claims"])
    late = _LATE * bool(row["groups_not_finished"])
    return [
        words.NONE_CAN_BE if row["proven"] is None else f"{row['proven']:,}{late}",
        f"{named}{row['marks']}",
        f"{row['ranked_right']:,} ({row['ranked_right_of_baseline']:,}){row['marks']}",
        words.NOT_MEASURED
        if row["membership_measured"] is None
        else f"{row['membership_measured']:.2f}",
    ]


def _claims(right: int, claims: int) -> str:
    """Right claims of all claims, with their precision."""
    return f"{right:,} of {claims:,} ({share(right / claims, 0)})" if claims else "no claims"


def is_of_few(row: Row, column: str) -> bool:
    """Whether a column is a mean of few groups, or of none."""
    return bool(row.get(f"{column}_groups", FEW_GROUPS) < FEW_GROUPS)


def _with_groups(row: Row, column: str) -> str:
    """A number of a column, with a count of groups or of numbers where a reader needs it.

    If the number is the mean of few groups, it says of how many; or it says how many numbers it
    counts.
    """
    if column == "false_nonzeros" and row[column] is not None:
        return f"{row['false_nonzeros_of_a_draw']:,.0f}"
    groups = row[f"{column}_groups"] if is_of_few(row, column) else 0
    of_groups = f" ({groups} {'group' if groups == 1 else 'groups'})" if groups else ""
    return f"{at_most(row, column)}{of_groups}"


def at_most(row: Row, column: str) -> str:
    """A number of a column; a share may be an upper limit.

    It is one where secondary suppression withholds more than was counted.
    """
    is_limit = (
        row["shares_are_upper_limits"] and row[column] and column.endswith(("_published", "_shown"))
    )
    return (
        f"at most {spelled(column, row[column])}{_LIMIT}"
        if is_limit
        else spelled(column, row[column])
    )


def spelled(column: str, value: float | None) -> str:
    """A number of a column: a count, a mean error (two decimals below 10) or a share.

    Without a number, words stand in its place.
    """
    if value is None:
        return words.NONE_SHOWN
    if column.startswith("error"):
        return f"{value:.2f}" if value < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else share(value, 0)
