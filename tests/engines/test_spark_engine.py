"""The contract suite on Spark: findings, totals, cells and fingerprints are the judge's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.engines.test_engine_contract import BROKEN_PEOPLE, COLUMNS
from tests.person_forms import PERSON_FORMS, parquet_of_integers, people_of, split
from tests.random_worlds import RandomWorld, write_random_world
from tests.system.test_nobody import EMPTY_FORMS, emptied

from safetab.engines.contract import EngineSettings, MiscountedPersons
from safetab.engines.known_lists import KnownLists
from safetab.engines.local.duckdb_backend import DuckDbPlace
from safetab.engines.person_location import PersonLocation
from safetab.engines.plain import PlainEngine
from safetab.engines.spark.options import SparkOptions
from safetab.pipeline.inputs import RunInputs, read_inputs
from safetab.products.safetab_p.tables import SEX_BY_AGE_TABLES
from safetab.readers.person_files import person_file_names

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # sockets of PySpark's own
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECRET = bytes(range(32))


@pytest.fixture(scope="module")
def session():
    from tests.spark_sessions import quick_session  # noqa: PLC0415 - who has no Spark skips

    with quick_session() as session:
        yield session


def spark_engine(session, world: RandomWorld, inputs: RunInputs, log=lambda _: None):
    from safetab.engines.spark.spark_engine import SparkEngine  # noqa: PLC0415

    return SparkEngine(session, PersonLocation.of_files(person_file_names(world.data).require()), inputs.files, log)


def assert_same_counts(engine, judge, inputs: RunInputs) -> None:
    assert engine.check() == judge.check() == ()
    assert engine.prepare() == judge.prepare()
    for level in inputs.plan.levels:
        counted, judged = engine.totals(level), judge.totals(level)
        assert counted.places.tolist() == judged.places.tolist()
        assert counted.confidential_counts.tolist() == judged.confidential_counts.tolist()
        every_third = {table: np.arange(first, level.universe.size, 3) for first, table in enumerate(SEX_BY_AGE_TABLES)}
        cells, judged_cells = engine.cells(level, every_third), judge.cells(level, every_third)
        for table in SEX_BY_AGE_TABLES:
            assert cells[table].places.tolist() == every_third[table].tolist()
            assert cells[table].confidential_counts.tolist() == judged_cells[table].confidential_counts.tolist()


@pytest.mark.parametrize(("seed", "people", "max_race_codes"), [(3, 60, 8), (11, 120, 3), (5, 2, 1)])
def test_spark_counts_what_the_judge_counts(
    session, seed: int, people: int, max_race_codes: int, tmp_path: Path
) -> None:
    world = write_random_world(tmp_path / "world", seed, people, max_race_codes=max_race_codes)
    inputs = read_inputs(world.parameters, world.data).require()
    engine = spark_engine(session, world, inputs)
    assert_same_counts(engine, PlainEngine(inputs.persons, inputs.files), inputs)
    engine.close()


def test_a_pattern_leads_to_the_iterations_of_the_map_however_its_codes_are_repeated(session, tmp_path: Path) -> None:
    """Alone is what all codes share, in combination what any has: eight codes, all pairs, one twice."""
    world = write_random_world(tmp_path / "world", 8, people=2, max_race_codes=8)
    rows = people_of(world)
    codes = [str(1000 + 7 * number) for number in range(9)]
    combinations = [[one, other] for one in codes for other in codes] + [codes[:8], codes[8:] * 8, codes[:3] * 2]
    fields = rows[0].split("|")
    rows += ["|".join([*fields[:8], *races, *["Null"] * (8 - len(races)), fields[16]]) for races in combinations]
    PERSON_FORMS[0](world.data, rows)
    inputs = read_inputs(world.parameters, world.data).require()
    engine = spark_engine(session, world, inputs)
    assert_same_counts(engine, PlainEngine(inputs.persons, inputs.files), inputs)
    engine.close()


@pytest.mark.parametrize("write", PERSON_FORMS)
def test_every_form_of_the_files_is_the_same_people(session, write, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3, people=60, max_race_codes=8)
    rows = people_of(world)
    judge = PlainEngine(*_of(world))
    assert judge.check() == ()
    expected = judge.fingerprint(SECRET)
    (world.data / "person-records.txt").unlink()
    write(world.data, rows)
    engine = spark_engine(session, world, read_inputs(world.parameters, world.data).require())
    assert engine.check() == ()
    assert engine.fingerprint(SECRET) == expected
    assert sum(engine.prepare().values()) == sum(row.split("|")[3] in {"01", "44", "72"} for row in rows)
    engine.close()


def _of(world: RandomWorld):
    inputs = read_inputs(world.parameters, world.data).require()
    return inputs.persons, inputs.files


@pytest.mark.parametrize("column", BROKEN_PEOPLE)
def test_spark_finds_the_broken_rules_that_the_judge_finds(session, column: str, tmp_path: Path) -> None:
    """All wrong values of a column at once, each in as many rows as its place in the list says."""
    world = write_random_world(tmp_path / "world", 3)
    path = world.data / "person-records.txt"
    lines = path.read_text().splitlines()
    row = 0
    for number, value in enumerate(BROKEN_PEOPLE[column], start=1):
        for _ in range(number):
            row += 1
            fields = lines[row].split("|")
            fields[8:16] = ["1000", *["Null"] * 7]
            fields[3:7] = lines[1].split("|")[3:7]
            fields[COLUMNS.index(column)] = value
            lines[row] = "|".join(fields)
    path.write_text("\n".join(lines) + "\n")
    inputs = read_inputs(world.parameters, world.data).require()
    findings = spark_engine(session, world, inputs).check()
    assert findings == PlainEngine(inputs.persons, inputs.files).check()
    assert findings


def test_rows_of_another_shape_and_of_no_text_are_found(session, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    with (world.data / "person-records.txt").open("ab") as file:
        file.write(b"1|2\n" + b"|" * 17 + b"\n" + b"|".join([b"\xff"] * 17) + b"\n\n\n")
    findings = spark_engine(session, world, read_inputs(world.parameters, world.data).require()).check()
    assert [finding.message for finding in findings] == [
        "a row must be UTF-8 text. 1 row breaks this rule.",
        "a row must have 17 fields. 2 rows break this rule.",
    ]


@pytest.mark.parametrize("write", EMPTY_FORMS)
def test_nobody_is_counted_as_zeros(session, write, tmp_path: Path) -> None:
    world = emptied(write_random_world(tmp_path / "world", 3), write)
    inputs = read_inputs(world.parameters, world.data).require()
    engine = spark_engine(session, world, inputs)
    findings = engine.check()
    assert findings == PlainEngine(inputs.persons, inputs.files).check()
    assert [finding.is_error for finding in findings] == [False, False]
    assert set(engine.prepare().values()) == {0}
    for level in inputs.plan.levels:
        assert len(engine.totals(level).places) == 0
        (cells,) = engine.cells(level, {SEX_BY_AGE_TABLES[0]: np.arange(3)}).values()
        assert not cells.confidential_counts.any()
    engine.close()


def test_an_empty_pass_is_a_warning(session, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    inputs = read_inputs(world.parameters, world.data).require()
    PERSON_FORMS[0](world.data, [row for row in people_of(world) if row.split("|")[3] != "72"])
    (finding,) = spark_engine(session, world, inputs).check()
    assert not finding.is_error
    assert finding.message == "nobody is in a state of the PR pass: its counts are 0 before noise."


@pytest.mark.parametrize(
    ("write", "rows"),
    [(split, "1 in part-3.txt, 2 in part-4.txt"), (parquet_of_integers, "2 in a.parquet, 1 in b.parquet")],
)
def test_the_files_of_bad_rows_are_told(session, write, rows: str, tmp_path: Path) -> None:
    """Spark knows no line numbers; it does know files."""
    world = write_random_world(tmp_path / "world", 3)
    people = people_of(world)
    (world.data / "person-records.txt").unlink()
    for row in (3, 4, 39):
        people[row] = f"116|{people[row].partition('|')[2]}"
    write(world.data, people)
    (finding,) = spark_engine(session, world, read_inputs(world.parameters, world.data).require()).check()
    assert finding.message == "must be an age from 0 to 115. 3 rows break this rule."
    assert finding.rows == rows


def test_rows_are_judged_by_what_is_known(session, tmp_path: Path, monkeypatch) -> None:
    """Without a list of blocks or codes only their form counts, as for the engine of one machine."""
    from safetab.engines.spark.spark_backend import SparkPlace  # noqa: PLC0415

    world = write_random_world(tmp_path / "world", 3)
    people = [row.split("|") for row in people_of(world)]
    for row, (column, value) in {1: (0, "116"), 2: (3, "x"), 3: (6, "9999"), 4: (8, "1001"), 5: (8, "12")}.items():
        people[row][column] = value
    PERSON_FORMS[0](world.data, ["|".join(row) for row in people])
    monkeypatch.setattr(SparkPlace, "_session", session)
    local = DuckDbPlace(EngineSettings(tmp_path), pytest.fail)
    spark = SparkPlace(SparkOptions(), EngineSettings(tmp_path), pytest.fail)
    for damaged in (None, "race-and-ethnicity-codes.txt", "config.json"):
        if damaged is not None:
            (world.parameters / damaged).unlink()
        known = KnownLists.readable(world.parameters, world.data)
        findings = spark.judge(world.data, known, lambda _: None)
        assert findings == local.judge(world.data, known, lambda _: None)
        assert len(findings) == {None: 4, "race-and-ethnicity-codes.txt": 4, "config.json": 3}[damaged]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text.partition("\n")[2], "the header must be"),
        (lambda text: text.replace("\n", "\n\n", 3), "blank lines are only allowed at the end"),
    ],
)
def test_headers_and_blank_lines_are_checked_by_the_executors(session, damage, sentence: str, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    inputs = read_inputs(world.parameters, world.data).require()
    path = world.data / "person-records.txt"
    path.write_text(damage(path.read_text()))
    (finding,) = spark_engine(session, world, inputs).check()
    assert sentence in finding.message


def test_what_is_no_parquet_is_told_without_sparks_words(session, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    inputs = read_inputs(world.parameters, world.data).require()
    (world.data / "person-records.txt").rename(world.data / "person-records.parquet")
    told: list[str] = []
    (finding,) = spark_engine(session, world, inputs, told.append).check()
    assert "it can't be read" in finding.message
    assert told[0].startswith("Spark: ")


def test_a_table_of_the_catalog_is_read(session, tmp_path: Path) -> None:
    from safetab.engines.spark.person_source import located  # noqa: PLC0415
    from safetab.engines.spark.spark_engine import SparkEngine  # noqa: PLC0415
    from safetab.foundation.findings import FindingsOf  # noqa: PLC0415

    world = write_random_world(tmp_path / "world", 3)
    inputs = read_inputs(world.parameters, world.data).require()
    session.read.csv(f"file://{world.data}/person-records.txt", sep="|", header=True).createOrReplaceTempView("people")
    location = located(session, "table:people", FindingsOf("--persons"))
    assert location is not None
    engine = SparkEngine(session, location, inputs.files, pytest.fail)
    assert_same_counts(engine, PlainEngine(inputs.persons, inputs.files), inputs)
    engine.close()


def test_a_person_who_is_joined_twice_fails_the_run(session, tmp_path: Path, monkeypatch) -> None:
    """A tract that is listed twice would count its people twice; the rows of the pass are counted before the join."""
    from safetab.engines.spark import spark_engine as module  # noqa: PLC0415

    original = module.tracts_with_blocks

    def doubled(*arguments: object):
        tracts = original(*arguments)
        return tracts.union(tracts.limit(1))

    monkeypatch.setattr(module, "tracts_with_blocks", doubled)
    world = write_random_world(tmp_path / "world", 3)
    engine = spark_engine(session, world, read_inputs(world.parameters, world.data).require())
    assert engine.check() == ()
    with pytest.raises(MiscountedPersons):
        engine.prepare()


def test_no_plan_has_a_python_function_in_it(session, tmp_path: Path) -> None:
    world = write_random_world(tmp_path / "world", 3)
    engine = spark_engine(session, world, read_inputs(world.parameters, world.data).require())
    engine.check()
    engine.prepare()
    for table in engine._ready().kept:
        plan = table._jdf.queryExecution().toString()
        assert "Python" not in plan
        assert "MapInArrow" not in plan
