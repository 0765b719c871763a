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
from safetab.release.release_universe import ReleaseLevel, Universe

_ROWS_AT_ONCE = 1 << 18
_ROWS_AT_THE_END = 1 << 10
_TEXTS = ("geography_level", "region_id", "iteration_code", "table")
_MOST_FAMILIES = 16  # an address of noise has no room for more
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
            yield level, part.chosen(slice(0, end))
        waiting = level, part.chosen(slice(end, len(part)))
    if waiting is not None:
        yield waiting


def _parts(path: Path, universe: Universe, stages: frozenset[Stage]) -> Iterator[tuple[int, PublishedGroups]]:
    """Whole groups of one level at a time, as they come."""
    level_of = _level_of(universe)
    with pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS)) as file:
        waiting: pa.Table | None = None
        for batch in file.iter_batches(_ROWS_AT_ONCE, _row_groups(file, stages), columns=list(_COLUMNS)):
            table = pa.Table.from_batches([batch])
            is_wanted = np.isin(table["stage"].to_numpy(), [int(stage) for stage in stages])
            if not is_wanted.all():
                table = table.filter(pa.array(is_wanted))
            if not len(table):
                continue
            if waiting is not None:
                last = _last_begin(waiting, universe)  # more of that group may follow
                yield from _split_by_level(waiting.slice(0, last), universe, level_of)
                table = pa.concat_tables([waiting.slice(last), table]).unify_dictionaries()
            waiting = table
        if waiting is not None:
            yield from _split_by_level(waiting, universe, level_of)


def _row_groups(file: pa.parquet.ParquetFile, stages: frozenset[Stage]) -> list[int]:
    """The row groups that may have rows of these stages: total-only groups are in few."""
    column = file.schema_arrow.get_field_index("stage")
    least = [file.metadata.row_group(number).column(column).statistics for number in range(file.num_row_groups)]
    return [
        number
        for number, of_stage in enumerate(least)
        if of_stage is None or any(of_stage.min <= int(stage) <= of_stage.max for stage in stages)
    ]


def _split_by_level(
    table: pa.Table, universe: Universe, level_of: NDArray[np.int64]
) -> Iterator[tuple[int, PublishedGroups]]:
    if not len(table):
        return
    table = table.combine_chunks()
    geography = _looked_up(table["geography_level"], _GEOGRAPHIES)
    numbers = level_of[geography, _families(table, universe), _numbers(table["iteration_code"])]
    bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(table)]
    for first, end in pairwise(bounds):
        level = int(numbers[first])
        yield level, _groups(table.slice(first, end - first), level, universe.levels[level], universe)


def _level_of(universe: Universe) -> NDArray[np.int64]:
    """The number of a level: by geography level, family of tables and iteration code."""
    numbers = np.full((len(_GEOGRAPHIES), len(universe.product.families), 10_000), -1, dtype=np.int64)
    for number, level in enumerate(universe.levels):
        family = universe.product.families.index(level.family)
        numbers[_GEOGRAPHIES[level.geography.label], family, level.position_of_code >= 0] = number
    return numbers


def _families(table: pa.Table, universe: Universe) -> NDArray[np.int64]:
    """The position of each row's family in the product."""
    product = universe.product
    position_of = {label: product.families.index(family) for label, family in product.family_of_label.items()}
    return _looked_up(table["table"], position_of)


def _begins(table: pa.Table, universe: Universe) -> NDArray[np.intp]:
    """Where a group's rows begin: at another geography level, region, iteration or family than the row before."""
    geography = _looked_up(table["geography_level"], _GEOGRAPHIES)
    group = (_numbers(table["region_id"]) * len(_GEOGRAPHIES) + geography) * _MOST_FAMILIES + _families(table, universe)
    return np.flatnonzero(changes_in(group, _numbers(table["iteration_code"])))


def _last_begin(table: pa.Table, universe: Universe) -> int:
    """Where the last group's rows begin; mostly a few rows at the end tell it."""
    first = max(len(table) - _ROWS_AT_THE_END, 0)
    found = int(_begins(table.slice(first), universe)[-1])
    return first + found if found else int(_begins(table, universe)[-1])


def _groups(table: pa.Table, number: int, level: ReleaseLevel, universe: Universe) -> PublishedGroups:
    stage = table["stage"].to_numpy()
    first = _begins(table, universe)
    is_total_only = stage[first] == int(Stage.TOTAL_ONLY)
    has_stage_1 = stage[first] == int(Stage.STAGE_1)
    region, code = _numbers(table["region_id"])[first], _numbers(table["iteration_code"])[first]
    value = table["value"].to_numpy()
    is_value = stage != int(Stage.STAGE_1)
    entity = np.searchsorted(universe.entities[level.geography].ids, region)
    own_shape = _looked_up(table["table"], universe.product.number_of_label)[first + has_stage_1]
    return PublishedGroups(
        family=level.family,
        indices=level.index.index_of(entity, level.position_of_code[code]),
        shapes=own_shape.astype(np.int8),
        is_total_only=is_total_only,
        stage_1_totals=np.where(has_stage_1, value[first], 0),
        measured_at=np.full(len(first), number, dtype=np.int16),
        donors=np.full(len(first), NO_DONOR, dtype=np.int64),
        values=value[is_value],
    )


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """The numbers that the digits of a text column spell."""
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    numbers: NDArray[np.int64] = texts.dictionary.cast(pa.int64()).to_numpy()[texts.indices.to_numpy()]
    return numbers


def _looked_up(column: pa.ChunkedArray, numbers: Mapping[str, int]) -> NDArray[np.int64]:
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found = np.array([numbers[text] for text in texts.dictionary.to_pylist()], dtype=np.int64)
    return np.asarray(found[texts.indices.to_numpy()])


def groups_as_written(path: Path, universe: Universe) -> Iterator[tuple[int, PublishedGroups]]:
    """All groups in the order of the file: of each level the adaptive ones, then those that are total-only."""
    return _parts(path, universe, frozenset(Stage))
