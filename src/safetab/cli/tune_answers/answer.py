"""An answer in both of its forms, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import typer
from rich.console import Console
from rich.table import Table as TextTable

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.cli.plan_tables import show_table
from safetab.planning.plan_json import JsonObject, exact
from safetab.tuning.concerns import ParameterConcern

WIDTH = 1000  # tables take what they need: a number cut short would be a wrong number


@dataclass(frozen=True, slots=True)
class Answer:
    """What programs get, and what people get: sentences, tables with their titles, notes and concerns."""

    for_programs: JsonObject
    sentences: tuple[str, ...] = ()
    tables: tuple[tuple[str, TextTable], ...] = ()
    notes: tuple[str, ...] = ()
    concerns: tuple[ParameterConcern, ...] = ()


def show(answer: Answer, *, as_json: bool) -> None:
    """On standard output."""
    if as_json:
        found = [{"level": None if one.level is None else name(one.level), "text": one.text} for one in answer.concerns]
        typer.echo(json.dumps(answer.for_programs | {"concerns": found}, indent=2))
        return
    console = Console(width=WIDTH, highlight=False, markup=False)
    for sentence in answer.sentences:
        console.print(sentence, soft_wrap=True)
    if answer.sentences and answer.tables:
        console.print()
    for title, table in answer.tables:
        show_table(title, table, console)
    for note in answer.notes:
        console.print(note, soft_wrap=True)
    for concern in answer.concerns:
        about = "" if concern.level is None else f"{name(concern.level)}: "
        console.print(f"Concern: {about}{concern.text}", soft_wrap=True)


def concerns_about(concerns: Iterable[ParameterConcern], level: PopulationGroupLevel) -> tuple[ParameterConcern, ...]:
    """Those of the level, and those of all levels."""
    return tuple(concern for concern in concerns if concern.level in {None, level})


def name(level: PopulationGroupLevel) -> str:
    return f"{level.geography.label} {level.iterations.label}"


def percent(share: Fraction | float) -> str:
    return f"{100 * float(share):.3g} %"


def chance_text(chance: float) -> str:
    """In hundredths of a percent; what is not certain never reads as if it were."""
    if chance < 0.0001:
        return "< 0.01 %"
    return "> 99.99 %" if chance > 0.9999 else f"{chance:.2%}".replace("%", " %")


def signed_percent(share: Fraction | float) -> str:
    return f"{100 * float(share):+.1f} %"


def confidence_text(confidence: Fraction) -> str:
    """95 %, or 99.9 %."""
    return f"{exact(100 * confidence)} %"
