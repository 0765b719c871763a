"""Help in which a flag is a flag: it takes no value, so that none is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

F = TypeVar("F", bound=Callable[..., Any])

_HYPHEN = "\ue000"  # of a private area: no text has it


_Plain: Any = typer.Context.formatter_class


class _Formatter(_Plain):  # type: ignore[misc]
    """Lines end between words alone, and not after a hyphen inside one."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Any, *arguments: Any, **named: Any) -> None:
        super().write_dl([(name, text.replace("-", _HYPHEN)) for name, text in rows], *arguments, **named)

    def getvalue(self) -> str:
        return str(super().getvalue()).replace(_HYPHEN, "-")


class _Context(typer.Context):
    formatter_class = _Formatter


class Command(TyperCommand):
    """A command whose flags have no type."""

    context_class = _Context

    def get_params(self, ctx: Any) -> Any:
        return _with_plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose flags have no type."""

    context_class = _Context

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
