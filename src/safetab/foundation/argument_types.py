"""Python's door: a sentence answers an argument of the wrong type.

Errors name arguments as Python does. Imports nothing heavy. A function's annotations are read when
it is first called.
"""

from __future__ import annotations

import functools
import inspect
import re
import reprlib
import sys
import warnings
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, InvalidInput, shortened

_F = TypeVar("_F", bound=Callable[..., Any])

_WORDS = {
    str: "text", int: "a whole number", float: "a number", bool: "True or False",
    Path: "a pathlib.Path", NoneType: "None",
}  # fmt: skip
_CALLED = {"cells_of": "count"}  # what people call it by
_MANY = (list, tuple, abc.Iterable, abc.Sequence)
_MANY_VALUES = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}


def checks_arguments(function: _F) -> _F:
    """Decorate a function so that it checks its arguments.

    An argument of the wrong type raises TypeError with a sentence.
    """
    signature, called = (
        inspect.signature(function),
        _CALLED.get(function.__name__, function.__name__),
    )

    takes_any = any(each.kind in _MANY_VALUES for each in signature.parameters.values())

    @functools.cache
    def types() -> Mapping[str, Any]:
        names, found = _Names(sys.modules[function.__module__]), dict[str, Any]()
        for parameter in signature.parameters.values():
            annotation = parameter.annotation
            if parameter.kind not in _MANY_VALUES and annotation is not parameter.empty:
                if isinstance(annotation, str):
                    annotation = eval(annotation, {}, names)  # noqa: S307
                found[parameter.name] = annotation
        return found

    @functools.wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            unknown = (
                [] if takes_any else [name for name in named if name not in signature.parameters]
            )
            words = [
                f"has no argument {name}.{meant(name, signature.parameters)}" for name in unknown
            ]
            words = words or _named_only(signature, len(arguments))
            raise TypeError(f"{called}() {' '.join(words) or error}") from None
        for name, value in given.items():
            if name in types():
                require_type(called, name, value, types()[name])
        return function(*arguments, **named)

    return checked  # type: ignore[return-value]


