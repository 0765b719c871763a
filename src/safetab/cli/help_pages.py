"""Help in which a flag is a flag: it takes no value, so that none is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

F = TypeVar("F", bound=Callable[..., Any])


class Command(TyperCommand):
    """A command whose flags have no type."""

    def get_params(self, ctx: Any) -> Any:
        return _with_plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose flags have no type."""

    def get_params(self, ctx: Any) -> Any:
        return _with_plain_flags(super().get_params(ctx))


class App(typer.Typer):
    """Makes commands and groups of the kinds above."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=Group, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[F], F]:
        made: Callable[[F], F] = super().command(name, **({"cls": Command} | settings))
        return made


def _with_plain_flags(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
