"""The engines are called by what they do; an earlier name is still accepted, and shown to nobody."""

import inspect
import re

import pytest

import safetab
from tests.commands import cli
from tests.inside import ASSESS, RUN, VALIDATE, EngineKind
from tests.worlds.people import write_random_world


def option(name, options):
    return next(one for one in options if one.name == name)


@pytest.mark.parametrize("command", ["run", "validate"])
def test_help_lists_local_and_spark(command):
    shown = cli(command, "--help", env={"COLUMNS": "200"}).stdout
    engine = re.sub(r"\s+", " ", shown[shown.index("--engine") :])
    assert engine.startswith("--engine [local|spark] Where to count: in this process, or on Spark. [default: local]")
    assert "duckdb|" not in shown


def test_the_earlier_name_is_the_local_engine(tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    given = ["validate", str(world.parameters), str(world.data), "--engine"]
    for name in ("local", "duckdb"):
        assert cli(*given, name).exit_code == 0
        assert safetab.RunOptions.of(engine=name).engine is EngineKind.LOCAL


def test_another_name_is_wrong_usage(tmp_path):
    result = cli("run", "a", "b", tmp_path / "out", "--engine", "abacus")
    assert result.exit_code == 2
    assert "'abacus' is not one of 'local', 'spark'." in re.sub(r"\s+", " ", result.stderr)


def test_memory_says_what_it_bounds():
    for command in (RUN, VALIDATE):
        assert option("memory", command).help == "Memory limit for Spark's driver. No effect with --engine local."
    assert option("memory", ASSESS).help == "Has no effect here."
    assert "No effect with `engine` local" in (inspect.getdoc(safetab.run) or "")
