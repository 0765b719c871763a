"""What is set once as environment variables holds for every command, and each command says what it took from them."""

import json

import pytest

import safetab
from tests.commands import cli, done, refused
from tests.worlds.people import no_budgets_but, write_random_world

NOT_COUNTED = "Nobody counts what runs on these people cost"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    few = {"privacy_defn": "zcdp", "run_pr": False, "state_filter_us": ["44"], **no_budgets_but("2_state")}
    return write_random_world(folder, 2, people=50, budget=0.1, **few)


@pytest.fixture(scope="module")
def real(world, tmp_path_factory):
    """The same people without the mark of synthetic ones."""
    real = world.copy(tmp_path_factory.mktemp("real"))
    (real.data / "SYNTHETIC").unlink()
    return real


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The spend log that the environment names, with a data set."""
    path = tmp_path / "spend.log"
    monkeypatch.setenv("SAFETAB_SPEND_LOG", str(path))
    monkeypatch.setenv("SAFETAB_DATASET", "census")
    return path


def test_a_run_keeps_the_accounts_that_the_environment_names(real, log, tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    monkeypatch.setenv("SAFETAB_TEMP", str(tmp_path / "private"))
    monkeypatch.setenv("SAFETAB_THREADS", "1")
    monkeypatch.setenv("SAFETAB_CONFIDENTIAL_LOG", str(tmp_path / "all.log"))
    said = done("run", *real, tmp_path / "out")
    assert NOT_COUNTED not in said
    assert "SAFETAB_SPEND_LOG sets --spend-log.\n" in said
    assert "validation passed" in (tmp_path / "all.log").read_text(encoding="utf-8")
    assert not (tmp_path / "out.confidential.log").exists()
    assert "census" in done("spend", "--json")
    assert log.exists()


def test_the_command_line_comes_before_the_environment(real, log, tmp_path):
    done("run", *real, tmp_path / "out", "--spend-log", tmp_path / "other.log", "--quiet")
    assert (tmp_path / "other.log").exists()
    assert not log.exists()


def test_synthetic_people_are_not_charged_because_of_the_environment(world, log, tmp_path):
    assert "SAFETAB_SPEND_LOG is left out, since the people are synthetic." in done("run", *world, tmp_path / "out")
    assert not log.exists()
    done("run", *world, tmp_path / "asked", "--dataset", "made-up")
    assert log.exists()


def test_python_reads_no_environment(real, log, tmp_path):
    assert any(NOT_COUNTED in finding.message for finding in safetab.run(*real, tmp_path / "out").warnings)
    assert not log.exists()


def test_a_plan_shows_where_each_setting_comes_from(world, log):
    settings = json.loads(cli("plan", *world, "--json").stdout)["settings"]
    assert {name: (one["value"], one["from"]) for name, one in settings.items()} == {
        "--spend-log": (str(log), "SAFETAB_SPEND_LOG"),
        "--dataset": ("census", "SAFETAB_DATASET"),
        "--temp": (None, "default"),
        "--confidential-log": (None, "default"),
        "--threads": (2, "default"),
    }
    lines = [line.split() for line in done("plan", *world).splitlines()]
    assert ["--dataset", "census", "SAFETAB_DATASET"] in lines
    assert ["--threads", "2", "default"] in lines


def test_a_misspelled_variable_gives_a_warning(world, monkeypatch):
    monkeypatch.setenv("SAFETAB_SPENDLOG", "/spend.log")
    assert "SAFETAB_SPENDLOG: is not a setting. Did you mean SAFETAB_SPEND_LOG?" in done("plan", *world)


def test_a_wrong_value_is_told_with_its_variable(world, monkeypatch):
    monkeypatch.setenv("SAFETAB_THREADS", "many")
    assert "SAFETAB_THREADS" in refused("validate", *world, code=2)
