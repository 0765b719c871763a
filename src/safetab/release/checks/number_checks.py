"""Checks of the tidy release's numbers, a row group at a time: domains, whole tables, sums, and the table files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.outputs.text_columns import as_dictionaries
from safetab.products.product import TOTAL_LINE, Line
from safetab.release.checks.after_steps_checks import AfterStepsChecks
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.table_checks import PublishedTotals
from safetab.release.checks.text_positions import looked_up, positions_in
from safetab.release.numbers.number_columns import COPIED, PUBLISHED, WITHHELD, number_columns, number_schema
from safetab.release.numbers.number_files import RELEASE_FOLDER, numbers_file
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_rules import ReleaseRule
from safetab.release.release_universe import ReleaseLevel, Universe

_ROWS_AT_ONCE = 1 << 18
_OF_GROUPS = ["region_id", "iteration_code", "donor_region_id", "table", "count", "status", "rule"]
_NEGATIVE_RULES = {ReleaseRule.CLAMP_NEGATIVES, ReleaseRule.WITHHOLD_NEGATIVES}


class NumberChecks:
    """Checks the files of a release level by level."""

    def __init__(
        self,
        release: Path,
        universe: Universe,
        options: ReleaseOptions,
        breaches: Breaches,
        after_steps: AfterStepsChecks | None,
    ) -> None:
        self._release = release
        self._after_steps = after_steps
        self._universe = universe
        self._options = options
        self._breaches = breaches
        self._columns = number_columns(universe.product)
        self._table_ids: Mapping[str | None, int] = {one: n for n, one in enumerate(universe.product.table_ids)}
        self._total_ids = universe.product.total_table_ids
        self._totals_files = " or ".join(family.folders[0] for family in universe.product.families)
        self._no_negatives = not universe.allow_negative_counts or bool(_NEGATIVE_RULES & set(options.rules))

    def check_level(self, level: ReleaseLevel, published: PublishedTotals) -> None:
        name = numbers_file(level.design)
        path, shown = self._release / name, f"{RELEASE_FOLDER}/{name}"
        if not path.is_file():
            if len(published[0]):
                self._breaches.add(shown, "is not there, and there are groups of its level")
            return
        if not pa.parquet.read_schema(path).equals(number_schema(self._universe.product)):
            self._breaches.add(shown, "the columns or their types are not what they must be")
            return
        texts = [column.name for column in self._columns if column.type == pa.string()]
        with pa.parquet.ParquetFile(path, read_dictionary=texts) as file:
            self._check_rows(file, _NumberRows(level, self._universe, shown, published))

    def _check_rows(self, file: pa.parquet.ParquetFile, level: _NumberRows) -> None:
        before, last, own_groups = 0, -1, 0
        for rows in self._whole_groups(file):
            first = np.flatnonzero(self._are_totals(rows))
            if not len(first):
                self._breaches.add(level.name, f"a group has no row of {' or '.join(self._total_ids)}")
                return
            own_groups, last = self._check_groups(rows, first, level, before, last, own_groups)
            before += len(rows)
        if self._options.coterminous is None and own_groups != len(level.published[0]):
            self._breaches.add(level.name, f"lacks groups that {self._totals_files} has")

    def _whole_groups(self, file: pa.parquet.ParquetFile) -> Iterator[pa.RecordBatch]:
        """Rows as they were read, with the dictionaries they had; a group that lies in two batches comes alone."""
        waiting: list[pa.RecordBatch] = []  # the rows of a group, of which more may follow
        rows_left = file.metadata.num_rows
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            rows_left -= len(batch)
            first = np.flatnonzero(self._are_totals(batch))
            if not len(first) and waiting:
                waiting.append(batch)
                continue
            begin = int(first[0]) if waiting else 0
            end = int(first[-1]) if len(first) and rows_left else len(batch)
            if waiting:
                yield self._joined([*waiting, batch.slice(0, begin)])
            if begin < end:
                yield batch.slice(begin, end - begin)
            waiting = [batch.slice(end)] if end < len(batch) else []
        if waiting:
            yield self._joined(waiting)

    def _joined(self, few: list[pa.RecordBatch]) -> pa.RecordBatch:
        schema = number_schema(self._universe.product)
        rows = pa.Table.from_batches(few).cast(schema).combine_chunks().cast(as_dictionaries(schema))
        return rows.to_batches()[0]

    def _check_groups(
        self, rows: pa.RecordBatch, first: NDArray[np.intp], level: _NumberRows, before: int, last: int, own_groups: int
    ) -> tuple[int, int]:
        """Checks rows of whole groups; tells how many groups are the level's own so far, and the last index."""
        self._check_domains(rows, level.name, before)
        self._check_values(rows, level.name, before)
        if first[0]:
            self._add(np.arange(1), "lines are not in their order", level.name, rows, before)
        groups = rows.select(_OF_GROUPS).take(pa.array(first))
        indices = level.indices(groups)
        self._breaches.add_rows(level.name, "a group is not in the universe", _spread(indices < 0, first, rows), before)
        is_repeated = np.diff(indices, prepend=last) <= 0
        self._breaches.add_rows(
            level.name, "a group is there twice, or out of its order", _spread(is_repeated, first, rows), before
        )
        self._check_lines(rows, first, groups["table"], level, before)
        differs = _differ_from_tables(groups, indices, level.published)
        self._add(first[differs], f"a total is not the one in {self._totals_files}", level.name, rows, before)
        if self._after_steps is not None:
            self._after_steps.check(level.geography, rows)
        is_own = np.asarray(groups["donor_region_id"].is_null())
        return own_groups + int(is_own.sum()), int(indices[-1])

    def _check_domains(self, table: pa.RecordBatch, name: str, before: int) -> None:
        for column in self._columns:
            values = table[column.name]
            if column.is_required and values.null_count:
                self._breaches.add_rows(name, f"{column.name} is null", np.asarray(values.is_null()), before)
            if column.values and not set(column.values).issuperset(values.dictionary.to_pylist()):
                is_known = looked_up(values, dict.fromkeys((*column.values, None), 1)) == 1
                self._breaches.add_rows(name, f"{column.name} is not one of its values", ~is_known, before)

    def _check_values(self, table: pa.RecordBatch, name: str, before: int) -> None:
        """Numbers and their status agree: what is withheld is null, margins are there where they can be."""
        status, count, rule = (table[column] for column in ("status", "count", "rule"))
        is_withheld, is_null = _are(status, WITHHELD), np.asarray(count.is_null())
        has_donor = np.asarray(table["donor_region_id"].is_valid())
        margin, unclamped = table["margin_of_error"], table["unclamped_count"]
        is_sum_clamped = (table["noise_draws"].to_numpy() > 1) & (not self._universe.allow_negative_counts)
        low, high = (table[end].fill_null(0).to_numpy() for end in ("interval_low", "interval_high"))
        wrong = {
            "count must be null exactly if it is withheld": is_withheld != is_null,
            "unclamped_count must be null exactly if count is": np.asarray(unclamped.is_null()) != is_null,
            "a withheld number must name its rule": is_withheld & np.asarray(rule.is_null()),
            "a copied number must name its donor": _are(status, COPIED) & ~has_donor,
            "a number of the group's own has a donor": _are(status, PUBLISHED) & has_donor,
            "margin_of_error must be null exactly for withheld numbers and sums of clamped ones": (
                np.asarray(margin.is_null()) != (is_null | is_sum_clamped)
            ),
            "margin_of_error is negative": margin.fill_null(0).to_numpy() < 0,
            "variance must be positive": ~(table["variance"].to_numpy() >= 0),
            "interval_low is above interval_high": low > high,
        }
        if self._no_negatives:
            wrong["count is negative, which is not allowed"] = count.fill_null(0).to_numpy() < 0
        for sentence, is_wrong in wrong.items():
            self._breaches.add_rows(name, sentence, is_wrong, before)

    def _are_totals(self, table: pa.RecordBatch) -> NDArray[np.bool_]:
        """The lines that every group has first."""
        ids: Mapping[str | None, int] = dict.fromkeys(self._total_ids, 1)
        return np.asarray((looked_up(table["table_id"], ids) == 1) & (table["line"].to_numpy() == TOTAL_LINE))

    def _check_lines(
        self,
        table: pa.RecordBatch,
        first: NDArray[np.intp],
        shapes: pa.DictionaryArray,
        level: _NumberRows,
        before: int,
    ) -> None:
        """Each group has all lines of its table, in order, and what is not withheld adds up."""
        name = level.name
        rows = np.diff(np.append(first, len(table)))
        shape_of = looked_up(shapes, level.family.number_of_label)
        line = _lines(looked_up(table["table_id"], self._table_ids), table["line"].to_numpy())
        unclamped = table["unclamped_count"]
        value, is_shown = unclamped.fill_null(0).to_numpy(), np.asarray(unclamped.is_valid())
        for number, shape in enumerate(level.family.shapes):
            lines = shape.lines
            alike = np.flatnonzero(shape_of == number)
            is_whole = rows[alike] == len(lines)
            self._breaches.add_rows(name, "a table is not whole", _spread_some(alike[~is_whole], first, table), before)
            own = first[alike[is_whole]][:, None] + np.arange(len(lines))
            if not own.size:
                continue
            ids = np.array([self._table_ids[one.table_id] for one in lines], dtype=np.int16)
            is_wrong = line[own] != _lines(ids, np.array([one.number for one in lines], dtype=np.int8))
            self._add(own[is_wrong], "lines are not in their order", name, table, before)
            for position, differs in _sums_that_differ(lines, value[own], is_shown[own]):
                self._add(own[differs, position], "a sum is not that of its cells", name, table, before)

    def _add(self, rows: NDArray[np.intp], rule: str, name: str, table: pa.RecordBatch, before: int) -> None:
        is_wrong = np.zeros(len(table), dtype=np.bool_)
        is_wrong[rows] = True
        self._breaches.add_rows(name, rule, is_wrong, before)


