"""config.json as the audit itself spells and reads it: nothing here asks the program how a key is named.

Its worlds are written with these keys, and what a run makes of them is compared with a plain second reading.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from safetab.audit.verdicts import Verdict, verdict
from safetab.planning.run_plan import RunPlan
from safetab.privacy.stages import Stage

CONFIG = "config.json read twice"
LevelName = tuple[str, int]
"""A geography level and an iteration level."""
MeasuredName = tuple[str, str, int]
"""A table family, a geography level and an iteration level."""

_GEOGRAPHIES = {
    "us": {label: label.lower() for label in ("USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH")},
    "pr": {f"PR-{label}": f"pr_{label.lower()}" for label in ("STATE", "COUNTY", "TRACT", "PLACE")},
}
_REGIONAL, _DETAILED = 1, 2
_FAMILIES = {
    "SafeTab-P": {"persons": ("privacy_budget_p", "thresholds_p")},
    "SafeTab-H": {
        "household type": ("privacy_budget_h_t3", "thresholds_h_t3"),
        "tenure": ("privacy_budget_h_t4", "thresholds_h_t4"),
    },
}
_GAMMA, _CHANCE = "privacy_budget_p_stage_1_fraction", "zero_suppression_chance"
_LEAST_FACTOR, _SPREAD = 0.75, 0.5  # the widest noise of a world is a third wider than the narrowest
_AROUND = {_REGIONAL: 0.17, _DETAILED: 0.5}  # noise of about 3 where one record is in 3 and in 9 groups
_NEVER = 1 << 40  # no total reaches it
_FINER_THAN_A_TOTAL = {
    "SafeTab-P": {"PLACE": 0, "AIANNH": 1, "COUNTY": 2},  # crowded tracts reach the finest table anyway
    "SafeTab-H": {"PLACE": 0, "AIANNH": 1, "COUNTY": 2, "TRACT": 3},
}
TOTALS_BESIDE_THRESHOLDS = (-3, *range(3, 25), 400)
"""On every threshold of `own_settings`, and beside it."""


def level_names() -> list[LevelName]:
    """All of both passes."""
    labels = [label for of_pass in _GEOGRAPHIES.values() for label in of_pass]
    return [(label, iterations) for label in labels for iterations in (_REGIONAL, _DETAILED)]


def budget_key(family: str, level: LevelName) -> str:
    (label, iterations), ((prefix, _),) = level, [one[family] for one in _FAMILIES.values() if family in one]
    (geography,) = [of_pass[label] for of_pass in _GEOGRAPHIES.values() if label in of_pass]
    return f"{prefix}_level_{iterations}_{geography}"


def own_settings(product: str) -> dict[str, Any]:
    """A budget and thresholds for each table family and level, no two alike: a mix-up of any two shows."""
    families, levels = _FAMILIES[product], level_names()
    settings: dict[str, Any] = {}
    for number, (family, (_, thresholds_key)) in enumerate(families.items()):
        for place, level in enumerate(levels, start=number * len(levels)):
            factor = _LEAST_FACTOR + _SPREAD * place / (len(families) * len(levels))
            settings[budget_key(family, level)] = round(_AROUND[level[1]] * factor, 6)
        settings[thresholds_key] = {
            _threshold_key(level): _own_thresholds(family, place) for place, level in enumerate(levels)
        }
    return settings


def thresholds_of_noise_world(product: str) -> dict[str, Any]:
    """At some levels nearly every group has the same shape, whatever its size: a shape and a level for each.

    Each shape then has counts of every size. The others keep their own.
    """
    settings, found = own_settings(product), dict[str, Any]()
    for _, key in _FAMILIES[product].values():
        found[key] = dict(settings[key])
        for label, finer in _FINER_THAN_A_TOTAL[product].items():
            for iterations in (_REGIONAL, _DETAILED):
                own = found[key][_threshold_key((label, iterations))]
                reached = min(finer, len(own))
                found[key][_threshold_key((label, iterations))] = [0] * reached + [_NEVER] * (len(own) - reached)
    return found


def _own_thresholds(family: str, place: int) -> list[int]:
    """The three of a ladder are never all equal for two of fewer than 84 places."""
    return [4 + place] if family == "tenure" else [4 + place % 4, 8 + place % 3, 12 + place % 7]


def _threshold_key(level: LevelName) -> str:
    return f"({level[0]}, {level[1]})"


def one_budget(product: str, budgets: Mapping[MeasuredName, float]) -> dict[str, float]:
    """The budgets of a configuration in which all levels but these have none."""
    names = [(family, *level) for family in _FAMILIES[product] for level in level_names()]
    return {
        budget_key(family, (label, level)): budgets.get((family, label, level), 0) for family, label, level in names
    }


@dataclass(frozen=True, slots=True)
class PlainLevel:
    """What config.json gives one table family at one level."""

    budget: Fraction
    thresholds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlainConfig:
    """config.json, read with the audit's own keys; of the passes that run."""

    definition: str
    stage_1_fraction: Fraction | None  # none where there is no stage 1
    suppression_chance: Fraction
    max_race_codes: int
    states: frozenset[str]
    allow_negative_counts: bool
    reader: str
    levels: Mapping[MeasuredName, PlainLevel]

    def shares(self) -> dict[Stage, Fraction]:
        """The part of a level's budget that each stage spends."""
        gamma = self.stage_1_fraction or Fraction(0)
        return {Stage.STAGE_1: gamma, Stage.STAGE_2: 1 - gamma, Stage.TOTAL_ONLY: Fraction(1)}

    def budget_of_pass(self, which: str) -> Fraction:
        budgets = (one.budget for (_, label, _), one in self.levels.items() if label in _GEOGRAPHIES[which])
        return sum(budgets, Fraction(0))


