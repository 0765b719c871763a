"""Spark and a specification: the answers and findings of the local engine, or a refusal that says why."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from tests.cases import values_of
from tests.engine_inputs import SPARK_MARKS
from tests.inside import (
    SAFETAB_P,
    EngineSettings,
    MiscountedRecords,
    RecordLocation,
    read_public_files,
)
from tests.specified.agreement import engine_of as local_engine_of
from tests.specified.agreement import inputs_of
from tests.specified.broken_records import CASES, write_parquet
from tests.worlds.specified.nz_case import write_nz_case
from tests.worlds.specified.random_world import write_foreign_world
from tests.worlds.specified.small_world import PEOPLE, nz_keys, of_units, write_specification

backends = pytest.importorskip("safetab.counting.spark.backend", reason="PySpark is optional")

WORLDS = dict(
    values_of("""
        17 | {"key of 3", "other area", "nowhere", "passes", "residual", "first"}
        30 | {"folder of parts", "gaps skipped", "put together"}
        43 | {"where", "booleans of Parquet", "two classifications"}
        46 | {"unit", "list<string>", "areas in no pass", "integers of Parquet"}
    """)
)
"""Seeds of worlds whose records are Parquet, and some of what they have."""


def spark_engine_of(session, inputs):
    return backends.SparkEngine(session, RecordLocation.of_files(inputs.records), inputs.files, lambda _: None)


def findings_of(engine):
    with closing(engine):
        return [(found.where, found.message) for found in engine.check()]


def answers_of(engine, inputs):
    """What an engine says of the records, then every count of every level."""
    with closing(engine):
        yield [str(finding) for finding in engine.check()]
        yield {which.name: number for which, number in engine.prepare().items()}
        yield dict(engine.fingerprint(bytes(range(32))))
        for level in inputs.plan.levels:
            counts = [engine.totals(level)]
            for shape in level.family.finer:
                counts += engine.cells(level, {shape: np.arange(level.universe.size)}).values()
            for each in counts:
                yield each.indices.tolist(), each.confidential_counts.tolist()


def assert_same_answers(session, parameters, data, folder):
    inputs = inputs_of(parameters, data)
    expected = list(answers_of(local_engine_of(inputs, folder), inputs))
    assert sum(expected[1].values()) > 0
    assert list(answers_of(spark_engine_of(session, inputs), inputs)) == expected


class TestOnSpark:
    pytestmark = SPARK_MARKS

    @pytest.mark.parametrize("seed", WORLDS)
    def test_spark_answers_as_the_local_engine_does(self, seed, session, tmp_path):
        world = write_foreign_world(tmp_path, seed)
        assert world.features >= WORLDS[seed] | {"parquet"}
        assert_same_answers(session, world.parameters, world.data, tmp_path)

    def test_spark_answers_so_for_the_new_zealand_case_in_three_files(self, session, tmp_path):
        parameters, data = write_nz_case(tmp_path, None)
        write_parquet(data, 3)
        assert_same_answers(session, parameters, data, tmp_path)

    def test_nobody_is_counted_as_nobody(self, session, tmp_path):
        keys = nz_keys('records.unit = { name = "patient", column = "SA1", most_records = 3 }')
        parameters, data = write_specification(tmp_path, keys, PEOPLE.splitlines()[0] + "\n")
        write_parquet(data)
        inputs = inputs_of(parameters, data)
        expected = list(answers_of(local_engine_of(inputs, tmp_path), inputs))
        assert sum(expected[1].values()) == 0
        assert list(answers_of(spark_engine_of(session, inputs), inputs)) == expected

    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_a_broken_rule_has_the_finding_of_the_local_engine(self, case, session, tmp_path):
        inputs = inputs_of(*case.write(tmp_path, as_parquet=True))
        expected = findings_of(local_engine_of(inputs, tmp_path))
        assert expected
        assert findings_of(spark_engine_of(session, inputs)) == expected

    def test_a_unit_is_the_same_in_all_files_and_must_be_named(self, session, tmp_path):
        header, *rows = PEOPLE.splitlines()
        owners = ["a", "a", "a", "b", "b", "", "", "c"]  # dealt to three files, in turn
        people = [f"{row},{owner}" for row, owner in zip([header, *rows], ["PID", *owners], strict=True)]
        parameters, data = write_specification(tmp_path, of_units("PID", 2), "\n".join(people) + "\n")
        write_parquet(data, 3)
        inputs = inputs_of(parameters, data)
        found = findings_of(spark_engine_of(session, inputs))
        assert found == findings_of(local_engine_of(inputs, tmp_path))
        messages = " ".join(message for _, message in found)
        assert "2 rows break" in messages
        assert "1 patient has more" in messages

    @pytest.mark.parametrize("again", ["piece >= 0", "true", None])
    def test_a_piece_that_never_comes_or_comes_twice_ends_the_run(self, again, session, tmp_path, monkeypatch):
        """With the verdict of its task or without it."""
        from tests.spark_sessions import change_encoded  # noqa: PLC0415 - PySpark is optional

        def changed(encoded):
            return encoded.union(encoded.where(again)) if again else encoded.where("piece = -1")

        change_encoded(session, changed, monkeypatch)
        parameters, data = write_specification(tmp_path, nz_keys())
        write_parquet(data)
        inputs = inputs_of(parameters, data)
        with pytest.raises(MiscountedRecords):
            list(answers_of(spark_engine_of(session, inputs), inputs))

    @pytest.mark.parametrize("wrong", [7, 9])
    def test_a_row_too_few_or_too_many_ends_the_run(self, wrong, session, tmp_path):
        parameters, data = write_specification(tmp_path, nz_keys())
        write_parquet(data)
        inputs = inputs_of(parameters, data)
        location = replace(RecordLocation.of_files(inputs.records), rows=wrong)
        engine = backends.SparkEngine(session, location, inputs.files, lambda _: None)
        with closing(engine), pytest.raises(MiscountedRecords):
            engine.check()


def started(*_):
    raise AssertionError("Spark was started")


@pytest.mark.parametrize("why", ["text", "persons", "geography"])
def test_what_only_the_local_engine_reads_is_refused_before_spark_is_started(why, tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "spark_session", started)
    parameters, data = write_specification(tmp_path, nz_keys(), "no record is read\n")
    options = backends.SparkOptions()
    if why != "text":
        write_parquet(data)
        options = replace(options, **{why: "table:elsewhere"})
    record = read_public_files(parameters, data).require().config.product.record
    (finding,) = backends.SparkBackend(options, EngineSettings(tmp_path), lambda _: None).records(data, record).findings
    assert str(finding).startswith(
        '--engine: with a specification, the engine "spark" reads Parquet files in DATA alone'
    )
    assert str(finding).endswith("Write the records as Parquet, or run without --engine spark.")


def test_records_of_the_bureau_are_looked_for_as_before(tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "spark_session", started)
    backend = backends.SparkBackend(backends.SparkOptions(), EngineSettings(tmp_path), lambda _: None)
    (finding,) = backend.records(tmp_path, SAFETAB_P.record).findings
    assert "--engine" not in str(finding)
