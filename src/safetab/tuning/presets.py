"""Configurations to start from: what the 2020 Census used, and the same with thresholds in round numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from safetab.census.geography_levels import US_STATES, EntityKind, GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.config.config_file import budget_key, parse_config, threshold_key
from safetab.config.run_config import RunConfig
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.products.safetab_p.tables import PERSONS

_REGIONAL_BUDGET = "0.008"
_DETAILED_BUDGETS = {EntityKind.NATION: "2.134", EntityKind.STATE: "2.134"}
_SUBSTATE_DETAILED_BUDGET = "0.159"
_BELOW_ROUND = 29
"""The thresholds of 2020 production lie so many persons below round numbers."""


def presets() -> Mapping[str, str]:
    """By name, the text of a config.json."""
    return {
        "2020 production": _config_text(_BELOW_ROUND),
        "2020 with round-number thresholds": _config_text(0),
    }


def production_of_2020() -> RunConfig:
    return parse_config(presets()["2020 production"]).require()


def _config_text(below_round: int) -> str:
    keys: dict[str, object] = {"max_race_codes": 8, "privacy_defn": "zcdp"}
    keys |= {budget_key(SAFETAB_P, PERSONS, level): _Literal(_budget(level)) for level in POPULATION_GROUP_LEVELS}
    keys["privacy_budget_p_stage_1_fraction"] = _Literal("0.1")
    keys["thresholds_p"] = {
        threshold_key(level): [round_number - below_round for round_number in _round_thresholds(level)]
        for level in POPULATION_GROUP_LEVELS
    }
    keys |= {
        "zero_suppression_chance": _Literal("0.9999"),
        "allow_negative_counts": True,
        "run_us": True,
        "run_pr": True,
        "reader": "csv",
        "state_filter_us": sorted(US_STATES),
    }
    return _json(keys) + "\n"


def _budget(level: PopulationGroupLevel) -> str:
    if level.iterations is IterationLevel.REGIONAL:
        return "0" if level.geography is GeographyLevel.AIANNH else _REGIONAL_BUDGET
    return _DETAILED_BUDGETS.get(level.geography.entity_kind, _SUBSTATE_DETAILED_BUDGET)


def _round_thresholds(level: PopulationGroupLevel) -> tuple[int, int, int]:
    if level.iterations is IterationLevel.REGIONAL:
        return (5_000, 20_000, 150_000)
    return (1_000, 5_000, 20_000) if level.geography.is_substate else (500, 1_000, 7_000)


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
