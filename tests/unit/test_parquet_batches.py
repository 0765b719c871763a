"""Columns of records in Parquet: every row gets its value in every form of file, or the file is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.inside import (
    BLOCKS,
    ETHNICITY_CODES,
    PERSON_RECORD,
    RACE_CODES,
    DamagedPart,
    RecordLayout,
    TableFiles,
    TableForm,
    batches_of,
    records_module,
)

ONE_COLUMN = RecordLayout("x", "record", "records", ("X",), (), (), BLOCKS, RACE_CODES, ETHNICITY_CODES)


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

FORMS: dict[str, dict[str, Any]] = {
    "none": {"compression": "none"},
    "snappy": {"compression": "snappy"},
    "zstd": {"compression": "zstd"},
    "small pages": {"data_page_size": 1, "write_batch_size": 50, "row_group_size": 420},
    "no dictionary": {"use_dictionary": False},
    "delta": {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
    "second version": {"data_page_version": "2.0"},
    "a dictionary that ends early": {"dictionary_pagesize_limit": 100, "data_page_size": 100, "write_batch_size": 10},
    "checksums": {"write_page_checksum": True},
}


def write(path: Path, texts: list[str | None], *, nullable: bool = True, **options: Any) -> Path:
    schema = pa.schema([pa.field("X", pa.string(), nullable=nullable)])
    pq.write_table(pa.table({"X": texts}, schema), path, **options)
    return path


def texts_of(parts: list[Path], record: RecordLayout = ONE_COLUMN) -> dict[str, list[str | None]]:
    files, texts = TableFiles(TableForm.PARQUET, tuple(parts)), {name: list[str | None]() for name in record.columns}
    for piece in batches_of(files, record):
        for batch in piece:
            for name, values in batch.items():
                distinct = [*values.values.to_pylist(), None]
                assert values.has_absent == bool((values.position_of_row == len(values.values)).any())
                texts[name] += [distinct[position] for position in values.position_of_row.tolist()]
    return texts


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS.keys())
def test_every_row_has_its_text(options, tmp_path):
    for texts in COLUMNS.values():
        assert texts_of([write(tmp_path / "x.parquet", texts, **options)]) == {"X": texts}


def test_a_column_that_is_never_absent_has_no_levels(tmp_path):
    texts = column(500, 20)
    assert texts_of([write(tmp_path / "x.parquet", texts, nullable=False)]) == {"X": texts}


def test_what_duckdb_writes_is_read(tmp_path):
    texts = pa.table({"X": column(3000, 50, absent=0.2)})  # noqa: F841 - the query names it
    duckdb.sql(f"COPY (SELECT X FROM texts) TO '{tmp_path}/x.parquet' (FORMAT parquet)")
    assert texts_of([tmp_path / "x.parquet"]) == {"X": column(3000, 50, absent=0.2)}


def test_a_column_without_any_text_is_read(tmp_path):
    """Polars writes an empty dictionary, and says of each row that it has no value."""
    import polars  # noqa: PLC0415 - takes long to load

    absent = polars.DataFrame({"X": [None] * 5}, schema={"X": polars.String})
    absent.write_parquet(tmp_path / "x.parquet", compression="snappy")
    assert texts_of([tmp_path / "x.parquet"]) == {"X": [None] * 5}


def test_a_wrong_checksum_is_damage(tmp_path):
    path = write(tmp_path / "x.parquet", COLUMNS["many"], write_page_checksum=True, compression="none")
    chunk = pq.read_metadata(path).row_group(0).column(0)
    damaged = bytearray(path.read_bytes())
    damaged[chunk.dictionary_page_offset + chunk.total_compressed_size - 5] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(DamagedPart):
        texts_of([path])


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_damaged_bytes_give_texts_of_the_dictionary_or_are_refused(compression, tmp_path):
    """Compiled loops look values up by position, so none may lie beyond the values."""
    path = write(tmp_path / "x.parquet", column(60, 9, absent=0.3, longest_run=6), compression=compression)
    whole, refused = path.read_bytes(), 0
    chunk = pq.read_metadata(path).row_group(0).column(0)
    for at in range(chunk.dictionary_page_offset, chunk.dictionary_page_offset + chunk.total_compressed_size):
        for flipped in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[at] ^= flipped
            path.write_bytes(damaged)
            try:
                (batch,) = (
                    batch for piece in batches_of(TableFiles(TableForm.PARQUET, (path,)), ONE_COLUMN) for batch in piece
                )
            except DamagedPart:
                refused += 1
            else:
                positions = batch["X"].position_of_row
                assert len(positions) == 60
                assert 0 <= positions.min() <= positions.max() < len(batch["X"].values) + batch["X"].has_absent
    assert refused > chunk.total_compressed_size // 2


def test_a_file_that_ends_early_is_refused(tmp_path):
    path = write(tmp_path / "x.parquet", COLUMNS["many"], compression="none")
    whole = path.read_bytes()
    for bytes_left in range(4, len(whole), 97):
        path.write_bytes(whole[:bytes_left])
        with pytest.raises(DamagedPart):
            texts_of([path])


EDITED = pa.array([{"QSPAN": "9"}] * 700, pa.struct([pa.field("QSPAN", pa.string(), nullable=False)]))
"""A further column with a column of the record's name in it."""


def test_columns_are_found_by_name_in_each_part(tmp_path, monkeypatch):
    texts = {name: column(700, 3 + at, absent=0.2) for at, name in enumerate(PERSON_RECORD.columns)}
    for part, options in enumerate([{"row_group_size": 300}, {"compression": "zstd"}, {"use_dictionary": ["QAGE"]}]):
        pq.write_table(
            pa.table({"MORE": ["x"] * 700, **texts, "edited": EDITED}), tmp_path / f"{part}.parquet", **options
        )
    monkeypatch.setattr(records_module, "_ROWS_AT_ONCE", 200)
    found = texts_of(sorted(tmp_path.iterdir()), PERSON_RECORD)
    assert found == {name: values * 3 for name, values in texts.items()}


@pytest.mark.parametrize("positions", [[0, 3], [0, -1], [2, 0]])
def test_positions_beyond_what_arrow_hands_on_are_damage(positions):
    values = pa.array(["1", "2"])
    column = pa.DictionaryArray.from_arrays(pa.array(positions, pa.int32()), values, safe=False)
    with pytest.raises(pa.ArrowInvalid, match="the dictionary doesn't have"):
        records_module._value_column(column)
    assert records_module._value_column(column.slice(0, 0)).has_absent is False


def test_a_row_without_a_value_has_the_position_after_them():
    column = records_module._value_column(pa.array(["1", None], pa.string()).dictionary_encode())
    assert column.position_of_row.tolist() == [0, 1]
    assert column.has_absent
