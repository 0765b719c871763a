"""The one reader of released numbers: a level's file, a row group at a time, as integers.

Each integer is a position in a list. Texts are read as dictionaries, so that each distinct text is
looked up once. Entities are positions in the universe's entities of the level, iterations in the
level's iterations, shapes in the level's family, table ids in those of the product, and statuses,
rules and donor levels in STATUSES, RULES and the area levels of the census.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from safetab.foundation.arrays import Integers, Rows, Truths
from safetab.foundation.parquet_facts import text_range
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.products.product import TOTAL_LINE, Product, TableFamily
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.numbers.level_numbers import RULES
from safetab.release.files.numbers.number_files import (
    INTERVAL,
    LEAST_MARGIN,
    STATUSES,
    number_schema,
    with_intervals,
)
from safetab.release.files.numbers.published_groups import NO_DONOR
from safetab.release.files.release_universe import ReleaseLevel, Universe

UNKNOWN = NO_DONOR
"""The position of a text that is missing or is not in its list."""


_NUMBER_OF_STATUS = {status: number for number, status in enumerate(STATUSES)}
_NUMBER_OF_RULE = {rule.value: number for number, rule in enumerate(RULES)}
_MAY_BE_NULL = ("rule", "donor_geography_level", "donor_region_id")
_ALL = slice(None)


def rows_of_file(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The rows of a released Parquet file, a row group at a time, with texts as plain strings.

    Yields one table without rows if the file has none. Raises InvalidInput if the file is damaged.
    """
    with damage_as_invalid_input(path), pq.ParquetFile(path) as file:
        if not file.metadata.num_rows:
            yield file.schema_arrow.empty_table().select(columns or file.schema_arrow.names)
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns)


class NumbersReader:
    """The file of one level's numbers.

    Regions rise in a file, so only few row groups are read if few regions are asked for. If the
    file is damaged, opening and reading raise what `damage_as_invalid_input` turns into
    InvalidInput.
    """

    def __init__(self, path: Path, universe: Universe, level: ReleaseLevel) -> None:
        self.path = path
        self.universe = universe
        self.level = level
        types = number_schema(universe.product, universe.census)
        footer = pq.read_metadata(path)  # a file of an earlier version lacks columns of today
        self._names = frozenset(footer.schema.to_arrow_schema().names)
        texts = [
            field.name for field in types if field.type == pa.string() and field.name in self._names
        ]
        self._file = pq.ParquetFile(path, metadata=footer, read_dictionary=texts)

    def batches(
        self, columns: Sequence[str] | None, regions: Sequence[str] | None = None
    ) -> Iterator[NumberBatch]:
        """Batches of these columns, or of all, in the order of the file; none is empty.

        If there are `regions`, row groups that have none of them are left out. Texts that are in no
        list are refused.
        """
        for number in self.row_groups_of(regions):
            batch = self.batch(number, columns, strict=True)
            if len(batch):
                yield batch

    def whole_groups(
        self, columns: Sequence[str] | None, *, strict: bool = True
    ) -> Iterator[NumberBatch]:
        """Batches that each begin with a group's total. A group in two row groups comes alone.

        The columns, if there are any, include `table_id` and `line`. A strict batch refuses texts
        that are in no list; another one has UNKNOWN for them.
        """
        waiting: list[NumberBatch] = []  # the rows of a group that may go on
        row_groups = self.row_groups_of(None)
        for number in row_groups:
            batch = self.batch(number, columns, strict=strict)
            first = np.flatnonzero(batch.is_total)
            if not len(first):
                waiting.append(batch)
                continue
            begin = int(first[0]) if waiting else 0
            end = len(batch) if number == row_groups[-1] else int(first[-1])
            if waiting:
                yield waiting[0].followed_by([*waiting[1:], batch.take(slice(begin))])
            if begin < end:
                yield batch.take(slice(begin, end))
            waiting = [] if end == len(batch) else [batch.take(slice(end, None))]
        if waiting:
            yield waiting[0].followed_by(waiting[1:])

    def row_groups_of(self, regions: Sequence[str] | None) -> list[int]:
        """The numbers of row groups that may hold one of the regions; all if `regions` is None."""
        numbers = range(self._file.num_row_groups)
        if regions is None:
            return list(numbers)
        least, greatest = min(regions), max(regions)
        ranges = enumerate(self._ranges)
        return [
            number
            for number, ends in ranges
            if ends is None or (ends[0] <= greatest and ends[1] >= least)
        ]

    def batch(self, row_group: int, columns: Sequence[str] | None, *, strict: bool) -> NumberBatch:
        """One row group, with these columns or all.

        `table` brings the column that says where the table is unknown, if the file has it.
        """
        names = columns
        if columns is not None and "table" in columns and LEAST_MARGIN in self._names:
            names = [*columns, LEAST_MARGIN]
        table = self._file.read_row_group(row_group, names).combine_chunks()
        table.validate(full=True)  # every index of a dictionary is inside it
        return NumberBatch(table, self.universe, self.level, strict=strict)

    @cached_property
    def _ranges(self) -> list[tuple[str, str] | None]:
        """The least and the greatest region of each row group, as the file's footer says.

        A row group without this fact, which has None, may hold any region.
        """
        return [
            text_range(self._file, number, "region_id")
            for number in range(self._file.num_row_groups)
        ]


