"""The documents of a release: README.txt, datapackage.json and privacy.json."""

from __future__ import annotations

import datetime
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.guarantee import protected_sentence
from safetab.core.guarantees.plan_json import JsonObject, exact, loss_as_json
from safetab.core.privacy.calibration import NOISES
from safetab.core.privacy.output_status import OutputStatus, status_as_json
from safetab.core.privacy.reference import loss_number
from safetab.foundation.findings import FORMAT, OUTPUT_FORMAT, VERSION
from safetab.foundation.templates import template, template_texts
from safetab.model.census.census import Census, a_or_an
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product, Selector
from safetab.model.specification.reading import Publication, publication_as_json
from safetab.release.files.checksums import CHECKSUMS, CHECKSUMS_FILE
from safetab.release.files.citation import (
    about_lines,
    as_data_package,
    citation_with_address,
    title_of,
)
from safetab.release.files.data_dictionary import CSV_FORMAT, about_csv, resources_of
from safetab.release.files.numbers.number_files import LEAST_MARGIN_COLUMN, Column
from safetab.release.files.release_options import ReleaseOptions
from safetab.release.files.release_universe import ReleaseLevel, Universe
from safetab.release.outputs.manifest import write_json

_README_WIDTH = 80
_TEXTS: Mapping[str, Mapping[str, str]] = template_texts("release/texts.toml")
README_TEXTS = _TEXTS["readme"]


def selection_in_words(universe: Universe) -> str:
    """The bias that selection gives to the numbers that are shown, if any, in sentences."""
    census, selector = universe.census, universe.product.selector
    is_left_out = selector is not Selector.NOISY_STAGE_1 or census.suppresses
    return _TEXTS["selection"][(selector if is_left_out else Selector.NONE).value].format(
        below=census.words.below
    )


def absence_in_words(product: Product) -> str:
    """Why a number may be absent, in a sentence."""
    nouns = product.record.nouns
    perhaps = (
        f"perhaps no {nouns}, perhaps some"
        if product.record.fields
        else "perhaps nobody, perhaps some people"
    )
    return _TEXTS["absent"][product.selector.value].format(nouns=nouns, perhaps=perhaps)


def reading_in_words(confidence: Fraction, number: tuple[int, int] | None) -> str:
    """Sentences on reading a count and its margin of error, with an example if there is one."""
    if number is None:
        return "A true number is likely to be at most margin_of_error away from count."
    count, margin = number
    return (
        f"count = {count:,} and margin_of_error = {margin:,} says:"
        f" noise moved the true number by at most {margin:,},"
        f" in {float(100 * confidence):.10g} of 100 cases."
        f" A true number between {count - margin:,} and {count + margin:,} is likely."
        ' A count can be negative: read it as "few".'
    )


def indented(text: str, indent: str = "  ") -> str:
    """The text, wrapped and indented as in a README."""
    return textwrap.fill(text, width=_README_WIDTH, initial_indent=indent, subsequent_indent=indent)


def write_from_template(
    path: Path, name: str, universe: Universe, facts: ReleaseFacts, values: Mapping[str, str]
) -> None:
    """Write the template of this name, with each [KEY] replaced by its value.

    The values that every README of a product's release has are added.
    """
    product, words = universe.product, universe.census.words
    publication = facts.publication
    title = title_of(publication, universe.census, product.record)
    cited = (
        ""
        if publication is None
        else citation_with_address(publication, title, facts.status, facts.date)
    )
    shared = {
        "TITLE": words.title.upper(),
        "COUNTS": indented(f"For many geographic areas and {words.some_groups}: {product.counts}."),
        "SELECTION": indented(selection_in_words(universe)),
        "SELECTED_SUMS": README_TEXTS["selected_sums"]
        if product.selector is Selector.NOISY_STAGE_1
        else "",
        "ADDING_UP": indented(product.adding_up),
        "STATUS": textwrap.fill(facts.status.line, width=_README_WIDTH),
        "DATE": facts.date.isoformat(),
        "VERSION": facts.version,
        "CITATION": f"{indented(cited)}\n" if cited else "",
        "ABOUT": _wrapped(about_lines(publication)),
    }
    by_key = {f"[{key}]": value for key, value in {**values, **shared}.items()}
    filled = re.sub(r"\[[A-Z_]+\]", lambda key: by_key[key[0]], template(f"release/{name}"))
    path.write_text(filled, encoding="utf-8")


