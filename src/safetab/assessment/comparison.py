"""Two configurations on the same truth: which groups gain, which lose."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import pyarrow as pa

from safetab.assessment.rows import ALL, FAMILY
from safetab.products.product import Product, Selector

Row = dict[str, Any]
KEYS = ("pass", "geography_level", "iteration_level", FAMILY, "measured", "iteration_kind", "size_class", "size_from")
_OF_SIZES = -2  # what stands before is the same for classes that differ in size alone
_MATTERS = 3.0  # standard errors


@dataclass(frozen=True, slots=True)
class Change:
    """A figure in both configurations, how sure the difference is, and whether more of it is better."""

    given: float
    other: float
    spread: float
    more_is_better: bool

    @property
    def direction(self) -> int:
        """1 if the other configuration is better, -1 if it is worse, 0 if chance could have made the difference."""
        difference = self.other - self.given
        if abs(difference) <= _MATTERS * self.spread or difference == 0:
            return 0
        return 1 if (difference > 0) == self.more_is_better else -1


def comparison_table(accuracy: pa.Table, given: str, other: str, product: Product) -> pa.Table:
    """A row for each class of groups, all tables together; a class that one of them doesn't have says so."""
    lone_totals = {family.total.label for family in product.families}
    names = tuple(name for name in KEYS if name in accuracy.column_names)
    by_key: dict[tuple[Any, ...], dict[tuple[str, bool], Row]] = {}
    for row in accuracy.to_pylist():
        if row["number"] == "total" and row["table"] in {ALL, *lone_totals}:
            key = tuple(row[name] for name in names)
            by_key.setdefault(key, {})[row["configuration"], row["table"] == ALL] = row
    may_hide = product.selector is Selector.NOISY_STAGE_1
    turns = {key: number for number, key in enumerate(dict.fromkeys(key[:_OF_SIZES] for key in by_key))}
    return pa.Table.from_pylist(
        [
            _compared(
                dict(zip(names, key, strict=True)),
                [_figures(found.get((which, True)), found.get((which, False))) for which in (given, other)],
                may_hide=may_hide,
            )
            for key, found in sorted(by_key.items(), key=lambda one: (turns[one[0][:_OF_SIZES]], one[0][-1] or 0))
        ],
        schema=_schema(names),
    )


_FIGURES = ("published_share", "table_share", "mean_absolute_error", "coverage_95")


def _schema(keys: tuple[str, ...]) -> pa.Schema:
    return pa.schema(
        [
            *((name, pa.int64() if name == "size_from" else pa.string()) for name in keys),
            ("groups", pa.int64()),
            ("groups_other", pa.int64()),
            *((f"{name}{which}", pa.float64()) for name in _FIGURES for which in ("", "_other")),
            ("verdict", pa.string()),
        ]
    )


def _compared(keys: Row, both: list[Row], *, may_hide: bool) -> Row:
    row = keys | {"groups": both[0]["groups"], "groups_other": both[1]["groups"]}
    for name in _FIGURES:
        row |= {name: both[0][name], f"{name}_other": both[1][name]}
    return row | {"verdict": _verdict(both, better_hidden=may_hide and keys["size_class"] == "0")}


def _figures(row: Row | None, lone: Row | None) -> Row:
    if row is None:
        return dict.fromkeys(("groups", "chances", "numbers", "spread", *_FIGURES))
    share, lone_share = row["published_share"], 0.0 if lone is None else lone["published_share"]
    square = row["root_mean_square_error"] or 0.0
    return {
        "groups": row["groups"],
        "chances": row["groups"] * row["runs"],
        "numbers": row["numbers"],
        "published_share": share,
        "table_share": max(share - lone_share, 0.0),
        "mean_absolute_error": row["mean_absolute_error"],
        "coverage_95": row["coverage_95"],
        "spread": sqrt(max(square**2 - (row["mean_absolute_error"] or 0.0) ** 2, 0.0)),
    }


def _verdict(both: list[Row], *, better_hidden: bool) -> str:
    """What the second configuration does to these groups; some would better not be published."""
    given, other = both
    if given["groups"] is None or other["groups"] is None:
        return "only in the other" if given["groups"] is None else "only in the first"
    changes = [_share_change("published_share", given, other, more_is_better=not better_hidden)]
    if not better_hidden:
        changes.append(_share_change("table_share", given, other, more_is_better=True))
        if given["numbers"] and other["numbers"]:
            spread = sqrt(sum(one["spread"] ** 2 / one["numbers"] for one in both))
            errors = (given["mean_absolute_error"], other["mean_absolute_error"])
            changes.append(Change(*errors, spread, more_is_better=False))
    directions = {change.direction for change in changes} - {0}
    if not directions:
        return "same"
    return "mixed" if len(directions) > 1 else {1: "gain", -1: "lose"}[directions.pop()]


def _share_change(name: str, given: Row, other: Row, *, more_is_better: bool) -> Change:
    spread = sqrt(sum(one[name] * max(1 - one[name], 0.0) / one["chances"] for one in (given, other)))
    return Change(given[name], other[name], spread, more_is_better)
