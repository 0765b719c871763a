"""The explorer from public files: the work of `safetab explore`.

The facts that its page needs are here too. The page is one HTML file that needs no installation, no
server and no network. Its simulation draws group sizes of a made-up census.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from safetab.apps.explorer.census_facts import (
    JsonObject,
    census_facts,
    counts_in_words,
    fixed_choices,
    sentence_words,
    threshold_unit,
)
from safetab.apps.explorer.workbook.inputs import WITH_FORMULAS
from safetab.apps.explorer.workbook.workbook import write_workbook
from safetab.core.guarantees.losses import PEOPLE_SHOWN, reported_references
from safetab.core.privacy.reference import FAR_ABOVE, loss_text
from safetab.foundation.files import read_text, whole_path
from safetab.foundation.findings import VERSION, Finding, InvalidInput, Severity
from safetab.foundation.new_files import Write, new_file_findings, write_new_files
from safetab.foundation.templates import page_script, template
from safetab.inputs.tuning.concerns import NO_PROTECTION
from safetab.inputs.tuning.tuned_level import Facts, LevelSizes, TunedLevel
from safetab.inputs.tuning.tuning import (
    PRODUCTION,
    Tuning,
    config_path,
    presets,
    production_of_2020,
    text_of_keys,
    tuning_of,
)
from safetab.model.census.census import PopulationGroupLevel, Words, capitalized
from safetab.model.config.run_config import RunConfig, budget_key, measured_levels, threshold_key
from safetab.model.known_census import facts_of_2020
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import PRODUCTS, as_shipped
from safetab.model.products.product import LineKind, Product, Selector, TableFamily
from safetab.model.specification.reading import is_specification
from safetab.model.specification.writing import privacy_text

_Pair = tuple[int, int]  # a size in people, and how many groups have it


def page_facts(
    facts: Facts, source: str, loaded_config: str | None, loaded_product: Product = PRODUCTS[0]
) -> JsonObject:
    """All facts of the page.

    `source` says where the numbers of groups come from. `loaded_config` is the text of a valid
    config.json of `loaded_product`, or None to start from the presets alone.
    """
    loaded = (
        {} if loaded_config is None else {loaded_product.name: {"loaded config": loaded_config}}
    )
    return {
        "version": VERSION,
        "source": source,
        "first_product": PRODUCTS.index(loaded_product),
        "people_shown": PEOPLE_SHOWN,
        "sizes": group_sizes(facts),
        "production": PRODUCTION,
        "sentences": sentence_words(production_of_2020().census),
        "products": [
            _product(
                production_of_2020(product),
                facts,
                {**loaded.get(product.name, {}), **presets(product)},
            )
            for product in PRODUCTS
        ],
    }


def specified_page_facts(tuning: Tuning) -> JsonObject:
    """All facts of the page of a specification.

    They have its own choices and lists, and no sizes of groups.
    """
    config = tuning.config
    spec = config.specification
    assert spec is not None
    as_they_lie = {"the specification": privacy_text(spec.privacy)}
    return {
        "version": VERSION,
        "source": (
            f"Numbers of areas and {config.census.words.groups} are from the files of the"
            " specification."
        ),
        "first_product": 0,
        "people_shown": [],
        "sizes": None,
        "production": None,
        "sentences": sentence_words(config.census),
        "products": [
            _product(config, tuning.facts, as_they_lie) | {"specified": fixed_choices(spec)}
        ],
    }


def level_key(level: PopulationGroupLevel, family: TableFamily | None = None) -> str:
    """The page's key of a level, such as "COUNTY,2".

    It has a third part, the family, if a product has several.
    """
    key = f"{level.geography.label},{level.iterations.number}"
    return key if family is None else f"{key},{family.name}"


def _product(config: RunConfig, facts: Facts, configs: Mapping[str, str]) -> JsonObject:
    """The facts of one product with these presets."""
    product, record = config.product, config.product.record
    levels, shipped = measured_levels(product, tuple(facts)), as_shipped(product)
    return {
        **census_facts(config),
        "name": product.name,
        "title": _title(config),
        "counts": product.counts,
        "record": record.noun,
        "protected": record.protected,
        "records": record.counted,
        "records_in_words": record.nouns,
        "holds_people": record.holds_people,
        "threshold_unit": threshold_unit(config),
        "has_stage_1": product.has_stage_1,
        "selects": product.selector is not Selector.NONE
        and any(family.finer for family in product.families),
        "suppresses": product.has_stage_1 and any(kind.suppresses for kind in config.census.kinds),
        "stage_1_key": shipped.stage_1_key,
        "suppression_key": shipped.suppression_key,
        "families": [_family(product, family) for family in product.families],
        "levels": [_level(TunedLevel(facts[level], config, family)) for family, level in levels],
        "reference": _reference(product),
        "reference_in_short": PRODUCTION.split()[0]
        if shipped.production
        else getattr(product.reference, "name", None),
        "most_that_protects": {
            one.spelling: loss_text(one.unit.most_that_protects) for one in PrivacyDefinition
        },
        "no_protection": NO_PROTECTION,
        "presets": [{"name": name, "config": text} for name, text in configs.items()],
    }


def _title(config: RunConfig) -> str:
    """Whose census it is, and which tables."""
    if config.specification is not None:
        return config.specification.about.title
    assert config.product.reference is not None
    return f"2020 U.S. Census, {config.product.reference.name.removeprefix('2020 ')}"


def _family(product: Product, family: TableFamily) -> JsonObject:
    """A table family's name, and its tables from coarse to fine."""
    keys = as_shipped(product).family_keys.get(family.name)
    shapes = (
        family.shapes
        if product.selector is not Selector.NONE
        else (family.total, *family.finer[-1:])
    )
    return {
        "name": family.name,
        "detail": family.detail,
        "divided_into": family.divided_into,
        "thresholds_key": None if keys is None else keys.thresholds,
        "shapes": [
            {
                "key": shape.label,
                "name": shape.words if shape.divisions else "total only",
                "divisions": shape.divisions,
                "cells": shape.cells,
                "kinds": [_kind(kind) for kind in shape.kinds],
            }
            for shape in shapes
        ],
    }


