"""The losses of users by a protection, at every level.

They are measured by what is published, how wrong it is, and what no longer fits.

Every protection goes through the same tallies. SafeTab's numbers are those of `safetab accuracy`
with the same key. Other numbers are protected one by one: what secondary suppression withholds
beyond small numbers is not in them, because it needs the equations of a whole area.
docs/how-to/compare.md has the columns.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from math import ceil, prod, sqrt
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.apps.compare.protections.protection import Protection
from safetab.apps.compare.protections.steps import publish
from safetab.apps.compare.tables.counted_census import (
    CountedCensus,
    CountedLevel,
    ShownTotals,
    TablesOfShape,
)
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, numbered_keys
from safetab.core.algorithm.measurements import line_sums
from safetab.core.algorithm.run_plan import LevelPlan
from safetab.foundation.arrays import is_in_sorted
from safetab.foundation.progress import NoProgress
from safetab.model.products.product import Shape
from safetab.release.report.shares import share
from safetab.runs.observed import tally
from safetab.runs.observed.assess import Observer, Observers, SeenNumbers, assess
from safetab.runs.observed.level_statistics import Floats, ratio
from safetab.runs.observed.tally import PARTS_OF_ONE, SIZE_STARTS, Histograms

_ALL = "all"
SIZE_CLASSES = tuple(map(tally.size_class_name, range(len(SIZE_STARTS))))
"""Accuracy's classes of true size."""
MERGED = {
    "10 to 99": (10, 99),
    "100 to 999": (100, 999),
    "1,000 or more": (1_000, None),
    _ALL: (1, None),
}
"""Classes that several of them make up, by their least and largest true size.

The class "all" has all groups that are not empty.
"""
_LABELS = (*SIZE_CLASSES, *MERGED)
_IN_CLASS = np.array(  # a row for each of the labels, a column for each of accuracy's classes
    [[label == name for name in SIZE_CLASSES] for label in SIZE_CLASSES]
    + [
        [first <= start <= (last or start) for start in SIZE_STARTS]
        for first, last in MERGED.values()
    ]
)
_COUNTS = (
    "groups",
    "people",
    "asked",
    "numbers",
    "largest_absolute_error",
    "true_zeros",
    "tables",
    "areas",
    "runs",
)
_TOTAL, _EMPTY = "total", SIZE_CLASSES[0]
_NUMBERS_AT_ONCE = 1 << 18
_LevelTables = tuple[CountedLevel, Sequence[tuple[TablesOfShape, NDArray[np.integer]]]]


def utility(
    protection: Protection,
    truth: CountedCensus,
    *,
    runs: int,
    seed: int,
    published: CountedCensus | None = None,
) -> pa.Table:
    """A row for each level, sort of number, kind of group and class of true size.

    `published` has the counts of the protected records, if records were protected: errors are the
    differences of both. A protection without chance is run once. SafeTab runs as the
    options of the census say, with the key of the seed unless they have one.
    """
    runs = runs if protection.is_drawn_again else 1
    kinds = tuple(kind.name for kind in truth.inputs.plan.config.census.group_kinds)
    tallies = {key: _ErrorTally(level, kinds, runs) for key, level in truth.levels.items()}
    observers = _observers(truth, tallies)
    if protection.is_safetab:
        options = replace(truth.options, test_key=truth.options.test_key or key_of_seed(seed))
        assess(truth.inputs, truth.known, options, runs, NoProgress(), observers)
    else:
        levels = [_with_counts(truth, published or truth, level) for level in truth.levels.values()]
        for run in range(runs):
            with observers(run) as see:
                _publish(protection, levels, [seed, run], see)
    has_interval = protection.is_safetab or protection.largest_error is not None
    return pa.concat_tables(
        errors.rows(protection.spec, has_interval=has_interval) for errors in tallies.values()
    )


def key_of_seed(seed: int) -> bytes:
    """The key with which SafeTab draws its noise.

    `safetab accuracy --test-key` takes it in hexadecimal.
    """
    return hashlib.sha256(f"safetab compare, seed {seed}".encode()).digest()


