"""The engines are called by what they do; an earlier name is still accepted, and shown to nobody."""

import inspect

import pytest

import safetab
from tests.commands import cli, done, refused
from tests.inside import ASSESS, RUN, VALIDATE, EngineKind


@pytest.mark.parametrize("command", ["run", "validate"])
def test_help_lists_local_and_spark(command):
    shown = cli(command, "--help", env={"COLUMNS": "200"}).stdout
    engine = " ".join(shown[shown.index("--engine") :].split())
    assert engine.startswith("--engine [local|spark] Where to count: in this process, or on Spark. [default: local]")
    assert "duckdb|" not in shown


def test_the_earlier_name_is_the_local_engine(releases):
    done("validate", *releases.people(2, people=60, budget=1).world, "--engine", "duckdb")
    assert {safetab.RunOptions.of(engine=name).engine for name in ("local", "duckdb")} == {EngineKind.LOCAL}


def test_another_name_is_wrong_usage(tmp_path):
    told = refused("run", "a", "b", tmp_path / "out", "--engine", "abacus", code=2)
    assert "'abacus' is not one of 'local', 'spark'." in told


def test_memory_says_what_it_bounds():
    for command, text in (RUN, "No effect with --engine local."), (VALIDATE, "No effect"), (ASSESS, "no effect here"):
        (option,) = (one for one in command if one.name == "memory")
        assert text in option.help
    assert "No effect with `engine` local" in inspect.getdoc(safetab.run)
