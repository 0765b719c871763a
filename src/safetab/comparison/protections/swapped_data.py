"""DATA after swapping: the same files, and records whose households live elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.area_levels import AreaKind, Pass
from safetab.census.areas import NO_ENTITY, Areas
from safetab.comparison.protections.swapping import Households, Swapping
from safetab.comparison.tables.exact_tables import Int64s
from safetab.foundation.arrays import find_sorted
from safetab.foundation.findings import InvalidInput
from safetab.foundation.parquet_facts import opened_parquet
from safetab.pipeline.inputs import RunInputs
from safetab.products.all_products import PRODUCTS
from safetab.products.record import AreaColumns, RecordLayout
from safetab.readers.record_files import record_file_names
from safetab.readers.table_files import TableForm
from safetab.synthetic.files.census_files import PERSON_HOUSEHOLD_FILE

Int32s = NDArray[np.int32]
_SWAPS = 0x5A7  # the address of random bits for swapping
_ROWS, _BYTES = 1 << 18, 1 << 25  # of a batch
_MOST_NUMBERS = 1 << 40  # of areas of a kind
_NOBODY = -1
_BETWEEN = "\x1f"
HOUSEHOLDS_UNKNOWN = (
    "swap needs to know who lives with whom: synthesize with --households, as text or Parquet, or give"
    f" {PERSON_HOUSEHOLD_FILE} beside the records (HOUSEHOLD: an integer for each record, in the order of the"
    " records; null: in no household)."
)


def swapped_data(data: Path, folder: Path, swapping: Swapping, inputs: RunInputs, seed: int) -> Path:
    """Make `folder/data`: DATA after swapping, for the same PARAMETERS. Return its path.

    Files without areas of records are links. Raises InvalidInput if nobody knows who lives with whom.
    """
    record = inputs.files.config.product.record
    layouts = [record] if record.fields else [product.record for product in PRODUCTS]  # records of the same census
    persons = next((each for each in layouts if not each.holds_people), record)
    if not (data / PERSON_HOUSEHOLD_FILE).is_file():
        raise InvalidInput.about(data, HOUSEHOLDS_UNKNOWN)
    home = _homes_of(data / PERSON_HOUSEHOLD_FILE)
    numbers, around = _ground(inputs.files.geography_of_pass, inputs.files.config.census.kinds)
    people = _households_of(data, persons, home, numbers, around, finds_unique=swapping.target == "unique")
    known = np.flatnonzero(people.areas != _NOBODY)  # the others live outside of what is tabulated
    inside = people.chosen(known)
    after = swapping.protect(inside, np.random.default_rng([seed, _SWAPS, 0])).areas
    moves_to = np.full(len(people.areas) + 1, NO_ENTITY, dtype=np.int64)  # the last one is of people in no household
    moves_to[known] = np.where(after == inside.areas, NO_ENTITY, numbers[after])
    tables = {layout.table: layout for layout in layouts if record_file_names(data, layout).value is not None}
    out = folder / "data"
    out.mkdir(parents=True)
    for path in data.iterdir():
        if path.name.partition(".")[0] not in tables:
            (out / path.name).symlink_to(path.resolve())
    for layout in tables.values():
        _write_moved(data, out / layout.table, layout, moves_to[home] if layout is persons else moves_to[:-1])
    return out


def kinds_around(areas: Areas, kinds: Sequence[AreaKind]) -> list[AreaKind]:
    """The inner, middle and outer kind, as far as there are such.

    The inner kind is the one with the most areas, of those in which every smallest area lies.
    """
    covering = [kind for kind in kinds if not (areas.number_of_run(kind) == NO_ENTITY).any()]
    inner = max(covering, key=lambda kind: len(areas.entities(kind)), default=None)
    return [] if inner is None else [kind for kind in (inner, *inner.around)[:3] if not kind.is_whole]


def leaving_share(
    swapping: Swapping,
    areas: Areas,
    kinds: Sequence[AreaKind],
    people_of: Callable[[AreaKind], Int64s],
    attacked: tuple[AreaKind, int],
) -> float:
    """The share of the attacked area's people whom swapping takes to another inner area.

    `people_of` gives those of each entity of a kind; `attacked` is a kind, and a position among its
    entities. All of it is public, as the method's parameters are.
    """
    found = kinds_around(areas, kinds)
    if not found:
        return 0.0
    people, nothing = people_of(found[0]), np.zeros(len(areas.entities(found[0])), dtype=np.int64)
    parents = [areas.parents(found[0], kind).astype(np.int64) for kind in found[1:]]
    middle, outer = [*parents, nothing, nothing][:2]
    leaving = people * swapping.leaving_shares(people, middle, outer)
    is_inside = areas.parents(found[0], attacked[0]) == attacked[1]
    return float(leaving[is_inside].sum() / max(people[is_inside].sum(), 1))


def _ground(areas_of_pass: Mapping[Pass, Areas], kinds: Sequence[AreaKind]) -> tuple[Int64s, Int64s]:
    """The numbers of all smallest areas, rising, and a row for the inner, middle and outer area of each."""
    numbers = np.concatenate([areas.smallest for areas in areas_of_pass.values()])
    around = []
    for place, areas in enumerate(areas_of_pass.values()):
        rows = [areas.number_of_area(kind) for kind in kinds_around(areas, kinds)]
        rows += [np.zeros_like(areas.smallest)] * (3 - len(rows))
        around.append(np.stack(rows) + place * _MOST_NUMBERS)  # areas of two passes are never the same
    order = np.argsort(numbers, kind="stable")
    return numbers[order], np.concatenate(around, axis=1)[:, order]


def _homes_of(path: Path) -> Int32s:
    """The household of each person record, from 0 on without gaps, or -1."""
    try:
        with opened_parquet(path) as file:
            column = file.read(["HOUSEHOLD"])["HOUSEHOLD"]
        home = column.cast(pa.int32()).fill_null(_NOBODY).to_numpy()
    except (pa.ArrowException, KeyError) as error:
        raise InvalidInput.about(path, "must be a Parquet file with a column HOUSEHOLD of integers.") from error
    if home.min(initial=0) < _NOBODY or home.max(initial=0) > len(home):
        raise InvalidInput.about(path, "numbers of households must count from 0 without gaps.", "HOUSEHOLD")
    return np.asarray(home)


def _households_of(
    data: Path, persons: RecordLayout, home: Int32s, numbers: Int64s, around: Int64s, *, finds_unique: bool
) -> Households:
    """Where the households live, by their members."""
    places, traits, number_of = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)], dict[str, int]()
    inner = np.unique(around[0], return_inverse=True)[1]
    for batch in _batches(data, persons):
        place, is_known = find_sorted(numbers, _area_numbers(batch, persons))
        places.append(np.where(is_known, place, _NOBODY).astype(np.int32))
        if finds_unique:
            traits.append(inner[place] << 32 | _trait_numbers(batch, persons, number_of))
    place = np.concatenate(places)
    if len(place) != len(home):
        raise InvalidInput.about(
            PERSON_HOUSEHOLD_FILE, f"has {len(home):,} rows, and there are {len(place):,} records."
        )
    lives_there, is_member = (place != _NOBODY) & (home != _NOBODY), home != _NOBODY
    sizes = np.bincount(home[is_member])
    areas = np.full(len(sizes), _NOBODY, dtype=np.int64)
    areas[home[lives_there]] = place[lives_there]
    is_unique = np.zeros(len(sizes), dtype=np.bool_)
    if finds_unique:
        _, which, times = np.unique(np.concatenate(traits), return_inverse=True, return_counts=True)
        is_unique[home[(times[which] == 1) & is_member]] = True
    return Households(areas, sizes, is_unique, *around)


def _trait_numbers(batch: pa.RecordBatch, layout: RecordLayout, number_of: dict[str, int]) -> Int64s:
    """A number for the codes and the attribute of each record. `number_of` is extended."""
    names = dict.fromkeys([*(name for name, _ in layout.code_columns), *(part.column for part in layout.attribute)])
    columns = [batch[name] for name in names]
    texts = [pc.binary_join(each, " ") if pa.types.is_nested(each.type) else each.cast(pa.string()) for each in columns]
    encoded = pc.binary_join_element_wise(*texts, _BETWEEN, null_handling="replace").dictionary_encode()
    found = [number_of.setdefault(text, len(number_of)) for text in encoded.dictionary.to_pylist()]
    return np.asarray(np.array(found, dtype=np.int64)[encoded.indices.to_numpy()])


def _batches(data: Path, layout: RecordLayout) -> Iterator[pa.RecordBatch]:
    """All records in order, as they are stored."""
    files = record_file_names(data, layout).require()
    types = dict.fromkeys(layout.columns, pa.string())
    for path in files.parts:
        if files.form is TableForm.PARQUET:
            with pa.parquet.ParquetFile(path) as file:
                yield from file.iter_batches(_ROWS, columns=[*types])
            continue
        separator = layout.separator_in(path.name)
        with pa.input_stream(str(path), compression="detect") as stream:
            yield from pa.csv.open_csv(
                stream,
                pa.csv.ReadOptions(block_size=_BYTES),
                pa.csv.ParseOptions(delimiter=separator, quote_char=False if separator == "|" else '"'),
                pa.csv.ConvertOptions(column_types=types, include_columns=[*types], null_values=[]),
            )


def _area_numbers(batch: pa.RecordBatch, layout: RecordLayout) -> Int64s:
    """The number of each record's smallest area; valid records have one."""
    area, texts = layout.area, [batch[name].cast(pa.string()) for name in layout.area.columns]
    if isinstance(area, AreaColumns):
        digits = [pc.utf8_lpad(text, width, "0") for text, width in zip(texts, area.widths, strict=True)]
        numbers = pc.binary_join_element_wise(*digits, "").cast(pa.int64())
    else:
        keys = pa.array([_BETWEEN.join(key) for key in area.keys], pa.string())
        found = pc.index_in(pc.binary_join_element_wise(*texts, _BETWEEN), keys)
        numbers = found.fill_null(area.number_of_others).cast(pa.int64())
    return np.asarray(numbers.to_numpy())


