"""Every option of the commands that run something, declared once: the command line and Python take it from here.

Imports nothing heavy: `safetab --help` reads this.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from safetab.foundation.argument_types import require_type
from safetab.pipeline.engine_kind import EngineKind

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """An option: its name in Python, its type and default, and what the command line says of it."""

    name: str
    type: Any
    default: object
    help: str
    metavar: str | None = None
    flag: str | None = None  # where the command line calls it otherwise
    least: int | None = None
    is_number: bool = False  # a number in Python; a text on the command line, so that it stays exact

    def parameter(self, annotation: object) -> inspect.Parameter:
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=annotation)

    @property
    def on_the_command_line(self) -> str:
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def python_type(self) -> object:
        """What Python may give: a path also as text, an engine by its name."""
        wider: dict[object, object] = {Path | None: Path | str | None, EngineKind: EngineKind | str}
        return self.type | float if self.is_number else wider.get(self.type, self.type)


OVERWRITE = DeclaredOption("overwrite", bool, False, "Replace OUT if it exists.", flag="--overwrite")
CONFIDENTIAL_LOG = DeclaredOption(
    "confidential_log", Path | None, None, "The curator's log. Default: OUT.confidential.log beside OUT."
)
FINDINGS_LOG = DeclaredOption(
    "confidential_log", Path | None, None, "The curator's log: line numbers of rows that break a rule, no values."
)
TEST_KEY = DeclaredOption(
    "test_key", str | None, None, "64 hexadecimal digits; only for synthetic data, never for a release.", "HEX"
)
CONFIDENCE = DeclaredOption(
    "confidence", str, "0.95", "The confidence of margins of error in the release.", "LEVEL", is_number=True
)
MARGIN_CONFIDENCE = DeclaredOption("confidence", str, "0.95", "Of the margins of error.", "NUMBER")
CONFIG = DeclaredOption("config", Path | None, None, "config.json. Default: that of --parameters.", "FILE")
PARAMETERS = DeclaredOption(
    "parameters", Path | None, None, "Directory with config.json and the lists of codes and iterations.", "DIR"
)
GEOGRAPHY = DeclaredOption(
    "geography", Path | None, None, "The geography file GRF-C, to count its entities. Default: 2020's numbers.", "FILE"
)
AS_JSON = DeclaredOption("as_json", bool, False, "Print JSON, for programs.", flag="--json")
MEMORY = DeclaredOption(
    "memory",
    str,
    "4GB",
    "Memory limit for DuckDB (fingerprints for --spend-log) and for Spark's driver. Limits nothing else.",
    "SIZE",
)
MEMORY_TO_VALIDATE = DeclaredOption(
    "memory", str, "4GB", "Memory limit for Spark's driver. Limits nothing else.", "SIZE"
)
MEMORY_TO_ASSESS = DeclaredOption("memory", str, "4GB", "Has no effect here.", "SIZE")
MACHINE = (
    DeclaredOption("threads", int, 2, "How many threads a run may use.", least=1),
    DeclaredOption(
        "temp", Path | None, None, "Where encoded persons are kept while the run lasts. Default: the system's folder."
    ),
)
ENGINE = (
    DeclaredOption("engine", EngineKind, EngineKind.LOCAL, "Where to count: in this process, or on Spark."),
    DeclaredOption(
        "spark_master", str | None, None, "Where Spark runs, with --engine spark. Default: local[THREADS].", "URL"
    ),
    DeclaredOption("spark_conf", list[str] | None, None, "A setting of Spark; give it once for each.", "NAME=VALUE"),
    DeclaredOption(
        "persons", str | None, None, "Person records outside DATA: a path that Spark reads, or table:NAME.", "WHERE"
    ),
    DeclaredOption("geography", str | None, None, "The geography elsewhere than in DATA, in the same way.", "WHERE"),
)
ACCOUNTS = (
    DeclaredOption(
        "dataset", str | None, None, "Whose privacy is spent: a name for these people, in --spend-log.", "NAME"
    ),
    DeclaredOption(
        "spend_log", Path | None, None, "The curator's accounts of what all runs on --dataset spent.", "FILE"
    ),
    DeclaredOption(
        "spend_limit",
        str | None,
        None,
        "How much each pass of --dataset may lose in all runs: set by the first, kept by every run.",
        "X",
        is_number=True,
    ),
    DeclaredOption(
        "same_people_as",
        list[str] | None,
        None,
        "Another name of these people in --spend-log: adds up the accounts of both.",
        "NAME",
    ),
)
COTERMINOUS = DeclaredOption(
    "coterminous",
    bool,
    False,
    "Give entities that are made of the same blocks the same numbers, in the release.",
    flag="--coterminous",
)
COPYING = (
    DeclaredOption(
        "empty_blocks",
        Path | None,
        None,
        "Blocks that hold nobody, e.g. water, or a list of blocks-with-units: ignored when blocks are compared.",
        "FILE",
    ),
    DeclaredOption(
        "order", str | None, None, "Who gives first, with commas between: state, county, place, aiannh, tract.", "KINDS"
    ),
    DeclaredOption(
        "copy_all", bool, False, "Copy groups too that the receiving level does not tabulate.", flag="--copy-all"
    ),
)
RULES = DeclaredOption(
    "rules",
    list[str] | None,
    None,
    "A rule of the release, repeatable: clamp-negatives, withhold-negatives, withhold-alone-above-partner.",
    "RULE",
    flag="--rule",
)
TOTALS = DeclaredOption(
    "totals", Path | None, None, "A release whose totals choose the tables, instead of a file of totals in DATA.", "OUT"
)
TOGETHER_WITH = DeclaredOption(
    "together_with",
    Path | None,
    None,
    "PARAMETERS of the other product about the same census: states what both cost together.",
    "PARAMETERS",
    flag="--with",
)
CSV = DeclaredOption(
    "csv", bool, False, "Write the release's tables as CSV too, beside the Parquet files.", flag="--csv"
)
STEPS = (COTERMINOUS, *COPYING, RULES)

RUN = (
    *ENGINE[:1], MEMORY, *MACHINE, OVERWRITE, CONFIDENTIAL_LOG, TEST_KEY, TOTALS, *ACCOUNTS, CONFIDENCE, CSV, *STEPS,
    *ENGINE[1:],
)  # fmt: skip
VALIDATE = (*ENGINE[:1], MEMORY_TO_VALIDATE, *MACHINE, FINDINGS_LOG, TOTALS, *ENGINE[1:])
ASSESS = (*STEPS, MEMORY_TO_ASSESS, *MACHINE, OVERWRITE, TEST_KEY, TOTALS)


def with_defaults(options: Iterable[DeclaredOption], given: Mapping[str, object]) -> dict[str, Any]:
    """The values of these options: those given, else their defaults.

    TypeError for a name that none of them has, and for a value that is not of the option's type.
    """
    known = {option.name: option for option in options}
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"there is no option {name}. The options are {', '.join(known)}.")
        require_type("options", name, value, known[name].python_type)
    return {option.name: option.default for option in known.values()} | dict(given)


DEFAULTS = with_defaults(RUN, {})


def shows(options: Iterable[DeclaredOption]) -> Callable[[F], F]:
    """Makes `help()` show these options in place of a function's `**given`, each with its words."""
    declared = tuple(options)

    def shown(function: F) -> F:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        added = [option.parameter(option.type) for option in declared]
        function.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        lines = [f"            {option.name}: {_python_words(option.help, declared)}" for option in declared]
        function.__doc__ = "\n".join([(function.__doc__ or "").rstrip(), *(line[4:] for line in lines), "    "])
        return function

    return shown


def _python_words(words: str, declared: Iterable[DeclaredOption]) -> str:
    """The words of the command line with the names of Python: `spend_log` for --spend-log."""
    for option in sorted(declared, key=lambda one: -len(one.on_the_command_line)):
        words = words.replace(option.on_the_command_line, f"`{option.name}`")
    return words