DATAPACKAGE_FILE = "datapackage.json"
README_FILE = "README.txt"
PRIVACY_FILE = "privacy.json"
ABOUT = "about"

PARTS = {True: "states", False: "parts"}
"""The key of the ids of parts of each pass, by whether no specification describes the census."""

_ASK = "Don't put 0 in its place: ask for the reason (EXAMPLES)."
_NOISE = {
    True: "To protect {whom}, random noise was added to every number before it was written here."
    " So no number is exact: its margin of error says how far off it may be.",
    False: "There is next to no noise: at some levels a number is more likely exact than not."
    " It protects nobody.",
}
_PROTECTION = {
    True: "The numbers are differentially private: whatever anybody can conclude from them about"
    " one {noun}, they could conclude nearly as well had that {noun} not been counted."
    " privacy.json says how nearly, exactly.",
    False: "They are not. The loss that privacy.json gives is so large that it bounds nothing.",
}
_OVERLAPS = (
    "{groups} overlap: {noun} can be in several of them,"
    " so their sum counts some {nouns} more than once."
)
_NAMES = """
  In the files, region_id is the id of an area of any level, and iteration_code
  the code of a group."""
_APART = "Numbers of different levels are measured apart and don't add up exactly:"
_CSV_FILES = """
  csv/                the same tables as CSV files, a file for each level"""
_NO_CSV = "For a spreadsheet, write CSV files: EXAMPLES says how."


@dataclass(frozen=True, slots=True)
class Origin:
    """The published files that a release was read from, if its numbers were not made here.

    `is_complete` says that they hold every row of their tables, as their provider states.
    """

    is_complete: bool


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """The facts that hold for a whole release."""

    version: str
    date: datetime.date
    status: OutputStatus
    options: ReleaseOptions
    origin: Origin | None = None
    publication: Publication | None = None  # None: nobody says whose numbers these are

    @property
    def more_columns(self) -> tuple[Column, ...]:
        """The columns of the numbers beyond the usual ones."""
        return () if self.origin is None else (LEAST_MARGIN_COLUMN,)


@dataclass(frozen=True, slots=True)
class ReadmeExamples:
    """Examples from this release: what to type with its output, and a number with its margin."""

    text: str
    number: tuple[int, int] | None = None


def write_datapackage(
    release: Path, universe: Universe, facts: ReleaseFacts, rows: Mapping[str, int]
) -> None:
    """Write datapackage.json, a Frictionless Data Package.

    It has the data dictionary and everything that a program must know to read the release.
    """
    package = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "safetab-release",
        **package_about(universe.census, facts),
        "safetab": facts_as_json(universe, facts),
        "resources": resources_of(universe, rows, facts.more_columns),
    }
    write_json(release / DATAPACKAGE_FILE, package)


def package_about(census: Census, facts: ReleaseFacts) -> JsonObject:
    """The words of a data package on itself and on its publisher."""
    about = facts.publication
    title = census.words.title
    return {
        "title": f"Differentially private counts of {title[:1].lower()}{title[1:]}"
        if about is None
        else about.title,
        "description": f"{facts.status.line} Every number carries noise and its margin of error."
        " A group that is absent is not zero. README.txt explains it.",
        "version": facts.version,
        "created": f"{facts.date.isoformat()}T00:00:00Z",
        **({} if about is None else as_data_package(about)),
    }


def facts_as_json(universe: Universe, facts: ReleaseFacts) -> JsonObject:
    """The facts of a release as JSON values."""
    return {
        "version": facts.version,
        FORMAT: OUTPUT_FORMAT,
        "date": facts.date.isoformat(),
        "product": universe.product.name,
        **status_as_json(facts.status),
        "privacy_definition": universe.definition.spelling,
        PARTS[universe.specification is None]: {
            each.name: list(ids) for each, ids in universe.states.items()
        },
        "allow_negative_counts": universe.allow_negative_counts,
        CHECKSUMS: CHECKSUMS_FILE,
        **steps_as_json(facts.options, universe.census),
        **({"csv_format": CSV_FORMAT} if facts.options.csv else {}),
        **({} if facts.origin is None else {"origin": {"complete": facts.origin.is_complete}}),
        **_about_as_json(universe, facts),
    }


