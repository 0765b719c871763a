"""What explains a release to people and programs: README.txt, datapackage.json, privacy.json."""

from __future__ import annotations

import datetime
import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from pathlib import Path

from safetab.foundation.formats import FORMAT, OUTPUT_FORMAT
from safetab.foundation.version import VERSION
from safetab.planning.plan_json import exact, loss_as_json
from safetab.planning.run_plan import RunPlan
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_number
from safetab.privacy.output_status import OutputStatus, status_as_json
from safetab.products.product import Product, Selector
from safetab.release.checksums import CHECKSUMS, CHECKSUMS_FILE
from safetab.release.data_dictionary import resources_of
from safetab.release.numbers.number_columns import Column
from safetab.release.origin import Origin, origin_as_json
from safetab.release.readme_words import (
    README_WIDTH,
    SELECTED_SUMS,
    SELECTION,
    absence_in_words,
    indented,
    reading_in_words,
)
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import ReleaseLevel, Universe

DATAPACKAGE_FILE = "datapackage.json"
README_FILE = "README.txt"
PRIVACY_FILE = "privacy.json"

JsonObject = dict[str, object]

_ASK = "Don't put 0 in its place: ask for the reason (EXAMPLES)."
_NOISE = {
    True: "To protect the people who were counted, random noise was added to every number before it was written here."
    " So no number is exact, and every number tells how inexact it is.",
    False: "There is next to no noise: at some levels a number is more likely exact than not. It protects nobody.",
}
_PROTECTION = {
    True: "The numbers are differentially private: whatever anybody can conclude from them about one {noun}, they could"
    " conclude nearly as well had that {noun} not been counted. privacy.json states how nearly, exactly.",
    False: "They are not. The loss that privacy.json states is so large that it bounds nothing.",
}
_CSV_FILES = """
  csv/                the same tables as CSV files, a file for each level"""
