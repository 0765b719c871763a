"""The report's two tables.

They have errors by class of groups, and two configurations class by class.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from safetab.model.products.product import Product, Selector
from safetab.runs.observed.assess import AssessedLevel, Assessment
from safetab.runs.observed.level_statistics import LEAST_NUMBERS, LevelStatistics, Statistics
from safetab.runs.observed.tally import SIZE_STARTS, TOTAL, MeasuredAs, NumberSort, size_class_name
from safetab.runs.observed.truth import LevelTruth

ALL = "all"
FAMILY = "table_family"
"""A column that only products with several table families have."""
SIZE_LABELS = (*map(size_class_name, range(len(SIZE_STARTS))), "1 or more", ALL)
_COUNTS = ("groups", "published", "numbers", "draws", "selection_aware_intervals")
_WORTH_A_ROW = 1.0  # expected groups with a table, over all runs, if none was seen
_KEYS_OF_LEVEL = ("pass", "geography_level", "iteration_level", FAMILY, "measured")
_KEYS_OF_CLASS = (*_KEYS_OF_LEVEL, "iteration_kind", "size_class", "size_from")
_SIZE_KEYS = 2  # the last keys of a class, which say its size

_Row = dict[str, Any]
_LevelKey = tuple[str, str, str]
"""The labels of a geography level and an iteration level, and the name of a table family."""
FALSE_ALARM = 1e-3
"""Probability that chance alone makes any gain or loss in a whole comparison."""
_FIGURES = ("published_share", "table_share", "mean_absolute_error", "coverage_95")


def accuracy_table(assessment: Assessment, configuration: str) -> pa.Table:
    """A row for each level, way of measuring, kind of iteration, size class, table and number."""
    parts = []
    for level in assessment.levels:
        for measured, tally in level.tallies.items():
            statistics = LevelStatistics(
                level, measured, assessment.runs, has_theory=assessment.has_theory
            )
            publication = statistics.publication()
            for sort in tally.sorts:
                keys = _keys(level, measured, sort)
                keys |= {"configuration": configuration, "runs": assessment.runs}
                columns = publication | statistics.errors(sort)
                parts.append(_rows(keys, columns, sort, level.truth))
    return pa.concat_tables([part for part in parts if len(part)])


def _keys(level: AssessedLevel, measured: MeasuredAs, sort: NumberSort) -> dict[str, object]:
    geography, iterations, family = _level_key(level)
    product = level.truth.plan.design.product
    return {
        "pass": level.truth.plan.level.geography.tabulation_pass.name,
        "geography_level": geography,
        "iteration_level": iterations,
        **({FAMILY: family} if product.has_several_families else {}),
        "measured": measured.value,
        "number": sort.label,
    }


def _rows(
    keys: dict[str, object], statistics: Statistics, sort: NumberSort, truth: LevelTruth
) -> pa.Table:
    """The rows of one sort of number.

    Classes without a group are left out, and tables that no group got and none was expected to get.
    """
    groups = statistics["groups"]
    expected = statistics["published_share_theory"] * groups * float(str(keys["runs"]))
    has_row = statistics["numbers"] > 0
    if sort == TOTAL:
        has_row |= (groups > 0) & (expected >= _WORTH_A_ROW)
        has_row[:, -1] |= groups[:, -1] > 0
    kinds, shapes, sizes = chosen = np.nonzero(has_row)
    shape_labels = (*(shape.label for shape in truth.plan.family.shapes), ALL)
    kind_labels = (*(kind.name for kind in truth.kinds), ALL)
    starts = (*SIZE_STARTS, None, None)
    columns = {name: pa.array([value] * len(kinds)) for name, value in keys.items()}
    columns["iteration_kind"] = pa.array([kind_labels[kind] for kind in kinds])
    columns["size_class"] = pa.array([SIZE_LABELS[size] for size in sizes])
    columns["size_from"] = pa.array([starts[size] for size in sizes], pa.int64())
    columns["table"] = pa.array([shape_labels[shape] for shape in shapes])
    first = ["configuration", *_KEYS_OF_CLASS, "table", "number", "runs"]
    ordered = {name: columns[name] for name in first if name in columns}
    for name, statistic in statistics.items():
        values = np.broadcast_to(statistic, has_row.shape)[chosen]
        if name in _COUNTS:
            ordered[name] = pa.array(np.rint(values).astype(np.int64))
        else:
            ordered[name] = pa.array(values, mask=~np.isfinite(values))
    return pa.table(ordered)


@dataclass(frozen=True, slots=True)
class _Change:
    """A figure in both configurations.

    `spread` is the standard error of the difference, 0 if no chance is involved.
    """

    given: float
    other: float
    spread: float
    more_is_better: bool

    def direction(self, limit: float) -> int:
        """The sign of a clear change: 1 if the other is better, -1 if it is worse, or 0.

        It is clear if the difference is more than `limit` standard errors.
        """
        difference = self.other - self.given
        if abs(difference) <= limit * self.spread or difference == 0:
            return 0
        return 1 if (difference > 0) == self.more_is_better else -1


def _verdict(row: _Row, changes: Sequence[_Change], limit: float) -> str:
    """The effect of the second configuration on the groups of this row of the comparison."""
    if row["groups"] is None or row["groups_other"] is None:
        return "only in the other" if row["groups"] is None else "only in the first"
    directions = {change.direction(limit) for change in changes} - {0}
    if not directions:
        return "same"
    return "mixed" if len(directions) > 1 else {1: "gain", -1: "lose"}[directions.pop()]


def levels_alike(given: Assessment, other: Assessment) -> frozenset[_LevelKey]:
    """The levels that both measure in the same way for the same groups.

    They differ by chance only. Rules and copies join numbers of several levels, so with them all
    levels are alike or none.
    """
    if given.plan.config.allow_negative_counts != other.plan.config.allow_negative_counts:
        return frozenset()
    first = {_level_key(level): level for level in given.levels}
    second = {_level_key(level): level for level in other.levels}
    keys = first.keys() & second.keys()
    alike = frozenset(key for key in keys if _is_alike(first[key], second[key]))
    if given.options.change_numbers and alike != first.keys() | second.keys():
        return frozenset()
    return alike


def _level_key(level: AssessedLevel) -> _LevelKey:
    plan = level.truth.plan
    return plan.level.geography.label, plan.level.iterations.name, plan.family.name


def _is_alike(level: AssessedLevel, other: AssessedLevel) -> bool:
    first, second = level.truth, other.truth
    design = replace(
        second.plan.design, product=first.plan.design.product, family=first.plan.design.family
    )
    return (
        first.plan.design == design
        and np.array_equal(first.sizes, second.sizes)
        and all(np.array_equal(first.groups(way), second.groups(way)) for way in level.tallies)
    )


def comparison_table(
    accuracy: pa.Table,
    names: tuple[str, str],
    product: Product,
    alike: AbstractSet[_LevelKey] = frozenset(),
) -> pa.Table:
    """A row for each class of groups, all tables together, by rising size.

    `names` are those of the two configurations in `accuracy`, and `alike` the levels that differ
    only by chance. The verdict of a class that one of the two lacks says so.
    """
    keys = tuple(name for name in _KEYS_OF_CLASS if name in accuracy.column_names)
    first_family = product.families[0].name
    lone_totals = {family.total.label for family in product.families}
    by_key: dict[tuple[Any, ...], dict[tuple[str, bool], _Row]] = {}
    for row in accuracy.to_pylist():
        if row["number"] == "total" and row["table"] in {ALL, *lone_totals}:
            key = tuple(row[name] for name in keys)
            by_key.setdefault(key, {})[row["configuration"], row["table"] == ALL] = row
    first_seen = dict.fromkeys(key[:-_SIZE_KEYS] for key in by_key)
    turns = {key: number for number, key in enumerate(first_seen)}
    rows: list[_Row] = []
    all_changes = []
    for key in sorted(by_key, key=lambda key: (turns[key[:-_SIZE_KEYS]], key[-1] or 0)):
        found = by_key[key]
        given, other = (
            _figures(found.get((name, True)), found.get((name, False))) for name in names
        )
        named = dict(zip(keys, key, strict=True))
        level = (
            named["geography_level"],
            named["iteration_level"],
            named.get(FAMILY, first_family),
        )
        is_in_both = given["groups"] is not None and other["groups"] is not None
        is_judged = is_in_both and level not in alike
        all_changes.append(_changes(product, named, (given, other)) if is_judged else ())
        rows.append(named)
        for name in ("groups", *_FIGURES):
            rows[-1] |= {name: given[name], f"{name}_other": other[name]}
    # Bonferroni's number of standard errors, so that FALSE_ALARM holds for all comparisons
    comparisons = sum(change.spread > 0 for changes in all_changes for change in changes)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * max(comparisons, 1)))
    for row, changes in zip(rows, all_changes, strict=True):
        row["verdict"] = _verdict(row, changes, limit)
    fields = [(name, pa.int64() if name == "size_from" else pa.string()) for name in keys]
    fields += [("groups", pa.int64()), ("groups_other", pa.int64())]
    for name in _FIGURES:
        fields += [(name, pa.float64()), (f"{name}_other", pa.float64())]
    schema = pa.schema([*fields, ("verdict", pa.string())])
    return pa.Table.from_pylist(rows, schema=schema)


def _figures(row: _Row | None, lone: _Row | None) -> _Row:
    """The figures of a class in one configuration; None if it has no such class.

    `row` is of all its tables, `lone` of its lone totals.
    """
    if row is None:
        return dict.fromkeys(("groups", "chances", "numbers", "spread", *_FIGURES))
    share = row["published_share"]
    lone_share = 0.0 if lone is None else lone["published_share"]
    mean_square = (row["root_mean_square_error"] or 0.0) ** 2
    return {
        "groups": row["groups"],
        "chances": row["groups"] * row["runs"],
        "numbers": row["numbers"],
        "published_share": share,
        "table_share": max(share - lone_share, 0.0),
        "mean_absolute_error": row["mean_absolute_error"],
        "coverage_95": row["coverage_95"],
        "spread": sqrt(max(mean_square - (row["mean_absolute_error"] or 0.0) ** 2, 0.0)),
    }


def _changes(product: Product, keys: _Row, both: tuple[_Row, _Row]) -> tuple[_Change, ...]:
    """The changes by which a class is judged.

    Empty groups had better not be published where they can be suppressed; nothing else is judged
    there.
    """
    may_hide = product.selector is Selector.NOISY_STAGE_1
    better_hidden = may_hide and keys["size_class"] == "0"
    chance_decides = may_hide or any(figures["published_share"] < 1 for figures in both)
    shares = ("published_share",) if better_hidden else ("published_share", "table_share")
    given, other = both
    changes = []
    if not chance_decides:  # published totals choose tables: every run has the same ones
        changes += [_Change(given[name], other[name], 0.0, more_is_better=True) for name in shares]
    elif all(figures["chances"] >= LEAST_NUMBERS for figures in both):
        changes += [_share_change(name, both, more_is_better=not better_hidden) for name in shares]
    if not better_hidden and all(figures["numbers"] >= LEAST_NUMBERS for figures in both):
        spread = sqrt(sum(figures["spread"] ** 2 / figures["numbers"] for figures in both))
        name = "mean_absolute_error"
        changes.append(_Change(given[name], other[name], spread, more_is_better=False))
    return tuple(changes)


def _share_change(name: str, both: tuple[_Row, _Row], *, more_is_better: bool) -> _Change:
    """A change of a share, with the standard error of equal shares.

    Even shares of 0 % and 100 % have one.
    """
    given, other = both
    chances = sum(figures["chances"] for figures in both)
    pooled = sum(figures[name] * figures["chances"] for figures in both) / chances
    square = pooled * max(1 - pooled, 0.0) * sum(1 / figures["chances"] for figures in both)
    return _Change(given[name], other[name], sqrt(square), more_is_better)