class _NumberRows:
    """The file of one level, and how its groups are found in the universe."""

    def __init__(self, level: ReleaseLevel, universe: Universe, name: str, published: PublishedTotals) -> None:
        self.name = name
        self.geography = level.geography.label
        self.family = level.family
        self.published = published
        self._level = level
        self._region_ids = universe.entities[level.geography].region_ids
        self._iterations = {one.code: position for position, one in enumerate(level.iterations)}

    def indices(self, groups: pa.RecordBatch) -> NDArray[np.int64]:
        """The index of each group, or -1: an unknown id or code, or a group that was neither tabulated nor copied."""
        entity = positions_in(self._region_ids, groups["region_id"])
        iteration = looked_up(groups["iteration_code"], self._iterations).astype(np.int64)
        is_copied = np.asarray(groups["donor_region_id"].is_valid())
        is_right = (entity >= 0) & (iteration >= 0) & (is_copied | self._level.is_tabulated[iteration])
        return np.where(is_right, self._level.index.index_of(entity, iteration), -1)


def _lines(table_id: NDArray[np.int16], number: NDArray[np.int8]) -> NDArray[np.int16]:
    """Table and line in one number."""
    return table_id * np.int16(1 << 8) + number


def _sums_that_differ(
    lines: tuple[Line, ...], values: NDArray[np.int64], is_shown: NDArray[np.bool_]
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """For each line that is a sum, the groups (rows) that show it and all its cells, which add up to something else."""
    cells = sorted((one.first_cell, position) for position, one in enumerate(lines) if one.cells == 1)
    at = [position for _, position in cells]
    sums, hidden = (np.zeros((len(values), len(cells) + 1), dtype=np.int64) for _ in range(2))
    np.cumsum(values[:, at], axis=1, out=sums[:, 1:])
    np.cumsum(~is_shown[:, at], axis=1, out=hidden[:, 1:])
    for position, one in enumerate(lines):
        if one.cells > 1:
            begin, end = (bisect_left(cells, (cell, 0)) for cell in (one.first_cell, one.first_cell + one.cells))
            differs = sums[:, end] - sums[:, begin] != values[:, position]
            yield position, differs & (hidden[:, end] == hidden[:, begin]) & is_shown[:, position]


def _differ_from_tables(
    totals: pa.RecordBatch, indices: NDArray[np.int64], published: PublishedTotals
) -> NDArray[np.bool_]:
    """The totals of groups of their own, that no rule touched, and that are not in the table files."""
    is_plain: NDArray[np.bool_] = _are(totals["status"], PUBLISHED) & np.asarray(totals["rule"].is_null())
    known, counts = published
    if not len(known):
        return is_plain
    position = _positions_among(known, indices)
    is_other = (known[position] != indices) | (counts[position] != totals["count"].fill_null(0).to_numpy())
    return np.asarray(is_plain & is_other)


def _positions_among(known: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where each index is in a rising list, if it is there; most often they are neighbours in both."""
    begin = min(int(np.searchsorted(known, indices[0])), max(len(known) - len(indices), 0))
    if np.array_equal(known[begin : begin + len(indices)], indices):
        return begin + np.arange(len(indices))
    return np.minimum(np.searchsorted(known, indices), len(known) - 1)


def _are(column: pa.DictionaryArray, text: str) -> NDArray[np.bool_]:
    return np.asarray(looked_up(column, {text: 1}) == 1)


def _spread(is_wrong: NDArray[np.bool_], first: NDArray[np.intp], table: pa.RecordBatch) -> NDArray[np.bool_]:
    return _spread_some(np.flatnonzero(is_wrong), first, table)


def _spread_some(groups: NDArray[np.intp], first: NDArray[np.intp], table: pa.RecordBatch) -> NDArray[np.bool_]:
    rows = np.zeros(len(table), dtype=np.bool_)
    rows[first[groups]] = True
    return rows