class NumberBatch:
    """Rows of one level's file; a column is converted to integers when it is first used.

    Columns raise ValueError (or an Arrow exception) if a strict batch has a text that no list has.
    """

    def __init__(
        self, table: pa.Table, universe: Universe, level: ReleaseLevel, *, strict: bool = True
    ) -> None:
        self.table = table
        self.universe = universe
        self.level = level
        self._strict = strict

    def __len__(self) -> int:
        return len(self.table)

    def take(self, rows: Rows) -> NumberBatch:
        """The batch of the chosen rows; neighbours are not copied."""
        if isinstance(rows, slice):
            begin, end, _ = rows.indices(len(self))
            return self._of(self.table.slice(begin, end - begin))
        return self._of(self.table.take(pa.array(np.arange(len(self))[rows])))

    def followed_by(self, others: Sequence[NumberBatch]) -> NumberBatch:
        """One batch of these rows and those of other batches of the same file."""
        tables = [self.table, *(other.table for other in others)]
        return self._of(pa.concat_tables(tables).unify_dictionaries().combine_chunks())

    def _of(self, table: pa.Table) -> NumberBatch:
        return NumberBatch(table, self.universe, self.level, strict=self._strict)

    def integers(self, column: str, if_null: int = 0) -> Integers:
        """A column of numbers."""
        return np.asarray(self.table[column].fill_null(if_null), dtype=np.int64)

    @cached_property
    def interval(self) -> tuple[Integers, Integers]:
        """Both ends of each number's interval, in a file of any format; 0 if it is withheld."""
        table = with_intervals(self.table)
        low, high = (np.asarray(table[name].fill_null(0), dtype=np.int64) for name in INTERVAL)
        return low, high

    def has(self, column: str) -> Truths:
        """Whether each row has a value in the column."""
        return np.asarray(self.table[column].is_valid())

    def texts(self, column: str) -> pa.DictionaryArray:
        """A column of texts, as a dictionary and positions in it."""
        chunks = self.table[column]
        return chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()

    def positions(self, column: str, known: Mapping[str, int]) -> Integers:
        """For each row the number of its text, or UNKNOWN."""
        texts = self.texts(column)
        found = [known.get(text, UNKNOWN) for text in texts.dictionary.to_pylist()]
        return self._spread(column, np.array(found, dtype=np.int64))

    def _listed(self, column: str, listed: pa.Array, begin: int = 0) -> Integers:
        """For each row the position of its text in a long list, or UNKNOWN.

        `listed` is a part of the list that begins at `begin`.
        """
        found = pc.index_in(self.texts(column).dictionary, listed).cast(pa.int64())
        return self._spread(column, pc.add(found, begin).fill_null(UNKNOWN).to_numpy())

    def _spread(self, column: str, number_of_text: Integers) -> Integers:
        """The number of each row's text, from those of the distinct texts.

        A dictionary may have texts that no row has: these are never refused.
        """
        texts = self.texts(column)
        if (
            not texts.null_count
            and len(number_of_text)
            and bool((number_of_text == number_of_text[0]).all())
        ):
            numbers = np.full(len(texts), number_of_text[0])
        else:
            indices = (
                texts.indices.fill_null(len(number_of_text)) if texts.null_count else texts.indices
            )
            numbers = np.asarray(np.append(number_of_text, UNKNOWN)[indices.to_numpy()])
        if self._strict:
            is_wrong = numbers == UNKNOWN
            if column in _MAY_BE_NULL:
                is_wrong &= self.has(column)
            if is_wrong.any():
                raise ValueError(f"{column} has a text that is not one of its values, or none")
        return numbers

    @cached_property
    def entity(self) -> Integers:
        """Positions in the universe's entities.

        Ids rise as texts do, so a short part of the list is searched.
        """
        entities = self.universe.entities[self.level.geography]
        ends = pc.min_max(self.texts("region_id").dictionary).as_py()
        begin = bisect_left(entities.region_ids, ends["min"] or "")
        end = bisect_right(entities.region_ids, ends["max"] or "")
        return self._listed("region_id", entities.columns[0].slice(begin, end - begin), begin)

    @cached_property
    def iteration(self) -> Integers:
        """Positions in the level's iterations."""
        return self._listed(
            "iteration_code", self.universe.iteration_columns[self.level.level.iterations].codes
        )

    @cached_property
    def shape(self) -> Integers:
        """Positions in the family's shapes; see `table_is_known`."""
        return self.positions("table", self.level.family.number_of_label)

    @cached_property
    def table_is_known(self) -> Truths:
        """Whether the table of the row's group is known.

        It may be unknown in a release of published files; `shape` is then the one with the most
        noise.
        """
        if LEAST_MARGIN in self.table.column_names:
            return ~self.has(LEAST_MARGIN)
        return np.ones(len(self), dtype=np.bool_)

    @cached_property
    def table_id(self) -> Integers:
        """Positions in the product's table ids."""
        return self.positions("table_id", _number_of_table_id(self.universe.product))

    @cached_property
    def line(self) -> Integers:
        """The number of the line in its published table, from 1."""
        return self.integers("line")

    @cached_property
    def is_total(self) -> Truths:
        """Whether the row is a group's total, which every group has in its first row."""
        product = self.universe.product
        is_total_table = np.array(
            [table_id in product.total_table_ids for table_id in product.table_ids] + [False]
        )
        return np.asarray(
            is_total_table[self.table_id] & (np.asarray(self.table["line"]) == TOTAL_LINE)
        )

    def line_positions(self, shape: Integers | int, rows: Rows = _ALL) -> Integers:
        """For each of the rows its position among the lines of its shape.

        UNKNOWN where the shape has no such line.
        """
        lines = _position_of_line(self.universe.product, self.level.family)
        numbers = np.clip(self.line[rows], 0, lines.shape[-1] - 1)
        return np.asarray(lines[shape, self.table_id[rows], numbers])

    @cached_property
    def status(self) -> Integers:
        """Positions in STATUSES."""
        return self.positions("status", _NUMBER_OF_STATUS)

    @cached_property
    def rule(self) -> Integers:
        """Positions in RULES, or UNKNOWN if no rule of ours acted."""
        return self.positions("rule", _NUMBER_OF_RULE)

    @cached_property
    def donor_level(self) -> Integers:
        """Positions in the census's area levels, or NO_DONOR if the number is the group's own."""
        return self.positions("donor_geography_level", self.universe.number_of_label)

    @cached_property
    def measured_at(self) -> Integers:
        """The number of the level whose noise each number has, or -1.

        The noise of a copy is the donor's.
        """
        numbers, own = self.universe.number_of_level, self.level
        levels = [
            PopulationGroupLevel(area, own.level.iterations)
            for area in self.universe.census.area_levels
        ]
        # The last is that of NO_DONOR.
        found = [numbers.get((own.family, one), -1) for one in (*levels, own.level)]
        return np.array(found, dtype=np.int64)[self.donor_level]

    @cached_property
    def is_selected(self) -> Truths:
        """Whether each number is shown because it passed suppression.

        Such a number is a lone total of a level that suppresses.
        """
        is_total = self.shape == self.level.family.number_of(self.level.family.total)
        is_lone = is_total & ~self.level.is_total_only[self.iteration] & self.has("count")
        thresholds = [level.design.suppression_threshold for level in self.universe.levels]
        suppresses = np.array([threshold is not None for threshold in thresholds])
        return np.asarray(is_lone & suppresses[self.measured_at])

    @cached_property
    def donor(self) -> Integers:
        """The number of the donor's id at its level, or NO_DONOR for a group's own number."""
        texts, levels = self.texts("donor_region_id"), self.universe.census.area_levels
        donors = np.full(len(texts), NO_DONOR, dtype=np.int64)
        copied = np.flatnonzero(self.has("donor_region_id") & (self.donor_level != NO_DONOR))
        places = texts.indices.take(pa.array(copied)).to_numpy()
        distinct, pair = np.unique(
            places * len(levels) + self.donor_level[copied], return_inverse=True
        )
        ids = texts.dictionary.to_pylist()
        numbers = [
            levels[one % len(levels)].kind.ids.number(ids[one // len(levels)])
            for one in distinct.tolist()
        ]
        donors[copied] = np.array(numbers, dtype=np.int64)[pair]
        return donors


@lru_cache(maxsize=8)
def _number_of_table_id(product: Product) -> Mapping[str, int]:
    return {table_id: number for number, table_id in enumerate(product.table_ids)}


@lru_cache(maxsize=8)
def _position_of_line(product: Product, family: TableFamily) -> Integers:
    """By shape, table id and line number; the last of the first two are for UNKNOWN."""
    number_of_table_id = _number_of_table_id(product)
    last = max(line.number for shape in family.shapes for line in shape.lines)
    sizes = (
        len(family.shapes) + 1,
        len(number_of_table_id) + 1,
        last + 2,
    )  # neither 0 nor the last is a line
    positions = np.full(sizes, UNKNOWN, dtype=np.int64)
    for number, shape in enumerate(family.shapes):
        for position, line in enumerate(shape.lines):
            positions[number, number_of_table_id[line.table_id], line.number] = position
    return positions
