"""Configurations to start from: what the 2020 Census used, and the same with thresholds in round numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from safetab.census.geography_levels import US_STATES
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS
from safetab.config.config_file import budget_key, measured_levels, parse_config, threshold_key
from safetab.config.run_config import RunConfig
from safetab.products.all_products import PRODUCTS
from safetab.products.product import Product, TableFamily

PRODUCTION = "2020 production"
_ROUND = 100


def presets(product: Product = PRODUCTS[0]) -> Mapping[str, str]:
    """By name, the text of a config.json of the product."""
    return {
        PRODUCTION: _config_text(product, lambda threshold: threshold),
        "2020 with round-number thresholds": _config_text(product, lambda threshold: -(-threshold // _ROUND) * _ROUND),
    }


def production_of_2020(product: Product = PRODUCTS[0]) -> RunConfig:
    return parse_config(presets(product)[PRODUCTION]).require()


def _config_text(product: Product, rounded: Callable[[int], int]) -> str:
    production = product.production
    keys: dict[str, object] = {"max_race_codes": 8, "privacy_defn": "zcdp"}
    for family, level in measured_levels(product, POPULATION_GROUP_LEVELS):
        keys[budget_key(product, family, level)] = _Literal(production.of_level(level).budget)
    if product.stage_1_key is not None and production.stage_1_fraction is not None:
        keys[product.stage_1_key] = _Literal(production.stage_1_fraction)
    for family in product.families:
        keys[product.family_keys[family.name].thresholds] = _thresholds(product, family, rounded)
    if product.suppression_key is not None and production.suppression_chance is not None:
        keys[product.suppression_key] = _Literal(production.suppression_chance)
    keys |= {
        "allow_negative_counts": True,
        "run_us": True,
        "run_pr": True,
        "reader": "csv",
        "state_filter_us": sorted(US_STATES),
    }
    return _json(keys) + "\n"


def _thresholds(product: Product, family: TableFamily, rounded: Callable[[int], int]) -> dict[str, list[int]]:
    return {
        threshold_key(level): [
            rounded(threshold) for threshold in product.production.of_level(level).thresholds[: len(family.finer)]
        ]
        for level in POPULATION_GROUP_LEVELS
    }


class _Literal(str):
    """A number as it is to be spelled."""

    __slots__ = ()


def _json(keys: Mapping[str, object]) -> str:
    """An object with a key on each line, and short lists on one."""
    lines = []
    for key, value in keys.items():
        if isinstance(value, _Literal):
            text = str(value)
        elif isinstance(value, dict):
            inside = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            text = f"{{\n{inside}\n  }}"
        else:
            text = json.dumps(value)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"
