"""What users lose by a protection, at every level: what is published, how wrong it is, what no longer fits.

Every protection goes through the same tallies. SafeTab's numbers are those of `safetab accuracy`
with the same key. Other numbers are protected one by one: what secondary suppression withholds beyond
small numbers is not in these measures, because it needs the equations of a whole area.

Columns of the table (null where not defined):

- `groups`, `people`: groups with somebody in them, and the sum of their true sizes
- `published_groups_share`, `published_people_share`: of them, with a total that is shown
- `asked`: numbers of this sort in the tables asked for, of groups with somebody
- `numbers`: shown numbers of this sort, over all runs; errors are of them
- `mean_absolute_error_se`: its standard error over runs
- `false_zeros_share`: of shown numbers that are not 0 in truth, those shown as 0
- `false_nonzeros_share`: of the `true_zeros` shown numbers that are 0 in truth, those shown as another
  number; groups that are empty in truth are in the class "0", and count where they are published
- `interval_share`, `interval_holding_share`: numbers that come with an interval, and of these the true
  ones: SafeTab's for 95 %, or the largest error that a method can make
- `tables`, `tables_not_additive_share`, `mean_gap`: tables shown whole, over all runs; those in which
  a line is not the sum of its cells; the mean difference of totals and sums of cells
- `areas`, `areas_not_additive_share`: groups of the areas that this level's areas make up, where it
  and all its parts with somebody are shown, over all runs; those whose parts don't add up to it
- `rank_changes`: of the ten largest groups of an area and kind (fewer where it has or shows fewer,
  but two), in how many places the wrong one stands, on average
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.assessment.assess import Observer, SeenNumbers, assess
from safetab.comparison.measures.error_tally import ErrorTally
from safetab.comparison.measures.utility_table import ALL, SIZE_CLASSES, level_rows
from safetab.comparison.protections.protection import Protection
from safetab.comparison.protections.steps import publish
from safetab.comparison.tables.counted_census import CountedCensus, TablesOfShape
from safetab.comparison.tables.counted_level import CountedLevel, LevelKey, ShownTotals
from safetab.comparison.tables.exact_tables import ExactTables, Int64s, numbered_keys
from safetab.foundation.arrays import is_in_sorted
from safetab.foundation.progress import NoProgress
from safetab.planning.run_plan import LevelPlan
from safetab.products.product import Shape

TOTAL, EMPTY = "total", SIZE_CLASSES[0]
_NUMBERS_AT_ONCE = 1 << 18


def utility(
    protection: Protection, truth: CountedCensus, *, runs: int, seed: int, published: CountedCensus | None = None
) -> pa.Table:
    """A row for each level, sort of number, kind of group and class of true size.

    `published` has the counts of the protected records, if records were protected: errors are the
    differences of both. A protection without chance is run once. SafeTab runs as the
    options of the census say, with the key of the seed unless they have one.
    """
    if protection.is_safetab:
        measured, options = _Measured(truth, runs), truth.options
        options = replace(options, test_key=options.test_key or key_of_seed(seed))
        assess(truth.inputs, truth.known, options, runs, NoProgress(), measured.run)
    else:
        measured = _Measured(truth, runs if _is_random(protection) else 1)
        draws = _Draws(protection, seed, truth, published or truth)
        for run in range(measured.runs):
            with measured.run(run) as see:
                draws.publish(run, see)
    kinds = tuple(kind.name for kind in truth.inputs.plan.config.census.group_kinds)
    has_interval = protection.is_safetab or _largest_error(protection) is not None
    return pa.concat_tables(
        level_rows(level, measured.tallies[key], protection.spec, kinds, has_interval=has_interval)
        for key, level in truth.levels.items()
    )


def key_of_seed(seed: int) -> bytes:
    """The key with which SafeTab draws its noise: `safetab accuracy --test-key` takes it in hexadecimal."""
    return hashlib.sha256(f"safetab compare, seed {seed}".encode()).digest()


class _Measured:
    """The tallies of all levels for one protection."""

    def __init__(self, truth: CountedCensus, runs: int) -> None:
        self.truth, self.runs = truth, runs
        kinds = len(truth.inputs.plan.config.census.group_kinds)
        self.tallies = {key: ErrorTally(level.plan.family, kinds, runs) for key, level in truth.levels.items()}
        self._adding = Lock()  # runs of SafeTab go on at the same time

    @contextmanager
    def run(self, run: int) -> Iterator[Observer]:
        """What adds the numbers of one run; at its end, what only the totals of all levels together tell."""
        shown = {key: ShownTotals(level.groups) for key, level in self.truth.levels.items()}

        def see(plan: LevelPlan, seen: SeenNumbers) -> None:
            key = plan.family, plan.level
            classes = self.truth.levels[key].classes(seen.indices, seen.truths[:, 0])
            with self._adding:
                self.tallies[key].add(run, seen, classes)
            has_total = seen.is_shown[:, 0]
            shown[key].show(seen.indices[has_total], seen.counts[has_total, 0])

        yield see
        nobody = np.empty(0, dtype=np.int64)
        with self._adding:
            for key, tally in self.tallies.items():
                parts = self.truth.parts[key]
                of_areas = (nobody, nobody) if parts is None else parts.compared(shown[key], shown[parts.whole.key])
                of_ranks = self.truth.levels[key].largest.compared(shown[key])
                for fit, kinds in enumerate((*of_areas, *of_ranks)):
                    tally.fits[fit] += np.bincount(kinds, minlength=tally.fits.shape[1])


def _largest_error(protection: Protection) -> int | None:
    """How far a published number may be from the truth, as users know; None if nothing limits it."""
    if protection.records is not None:
        return None
    return 0 if protection.numbers is None else protection.numbers.largest_error


def _is_random(protection: Protection) -> bool:
    """Whether the same count may be published as different numbers."""
    counts = np.tile(np.arange(1, 2_001), 10)
    large, keys = np.full_like(counts, 1 << 31), numbered_keys(np.arange(len(counts), dtype=np.uint64), 0)
    published = publish(protection, ExactTables(counts, keys, large, large), np.random.default_rng(0))
    shown = published.numbers.filled(-1).reshape(10, -1)
    return bool((shown != shown[0]).any())


@cache
def distinct_lines(shape: Shape) -> tuple[list[int], list[int], list[int]]:
    """Addresses of the numbers that differ, their lines, and for each line its number's place among them.

    A total may have several lines, and its address is the same in every shape.
    """
    lines = shape.lines
    addresses = [0 if line.cells == shape.cells else line.first_cell * 256 + line.cells for line in lines]
    distinct = list(dict.fromkeys(addresses))
    return distinct, [addresses.index(each) for each in distinct], [distinct.index(each) for each in addresses]


class _Draws:
    """Draws of a protection of finished numbers; each is a function of the seed and its number."""

    def __init__(self, protection: Protection, seed: int, truth: CountedCensus, counted: CountedCensus) -> None:
        self._protection, self._seed = protection, seed
        limit = _largest_error(protection)
        self._limit = -1 if limit is None else limit
        self._levels = {key: (counted.levels[key], _with_counts(truth, counted, key)) for key in truth.levels}

    def publish(self, run: int, see: Observer) -> None:
        """Publish the numbers of all levels once."""
        for number, (level, tables) in enumerate(self._levels.values()):
            (base,) = np.random.SeedSequence([self._seed, run, number]).generate_state(1, np.uint64)
            bits = np.random.default_rng([self._seed, run, number])
            for exact, counts in tables:
                at_once = max(_NUMBERS_AT_ONCE // len(exact.shape.lines), 1)
                for first in range(0, len(counts), at_once):
                    some = slice(first, first + at_once)
                    part = TablesOfShape(exact.shape, exact.groups[some], exact.numbers[some])
                    see(level.plan, self._seen(level, part, counts[some].astype(np.int64), int(base), bits))

    def _seen(
        self, level: CountedLevel, exact: TablesOfShape, counts: Int64s, base: int, bits: np.random.Generator
    ) -> SeenNumbers:
        """Some tables as published. Each number has a key of its own, by its group and cells."""
        addresses, lines, places = distinct_lines(exact.shape)
        asked, entities = counts[:, lines], level.plan.universe.index.entity_of(exact.groups)
        tables = ExactTables(
            counts=asked.reshape(-1),
            keys=numbered_keys((exact.groups[:, None] * 65_536 + addresses).reshape(-1).astype(np.uint64), base),
            group_totals=np.repeat(asked[:, 0], len(lines)),
            area_people=np.repeat(level.area_people[entities], len(lines)),
        )
        published = publish(self._protection, tables, bits)
        numbers = published.numbers.filled(0).reshape(asked.shape)[:, places]
        is_shown = published.is_shown.reshape(asked.shape)[:, places]
        truths = exact.numbers.astype(np.int64)
        is_holding = np.abs(numbers - truths) <= self._limit
        return SeenNumbers(exact.shape, exact.groups, truths, numbers, is_shown, is_holding)


def _with_counts(
    truth: CountedCensus, counted: CountedCensus, key: LevelKey
) -> list[tuple[TablesOfShape, NDArray[np.integer]]]:
    """The true tables of a level with the counts to be published; last, totals of groups that are empty in truth."""
    if counted is truth:
        return [(exact, exact.numbers) for exact in truth.tables[key]]
    own, level = counted.levels[key], truth.levels[key]
    more, total = own.groups[~is_in_sorted(level.groups, own.groups)], level.plan.family.total
    tables = [*truth.tables[key], TablesOfShape(total, more, np.zeros((len(more), 1), dtype=np.int64))]
    return [(exact, counted.numbers(level.plan, exact.shape, exact.groups)) for exact in tables]


def summary(table: pa.Table) -> Mapping[str, float | None]:
    """The committee's columns, of all levels together, weighted by what they count; None without any.

    False non-zeros are of all shown numbers that are 0 in truth, in empty groups too. False groups
    are published with somebody in them although they are empty: their share of all groups that are
    published, without empty ones shown as 0.
    """
    totals, of_all_sorts = _rows(table, ALL, TOTAL), _rows(table, ALL)
    of_empty, empty_cells = _rows(table, EMPTY, TOTAL), _rows(table, EMPTY)
    filled = float((of_empty["false_nonzeros_share"] * of_empty["numbers"]).sum())
    shown = float(totals["numbers"].sum()) + filled
    nonzeros = of_all_sorts["numbers"] - of_all_sorts["true_zeros"]
    return {
        "groups_published": _mean_of_totals(table, "published_groups_share", "groups"),
        "groups_1_to_9_published": _mean_of_totals(table, "published_groups_share", "groups", "1 to 9"),
        "groups_10_to_99_published": _mean_of_totals(table, "published_groups_share", "groups", "10 to 99"),
        "cells_shown": _cells_shown(table),
        "people_published": _mean_of_totals(table, "published_people_share", "people"),
        "error_10_to_99": _mean_of_totals(table, "mean_absolute_error", "numbers", "10 to 99"),
        "error_100_to_999": _mean_of_totals(table, "mean_absolute_error", "numbers", "100 to 999"),
        "false_zeros": _mean(of_all_sorts["false_zeros_share"], nonzeros),
        "false_nonzeros": _mean(
            *(np.append(of_all_sorts[name], empty_cells[name]) for name in ("false_nonzeros_share", "true_zeros"))
        ),
        "false_groups": filled / shown if shown else None,
        "tables_not_additive": _mean_of_totals(table, "tables_not_additive_share", "tables"),
        "areas_not_additive": _mean_of_totals(table, "areas_not_additive_share", "areas"),
    }


def error_by_size(table: pa.Table) -> Mapping[str, float | None]:
    """The mean absolute error of totals, of all levels together, by accuracy's classes of true size."""
    return {size: _mean_of_totals(table, "mean_absolute_error", "numbers", size) for size in SIZE_CLASSES[1:]}


