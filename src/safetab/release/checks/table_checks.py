"""Checks of the table files and the measurements, read side by side: files that must tell one story."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.outputs.measurement_file import schema_of
from safetab.outputs.tables import table_columns
from safetab.planning.selectors import chosen_shapes
from safetab.privacy.stages import Stage
from safetab.products.product import FileRow, TableFileLayout
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.measurement_checks import check_noise_and_shape
from safetab.release.numbers.measured_groups import groups_as_written
from safetab.release.numbers.published_groups import PublishedGroups
from safetab.release.release_universe import ReleaseLevel, Universe
from safetab.tabulation.marginals import line_sums

PublishedTotals = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Indices of a level's published groups, rising, and their totals."""


class TableRows:
    """A pipe-delimited file, a given number of rows at a time."""

    def __init__(self, path: Path, columns: tuple[str, ...], name: str, breaches: Breaches) -> None:
        self.name, self._breaches = name, breaches
        types = {name: pa.int64() if name == "COUNT" else pa.string() for name in columns}
        with path.open(encoding="utf-8") as file:
            self.header_is_right = file.readline() == "|".join(columns) + "\n"
        with self._unreadable_rows_added():
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
                with self._unreadable_rows_added():
                    batch = self._reader.read_next_batch()
            except StopIteration:
                break
            self._waiting = pa.concat_tables([self._waiting, pa.Table.from_batches([batch])])
        taken = self._waiting.slice(0, rows)
        self._waiting = self._waiting.slice(rows)
        self.rows_before += len(taken)
        return taken

    @contextmanager
    def _unreadable_rows_added(self) -> Iterator[None]:
        try:
            yield
        except pa.ArrowInvalid:
            self._breaches.add(self.name, "a row has the wrong number of fields, or a COUNT that is no integer")
            raise


