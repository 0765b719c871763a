"""No damage to a Parquet file ends the process: it is refused with the name of the file, or does no harm."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
from tests.conftest import PROJECT
from tests.inside import chunk_facts, text_range
from tests.parquet_flips import parquet_of
from tests.worlds.people import write_random_world
from tests.worlds.world import World

_ENDS_THE_PROCESS = re.compile(r"\.row_group\(|\.statistics\b(?! import)|read_table\(|pyarrow\.dataset")
_ASKS_AFTER_A_READER = {
    "foundation/parquet_facts.py",
    "auditing/publication_checks.py",  # of files that it has just written
    "estimates/readme_examples.py",  # an example for readers
}


def refused(kind: str, folder: Path, part: str, flips: int) -> int:
    """How many flips were refused; fails if one ended the process or wasn't answered."""
    command = [sys.executable, "-m", "tests.parquet_flips", kind, str(folder), part, str(flips)]
    ending = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ending.returncode == 0, ending.stderr[-2000:]
    return int(ending.stdout)


@pytest.mark.parametrize("kind", ["persons", "geography", "release"])
@pytest.mark.parametrize("part", ["footer", "pages"])
def test_no_flipped_bit_ends_the_process(kind, part, tmp_path):
    assert 5 < refused(kind, tmp_path, part, 40) <= 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["persons", "geography", "release"])
def test_none_of_2000_flipped_bits_of_a_footer_ends_the_process(kind, tmp_path):
    assert 200 < refused(kind, tmp_path, "footer", 2_000) < 2_000


@pytest.fixture
def world(tmp_path: Path) -> World:
    return write_random_world(tmp_path / "world", 2, people=200)


def test_a_footer_that_ended_the_process_is_refused_by_name(world, tmp_path):
    """A flip that says that a column has no levels: Arrow ends the process if asked for the column's facts."""
    path = parquet_of(world.data / "person-records.txt", 70)
    content, footer = path.read_bytes(), pq.read_metadata(path).serialized_size
    begin = len(content) - 8 - footer
    optional = content.index(b"\x0c\x25\x02\x18\x04QAGE", begin) + 2  # in Thrift: repetition 1, then the name
    path.write_bytes(content[:optional] + b"\x00" + content[optional + 1 :])
    result = cli("run", *world, tmp_path / "out")
    assert result.exit_code == 1
    assert "person-records.parquet" in result.stderr
    with pq.ParquetFile(path) as file, pytest.raises((pa.ArrowException, OSError), match="histogram"):
        chunk_facts(file, 0, "QAGE")


@pytest.mark.parametrize("rows", [69, 71, 200])
def test_a_row_group_with_other_rows_than_it_says_is_damage_to_its_file(rows, world, tmp_path):
    """Zigzag numbers of Thrift: 70 rows are written as 140, in two bytes."""
    path = parquet_of(world.data / "person-records.txt", 70)
    content = path.read_bytes()
    begin = len(content) - 8 - pq.read_metadata(path).serialized_size
    said, instead = (bytes([0x16, 2 * one & 127 | 128, 2 * one >> 7, 0x26]) for one in (70, rows))
    at = content.index(said, begin)
    path.write_bytes(content[:at] + instead + content[at + 4 :])
    assert pq.read_metadata(path).row_group(0).num_rows == rows
    result = cli("run", *world, tmp_path / "out")
    assert result.exit_code == 1, result.output
    assert "person-records.parquet" in result.stderr
    assert "Write it again." in " ".join(result.stderr.split())


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
    asks = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if _ENDS_THE_PROCESS.search(path.read_text(encoding="utf-8"))
    }
    assert asks == _ASKS_AFTER_A_READER
