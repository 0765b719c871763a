"""Published groups of one level as arrays: indices, shapes, numbers, and donors of copies.

`groups_by_level` reads them back from the measurement file of a pass, a few rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Integers, Rows, Truths, run_starts
from safetab.model.products.product import Shape, TableFamily
from safetab.release.files.release_universe import Universe

NO_DONOR = -1
_BY_GROUP = ("indices", "shapes", "is_total_only", "stage_1_totals", "measured_at", "donors")


@dataclass(frozen=True, slots=True, eq=False)
class PublishedGroups:
    """One element per group, by ascending index in the release.

    `values` holds the total or the cells of each group in turn. `measured_at` is the number of the
    level that measured a group: for a copied group that is another level, and `donors` is the
    entity that gave it.
    """

    family: TableFamily
    indices: Integers
    shapes: NDArray[np.int8]  # positions in the family's ladder
    is_total_only: Truths
    stage_1_totals: Integers  # 0 for groups that have none
    measured_at: NDArray[np.int16]
    donors: Integers
    values: Integers

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def starts(self) -> Integers:
        """The positions at which the groups' values begin."""
        cells = self.family.cells[self.shapes]
        starts: Integers = np.cumsum(cells) - cells
        return starts

    def matrix_of(self, groups: NDArray[np.intp], shape: Shape) -> Integers:
        """The values of groups with this shape: a row for each group, a column for each cell."""
        rows: Integers = self.values[self.starts[groups][:, None] + np.arange(shape.cells)]
        return rows

    def part(self, first: int, end: int) -> PublishedGroups:
        """A run of groups, whose arrays are views of these."""
        cells = self.family.cells[self.shapes[:end]]
        before, own = int(cells[:first].sum()), int(cells[first:].sum())
        return self._with(slice(first, end), self.values[before : before + own])

    def chosen(self, groups: NDArray[np.intp] | Truths) -> PublishedGroups:
        """Some of the groups, in the given order."""
        positions = np.arange(len(self))[groups]
        cells = self.family.cells[self.shapes[positions]]
        first = np.repeat(self.starts[positions] - (np.cumsum(cells) - cells), cells)
        return self._with(positions, self.values[first + np.arange(len(first))])

    def _with(self, groups: Rows, values: Integers) -> PublishedGroups:
        by_group = {name: getattr(self, name)[groups] for name in _BY_GROUP}
        return PublishedGroups(family=self.family, **by_group, values=values)


NumberedGroups = tuple[int, PublishedGroups]
"""The number of a level, and groups of it."""


def no_groups(family: TableFamily) -> PublishedGroups:
    """Groups of a family, of which there are 0."""
    none = np.empty(0, dtype=np.int64)
    is_total_only = none.astype(np.bool_)
    return PublishedGroups(
        family, none, none.astype(np.int8), is_total_only, none, none.astype(np.int16), none, none
    )


