"""Checks of t1, t2 and the measurements, read side by side: three files that must tell one story."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.outputs.measurement_file import SCHEMA as MEASUREMENT_SCHEMA
from safetab.outputs.tables import T1_COLUMNS, T2_COLUMNS
from safetab.products.safetab_p.tables import OLDEST_AGE, Table
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.measurement_checks import check_noise_and_shape
from safetab.release.numbers.measured_groups import groups_as_written
from safetab.release.numbers.published_groups import PublishedGroups
from safetab.release.release_universe import LevelFacts, Universe
from safetab.tabulation.measurements import TABLES

PublishedTotals = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Places of a level's published groups, rising, and their totals in t1."""

_SPELLINGS = pa.array(["*", *map(str, range(OLDEST_AGE + 1))])
_T2_ROWS = np.array([table.t2_rows for table in TABLES], dtype=np.int64)


class TableRows:
    """A pipe-delimited file, a given number of rows at a time."""

    def __init__(self, path: Path, columns: tuple[str, ...], name: str, breaches: Breaches) -> None:
        self.name, self._breaches = name, breaches
        types = {name: pa.int64() if name == "COUNT" else pa.string() for name in columns}
        with path.open(encoding="utf-8") as file:
            self.header_is_right = file.readline() == "|".join(columns) + "\n"
        with self._rows_told():
            self._reader = pa.csv.open_csv(
                path,
                read_options=pa.csv.ReadOptions(block_size=8 << 20, use_threads=False),
                parse_options=pa.csv.ParseOptions(delimiter="|", quote_char=False),
                convert_options=pa.csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
            )
        self._waiting = self._reader.schema.empty_table()
        self.rows_before = 0

    def take(self, rows: int) -> pa.Table:
        """The next rows; fewer if the file ends."""
        while len(self._waiting) < rows:
            try:
                with self._rows_told():
                    batch = self._reader.read_next_batch()
            except StopIteration:
                break
            self._waiting = pa.concat_tables([self._waiting, pa.Table.from_batches([batch])])
        taken = self._waiting.slice(0, rows).combine_chunks()
        self._waiting = self._waiting.slice(rows)
        self.rows_before += len(taken)
        return taken

    @contextmanager
    def _rows_told(self) -> Iterator[None]:
        try:
            yield
        except pa.ArrowInvalid:
            self._breaches.add(self.name, "a row has the wrong number of fields, or a COUNT that is no integer")
            raise


@dataclass(frozen=True, slots=True, eq=False)
class _TablesAlike:
    """Groups of a part that got one table: their positions, and of each its rows of t2."""

    groups: PublishedGroups
    positions: NDArray[np.intp]
    table: Table
    rows: NDArray[np.int64]


