"""Checks of the table files and the measurements, read side by side: they must agree.

Every number has the right noise and is the right cell. `Breaches` collects which file breaks which
rule in which rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.core.algorithm.measurements import line_sums
from safetab.core.algorithm.run_plan import chosen_shapes
from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Integers, Truths
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import shortened
from safetab.model.census.area_levels import Pass
from safetab.model.products.product import Product, TableFamily, TableFileLayout
from safetab.release.files.numbers.level_numbers import variance_of
from safetab.release.files.numbers.published_groups import PublishedGroups, groups_by_level
from safetab.release.files.release_universe import ReleaseLevel, Universe
from safetab.release.outputs.pass_files import schema_of

_NOTHING = np.empty(0, dtype=np.int64)
_ROWS_SHOWN = 5
_BREACHES_SHOWN = 10


class Breaches:
    """Collects broken rules. A rule broken a million times is one line with a few row numbers."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], list[int]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, file: str, rule: str) -> None:
        """Add a file that breaks a rule as a whole."""
        self._counts[file, rule] += 1

    def add_rows(
        self, file: str, rule: str, wrong: Truths | NDArray[np.integer], rows_before: int
    ) -> None:
        """Add rows that break a rule: whether each does, or the rising places of those that do.

        Rows are counted from 1, without the header.
        """
        if wrong.dtype == np.bool_:
            wrong = np.flatnonzero(wrong)
        if len(wrong):
            self._counts[file, rule] += len(wrong)
            shown = self._rows.setdefault((file, rule), [])
            shown += (wrong[: _ROWS_SHOWN - len(shown)] + rows_before + 1).tolist()

    def include(self, others: Breaches) -> None:
        """Append what other checks found.

        They may have run at the same time on other rows or rules.
        """
        self._counts.update(others._counts)
        self._rows |= others._rows

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Each file with a rule that it breaks and the first of its rows that do."""
        for (file, rule), count in self._counts.items():
            rows = self._rows.get((file, rule), [])
            more = f" and {count - len(rows)} more" if count > len(rows) else ""
            yield file, rule + (f": row {shortened(rows)}{more}." if rows else ".")

    def raise_if_any(self) -> None:
        """Raise RunFailed with the first ten broken rules, if any rule is broken."""
        lines = [f"{file}: {sentence}" for file, sentence in self.sentences()]
        if not lines:
            return
        if len(lines) > _BREACHES_SHOWN:
            lines[_BREACHES_SHOWN:] = [f"and {len(lines) - _BREACHES_SHOWN} more"]
        raise RunFailed("\n  ".join(["the output breaks its rules. Nothing was written.", *lines]))


_ROWS_AT_ONCE = 1 << 18
_NOISE = ["mechanism", "parameter_numerator", "parameter_denominator", "variance"]
_LEVEL = ["geography_level", "stage", "table"]
_ITERATION_LEVEL = "iteration_level"


class _Noise:
    """The noise of each level and stage."""

    def __init__(self, universe: Universe) -> None:
        self._families = universe.product.family_of_label
        self._levels = {listed.code: listed.level.number for listed in universe.lists.iterations}
        self._expected: dict[tuple[object, ...], tuple[object, ...]] = {}
        for level in universe.levels:
            for stage, measured in level.design.stages.items():
                noise = measured.noise
                parameter = str(noise.parameter.numerator), str(noise.parameter.denominator)
                of_rows = (
                    level.geography.label,
                    int(stage),
                    level.family,
                    level.level.iterations.number,
                )
                self._expected[of_rows] = noise.mechanism, *parameter, variance_of(noise, 1)

    def wrong_in(self, batch: pa.RecordBatch) -> Iterator[tuple[object, object, object]]:
        """Geography level, iteration code and stage of rows with another noise.

        Codes are distinguished only if something is wrong.
        """
        codes = batch["iteration_code"]
        levels = pa.array(
            [self._levels.get(code) for code in codes.dictionary.to_pylist()], pa.int8()
        )
        batch = batch.append_column(_ITERATION_LEVEL, levels.take(codes.indices))
        of_noise = [*_LEVEL, _ITERATION_LEVEL, *_NOISE]
        if all(map(self._is_right, _distinct(batch, of_noise))):
            return
        for code, *row in _distinct(batch, ["iteration_code", *of_noise]):
            if not self._is_right(row):
                yield row[0], code, row[1]

    def _is_right(self, row: Sequence[object]) -> bool:
        geography, stage, table, iterations, *noise = row
        family = self._families.get(str(table))
        return self._expected.get((geography, stage, family, iterations)) == tuple(noise)


def _distinct(batch: pa.RecordBatch, names: list[str]) -> Iterator[tuple[object, ...]]:
    """The distinct combinations of values in these columns. Null is a value."""
    combinations = pa.Table.from_batches([batch]).group_by(names, use_threads=False).aggregate([])
    return zip(*(combinations[name].to_pylist() for name in names), strict=True)


def _shapes(product: Product) -> set[tuple[object, ...]]:
    found: set[tuple[object, ...]] = set()
    for family in product.families:
        found |= {
            (int(stage), family.total.label, *labels)
            for stage in Stage
            for labels in family.total.cell_labels
        }
        found |= {
            (int(Stage.STAGE_2), shape.label, *labels)
            for shape in family.finer
            for labels in shape.cell_labels
        }
    return found


PublishedTotals = tuple[Integers, Integers]
"""Indices of a level's published groups, rising, and their totals."""


