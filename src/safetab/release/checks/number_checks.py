"""Checks of the tidy release's numbers, a row group at a time: domains, whole tables, sums, and the table files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.area_levels import Pass
from safetab.foundation.arrays import find_sorted
from safetab.products.product import Line, Product, TableFamily, TableFileLayout
from safetab.release.checks.table_checks import Breaches, PublishedTotals, tables_of_pass
from safetab.release.numbers import number_files
from safetab.release.numbers.number_files import RELEASE_FOLDER, STATUSES, numbers_file
from safetab.release.numbers.read_numbers import UNKNOWN, NumberBatch, NumbersReader
from safetab.release.release_options import ReleaseOptions, ReleaseRule
from safetab.release.release_universe import ReleaseLevel, Universe
from safetab.release.write_release import AFTER_STEPS_FOLDER

Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]

_NEGATIVE_RULES = {ReleaseRule.CLAMP_NEGATIVES, ReleaseRule.WITHHOLD_NEGATIVES}
_NO_ORDER = "lines are not in their order"


@dataclass(frozen=True, slots=True)
class NumberChecks:
    """Checks the files of a release level by level."""

    output: Path
    universe: Universe
    options: ReleaseOptions
    breaches: Breaches
    after_steps: AfterStepsChecks | None

    def check_level(self, level: ReleaseLevel, published: PublishedTotals) -> None:
        """Add what is wrong with a level's file to the breaches; `published` is what the table files have."""
        name = f"{RELEASE_FOLDER}/{numbers_file(level.design)}"
        path = self.output / name
        if not path.is_file():
            if len(published[0]):
                self.breaches.add(name, "is not there, and there are groups of its level")
        elif not pyarrow.parquet.read_schema(path).equals(
            number_files.number_schema(self.universe.product, self.universe.census)
        ):
            self.breaches.add(name, "the columns or their types are not what they must be")
        else:
            file = NumbersReader(path, self.universe, level)
            _FileChecks(self, file, name, published).check()