def _about_as_json(universe: Universe, facts: ReleaseFacts) -> JsonObject:
    """Whose numbers these are, unless the specification in the release says it."""
    if facts.publication is None or universe.specification is not None:
        return {}
    return {ABOUT: publication_as_json(facts.publication)}


def steps_as_json(options: ReleaseOptions, census: Census) -> JsonObject:
    """The steps that were asked for after measuring, as JSON values."""
    coterminous = options.coterminous
    return {
        "confidence": exact(options.confidence),
        "rules": [rule.value for rule in options.rules],
        "coterminous": None
        if coterminous is None
        else {
            "order": [kind.name for kind in coterminous.donors(census)],
            "copy_all": coterminous.copy_all,
        },
        **({"csv": True} if options.csv else {}),
    }


def write_readme(
    release: Path, universe: Universe, facts: ReleaseFacts, examples: ReadmeExamples
) -> None:
    """Write README.txt."""
    product, words = universe.product, universe.census.words
    is_protected = facts.status is not OutputStatus.NO_PROTECTION
    rules = [f"- {rule.value}: {rule.explained(words)}." for rule in facts.options.rules] or [
        "none."
    ]
    coterminous = (
        "applied: such areas have the same numbers,"
        " those of the donor that donor_geography_level and donor_region_id name."
        if facts.options.coterminous
        else "not applied: each area has numbers of its own,"
        " also where two areas have the same boundary."
    )
    specification = universe.specification
    whose, headline = "", f"counts of {words.title}"
    if facts.publication is not None:
        headline = facts.publication.title
    whom, missed = (
        "the people who were counted",
        "people who were missed or counted twice in the census",
    )
    if specification is not None:
        whose = f" {protected_sentence(product)}"
        whom, missed = "privacy", "what the census missed or counted twice"
    overlaps = _OVERLAPS.format(
        groups=words.overlapping, noun=a_or_an(product.record.noun), nouns=product.record.nouns
    )
    values = {
        "HEADLINE": headline.upper(),
        "OVERLAPS": f"\n{indented(overlaps)}" if words.overlapping else "",
        "NAMES": "" if specification is None else _NAMES,
        "MISSED": indented(f"The margin is about noise alone. It says nothing about {missed}."),
        "NESTING": indented(f"{_APART} {words.nesting}"),
        "ABSENT": indented(f"{absence_in_words(product)} {_ASK}"),
        "CSV_FILES": _CSV_FILES if facts.options.csv else "",
        "CSV": indented(about_csv(universe.census) if facts.options.csv else _NO_CSV),
        "EXAMPLES": examples.text.rstrip("\n"),
        "READING": indented(reading_in_words(facts.options.confidence, examples.number)),
        "NOISE": indented(_NOISE[is_protected].format(whom=whom)),
        "PROTECTION": indented(
            f"{_PROTECTION[is_protected].format(noun=product.record.protected)}{whose}"
        ),
        "COTERMINOUS": indented(coterminous, "    "),
        "RULES": "\n".join(indented(rule, "    ") for rule in rules),
    }
    write_from_template(release / README_FILE, "readme.txt", universe, facts, values)


def _wrapped(lines: Sequence[str]) -> str:
    """The lines as the text below a headline."""
    wrapped = [
        textwrap.fill(line, _README_WIDTH, subsequent_indent="  ", break_long_words=False)
        for line in lines
    ]
    return "".join(f"\n{line}" for line in wrapped)


def write_privacy(release: Path, plan: RunPlan, universe: Universe, facts: ReleaseFacts) -> None:
    """Write privacy.json for a registry of deployments."""
    write_json(release / PRIVACY_FILE, privacy_as_json(universe, facts, loss_as_json(plan)))