class _TableRows:
    """A table file, read in blocks of rows.

    A header with other columns is added to the breaches.
    """

    def __init__(self, path: Path, layout: TableFileLayout, name: str, breaches: Breaches) -> None:
        self.name, self._breaches, self._count = name, breaches, layout.count
        types = {
            name: pa.int64() if name == layout.count else pa.string() for name in layout.columns
        }
        with path.open(encoding="utf-8") as file:
            if file.readline() != f"{layout.header}\n":
                breaches.add(name, "the header is not what it must be")
        with self._unreadable_rows_added():
            self._reader = pa.csv.open_csv(
                path,
                read_options=pa.csv.ReadOptions(block_size=8 << 20, use_threads=False),
                parse_options=pa.csv.ParseOptions(
                    delimiter=layout.separator, quote_char='"' if layout.is_plain else False
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=types, null_values=[], strings_can_be_null=False
                ),
            )
        self._waiting = self._reader.schema.empty_table()
        self._rows_taken = 0

    def take(self, rows: int) -> pa.Table:
        """The next rows, or fewer if the file ends."""
        while len(self._waiting) < rows:
            try:
                with self._unreadable_rows_added():
                    batch = self._reader.read_next_batch()
            except StopIteration:
                break
            self._waiting = pa.concat_tables([self._waiting, pa.Table.from_batches([batch])])
        taken = self._waiting.slice(0, rows)
        self._waiting = self._waiting.slice(rows)
        self._rows_taken += len(taken)
        return taken

    def take_all(self, rows: int, rule: str) -> pa.Table:
        """The next rows. If the file ends before, adds the rule and raises ValueError."""
        taken = self.take(rows)
        if len(taken) < rows:
            self._breaches.add(self.name, rule)
            raise ValueError("too short")
        return taken

    def check_end(self, rule: str) -> None:
        """Add the rule if rows are left."""
        if len(self.take(1)):
            self._breaches.add(self.name, rule)

    def check_columns(
        self, taken: pa.Table, wanted: Mapping[str, pa.Array | pa.Scalar], rule: str
    ) -> None:
        """Add the rows that were taken last where a column is not what is wanted."""
        for column, expected in wanted.items():
            self.add_rows(taken, f"{column} {rule}", ~np.asarray(pc.equal(taken[column], expected)))

    def add_rows(self, taken: pa.Table, rule: str, is_wrong: Truths) -> None:
        """Add wrong rows among those that were taken last."""
        self._breaches.add_rows(self.name, rule, is_wrong, self._rows_taken - len(taken))

    @contextmanager
    def _unreadable_rows_added(self) -> Iterator[None]:
        try:
            yield
        except pa.ArrowInvalid:
            rule = (
                f"a row has the wrong number of fields, or a {self._count} that is not an integer"
            )
            self._breaches.add(self.name, rule)
            raise