class TableChecks:
    """The checks of one pass."""

    def __init__(self, output: Path, universe: Universe, tabulation_pass: TabulationPass, breaches: Breaches) -> None:
        self._universe = universe
        self._pass = tabulation_pass
        self._breaches = breaches
        self._measurements_name = f"measurements/{tabulation_pass.value}.parquet"
        self._path = output / self._measurements_name
        self._regions: dict[GeographyLevel, pa.Array] = {}  # of the level that is checked
        self._files = {
            layout: TableRows(output / name, table_columns(layout), name, breaches)
            for layout in universe.product.files
            for name in (f"{layout.folder}/{tabulation_pass.value}.csv",)
        }

    def check_levels(self) -> Iterator[tuple[ReleaseLevel, PublishedTotals]]:
        """Checks level by level; gives for each level of the pass the totals that are published."""
        self._check_columns()
        parts = groups_as_written(self._path, self._universe)
        waiting = next(parts, None)
        for number, level in enumerate(self._universe.levels):
            if level.geography.tabulation_pass is not self._pass:
                continue
            published: list[PublishedTotals] = []
            last = (False, -1)
            while waiting is not None and waiting[0] == number:
                published.append(self._check_part(level, waiting[1], last))
                last = bool(waiting[1].is_total_only[-1]), int(waiting[1].indices[-1])
                waiting = next(parts, None)
            yield level, _joined(published)
        if waiting is not None:
            self._breaches.add(self._measurements_name, "levels are not in their order, or not of this pass")
        for file in self._files.values():
            if len(file.take(1)):
                self._breaches.add(file.name, "has rows of groups that the measurements don't have")

    def check_noise_and_shape(self) -> None:
        """Of all measurements, unless their columns are wrong."""
        if self._has_right_columns():
            check_noise_and_shape(self._path, self._measurements_name, self._universe, self._breaches)

    def _check_columns(self) -> None:
        for file in self._files.values():
            if not file.header_is_right:
                self._breaches.add(file.name, "the header is not what it must be")
        if not self._has_right_columns():
            self._breaches.add(self._measurements_name, "the columns or their types are not what they must be")

    def _has_right_columns(self) -> bool:
        return bool(pa.parquet.read_schema(self._path).equals(schema_of(self._universe.product)))

    def _check_part(self, level: ReleaseLevel, groups: PublishedGroups, last: tuple[bool, int]) -> PublishedTotals:
        self._check_groups(level, groups, last)
        for layout, file in self._files.items():
            self._check_rows(layout, file, level, groups)
        values = groups.values if self._universe.allow_negative_counts else np.maximum(groups.values, 0)
        ends = np.concatenate([[0], np.cumsum(groups.family.cells[groups.shapes])])
        return groups.indices, np.diff(np.concatenate([[0], np.cumsum(values)])[ends])

    def _check_groups(self, level: ReleaseLevel, groups: PublishedGroups, last: tuple[bool, int]) -> None:
        """Every group is in the universe, is there once, got the shape it should, and was not to be suppressed."""
        name, index, design, family = self._measurements_name, level.index, level.design, groups.family
        iteration = index.iteration_of(groups.indices)
        if not (level.is_tabulated[iteration] & (groups.indices < index.size)).all():
            self._breaches.add(name, f"{level.level}: a group is not in the universe")
        order = groups.is_total_only * index.size + groups.indices
        if not (np.diff(order, prepend=last[0] * index.size + last[1]) > 0).all():
            self._breaches.add(name, f"{level.level}: a group is there twice, or out of its order")
        if (level.is_total_only[iteration] != groups.is_total_only).any():
            self._breaches.add(name, f"{level.level}: a group was measured in a stage that it doesn't have")
        adaptive = groups.chosen(~groups.is_total_only) if groups.is_total_only.any() else groups
        has_stage_1 = Stage.STAGE_1 in design.stages
        if has_stage_1 and (chosen_shapes(adaptive.stage_1_totals, design.thresholds) != adaptive.shapes).any():
            self._breaches.add(name, f"{level.level}: a group has another table than its stage-1 total chooses")
        if design.suppression_threshold is not None:
            is_total = adaptive.shapes == family.number_of(family.total)
            if (adaptive.matrix_of(np.flatnonzero(is_total), family.total) <= design.suppression_threshold).any():
                self._breaches.add(name, f"{level.level}: a total is not above the suppression threshold")

    def _check_rows(
        self, layout: TableFileLayout, file: TableRows, level: ReleaseLevel, groups: PublishedGroups
    ) -> None:
        """Each group has all rows of its shape, in order, and every count is the sum of its noisy numbers."""
        shapes = groups.family.shapes
        rows = np.array([len(shape.file_rows.get(layout.folder, ())) for shape in shapes], dtype=np.int64)[
            groups.shapes
        ]
        if not rows.any():
            return
        before, table = file.rows_before, file.take(int(rows.sum()))
        if len(table) < rows.sum():
            self._breaches.add(file.name, "lacks rows of groups that the measurements have")
            raise ValueError("too short")
        self._check_keys(file.name, table, level, groups.indices, rows, before)
        counts, starts = table["COUNT"].to_numpy(), np.cumsum(rows) - rows
        expected, labels = np.zeros(len(table), dtype=np.int64), np.zeros(len(table), dtype=np.int64)
        known: list[FileRow] = []
        for number, shape in enumerate(shapes):
            own = shape.file_rows.get(layout.folder, ())
            alike = np.flatnonzero(groups.shapes == number)
            at = starts[alike][:, None] + np.arange(len(own))
            if own and len(alike):
                values = groups.matrix_of(alike, shape)
                expected[at] = line_sums(values, own, allow_negative=self._universe.allow_negative_counts)
                labels[at] = len(known) + np.arange(len(own))
            known += own
        texts_of_columns = zip(*(row.texts for row in known), strict=True) if known else ()
        for name, texts in zip(layout.label_columns if known else (), texts_of_columns, strict=True):
            is_wrong = ~np.asarray(pc.equal(table[name], pa.array(texts).take(pa.array(labels))))
            self._breaches.add_rows(file.name, f"{name} is not that of the group's table", is_wrong, before)
        is_wrong = counts != expected
        self._breaches.add_rows(file.name, "COUNT is not the sum of the group's noisy numbers", is_wrong, before)
        if not self._universe.allow_negative_counts:
            self._breaches.add_rows(file.name, "COUNT is negative, which is not allowed", counts < 0, before)

    def _regions_of(self, geography: GeographyLevel) -> pa.Array:
        if geography not in self._regions:
            self._regions = {geography: pa.array(self._universe.entities[geography].region_ids, pa.string())}
        return self._regions[geography]

    def _check_keys(
        self,
        name: str,
        table: pa.Table,
        level: ReleaseLevel,
        indices: NDArray[np.int64],
        rows: NDArray[np.int64],
        before: int,
    ) -> None:
        """The rows are those of these groups, so many of each."""
        entity = np.repeat(level.index.entity_of(indices), rows)
        iteration = np.repeat(level.index.iteration_of(indices), rows)
        wanted = {
            "REGION_ID": self._regions_of(level.geography).take(pa.array(entity)),
            "REGION_TYPE": pa.scalar(level.geography.label),
            "ITERATION_CODE": pa.array([one.code for one in level.iterations]).take(pa.array(iteration)),
        }
        for column, expected in wanted.items():
            is_wrong = ~np.asarray(pc.equal(table[column], expected))
            rule = f"{column} is not that of the next published group"
            self._breaches.add_rows(name, rule, is_wrong, before)


def _joined(published: list[PublishedTotals]) -> PublishedTotals:
    """All of a level by rising index: adaptive groups, which come first, and total-only ones together."""
    if not published:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    indices, counts = (np.concatenate(column) for column in zip(*published, strict=True))
    order = np.argsort(indices, kind="stable")
    return indices[order], counts[order]
