"""The typer app with plain help, and the arguments and options that commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from safetab.dialects.known_census import examples
from safetab.pipeline.declared_options import OVERWRITE, DeclaredOption, EngineKind

F = TypeVar("F", bound=Callable[..., Any])


def path_argument(metavar: str, text: str) -> Any:
    """An argument for a path, which need not exist or be readable yet."""
    return typer.Argument(metavar=metavar, help=text, readable=False)


def option(metavar: str, text: str) -> Any:
    """An option that takes a value, called `metavar` in the help."""
    return typer.Option(metavar=metavar, help=text)


_PARAMETERS = "Directory with census.toml, or config.json, and the lists."
Parameters = Annotated[Path, path_argument("PARAMETERS", _PARAMETERS)]
Data = Annotated[Path, path_argument("DATA", examples.DATA)]
Out = Annotated[Path, path_argument("OUT", "Directory to make.")]
Folder = Annotated[Path, path_argument("FOLDER", "Directory to make.")]
Release = Annotated[Path, path_argument("RELEASE", "A release: OUT of a run, or OUT/release.")]
Overwrite = Annotated[bool, typer.Option(OVERWRITE.flag, help=OVERWRITE.help)]
_HYPHEN = "\ue000"  # of Unicode's private area: no text contains it
OF_US = "\N{THIN SPACE}"  # in the help of an option that only the U.S. census has: it gets a heading of its own
_PlainFormatter: Any = typer.Context.formatter_class


class _Formatter(_PlainFormatter):  # type: ignore[misc]
    """Breaks lines of help between words, never after a hyphen; the U.S. census has a heading of its own."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Any, *arguments: Any, **named: Any) -> None:
        whole = [(name, text.replace("-", _HYPHEN)) for name, text in rows]
        super().write_dl([row for row in whole if OF_US not in row[1]], *arguments, **named)
        apart = [(name, text.replace(OF_US, "")) for name, text in whole if OF_US in text]
        if apart:
            self.dedent()
            with self.section(examples.HEADING):
                super().write_dl(apart, *arguments, **named)
            self.indent()

    def getvalue(self) -> str:
        return str(super().getvalue()).replace(_HYPHEN, "-")


class _PlainFlags:
    """Help in which a flag has no value, since it takes none."""

    context_class: Any = type("_Context", (typer.Context,), {"formatter_class": _Formatter})

    def get_params(self, ctx: Any) -> Any:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class _Command(_PlainFlags, TyperCommand): ...


class _Group(_PlainFlags, TyperGroup): ...


class App(typer.Typer):
    """A typer app in plain text, without boxes and colours; it lists each command's whole summary."""

    def __init__(self, **settings: Any) -> None:
        # Loading what draws boxes and colours takes longer than all the rest of the help.
        super().__init__(cls=_Group, no_args_is_help=True, rich_markup_mode=None, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[F], F]:
        """Register a command, as typer does; its summary is its docstring's first sentence."""

        def added(function: F) -> F:
            summary = (inspect.getdoc(function) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")
            defaults: dict[str, Any] = {"cls": _Command, "short_help": summary}
            return super(App, self).command(name, **(defaults | settings))(function)

        return added


def takes(*options: DeclaredOption) -> Callable[[F], F]:
    """Give a command these options in place of its `**given`."""

    def taking(command: F) -> F:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        parameters = [*own, *(each.parameter(_annotated(each)) for each in options)]
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return taking


def _annotated(declared: DeclaredOption) -> object:
    """The annotation from which typer makes the option."""
    flags = () if declared.flag is None else (declared.flag,)
    settings: dict[str, Any] = {"metavar": declared.metavar, "min": declared.least}
    if declared.type is EngineKind:
        settings = {"parser": _engine, "metavar": f"[{'|'.join(EngineKind)}]"}
    return Annotated[declared.type, typer.Option(*flags, help=declared.help, **settings)]


def _engine(given: str) -> EngineKind:
    """An engine by its name, or by an earlier name, which help does not list."""
    try:
        return EngineKind(given)
    except ValueError:
        names = ", ".join(f"'{name}'" for name in EngineKind)
        raise typer.BadParameter(f"'{given}' is not one of {names}.") from None