class _FileChecks:
    """The checks of one level's file, from its first row to its last."""

    def __init__(self, of_release: NumberChecks, file: NumbersReader, name: str, published: PublishedTotals) -> None:
        self._file = file
        self._name = name
        self._published = published
        self._options = of_release.options
        self._breaches = of_release.breaches
        self._after_steps = of_release.after_steps
        self._universe = file.universe
        self._level = file.level
        self._totals_files = " or ".join(family.folders[0] for family in file.universe.product.families)
        self._rows_before = 0
        self._last_index = -1
        self._own_groups = 0

    def check(self) -> None:
        """Add everything that is wrong to the breaches; stop at rows without any group's total."""
        for rows in self._file.whole_groups(None, strict=False):
            first = np.flatnonzero(rows.is_total)
            if not len(first):
                totals = " or ".join(self._universe.product.total_table_ids)
                self._breaches.add(self._name, f"a group has no row of {totals}")
                return
            self._check_domains(rows)
            self._check_values(rows)
            if first[0]:
                self._add_some(_NO_ORDER, np.arange(1), rows)
            self._check_groups(rows, first)
            if self._after_steps is not None:
                self._after_steps.check(self._level.geography.label, rows)
            self._rows_before += len(rows)
        if self._options.coterminous is None and self._own_groups != len(self._published[0]):
            self._breaches.add(self._name, f"lacks groups that {self._totals_files} has")

    def _add(self, rule: str, is_wrong: Truths) -> None:
        self._breaches.add_rows(self._name, rule, is_wrong, self._rows_before)

    def _add_some(self, rule: str, wrong: NDArray[np.integer], rows: NumberBatch) -> None:
        is_wrong = np.zeros(len(rows), dtype=np.bool_)
        is_wrong[wrong] = True
        self._add(rule, is_wrong)

    def _check_domains(self, rows: NumberBatch) -> None:
        for column in number_files.number_columns(self._universe.product, self._universe.census):
            if column.is_required and rows.table[column.name].null_count:
                self._add(f"{column.name} is null", ~rows.has(column.name))
            if column.values and not set(column.values).issuperset(rows.texts(column.name).dictionary.to_pylist()):
                is_listed = rows.positions(column.name, dict.fromkeys(column.values, 1)) == 1
                self._add(f"{column.name} is not one of its values", ~is_listed & rows.has(column.name))

    def _check_values(self, rows: NumberBatch) -> None:
        """Numbers and their status agree: what is withheld is null, margins are there where they can be."""
        is_withheld = rows.status == STATUSES.index(number_files.WITHHELD)
        is_null = ~rows.has("count")
        has_donor = rows.has("donor_region_id")
        is_sum = rows.integers("noise_draws") > 1
        is_sum_clamped = is_sum & (not self._universe.allow_negative_counts)
        wrong = {
            "count must be null exactly if it is withheld": is_withheld != is_null,
            "unclamped_count must be null exactly if count is": rows.has("unclamped_count") == is_null,
            "a withheld number must name its rule": is_withheld & ~rows.has("rule"),
            "a copied number must name its donor": (rows.status == STATUSES.index(number_files.COPIED)) & ~has_donor,
            "a number of the group's own has a donor": (rows.status == STATUSES.index(number_files.PUBLISHED))
            & has_donor,
            "margin_of_error must be null exactly for withheld numbers and sums of clamped ones": (
                rows.has("margin_of_error") == (is_null | is_sum_clamped)
            ),
            "margin_of_error is negative": rows.integers("margin_of_error") < 0,
            "variance must be positive": ~(np.asarray(rows.table["variance"]) >= 0),
            "interval_low is above interval_high": rows.integers("interval_low") > rows.integers("interval_high"),
        }
        if not self._universe.allow_negative_counts or _NEGATIVE_RULES.intersection(self._options.rules):
            wrong["count is negative, which is not allowed"] = rows.integers("count") < 0
        for rule, is_wrong in wrong.items():
            self._add(rule, is_wrong)

    def _check_groups(self, rows: NumberBatch, first: NDArray[np.intp]) -> None:
        """Each group is in the universe, in its order and whole, with the total that the table files have."""
        is_own = ~rows.has("donor_region_id")[first]
        entity, iteration = rows.entity[first], rows.iteration[first]
        can_be = self._level.is_tabulated[iteration] | ~is_own  # groups that aren't tabulated may be copied
        is_right = (entity != UNKNOWN) & (iteration != UNKNOWN) & can_be
        indices = np.where(is_right, self._level.index.index_of(entity, iteration), -1)
        self._add_some("a group is not in the universe", first[~is_right], rows)
        is_repeated = np.diff(indices, prepend=self._last_index) <= 0
        self._add_some("a group is there twice, or out of its order", first[is_repeated], rows)
        self._check_lines(rows, first)
        is_plain = (rows.status[first] == STATUSES.index(number_files.PUBLISHED)) & ~rows.has("rule")[first]
        known, totals = self._published
        position, is_known = find_sorted(known, indices)
        is_other = ~is_known
        if len(known):
            is_other |= totals[position] != rows.integers("count")[first]
        self._add_some(f"a total is not the one in {self._totals_files}", first[is_plain & is_other], rows)
        self._own_groups += int(is_own.sum())
        self._last_index = int(indices[-1])

    def _check_lines(self, rows: NumberBatch, first: NDArray[np.intp]) -> None:
        """Each group has all lines of its table, in order, and what is not withheld adds up."""
        lengths = np.diff(np.append(first, len(rows)))
        shape_of_group = rows.shape[first]
        values = rows.integers("unclamped_count")
        is_shown = rows.has("unclamped_count")
        for number, shape in enumerate(self._level.family.shapes):
            alike = np.flatnonzero(shape_of_group == number)
            is_whole = lengths[alike] == len(shape.lines)
            self._add_some("a table is not whole", first[alike[~is_whole]], rows)
            own = first[alike[is_whole]][:, None] + np.arange(len(shape.lines))  # a row a group, a column a line
            if not own.size:
                continue
            is_wrong = rows.line_positions(number, own) != np.arange(len(shape.lines))
            self._add_some(_NO_ORDER, own[is_wrong], rows)
            for position, differs in _sums_that_differ(shape.lines, values[own], is_shown[own]):
                self._add_some("a sum is not that of its cells", own[differs, position], rows)