def _named_only(signature: inspect.Signature, given: int) -> list[str]:
    """The sentence on too many arguments given by position, if the others have names."""
    kinds = {name: each.kind for name, each in signature.parameters.items()}
    by_position = [
        name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    by_name = [name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
    if given <= len(by_position) or not by_name:
        return []
    first = ", ".join(each for each in by_position if each != "self") or "nothing"
    return [f"takes {first} by position. Name the others: {shortened(by_name, 6)}."]


def meant(name: str, known: Iterable[str]) -> str:
    """A sentence, after another, that guesses what an unknown name means.

    It lists the known names if none is like it.
    """
    names = [each for each in known if each != "self"]
    close = get_close_matches(name, names, 1)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(names)}."


def python_function(function: _F) -> _F:
    """Decorate a public function, so that it speaks of Python's arguments.

    It checks the types of its arguments, and its errors name them as Python does. The rooms below
    name options as the command line does, since one check serves both.
    """
    checked = checks_arguments(function)

    @functools.wraps(checked)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            result = checked(*arguments, **named)
        except InvalidInput as invalid:
            words = _in_python_words(invalid.findings, function.__name__)
            raise InvalidInput(words, python_words(invalid.advice)) from None
        except RunFailed as failed:
            raise RunFailed(python_words(str(failed))) from None
        if isinstance(result, tuple) and all(isinstance(each, Finding) for each in result):
            return type(result)(_in_python_words(result, function.__name__))
        found = {
            each
            for each in ("warnings", "findings")
            if each in getattr(result, "__dataclass_fields__", ())
        }
        spoken = {
            each: _in_python_words(getattr(result, each), function.__name__) for each in found
        }
        return replace(result, **spoken) if spoken else result

    return called  # type: ignore[return-value]


def _in_python_words(findings: Iterable[Finding], function: str) -> tuple[Finding, ...]:
    """The findings about "the command" as findings about a function.

    Options have Python's names.
    """

    def place(text: str) -> str:
        return (
            text.lower()
            if text in _ARGUMENTS
            else python_words(text, "{}")
            if text.startswith("--")
            else text
        )

    files = {"the command": f"{function}()"}
    named = (
        replace(each, file=files.get(each.file, place(each.file)), where=place(each.where))
        for each in findings
    )
    return tuple(replace(each, message=python_words(each.message)) for each in named)


def python_words(text: str, quoted: str = "`{}`") -> str:
    """A text for the command line with Python's names.

    It has `spend_log` for --spend-log, and calls for commands.
    """
    text = _COMMAND.sub(lambda found: f"`{_call_of(found[1])}`", text)
    return _FLAG.sub(lambda found: quoted.format(python_name(found[1]) + _assigned(found[2])), text)


def _assigned(value: str | None) -> str:
    return "" if value is None else f"={_literal(value)}"


def _literal(value: str) -> str:
    """A value as Python writes it.

    A name in capitals stands for a value, and dots for further arguments.
    """
    return value if value.isupper() or value == "..." else repr(value)


def _call_of(typed: str) -> str:
    """The call that does what a shell command does.

    An example is safetab.spend('LOG', dataset='people').
    """
    of_others = (name for name in _FUNCTIONS if typed.startswith(name))
    typed = next((typed.replace(name, _FUNCTIONS[name], 1) for name in of_others), typed)
    command, *rest = re.findall(r"'[^']*'|\S+", typed)
    arguments = list[str]()
    for word in rest:
        if word.startswith("--"):
            arguments.append(f"{python_name(word)}=True")
        elif arguments and arguments[-1].endswith("=True"):
            arguments[-1] = arguments[-1].removesuffix("True") + _literal(word.strip("'"))
        else:
            arguments.append(_literal(word.strip("'")))
    return f"safetab.{command}({', '.join(arguments)})"


def python_name(flag: str) -> str:
    """Python's name of an option of the command line."""
    plain = flag.removeprefix("--").replace("-", "_")
    return _NAMES.get(plain, plain)


_NAMES = {
    "format": "form", "from": "package", "iteration": "group", "json": "as_json", "region": "area",
    "protection": "protections", "rule": "rules", "with": "together_with",
}  # fmt: skip
"""Options that Python calls by another name."""
_FUNCTIONS = {
    "cef blocks": "blocks_with_units", "cef convert": "convert", "show": "open_release",
    "sign --new-key": "new_key",
}  # fmt: skip
"""Commands whose function has another name."""
_ARGUMENTS = {"AREA", "DATA", "FILES", "FOLDER", "NEW", "OUT", "PARAMETERS"}
_COMMAND = re.compile(r"`safetab ([a-z][^`]*)`")
_FLAG = re.compile(
    r"(?<![\w/.-])--([a-z][a-z-]*[a-z])(?: (spark|rho|none|parquet|sweep|[A-Z]{4,})\b)?"
)


def warn_of_older_name(old: str, new: str, frames: int) -> None:
    """Warn that a name has been replaced, at the line that uses it.

    The line is this number of frames above the caller.
    """
    message = f"{old} is an older name of {new}. It works until version 2.0."
    warnings.warn(message, DeprecationWarning, stacklevel=2 + frames)


def path_or_none(given: str | Path | None) -> Path | None:
    """A path that was given as text or as a path, if one was."""
    return None if given is None else Path(given)


def require_type(function: str, name: str, value: object, wanted: Any) -> None:
    """Raise TypeError if the type is wrong, or ValueError if a path holds a NUL.

    The TypeError shows a text that isn't one of the choices.
    """
    if not is_of_type(value, wanted):
        is_choice = isinstance(value, str) and any(
            get_origin(one) is Literal for one in (wanted, *get_args(wanted))
        )
        given = reprlib.repr(value) if is_choice else _name_of(type(value))
        is_text = is_of_type("", wanted) and not is_of_type(Path(), wanted)
        hint = f' Write "{value}".' if type(value) is int and is_text else ""
        raise TypeError(f"{function}: {name} must be {_words_of_type(wanted)}, not {given}.{hint}")
    if (wanted is Path or Path in get_args(wanted)) and "\0" in str(value):
        raise ValueError(f"{function}: {name} must be a path without a NUL character.")


def is_of_type(value: object, wanted: Any) -> bool:
    """Whether the value fits an annotation. A bool is not a number here."""
    if wanted is Any or wanted is object:
        return True
    if get_origin(wanted) in {Union, UnionType}:
        return any(is_of_type(value, kind) for kind in get_args(wanted))
    if wanted in {int, float}:
        allowed = (int,) if wanted is int else (int, float)
        return isinstance(value, allowed) and not isinstance(value, bool)
    origin = get_origin(wanted)
    if origin is Literal:
        return value in get_args(wanted)
    if origin in _MANY:
        return _is_many(value, wanted)
    return isinstance(value, origin or wanted)


def _is_many(value: object, wanted: Any) -> bool:
    """Whether the value is a list or tuple as annotated. A text is not a list of texts."""
    if isinstance(value, str | bytes):
        return False
    inner = get_args(wanted)
    if get_origin(wanted) is tuple and inner and inner[-1] is not Ellipsis:
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)
            and all(map(is_of_type, value, inner))
        )
    if get_origin(wanted) is list:  # a tuple does as well
        return isinstance(value, list | tuple) and all(is_of_type(item, inner[0]) for item in value)
    return isinstance(value, get_origin(wanted))


def _words_of_type(wanted: Any) -> str:
    """The type in words, such as "text, a pathlib.Path or None"."""
    if get_origin(wanted) in {Union, UnionType, Literal}:
        words = [*dict.fromkeys(_choices(wanted))]
        return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    if get_origin(wanted) is tuple and Ellipsis not in get_args(wanted):
        return f"a pair ({', '.join(map(_words_of_type, get_args(wanted)))})"
    if get_origin(wanted) in _MANY:
        return "a list of texts" if get_args(wanted) == (str,) else "a list"
    return (
        _WORDS.get(wanted)
        or f"{'an' if _name_of(wanted)[0] in 'AEIOU' else 'a'} {_name_of(wanted)}"
    )


def _choices(wanted: Any) -> Iterator[str]:
    for each in get_args(wanted):
        if get_origin(wanted) is Literal:
            yield repr(each)
        else:
            yield from _choices(each) if get_origin(each) is Literal else (_words_of_type(each),)


def _name_of(kind: Any) -> str:
    return "None" if kind is NoneType else str(getattr(kind, "__name__", kind))


class _Names(dict[str, object]):
    """The names of a module, including those it imports on demand."""

    def __init__(self, module: object) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> object:
        try:
            return getattr(self._module, name)
        except AttributeError:
            raise KeyError(name) from None
