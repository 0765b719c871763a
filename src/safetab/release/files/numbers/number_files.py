"""The numbers of the tidy release as Parquet files: their columns, each with its description.

There is a folder for each geography level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.privacy.calibration import NOISES
from safetab.foundation.arrays import Integers, Truths
from safetab.foundation.batch_sizes import USUAL_SIZES
from safetab.foundation.findings import OUTPUT_FORMAT
from safetab.model.census.census import Census
from safetab.model.products.product import Product
from safetab.release.files.numbers.level_numbers import (
    NO_INTERVAL,
    NO_RULE,
    RULES,
    NumberKinds,
    Numbers,
    interval_around,
)
from safetab.release.files.numbers.published_groups import NO_DONOR
from safetab.release.files.release_universe import ReleaseLevel, Universe
from safetab.release.outputs.pass_files import TEXT, TextsAt, as_dictionaries, texts

PUBLISHED, COPIED, WITHHELD = "published", "copied", "withheld"
STATUSES = (PUBLISHED, COPIED, WITHHELD)
_MOST_OF_INT8 = 127
LEAST_MARGIN = "least_margin_of_error"
"""A column that only releases of published files have."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a released table; `is_required` says that it is never null.

    A column that joins later `may_be_absent`: releases from before lack it, and are still read.
    """

    name: str
    type: pa.DataType
    description: str
    is_required: bool = True
    values: tuple[str, ...] = ()
    may_be_absent: bool = False


LEAST_MARGIN_COLUMN = Column(
    LEAST_MARGIN,
    pa.int64(),
    "Given if the table of the group is not known: the margin of error is at least this, and at"
    " most `margin_of_error`. `table` and the noise are then those of the table with the most"
    " noise.",
    is_required=False,
)
_COUNT = "The number of {}, with noise; null if withheld. Not an exact count."
_MARGIN = (
    "The truth is within this distance of `count` at the stated confidence, as far as noise goes."
    " Null if `count` is withheld or is a sum of numbers that were clamped at 0: use the unclamped"
    " columns then."
)
_LOW = (
    "Least true size that agrees with the number at the stated confidence, never below 0. Null only"
    " if the number is withheld. If small totals are suppressed, it allows for that."
)
_HIGH = "The same: greatest true size."
_OF_NUMBERS = (
    Column("unclamped_count", pa.int64(),
                  "The number with no part of it raised to 0: the one to add up. Null if withheld.",
                  is_required=False),
           Column("unclamped_margin_of_error", pa.int64(), "Margin of error of `unclamped_count`.",
                  is_required=False),
    Column("variance", pa.float64(), "Variance of the noise in `unclamped_count`."),
    Column("noise_draws", pa.int8(), "How many independent draws of noise `unclamped_count` sums."),
    Column("noise_mechanism", TEXT, "Distribution of one draw.", values=tuple(NOISES)),
    Column("noise_parameter", TEXT,
           "Exact parameter of one draw, a whole number or numerator/denominator:"
           f" {', '.join(each.parameter_in_words for each in NOISES.values())}."),
)  # fmt: skip
_STAGE_1 = (
    "In {} rows of groups measured in two stages: the noisy total that chose the table. It has"
    " independent noise of its own (universe/levels, stage_1_parameter)."
)
_NO_STAGE_1 = "Always null: published totals, not a noisy total of this release, chose the tables."
_OF_STATUS = (
    Column("status", TEXT,
           "Whether the number is the group's own, copied from a donor, or withheld.",
           values=STATUSES),
    Column("rule", TEXT, "The rule that withheld the number, or raised it to 0; null if none did.",
           is_required=False, values=tuple(rule.value for rule in RULES)),
    Column("donor_geography_level", TEXT,
           "Level of the entity whose numbers these are; null if they are its own.",
           is_required=False),
    Column("donor_region_id", TEXT, "Id of that entity.", is_required=False),
)  # fmt: skip


def columns_of_groups(census: Census) -> tuple[Column, ...]:
    """The columns that name the area and the group of a number."""
    return (
        Column("region_id", TEXT, "Id of the geographic entity, leading zeros included."),
        Column("region_name", TEXT, "Name of the entity; its id where no name is known."),
        Column("iteration_code", TEXT, f"Code of the {census.words.coded_group}."),
        Column("iteration_name", TEXT, "Name of the group."),
        Column("iteration_kind", TEXT, "Which answers define the group.",
               values=tuple(kind.name for kind in census.group_kinds)),
        Column("iteration_level", TEXT, "How fine the group is.",
               values=tuple(level.name for level in census.tabulated_group_levels)),
    )  # fmt: skip


@cache
def number_columns(product: Product, census: Census) -> tuple[Column, ...]:
    """All columns, in their order; the lines' labels are the product's."""
    totals = " or ".join(product.total_table_ids)
    most_lines = max(line.number for line in product.lines)
    line_type = pa.int8() if most_lines <= _MOST_OF_INT8 else pa.int16()
    return (
        *columns_of_groups(census),
        Column("table", TEXT, "The table that this population group got.",
               values=tuple(shape.label for shape in product.shapes)),
        Column("table_id", TEXT, "Published table that this row is a line of."
               f" Every published group has {_tables_of_every_group(product)}.",
               values=product.table_ids),
        Column("line", line_type, "Number of the line in its table, from 1."),
        Column("stub", TEXT, "Text of the line."),
        *(Column(label.name, pa.type_for_alias(label.line_type), label.description,
                 values=label.values)
          for label in product.label_columns),
        Column("count", pa.int64(), _COUNT.format(product.record.nouns), is_required=False),
        Column("margin_of_error", pa.int64(), _MARGIN, is_required=False),
        Column("interval_low", pa.int64(), _LOW, is_required=False),
        Column("interval_high", pa.int64(), _HIGH, is_required=False),
        *_OF_NUMBERS,
        Column("stage_1_total", pa.int64(),
               _STAGE_1.format(totals) if product.has_stage_1 else _NO_STAGE_1,
               is_required=False),
        *_OF_STATUS,
    )  # fmt: skip


def _tables_of_every_group(product: Product) -> str:
    """One table of each family has a group's total."""
    of_families = []
    for family in product.families:
        ids = list(
            dict.fromkeys(
                line.table_id for shape in family.shapes for line in shape.lines if line.is_total
            )
        )
        of_families.append(ids[0] if len(ids) == 1 else f"one of {', '.join(ids)}")
    return " and ".join(of_families)


