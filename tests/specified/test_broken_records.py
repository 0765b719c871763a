"""A broken rule is found: the column, how many rows, and no value of a record."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.specified.agreement import engine_of, inputs_of
from tests.specified.broken_records import CASES, SECRET
from tests.specified.judge import UNIT, Judge

_ROWS = re.compile(r"([0-9,]+) (?:row|rows|patient|patients)\b")


def findings_of(parameters: Path, data: Path, folder: Path) -> list[tuple[str, str]]:
    """Where each error is, and its sentence."""
    with closing(engine_of(inputs_of(parameters, data), folder)) as engine:
        return [(found.where, found.message) for found in engine.check() if found.is_error]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_judge_finds_the_one_broken_rule(case, tmp_path):
    assert Judge(*case.write(tmp_path / "wrong")).broken == {(case.column, case.rule): case.rows}
    assert Judge(*case.write_right(tmp_path / "right")).broken == {}


@pytest.mark.parametrize("form", ["text", "parquet"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_engine_names_the_column_and_the_number_of_rows(case, form, tmp_path):
    ((where, message),) = findings_of(*case.write(tmp_path / "wrong", as_parquet=form == "parquet"), tmp_path)
    assert case.column in where
    if case.rule != UNIT:
        assert _ROWS.findall(message) == [str(case.rows)]
    assert SECRET not in where + message
    for _, new in case.edits:
        changed = set(new.split(",")) - {text for old, _ in case.edits for text in old.split(",")}
        assert not any(len(value) > 3 and value in message for value in changed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_engine_accepts_the_records_without_the_mistake(case, tmp_path):
    assert findings_of(*case.write_right(tmp_path / "right"), tmp_path) == []
