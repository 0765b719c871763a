"""What the page knows when it is written: products, their levels and tables, and configurations to start from."""

from __future__ import annotations

from collections.abc import Mapping

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.config.config_file import budget_key, measured_levels, threshold_key
from safetab.explorer.group_sizes import group_sizes
from safetab.foundation.version import VERSION
from safetab.planning.joint_loss import PEOPLE_SHOWN
from safetab.planning.losses import reference_loss
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import FAR_ABOVE
from safetab.products.all_products import PRODUCTS
from safetab.products.product import LineKind, Product, Selector, Shape, TableFamily
from safetab.tuning.concerns import NO_PROTECTION
from safetab.tuning.level_sizes import Facts
from safetab.tuning.presets import PRODUCTION, presets, production_of_2020
from safetab.tuning.tuned_level import TunedLevel

JsonObject = dict[str, object]


def level_key(level: PopulationGroupLevel, family: TableFamily | None = None) -> str:
    """How the page calls a level: "COUNTY,2", and "COUNTY,2,tables" where a product has several families of tables."""
    key = f"{level.geography.label},{int(level.iterations)}"
    return key if family is None else f"{key},{family.name}"


def page_facts(
    facts: Facts, source: str, loaded_config: str | None, loaded_product: Product = PRODUCTS[0]
) -> JsonObject:
    """`source` says where the numbers of groups are from; `loaded_config` is the text of a valid config.json."""
    loaded = {} if loaded_config is None else {loaded_product.name: loaded_config}
    return {
        "version": VERSION,
        "source": source,
        "first_product": PRODUCTS.index(loaded_product),
        "people_shown": PEOPLE_SHOWN,
        "sizes": group_sizes(facts),
        "production": PRODUCTION,
        "products": [_product(product, facts, loaded.get(product.name)) for product in PRODUCTS],
    }


def _product(product: Product, facts: Facts, loaded_config: str | None) -> JsonObject:
    configs: Mapping[str, str] = presets(product)
    if loaded_config is not None:
        configs = {"loaded config": loaded_config, **configs}
    config, has_stage_1 = production_of_2020(product), product.selector is Selector.NOISY_STAGE_1
    return {
        "name": product.name,
        "counts": product.counts,
        "record": product.record.noun,
        "records": f"{product.record.noun}s",
        "records_in_words": product.record.nouns,
        "holds_people": product.record.holds_people,
        "threshold_unit": f"{product.record.noun}s" if has_stage_1 else "people",
        "has_stage_1": has_stage_1,
        "stage_1_key": product.stage_1_key,
        "suppression_key": product.suppression_key,
        "families": [_family(product, family) for family in product.families],
        "levels": [
            _level(TunedLevel(facts[level], config, family)) for family, level in measured_levels(product, tuple(facts))
        ],
        "reference": _reference(product),
        "no_protection": NO_PROTECTION,
        "presets": [{"name": name, "config": text} for name, text in configs.items()],
    }


def _family(product: Product, family: TableFamily) -> JsonObject:
    return {
        "name": family.name,
        "detail": family.detail,
        "divided_into": family.divided_into,
        "thresholds_key": product.family_keys[family.name].thresholds,
        "shapes": [_shape(shape) for shape in family.shapes],
    }


def _shape(shape: Shape) -> JsonObject:
    return {
        "key": shape.label,
        "name": shape.words if shape.divisions else "total only",
        "divisions": shape.divisions,
        "cells": shape.cells,
        "kinds": [
            {"name": kind.name, "words": _words_of(kind), "draws": kind.draws, "parts": kind.parts}
            for kind in shape.kinds
        ],
    }


def _words_of(kind: LineKind) -> str:
    return kind.short if kind.parts == 1 else f"one {kind.short}"


def _reference(product: Product) -> JsonObject:
    loss = reference_loss(product)
    return {
        "name": product.reference.name,
        "unbounded": loss_text(loss.unbounded),
        "bounded": loss_text(loss.bounded),
        "unbounded_epsilon": loss_text(loss.unbounded_epsilon),
        "bounded_epsilon": loss_text(loss.bounded_epsilon),
        "costliest_level": loss_text(product.reference.costliest_level),
        "far_above": FAR_ABOVE,
    }


def _level(tuned: TunedLevel) -> JsonObject:
    """What holds of a level under any configuration of its product."""
    sizes, level, product, family = tuned.facts, tuned.facts.level, tuned.config.product, tuned.family
    return {
        "key": level_key(level, family if product.has_several_families else None),
        "family": product.families.index(family),
        "pass": level.geography.tabulation_pass.value,
        "geography": level.geography.label,
        "place": level.geography.entity_kind.noun,
        "iterations": level.iterations.label,
        "iteration_level": int(level.iterations),
        "is_substate": level.geography.is_substate,
        "entities": sizes.entities,
        "adaptive_iterations": tuned.iterations.adaptive,
        "total_only_iterations": tuned.iterations.total_only,
        "stability": list(sizes.lists.stability_by_codes),
        "budget_key": budget_key(product, family, level),
        "threshold_key": threshold_key(level),
    }