def schema_of_columns(columns: Sequence[Column]) -> pa.Schema:
    """The Arrow schema of these columns; one that is not required may be null."""
    return pa.schema(
        [pa.field(column.name, column.type, nullable=not column.is_required) for column in columns]
    )


@cache
def number_schema(product: Product, census: Census) -> pa.Schema:
    """The schema of a file of a product's numbers."""
    return schema_of_columns(number_columns(product, census))


class NumberColumns:
    """Makes the Arrow table of some numbers of one level; texts are dictionaries of what occurs."""

    def __init__(self, universe: Universe, level: ReleaseLevel, kinds: NumberKinds) -> None:
        self._universe = universe
        schema = number_schema(universe.product, universe.census)
        self.schema = as_dictionaries(schema)  # in files texts are plain strings
        self._level = level
        self._kinds = kinds
        self._entities = universe.entities[level.geography]
        self._iterations = universe.iteration_columns[level.level.iterations]
        self._of_kind = _columns_of_kinds(universe.product, kinds, schema)
        self._is_sum_clamped = ~(kinds.draws == 1) & (not universe.allow_negative_counts)

    def table(self, numbers: Numbers) -> pa.Table:
        """The table of these numbers."""
        columns = self.columns(numbers)
        return pa.table([columns[name] for name in self.schema.names], schema=self.schema)

    def columns(self, numbers: Numbers) -> dict[str, pa.Array]:
        """All columns of these numbers; null where a number is withheld or has no such value."""
        kinds, is_withheld = numbers.kinds.astype(np.intp), numbers.is_withheld
        margins = self._kinds.margins[kinds]
        low, high = interval_around(numbers.unclamped, margins)
        is_plain = numbers.low == NO_INTERVAL
        columns = {name: _of_rows(column, kinds) for name, column in self._of_kind.items()}
        columns |= self._group_columns(numbers)
        return columns | {
            "count": _masked(numbers.counts, is_withheld),
            "margin_of_error": _masked(margins, is_withheld | self._is_sum_clamped[kinds]),
            "interval_low": _masked(np.where(is_plain, low, numbers.low), is_withheld),
            "interval_high": _masked(np.where(is_plain, high, numbers.high), is_withheld),
            "unclamped_count": _masked(numbers.unclamped, is_withheld),
            "unclamped_margin_of_error": _masked(margins, is_withheld),
            "variance": pa.array(self._kinds.variances[kinds]),
            "noise_draws": pa.array(self._kinds.draws[kinds]),
            "stage_1_total": _masked(
                numbers.stage_1_totals, is_withheld | ~self._kinds.have_stage_1[kinds]
            ),
            "status": texts(
                STATUSES, np.where(is_withheld, np.int8(2), numbers.donors != NO_DONOR)
            ),
            "rule": texts([rule.value for rule in RULES], np.maximum(numbers.rules, NO_RULE)),
        }

    def _group_columns(self, numbers: Numbers) -> dict[str, pa.Array]:
        """The columns that name the area and the group of each number."""
        index, iterations = self._level.index, self._iterations
        entity, iteration = index.entity_of(numbers.indices), index.iteration_of(numbers.indices)
        of_entities, of_iterations = (
            TextsAt(entity, len(self._entities)),
            TextsAt(iteration, len(iterations.codes)),
        )
        region_ids, names = self._entities.columns
        return {
            "region_id": of_entities.of(region_ids),
            "region_name": of_entities.of(names),
            "iteration_code": of_iterations.of(iterations.codes),
            "iteration_name": of_iterations.of(iterations.names),
            "iteration_kind": texts(
                iterations.kinds.dictionary, iterations.kinds.indices.to_numpy()[iteration]
            ),
            "iteration_level": texts(
                [self._level.level.iterations.name], np.zeros(len(numbers), dtype=np.int32)
            ),
        } | self._donor_columns(numbers)

    def _donor_columns(self, numbers: Numbers) -> dict[str, pa.Array]:
        """The columns that name the donor of a copied group."""
        is_copied = numbers.donors != NO_DONOR
        if not is_copied.any():
            none = pa.DictionaryArray.from_arrays(
                pa.nulls(len(numbers), pa.int32()), pa.array([], TEXT)
            )
            return {"donor_geography_level": none, "donor_region_id": none}
        levels = self._universe.levels
        level_of_kind = np.array([kind.level for kind in self._kinds.kinds], dtype=np.int64)
        measured_at = np.where(is_copied, level_of_kind[numbers.kinds], -1)
        donor = np.full(len(numbers), -1, dtype=np.int64)
        ids: list[str] = []
        for level in np.unique(measured_at[is_copied]).tolist():
            rows = measured_at == level
            distinct, position = np.unique(numbers.donors[rows], return_inverse=True)
            donor[rows] = len(ids) + position
            ids += [levels[level].geography.kind.ids.text(entity) for entity in distinct.tolist()]
        return {
            "donor_geography_level": texts(
                [level.geography.label for level in levels], measured_at
            ),
            "donor_region_id": texts(ids, donor),
        }


