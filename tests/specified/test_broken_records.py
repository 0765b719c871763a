"""A broken rule is found: the column, how many rows, and no value of a record."""

import re

import pytest

from tests.specified.agreement import errors
from tests.specified.broken_records import CASES, SECRET
from tests.specified.judge import UNIT, Judge

_ROWS = re.compile(r"([0-9,]+) (?:row|rows|patient|patients)\b")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_judge_and_engine_name_the_column_and_the_number_of_rows(case, tmp_path):
    assert Judge(*case.write(tmp_path / "judged")).broken == {(case.column, case.rule): case.rows}
    changed = {new for _, each in case.edits for new in each.split(",")} - {
        text for old, _ in case.edits for text in old.split(",")
    }
    for as_parquet in (False, True):
        ((where, message),) = errors(*case.write(tmp_path / str(as_parquet), as_parquet=as_parquet))
        assert where == case.column
        if case.rule != UNIT:
            assert _ROWS.findall(message) == [str(case.rows)]
        assert SECRET not in where + message
        assert not any(len(value) > 3 and value in message for value in changed)


@pytest.mark.parametrize("case", {case.change: case for case in CASES}.values(), ids=lambda case: case.name)
def test_judge_and_engine_accept_the_records_without_the_mistake(case, tmp_path):
    world = case.write_right(tmp_path)
    assert Judge(*world).broken == {}
    assert errors(*world) == []