def joined(parts: Sequence[PublishedGroups]) -> PublishedGroups:
    """The groups of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in (*_BY_GROUP, "values")
    }
    return PublishedGroups(family=parts[0].family, **arrays)


def joined_by_level(parts: Iterable[NumberedGroups]) -> dict[int, PublishedGroups]:
    """The groups of each level, by its number, from parts in any order of levels."""
    by_level: dict[int, list[PublishedGroups]] = {}
    for number, groups in parts:
        by_level.setdefault(number, []).append(groups)
    return {number: joined(of_level) for number, of_level in by_level.items()}


def merged(own: PublishedGroups, more: PublishedGroups) -> PublishedGroups:
    """Both by ascending index. A group of `more` replaces an own one."""
    if not len(more):
        return own
    kept = own.chosen(~np.isin(own.indices, more.indices))
    both = joined([kept, more])
    return both.chosen(np.argsort(both.indices, kind="stable"))


_ROWS_AT_ONCE = 1 << 20  # as many as a row group has, whose dictionaries then stay as they are
_TEXTS = ("geography_level", "region_id", "iteration_code", "table")
_COLUMNS = (*_TEXTS, "stage", "value")


def groups_by_level(
    path: Path, universe: Universe, stages: frozenset[Stage] = frozenset(Stage)
) -> Iterator[NumberedGroups]:
    """The groups that these stages measured, with the number of their level, in file order.

    Those of one level come in several parts, each with whole entities. The file has the adaptive
    groups of each level (stages 1 and 2), then the total-only ones (stage 0). Both are by ascending
    index, if they are asked for separately.
    """
    levels = _level_numbers(universe)
    with pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS)) as file:
        waiting: pa.Table | None = None  # the rows of an entity, of which more may follow
        for batch in file.iter_batches(
            _ROWS_AT_ONCE, _row_groups(file, stages), columns=list(_COLUMNS)
        ):
            table = pa.Table.from_batches([batch])
            is_wanted = np.isin(table["stage"].to_numpy(), [int(stage) for stage in stages])
            if not is_wanted.all():
                table = table.filter(pa.array(is_wanted))
            if not len(table):
                continue
            if waiting is not None:
                table = pa.concat_tables([waiting, table]).unify_dictionaries()
            rows = _Rows(table, universe, levels)
            yield from rows.groups(int(np.searchsorted(rows.begins, rows.last_entity)))
            waiting = table.slice(rows.last_entity)
        if waiting is not None:
            rows = _Rows(waiting, universe, levels)
            yield from rows.groups(len(rows.begins))


def _row_groups(file: pa.parquet.ParquetFile, stages: frozenset[Stage]) -> list[int]:
    """The row groups with rows of these stages. Total-only groups are in few."""
    wanted = [int(stage) for stage in stages]
    found = (
        file.read_row_group(number, ["stage"])["stage"] for number in range(file.num_row_groups)
    )
    return [
        number for number, column in enumerate(found) if np.isin(column.to_numpy(), wanted).any()
    ]


def _level_numbers(universe: Universe) -> Integers:
    """The numbers of levels, by geography level, table family and iteration.

    It is -1 for an iteration that no list has.
    """
    families = universe.product.families
    numbers = np.full(
        (len(universe.number_of_label), len(families), len(universe.number_of_code) + 1), -1
    )
    for number, level in enumerate(universe.levels):
        codes = [universe.number_of_code[iteration.code] for iteration in level.iterations]
        numbers[
            universe.number_of_label[level.geography.label], families.index(level.family), codes
        ] = number
    return numbers


class _Rows:
    """Rows of the file, and the places where groups begin.

    A group begins at a new geography level, region, iteration or family.
    """

    def __init__(self, table: pa.Table, universe: Universe, levels: Integers) -> None:
        self._universe = universe
        self._levels = levels
        product = universe.product
        texts = {name: table[name].combine_chunks() for name in _TEXTS}
        place = {name: column.indices.to_numpy() for name, column in texts.items()}
        family_of = {
            label: product.families.index(family)
            for label, family in product.family_of_label.items()
        }
        families = _looked_up(texts["table"], family_of)
        keys = [place[name] for name in ("geography_level", "region_id", "iteration_code")]
        if product.has_several_families:
            keys.append(families[place["table"]])
        self.begins = run_starts(*keys)
        self.last_entity = int(run_starts(place["geography_level"], place["region_id"])[-1])
        self._place = place
        self._families = families
        self._geographies = _looked_up(texts["geography_level"], universe.number_of_label)
        self._regions = texts["region_id"].dictionary
        self._code_texts = texts["iteration_code"].dictionary.to_pylist()
        codes = [universe.number_of_code.get(code, -1) for code in self._code_texts]
        self._codes = np.array(codes, dtype=np.int64)
        self._shapes = _looked_up(texts["table"], product.number_of_label)
        self._stages, self._values = table["stage"].to_numpy(), table["value"].to_numpy()

    def groups(self, count: int) -> Iterator[NumberedGroups]:
        """The first `count` groups, those of one level at a time."""
        at = self.begins[:count]
        place = {name: places[at] for name, places in self._place.items()}
        family, code = self._families[place["table"]], self._codes[place["iteration_code"]]
        numbers = self._levels[self._geographies[place["geography_level"]], family, code]
        ends = np.append(self.begins, len(self._values))
        for first, end in pairwise([*run_starts(numbers).tolist(), count]):
            level = int(numbers[first])
            own = slice(int(ends[first]), int(ends[end]))
            yield level, self._groups(at[first:end], own, level)

    def _groups(self, at: NDArray[np.intp], rows: slice, number: int) -> PublishedGroups:
        """The groups of one level in a run of rows."""
        level, stage = self._universe.levels[number], self._stages[at]
        has_stage_1 = stage == int(Stage.STAGE_1)
        listed = self._universe.entities[level.geography].columns[0]
        # Entities of another level are not used.
        entities = pc.index_in(self._regions, listed).fill_null(len(listed))
        entity = entities.to_numpy()[self._place["region_id"][at]].astype(np.int64)
        iteration = level.positions_of(self._code_texts)[self._place["iteration_code"][at]]
        return PublishedGroups(
            family=level.family,
            indices=level.index.index_of(entity, iteration),
            shapes=self._shapes[self._place["table"][at + has_stage_1]].astype(np.int8),
            is_total_only=stage == int(Stage.TOTAL_ONLY),
            stage_1_totals=np.where(has_stage_1, self._values[at], 0),
            measured_at=np.full(len(at), number, dtype=np.int16),
            donors=np.full(len(at), NO_DONOR, dtype=np.int64),
            values=self._values[rows][self._stages[rows] != int(Stage.STAGE_1)],
        )


def _looked_up(texts: pa.DictionaryArray, numbers: Mapping[str, int]) -> Integers:
    """The numbers of the distinct texts."""
    return np.array([numbers[text] for text in texts.dictionary.to_pylist()], dtype=np.int64)
