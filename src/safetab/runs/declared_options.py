"""Every option of the commands, declared once for the command line and for Python.

Imports nothing heavy: `safetab --help` and `import safetab` load this module.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from safetab.foundation.argument_types import meant, python_words, require_type
from safetab.foundation.files import package_data
from safetab.model.option_words import AREAS_FILE, DONORS

_F = TypeVar("_F", bound=Callable[..., Any])


class EngineKind(StrEnum):
    """The place where records are counted: in this process, or on Spark."""

    LOCAL = "local"
    SPARK = "spark"

    @classmethod
    def _missing_(cls, value: object) -> EngineKind | None:
        """`duckdb`, an earlier name of `local`, is still accepted."""
        return cls.LOCAL if value == "duckdb" else None


SETTINGS = {
    name: f"SAFETAB_{name.upper()}"
    for name in ("spend_log", "dataset", "temp", "confidential_log", "threads")
}
"""Options that the command line takes from these environment variables if they aren't given."""


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """An option: its name in Python, its type, its default and its help on the command line."""

    name: str
    type: Any
    default: object
    help: str
    metavar: str | None = None
    flag: str | None = None  # if the command line has another name for it
    least: int | None = None
    is_number: bool = False  # a number in Python; text on the command line, which is exact
    is_hidden: bool = False  # accepted, but not in the help of the command line

    def parameter(self, annotation: object) -> inspect.Parameter:
        """A keyword parameter of a function that takes this option."""
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=annotation
        )

    @property
    def python_type(self) -> object:
        """The type that Python accepts: a path may be text, and an engine its name."""
        wider: dict[object, object] = {Path | None: Path | str | None, EngineKind: EngineKind | str}
        return self.type | float if self.is_number else wider.get(self.type, self.type)


def _optional(
    kind: Any, name: str, text: str, metavar: str | None = None, **more: Any
) -> DeclaredOption:
    return DeclaredOption(name, kind, None, text, metavar, **more)


def _flag(name: str, text: str) -> DeclaredOption:
    return DeclaredOption(name, bool, False, text, flag=f"--{name.replace('_', '-')}")


_HELP = package_data("safetab.runs", "options.toml")
_file = partial(_optional, Path | None)
_text = partial(_optional, str | None)
_texts = partial(_optional, list[str] | None)
OVERWRITE = _flag("overwrite", "Replace OUT if it exists.")
_CONFIDENTIAL_LOG = _file(
    "confidential_log", "The curator's log. Default: OUT.confidential.log beside OUT."
)
FINDINGS_LOG = _file(
    "confidential_log", "The curator's log: line numbers of rows that break a rule, no values."
)
_TEST_KEY = _text(
    "test_key", "64 hexadecimal digits; only for synthetic data, never for a release.", "HEX"
)
CONFIDENCE = DeclaredOption(
    "confidence",
    str,
    "0.95",
    "The confidence of margins of error in the release.",
    "LEVEL",
    is_number=True,
)
MARGIN_CONFIDENCE = DeclaredOption("confidence", str, "0.95", "Of the margins of error.", "NUMBER")
CONFIG = _file("config", "config.json. Default: the one in --parameters.", "FILE")
PARAMETERS = _file(
    "parameters", "Directory with config.json and the lists, or with a specification.", "DIR"
)
GEOGRAPHY = _file(
    "geography",
    f"The geography file {AREAS_FILE}, to count its entities. Default: 2020's numbers.",
    "FILE",
)
_MEMORY = DeclaredOption(
    "memory", str, "4GB", "Memory limit for Spark's driver. No effect with --engine local.", "SIZE"
)
_MEMORY_TO_ASSESS = DeclaredOption(
    "memory", str, "4GB", "Has no effect here.", "SIZE", is_hidden=True
)
_MACHINE = (
    DeclaredOption("threads", int, 2, "How many threads a run may use.", least=1),
    _file(
        "temp", "Folder for encoded records during the run. Default: the system's temporary folder."
    ),
)
_ENGINE = (
    DeclaredOption(
        "engine", EngineKind, EngineKind.LOCAL, "Where to count: in this process, or on Spark."
    ),
    _text(
        "spark_master",
        "Where Spark runs, like spark.master in --spark-conf.",
        "URL",
        is_hidden=True,
    ),
    _texts("spark_conf", _HELP["spark_conf"], "NAME=VALUE"),
    _text(
        "persons", "Person records outside DATA: a path that Spark reads, or table:NAME.", "WHERE"
    ),
    _text(
        "geography", "The geography outside DATA: a path that Spark reads, or table:NAME.", "WHERE"
    ),
)
_ACCOUNTS = (
    _text("dataset", "Whose privacy is spent: a name for these people, in --spend-log.", "NAME"),
    _file("spend_log", "The curator's accounts of what all runs on --dataset spent.", "FILE"),
    _text("spend_limit", _HELP["spend_limit"], "X", is_number=True),
    _texts(
        "same_people_as",
        "Another name of these people in --spend-log: adds up the accounts of both.",
        "NAME",
    ),
)
COTERMINOUS = _flag(
    "coterminous", "Give entities made of the same blocks the same numbers in the release."
)
COPYING = (
    _file("empty_blocks", _HELP["empty_blocks"], "FILE"),
    _text(
        "order",
        f"Order of donors, separated by commas: by default {DONORS}."
        " Or levels of the specification.",
        "KINDS",
    ),
    _flag("copy_all", "Also copy groups that the receiving level does not tabulate."),
)
RULES = _texts("rules", _HELP["rules"], "RULE", flag="--rule")
TOTALS = _file(
    "totals",
    "A release whose totals choose the tables, instead of a file of totals in DATA.",
    "OUT",
)
TOGETHER_WITH = _file("together_with", _HELP["together_with"], "PARAMETERS", flag="--with")
CSV = _flag("csv", "Write the release's tables as CSV too, beside the Parquet files.")
STEPS = (COTERMINOUS, *COPYING, RULES)
RERELEASE = (CONFIDENCE, CSV, *STEPS)
OF_BLOCKS = "is in a form that areas of this census don't have. Leave it out."
RUN = (
    *_ENGINE[:1], _MEMORY, *_MACHINE, OVERWRITE, _CONFIDENTIAL_LOG, _TEST_KEY, TOTALS, *_ACCOUNTS,
    CONFIDENCE, CSV, *STEPS, *_ENGINE[1:],
)  # fmt: skip
VALIDATE = (*_ENGINE[:1], _MEMORY, *_MACHINE, FINDINGS_LOG, TOTALS, *_ENGINE[1:])
ASSESS = (*STEPS, _MEMORY_TO_ASSESS, *_MACHINE, OVERWRITE, _TEST_KEY, TOTALS)