def tables_of_pass(
    output: Path, product: Product, tabulation_pass: Pass, breaches: Breaches, inside: str = ""
) -> list[_TableRows]:
    """The table files of a pass, in the order of the product's files.

    `inside` is the folder they are in.
    """
    names = [f"{inside}{layout.folder}/{tabulation_pass.name}.csv" for layout in product.files]
    layouts = zip(names, product.files, strict=True)
    return [_TableRows(output / name, layout, name, breaches) for name, layout in layouts]


@lru_cache(maxsize=8)
def file_rows(family: TableFamily, layout: TableFileLayout) -> tuple[Integers, dict[str, pa.Array]]:
    """The row of each shape and line in a table file, or -1, and all rows' texts by column.

    The rows of a family's shapes are numbered one after the other. The last shape and line are
    unknown ones.
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


class TableChecks:
    """The checks of one pass."""

    def __init__(
        self, output: Path, universe: Universe, tabulation_pass: Pass, breaches: Breaches
    ) -> None:
        self._universe = universe
        self._pass = tabulation_pass
        self._breaches = breaches
        self._measurements_name = f"measurements/{tabulation_pass.name}.parquet"
        self._path = output / self._measurements_name
        self._files = tables_of_pass(output, universe.product, tabulation_pass, breaches)

    def check_levels(self) -> Iterator[tuple[ReleaseLevel, PublishedTotals]]:
        """Check level by level and yield each level with its published totals."""
        if not self._has_right_columns():
            self._breaches.add(
                self._measurements_name, "the columns or their types are not what they must be"
            )
        parts = groups_by_level(self._path, self._universe)
        waiting = next(parts, None)
        for number, level in enumerate(self._universe.levels):
            if level.geography.tabulation_pass != self._pass:
                continue
            published: list[PublishedTotals] = [(_NOTHING, _NOTHING)]
            last = (False, -1)
            while waiting is not None and waiting[0] == number:
                published.append(self._check_part(level, waiting[1], last))
                last = bool(waiting[1].is_total_only[-1]), int(waiting[1].indices[-1])
                waiting = next(parts, None)
            yield level, _joined(published)
        if waiting is not None:
            self._breaches.add(
                self._measurements_name, "levels are not in their order, or not of this pass"
            )
        for file in self._files:
            file.check_end("has rows of groups that the measurements don't have")

    def check_noise_and_shape(self) -> None:
        """Check that each row has its level's and stage's noise, and the labels of a cell.

        The cell is one of its shape. If the columns of the file are wrong, nothing is checked.
        """
        if not self._has_right_columns():
            return
        name, product = self._measurements_name, self._universe.product
        noise = _Noise(self._universe)
        shapes = _shapes(product)
        labels = [column.name for column in product.label_columns]
        texts = [field.name for field in schema_of(product) if field.type == pa.string()]
        with pa.parquet.ParquetFile(self._path, read_dictionary=texts) as file:
            columns = [*_LEVEL, "iteration_code", *_NOISE, *labels]
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns):
                for level, code, stage in noise.wrong_in(batch):
                    rule = "the noise is not that of its level and stage"
                    self._breaches.add(name, f"{level}, {code}, stage {stage}: {rule}")
                if not shapes.issuperset(_distinct(batch, ["stage", "table", *labels])):
                    self._breaches.add(
                        name, f"stage, table, {', '.join(labels)} don't belong together"
                    )

    def _has_right_columns(self) -> bool:
        return bool(pa.parquet.read_schema(self._path).equals(schema_of(self._universe.product)))

    def _check_part(
        self, level: ReleaseLevel, groups: PublishedGroups, last: tuple[bool, int]
    ) -> PublishedTotals:
        self._check_groups(level, groups, last)
        for layout, file in zip(self._universe.product.files, self._files, strict=True):
            self._check_rows(layout, file, level, groups)
        values = (
            groups.values if self._universe.allow_negative_counts else np.maximum(groups.values, 0)
        )
        ends = np.concatenate([[0], np.cumsum(groups.family.cells[groups.shapes])])
        return groups.indices, np.diff(np.concatenate([[0], np.cumsum(values)])[ends])

    def _check_groups(
        self, level: ReleaseLevel, groups: PublishedGroups, last: tuple[bool, int]
    ) -> None:
        """Check that every group is known, appears once, has its shape and passed suppression."""
        name, index, design, family = (
            self._measurements_name,
            level.index,
            level.design,
            groups.family,
        )
        iteration = index.iteration_of(groups.indices)
        if not (level.is_tabulated[iteration] & (groups.indices < index.size)).all():
            self._breaches.add(name, f"{level.level}: a group is not in the universe")
        order = groups.is_total_only * index.size + groups.indices
        if not (np.diff(order, prepend=last[0] * index.size + last[1]) > 0).all():
            self._breaches.add(name, f"{level.level}: a group appears twice or out of order")
        if (level.is_total_only[iteration] != groups.is_total_only).any():
            self._breaches.add(
                name, f"{level.level}: a group was measured in a stage that it doesn't have"
            )
        adaptive = groups.chosen(~groups.is_total_only) if groups.is_total_only.any() else groups
        has_stage_1 = Stage.STAGE_1 in design.stages
        if (
            has_stage_1
            and (chosen_shapes(adaptive.stage_1_totals, design.thresholds) != adaptive.shapes).any()
        ):
            self._breaches.add(
                name, f"{level.level}: a group has another table than its stage-1 total chooses"
            )
        if design.suppression_threshold is not None:
            is_total = adaptive.shapes == family.number_of(family.total)
            if (
                adaptive.matrix_of(np.flatnonzero(is_total), family.total)
                <= design.suppression_threshold
            ).any():
                self._breaches.add(
                    name, f"{level.level}: a total is not above the suppression threshold"
                )

    def _check_rows(
        self,
        layout: TableFileLayout,
        file: _TableRows,
        level: ReleaseLevel,
        groups: PublishedGroups,
    ) -> None:
        """Check that each group has all rows of its shape, in order.

        They show sums of its noisy numbers.
        """
        shapes = groups.family.shapes
        rows_of_shape = np.array(
            [len(shape.file_rows.get(layout.folder, ())) for shape in shapes], dtype=np.int64
        )
        rows = rows_of_shape[groups.shapes]
        if not rows.any():
            return
        table = file.take_all(int(rows.sum()), "lacks rows of groups that the measurements have")
        entity = np.repeat(level.index.entity_of(groups.indices), rows)
        iteration = np.repeat(level.index.iteration_of(groups.indices), rows)
        codes = self._universe.iteration_columns[level.level.iterations].codes
        keys = {
            layout.region: self._universe.entities[level.geography]
            .columns[0]
            .take(pa.array(entity)),
            layout.level: pa.scalar(level.geography.label),
            layout.group: codes.take(pa.array(iteration)),
        }
        file.check_columns(table, keys, "is not that of the next published group")
        counts, starts = table[layout.count].to_numpy(), np.cumsum(rows) - rows
        expected = np.zeros(len(table), dtype=np.int64)
        for number, shape in enumerate(shapes):
            own = shape.file_rows.get(layout.folder, ())
            alike = np.flatnonzero(groups.shapes == number)
            if own and len(alike):
                at = starts[alike][:, None] + np.arange(len(own))
                values = groups.matrix_of(alike, shape)
                expected[at] = line_sums(
                    values, own, allow_negative=self._universe.allow_negative_counts
                )
        first_rows = np.cumsum(rows_of_shape) - rows_of_shape
        labels = np.arange(len(table)) + np.repeat(first_rows[groups.shapes] - starts, rows)
        _, texts_of_rows = file_rows(groups.family, layout)
        texts = {name: column.take(pa.array(labels)) for name, column in texts_of_rows.items()}
        file.check_columns(table, texts, "is not that of the group's table")
        file.add_rows(
            table, f"{layout.count} is not the sum of the group's noisy numbers", counts != expected
        )
        if not self._universe.allow_negative_counts:
            file.add_rows(table, f"{layout.count} is negative, which is not allowed", counts < 0)


def _joined(published: list[PublishedTotals]) -> PublishedTotals:
    """All totals of a level by ascending index: adaptive and total-only groups together."""
    indices, counts = (np.concatenate(column) for column in zip(*published, strict=True))
    order = np.argsort(indices, kind="stable")
    return indices[order], counts[order]
