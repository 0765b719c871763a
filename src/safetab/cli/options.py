"""The typer app with plain help, and the arguments and options that commands share."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from safetab.cli.messages import exits_with_code, one_document, quietly, wrong_use_documented
from safetab.cli.settings import apply_settings
from safetab.model.known_census import examples
from safetab.runs.declared_options import OVERWRITE, SETTINGS, DeclaredOption, EngineKind

_F = TypeVar("_F", bound=Callable[..., Any])


def path_argument(metavar: str, text: str, variable: str | None = None) -> Any:
    """An argument for a path, which need not exist or be readable yet."""
    return typer.Argument(metavar=metavar, help=text, readable=False, envvar=variable)


def option(metavar: str, text: str) -> Any:
    """An option that takes a value, called `metavar` in the help."""
    return typer.Option(metavar=metavar, help=text)


def one_folder(argument: Path | None, given: dict[str, Any]) -> dict[str, Any]:
    """The options with PARAMETERS, which may be an argument instead of --parameters.

    Raises BadParameter for both.
    """
    if argument is None:
        return given
    if given["parameters"] is not None:
        raise typer.BadParameter("is given as an argument already.", param_hint="--parameters")
    return given | {"parameters": argument}


FOLDERS = {
    "PARAMETERS": "Directory with census.toml, or config.json, and the lists.",
    "DATA": examples.DATA,
    "OUT": "Directory to make.",
}
"""The arguments of a run, and their help."""
Parameters = Annotated[Path, path_argument("PARAMETERS", FOLDERS["PARAMETERS"])]
MaybeParameters = Annotated[Path | None, path_argument("PARAMETERS", "The same as --parameters.")]
Data = Annotated[Path, path_argument("DATA", FOLDERS["DATA"])]
Out = Annotated[Path, path_argument("OUT", FOLDERS["OUT"])]
Folder = Annotated[Path, path_argument("FOLDER", "Directory to make.")]
Release = Annotated[Path, path_argument("RELEASE", "A release: OUT of a run, or OUT/release.")]
Overwrite = Annotated[bool, typer.Option(OVERWRITE.flag, help=OVERWRITE.help)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only results, warnings and errors.")
]
_Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, for programs; text goes to stderr.")
]
_HYPHEN = "\ue000"  # of Unicode's private area: no text contains it
# in the help of an option that only the U.S. census has: it gets a heading of its own
OF_US = "\N{THIN SPACE}"
_PlainFormatter: Any = typer.Context.formatter_class
_PLAIN_WORDS = {
    "Value error, ": "",
    (
        "Input should be a valid integer, unable to parse string as an integer"
    ): "must be a whole number.",
    "Input should be greater than or equal to": "must be at least",
    r"'.*' is not a valid integer\.": "must be a whole number.",
    r"\S+ is not in the range x>=(\d+)\.": r"must be at least \1",
}
"""The library's words for a wrong value, in all its versions, and ours."""
_LONGEST_SUMMARY = 200
_LEAST_LIKENESS = 0.7  # of an option that is suggested for an unknown one


class _Formatter(_PlainFormatter):  # type: ignore[misc]
    """Breaks lines of help between words, never after a hyphen.

    The U.S. census has a heading of its own.
    """

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
    """Help in which a flag has no value, since it takes none.

    Only similar options are suggested.
    """

    context_class: Any = type("_Context", (typer.Context,), {"formatter_class": _Formatter})

    def get_params(self, ctx: Any) -> Any:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with self._in_plain_words(ctx):
            rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
            return rest

    def _name_variable_if_set(self, error: Any) -> None:
        """Leave out the variable of a wrong option that was not taken from there."""
        parameter = getattr(error, "param", None)
        variable = getattr(parameter, "envvar", None)
        if parameter is not None and variable is not None and not os.environ.get(variable):
            error.param_hint = f"'{parameter.opts[-1]}'"

    @contextmanager
    def _in_plain_words(self, ctx: Any) -> Iterator[None]:
        """Replace the library's suggestions for an unknown option, and its jargon.

        The library's suggestions look at the hyphens, too.
        """
        try:
            yield
        except Exception as error:
            if isinstance(error, typer.BadParameter):
                self._name_variable_if_set(error)
                for words, plain in _PLAIN_WORDS.items():
                    error.message = re.sub(words, plain, error.message)
            if hasattr(error, "possibilities"):
                shown = (
                    each for each in self.get_params(ctx) if not getattr(each, "hidden", False)
                )
                names = [
                    name.lstrip("-")
                    for each in shown
                    for name in each.opts
                    if name.startswith("--")
                ]
                unknown = str(getattr(error, "option_name", "")).lstrip("-")
                close = get_close_matches(unknown, names, 1, _LEAST_LIKENESS)
                error.possibilities = [f"--{name}" for name in close]
            raise


