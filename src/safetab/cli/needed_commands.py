"""Only the commands that the arguments need: typer makes all of them with all options before it looks at arguments."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from copy import copy

import typer
from typer.main import get_command_name
from typer.models import CommandInfo


def with_needed_commands(app: typer.Typer, arguments: Sequence[str]) -> typer.Typer:
    """The app with the one command that is named, or for the list of commands with names and summaries alone."""
    named = {_name(command): command for command in app.registered_commands}
    smaller = copy(app)
    if arguments and arguments[0] in named:
        smaller.registered_commands, smaller.registered_groups = [named[arguments[0]]], []
    elif list(arguments) == ["--help"]:
        smaller.registered_commands = [_listed(command) for command in app.registered_commands]
    return smaller


def _name(command: CommandInfo) -> str:
    return command.name or get_command_name(getattr(command.callback, "__name__", ""))


def _listed(command: CommandInfo) -> CommandInfo:
    """The command without its options."""
    listed = copy(command)
    listed.name, listed.help = _name(command), command.help or inspect.getdoc(command.callback)
    listed.callback = lambda: None
    return listed
