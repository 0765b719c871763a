"""Pages of Parquet that are damaged: every engine refuses them, names the file, and says the same."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.engine_inputs import SPARK_MARKS, engine_inputs
from tests.inside import PARQUET, unreadable
from tests.person_forms import columns_of, people_of
from tests.worlds.people import write_random_world

ENGINES = ["local", pytest.param("spark", marks=SPARK_MARKS)]


def another_code(path, table):
    """In the right form: only the checksum of its page tells."""
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    code = table["QRACE1"][0].as_py().encode()
    content = bytearray(path.read_bytes())
    content[content.index(b"\x04\x00\x00\x00" + code) + 4] ^= 1
    path.write_bytes(content)


def no_snappy(path, table):
    """Bytes that can't be decompressed."""
    pq.write_table(table, path, compression="snappy", use_dictionary=False)
    chunk = pq.read_metadata(path).row_group(0).column(table.schema.get_field_index("QRACE1"))
    content = bytearray(path.read_bytes())
    end = chunk.data_page_offset + chunk.total_compressed_size
    content[end - 20 : end] = bytes([255]) * 20
    path.write_bytes(content)


@pytest.mark.parametrize("engine_name", ENGINES, indirect=True)
@pytest.mark.parametrize("write", [another_code, no_snappy])
def test_a_damaged_page_is_told_by_all_in_the_same_words(engine_of, write, tmp_path):
    world = write_random_world(tmp_path / "world", 3, people=60)
    table = pa.table(columns_of(people_of(world)))
    (world.data / "person-records.txt").unlink()
    folder = world.data / "person-records"
    folder.mkdir()
    pq.write_table(table, folder / "a.parquet")
    write(folder / "b.parquet", table)
    found = engine_of(engine_inputs(world)).check()
    assert [(one.file, one.where, one.message) for one in found] == [
        ("person-records", "", unreadable("b.parquet", PARQUET))
    ]
