"""Bytes of a Parquet file that no reader looks at are found."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.inside import all_bytes_are_read

HIDDEN = b"a name, an age; "
TABLE = pa.table({"place": ["Ashe", "Avery", None] * 400, "people": range(1_200)})
WAYS = {
    "as a release": {"compression": "zstd", "store_schema": False, "row_group_size": 500},
    "plain": {"compression": "none", "use_dictionary": False, "write_statistics": False},
    "pages of the second form": {"data_page_version": "2.0", "data_page_size": 100, "write_batch_size": 50},
}


def footer_of(file: Path) -> tuple[bytes, bytes]:
    """The pages, and the footer with its end."""
    content = file.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:start], content[start:]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [0, 1, 1_200])
def test_nothing_is_hidden_in_what_is_written(way, rows, tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(TABLE.slice(0, rows), file, **WAYS[way])
    assert all_bytes_are_read(file)


def test_bytes_before_the_footer_are_found(tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(TABLE, file)
    pages, footer = footer_of(file)
    file.write_bytes(pages + HIDDEN + footer)
    assert pq.read_table(file) == TABLE
    assert not all_bytes_are_read(file)


def test_bytes_that_a_column_claims_and_no_page_holds_are_found(tmp_path):
    file = tmp_path / "x.parquet"
    table = TABLE.select(["people"])
    pq.write_table(table, file, use_dictionary=False, compression="none", write_statistics=False)
    size = pq.read_metadata(file).row_group(0).column(0).total_compressed_size
    pages, footer = footer_of(file)
    claim, larger = (b"\x16" + varint(2 * length) for length in (size, size + len(HIDDEN)))
    assert claim in footer
    file.write_bytes(pages + HIDDEN + footer.replace(claim, larger))
    assert pq.read_table(file) == table
    assert not all_bytes_are_read(file)


def test_bytes_before_the_first_page_are_found(tmp_path):
    file = tmp_path / "x.parquet"
    table = TABLE.select(["people"])
    pq.write_table(table, file, use_dictionary=False, compression="none", write_statistics=False)
    pages, footer = footer_of(file)
    offset, later = (b"\x26" + varint(2 * at) for at in (4, 4 + len(HIDDEN)))
    assert offset in footer
    file.write_bytes(pages[:4] + HIDDEN + pages[4:] + footer.replace(offset, later))
    assert pq.read_table(file) == table
    assert not all_bytes_are_read(file)


def test_another_program_is_named_in_the_footer(tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(TABLE, file)
    content = file.read_bytes()
    assert content.count(b"parquet-cpp-arrow version") == 1
    file.write_bytes(content.replace(b"parquet-cpp-arrow version", b"seven people of this area"))
    assert not all_bytes_are_read(file)


def test_a_damaged_file_ends_in_an_answer(tmp_path):
    file = tmp_path / "x.parquet"
    pq.write_table(TABLE.slice(0, 3), file, compression="none", store_schema=False)
    content = file.read_bytes()
    for at in range(len(content) - 8):
        file.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        assert all_bytes_are_read(file) in {True, False}


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