def share_by_size(table: pa.Table) -> Mapping[str, float | None]:
    """The share of groups with a total that is shown, likewise."""
    return {size: _mean_of_totals(table, "published_groups_share", "groups", size) for size in SIZE_CLASSES[1:]}


def _cells_shown(table: pa.Table) -> float | None:
    """Shown numbers that divide a total, as a share of those asked for; None if none was asked for.

    Groups of a size and level that show more than was asked for do not make up for others.
    """
    cells = table.filter(pc.not_equal(table["sort"], TOTAL))
    rows = [_rows(cells, size) for size in SIZE_CLASSES if size != EMPTY]
    shown = sum(float(np.minimum(each["numbers"] / each["runs"], each["asked"]).sum()) for each in rows)
    asked = sum(float(each["asked"].sum()) for each in rows)
    return shown / asked if asked else None


def _mean_of_totals(table: pa.Table, measure: str, weight: str, size: str = ALL) -> float | None:
    rows = _rows(table, size, TOTAL)
    return _mean(rows[measure], rows[weight])


def _rows(table: pa.Table, size: str, sort: str | None = None) -> Mapping[str, NDArray[np.float64]]:
    """The columns of numbers, NaN where null, in the rows of all kinds of groups with this size and sort."""
    is_wanted = pc.and_(pc.equal(table["kind"], ALL), pc.equal(table["size_class"], size))
    if sort is not None:
        is_wanted = pc.and_(is_wanted, pc.equal(table["sort"], sort))
    chosen = table.filter(is_wanted).drop_columns(["protection", "level", "kind", "size_class", "sort"])
    return {name: chosen[name].cast(pa.float64()).to_numpy() for name in chosen.column_names}


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    """The weighted mean of the values that are defined; None if nothing has weight."""
    is_defined = np.isfinite(values) & (weights > 0)
    return float(np.average(values[is_defined], weights=weights[is_defined])) if is_defined.any() else None
