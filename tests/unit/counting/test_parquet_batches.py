"""Columns of records in Parquet: every row gets its value in every form of file, or the file is refused."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import values_of
from tests.inside import (
    BLOCKS,
    ETHNICITY_CODES,
    PARQUET,
    PERSON_RECORD,
    RACE_CODES,
    USUAL_SIZES,
    BatchSizes,
    DamagedPart,
    RecordLayout,
    TableFiles,
    batches_of,
    records_module,
)

ONE_COLUMN = RecordLayout("x", "record", "records", ("X",), (), (), BLOCKS, RACE_CODES, ETHNICITY_CODES)


def column(rows, distinct, absent=0.0, longest_run=40):
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

FORMS = dict(
    values_of("""
        "none" | {"compression": "none"}
        "snappy" | {"compression": "snappy"}
        "zstd" | {"compression": "zstd"}
        "small pages" | {"data_page_size": 1, "write_batch_size": 50, "row_group_size": 420}
        "no dictionary" | {"use_dictionary": False}
        "delta" | {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
        "second version" | {"data_page_version": "2.0"}
        "a dictionary that ends early" | {"dictionary_pagesize_limit": 100, "data_page_size": 100, "write_batch_size": 10}
        "checksums" | {"write_page_checksum": True}
        "never absent" | {"nullable": False}
    """)
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.parquet"


def write(path, texts, *, nullable=True, **options):
    pq.write_table(pa.table({"X": texts}, pa.schema([pa.field("X", pa.string(), nullable=nullable)])), path, **options)


def batches(parts, record, sizes=USUAL_SIZES):
    return (batch for piece in batches_of(TableFiles(PARQUET, parts), record, sizes) for batch in piece)


def texts_of(*parts, record=ONE_COLUMN, sizes=USUAL_SIZES):
    texts = {name: [] for name in record.columns}
    for batch in batches(parts, record, sizes):
        for name, values in batch.items():
            distinct = [*values.values.to_pylist(), None]
            assert values.has_absent == bool((values.position_of_row == len(values.values)).any())
            texts[name] += [distinct[position] for position in values.position_of_row.tolist()]
    return texts


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS.keys())
def test_every_row_has_its_text(options, path):
    for texts in [column(900, 20)] if "nullable" in options else COLUMNS.values():
        write(path, texts, **options)
        assert texts_of(path) == {"X": texts}


def test_what_duckdb_writes_is_read(path):
    texts = pa.table({"X": column(3000, 50, absent=0.2)})  # noqa: F841 - the query names it
    duckdb.sql(f"COPY (SELECT X FROM texts) TO '{path}' (FORMAT parquet)")
    assert texts_of(path) == {"X": column(3000, 50, absent=0.2)}


def test_a_column_without_any_text_is_read(path):
    """Polars writes an empty dictionary, and says of each row that it has no value."""
    import polars  # noqa: PLC0415 - takes long to load

    polars.DataFrame({"X": [None] * 5}, schema={"X": polars.String}).write_parquet(path, compression="snappy")
    assert texts_of(path) == {"X": [None] * 5}


def chunk_of(path):
    """Where the bytes of the column are."""
    chunk = pq.read_metadata(path).row_group(0).column(0)
    return range(chunk.dictionary_page_offset, chunk.dictionary_page_offset + chunk.total_compressed_size)


def flip(path, whole, at, bits):
    path.write_bytes(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])


def test_a_wrong_checksum_is_damage(path):
    write(path, COLUMNS["many"], write_page_checksum=True, compression="none")
    flip(path, path.read_bytes(), chunk_of(path)[-5], 1)
    with pytest.raises(DamagedPart):
        texts_of(path)


@pytest.mark.parametrize("third", [0, *(pytest.param(third, marks=pytest.mark.slow) for third in (1, 2))])
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_damaged_bytes_give_texts_of_the_dictionary_or_are_refused(compression, third, path):
    """Compiled loops look values up by position, so none may lie beyond the values."""
    write(path, column(60, 9, absent=0.3, longest_run=6), compression=compression)
    whole, refused, chunk = path.read_bytes(), 0, chunk_of(path)
    for at in chunk:
        flip(path, whole, at, (0x01, 0x80, 0xFF)[(at + third) % 3])
        try:
            (batch,) = batches((path,), ONE_COLUMN)
        except DamagedPart:
            refused += 1
        else:
            positions = batch["X"].position_of_row
            assert len(positions) == 60
            assert 0 <= positions.min() <= positions.max() < len(batch["X"].values) + batch["X"].has_absent
    assert refused > len(chunk) // 6


def test_a_file_that_ends_early_is_refused(path):
    write(path, COLUMNS["many"], compression="none")
    whole = path.read_bytes()
    for bytes_left in range(4, len(whole), 97):
        path.write_bytes(whole[:bytes_left])
        with pytest.raises(DamagedPart):
            texts_of(path)


EDITED = pa.array([{"QSPAN": "9"}] * 700, pa.struct([pa.field("QSPAN", pa.string(), nullable=False)]))
"""A further column with a column of the record's name in it."""


def test_columns_are_found_by_name_in_each_part(tmp_path):
    texts = {name: column(700, 3 + at, absent=0.2) for at, name in enumerate(PERSON_RECORD.columns)}
    table = pa.table({"MORE": ["x"] * 700, **texts, "edited": EDITED})
    for part, options in enumerate([{"row_group_size": 300}, {"compression": "zstd"}, {"use_dictionary": ["QAGE"]}]):
        pq.write_table(table, tmp_path / f"{part}.parquet", **options)
    found = texts_of(*sorted(tmp_path.iterdir()), record=PERSON_RECORD, sizes=BatchSizes(records=200))
    assert found == {name: values * 3 for name, values in texts.items()}


@pytest.mark.parametrize("positions", [[0, 3], [0, -1], [2, 0]])
def test_positions_beyond_what_arrow_hands_on_are_damage(positions):
    column = pa.DictionaryArray.from_arrays(pa.array(positions, pa.int32()), pa.array(["1", "2"]), safe=False)
    with pytest.raises(pa.ArrowInvalid, match="the dictionary doesn't have"):
        records_module._value_column(column)
    assert records_module._value_column(column.slice(0, 0)).has_absent is False


def test_a_row_without_a_value_has_the_position_after_them():
    column = records_module._value_column(pa.array(["1", None], pa.string()).dictionary_encode())
    assert column.position_of_row.tolist() == [0, 1]
    assert column.has_absent is True
