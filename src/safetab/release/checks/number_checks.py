"""Checks of the tidy release's numbers, a row group at a time: domains, whole tables, sums, and agreement with t1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.products.product import TOTAL_LINE
from safetab.release.checks.after_steps_checks import AfterStepsChecks
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.table_checks import PublishedTotals
from safetab.release.numbers.number_columns import COPIED, PUBLISHED, WITHHELD, number_columns, number_schema
from safetab.release.numbers.number_files import RELEASE_FOLDER, numbers_file
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_rules import ReleaseRule
from safetab.release.release_universe import ReleaseLevel, Universe

_ROWS_AT_ONCE = 1 << 18
_KEYS = ["region_id", "iteration_code", "donor_region_id"]
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
        waiting: pa.Table | None = None
        begun = 0  # where the last group of those that wait begins: more of it may follow
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            table = pa.Table.from_batches([batch])
            if waiting is not None:
                own_groups, last = self._check_groups(waiting.slice(0, begun), level, before, last, own_groups)
                before += begun
                table = pa.concat_tables([waiting.slice(begun), table]).unify_dictionaries()
            first_lines = np.flatnonzero(self._are_totals(table))
            if not len(first_lines):
                self._breaches.add(level.name, f"a group has no row of {' or '.join(self._total_ids)}")
                return
            waiting, begun = table, int(first_lines[-1])
        if waiting is not None:
            own_groups, _ = self._check_groups(waiting, level, before, last, own_groups)
        if self._options.coterminous is None and own_groups != len(level.published[0]):
            self._breaches.add(level.name, "lacks groups that t1 has")

    def _check_groups(
        self, table: pa.Table, level: _NumberRows, before: int, last: int, own_groups: int
    ) -> tuple[int, int]:
        """Checks rows of whole groups; tells how many groups are the level's own so far, and the last index."""
        if not len(table):
            return own_groups, last
        table = table.combine_chunks()
        self._check_domains(table, level.name, before)
        self._check_values(table, level.name, before)
        first = np.flatnonzero(self._are_totals(table))
        if not len(first) or first[0]:
            self._add(np.arange(1), "lines are not in their order", level.name, table, before)
        indices = level.indices(table.select(_KEYS).take(pa.array(first)))
        self._breaches.add_rows(
            level.name, "a group is not in the universe", _spread(indices < 0, first, table), before
        )
        is_repeated = np.diff(indices, prepend=last) <= 0
        self._breaches.add_rows(
            level.name, "a group is there twice, or out of its order", _spread(is_repeated, first, table), before
        )
        self._check_lines(table, first, level, before)
        self._check_totals(table, first, indices, level, before)
        if self._after_steps is not None:
            self._after_steps.check(level.geography, table)
        is_own = np.asarray(table["donor_region_id"].is_null())[first]
        return own_groups + int(is_own.sum()), int(indices[-1])

    def _check_domains(self, table: pa.Table, name: str, before: int) -> None:
        for column in self._columns:
            values = table[column.name]
            if column.is_required and values.null_count:
                self._breaches.add_rows(name, f"{column.name} is null", np.asarray(values.is_null()), before)
            if column.values and not set(column.values).issuperset(values.combine_chunks().dictionary.to_pylist()):
                is_known = _looked_up(values, dict.fromkeys((*column.values, None), 1)) == 1
                self._breaches.add_rows(name, f"{column.name} is not one of its values", ~is_known, before)

    def _check_values(self, table: pa.Table, name: str, before: int) -> None:
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

    def _are_totals(self, table: pa.Table) -> NDArray[np.bool_]:
        """The lines that every group has first."""
        ids: Mapping[str | None, int] = dict.fromkeys(self._total_ids, 1)
        return np.asarray((_looked_up(table["table_id"], ids) == 1) & (table["line"].to_numpy() == TOTAL_LINE))

    def _check_lines(self, table: pa.Table, first: NDArray[np.intp], level: _NumberRows, before: int) -> None:
        """Each group has all lines of its table, in order, and what is not withheld adds up."""
        name = level.name
        rows = np.diff(np.append(first, len(table)))
        tables = np.asarray(table["table"].combine_chunks().take(pa.array(first)).cast(pa.string()))
        line, table_id = table["line"].to_numpy(), _looked_up(table["table_id"], self._table_ids)
        value = table["unclamped_count"].fill_null(0).to_numpy()
        is_shown = np.asarray(table["unclamped_count"].is_valid())
        for shape in level.family.shapes:
            lines = shape.lines
            alike = np.flatnonzero(tables == shape.label)
            is_whole = rows[alike] == len(lines)
            self._breaches.add_rows(name, "a table is not whole", _spread_some(alike[~is_whole], first, table), before)
            own = first[alike[is_whole]][:, None] + np.arange(len(lines))
            if not own.size:
                continue
            is_wrong = (line[own] != [one.number for one in lines]) | (
                table_id[own] != [self._table_ids[one.table_id] for one in lines]
            )
            self._add(own[is_wrong], "lines are not in their order", name, table, before)
            cells = [position for position, one in enumerate(lines) if one.cells == 1]
            for position, one in enumerate(lines):
                inside = [
                    cell for cell in cells if one.first_cell <= lines[cell].first_cell < one.first_cell + one.cells
                ]
                if one.cells > 1:
                    differs = value[own[:, inside]].sum(axis=1) != value[own[:, position]]
                    differs &= is_shown[own[:, inside]].all(axis=1) & is_shown[own[:, position]]
                    self._add(own[differs, position], "a sum is not that of its cells", name, table, before)

    def _check_totals(
        self, table: pa.Table, first: NDArray[np.intp], indices: NDArray[np.int64], level: _NumberRows, before: int
    ) -> None:
        """A total of the group's own, that no rule touched, is the one in t1."""
        totals = table.select(["count", "status", "rule"]).take(pa.array(first))
        is_plain = _are(totals["status"], PUBLISHED) & np.asarray(totals["rule"].is_null())
        known, counts = level.published
        position = np.minimum(np.searchsorted(known, indices), max(len(known) - 1, 0))
        if not len(known):
            differs = is_plain
        else:
            is_same = (known[position] == indices) & (counts[position] == totals["count"].fill_null(0).to_numpy())
            differs = is_plain & ~is_same
        self._add(first[differs], "a total is not the one in t1", level.name, table, before)

    def _add(self, rows: NDArray[np.intp], rule: str, name: str, table: pa.Table, before: int) -> None:
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
        self._entities = pa.array(universe.entities[level.geography].region_ids, pa.string())
        self._iterations = pa.array([one.code for one in level.iterations], pa.string())

    def indices(self, groups: pa.Table) -> NDArray[np.int64]:
        """The index of each group, or -1: an unknown id or code, or a group that was neither tabulated nor copied."""
        entity = _positions_in(self._entities, groups["region_id"])
        iteration = _positions_in(self._iterations, groups["iteration_code"])
        is_copied = np.asarray(groups["donor_region_id"].is_valid())
        is_right = (entity >= 0) & (iteration >= 0) & (is_copied | self._level.is_tabulated[iteration])
        return np.where(is_right, self._level.index.index_of(entity, iteration), -1)