def privacy_as_json(universe: Universe, facts: ReleaseFacts, loss: JsonObject) -> JsonObject:
    """Who is protected, how, and at what loss: a function of public numbers."""
    definition = universe.definition
    noise = NOISES[definition.mechanism]
    formula = noise.formula(universe.product.record.most_records)
    name = f"{noise.words} ({noise.other_words})" if noise.other_words else noise.words
    delta = "conversions of rho to (epsilon, delta) are listed by delta and rounded up"
    return {
        **_made_by(universe, facts),
        FORMAT: OUTPUT_FORMAT,
        "date": facts.date.isoformat(),
        **status_as_json(facts.status),
        "model": "central: a trusted curator holds the records and releases noisy counts once",
        **_unit_of_privacy(universe.product),
        "privacy_definition": {
            "name": definition.full_name,
            "short_name": definition.spelling,
            "loss_parameter": definition.budget_symbol,
        },
        "mechanism": {"name": name, "parameter": formula, "sampling": "exact"},
        "delta": "0 for the loss as stated" if definition.is_pure else delta,
        "loss": loss,
        "composition": _composition(universe),
        "levels": [_level_as_json(level, definition) for level in universe.levels],
        "post_processing": "sums, suppression, margins of error, coterminous copies and withholding"
        " rules use published noisy numbers and public lists alone, and cost nothing",
        "not_covered": "further releases about the same people add to the loss",
    }


def _composition(universe: Universe) -> str:
    """The composition of the levels' budgets into the loss, in words."""
    if len(universe.census.passes) == 1:
        return "budgets of the levels add up"
    nouns, noun = universe.product.record.nouns, universe.product.record.protected
    apart = (
        f"the passes are over disjoint {nouns},"
        f" so one {noun}'s loss is at most that of the costliest pass"
    )
    return f"budgets of the levels of a pass add up; {apart} they are in"


def _unit_of_privacy(product: Product) -> JsonObject:
    """The unit that is protected, and the difference between neighbours."""
    noun, unit = product.record.noun, product.record.unit
    if unit is None:
        whole, own, size = (
            f"one {noun}: a record of the {noun} file",
            f"one {noun}'s record",
            " of one size",
        )
    else:
        whole, own, size = protected_sentence(product), f"all records of one {unit.name}", ""
    return {
        "unit_of_privacy": whole,
        "neighbours": {
            "unbounded": f"data sets that differ by {own}, added or removed;"
            " the guarantee is for these",
            "bounded": f"data sets{size} that differ in {own}; the loss is twice as large",
        },
    }


def _made_by(universe: Universe, facts: ReleaseFacts) -> JsonObject:
    product = universe.product
    name, software = "tabulation by safetab", {"program": "safetab", "version": VERSION}
    if facts.origin is not None:
        is_official = facts.status is OutputStatus.OFFICIAL
        published = f"given as published by {universe.census.words.agency}"
        given_as = published if is_official else "that are not for release"
        name = f"tabulation, read from files {given_as}"
        software = {
            "program": product.name if is_official else "safetab",
            "read_by": f"safetab {VERSION}",
        }
    return {"name": f"{product.name} {name}", "software": software | {"algorithm": product.source}}


def _level_as_json(level: ReleaseLevel, definition: PrivacyDefinition) -> JsonObject:
    """The entry of one level in privacy.json."""
    design = level.design
    return {
        "pass": level.geography.tabulation_pass.name,
        "geography_level": level.geography.label,
        "iteration_level": level.level.iterations.name,
        **({"family": level.family.name} if design.product.has_several_families else {}),
        f"budget_{definition.budget_symbol}": _exact_and_decimal(
            design.budget, loss_number(design.budget)
        ),
        "stability": design.stability if design.stages else None,
        "stages": {
            stage.name.lower(): {
                f"cost_{definition.budget_symbol}": _exact_and_decimal(
                    measured.budget, loss_number(measured.budget)
                ),
                "mechanism": measured.noise.mechanism,
                measured.noise.parameter_name: _exact_and_decimal(
                    measured.noise.parameter, float(measured.noise.parameter)
                ),
            }
            for stage, measured in design.stages.items()
        },
        "suppression_threshold": design.suppression_threshold,
    }


def _exact_and_decimal(number: Fraction, decimal: float) -> JsonObject:
    """A number as an exact fraction and as a decimal.

    The decimal is the nearest one, or for a loss one not smaller.
    """
    return {"fraction": str(number), "decimal": decimal}
