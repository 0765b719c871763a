"""Parameters with which the households of a synthetic census are tabulated, made from those of its people."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.config.config_file import CONFIG_FILE, budget_key
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPE, TENURE
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.products.safetab_p.tables import PERSONS
from safetab.synthetic.lists.parameter_files import write_lines

HOUSEHOLD_PARAMETERS = "household-parameters"

_SHARED_KEYS = (
    "max_race_codes", "allow_negative_counts", "run_us", "run_pr", "state_filter_us", "reader", "privacy_defn",
)  # fmt: skip


def write_household_parameters(folder: Path, parameters: Path) -> None:
    """The same lists, the budgets of 2020, and the thresholds of the people, whose totals choose these tables too."""
    folder.mkdir()
    for path in parameters.iterdir():
        if path.name != CONFIG_FILE:
            shutil.copyfile(path, folder / path.name)
    config = json.loads((parameters / CONFIG_FILE).read_text(encoding="utf-8"))
    write_lines(folder / CONFIG_FILE, [json.dumps(_household_config(config), indent=2)])


def _household_config(config: dict[str, Any]) -> dict[str, Any]:
    thresholds = config[SAFETAB_P.family_keys[PERSONS.name].thresholds]
    keys = {family: SAFETAB_H.family_keys[family.name].thresholds for family in (HOUSEHOLD_TYPE, TENURE)}
    return {
        **{key: config[key] for key in _SHARED_KEYS},
        **{
            budget_key(SAFETAB_H, family, level): _rho(level, config)
            for family in SAFETAB_H.families
            for level in POPULATION_GROUP_LEVELS
        },
        keys[HOUSEHOLD_TYPE]: thresholds,
        keys[TENURE]: {level: of_level[:1] for level, of_level in thresholds.items()},
    }


def _rho(level: PopulationGroupLevel, config: dict[str, Any]) -> float:
    """That of 2020; nothing where the people have nothing."""
    if not config[budget_key(SAFETAB_P, PERSONS, level)]:
        return 0
    if level.iterations is IterationLevel.REGIONAL:
        return 0.006915
    return 0.142869 if level.geography.is_substate else 1.9208