def _looked_up(column: pa.ChunkedArray, positions: Mapping[str | None, int]) -> NDArray[np.int16]:
    """The position of each text, or -1."""
    texts = column.combine_chunks()
    found = np.array([positions.get(text, -1) for text in (*texts.dictionary.to_pylist(), None)], dtype=np.int16)
    if (found == found[0]).all():
        return np.full(len(texts), found[0])
    indices = texts.indices.fill_null(len(found) - 1) if texts.null_count else texts.indices
    return np.asarray(found[np.asarray(indices)])


def _positions_in(known: pa.Array, column: pa.ChunkedArray) -> NDArray[np.int64]:
    """The position of each text in a long list, or -1."""
    texts = column.combine_chunks()
    found = np.append(pc.index_in(texts.dictionary, value_set=known).fill_null(-1).to_numpy(), -1).astype(np.int64)
    return np.asarray(found[texts.indices.fill_null(len(found) - 1).to_numpy()])


def _are(column: pa.ChunkedArray, text: str) -> NDArray[np.bool_]:
    return np.asarray(_looked_up(column, {text: 1}) == 1)


def _spread(is_wrong: NDArray[np.bool_], first: NDArray[np.intp], table: pa.Table) -> NDArray[np.bool_]:
    return _spread_some(np.flatnonzero(is_wrong), first, table)


def _spread_some(groups: NDArray[np.intp], first: NDArray[np.intp], table: pa.Table) -> NDArray[np.bool_]:
    rows = np.zeros(len(table), dtype=np.bool_)
    rows[first[groups]] = True
    return rows
