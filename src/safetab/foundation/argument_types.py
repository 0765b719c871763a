"""Arguments of the wrong type are answered by a sentence, where they come in.

Imports nothing heavy: a function's annotations are read when it is first called.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections import abc
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

F = TypeVar("F", bound=Callable[..., Any])

_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    Path: "a pathlib.Path",
    NoneType: "None",
}
_CALLED = {"cells_of": "count"}  # what people call it by
_MANY = (list, tuple, abc.Iterable, abc.Sequence)


def checks_arguments(function: F) -> F:
    """The same function, which raises TypeError with a sentence if an argument is not of its annotated type."""
    signature, called = inspect.signature(function), _CALLED.get(function.__name__, function.__name__)

    @functools.cache
    def types() -> Mapping[str, Any]:
        names = _Names(sys.modules[function.__module__])
        return {one.name: _evaluated(one.annotation, names) for one in signature.parameters.values() if _is_named(one)}

    @functools.wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        for name, value in signature.bind(*arguments, **named).arguments.items():
            if name in types():
                require_type(called, name, value, types()[name])
        return function(*arguments, **named)

    return checked  # type: ignore[return-value]


def require_type(function: str, name: str, value: object, wanted: Any) -> None:
    """Raises TypeError, with the types and never the value, if the value is not of the type that is wanted.

    Raises ValueError if it is a path that no file can have.
    """
    if not is_of_type(value, wanted):
        raise TypeError(f"{function}: {name} must be {words_of_type(wanted)}, not {_name_of(type(value))}.")
    if (wanted is Path or Path in get_args(wanted)) and "\0" in str(value):
        raise ValueError(f"{function}: {name} must be a path without a NUL character.")


def is_of_type(value: object, wanted: Any) -> bool:
    if wanted is Any or wanted is object:
        return True
    if get_origin(wanted) in {Union, UnionType}:
        return any(is_of_type(value, one) for one in get_args(wanted))
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
    """A text is no list of texts, though Python would take it for one of letters."""
    if isinstance(value, str | bytes):
        return False
    inner = get_args(wanted)
    if get_origin(wanted) is tuple and inner and inner[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(is_of_type, value, inner))
    if get_origin(wanted) is list:  # a tuple does as well
        return isinstance(value, list | tuple) and all(is_of_type(one, inner[0]) for one in value)
    return isinstance(value, get_origin(wanted))


def words_of_type(wanted: Any) -> str:
    """What to give, in words: "text or a pathlib.Path"."""
    if get_origin(wanted) in {Union, UnionType}:
        return " or ".join(dict.fromkeys(words_of_type(one) for one in get_args(wanted)))
    if get_origin(wanted) is Literal:
        return " or ".join(map(repr, get_args(wanted)))
    if get_origin(wanted) is tuple and Ellipsis not in get_args(wanted):
        return f"a pair ({', '.join(words_of_type(one) for one in get_args(wanted))})"
    if get_origin(wanted) in _MANY:
        return "a list of texts" if get_args(wanted) == (str,) else "a list"
    return _WORDS.get(wanted) or f"{'an' if _name_of(wanted)[0] in 'AEIOU' else 'a'} {_name_of(wanted)}"


def _name_of(one: Any) -> str:
    return "None" if one is NoneType else str(getattr(one, "__name__", one))


def _is_named(parameter: inspect.Parameter) -> bool:
    is_one = parameter.kind not in {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    return is_one and parameter.annotation is not inspect.Parameter.empty


def _evaluated(annotation: Any, names: Mapping[str, object]) -> Any:
    return eval(annotation, {}, names) if isinstance(annotation, str) else annotation  # noqa: S307 - our own source


class _Names(dict[str, object]):
    """The names of a module, those included that it imports when they are asked for."""

    def __init__(self, module: object) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> object:
        try:
            return getattr(self._module, name)
        except AttributeError:
            raise KeyError(name) from None
