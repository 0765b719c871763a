"""No damage to a Parquet file ends the process: it is refused with the name of the file, or does no harm."""

import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import later
from tests.commands import refused
from tests.conftest import PROJECT
from tests.inside import chunk_facts, text_range
from tests.parquet_flips import parquet_of
from tests.worlds.people import write_random_world

_ENDS_THE_PROCESS = re.compile(r"\.row_group\(|\.statistics\b(?! import)|read_table\(|pyarrow\.dataset")
_ASKS_AFTER_A_READER = {
    "foundation/parquet_facts.py",
    "apps/audit/publication_checks.py",  # of files that it has just written
    "release/estimates/readme_examples.py",  # an example for readers
}


@pytest.mark.parametrize(
    ("flips", "parts", "least"),
    [
        (8, "footer,pages", 1),
        later(40, "footer,pages", 6),
        later(2_000, "footer", 201),
    ],
)
def test_no_flipped_bit_ends_the_process(flips, parts, least, tmp_path):
    """Of files of persons, of geography, and of a release."""
    given = [str(tmp_path), str(flips), parts, "persons,geography,release"]
    command = [sys.executable, "-m", "tests.parquet_flips", *given]
    ending = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ending.returncode == 0, ending.stderr[-2000:]
    counts = [int(count) for count in ending.stdout.split()]
    assert len(counts) == 3 * len(parts.split(","))
    assert least <= min(counts) <= max(counts) <= flips


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 2, people=200)


@pytest.fixture
def parquet(world):
    """The file of persons, 70 in a row group, and where its footer begins."""
    path = parquet_of(world.data / "person-records.txt", 70)
    return path, path.stat().st_size - 8 - pq.read_metadata(path).serialized_size


def replace(path, begin, old, new):
    content = path.read_bytes()
    at = content.index(old, begin)
    path.write_bytes(content[:at] + new + content[at + len(old) :])


def test_a_footer_that_ended_the_process_is_refused_by_name(world, parquet, out):
    """A flip that says that a column has no levels: Arrow ends the process if asked for the column's facts."""
    replace(*parquet, b"\x0c\x25\x02\x18\x04QAGE", b"\x0c\x25\x00\x18\x04QAGE")  # in Thrift: repetition, then the name
    assert "person-records.parquet" in refused("run", *world, out)
    with pq.ParquetFile(parquet[0]) as file, pytest.raises((pa.ArrowException, OSError), match="histogram"):
        chunk_facts(file, 0, "QAGE")


@pytest.mark.parametrize("rows", [69, 71, 200])
def test_a_row_group_with_other_rows_than_it_says_is_damage_to_its_file(rows, world, parquet, out):
    """Zigzag numbers of Thrift: 70 rows are written as 140, in two bytes."""
    replace(*parquet, *(bytes([0x16, 2 * one & 127 | 128, 2 * one >> 7, 0x26]) for one in (70, rows)))
    assert pq.read_metadata(parquet[0]).row_group(0).num_rows == rows
    told = refused("run", *world, out)
    assert "person-records.parquet" in told
    assert "Write it again." in told


def test_facts_of_text_are_those_of_the_footer(tmp_path):
    nested = pa.array([["b"], ["c"], []], pa.list_(pa.string()))
    pq.write_table(pa.table({"n": nested, "a": ["x", "z", "y"], "i": [3, 1, 2]}), tmp_path / "t.parquet")
    with pq.ParquetFile(tmp_path / "t.parquet") as file:
        assert text_range(file, 0, "a") == ("x", "z")
        assert chunk_facts(file, 0, "i").path_in_schema == "i"
        with pytest.raises(pa.ArrowInvalid, match="type"):
            text_range(file, 0, "i")


def test_facts_of_footers_are_asked_for_in_one_place():
    source = PROJECT / "src" / "safetab"
    texts = {path.relative_to(source).as_posix(): path.read_text() for path in source.rglob("*.py")}
    assert {name for name, text in texts.items() if _ENDS_THE_PROCESS.search(text)} == _ASKS_AFTER_A_READER
