"""What DuckDB says of a file that the machine would not let it read, or breaks off in the middle of a stream."""

from __future__ import annotations

import errno
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from tests.engine_inputs import engine_inputs, local_engine
from tests.person_forms import people_of, split
from tests.random_worlds import write_random_world

from safetab.foundation.failures import raise_if_refused_in_words


def test_what_the_machine_refuses_is_no_damage() -> None:
    with pytest.raises(OSError, match="Input/output error") as refused:
        raise_if_refused_in_words(duckdb.IOException('IO Error: Could not read from file "x": Input/output error'))
    assert refused.value.errno == errno.EIO
    raise_if_refused_in_words(duckdb.InvalidInputException("Invalid Input Error: the parser reached an invalid state"))
    raise_if_refused_in_words(pa.ArrowInvalid("corrupt snappy data"))


def test_a_line_that_breaks_off_the_stream_of_a_part_is_a_finding(tmp_path: Path) -> None:
    world = write_random_world(tmp_path, 2, people=40, budget=1)
    rows = people_of(world)
    rows[9] = "True\r|" + rows[9].partition("|")[2]  # of the last part
    (world.data / "person-records.txt").unlink()
    split(world.data, rows)
    engine = local_engine(engine_inputs(world), tmp_path)
    findings = " ".join(str(finding) for finding in engine.check())
    engine.close()
    assert "QAGE: must be an age from 0 to 115. 1 row breaks this rule." in findings