def _kind(kind: LineKind) -> JsonObject:
    """A kind of number, for which `draws` noisy cells are added up.

    A group has `parts` such numbers.
    """
    words = kind.short if kind.parts == 1 else f"one {kind.short}"
    return {"name": kind.name, "words": words, "draws": kind.draws, "parts": kind.parts}


def _reference(product: Product) -> JsonObject | None:
    """The losses of the release to compare with, if there is one.

    They are texts that are exact or rounded up.
    """
    reference = product.reference
    if reference is None:
        return None
    loss, level = reported_references(product)[reference.name], reference.costliest_level
    return {
        "name": reference.name,
        "unbounded": loss_text(loss.unbounded),
        "bounded": loss_text(loss.bounded),
        "unbounded_epsilon": loss_text(loss.unbounded_epsilon),
        "bounded_epsilon": loss_text(loss.bounded_epsilon),
        "costliest_level": None if level is None else loss_text(level),
        "far_above": FAR_ABOVE,
    }


def _level(tuned: TunedLevel) -> JsonObject:
    """The facts of a level that hold under any configuration of its product."""
    sizes, level, product, family = (
        tuned.facts,
        tuned.facts.level,
        tuned.config.product,
        tuned.family,
    )
    thresholds = (
        () if product.selector is Selector.NONE else tuned.of_family.thresholds[level].totals
    )
    return {
        "key": level_key(level, family if product.has_several_families else None),
        "family": product.families.index(family),
        "pass": level.geography.tabulation_pass.name,
        "geography": level.geography.label,
        "title": level.geography.title,
        "counts": counts_in_words(level, tuned.config, family, sizes.entities),
        "kind_title": level.geography.kind.title,
        "iterations": level.iterations.name,
        "iteration_level": level.iterations.number,
        "suppresses": level.geography.kind.suppresses,
        "is_whole": level.geography.kind.is_whole,
        "entities": sizes.entities,
        "adaptive_iterations": tuned.iterations.adaptive,
        "total_only_iterations": tuned.iterations.total_only,
        "stability": list(sizes.lists.stability_by_codes),
        "most_records": product.record.most_records,
        "usual_thresholds": list(thresholds),
        "budget_key": budget_key(product, family, level),
        "threshold_key": threshold_key(level),
    }


def group_sizes(facts: Facts) -> JsonObject:
    """The sizes of groups that are not empty, by level.

    They are scaled to the possible groups of the level.
    """
    counted = facts_of_2020.group_sizes()
    levels = {level_key(level): sizes for level, sizes in facts.items()}
    return {
        "people": counted["people"],
        "levels": {
            key: _sizes_of_level(counted["levels"][key], sizes) for key, sizes in levels.items()
        },
    }


def _sizes_of_level(counted: Mapping[str, Mapping[str, Any]], sizes: LevelSizes) -> JsonObject:
    """Sizes of groups with tables and of total-only groups.

    A level whose counted census has no total-only groups takes the sizes of the others.
    """
    iterations = sizes.lists.iterations
    adaptive, total_only = counted["adaptive"], counted["total_only"]
    if not total_only["possible"]:
        total_only = adaptive
    kinds = {
        "adaptive": (adaptive, iterations.adaptive),
        "total_only": (total_only, iterations.total_only),
    }
    found: JsonObject = {}
    for kind, (known, number) in kinds.items():
        possible = sizes.entities * number
        scaled = list(_scaled(known["sizes"], known["possible"], possible))
        found[kind] = {"possible": possible, "sizes": scaled}
    return found


