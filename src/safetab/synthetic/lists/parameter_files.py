"""Writes the parameters directory: config.json and the four public lists."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel, TabulationList
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.census.public_lists import PublicLists
from safetab.config.config_file import CONFIG_FILE, budget_key, threshold_key
from safetab.config.run_config import ReaderKind
from safetab.products.record import RACE_COLUMNS
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.products.safetab_p.tables import PERSONS

_FLAGS = {
    None: "Null|Null",
    TabulationList.COMMON: "False|False",
    TabulationList.TOTAL_ONLY: "True|False",
    TabulationList.SUBSTATE_ONLY: "False|True",
}


def write_parameters(
    folder: Path, lists: PublicLists, us_states: Iterable[str], reader: ReaderKind = ReaderKind.CSV
) -> None:
    write_lines(folder / CONFIG_FILE, [json.dumps(demo_config(us_states, reader), indent=2)])
    write_lines(
        folder / "race-and-ethnicity-codes.txt",
        ["RACE_ETH_CODE|RACE_ETH_NAME", *(f"{code}|{name}" for code, name in sorted(lists.code_names.items()))],
    )
    race = [one for one in lists.iterations if one.kind is not IterationKind.ETHNICITY]
    write_lines(
        folder / "race-characteristic-iterations.txt",
        ["ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY", *map(_race_row, race)],
    )
    ethnicity = [one for one in lists.iterations if one.kind is IterationKind.ETHNICITY]
    write_lines(
        folder / "ethnicity-characteristic-iterations.txt",
        ["ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY", *map(_ethnicity_row, ethnicity)],
    )
    pairs = (f"{one.code}|{code}" for one in lists.iterations for code in sorted(lists.codes_of_iteration[one.code]))
    write_lines(folder / "race-and-ethnicity-code-to-iteration.txt", ["ITERATION_CODE|RACE_ETH_CODE", *pairs])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The same bytes on every system: UTF-8, lines that end in LF."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _race_row(iteration: CharacteristicIteration) -> str:
    is_alone = iteration.kind is IterationKind.RACE_ALONE
    return f"{iteration.code}|{iteration.name}|{int(iteration.level)}|{is_alone}|{_FLAGS[iteration.listed]}"


def _ethnicity_row(iteration: CharacteristicIteration) -> str:
    return f"{iteration.code}|{iteration.name}|{int(iteration.level)}|{_FLAGS[iteration.listed]}"


def demo_config(us_states: Iterable[str], reader: ReaderKind = ReaderKind.CSV) -> dict[str, Any]:
    """The budgets of 2020, with thresholds low enough that a demo of 200,000 people gets all four tables."""
    return {
        "privacy_defn": "zcdp",
        "run_us": True,
        "run_pr": True,
        "state_filter_us": list(us_states),
        "reader": reader.value,
        "max_race_codes": len(RACE_COLUMNS),
        **{budget_key(SAFETAB_P, PERSONS, level): _rho(level) for level in POPULATION_GROUP_LEVELS},
        "privacy_budget_p_stage_1_fraction": 0.1,
        "thresholds_p": {threshold_key(level): _thresholds_persons(level) for level in POPULATION_GROUP_LEVELS},
        "zero_suppression_chance": 0.9999,
        "allow_negative_counts": True,
    }


def _rho(level: PopulationGroupLevel) -> float:
    if level.iterations is IterationLevel.REGIONAL:
        return 0 if level.geography is GeographyLevel.AIANNH else 0.008
    return 0.159 if level.geography.is_substate else 2.134


def _thresholds_persons(level: PopulationGroupLevel) -> list[int]:
    """Each is well above stage 1's noise, so that a group with nobody in it gets a total alone."""
    if level.iterations is IterationLevel.REGIONAL:
        return [600, 2000, 8000]
    return [150, 500, 2000] if level.geography.is_substate else [100, 300, 2000]
