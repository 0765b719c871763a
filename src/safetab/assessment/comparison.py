"""Two configurations on the same truth: which groups gain, which lose."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from safetab.assessment.assess import Assessment
from safetab.assessment.assess_run import AssessedLevel
from safetab.assessment.rows import ALL, FAMILY
from safetab.assessment.statistics import LEAST_NUMBERS
from safetab.products.product import Product, Selector

Row = dict[str, Any]
LevelKey = tuple[str, str, str]
"""The labels of a geography level and an iteration level, and the name of a table family."""
KEYS = ("pass", "geography_level", "iteration_level", FAMILY, "measured", "iteration_kind", "size_class", "size_from")
FALSE_ALARM = 1e-3
"""How likely chance makes any gain or loss at all in a whole comparison."""
_OF_SIZES = -2  # what stands before is the same for classes that differ in size alone


@dataclass(frozen=True, slots=True)
class Change:
    """A figure in both configurations, its standard error (0 if no chance is in it), and whether more is better."""

    given: float
    other: float
    spread: float
    more_is_better: bool

    def direction(self, limit: float) -> int:
        """1 if the other configuration is better, -1 if it is worse, 0 if it is within so many standard errors."""
        difference = self.other - self.given
        if abs(difference) <= limit * self.spread or difference == 0:
            return 0
        return 1 if (difference > 0) == self.more_is_better else -1


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of groups in both configurations, and what is to be judged of it."""

    keys: Row
    both: tuple[Row, Row]
    changes: tuple[Change, ...]

    @property
    def uncertain(self) -> int:
        """How many of its changes chance could have made."""
        return sum(change.spread > 0 for change in self.changes)

    def row(self, limit: float) -> Row:
        given, other = self.both
        row = self.keys | {"groups": given["groups"], "groups_other": other["groups"]}
        for name in _FIGURES:
            row |= {name: given[name], f"{name}_other": other[name]}
        return row | {"verdict": self._verdict(limit)}

    def _verdict(self, limit: float) -> str:
        """What the second configuration does to these groups."""
        given, other = self.both
        if given["groups"] is None or other["groups"] is None:
            return "only in the other" if given["groups"] is None else "only in the first"
        directions = {change.direction(limit) for change in self.changes} - {0}
        if not directions:
            return "same"
        return "mixed" if len(directions) > 1 else {1: "gain", -1: "lose"}[directions.pop()]


def levels_alike(given: Assessment, other: Assessment) -> frozenset[LevelKey]:
    """The levels that both measure in the same way for the same groups: whatever differs there is chance.

    Rules and copies join numbers of several levels, so with them all levels are alike or none.
    """
    if given.plan.config.allow_negative_counts != other.plan.config.allow_negative_counts:
        return frozenset()
    first, second = ({_level_key(one): one for one in assessment.levels} for assessment in (given, other))
    alike = frozenset(key for key in first.keys() & second.keys() if _is_alike(first[key], second[key]))
    return alike if not given.options.change_numbers or alike == first.keys() | second.keys() else frozenset()


def _level_key(level: AssessedLevel) -> LevelKey:
    plan = level.truth.plan
    return plan.level.geography.label, plan.level.iterations.label, plan.family.name


def _is_alike(one: AssessedLevel, other: AssessedLevel) -> bool:
    first, second = one.truth, other.truth
    return (
        first.plan.design == second.plan.design
        and np.array_equal(first.sizes, second.sizes)
        and all(np.array_equal(first.groups(measured), second.groups(measured)) for measured in one.tallies)
    )


def comparison_table(
    accuracy: pa.Table, names: tuple[str, str], product: Product, alike: AbstractSet[LevelKey] = frozenset()
) -> pa.Table:
    """A row for each class of groups, all tables together; a class that one of them doesn't have says so.

    `names` are those of the two configurations in `accuracy`, `alike` the levels without a difference.
    """
    keys = tuple(name for name in KEYS if name in accuracy.column_names)
    classes = [_class(product, alike, *one) for one in _rows_of_classes(accuracy, names, product, keys)]
    limit = _limit(sum(one.uncertain for one in classes))
    return pa.Table.from_pylist([one.row(limit) for one in classes], schema=_schema(keys))


def _rows_of_classes(
    accuracy: pa.Table, names: tuple[str, str], product: Product, keys: tuple[str, ...]
) -> list[tuple[Row, tuple[Row, Row]]]:
    """What a class is, and its figures in both configurations; by rising size."""
    lone_totals = {family.total.label for family in product.families}
    by_key: dict[tuple[Any, ...], dict[tuple[str, bool], Row]] = {}
    for row in accuracy.to_pylist():
        if row["number"] == "total" and row["table"] in {ALL, *lone_totals}:
            key = tuple(row[name] for name in keys)
            by_key.setdefault(key, {})[row["configuration"], row["table"] == ALL] = row
    turns = {key: number for number, key in enumerate(dict.fromkeys(key[:_OF_SIZES] for key in by_key))}
    given, other = names
    return [
        (
            dict(zip(keys, key, strict=True)),
            (
                _figures(found.get((given, True)), found.get((given, False))),
                _figures(found.get((other, True)), found.get((other, False))),
            ),
        )
        for key, found in sorted(by_key.items(), key=lambda one: (turns[one[0][:_OF_SIZES]], one[0][-1] or 0))
    ]


def _limit(comparisons: int) -> float:
    """Bonferroni's: so many standard errors that the chance of one false alarm in all of them is FALSE_ALARM."""
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * max(comparisons, 1)))


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


def _class(product: Product, alike: AbstractSet[LevelKey], keys: Row, both: tuple[Row, Row]) -> _Class:
    level = (keys["geography_level"], keys["iteration_level"], keys.get(FAMILY, product.families[0].name))
    is_in_both = all(one["groups"] is not None for one in both)
    return _Class(keys, both, () if level in alike or not is_in_both else _changes(product, keys, both))


def _changes(product: Product, keys: Row, both: tuple[Row, Row]) -> tuple[Change, ...]:
    """Some groups would better not be published: of these nothing else is judged."""
    may_hide = product.selector is Selector.NOISY_STAGE_1
    better_hidden = may_hide and keys["size_class"] == "0"
    chance_decides = may_hide or any(one["published_share"] < 1 for one in both)
    shares = ("published_share",) if better_hidden else ("published_share", "table_share")
    changes = []
    if not chance_decides:  # published totals choose tables: each run has the same
        changes += [Change(both[0][name], both[1][name], 0.0, more_is_better=True) for name in shares]
    elif all(one["chances"] >= LEAST_NUMBERS for one in both):
        changes += [_share_change(name, both, more_is_better=not better_hidden) for name in shares]
    if not better_hidden and all(one["numbers"] >= LEAST_NUMBERS for one in both):
        spread = sqrt(sum(one["spread"] ** 2 / one["numbers"] for one in both))
        given, other = (one["mean_absolute_error"] for one in both)
        changes.append(Change(given, other, spread, more_is_better=False))
    return tuple(changes)


def _share_change(name: str, both: tuple[Row, Row], *, more_is_better: bool) -> Change:
    """The standard error is that of equal shares: even 0 % beside 100 % has one."""
    pooled = sum(one[name] * one["chances"] for one in both) / sum(one["chances"] for one in both)
    square = pooled * max(1 - pooled, 0.0) * sum(1 / one["chances"] for one in both)
    return Change(both[0][name], both[1][name], sqrt(square), more_is_better)
