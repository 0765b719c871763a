"""Bytes of a Parquet file that no reader looks at are found."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import values_of
from tests.inside import all_bytes_are_read

HIDDEN = b"a name, an age; "
TABLE = pa.table({"place": ["Ashe", "Avery", None] * 400, "people": range(1_200)})
WAYS = dict(
    values_of("""
        "as a release" | {"compression": "zstd", "store_schema": False, "row_group_size": 500}
        "plain" | {"compression": "none", "use_dictionary": False, "write_statistics": False}
        "pages of the second form" | {"data_page_version": "2.0", "data_page_size": 100, "write_batch_size": 50}
    """)
)


def footer_of(file):
    """The pages, and the footer with its end."""
    content = file.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:start], content[start:]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "x.parquet"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [0, 1, 1_200])
def test_nothing_is_hidden_in_what_is_written(way, rows, file):
    pq.write_table(TABLE.slice(0, rows), file, **WAYS[way])
    assert all_bytes_are_read(file)


@pytest.mark.parametrize("place", ["before the footer", "claimed by a column", "before the first page"])
def test_bytes_that_no_page_holds_are_found(place, file):
    table = TABLE.select(["people"])
    pq.write_table(table, file, use_dictionary=False, compression="none", write_statistics=False)
    size = pq.read_metadata(file).row_group(0).column(0).total_compressed_size
    pages, footer = footer_of(file)
    if place == "before the footer":
        pages += HIDDEN
    else:
        mark, number, at = (b"\x16", size, len(pages)) if "claimed" in place else (b"\x26", 4, 4)
        true, false = (mark + varint(2 * one) for one in (number, number + len(HIDDEN)))
        assert true in footer
        pages, footer = pages[:at] + HIDDEN + pages[at:], footer.replace(true, false)
    file.write_bytes(pages + footer)
    assert pq.read_table(file) == table
    assert not all_bytes_are_read(file)


def test_another_program_is_named_in_the_footer(file):
    pq.write_table(TABLE, file)
    content = file.read_bytes()
    assert content.count(b"parquet-cpp-arrow version") == 1
    file.write_bytes(content.replace(b"parquet-cpp-arrow version", b"seven people of this area"))
    assert not all_bytes_are_read(file)


def test_a_damaged_file_ends_in_an_answer(file):
    pq.write_table(TABLE.slice(0, 3), file, compression="none", store_schema=False)
    content = file.read_bytes()
    for at in range(len(content) - 8):
        file.write_bytes(content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :])
        assert all_bytes_are_read(file) in {True, False}


def varint(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