_CSV = {
    True: "In the CSV files texts are in quotes, nothing means null, and the encoding is UTF-8. A spreadsheet drops"
    " the zeros at the beginning of region_id when it opens them by a double click; geo_id names the same area in the"
    " Census Bureau's form, e.g. 0500000US01001, and stays as it is. A text that a spreadsheet would take for a"
    " formula, because it begins with = + - or @, has an apostrophe in front.",
    False: "For a spreadsheet, write CSV files: EXAMPLES says how.",
}


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What is the same for all of a release."""

    version: str
    date: datetime.date
    status: OutputStatus
    options: ReleaseOptions
    origin: Origin | None = None  # the published files that the numbers were read from, if they were not made here


@dataclass(frozen=True, slots=True)
class ReadmeExamples:
    """Of one very release: what to type and what comes back, and a number with its margin, if it has any."""

    text: str
    number: tuple[int, int] | None = None


def write_datapackage(
    release: Path, universe: Universe, facts: ReleaseFacts, rows: Mapping[str, int], more: tuple[Column, ...] = ()
) -> None:
    """A Frictionless Data Package: the data dictionary, and what a program must know to read the release.

    `more` are columns of the numbers beyond the usual ones.
    """
    package: JsonObject = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "safetab-release",
        "title": "Differentially private counts of detailed race and ethnicity groups",
        "description": f"{facts.status.line} Every number carries noise and its margin of error. A group that is absent"
        " is not zero. README.txt explains it.",
        "version": facts.version,
        "created": f"{facts.date.isoformat()}T00:00:00Z",
        "safetab": facts_as_json(universe, facts),
        "resources": resources_of(universe.product, rows, more),
    }
    _write_json(release / DATAPACKAGE_FILE, package)


def facts_as_json(universe: Universe, facts: ReleaseFacts) -> JsonObject:
    return {
        "version": facts.version,
        FORMAT: OUTPUT_FORMAT,
        "date": facts.date.isoformat(),
        "product": universe.product.name,
        **status_as_json(facts.status),
        "privacy_definition": universe.definition.spelling,
        "states": {tabulation_pass.value: list(states) for tabulation_pass, states in universe.states.items()},
        "allow_negative_counts": universe.allow_negative_counts,
        CHECKSUMS: CHECKSUMS_FILE,
        **steps_as_json(facts.options),
        **origin_as_json(facts.origin),
    }


def steps_as_json(options: ReleaseOptions) -> JsonObject:
    """What was asked of the release beyond the measurements."""
    coterminous = options.coterminous
    return {
        "confidence": exact(options.confidence),
        "rules": [rule.value for rule in options.rules],
        "coterminous": None
        if coterminous is None
        else {"order": [kind.name.lower() for kind in coterminous.order], "copy_all": coterminous.copy_all},
        **({"csv": True} if options.csv else {}),
    }


def write_readme(release: Path, product: Product, facts: ReleaseFacts, examples: ReadmeExamples) -> None:
    text = resources.files("safetab.release").joinpath("readme_template.txt").read_text(encoding="utf-8")
    is_protected = facts.status is not OutputStatus.NO_PROTECTION
    rules = [_paragraph(f"- {rule.value}: {rule.explanation}.") for rule in facts.options.rules]
    selector = product.selector
    values = {
        "COUNTS": indented(f"For many geographic areas and race or ethnicity groups: {product.counts}."),
        "SELECTION": indented(SELECTION[selector]),
        "ABSENT": indented(f"{absence_in_words(product)} {_ASK}"),
        "SELECTED_SUMS": SELECTED_SUMS if selector is Selector.NOISY_STAGE_1 else "",
        "ADDING_UP": indented(product.adding_up),
        "NOUNS": product.record.nouns,
        "NOUN": product.record.noun,
        "CSV_FILES": _CSV_FILES if facts.options.csv else "",
        "CSV": indented(_CSV[facts.options.csv]),
        "EXAMPLES": examples.text.rstrip("\n"),
        "READING": indented(reading_in_words(facts.options.confidence, examples.number)),
        "DATE": facts.date.isoformat(),
        "VERSION": facts.version,
        "NOISE": indented(_NOISE[is_protected]),
        "PROTECTION": indented(_PROTECTION[is_protected].format(noun=product.record.noun)),
        "STATUS": textwrap.fill(facts.status.line, width=README_WIDTH),
        "COTERMINOUS": _paragraph(
            "applied: such areas have the same numbers, those of the donor that donor_geography_level and"
            " donor_region_id name."
            if facts.options.coterminous
            else "not applied: each area has numbers of its own, also where two areas have the same boundary."
        ),
        "RULES": "\n".join(rules) if rules else _paragraph("none."),
    }
    for key, value in values.items():
        text = text.replace(f"[{key}]", value)
    (release / README_FILE).write_text(text, encoding="utf-8")


def _paragraph(text: str) -> str:
    return textwrap.fill(text, width=README_WIDTH, initial_indent="    ", subsequent_indent="    ")


def write_privacy(release: Path, plan: RunPlan, universe: Universe, facts: ReleaseFacts) -> None:
    """For a registry of deployments: who is protected, how, and at what loss. A function of public numbers."""
    definition, noun = universe.definition, universe.product.record.noun
    document: JsonObject = {
        **_made_by(universe.product, facts),
        FORMAT: OUTPUT_FORMAT,
        "date": facts.date.isoformat(),
        **status_as_json(facts.status),
        "model": "central: a trusted curator holds the records and releases noisy counts once",
        "unit_of_privacy": f"one {noun}: a record of the {noun} file",
        "neighbours": {
            "unbounded": f"data sets that differ by one {noun}'s record, added or removed; the guarantee is for these",
            "bounded": f"data sets of one size that differ in one {noun}'s record; the loss is twice as large",
        },
        "privacy_definition": {
            "name": definition.full_name,
            "short_name": definition.spelling,
            "loss_parameter": definition.budget_symbol,
        },
        "mechanism": _mechanism(definition),
        "delta": "0 for the loss as stated"
        if definition is PrivacyDefinition.PURE_DP
        else "conversions of rho to (epsilon, delta) are listed by delta and rounded up",
        "loss": loss_as_json(plan),
        "composition": "budgets of the levels of a pass add up; the passes are over disjoint"
        f" {universe.product.record.nouns}, so a {noun}'s loss is that of the pass they are in, at most the larger",
        "levels": [_level(level, definition) for level in universe.levels],
        "post_processing": "sums, suppression, margins of error, coterminous copies and withholding rules use published"
        " noisy numbers and public lists alone, and cost nothing",
        "not_covered": "further releases about the same people add to the loss",
    }
    _write_json(release / PRIVACY_FILE, document)


def _made_by(product: Product, facts: ReleaseFacts) -> JsonObject:
    if facts.origin is not None:
        is_official = facts.status is OutputStatus.OFFICIAL
        software = {
            "program": product.name if is_official else "safetab",
            "read_by": f"safetab {VERSION}",
            "algorithm": product.source,
        }
        given_as = "files given as published by the Census Bureau" if is_official else "files that are not for release"
        return {"name": f"{product.name} tabulation, read from {given_as}", "software": software}
    software = {"program": "safetab", "version": VERSION, "algorithm": product.source}
    return {"name": f"{product.name} tabulation by safetab", "software": software}


def _mechanism(definition: PrivacyDefinition) -> JsonObject:
    if definition is PrivacyDefinition.ZCDP:
        return {"name": "discrete Gaussian", "parameter": "sigma_squared = stability / (2 budget)", "sampling": "exact"}
    return {
        "name": "two-sided geometric (discrete Laplace)",
        "parameter": "scale = stability / budget",
        "sampling": "exact",
    }


def _level(level: ReleaseLevel, definition: PrivacyDefinition) -> JsonObject:
    design = level.design
    return {
        "pass": level.geography.tabulation_pass.value,
        "geography_level": level.geography.label,
        "iteration_level": level.level.iterations.label,
        **({"family": level.family.name} if design.product.has_several_families else {}),
        f"budget_{definition.budget_symbol}": _loss(design.budget),
        "stability": design.stability if design.stages else None,
        "stages": {
            stage.name.lower(): {
                f"cost_{definition.budget_symbol}": _loss(one.budget),
                "mechanism": one.noise.mechanism,
                "sigma_squared" if definition is PrivacyDefinition.ZCDP else "scale": _number(one.noise.parameter),
            }
            for stage, one in design.stages.items()
        },
        "suppression_threshold": design.suppression_threshold,
    }


def _loss(loss: Fraction) -> JsonObject:
    """Exact as a fraction, and as a decimal that is no less."""
    return {"fraction": str(loss), "decimal": loss_number(loss)}


def _number(number: Fraction) -> JsonObject:
    """Exact as a fraction, and as the decimal nearest to it."""
    return {"fraction": str(number), "decimal": float(number)}


def _write_json(path: Path, document: JsonObject) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
