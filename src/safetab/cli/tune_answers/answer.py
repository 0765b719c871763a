"""An answer for people and programs, how it is shown, and the words that answers share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from rich.table import Table as TextTable

from safetab.cli import json_document
from safetab.cli.text_tables import show_table, show_text, terminal_console
from safetab.core.guarantees.plan_json import JsonObject, exact
from safetab.foundation.findings import InvalidInput
from safetab.foundation.new_files import write_new_files
from safetab.inputs.tuning.concerns import ParameterConcern, concerns
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census_value import privacy_of
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import TableFamily
from safetab.model.specification.writing import privacy_text


@dataclass(frozen=True, slots=True)
class Answer:
    """JSON for programs; sentences, tables with titles, notes and concerns for people."""

    for_programs: JsonObject
    sentences: tuple[str, ...] = ()
    tables: tuple[tuple[str, TextTable], ...] = ()
    notes: tuple[str, ...] = ()
    concerns: tuple[ParameterConcern, ...] = ()
    config: RunConfig | None = None  # with the budgets that were found


def show(answer: Answer) -> None:
    """Print an answer on standard output, as JSON or for people."""
    if json_document.is_for_programs():
        concerns = [
            _keys(concern.level, concern.family) | {"text": concern.text}
            for concern in answer.concerns
        ]
        json_document.answer(answer.for_programs | {"concerns": concerns})
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
        about = "" if concern.level is None else f"{_title(concern.level, concern.family)}: "
        show_text(f"Concern: {about}{concern.text}", console)


def write_privacy(answer: Answer, file: Path) -> None:
    """Write the choices of a specification with the budgets that were found.

    Raises InvalidInput if it can't be.
    """
    if answer.config is None or answer.config.specification is None:
        raise InvalidInput.about(
            "the command", "needs --parameters with a specification.", "--privacy"
        )
    text = privacy_text(privacy_of(answer.config))
    write_new_files({file: lambda new: new.write_text(text, encoding="utf-8")})


def _keys(level: PopulationGroupLevel | None, family: TableFamily | None) -> JsonObject:
    named = {} if family is None else {"family": family.name}
    return {"level": None if level is None else name(level), **named}


def concerns_about(tuning: Tuning, *levels: TunedLevel) -> tuple[ParameterConcern, ...]:
    """The concerns about these levels and their table families.

    Then those about the whole configuration.
    """
    about = {(named_family(tuned.config, tuned.family), tuned.facts.level) for tuned in levels}
    return tuple(
        each
        for each in concerns(tuning)
        if each.level is None or (each.family, each.level) in about
    )


def name(level: PopulationGroupLevel) -> str:
    """Such as COUNTY Detailed, or sa2, level 3."""
    label, group = level.geography.label, level.iterations.name
    return f"{label}, {group}" if " " in label + group else f"{label} {group}"


def _title(level: PopulationGroupLevel, family: TableFamily | None) -> str:
    return name(level) if family is None else f"{name(level)}, {family.name}"


def named_family(config: RunConfig, family: TableFamily) -> TableFamily | None:
    """The family, or None if the product has no other."""
    return family if config.product.has_several_families else None


def title_of(tuned: TunedLevel) -> str:
    """The level's name, with its table family if the product has several."""
    return _title(tuned.facts.level, named_family(tuned.config, tuned.family))


def keys_of(tuned: TunedLevel) -> JsonObject:
    """The keys that identify the level in JSON."""
    return _keys(tuned.facts.level, named_family(tuned.config, tuned.family))


def unit_of(config: RunConfig) -> str:
    """The word after a number: persons or households."""
    return config.product.record.counted


def percent(share: Fraction | float) -> str:
    """A share in percent with three digits, such as 12.5 %."""
    return f"{100 * float(share):.3g} %"


def chance_text(chance: float) -> str:
    """A chance in hundredths of a percent; never 0 % or 100 %, which would claim certainty."""
    if chance < 0.0001:
        return "< 0.01 %"
    return "> 99.99 %" if chance > 0.9999 else f"{chance:.2%}".replace("%", " %")


def signed_percent(share: Fraction | float) -> str:
    """A change in percent, such as +3.5 %."""
    return f"{100 * float(share):+.1f} %"


def confidence_text(confidence: Fraction) -> str:
    """A confidence such as 95 % or 99.9 %."""
    return f"{exact(100 * confidence)} %"
