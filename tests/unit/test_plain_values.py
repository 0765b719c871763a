"""Arguments are read as typer reads them, without loading what it checks types with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer._click.exceptions import BadParameter

from safetab.cli import plain_values
from safetab.cli.main import app
from safetab.foundation.late_module import late_module

RUN: Any = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]
PARAMETERS = {parameter.name: parameter for parameter in RUN.get_params(typer.Context(RUN))}
PLAIN = [
    ("parameters", "some/where"),
    ("parameters", "./two words"),
    ("memory", "4GB"),
    ("threads", "2"),
    ("threads", "007"),
    ("threads", 2),
    ("engine", "spark"),
    ("temp", None),
    ("rules", None),
]
NOT_PLAIN = [
    ("threads", "0"),
    ("threads", "-1"),
    ("threads", "two"),
    ("threads", "1.0"),
    ("threads", "9" * 5_000),
    ("engine", "abacus"),
    ("parameters", ""),
    ("memory", "\udcff"),
    ("rules", ["a", "b"]),
]


def read(reader: Any, name: str, value: object) -> object:
    parameter, context = PARAMETERS[name], typer.Context(RUN)
    try:
        return reader.coerce(value, param=parameter, ctx=context)
    except BadParameter as refused:
        return f"refused: {refused.message}"


@pytest.mark.parametrize(("name", "value"), PLAIN + NOT_PLAIN)
def test_every_value_is_read_as_typer_reads_it(name: str, value: object) -> None:
    own = plain_values.build_runtime_param(PARAMETERS[name].type_descriptor)
    ours = read(PARAMETERS[name].get_runtime_param(), name, value)
    assert ours == read(own, name, value)
    assert type(ours) is type(read(own, name, value))


@pytest.mark.parametrize(("name", "value"), PLAIN)
def test_what_a_run_is_given_mostly_loads_no_checker_of_types(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_values, "build_runtime_param", None)
    assert not str(read(PARAMETERS[name].get_runtime_param(), name, value)).startswith("refused")


def test_a_late_module_is_loaded_when_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_of_this_test.py").write_text("import sys\nsys.was_loaded = True\nANSWER = 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = late_module("module_of_this_test")
    assert not hasattr(sys, "was_loaded")
    assert module.ANSWER == 42
    assert sys.was_loaded  # type: ignore[attr-defined]
    assert late_module("module_of_this_test") is module
    del sys.was_loaded, sys.modules["module_of_this_test"]  # type: ignore[attr-defined]


def test_a_late_module_that_is_not_there_is_missed_at_once() -> None:
    with pytest.raises(ModuleNotFoundError):
        late_module("no_module_of_this_name")