COMPARED_WITH = (_MEMORY_TO_ASSESS, *_MACHINE, OVERWRITE, TOTALS)
COMPARE = (
    _texts(
        "protections",
        "A protection instead of the presets, repeatable, such as round:base=5.",
        "SPEC",
        flag="--protection",
    ),
    DeclaredOption(
        "preset", str, "agencies", "agencies, order-2026, europe, us-history or sweep.", "GROUP"
    ),
    DeclaredOption(
        "tables",
        str,
        "as-released",
        "as-released, or every-group: a table for every group.",
        "TABLES",
    ),
    _texts(
        "attack",
        "The area to attack, repeatable: name or id, or none."
        " Default: one of about 100,000 people.",
        "AREA",
    ),
    DeclaredOption("runs", int, 10, "How many draws of each random protection."),
    DeclaredOption(
        "seed",
        int,
        2020,
        "The same inputs and seed give the same bytes, unless a time limit is reached.",
    ),
    DeclaredOption(
        "time_limit",
        float | None,
        None,
        "Seconds that the attack on each protection may take.",
        "SECONDS",
    ),
    *COMPARED_WITH,
)


def with_defaults(options: Iterable[DeclaredOption], given: Mapping[str, object]) -> dict[str, Any]:
    """The values of these options: the given ones, and the defaults of the others.

    Raises TypeError for a name that no option has, and for a value of the wrong type.
    """
    known = {option.name: option for option in options}
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"there is no option {name}.{meant(name, known)}")
        require_type("options", name, value, known[name].python_type)
    return {option.name: option.default for option in known.values()} | dict(given)


DEFAULTS = with_defaults(RUN, {})


def shows(options: Iterable[DeclaredOption]) -> Callable[[_F], _F]:
    """Make `help()` show these options in place of a function's `**given`."""
    declared = tuple(options)

    def shown(function: _F) -> _F:
        signature = inspect.signature(function)
        own = [
            each
            for each in signature.parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        added = [option.parameter(option.type) for option in declared]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *added]
        )
        lines = [f"            {option.name}: {python_words(option.help)}" for option in declared]
        function.__doc__ = "\n".join(
            [(function.__doc__ or "").rstrip(), *(line[4:] for line in lines), "    "]
        )
        return function

    return shown
