"""A file that changes while a run reads it stops the run: the manifest hashes the bytes that were used."""

import hashlib
import os

import pytest

from tests.inside import (
    PARQUET,
    AccuracyRequest,
    EngineKind,
    NoProgress,
    RecordLocation,
    RunFailed,
    RunOptions,
    SparkOptions,
    WatchedFiles,
    accuracy_files,
    record_files,
    run_files,
)
from tests.releases import json_of
from tests.worlds.people import write_random_world

KEY = bytes(range(32))
READING, CHECKING = "Reading the public files", "Checking the person records"
COUNTING, TABULATING = "Counting the persons of each state", "Tabulating the levels"


class During(NoProgress):
    """Does something when a step begins."""

    def __init__(self, step, action):
        self._step, self._action = step, action

    def step(self, description, total):
        if description == self._step:
            self._action()
        super().step(description, total)


def appended(path):
    path.write_text(path.read_text() + "\n")


def replaced(path):
    """The same bytes in another file, as old as the first."""
    before, other = path.stat(), path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 3, budget=1)


@pytest.mark.parametrize("change", [appended, pytest.param(replaced, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("step", "file"),
    [
        (READING, "GRF-C.txt"),
        (READING, "race-and-ethnicity-codes.txt"),
        (READING, "person-records.txt"),
        (CHECKING, "person-records.txt"),
        (COUNTING, "person-records.txt"),
    ],
)
def test_a_file_that_changes_while_it_is_read_stops_the_run(world, step, file, change, tmp_path):
    path = world.path(file)
    with pytest.raises(RunFailed, match=f"{path.name} changed while the run was reading it. Nothing was written."):
        run_files(*world, tmp_path / "out", RunOptions(test_key=KEY), During(step, lambda: change(path)))
    assert not (tmp_path / "out").exists()


def test_records_that_change_while_they_are_read_stop_a_report_of_accuracy(world, tmp_path):
    during = During(CHECKING, lambda: appended(world.data / "person-records.txt"))
    request = AccuracyRequest(runs=1, is_confidential=True)
    with pytest.raises(RunFailed, match=r"person-records.txt changed while the run was reading it"):
        accuracy_files(*world, tmp_path / "out", request, during)
    assert not (tmp_path / "out").exists()


def test_the_manifest_has_the_bytes_that_were_used(world, tmp_path):
    """A public file that changes once everything was read changes nothing."""
    path = world.data / "GRF-C.txt"
    used = hashlib.sha256(path.read_bytes()).hexdigest()
    during = During(TABULATING, lambda: appended(path))
    run_files(*world, tmp_path / "out", RunOptions(test_key=KEY), during)
    assert json_of(tmp_path / "out" / "manifest.json")["public_files"]["GRF-C.txt"] == used


@pytest.mark.parametrize("step", [READING, pytest.param(CHECKING, marks=pytest.mark.slow)])
def test_a_file_cut_while_it_is_read_is_not_called_wrong(world, step, tmp_path):
    path = world.data / "person-records.txt"
    during = During(step, lambda: path.write_text(path.read_text()[:-20]))
    with pytest.raises(RunFailed, match=r"person-records.txt changed while the run was reading it"):
        run_files(*world, tmp_path / "out", RunOptions(test_key=KEY), during)


@pytest.mark.parametrize("change", [appended, replaced])
def test_the_numbers_of_given_totals_are_watched(change, tmp_path):
    file = tmp_path / "out" / "release" / "numbers" / "geography_level=COUNTY" / "detailed-sex-by-age.parquet"
    file.parent.mkdir(parents=True)
    file.write_text("numbers")
    watched = WatchedFiles([tmp_path / "out"])
    change(file)
    with pytest.raises(RunFailed, match=r"detailed-sex-by-age.parquet changed"):
        watched.hashes_of({"totals": file})


@pytest.mark.parametrize("spelling", ["file://{}", "file:{}"])
def test_records_that_lie_elsewhere_on_this_machine_are_watched(spelling, tmp_path):
    file = tmp_path / "people.parquet"
    file.write_text("people")
    parts = (spelling.format(file), "hdfs://host/people.parquet", "file://host/people.parquet", "table:people")
    persons = RecordLocation("--persons", PARQUET, parts)
    assert record_files(persons) == (file,)
    watched = WatchedFiles([])
    watched.add(record_files(persons))
    watched.require_unchanged(record_files(persons))
    appended(file)
    watched.add(record_files(persons))
    with pytest.raises(RunFailed, match=r"people.parquet changed"):
        watched.require_unchanged(record_files(persons))


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # sockets of PySpark's own
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_records_elsewhere_that_change_stop_a_run_of_spark(world, tmp_path):
    people = (world.data / "person-records.txt").rename(tmp_path / "people.txt")
    options = RunOptions(engine=EngineKind.SPARK, spark=SparkOptions(persons=str(people)))
    during = During(COUNTING, lambda: appended(people))
    with pytest.raises(RunFailed, match=r"people.txt changed while the run was reading it"):
        run_files(*world, tmp_path / "out", options, during)
    assert not (tmp_path / "out").exists()
