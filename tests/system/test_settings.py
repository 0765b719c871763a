"""What is set once as environment variables holds for every command, and each command says what it took from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import safetab
from tests.commands import cli
from tests.worlds.people import write_random_world
from tests.worlds.world import World

NOT_COUNTED = "Nobody counts what runs on these people cost"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_random_world(tmp_path_factory.mktemp("world"), 2, people=50, budget=0.1, privacy_defn="zcdp")


@pytest.fixture(scope="module")
def real(world: World) -> Path:
    """The same people without the mark of synthetic ones."""
    data = shutil.copytree(world.data, world.data.parent / "real")
    (data / "SYNTHETIC").unlink()
    return data


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spend log that the environment names, with a data set."""
    path = tmp_path / "spend.log"
    monkeypatch.setenv("SAFETAB_SPEND_LOG", str(path))
    monkeypatch.setenv("SAFETAB_DATASET", "census")
    return path


def test_a_run_keeps_the_accounts_that_the_environment_names(world, real, log, tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("SAFETAB_TEMP", str(tmp_path / "private"))
    monkeypatch.setenv("SAFETAB_THREADS", "1")
    monkeypatch.setenv("SAFETAB_CONFIDENTIAL_LOG", str(tmp_path / "all.log"))
    done = cli("run", world.parameters, real, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert NOT_COUNTED not in done.stderr
    assert "SAFETAB_SPEND_LOG sets --spend-log.\n" in done.stderr
    assert "validation passed" in (tmp_path / "all.log").read_text(encoding="utf-8")
    assert not (tmp_path / "out.confidential.log").exists()
    accounts = json.loads(cli("spend", "--json").stdout)
    assert "census" in json.dumps(accounts)
    assert log.exists()


def test_the_command_line_comes_before_the_environment(world, real, log, tmp_path):
    done = cli("run", world.parameters, real, tmp_path / "out", "--spend-log", tmp_path / "other.log", "--quiet")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "other.log").exists()
    assert not log.exists()


def test_synthetic_people_are_not_charged_because_of_the_environment(world, log, tmp_path):
    done = cli("run", *world, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert not log.exists()
    assert "SAFETAB_SPEND_LOG is left out, since the people are synthetic." in done.stderr
    asked = cli("run", *world, tmp_path / "asked", "--dataset", "made-up")
    assert asked.exit_code == 0, asked.output
    assert log.exists()


def test_python_reads_no_environment(world, real, log, tmp_path):
    done = safetab.run(world.parameters, real, tmp_path / "out")
    assert not log.exists()
    assert any(NOT_COUNTED in finding.message for finding in done.warnings)


def test_a_plan_shows_where_each_setting_comes_from(world, log):
    document = json.loads(cli("plan", *world, "--json").stdout)
    assert document["settings"] == {
        "--spend-log": {"value": str(log), "from": "SAFETAB_SPEND_LOG"},
        "--dataset": {"value": "census", "from": "SAFETAB_DATASET"},
        "--temp": {"value": None, "from": "default"},
        "--confidential-log": {"value": None, "from": "default"},
        "--threads": {"value": 2, "from": "default"},
    }
    shown = cli("plan", *world).stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["--dataset", "census", "SAFETAB_DATASET"] in lines
    assert ["--threads", "2", "default"] in lines


def test_a_misspelled_variable_gives_a_warning(world, monkeypatch):
    monkeypatch.setenv("SAFETAB_SPENDLOG", "/spend.log")
    said = cli("plan", *world).stderr
    assert "SAFETAB_SPENDLOG: is not a setting. Did you mean SAFETAB_SPEND_LOG?" in said


def test_a_wrong_value_is_told_with_its_variable(world, monkeypatch):
    monkeypatch.setenv("SAFETAB_THREADS", "many")
    refused = cli("validate", *world)
    assert refused.exit_code == 2
    assert "SAFETAB_THREADS" in refused.stderr
