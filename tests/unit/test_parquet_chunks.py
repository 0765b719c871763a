"""Columns of text in Parquet: what is read here is what Arrow reads, and the rest is left to Arrow."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from safetab.engines.local import parquet_chunks, person_batches
from safetab.engines.local.parquet_chunks import text_chunk
from safetab.engines.local.person_batches import PersonBatch, batches_of
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.readers.table_files import TableFiles, TableForm


@pytest.fixture(autouse=True, params=["as it stands", "compiled"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "as it stands":
        monkeypatch.setattr(parquet_chunks, "compiled", lambda loop: loop)


def column(rows: int, distinct: int, absent: float = 0.0, longest_run: int = 40) -> list[str | None]:
    random = np.random.default_rng([rows, distinct])
    values = np.repeat(random.integers(0, distinct, rows), random.integers(1, longest_run + 1, rows))[:rows]
    is_absent = random.random(rows) < absent
    return [None if gone else f"{value:04}" for value, gone in zip(values.tolist(), is_absent.tolist(), strict=True)]


COLUMNS = {
    "one value": column(900, 1),
    "two, in runs": column(900, 2, longest_run=400),
    "two, mixed": column(900, 2, longest_run=1),
    "many": column(900, 700, longest_run=1),
    "mostly absent": column(900, 30, absent=0.9),
    "runs of absent": [*[None] * 300, *column(300, 9), *[None] * 300],
    "all absent": [None] * 900,
    "of other lengths": ["", "é", "Null", "a longer text"] * 225,
}


def file_of(texts: list[str | None], **options: Any) -> io.BytesIO:
    is_nullable = options.pop("nullable", True)
    schema = pa.schema([pa.field("X", pa.string(), nullable=is_nullable)])
    file = io.BytesIO()
    pq.write_table(pa.table({"X": texts}, schema), file, **options)
    return file


def texts_read_here(file: io.BytesIO) -> list[str | None] | None:
    metadata, texts = pq.read_metadata(file), list[str | None]()
    for row_group in range(metadata.num_row_groups):
        chunk = text_chunk(file, metadata, row_group, 0)
        if chunk is None:
            return None
        values, positions, has_absent = chunk
        assert has_absent == bool((positions == len(values)).any())
        texts += [[*values.to_pylist(), None][position] for position in positions.tolist()]
    return texts


@pytest.mark.parametrize("texts", COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_every_row_has_its_text(texts: list[str | None], compression: str) -> None:
    assert texts_read_here(file_of(texts, compression=compression)) == texts
    small_pages = file_of(texts, compression=compression, data_page_size=1, write_batch_size=50, row_group_size=420)
    assert texts_read_here(small_pages) == texts


def test_a_column_that_is_never_absent_has_no_levels() -> None:
    texts = column(500, 20)
    assert texts_read_here(file_of(texts, nullable=False)) == texts


def test_what_duckdb_writes_is_read(tmp_path: Path) -> None:
    texts = pa.table({"X": column(3000, 50, absent=0.2)})  # noqa: F841 - the query names it
    duckdb.sql(f"COPY (SELECT X FROM texts) TO '{tmp_path}/x.parquet' (FORMAT parquet)")
    file = io.BytesIO((tmp_path / "x.parquet").read_bytes())
    assert texts_read_here(file) == column(3000, 50, absent=0.2)


def test_a_column_without_any_text_is_read(tmp_path: Path) -> None:
    """Polars writes an empty dictionary, and says of each row that it has no value."""
    import polars  # noqa: PLC0415 - takes long to load

    absent = polars.DataFrame({"X": [None] * 5}, schema={"X": polars.String})
    absent.write_parquet(tmp_path / "x.parquet", compression="snappy")
    assert texts_read_here(io.BytesIO((tmp_path / "x.parquet").read_bytes())) == [None] * 5


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd"},
        {"use_dictionary": False},
        {"data_page_version": "2.0"},
        {"dictionary_pagesize_limit": 100, "data_page_size": 100, "write_batch_size": 10},
    ],
    ids=str,
)
def test_another_form_is_left_to_arrow(options: dict[str, Any]) -> None:
    assert texts_read_here(file_of(COLUMNS["many"], **options)) is None


def test_a_checksum_that_does_not_fit_is_left_to_arrow() -> None:
    file = file_of(COLUMNS["many"], write_page_checksum=True, compression="none")
    assert texts_read_here(file) == COLUMNS["many"]
    chunk = pq.read_metadata(file).row_group(0).column(0)
    damaged = bytearray(file.getvalue())
    damaged[chunk.dictionary_page_offset + chunk.total_compressed_size - 5] ^= 1
    assert texts_read_here(io.BytesIO(bytes(damaged))) is None


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_damaged_bytes_give_texts_of_the_dictionary_or_are_left_to_arrow(compression: str) -> None:
    """No byte outside of the page is read: whatever is found is as many rows, and positions that exist."""
    file = file_of(column(60, 9, absent=0.3, longest_run=6), compression=compression)
    metadata, whole, left = pq.read_metadata(file), file.getvalue(), 0
    chunk = metadata.row_group(0).column(0)
    for at in range(chunk.dictionary_page_offset, chunk.dictionary_page_offset + chunk.total_compressed_size):
        for flipped in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[at] ^= flipped
            found = text_chunk(io.BytesIO(bytes(damaged)), metadata, 0, 0)
            left += found is None
            if found is not None:
                values, positions, _ = found
                assert len(positions) == 60
                assert 0 <= positions.min() <= positions.max() <= len(values)
    assert left > chunk.total_compressed_size


def test_a_file_that_ends_early_is_left_to_arrow() -> None:
    file = file_of(COLUMNS["many"], compression="none")
    metadata, whole = pq.read_metadata(file), file.getvalue()
    for bytes_left in range(4, 1500, 7):
        assert text_chunk(io.BytesIO(whole[:bytes_left]), metadata, 0, 0) is None


def test_a_column_with_other_rows_than_its_row_group_is_left_to_arrow() -> None:
    """Whoever goes through several columns at once relies on it."""
    file = file_of(COLUMNS["many"])
    metadata = pq.read_metadata(file)
    group = SimpleNamespace(num_rows=901, column=metadata.row_group(0).column)
    longer: Any = SimpleNamespace(schema=metadata.schema, row_group=lambda _: group)
    assert text_chunk(file, metadata, 0, 0) is not None
    assert text_chunk(file, longer, 0, 0) is None


@pytest.mark.parametrize("size", [-1, 0, 1 << 50])
def test_a_size_that_the_file_does_not_have_is_left_to_arrow(size: int) -> None:
    file = file_of(COLUMNS["many"])
    metadata = pq.read_metadata(file)
    real = metadata.row_group(0).column(0)
    facts = {name: getattr(real, name) for name in real.to_dict() if name != "total_compressed_size"}
    chunk = SimpleNamespace(**facts, total_compressed_size=size)
    group = SimpleNamespace(num_rows=900, column=lambda _: chunk)
    damaged: Any = SimpleNamespace(schema=metadata.schema, row_group=lambda _: group)
    assert text_chunk(file, damaged, 0, 0) is None


EDITED = pa.array([{"QSPAN": "9"}] * 700, pa.struct([pa.field("QSPAN", pa.string(), nullable=False)]))
"""A further column with a column of the record's name in it."""