def plain_config(parameters: Path) -> PlainConfig:
    """Exact numbers: 0.17 is 17/100."""
    keys = json.loads((parameters / "config.json").read_text(), parse_float=Fraction)
    product = "SafeTab-P" if _GAMMA in keys else "SafeTab-H"
    running = [label for which, labels in _GEOGRAPHIES.items() if keys[f"run_{which}"] for label in labels]
    return PlainConfig(
        definition=keys["privacy_defn"],
        stage_1_fraction=Fraction(keys[_GAMMA]) if product == "SafeTab-P" else None,
        suppression_chance=Fraction(keys.get(_CHANCE, 0)),
        max_race_codes=keys["max_race_codes"],
        states=frozenset(keys["state_filter_us"]),
        allow_negative_counts=keys["allow_negative_counts"],
        reader=keys["reader"],
        levels={
            (family, *level): PlainLevel(
                Fraction(keys[budget_key(family, level)]), tuple(keys[thresholds][_threshold_key(level)])
            )
            for family, (_, thresholds) in _FAMILIES[product].items()
            for level in level_names()
            if level[0] in running
        },
    )


def config_check(plan: RunPlan, parameters: Path) -> Verdict:
    """What the program plans with is what stands in the file: budgets and thresholds of every level and stage."""
    plain = plain_config(parameters)
    faults = [*_of_the_whole(plan, plain), *_of_levels(plan, plain)]
    return verdict(CONFIG, faults, f"{len(plain.levels)} budgets and as many lists of thresholds, no two alike")


def _of_the_whole(plan: RunPlan, plain: PlainConfig) -> Iterator[str]:
    config = plan.config
    pairs = {
        "privacy_defn": (config.privacy_definition.spelling, plain.definition),
        "stage 1": (config.stage_1_fraction, plain.stage_1_fraction or 0),
        "suppression": (config.zero_suppression_chance, plain.suppression_chance),
        "max_race_codes": (config.max_race_codes, plain.max_race_codes),
        "state_filter_us": (frozenset(config.us_states), plain.states),
        "allow_negative_counts": (config.allow_negative_counts, plain.allow_negative_counts),
        "reader": (config.reader.value, plain.reader),
    }
    yield from (
        f"{name}: the program uses {used}, config.json says {said}"
        for name, (used, said) in pairs.items()
        if used != said
    )


def _of_levels(plan: RunPlan, plain: PlainConfig) -> Iterator[str]:
    planned = {
        (one.family.name, one.level.geography.label, int(one.level.iterations)): one.design for one in plan.levels
    }
    written = {name for name, one in plain.levels.items() if one.budget}
    yield from (f"{name}: measured, and has no budget" for name in sorted(planned.keys() - written))
    yield from (f"{name}: has a budget, and is not measured" for name in sorted(written - planned.keys()))
    for name in sorted(planned.keys() & written):
        said, design = plain.levels[name], planned[name]
        if design.budget != said.budget:
            yield f"{name}: the program uses a budget of {design.budget}, config.json says {said.budget}"
        if design.thresholds.totals != said.thresholds:
            yield f"{name}: the program uses thresholds {design.thresholds.totals}, config.json says {said.thresholds}"
        for stage, of_stage in design.stages.items():
            if of_stage.budget != plain.shares()[stage] * said.budget:
                yield f"{name}, stage {int(stage)}: {of_stage.budget} is spent, and that is not its share"