def _observers(truth: CountedCensus, tallies: Mapping[str, _ErrorTally]) -> Observers:
    """Observers that add the numbers of a run to the tallies.

    At the end of the run they add what only the totals of all levels together tell.
    """
    adding = Lock()  # runs of SafeTab go on at the same time

    @contextmanager
    def of_run(run: int) -> Iterator[Observer]:
        shown = {key: ShownTotals(level) for key, level in truth.levels.items()}

        def see(plan: LevelPlan, seen: SeenNumbers) -> None:
            with adding:
                tallies[str(plan)].add(run, seen)
            has_total = seen.is_shown[:, 0]
            shown[str(plan)].show(seen.indices[has_total], seen.counts[has_total, 0])

        yield see
        with adding:
            for key, errors in tallies.items():
                found = dict(
                    zip(("rankings", "rank_changes"), shown[key].rank_changes(), strict=True)
                )
                parts = truth.parts[key]
                if parts is not None:
                    of_areas = parts.compared(shown[key], shown[str(parts.whole.plan)])
                    found |= dict(zip(("areas", "areas_not_additive"), of_areas, strict=True))
                for what, classes in found.items():
                    errors.count(run, what, classes)

    return of_run


@cache
def distinct_lines(shape: Shape) -> tuple[list[int], list[int], list[int]]:
    """Addresses of the numbers that differ, their lines, and each line's place among them.

    Some lines share a number.
    """
    lines = shape.lines
    addresses = [
        0 if line.cells == shape.cells else line.first_cell * 256 + line.cells for line in lines
    ]
    distinct = list(dict.fromkeys(addresses))
    return (
        distinct,
        [addresses.index(each) for each in distinct],
        [distinct.index(each) for each in addresses],
    )


def _with_counts(truth: CountedCensus, counted: CountedCensus, level: CountedLevel) -> _LevelTables:
    """The true tables of a level with the counts to be published.

    Last come totals of groups that are empty in truth.
    """
    tables, own = truth.tables[str(level.plan)], counted.levels[str(level.plan)]
    if counted is truth:
        return own, [((shape, groups, numbers), numbers) for shape, groups, numbers in tables]
    more = own.groups[~is_in_sorted(level.groups, own.groups)]
    empty = level.plan.family.total, more, np.zeros((len(more), 1), dtype=np.int64)
    return own, [(exact, counted.numbers(level.plan, *exact[:2])) for exact in (*tables, empty)]