class TableChecks:
    """The checks of one pass."""

    def __init__(self, output: Path, universe: Universe, tabulation_pass: TabulationPass, breaches: Breaches) -> None:
        self._universe = universe
        self._pass = tabulation_pass
        self._breaches = breaches
        name = tabulation_pass.value
        self._t1_name, self._t2_name = f"t1/{name}.csv", f"t2/{name}.csv"
        self._measurements_name = f"measurements/{name}.parquet"
        self._path = output / self._measurements_name
        self._t1, self._t2 = (
            TableRows(output / self._t1_name, T1_COLUMNS, self._t1_name, breaches),
            TableRows(output / self._t2_name, T2_COLUMNS, self._t2_name, breaches),
        )

    def check_levels(self) -> Iterator[tuple[LevelFacts, PublishedTotals]]:
        """Checks level by level; of each level of the pass what t1 publishes."""
        self._check_shapes()
        parts = groups_as_written(self._path, self._universe)
        waiting = next(parts, None)
        for number, facts in enumerate(self._universe.levels):
            if facts.geography.tabulation_pass is not self._pass:
                continue
            published: list[PublishedTotals] = []
            last = (False, -1)
            while waiting is not None and waiting[0] == number:
                published.append(self._check_part(facts, waiting[1], last))
                last = bool(waiting[1].is_total_only[-1]), int(waiting[1].places[-1])
                waiting = next(parts, None)
            yield facts, _joined(published)
        if waiting is not None:
            self._breaches.add(self._measurements_name, "levels are not in their order, or not of this pass")
        for name, file in ((self._t1_name, self._t1), (self._t2_name, self._t2)):
            if len(file.take(1)):
                self._breaches.add(name, "has rows of groups that the measurements don't have")

    def _check_shapes(self) -> None:
        for name, file in ((self._t1_name, self._t1), (self._t2_name, self._t2)):
            if not file.header_is_right:
                self._breaches.add(name, "the header is not what it must be")
        if not pa.parquet.read_schema(self._path).equals(MEASUREMENT_SCHEMA):
            self._breaches.add(self._measurements_name, "the columns or their types are not what they must be")
            return
        check_noise_and_shape(self._path, self._measurements_name, self._universe, self._breaches)

    def _check_part(self, facts: LevelFacts, groups: PublishedGroups, last: tuple[bool, int]) -> PublishedTotals:
        self._check_groups(facts, groups, last)
        values = groups.values if self._universe.allow_negative_counts else np.maximum(groups.values, 0)
        ends = np.cumsum(np.array([table.cells for table in TABLES])[groups.tables])
        totals = np.diff(np.concatenate([[0], np.cumsum(values)])[np.concatenate([[0], ends])])
        before = self._t1.rows_before
        t1 = self._t1.take(len(groups))
        if len(t1) < len(groups):
            self._breaches.add(self._t1_name, "lacks groups that the measurements have")
            raise ValueError("t1 is too short")
        self._check_keys(self._t1_name, t1, facts, groups.places, before)
        counts = t1["COUNT"].to_numpy()
        self._breaches.add_rows(
            self._t1_name, "COUNT is not the sum of the group's noisy numbers", counts != totals, before
        )
        if not self._universe.allow_negative_counts:
            self._breaches.add_rows(self._t1_name, "COUNT is negative, which is not allowed", counts < 0, before)
        self._check_t2(facts, groups, counts)
        return groups.places, counts

    def _check_groups(self, facts: LevelFacts, groups: PublishedGroups, last: tuple[bool, int]) -> None:
        """Every group is in the universe, is there once, got the table it should, and was not to be suppressed."""
        name, width = self._measurements_name, len(facts.iterations)
        entities = len(self._universe.entities[facts.geography].ids)
        if not (facts.is_tabulated[groups.places % width] & (groups.places // width < entities)).all():
            self._breaches.add(name, f"{facts.level}: a group is not in the universe")
        order = groups.is_total_only * (entities * width) + groups.places
        first = last[0] * (entities * width) + last[1]
        if not (np.diff(order, prepend=first) > 0).all():
            self._breaches.add(name, f"{facts.level}: a group is there twice, or not in its place")
        is_listed_total_only = np.array([one.is_total_only for one in facts.iterations])[groups.places % width]
        if (is_listed_total_only != groups.is_total_only).any():
            self._breaches.add(name, f"{facts.level}: a group was measured in a stage that it doesn't have")
        adaptive = groups.chosen(~groups.is_total_only)
        chosen = np.searchsorted(facts.thresholds.as_tuple, adaptive.stage_1_totals, side="right")
        if (chosen != adaptive.tables).any():
            self._breaches.add(name, f"{facts.level}: a group has another table than its stage-1 total chooses")
        if facts.suppression_threshold is not None:
            totals = adaptive.matrix_of(np.flatnonzero(adaptive.tables == TABLES.index(Table.TOTAL)), Table.TOTAL)
            if (totals <= facts.suppression_threshold).any():
                self._breaches.add(name, f"{facts.level}: a total is not above the suppression threshold")

    def _check_keys(
        self, name: str, table: pa.Table, facts: LevelFacts, places: NDArray[np.int64], before: int
    ) -> None:
        """The rows are those of the groups at these places."""
        width, entities = len(facts.iterations), self._universe.entities[facts.geography]
        positions, entity = np.unique(places // width, return_inverse=True)
        regions = pa.array([entities.region_ids[one] for one in positions.tolist()]).take(pa.array(entity))
        codes = pa.array([one.code for one in facts.iterations]).take(pa.array(places % width))
        wanted = {"REGION_ID": regions, "REGION_TYPE": pa.scalar(facts.geography.label), "ITERATION_CODE": codes}
        for column, expected in wanted.items():
            is_wrong = ~pc.equal(table[column], expected).to_numpy()
            rule = f"{column} is not that of the next published group"
            self._breaches.add_rows(name, rule, is_wrong, before)

    def _check_t2(self, facts: LevelFacts, groups: PublishedGroups, totals: NDArray[np.int64]) -> None:
        """Whole tables, whose marginals and totals are the sums of their cells."""
        rows = _T2_ROWS[groups.tables]
        before = self._t2.rows_before
        t2 = self._t2.take(int(rows.sum()))
        if len(t2) < rows.sum():
            self._breaches.add(self._t2_name, "lacks rows of groups that got sex by age")
            raise ValueError("t2 is too short")
        self._check_keys(self._t2_name, t2, facts, np.repeat(groups.places, rows), before)
        counts, starts = t2["COUNT"].to_numpy(), np.cumsum(rows) - rows
        spelled = {name: _positions(t2[name]) for name in ("AGESTART", "AGEEND", "SEX")}
        for table in TABLES[1:]:
            alike = np.flatnonzero(groups.tables == TABLES.index(table))
            if not len(alike):
                continue
            own = starts[alike][:, None] + np.arange(table.t2_rows)
            is_wrong = np.zeros(len(t2), dtype=np.bool_)
            for column, expected in _t2_pattern(table).items():
                is_wrong[own] |= spelled[column][own] != _positions(pa.array(expected))
            self._breaches.add_rows(self._t2_name, "sex and ages are not those of the group's table", is_wrong, before)
            self._check_sums(_TablesAlike(groups, alike, table, own), counts, totals, before)

    def _check_sums(
        self, alike: _TablesAlike, counts: NDArray[np.int64], totals: NDArray[np.int64], before: int
    ) -> None:
        """Of groups with one table: `counts` are those of all rows of t2 at hand, `totals` those of t1."""
        groups, table = alike.groups, alike.table
        rows = alike.rows.reshape(len(alike.rows), 2, table.cells_of_a_sex + 1)
        of_sex = counts[rows]
        cells, marginals = of_sex[:, :, :-1], of_sex[:, :, -1]
        differs = np.zeros(len(counts), dtype=np.bool_)
        differs[rows[:, :, -1]] = cells.sum(axis=2) != marginals
        self._breaches.add_rows(self._t2_name, "a sex marginal is not the sum of its ages", differs, before)
        differs = np.zeros(len(groups), dtype=np.bool_)
        differs[alike.positions] = marginals.sum(axis=1) != totals[alike.positions]
        t1_before = self._t1.rows_before - len(groups)
        self._breaches.add_rows(self._t1_name, "COUNT is not the sum of t2", differs, t1_before)
        measured = groups.matrix_of(alike.positions, table).reshape(cells.shape)
        measured = measured if self._universe.allow_negative_counts else np.maximum(measured, 0)
        differs = np.zeros(len(counts), dtype=np.bool_)
        differs[rows[:, :, :-1]] = measured != cells
        self._breaches.add_rows(self._t2_name, "COUNT is not the noisy number that was measured", differs, before)


def _positions(texts: pa.ChunkedArray | pa.Array) -> NDArray[np.int64]:
    """Where each text stands among those that sex and ages may be; -1 if nowhere."""
    found = pc.index_in(texts, value_set=_SPELLINGS).cast(pa.int64()).fill_null(-1)
    return np.asarray(found)


def _t2_pattern(table: Table) -> dict[str, list[str]]:
    starts = [str(age) for age in table.age_starts]
    ends = [*(str(age - 1) for age in table.age_starts[1:]), "115"]
    ages = len(starts) + 1
    return {
        "AGESTART": [*starts, "*"] * 2,
        "AGEEND": [*ends, "*"] * 2,
        "SEX": ["1"] * ages + ["2"] * ages,
    }


def _joined(published: list[PublishedTotals]) -> PublishedTotals:
    """All of a level by rising place: adaptive groups, which come first, and total-only ones together."""
    if not published:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    places, counts = (np.concatenate(column) for column in zip(*published, strict=True))
    order = np.argsort(places, kind="stable")
    return places[order], counts[order]
