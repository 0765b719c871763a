"""Arguments that several commands take, and the declared options as the command line has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from safetab.pipeline.declared_options import OVERWRITE, DeclaredOption
from safetab.pipeline.engine_kind import EngineKind

F = TypeVar("F", bound=Callable[..., Any])

Parameters = Annotated[
    Path,
    typer.Argument(
        metavar="PARAMETERS", help="Directory with config.json and the lists of codes and iterations.", readable=False
    ),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Directory with the geography file GRF-C and the records; the .ini file of a CEF.",
        readable=False,
    ),
]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="Directory to make.", readable=False)]
Release = Annotated[
    Path, typer.Argument(metavar="RELEASE", help="A release: OUT of a run, or OUT/release.", readable=False)
]
Area = Annotated[str | None, typer.Option(metavar="NAME", help="Name or id.")]

Overwrite = Annotated[bool, typer.Option(OVERWRITE.flag, help=OVERWRITE.help)]


def show_whole_summaries(app: typer.Typer) -> None:
    """Lists of commands show each one's first sentence to its end; by themselves they cut it off."""
    for command in app.registered_commands:
        described = inspect.getdoc(command.callback) or ""
        command.short_help = described.split("\n\n", maxsplit=1)[0].replace("\n", " ")


def takes(*options: DeclaredOption) -> Callable[[F], F]:
    """Gives a command these options in place of its `**given`."""

    def taking(command: F) -> F:
        signature = inspect.signature(command, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        parameters = [*own, *(option.parameter(_annotated(option)) for option in options)]
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return taking


def _annotated(option: DeclaredOption) -> object:
    flags = () if option.flag is None else (option.flag,)
    settings: Iterable[tuple[str, object]] = (("metavar", option.metavar), ("min", option.least))
    given: dict[str, Any] = {name: value for name, value in settings if value is not None}
    if option.type is EngineKind:
        given |= {"parser": _engine, "metavar": f"[{'|'.join(EngineKind)}]"}
    return Annotated[option.type, typer.Option(*flags, help=option.help, **given)]


def _engine(given: str) -> EngineKind:
    """By its name or an earlier one, which the list of choices does not show."""
    try:
        return EngineKind(given)
    except ValueError:
        names = ", ".join(f"'{name}'" for name in EngineKind)
        raise typer.BadParameter(f"'{given}' is not one of {names}.") from None
