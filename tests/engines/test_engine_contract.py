"""One contract for every engine: findings, totals and cells are the judge's."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.random_worlds import write_random_world

from safetab.engines.contract import CountingEngine, EngineSettings, MiscountedPersons
from safetab.engines.local.duckdb_engine import DuckDbEngine
from safetab.engines.local.state_persons import StatePersons
from safetab.engines.plain import PlainEngine
from safetab.pipeline.inputs import RunInputs, read_inputs
from safetab.products.safetab_p.tables import SEX_BY_AGE_TABLES


def duckdb_engine(inputs: RunInputs, folder: Path) -> CountingEngine:
    return DuckDbEngine(inputs.persons, inputs.files, EngineSettings(folder), lambda _: None)


def plain_engine(inputs: RunInputs, _: Path) -> CountingEngine:
    return PlainEngine(inputs.persons, inputs.files)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), people=st.integers(2, 120))
def test_duckdb_counts_what_the_judge_counts(seed: int, people: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = write_random_world(Path(folder), seed, people)
        inputs = read_inputs(world.parameters, world.data).require()
        engine, judge = duckdb_engine(inputs, Path(folder)), plain_engine(inputs, Path(folder))
        assert engine.check() == judge.check() == ()
        assert engine.prepare() == judge.prepare()
        for level in inputs.plan.levels:
            counted, judged = engine.totals(level), judge.totals(level)
            assert counted.places.tolist() == judged.places.tolist()
            assert counted.confidential_counts.tolist() == judged.confidential_counts.tolist()
            every_third = {
                table: np.arange(first, level.universe.size, 3) for first, table in enumerate(SEX_BY_AGE_TABLES)
            }
            cells, judged_cells = engine.cells(level, every_third), judge.cells(level, every_third)
            for table in SEX_BY_AGE_TABLES:
                assert cells[table].places.tolist() == every_third[table].tolist()
                assert cells[table].confidential_counts.tolist() == judged_cells[table].confidential_counts.tolist()
        engine.close()


BROKEN_PEOPLE = {
    "QAGE": ["116", "-1", "", "x", " 5", "1e1", "99999999999999999999", "٣"],
    "QSEX": ["0", "3", "M", ""],
    "HOUSEHOLDER": ["true", "Null", ""],
    "TABBLKST": ["1", "xx", ""],
    "TABBLK": ["9999", "100"],
    "CENRACE": ["00", "64", "1", ""],
    "QRACE1": ["Null", "1001", "", "9950", "100"],
    "QRACE2": ["1001", "", "null", "9950"],
    "QRACE8": ["1000"],
    "QSPAN": ["Null", "1001", ""],
}
COLUMNS = [
    "QAGE",
    "QSEX",
    "HOUSEHOLDER",
    "TABBLKST",
    "TABBLKCOU",
    "TABTRACTCE",
    "TABBLK",
    "CENRACE",
    "QRACE1",
    "QRACE2",
    "QRACE3",
    "QRACE4",
    "QRACE5",
    "QRACE6",
    "QRACE7",
    "QRACE8",
    "QSPAN",
]


@pytest.mark.parametrize(
    ("column", "value"), [(column, value) for column, values in BROKEN_PEOPLE.items() for value in values]
)
def test_every_engine_finds_the_same_broken_rules(column: str, value: str, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    path = world.data / "person-records.txt"
    lines = path.read_text().splitlines()
    for row in (5, 6, 40):
        fields = lines[row].split("|")
        fields[8:16] = ["1000", *["Null"] * 7]
        fields[3:7] = lines[1].split("|")[3:7]
        fields[COLUMNS.index(column)] = value
        lines[row] = "|".join(fields)
    path.write_text("\n".join(lines) + "\n")
    inputs = read_inputs(world.parameters, world.data).require()
    findings = [make(inputs, tmp_path).check() for make in (duckdb_engine, plain_engine)]
    assert findings[0] == findings[1]
    assert "3 rows break this rule" in str(findings[0][0])
    for found in findings:
        assert {finding.rows for finding in found} == {"person-records.txt, lines 6, 7, 41"}


@pytest.mark.parametrize("line", ["1|2", "|" * 17, "x" * 100])
def test_every_engine_finds_rows_of_another_shape(line: str, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    with (world.data / "person-records.txt").open("a") as file:
        file.write(f"{line}\n{line}\n")
    inputs = read_inputs(world.parameters, world.data).require()
    for make in (duckdb_engine, plain_engine):
        (finding,) = make(inputs, tmp_path).check()
        assert finding.message == "a row must have 17 fields. 2 rows break this rule."


@pytest.mark.parametrize("make", [duckdb_engine, plain_engine])
def test_an_empty_pass_is_a_warning(make, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    path = world.data / "person-records.txt"
    path.write_text(_without_puerto_rico(path))
    inputs = read_inputs(world.parameters, world.data).require()
    (finding,) = make(inputs, tmp_path).check()
    assert not finding.is_error
    assert finding.message == "nobody is in a state of the PR pass: its counts are 0 before noise."


def _without_puerto_rico(path: Path) -> str:
    lines = path.read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.split("|")[3] != "72")


def test_a_person_who_is_joined_twice_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = write_random_world(tmp_path / "world", 3)
    inputs = read_inputs(world.parameters, world.data).require()
    original = StatePersons.add

    def doubled(self: StatePersons, *columns: np.ndarray) -> None:
        original(self, *(np.concatenate([column, column[:1]]) for column in columns))

    monkeypatch.setattr(StatePersons, "add", doubled)
    engine = duckdb_engine(inputs, tmp_path)
    assert engine.check() == ()
    with pytest.raises(MiscountedPersons):
        engine.prepare()


def test_exact_counts_do_not_show_themselves(tmp_path: Path) -> None:
    import pickle  # noqa: PLC0415

    world = write_random_world(tmp_path / "world", 3)
    inputs = read_inputs(world.parameters, world.data).require()
    engine = plain_engine(inputs, tmp_path)
    engine.check()
    engine.prepare()
    counts = engine.totals(inputs.plan.levels[0])
    assert repr(counts) == str(counts) == "<exact counts: confidential>"
    with pytest.raises(TypeError):
        pickle.dumps(counts)