def _masked(values: Integers, is_null: Truths) -> pa.Array:
    return pa.array(values, mask=is_null if is_null.any() else None)


def _of_rows(column: pa.Array, kinds: NDArray[np.intp]) -> pa.Array:
    """A column of numbers with these kinds, from one with a row for each kind."""
    if pa.types.is_dictionary(column.type):
        return texts(column.dictionary, column.indices.to_numpy()[kinds])
    return column.take(pa.array(kinds))


@lru_cache(maxsize=4)
def _columns_of_kinds(
    product: Product, kinds: NumberKinds, schema: pa.Schema
) -> dict[str, pa.Array]:
    """The columns that a number's kind decides, with a row for each kind.

    Texts are dictionaries.
    """
    lines = [kind.line for kind in kinds.kinds]
    labels = zip(*(line.labels for line in lines), strict=True)
    values: dict[str, Sequence[object]] = {
        "table": [kind.shape.label for kind in kinds.kinds],
        "table_id": [line.table_id for line in lines],
        "line": [line.number for line in lines],
        "stub": [line.stub for line in lines],
        "noise_mechanism": [kind.noise.mechanism for kind in kinds.kinds],
        "noise_parameter": [str(kind.noise.parameter) for kind in kinds.kinds],
    }
    for label, of_lines in zip(product.label_columns, labels, strict=False):
        values[label.name] = of_lines
    columns = {
        name: pa.array(of_column, schema.field(name).type) for name, of_column in values.items()
    }
    return {
        name: column.dictionary_encode() if column.type == TEXT else column
        for name, column in columns.items()
    }