def _sums_that_differ(lines: tuple[Line, ...], values: Integers, is_shown: Truths) -> Iterator[tuple[int, Truths]]:
    """For each line that is a sum, the groups (rows) that show it and all its cells, which add up to something else."""
    cells = sorted((line.first_cell, position) for position, line in enumerate(lines) if line.cells == 1)
    at = [position for _, position in cells]
    sums = np.zeros((len(values), len(cells) + 1), dtype=np.int64)
    hidden = np.zeros_like(sums)
    np.cumsum(values[:, at], axis=1, out=sums[:, 1:])
    np.cumsum(~is_shown[:, at], axis=1, out=hidden[:, 1:])
    for position, line in enumerate(lines):
        if line.cells > 1:
            begin = bisect_left(cells, (line.first_cell, 0))
            end = bisect_left(cells, (line.first_cell + line.cells, 0))
            differs = sums[:, end] - sums[:, begin] != values[:, position]
            yield position, differs & (hidden[:, end] == hidden[:, begin]) & is_shown[:, position]


_COMPARED = ["region_id", "iteration_code", "count"]


class AfterStepsChecks:
    """The checks of one pass; rows of the release come in, in the order of its files."""

    def __init__(self, output: Path, product: Product, tabulation_pass: Pass, breaches: Breaches) -> None:
        self._layouts = product.files
        self._files = tables_of_pass(output, product, tabulation_pass, breaches, f"{AFTER_STEPS_FOLDER}/")

    def check(self, level: str, numbers: NumberBatch) -> None:
        """Compare whole groups of one geography level with the next rows of the table files."""
        is_shown = numbers.has("count")
        group = np.cumsum(numbers.is_total)  # each begins with its total
        line = numbers.line_positions(numbers.shape)
        for layout, file in zip(self._layouts, self._files, strict=True):
            row_of_line, texts = _file_rows(numbers.level.family, layout)
            row = row_of_line[numbers.shape, line]
            rows = np.flatnonzero(is_shown & (row >= 0))
            place = group[rows] * row_of_line.size + row[rows]
            if not (place[1:] >= place[:-1]).all():
                rows = rows[np.argsort(place, kind="stable")]
            shown = numbers.table.select(_COMPARED).take(pa.array(rows))
            chosen = pa.array(row[rows])
            wanted = {
                "REGION_ID": shown["region_id"].cast(pa.string()),
                "REGION_TYPE": pa.scalar(level),
                "ITERATION_CODE": shown["iteration_code"].cast(pa.string()),
                **{name: column.take(chosen) for name, column in texts.items()},
                "COUNT": shown["count"],
            }
            written = file.take_all(len(shown), "lacks rows that the release has")
            file.check_columns(written, wanted, "is not that of the release")

    def check_ends(self) -> None:
        """Add table files with more rows than the release."""
        for file in self._files:
            file.check_end("has rows that the release doesn't have")


@lru_cache(maxsize=8)
def _file_rows(family: TableFamily, layout: TableFileLayout) -> tuple[Integers, dict[str, pa.Array]]:
    """For each shape and line its row in a table file, or -1; and the texts of all these rows, by column.

    The rows of a family's shapes are numbered one after the other. The last shape and line are unknown ones.
    """
    most_lines = max(len(shape.lines) for shape in family.shapes)
    row_of_line = np.full((len(family.shapes) + 1, most_lines + 1), -1, dtype=np.int64)
    texts: list[tuple[str, ...]] = []
    for number, shape in enumerate(family.shapes):
        rows = np.array(shape.file_row_of_lines(layout.folder))
        row_of_line[number, : len(rows)] = np.where(rows < 0, -1, rows + len(texts))
        texts += [row.texts for row in shape.file_rows.get(layout.folder, ())]
    columns = zip(*texts, strict=True) if texts else ([] for _ in layout.label_columns)
    arrays = [pa.array(column, pa.string()) for column in columns]
    return row_of_line, dict(zip(layout.label_columns, arrays, strict=True))
