"""The measurement file of a pass, read back as published groups, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography import changes_in
from safetab.census.geography_levels import GeographyLevel
from safetab.privacy.stages import Stage
from safetab.release.numbers.published_groups import NO_DONOR, PublishedGroups, joined
from safetab.release.release_universe import Universe

_ROWS_AT_ONCE = 1 << 20  # as many as a row group has, whose dictionaries then stay as they are
_TEXTS = ("geography_level", "region_id", "iteration_code", "table")
_COLUMNS = (*_TEXTS, "stage", "value")
_GEOGRAPHIES = {level.label: number for number, level in enumerate(GeographyLevel)}


def groups_by_level(path: Path, universe: Universe, stages: frozenset[Stage]) -> Iterator[tuple[int, PublishedGroups]]:
    """Groups that were measured in these stages, with the number of their level, in the order of the file.

    Those of one level come in several parts, each with whole entities, by rising index. Adaptive groups (stages 1 and
    2) and total-only ones (stage 0) have to be asked for apart, since the file has the latter after the former.
    """
    waiting: tuple[int, PublishedGroups] | None = None
    for level, part in _parts(path, universe, stages):
        if waiting is not None and waiting[0] == level:
            part = joined([waiting[1], part])  # noqa: PLW2901 - grown by what waited
        elif waiting is not None:
            yield waiting
        entities = universe.levels[level].index.entity_of(part.indices)
        end = int(np.searchsorted(entities, entities[-1]))  # more of the last entity may follow
        if end:
            yield level, part.part(0, end)
        waiting = level, part.part(end, len(part))
    if waiting is not None:
        yield waiting


def _parts(path: Path, universe: Universe, stages: frozenset[Stage]) -> Iterator[tuple[int, PublishedGroups]]:
    """Whole groups of one level at a time, as they come."""
    level_of = _level_of(universe)
    with pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS)) as file:
        waiting: pa.Table | None = None  # the rows of a group, of which more may follow
        for batch in file.iter_batches(_ROWS_AT_ONCE, _row_groups(file, stages), columns=list(_COLUMNS)):
            table = pa.Table.from_batches([batch])
            is_wanted = np.isin(table["stage"].to_numpy(), [int(stage) for stage in stages])
            if not is_wanted.all():
                table = table.filter(pa.array(is_wanted))
            if not len(table):
                continue
            if waiting is not None:
                table = pa.concat_tables([waiting, table]).unify_dictionaries()
            rows = _Rows(table, universe)
            yield from rows.groups(len(rows.begins) - 1, universe, level_of)
            waiting = table.slice(int(rows.begins[-1]))
        if waiting is not None:
            yield from _Rows(waiting, universe).groups(1, universe, level_of)


def _row_groups(file: pa.parquet.ParquetFile, stages: frozenset[Stage]) -> list[int]:
    """The row groups with rows of these stages: total-only groups are in few."""
    wanted = [int(stage) for stage in stages]
    return [
        number
        for number in range(file.num_row_groups)
        if np.isin(file.read_row_group(number, ["stage"])["stage"].to_numpy(), wanted).any()
    ]


def _level_of(universe: Universe) -> NDArray[np.int64]:
    """The number of a level: by geography level, family of tables and iteration code."""
    numbers = np.full((len(_GEOGRAPHIES), len(universe.product.families), 10_000), -1, dtype=np.int64)
    for number, level in enumerate(universe.levels):
        family = universe.product.families.index(level.family)
        numbers[_GEOGRAPHIES[level.geography.label], family, level.position_of_code >= 0] = number
    return numbers


class _Rows:
    """Rows of the file, and where the groups in them begin: at another geography level, region, iteration or family."""

    def __init__(self, table: pa.Table, universe: Universe) -> None:
        product = universe.product
        texts = {name: table[name].combine_chunks() for name in _TEXTS}
        place = {name: one.indices.to_numpy() for name, one in texts.items()}
        family_of = {label: product.families.index(family) for label, family in product.family_of_label.items()}
        families = _looked_up(texts["table"], family_of)
        keys = [place[name] for name in ("geography_level", "region_id", "iteration_code")]
        if product.has_several_families:
            keys.append(families[place["table"]])
        self.begins = np.flatnonzero(changes_in(*keys))
        self._place = place
        self._families = families
        self._geographies = _looked_up(texts["geography_level"], _GEOGRAPHIES)
        self._regions = _numbers(texts["region_id"])
        self._codes = _numbers(texts["iteration_code"])
        self._shapes = _looked_up(texts["table"], product.number_of_label)
        self._stages, self._values = table["stage"].to_numpy(), table["value"].to_numpy()

    def groups(
        self, count: int, universe: Universe, level_of: NDArray[np.int64]
    ) -> Iterator[tuple[int, PublishedGroups]]:
        """The first so many of them, those of one level at a time."""
        at = self.begins[:count]
        code = self._codes[self._place["iteration_code"][at]]
        family = self._families[self._place["table"][at]]
        numbers = level_of[self._geographies[self._place["geography_level"][at]], family, code]
        ends = np.append(self.begins, len(self._values))
        for first, end in pairwise([0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), count]):
            if first < end:
                level = int(numbers[first])
                own = slice(int(ends[first]), int(ends[end]))
                yield level, self._groups(at[first:end], code[first:end], own, level, universe)

    def _groups(
        self, at: NDArray[np.intp], code: NDArray[np.int64], rows: slice, number: int, universe: Universe
    ) -> PublishedGroups:
        level, stage = universe.levels[number], self._stages[at]
        has_stage_1 = stage == int(Stage.STAGE_1)
        entities = np.searchsorted(universe.entities[level.geography].ids, self._regions)  # of another level: unused
        entity = entities[self._place["region_id"][at]]
        return PublishedGroups(
            family=level.family,
            indices=level.index.index_of(entity, level.position_of_code[code]),
            shapes=self._shapes[self._place["table"][at + has_stage_1]].astype(np.int8),
            is_total_only=stage == int(Stage.TOTAL_ONLY),
            stage_1_totals=np.where(has_stage_1, self._values[at], 0),
            measured_at=np.full(len(at), number, dtype=np.int16),
            donors=np.full(len(at), NO_DONOR, dtype=np.int64),
            values=self._values[rows][self._stages[rows] != int(Stage.STAGE_1)],
        )


def _numbers(texts: pa.DictionaryArray) -> NDArray[np.int64]:
    """The numbers that the digits of the distinct texts spell."""
    numbers: NDArray[np.int64] = texts.dictionary.cast(pa.int64()).to_numpy()
    return numbers


def _looked_up(texts: pa.DictionaryArray, numbers: Mapping[str, int]) -> NDArray[np.int64]:
    """The numbers of the distinct texts."""
    return np.array([numbers[text] for text in texts.dictionary.to_pylist()], dtype=np.int64)


def groups_as_written(path: Path, universe: Universe) -> Iterator[tuple[int, PublishedGroups]]:
    """All groups in the order of the file: of each level the adaptive ones, then those that are total-only."""
    return _parts(path, universe, frozenset(Stage))