def _publish(
    protection: Protection, levels: Sequence[_LevelTables], draw: list[int], see: Observer
) -> None:
    """Publish the numbers of all levels once.

    The draw decides the bits, and a key for each group and cells.
    """
    limit = protection.largest_error
    for number, (level, tables) in enumerate(levels):
        (base,) = np.random.SeedSequence([*draw, number]).generate_state(1, np.uint64)
        bits = np.random.default_rng([*draw, number])
        for (shape, groups, truths), counts in tables:
            addresses, lines, places = distinct_lines(shape)
            at_once = max(_NUMBERS_AT_ONCE // len(shape.lines), 1)
            for first in range(0, len(counts), at_once):
                some = slice(first, first + at_once)
                asked, own, truth = (
                    counts[some, lines].astype(np.int64),
                    groups[some],
                    truths[some].astype(np.int64),
                )
                exact = ExactTables(
                    counts=asked.reshape(-1),
                    keys=numbered_keys(
                        (own[:, None] * 65_536 + addresses).reshape(-1).astype(np.uint64), int(base)
                    ),
                    group_totals=np.repeat(asked[:, 0], len(lines)),
                    area_people=np.repeat(
                        level.area_people[level.plan.universe.index.entity_of(own)], len(lines)
                    ),
                )
                published = publish(protection, exact, bits)
                numbers = published.numbers.filled(0).reshape(asked.shape)[:, places]
                is_shown = published.is_shown.reshape(asked.shape)[:, places]
                is_holding = np.abs(numbers - truth) <= (-1 if limit is None else limit)
                see(level.plan, SeenNumbers(shape, own, truth, numbers, is_shown, is_holding))


def table_gaps(shape: Shape, numbers: Int64s) -> tuple[NDArray[np.bool_], Int64s] | None:
    """Whether any line of each table differs from the sum of its cells, and the total's gap.

    The gap is the amount by which the total differs. A row of `numbers` is a table. None if tables
    of this shape have no parts, or not all of them.
    """
    place_of = {line.first_cell: place for place, line in enumerate(shape.lines) if line.cells == 1}
    if shape.cells == 1 or len(place_of) < shape.cells:
        return None
    sums = line_sums(numbers[:, [place_of[cell] for cell in range(shape.cells)]], shape.lines)
    return (sums != numbers).any(axis=1), np.abs(sums[:, 0] - numbers[:, 0])


class _ErrorTally:
    """Adds up what runs show of one level.

    Sums are by sort of number, kind of group and class of true size.
    """

    def __init__(self, level: CountedLevel, kinds: tuple[str, ...], runs: int) -> None:
        self._level, self._kinds, self._runs = level, kinds, runs
        self._sorts = tuple(
            sort for sort in tally.sorts_of(level.plan.family) if sort != tally.COMBINED
        )
        self._classes = (len(self._sorts), len(kinds), len(SIZE_STARTS))
        self._keys = keys = prod(self._classes)
        self._sums = defaultdict[str, Floats](lambda: np.zeros((runs, keys)))
        self._largest = np.zeros(keys, dtype=np.int64)  # absolute error
        # relative errors are in millionths
        self._absolute, self._relative = Histograms(keys), Histograms(keys)
        classes = level.classes(slice(None))
        self.count(0, "groups", classes)
        self.count(0, "people", classes, level.sizes)
        for number, sort in enumerate(self._sorts):
            asked = np.array([len(sort.lines(shape)) for shape in level.plan.family.shapes])
            self.count(0, "asked", classes + number * prod(self._classes[1:]), asked[level.shapes])

    def count(
        self, run: int, what: str, keys: Int64s, weights: NDArray[np.generic] | None = None
    ) -> None:
        """Add 1 or a weight to a sum for each key.

        A class of `CountedLevel` is the key of totals in it.
        """
        self._sums[what][run] += np.bincount(keys, weights, self._keys)

    def add(self, run: int, seen: SeenNumbers) -> None:
        """Add numbers that a run shows."""
        sort_of = np.full(len(seen.shape.lines), -1, dtype=np.int64)
        for number, sort in enumerate(self._sorts):
            sort_of[sort.lines(seen.shape)] = number
        is_added = seen.is_shown & (sort_of >= 0)
        classes = self._level.classes_of(seen.indices, seen.truths[:, 0])
        keys = (classes[:, None] + sort_of * prod(self._classes[1:]))[is_added]
        truths, numbers = seen.truths[is_added], seen.counts[is_added]
        absolute, is_zero = np.abs(numbers - truths), truths == 0
        self.count(run, "numbers", keys)
        self.count(run, "error", keys, numbers - truths)
        self.count(run, "absolute", keys, absolute)
        self.count(run, "truth", keys, truths)
        self.count(run, "true_zeros", keys[is_zero])
        self.count(run, "false_zeros", keys[~is_zero & (numbers == 0)])
        self.count(run, "false_nonzeros", keys[is_zero & (numbers != 0)])
        self.count(run, "holding", keys[seen.is_in_interval[is_added]])
        np.maximum.at(self._largest, keys, absolute)
        self._absolute.add(keys, absolute)
        self._relative.add(keys[~is_zero], absolute[~is_zero] / truths[~is_zero] * PARTS_OF_ONE)
        is_whole = seen.is_shown.all(axis=1)
        gaps = table_gaps(seen.shape, seen.counts[is_whole])
        if gaps is not None:
            differs, gap = gaps
            self.count(run, "tables", classes[is_whole])
            self.count(run, "tables_not_additive", classes[is_whole][differs])
            self.count(run, "gap", classes[is_whole], gap)

    def rows(self, protection: str, *, has_interval: bool) -> pa.Table:
        """A row for each sort of number, kind of group and class of size.

        Those without groups and numbers have no row.
        """
        columns = self._columns(has_interval=has_interval)
        has_row = (columns["numbers"] > 0) | (columns["asked"] > 0)
        of_sort, of_kind, of_size = np.nonzero(has_row)
        found = {
            "protection": pa.array([protection] * len(of_sort), pa.string()),
            "level": pa.array([str(self._level.plan)] * len(of_sort), pa.string()),
            "kind": pa.array(np.array([*self._kinds, _ALL])[of_kind], pa.string()),
            "size_class": pa.array(np.array(_LABELS)[of_size], pa.string()),
            "sort": pa.array(np.array([sort.label for sort in self._sorts])[of_sort], pa.string()),
        }
        for name, values in columns.items():
            rows = pa.array(values[has_row], from_pandas=True)  # null where not a number
            found[name] = rows.cast(pa.int64()) if name in _COUNTS else rows
        return pa.table(found)

    def _columns(self, *, has_interval: bool) -> dict[str, Floats]:
        """The columns of numbers: arrays by sort of number, kind of group, and class of size.

        All kinds of groups together come last among the kinds.
        """

        def summed(what: str, where: NDArray[np.bool_] | bool = True) -> Floats:
            return np.where(where, self._merged(self._sums[what]).sum(axis=0), np.nan)

        def quantile(of: Histograms, share: float) -> Floats:
            return tally.quantiles(
                np.moveaxis(self._merged(tally.without_empty_end(of.counts()).T), 0, -1), share
            )

        is_total = np.arange(len(self._sorts))[:, None, None] == 0
        of_all_sizes = is_total & (np.array(_LABELS) == _ALL)
        groups, people, tables = (summed(what, is_total) for what in ("groups", "people", "tables"))
        areas, rankings = (summed(what, of_all_sizes) for what in ("areas", "rankings"))
        numbers, true_zeros = summed("numbers"), summed("true_zeros")
        errors = ratio(self._merged(self._sums["absolute"]), self._merged(self._sums["numbers"]))
        variance = ratio(
            ((errors - errors.mean(axis=0)) ** 2).sum(axis=0), np.array(self._runs - 1.0)
        )
        largest = (self._largest.reshape(self._classes)[:, :, None] * _IN_CLASS).max(axis=-1)
        largest = np.concatenate([largest, largest.max(axis=1, keepdims=True)], axis=1)
        return {
            "groups": groups,
            "people": people,
            "published_groups_share": ratio(numbers / self._runs, groups),
            "published_people_share": ratio(summed("truth") / self._runs, people),
            "asked": summed("asked"),
            "numbers": numbers,
            "mean_absolute_error": ratio(summed("absolute"), numbers),
            "mean_absolute_error_se": np.sqrt(variance) / sqrt(self._runs),
            "p90_absolute_error": quantile(self._absolute, 0.9),
            "largest_absolute_error": np.where(numbers > 0, largest, np.nan),
            "bias": ratio(summed("error"), numbers),
            "median_relative_error": quantile(self._relative, 0.5) / PARTS_OF_ONE,
            "true_zeros": true_zeros,
            "false_zeros_share": ratio(summed("false_zeros"), numbers - true_zeros),
            "false_nonzeros_share": ratio(summed("false_nonzeros"), true_zeros),
            "interval_share": ratio(numbers * has_interval, numbers),
            "interval_holding_share": ratio(summed("holding"), numbers * has_interval),
            "tables": tables,
            "tables_not_additive_share": ratio(summed("tables_not_additive"), tables),
            "mean_gap": ratio(summed("gap"), tables),
            "areas": areas,
            "areas_not_additive_share": ratio(summed("areas_not_additive"), areas),
            "rank_changes": ratio(summed("rank_changes"), rankings),
            "runs": np.full_like(numbers, self._runs),
        }

    def _merged(self, values: NDArray[np.generic]) -> Floats:
        """The values with the classes that others make up, and all kinds together, appended.

        They are by class, after any first axis.
        """
        found = values.reshape(-1, *self._classes) @ _IN_CLASS.T.astype(np.float64)
        return np.concatenate([found, found.sum(axis=-2, keepdims=True)], axis=-2)


def summary(table: pa.Table) -> Mapping[str, float | None]:
    """The committee's columns, of all levels together, weighted by what they count.

    A column is None without any. False zeros and non-zeros are of the shown numbers that are not 0,
    and that are 0, in truth, in empty groups too. A mean error stands beside the number of groups
    that a draw shows.
    """

    def mean(measure: str, weight: str, *sizes: str, sort: str | None = _TOTAL) -> float | None:
        rows = _rows(table, sort, *(sizes or (_ALL,)))
        return _mean(rows[measure], rows[weight])

    def groups_shown(size: str) -> int:
        rows = _rows(table, _TOTAL, size)
        return ceil(float((rows["numbers"] / rows["runs"]).sum()))

    small, every = _rows(table, _TOTAL, "1 to 9"), _rows(table, None, _ALL, _EMPTY)
    shown_as_0 = small["false_zeros_share"] * small["published_groups_share"] * small["groups"]
    return {
        "groups_published": mean("published_groups_share", "groups"),
        "groups_1_to_9_published": mean("published_groups_share", "groups", "1 to 9"),
        "groups_1_to_9_shown_as_0": _share(shown_as_0, small["groups"]),
        "groups_10_to_99_published": mean("published_groups_share", "groups", "10 to 99"),
        "cells_shown": _cells_shown(table),
        "people_published": mean("published_people_share", "people"),
        "error_10_to_99": mean("mean_absolute_error", "numbers", "10 to 99"),
        "error_10_to_99_groups": groups_shown("10 to 99"),
        "error_100_to_999": mean("mean_absolute_error", "numbers", "100 to 999"),
        "error_100_to_999_groups": groups_shown("100 to 999"),
        "false_zeros": _share(every["false_zeros_share"] * every["nonzeros"], every["nonzeros"]),
        "false_nonzeros": _share(
            every["false_nonzeros_share"] * every["true_zeros"], every["true_zeros"]
        ),
        "false_nonzeros_of_a_draw": _share(
            every["false_nonzeros_share"] * every["true_zeros"], every["runs"][:1]
        ),
        "tables_not_additive": mean("tables_not_additive_share", "tables"),
        "areas_not_additive": mean("areas_not_additive_share", "areas"),
        "interval_holding": mean("interval_holding_share", "numbers"),
    }


def unlike_levels(table: pa.Table) -> tuple[str, str, float | None]:
    """The least and most that levels show of groups of 1 to 9, and a bias.

    It is the bias of groups of 10 to 19 in levels where some of them are hidden.
    """
    shares, rows = (
        _rows(table, _TOTAL, "1 to 9")["published_groups_share"],
        _rows(table, _TOTAL, "10 to 19"),
    )
    bias = _mean(rows["bias"], np.where(rows["published_groups_share"] < 1, rows["numbers"], 0))
    return share(shares.min(initial=1), 0), share(shares.max(initial=0), 0), bias


def _by_size(measure: str, weight: str, table: pa.Table) -> Mapping[str, float | None]:
    """The mean of a measure of totals, of all levels together, by true size.

    The classes of size are accuracy's.
    """
    rows = {size: _rows(table, _TOTAL, size) for size in SIZE_CLASSES[1:]}
    return {size: _mean(each[measure], each[weight]) for size, each in rows.items()}


error_by_size = partial(_by_size, "mean_absolute_error", "numbers")
share_by_size = partial(_by_size, "published_groups_share", "groups")


def _cells_shown(table: pa.Table) -> float | None:
    """The shown numbers that divide a total, as a share of those asked for.

    None if none was asked for. Groups of a size and level that show more than was asked for do not
    make up for others.
    """
    cells = table.filter(pc.not_equal(table["sort"], _TOTAL))
    rows = [_rows(cells, None, size) for size in SIZE_CLASSES[1:]]
    shown = sum(
        float(np.minimum(each["numbers"] / each["runs"], each["asked"]).sum()) for each in rows
    )
    asked = sum(float(each["asked"].sum()) for each in rows)
    return shown / asked if asked else None


def _rows(table: pa.Table, sort: str | None, *sizes: str) -> Mapping[str, NDArray[np.float64]]:
    """The columns of numbers in rows of all kinds of groups with this sort and these sizes.

    Null becomes NaN.
    """
    wanted = pc.equal(table["kind"], _ALL)
    table = table.filter(wanted if sort is None else pc.and_(wanted, pc.equal(table["sort"], sort)))
    chosen = pa.concat_tables(table.filter(pc.equal(table["size_class"], size)) for size in sizes)
    numbers = chosen.drop_columns(["protection", "level", "kind", "size_class", "sort"])
    rows = {name: numbers[name].cast(pa.float64()).to_numpy() for name in numbers.column_names}
    return {**rows, "nonzeros": rows["numbers"] - rows["true_zeros"]}


def _share(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> float | None:
    """The sum of the parts that are defined, divided by the sum of all wholes.

    None if that is 0.
    """
    return float(np.nansum(parts) / wholes.sum()) if wholes.sum() else None


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    """The weighted mean of the values that are defined; None if nothing has weight."""
    is_defined = np.isfinite(values) & (weights > 0)
    return (
        float(np.average(values[is_defined], weights=weights[is_defined]))
        if is_defined.any()
        else None
    )