def _area_texts(numbers: Int64s, layout: RecordLayout) -> dict[str, pa.Array]:
    """What the area columns say of areas with these numbers."""
    area = layout.area
    if not isinstance(area, AreaColumns):
        return {name: pa.array(texts, pa.string()).take(pa.array(numbers)) for name, texts in area.texts_of.items()}
    whole = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), sum(area.widths), "0")
    ends = np.cumsum(area.widths).tolist()
    spans = zip(area.columns, area.widths, ends, strict=True)
    return {name: pc.utf8_slice_codeunits(whole, end - width, end) for name, width, end in spans}


def _write_moved(data: Path, folder: Path, layout: RecordLayout, moves_to: Int64s) -> None:
    """Write the records as Parquet, those that move with their new areas."""
    folder.mkdir()
    rows = 0
    for part, batch in enumerate(_batches(data, layout)):
        own = moves_to[rows : rows + len(batch)]
        rows += len(batch)
        if rows > len(moves_to):
            raise InvalidInput.about(folder.name, f"has more rows than {PERSON_HOUSEHOLD_FILE} has households.")
        numbers = np.where(own == NO_ENTITY, _area_numbers(batch, layout), own)
        columns = {name: batch[name] for name in layout.columns} | _area_texts(numbers, layout)
        pa.parquet.write_table(pa.table(columns), folder / f"{part:06d}{TableForm.PARQUET.value}")