def _scaled(sizes: Iterable[_Pair], known: int, possible: int) -> Iterable[_Pair]:
    """A distribution of sizes, scaled to another number of groups.

    Sums from the largest size down are rounded.
    """
    if not possible:
        return
    largest_first = sorted(sizes, reverse=True)
    sums = accumulate((groups for _, groups in largest_first), initial=0)
    rounded = [(2 * total * possible + known) // (2 * known) for total in sums]
    for (size, _), (before, after) in zip(largest_first, pairwise(rounded), strict=True):
        if after > before:
            yield (size, after - before)


_SCRIPT_FOLDERS = (
    "arithmetic",
    "elements",
    "session",
    "settings",
    "charts",
    "results",
    "questions",
    "opening",
)


@dataclass(frozen=True, slots=True)
class ExplorerRequest:
    """The files to write, and the files to start from."""

    page: Path
    config: Path | None = None
    parameters: Path | None = None
    geography: Path | None = None
    workbook: Path | None = None
    overwrite: bool = False


def write_explorer(request: ExplorerRequest) -> tuple[Finding, ...]:
    """Write the page and, if requested, the workbook: both or neither.

    Returns warnings about the files that were read. Raises InvalidInput with all findings if a file
    is at fault or can't be written.
    """
    targets = [request.page] if request.workbook is None else [request.page, request.workbook]
    refused = [
        finding
        for file in targets
        for finding in new_file_findings(file, overwrite=request.overwrite)
    ]
    if len({whole_path(file) for file in targets}) < len(targets):
        refused.append(
            Finding(
                Severity.ERROR, "the command", "--xlsx", "is the page itself. Choose another name."
            )
        )
    checked = tuning_of(request.config, request.parameters, request.geography)
    if refused:
        raise InvalidInput([*refused, *checked.errors])
    tuning = checked.require()
    loaded = _loaded_config(request, tuning.config)
    if tuning.config.specification is None:
        facts = page_facts(
            tuning.facts,
            _source(request, tuning.config.census.words),
            loaded,
            tuning.config.product,
        )
    else:
        facts = specified_page_facts(tuning)
    page = explorer_page(facts)
    writers: dict[Path, Write] = {
        request.page: lambda file: file.write_text(page, encoding="utf-8")
    }
    if request.workbook is not None:
        _refuse_workbook_of_others(tuning.config)
        writers[request.workbook] = lambda file: write_workbook(tuning, file, loaded)
    write_new_files(writers, overwrite=request.overwrite)
    return checked.warnings


def _loaded_config(request: ExplorerRequest, config: RunConfig) -> str | None:
    """The text of the config.json to start from, if there is one.

    That of a specification of the Bureau's is made.
    """
    path = config_path(request.config, request.parameters)
    if path is None or config.specification is not None:
        return None
    if request.parameters is None or not is_specification(request.parameters):
        return read_text(path)
    passes = {key: one in config.passes for one, key in config.spelling.passes.items()}
    return text_of_keys(config.spelling.as_keys(config) | passes)


def _refuse_workbook_of_others(config: RunConfig) -> None:
    """Raises InvalidInput unless the workbook's formulas fit the product.

    They need two stages and one table family.
    """
    product = config.product
    has_other_stages = (
        product.has_several_families or product.selector is not Selector.NOISY_STAGE_1
    )
    has_formulas = config.privacy_definition in WITH_FORMULAS
    if config.specification is not None or has_other_stages or not has_formulas:
        message = "works only for SafeTab-P. Leave it out to write the page."
        raise InvalidInput.about("the command", message, "--xlsx")


def _source(request: ExplorerRequest, words: Words) -> str:
    """The source of the numbers of groups, for readers of the page."""
    entities = words.source if request.geography is None else "the given geography file"
    iterations = words.source if request.parameters is None else "the given lists"
    if entities == iterations:
        facts = f"Geographic entities, {words.groups}, and the number of groups per person"
        return f"{facts} are from {entities}."
    groups = f"{capitalized(words.groups)}, and the number of groups per person,"
    return f"Geographic entities are from {entities}. {groups} are from {iterations}."


def explorer_page(facts: JsonObject) -> str:
    """The whole page, with its styles, scripts and facts."""
    page = template("explorer/explorer.html")
    words = facts["sentences"]
    assert isinstance(words, dict)
    for placeholder, word in words.items():
        page = page.replace(f"{{{{{placeholder}}}}}", escape(word))
    parts = {
        "{{style}}": template("explorer/explorer.css"),
        "{{script}}": script(),
        "{{facts}}": json_in_a_page(facts),
    }
    for placeholder, part in parts.items():
        before, found, after = page.partition(placeholder)
        assert found, placeholder
        page = before + part + after
    return page


def script() -> str:
    """The scripts of the page as one.

    The arithmetic comes first, then the folders that show its results.
    """
    return page_script("explorer", _SCRIPT_FOLDERS)


def json_in_a_page(value: object) -> str:
    """JSON that can't end the script element around it, whatever texts it contains."""
    text = json.dumps(value, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