INTERVAL = ("interval_low", "interval_high")
FORMAT_OF_INTERVALS = 2
"""From this format on every number that is not withheld has an interval.

Before it only selected totals had one.
"""


def with_intervals(table: pa.Table) -> pa.Table:
    """Released numbers, with an interval for each that is not withheld.

    They have one also if their file is of an earlier format.
    """
    number, margin = table["unclamped_count"], table["unclamped_margin_of_error"]
    if table["interval_low"].null_count == number.null_count:
        return table
    is_withheld = number.is_null().to_numpy()
    around = interval_around(number.fill_null(0).to_numpy(), margin.fill_null(0).to_numpy())
    for name, ends in zip(INTERVAL, around, strict=True):
        completed = pc.coalesce(table[name], pa.array(ends, mask=is_withheld))
        table = table.set_column(table.column_names.index(name), name, completed)
    return table


RELEASE_FOLDER = "release"
NUMBERS_FOLDER = "numbers"
SEARCHED_COLUMNS = ["region_id", "iteration_code"]  # readers skip row groups by these
# The writer looks through the texts of these rows for the least and greatest: the file is the same.
_ROWS_AT_ONCE = 1 << 12


def numbers_file(design: LevelDesign, of_format: int = OUTPUT_FORMAT) -> str:
    """The path of a level's numbers inside a release.

    The folder's name gives the geography level.
    """
    level, family = design.level, design.family
    is_named = of_format > 0 or not family.is_unnamed_in_format_0
    # So that two pairs of names never spell one file.
    between = "+" if "-" in level.iterations.name else "-"
    name = level.iterations.name.lower() + (f"{between}{family.file_word}" if is_named else "")
    return f"{NUMBERS_FOLDER}/geography_level={level.geography.label}/{name}.parquet"


class NumberFile:
    """A Parquet file with row groups of a fixed size, whatever the batches.

    Texts are given as dictionaries but written as plain strings, so that every program reads
    strings.
    """

    def __init__(
        self,
        path: Path,
        columns: NumberColumns,
        rows_of_a_group: int = USUAL_SIZES.numbers,
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        how = {"write_statistics": SEARCHED_COLUMNS, "write_batch_size": _ROWS_AT_ONCE}
        self._writer = pq.ParquetWriter(
            path, columns.schema, compression="zstd", store_schema=False, **how
        )
        self._columns = columns
        self._rows_of_a_group = rows_of_a_group
        self._waiting: list[Numbers] = []
        self.rows = 0

    def write(self, numbers: Numbers) -> None:
        """Append numbers. They are written once a row group is full, or when the file is closed."""
        self._waiting.append(numbers)
        if sum(map(len, self._waiting)) >= self._rows_of_a_group:
            self._write_waiting(is_last=False)

    def close(self) -> None:
        """Write the numbers that wait and close the file."""
        if self._waiting:
            self._write_waiting(is_last=True)
        self._writer.close()

    def _write_waiting(self, *, is_last: bool) -> None:
        waiting = Numbers.concat(self._waiting)
        first = 0
        while len(waiting) - first >= (1 if is_last else self._rows_of_a_group):
            end = min(first + self._rows_of_a_group, len(waiting))
            table = self._columns.table(waiting.take(slice(first, end)))
            self._writer.write_table(table, row_group_size=len(table))
            self.rows += len(table)
            first = end
        self._waiting = [waiting.take(slice(first, None))]
