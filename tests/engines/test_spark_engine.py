"""What is Spark's own: files of a cluster, tables of the catalog, the executors' Python. The contract suite has the rest."""

import sys

import pyarrow as pa
import pytest

from tests import inside
from tests.engine_inputs import SPARK_MARKS, engine_inputs, spark_engine
from tests.engines.test_engine_contract import assert_counts_everybody
from tests.inside import (
    NEEDED_PACKAGES,
    VERSION,
    EngineSettings,
    FindingsOf,
    InvalidInput,
    KnownLists,
    LocalBackend,
    MiscountedRecords,
    SparkOptions,
)
from tests.person_forms import as_text, parquet_of_integers, people_of, split
from tests.worlds.people import problems_with, write_random_world

pytestmark = SPARK_MARKS


@pytest.mark.parametrize(
    ("write", "rows"),
    [(split, "1 in part-3.txt, 2 in part-4.txt"), (parquet_of_integers, "2 in a.parquet, 1 in b.parquet")],
)
def test_the_files_of_bad_rows_are_named(session, write, rows, tmp_path):
    """Spark knows no line numbers; it does know files."""
    world = write_random_world(tmp_path / "world", 3)
    people = people_of(world)
    (world.data / "person-records.txt").unlink()
    for row in (3, 4, 39):
        people[row] = f"116|{people[row].partition('|')[2]}"
    write(world.data, people)
    (finding,) = spark_engine(session, engine_inputs(world)).check()
    assert finding.message == "must be an age from 0 to 115. 3 rows break this rule."
    assert finding.rows == rows


def test_rows_are_judged_by_what_is_known(session, tmp_path, monkeypatch):
    """Without a list of blocks or codes only their form counts, as for the engine of one machine."""
    world = write_random_world(tmp_path / "world", 3)
    people = [row.split("|") for row in people_of(world)]
    for row, (column, value) in {1: (0, "116"), 2: (3, "x"), 3: (6, "9999"), 4: (8, "1001"), 5: (8, "12")}.items():
        people[row][column] = value
    as_text(world.data, ["|".join(row) for row in people])
    monkeypatch.setattr(inside.SparkBackend, "_session", session)
    local = LocalBackend(EngineSettings(tmp_path), pytest.fail)
    spark = inside.SparkBackend(SparkOptions(), EngineSettings(tmp_path), pytest.fail)
    for damaged in (None, "race-and-ethnicity-codes.txt", "config.json"):
        if damaged is not None:
            (world.parameters / damaged).unlink()
        known = KnownLists.readable(*world, world.data)
        findings = spark.judge(world.data, known, lambda _: None)
        assert findings == local.judge(world.data, known, lambda _: None)
        assert len(findings) == {None: 4, "race-and-ethnicity-codes.txt": 4, "config.json": 3}[damaged]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text.partition("\n")[2], "Is the header missing? The header must be"),
        (lambda text: text.replace("\n", "\n\n", 3), "blank lines are only allowed at the end"),
        (lambda text: text.replace("\n", "\n\r", 1), "a carriage return is inside a line"),
        (lambda text: text + text.splitlines()[-1] + "\r\r\n", "a carriage return is inside a line"),
    ],
)
def test_headers_and_blank_lines_are_checked_by_the_executors(session, damage, sentence, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    path = world.data / "person-records.txt"
    path.write_text(damage(path.read_text()))
    finding, *_ = spark_engine(session, engine_inputs(world)).check()
    assert sentence in finding.message


def test_what_is_no_parquet_is_reported_without_sparks_words(session, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    (world.data / "person-records.txt").rename(world.data / "person-records.parquet")
    (finding,) = spark_engine(session, engine_inputs(world)).check()
    assert finding.message.endswith("person-records.parquet is damaged, or not what its ending says. Write it again.")


def test_what_keeps_a_file_from_being_read_is_in_the_log(session, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    inputs, logged = engine_inputs(world), list[str]()
    (world.data / "person-records.txt").unlink()
    (finding,) = spark_engine(session, inputs, logged.append).check()
    assert "it can't be read" in finding.message
    assert logged[0].startswith("Spark: ")


def test_what_the_machine_refuses_to_an_executor_is_no_damage(session, tmp_path, monkeypatch):
    def refused(*_):
        raise pa.ArrowInvalid("Task failed: OSError: [Errno 5] Input/output error")

    monkeypatch.setattr(inside.engine_module, "read_records", refused)
    engine = spark_engine(session, engine_inputs(write_random_world(tmp_path / "world", 3)))
    with pytest.raises(OSError, match="Input/output error"):
        engine.check()


def test_a_table_of_the_catalog_is_read(session, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    inputs = engine_inputs(world)
    session.read.csv(f"file://{world.data}/person-records.txt", sep="|", header=True).createOrReplaceTempView("people")
    location = inside.located(session, "table:people", FindingsOf("--persons"))
    assert location is not None
    engine = inside.SparkEngine(session, location, inputs.files, pytest.fail)
    assert_counts_everybody(engine, inputs, world)
    engine.close()


@pytest.mark.parametrize(
    "change", [lambda encoded: encoded.union(encoded), lambda encoded: encoded.where("piece = -1")]
)
def test_a_piece_that_comes_twice_or_never_fails_the_run(session, change, tmp_path, monkeypatch):
    """What tasks send each other is compared with the rows that Spark itself reads."""
    from tests.spark_sessions import change_encoded  # noqa: PLC0415 - PySpark is optional

    change_encoded(session, change, monkeypatch)
    engine = spark_engine(session, engine_inputs(write_random_world(tmp_path / "world", 3)))
    assert problems_with(engine.check()) == ()
    with pytest.raises(MiscountedRecords):
        engine.prepare()


def test_executors_without_this_python_are_refused(session, monkeypatch):
    """Before a record is read, with what to do; Spark's own words are in the log."""
    logged = list[str]()
    inside.session_module.require_python(session, logged.append)
    assert logged == []
    monkeypatch.setattr(inside.session_module, "VERSION", "9.9")
    with pytest.raises(InvalidInput, match=rf"has safetab {VERSION}, and the driver 9.9\. .*'safetab\[spark\]==9.9'"):
        inside.session_module.require_python(session, logged.append)
    monkeypatch.setattr(session.sparkContext, "pythonExec", "/nowhere/python")
    with pytest.raises(InvalidInput, match=r"does not answer\. .*--spark-conf spark.pyspark.python=PATH"):
        inside.session_module.require_python(session, logged.append)
    assert "/nowhere/python" in logged[0]


PROGRAM_THAT_HIDES_A_PACKAGE = """
import sys

class Finder:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "{package}":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("package", ["safetab", *NEEDED_PACKAGES])
def test_a_package_that_an_executor_lacks_is_named(session, package, tmp_path, monkeypatch):
    """The executors' Python is this one, in which a package can't be imported."""
    python = tmp_path / "python"
    (tmp_path / "sitecustomize.py").write_text(PROGRAM_THAT_HIDES_A_PACKAGE.format(package=package))
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(session.sparkContext, "pythonExec", str(python))
    with pytest.raises(InvalidInput, match=rf"the executors' Python lacks {package}\. Every executor needs Python 3"):
        inside.require_python(session, lambda _: None)