def test_batches_of_many_persons_are_those_that_arrow_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {name: column(700, 3 + at, absent=0.2) for at, name in enumerate(PERSON_RECORD.columns)}
    for part, options in enumerate([{"row_group_size": 300}, {"compression": "zstd"}, {"use_dictionary": ["QAGE"]}]):
        pq.write_table(
            pa.table({"MORE": ["x"] * 700, **texts, "edited": EDITED}), tmp_path / f"{part}.parquet", **options
        )
    files = TableFiles(TableForm.PARQUET, tuple(sorted(tmp_path.iterdir())), rows=2100)
    monkeypatch.setattr(person_batches, "_ROWS_AT_ONCE", 200)
    by_arrow = texts_of(files)
    monkeypatch.setattr(person_batches, "MANY_ROWS", 1)
    assert texts_of(files) == by_arrow == {name: column * 3 for name, column in texts.items()}


def texts_of(files: TableFiles) -> dict[str, list[str | None]]:
    batches: list[PersonBatch] = [one for piece in batches_of(files, PERSON_RECORD) for one in piece]
    return {
        name: [
            [*batch[name].values.to_pylist(), None][position]
            for batch in batches
            for position in batch[name].position_of_row.tolist()
        ]
        for name in PERSON_RECORD.columns
    }


@pytest.mark.parametrize("positions", [[0, 3], [0, -1], [2, 0]])
def test_positions_beyond_what_arrow_hands_on_are_damage(positions: list[int]) -> None:
    values = pa.array(["1", "2"])
    column = pa.DictionaryArray.from_arrays(pa.array(positions, pa.int32()), values, safe=False)
    with pytest.raises(pa.ArrowInvalid, match="the dictionary doesn't have"):
        person_batches._value_column(column)
    assert person_batches._value_column(column.slice(0, 0)).has_absent is False


def test_a_row_without_a_value_has_the_position_after_them() -> None:
    column = person_batches._value_column(pa.array(["1", None], pa.string()).dictionary_encode())
    assert column.position_of_row.tolist() == [0, 1]
    assert column.has_absent
