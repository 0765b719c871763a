"""One Spark session in this process for all tests that need one: starting a virtual machine takes seconds."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.inside import ENCODED, EngineSettings, SparkOptions, spark_session

QUICK = (
    "spark.sql.shuffle.partitions=2",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",  # few people: compiling well costs more than it gives
)


@contextmanager
def quick_session():
    with (
        tempfile.TemporaryDirectory() as folder,
        spark_session(SparkOptions(settings=QUICK), EngineSettings(Path(folder), memory="1GB"), pytest.fail) as session,
    ):
        yield session


def change_encoded(session, change, monkeypatch):
    """Let `change` make another table of the encoded records that tasks send each other."""
    frames = type(session.range(1))
    original = frames.mapInArrow

    def changed(rows, task, schema):
        made = original(rows, task, schema)
        return change(made) if schema == ENCODED else made

    monkeypatch.setattr(frames, "mapInArrow", changed)
