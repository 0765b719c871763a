"""An answer in both of its forms, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import typer
from rich.table import Table as TextTable

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.cli.text_tables import show_table, show_text, terminal_console
from safetab.config.run_config import RunConfig
from safetab.planning.plan_json import JsonObject, exact
from safetab.products.product import TableFamily
from safetab.tuning.concerns import ParameterConcern
from safetab.tuning.tuned_level import TunedLevel


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
        found = [_concern(one) for one in answer.concerns]
        typer.echo(json.dumps(answer.for_programs | {"concerns": found}, indent=2))
        return
    console = terminal_console()
    for sentence in answer.sentences:
        show_text(sentence, console)
    if answer.sentences and answer.tables:
        console.print()
    for heading, table in answer.tables:
        show_table(heading, table, console)
    for note in answer.notes:
        show_text(note, console)
    for concern in answer.concerns:
        about = "" if concern.level is None else f"{title(concern.level, concern.family)}: "
        show_text(f"Concern: {about}{concern.text}", console)


def _concern(one: ParameterConcern) -> JsonObject:
    level = None if one.level is None else name(one.level)
    return {"level": level, **({} if one.family is None else {"family": one.family.name}), "text": one.text}


def concerns_about(concerns: Iterable[ParameterConcern], tuned: TunedLevel) -> tuple[ParameterConcern, ...]:
    """Those of the level, of its table family, and those of all levels."""
    return tuple(
        concern
        for concern in concerns
        if concern.level in {None, tuned.facts.level} and concern.family in {None, tuned.family}
    )


def name(level: PopulationGroupLevel) -> str:
    return f"{level.geography.label} {level.iterations.label}"


def title(level: PopulationGroupLevel, family: TableFamily | None) -> str:
    """Such as COUNTY Detailed, and the family, if there are several."""
    return name(level) if family is None else f"{name(level)}, {family.name}"


def named_family(config: RunConfig, family: TableFamily) -> TableFamily | None:
    """The family, if it has to be told from others of the product."""
    return family if config.product.has_several_families else None


def title_of(tuned: TunedLevel) -> str:
    return title(tuned.facts.level, named_family(tuned.config, tuned.family))


def keys_of(tuned: TunedLevel) -> JsonObject:
    """What programs tell it by."""
    family = named_family(tuned.config, tuned.family)
    return {"level": name(tuned.facts.level), **({} if family is None else {"family": family.name})}


def unit_of(config: RunConfig) -> str:
    """What numbers count, after a number: persons, households."""
    return f"{config.product.record.noun}s"


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
