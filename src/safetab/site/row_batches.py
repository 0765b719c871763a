"""The rows of one level's file as columns of small numbers, with all lines of groups that files have in part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel
from safetab.release.numbers.level_numbers import RULES
from safetab.release.numbers.number_columns import WITHHELD
from safetab.release.origin import LEAST_MARGIN
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import ReleaseLevel

GEOGRAPHIES = tuple(GeographyLevel)
OWN = -1  # numbers that are copied from no other level
NOT_WITHHELD = -1
UNKNOWN_RULE = len(RULES)  # withheld by those who published the number, who don't say why
NOT_GIVEN = len(RULES) + 1  # a line of a published table that is in none of the files that were read

_TEXTS = ("region_id", "iteration_code", "table", "status", "rule", "donor_geography_level", "donor_region_id")
_NUMBERS = ("count", "interval_low", "interval_high", "unclamped_count")

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RowBatch:
    """Some rows of the file, one element a row."""

    entities: Integers
    iterations: Integers  # positions in the level
    shapes: Integers
    values: Integers
    counts: Integers
    low: Integers  # -1 where there is none
    high: Integers
    rules: Integers  # why it is withheld: a position in RULES, or one of the numbers above
    donor_levels: Integers
    donors: Integers
    lines: Integers  # positions in the group's table; all 0 in a release that was made here
    is_known: NDArray[np.bool_]  # whether the group's table is


def read_rows(path: Path, folder: ReleaseFolder, level: ReleaseLevel) -> RowBatch | None:
    """None if there are none. Raises ValueError or an Arrow exception if the file is damaged."""
    return _joined(list(_batches(path, folder, level)))


def _batches(path: Path, folder: ReleaseFolder, level: ReleaseLevel) -> Iterator[RowBatch]:
    ids, is_read = folder.universe.entities[level.geography].ids, folder.facts.origin is not None
    texts = [*_TEXTS, *(["table_id"] if is_read else [])]
    names = [*texts, *_NUMBERS, *(["line", LEAST_MARGIN] if is_read else [])]
    with pa.parquet.ParquetFile(path, read_dictionary=texts) as file:
        for number in range(file.num_row_groups):
            read = file.read_row_group(number, columns=names).combine_chunks()
            if len(read):
                batch = _batch(read, ids, level)
                yield _with_lines(batch, read, level) if is_read else batch


def _batch(read: pa.Table, ids: Integers, level: ReleaseLevel) -> RowBatch:
    labels = {one.label: number for number, one in enumerate(GEOGRAPHIES)}
    entities = np.searchsorted(ids, _whole(read["region_id"]))
    iterations = level.position_of_code[_whole(read["iteration_code"])]
    shapes = _coded(read["table"], level.family.number_of_label)
    if (iterations < 0).any() or (shapes < 0).any() or (entities >= len(ids)).any():
        raise ValueError("a group that is not in the universe")
    return RowBatch(
        entities=_narrow(entities),
        iterations=_narrow(iterations),
        shapes=_narrow(shapes),
        values=_integers(read["unclamped_count"], 0),
        counts=_integers(read["count"], 0),
        low=_integers(read["interval_low"], -1),
        high=_integers(read["interval_high"], -1),
        rules=_narrow(_why_withheld(read)),
        donor_levels=_narrow(_coded(read["donor_geography_level"], labels)),
        donors=_narrow(_whole(read["donor_region_id"])),
        lines=np.zeros(len(read), dtype=np.int8),
        is_known=np.ones(len(read), dtype=np.bool_),
    )


def _why_withheld(read: pa.Table) -> Integers:
    """The status decides: a rule can also raise a number to 0, and a number can be withheld by no rule of ours."""
    rules = _coded(read["rule"], {rule.value: number for number, rule in enumerate(RULES)})
    is_withheld = _coded(read["status"], {WITHHELD: 1}) == 1
    return np.where(is_withheld, np.where(rules < 0, UNKNOWN_RULE, rules), NOT_WITHHELD)


def _with_lines(batch: RowBatch, read: pa.Table, level: ReleaseLevel) -> RowBatch:
    """With what a release that was read from files must tell: which lines they had, and whether of a known table."""
    shapes = level.family.shapes
    known = [(n, line) for n, shape in enumerate(shapes) for line in shape.lines]
    number_of_id = {one: n for n, one in enumerate(dict.fromkeys(line.table_id for _, line in known))}
    places = np.full((len(shapes), len(number_of_id) + 1, max(line.number for _, line in known) + 1), -1)
    for shape_number, shape in enumerate(shapes):
        for place, line in enumerate(shape.lines):
            places[shape_number, number_of_id[line.table_id], line.number] = place
    lines = places[batch.shapes, _coded(read["table_id"], number_of_id), _integers(read["line"], 0)]
    if (lines < 0).any():
        raise ValueError("a line that is not in its table")
    is_known = np.asarray(read[LEAST_MARGIN].is_null().to_numpy(), dtype=np.bool_)
    return replace(batch, lines=_narrow(lines), is_known=is_known)


def made_whole(rows: RowBatch, first: Integers, lengths: Integers) -> tuple[RowBatch, Integers]:
    """All lines of each group's table, and where each group now begins; those that no file had are NOT_GIVEN."""
    starts = np.append(0, np.cumsum(lengths))
    group = np.repeat(np.arange(len(first)), np.diff([*first, len(rows.lines)]))
    to = starts[group] + rows.lines
    if (rows.lines >= lengths[group]).any() or (to[1:] <= to[:-1]).any():
        raise ValueError("groups with lines that are not theirs")
    source = np.repeat(first, lengths)
    is_given = np.zeros(len(source), dtype=np.bool_)
    source[to], is_given[to] = np.arange(len(to)), True
    whole = RowBatch(*(getattr(rows, name)[source] for name in RowBatch.__slots__))
    values, counts = (np.where(is_given, one, 0) for one in (whole.values, whole.counts))
    rules = np.where(is_given, whole.rules, NOT_GIVEN)
    return replace(whole, values=values, counts=counts, rules=rules), starts[:-1]


def _coded(column: pa.ChunkedArray, numbers: object) -> Integers:
    """For each text its number; -1 for others and for nothing."""
    chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    known = dict(numbers)  # type: ignore[call-overload]
    codes = np.array([*(known.get(text, -1) for text in chunk.dictionary.to_pylist()), -1], dtype=np.int64)
    return np.asarray(codes[chunk.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)])


def _whole(column: pa.ChunkedArray) -> Integers:
    """Texts of digits as numbers; -1 for nothing."""
    chunk = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return _coded(chunk, {text: int(text) for text in chunk.dictionary.to_pylist()})


def _integers(column: pa.ChunkedArray, if_null: int) -> Integers:
    return _narrow(np.asarray(column.fill_null(if_null).to_numpy(), dtype=np.int64))


def _narrow(numbers: Integers) -> Integers:
    """The same numbers in fewer bytes, where they fit."""
    smallest = np.result_type(
        np.min_scalar_type(numbers.min(initial=-1)), np.min_scalar_type(-numbers.max(initial=1) - 1)
    )
    return numbers.astype(smallest)


def _joined(batches: list[RowBatch]) -> RowBatch | None:
    if not batches:
        return None
    return RowBatch(*(np.concatenate([getattr(one, name) for one in batches]) for name in RowBatch.__slots__))
