"""A command line sees the same commands, whether all of them were made or only those that it needs."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from safetab.cli.main import app
from safetab.cli.needed_commands import with_needed_commands


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["plan", "--help"],
        ["blocks-with-units", "--help"],
        ["tune", "--help"],
        ["--version"],
        ["run", "only-one"],
        ["plan", "no", "where", "--wrong"],
        ["rum"],
        [],
    ],
)
def test_the_same_is_said(arguments: list[str]) -> None:
    needed = CliRunner().invoke(with_needed_commands(app, arguments), arguments)
    whole = CliRunner().invoke(app, arguments)
    assert (needed.exit_code, needed.stdout, needed.stderr) == (whole.exit_code, whole.stdout, whole.stderr)
    assert needed.stdout + needed.stderr


def test_a_named_command_is_made_alone_and_the_app_stays_whole() -> None:
    before = len(app.registered_commands)
    command = typer.main.get_command(with_needed_commands(app, ["run", "--help"]))
    assert list(command.commands) == ["run"]  # type: ignore[attr-defined]
    assert len(app.registered_commands) == before > 5