class _Command(_PlainFlags, TyperCommand):
    """A command that refuses swapped folders, and reports wrong usage in its JSON document, too."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **more: Any) -> Any:
        """Read the words of the command."""
        with wrong_use_documented(_name_of(info_name, parent), is_asked="--json" in args):
            return super().make_context(info_name, args, parent, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, unless PARAMETERS and DATA are swapped."""
        name, is_asked = _name_of(ctx.info_name, ctx.parent), ctx.params.get("json", False)
        with wrong_use_documented(name, is_asked=is_asked), one_document(name, is_asked=is_asked):
            self._require_right_order(ctx)
            apply_settings(ctx)
            return super().invoke(ctx)

    def _require_right_order(self, ctx: Any) -> None:
        """Exit if PARAMETERS is no folder of a census; say how to type it if DATA came first."""
        # Early versions of typer hand over texts here and make paths of them later.
        given = (ctx.params.get(name) for name in ("parameters", "data", "together_with"))
        parameters, data, other = (
            Path(each) if isinstance(each, str | Path) else None for each in given
        )
        if parameters is not None:
            from safetab.inputs.configuration import require_parameters  # noqa: PLC0415

            with exits_with_code():
                words = [
                    *ctx.command_path.split(),
                    data,
                    parameters,
                    *filter(None, [ctx.params.get("out")]),
                ]
                require_parameters(parameters, data, shlex.join(map(str, words)))
                if other is not None:
                    require_parameters(other)


def _name_of(command: str | None, parent: Any) -> str:
    """A command's name, after that of its group if it is in one."""
    group = parent.info_name if parent is not None and parent.parent is not None else ""
    return f"{group} {command}".strip()


class _Group(_PlainFlags, TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under the headings of their tasks.

        Hidden ones, earlier names, are not listed.
        """
        tasks: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                task = getattr(command, "rich_help_panel", None)
                heading = task if isinstance(task, str) else "Commands"
                tasks.setdefault(heading, []).append(
                    (name, command.get_short_help_str(_LONGEST_SUMMARY))
                )
        width = max(len(name) for rows in tasks.values() for name, _ in rows)
        for heading, rows in tasks.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in rows])


class App(typer.Typer):
    """A typer app in plain text, without boxes and colours.

    It lists each command's whole summary.
    """

    def __init__(self, **settings: Any) -> None:
        # Loading what draws boxes and colours takes longer than all the rest of the help.
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(
            cls=_Group,
            no_args_is_help=True,
            rich_markup_mode=None,
            context_settings=names,
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[_F], _F]:
        """Register a command, as typer does; its summary is its docstring's first sentence."""

        def added(function: _F) -> _F:
            summary = (
                (inspect.getdoc(function) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")
            )
            defaults: dict[str, Any] = {"cls": _Command, "short_help": summary}
            super(App, self).command(name, **(defaults | settings))(_with_common_options(function))
            return function

        return added


def _with_common_options(function: _F) -> _F:
    """A command with --quiet, which leaves out its notes, and --json, which `_Command` obeys."""
    signature = inspect.signature(function, eval_str=True)
    own = signature.parameters

    @wraps(function)
    def common(*, quiet: bool, json: bool = False, **given: Any) -> None:  # noqa: ARG001
        with quietly(is_quiet=quiet):
            function(**given, **({"quiet": quiet} if "quiet" in own else {}))

    kinds = {"quiet": Quiet} | ({} if "as_json" in own else {"json": _Json})
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in kinds.items()
        if name not in own
    ]
    _declare(common, signature, [*own.values(), *added])
    return cast("_F", common)


def _declare(
    command: Any, signature: inspect.Signature, parameters: list[inspect.Parameter]
) -> None:
    """Tell typer which parameters a command has."""
    command.__signature__ = signature.replace(parameters=parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


def takes(*options: DeclaredOption) -> Callable[[_F], _F]:
    """Give a command these options in place of its `**given`."""

    def taking(command: _F) -> _F:
        signature = inspect.signature(command, eval_str=True)
        own = [
            each
            for each in signature.parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        parameters = [*own, *(each.parameter(_annotated(each)) for each in options)]
        _declare(command, signature, parameters)
        return command

    return taking


def _annotated(declared: DeclaredOption) -> object:
    """The annotation from which typer makes the option."""
    flags = () if declared.flag is None else (declared.flag,)
    settings: dict[str, Any] = {"metavar": declared.metavar, "min": declared.least}
    settings["envvar"] = SETTINGS.get(declared.name)
    if declared.type is EngineKind:
        settings = {"parser": _engine, "metavar": f"[{'|'.join(EngineKind)}]"}
    return Annotated[
        declared.type,
        typer.Option(*flags, help=declared.help, hidden=declared.is_hidden, **settings),
    ]


def _engine(given: str) -> EngineKind:
    """An engine by its name, or by an earlier name, which help does not list."""
    try:
        return EngineKind(given)
    except ValueError:
        names = ", ".join(f"'{name}'" for name in EngineKind)
        raise typer.BadParameter(f"'{given}' is not one of {names}.") from None
