"""What is set once as environment variables holds for every command, and each command says what it took from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import safetab
from safetab.cli.main import app
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


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spend log that the environment names, with a data set."""
    path = tmp_path / "spend.log"
    monkeypatch.setenv("SAFETAB_SPEND_LOG", str(path))
    monkeypatch.setenv("SAFETAB_DATASET", "census")
    return path


def test_a_run_keeps_the_accounts_that_the_environment_names(
    world: World, real: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("SAFETAB_TEMP", str(tmp_path / "private"))
    monkeypatch.setenv("SAFETAB_THREADS", "1")
    monkeypatch.setenv("SAFETAB_CONFIDENTIAL_LOG", str(tmp_path / "all.log"))
    done = invoke("run", world.parameters, real, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert NOT_COUNTED not in done.stderr
    assert "SAFETAB_SPEND_LOG sets --spend-log.\n" in done.stderr
    assert "validation passed" in (tmp_path / "all.log").read_text(encoding="utf-8")
    assert not (tmp_path / "out.confidential.log").exists()
    accounts = json.loads(invoke("spend", "--json").stdout)
    assert "census" in json.dumps(accounts)
    assert log.exists()


def test_the_command_line_comes_before_the_environment(world: World, real: Path, log: Path, tmp_path: Path) -> None:
    done = invoke("run", world.parameters, real, tmp_path / "out", "--spend-log", tmp_path / "other.log", "--quiet")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "other.log").exists()
    assert not log.exists()


def test_synthetic_people_are_not_charged_because_of_the_environment(world: World, log: Path, tmp_path: Path) -> None:
    done = invoke("run", world.parameters, world.data, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert not log.exists()
    assert "SAFETAB_SPEND_LOG is left out, since the people are synthetic." in done.stderr
    asked = invoke("run", world.parameters, world.data, tmp_path / "asked", "--dataset", "made-up")
    assert asked.exit_code == 0, asked.output
    assert log.exists()


def test_python_reads_no_environment(world: World, real: Path, log: Path, tmp_path: Path) -> None:
    done = safetab.run(world.parameters, real, tmp_path / "out")
    assert not log.exists()
    assert any(NOT_COUNTED in finding.message for finding in done.warnings)


def test_a_plan_shows_where_each_setting_comes_from(world: World, log: Path) -> None:
    document = json.loads(invoke("plan", world.parameters, world.data, "--json").stdout)
    assert document["settings"] == {
        "--spend-log": {"value": str(log), "from": "SAFETAB_SPEND_LOG"},
        "--dataset": {"value": "census", "from": "SAFETAB_DATASET"},
        "--temp": {"value": None, "from": "default"},
        "--confidential-log": {"value": None, "from": "default"},
        "--threads": {"value": 2, "from": "default"},
    }
    shown = invoke("plan", world.parameters, world.data).stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["--dataset", "census", "SAFETAB_DATASET"] in lines
    assert ["--threads", "2", "default"] in lines


def test_a_misspelled_variable_gives_a_warning(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFETAB_SPENDLOG", "/spend.log")
    said = invoke("plan", world.parameters, world.data).stderr
    assert "SAFETAB_SPENDLOG: is not a setting. Did you mean SAFETAB_SPEND_LOG?" in said


def test_a_wrong_value_is_told_with_its_variable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFETAB_THREADS", "many")
    refused = invoke("validate", world.parameters, world.data)
    assert refused.exit_code == 2
    assert "SAFETAB_THREADS" in refused.stderr
