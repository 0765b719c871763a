"""config.json and privacy.toml as the audit itself reads them.

It doesn't use the program's names for keys. The audit writes its worlds with these keys, and
compares what a run makes of them with its own plain reading.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as crossed
from pathlib import Path
from typing import Any

from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.privacy.calibration import Stage
from safetab.model.us.us_census import US_PASS

CONFIG = "config.json read twice"
SPECIFIED = "privacy.toml read twice"
_LevelName = tuple[str, int]
"""A geography level and an iteration level."""
MeasuredName = tuple[str, str, int]
"""A table family, a geography level and an iteration level."""

_US = ("USA", "STATE", "COUNTY", "TRACT", "PLACE", "AIANNH")
_PUERTO_RICO = ("STATE", "COUNTY", "TRACT", "PLACE")
_KEYS_OF_PASS = {
    "us": {label: label.lower() for label in _US},
    "pr": {f"PR-{label}": f"pr_{label.lower()}" for label in _PUERTO_RICO},
}
_NEVER_SUPPRESSED = ("USA", "STATE", "PR-STATE")
_REGIONAL, _DETAILED = 1, 2
_FAMILIES = {  # the keys of budgets and of thresholds
    "SafeTab-P": {"persons": ("privacy_budget_p", "thresholds_p")},
    "SafeTab-H": {
        "household type": ("privacy_budget_h_t3", "thresholds_h_t3"),
        "tenure": ("privacy_budget_h_t4", "thresholds_h_t4"),
    },
}
_STAGE_1_FRACTION = "privacy_budget_p_stage_1_fraction"
_SUPPRESSION_CHANCE = "zero_suppression_chance"
GAMMA = Fraction(1, 10)
"""Stage 1's share of a level's budget."""
_USUAL_BUDGET = {_REGIONAL: 0.17, _DETAILED: 0.5}  # noise of about 3, at stability 3 and 9
_NEVER_REACHED = 1 << 40
_FINER_THAN_A_TOTAL = {
    "SafeTab-P": {"PLACE": 0, "AIANNH": 1, "COUNTY": 2},  # crowded tracts reach the finest table
    "SafeTab-H": {"PLACE": 0, "AIANNH": 1, "COUNTY": 2, "TRACT": 3},
}
TOTALS_NEAR_THRESHOLDS = (-3, *range(3, 25), 400)
"""Totals at every threshold of `own_settings`, and on either side of it."""


def level_names() -> list[_LevelName]:
    """All levels of both passes."""
    labels = [label for keys in _KEYS_OF_PASS.values() for label in keys]
    return [(label, iterations) for label in labels for iterations in (_REGIONAL, _DETAILED)]


def _budget_key(family: str, level: _LevelName) -> str:
    label, iterations = level
    families = {
        name: keys for of_product in _FAMILIES.values() for name, keys in of_product.items()
    }
    geographies = _KEYS_OF_PASS["us"] | _KEYS_OF_PASS["pr"]
    return f"{families[family][0]}_level_{iterations}_{geographies[label]}"


def _threshold_key(level: _LevelName) -> str:
    return f"({level[0]}, {level[1]})"


def usual_config(product: str, **changes: Any) -> dict[str, Any]:
    """The configuration of the audit's usual world, with these changes.

    The noise of stage 2 is about 3 at every level: nearly everything happens to some group.
    """
    own = {_STAGE_1_FRACTION: float(GAMMA), _SUPPRESSION_CHANCE: 0.9}
    usual = {
        "privacy_defn": "zcdp",
        "run_us": True,
        "run_pr": True,
        "state_filter_us": ["01", "44"],
        "reader": "csv",
        "max_race_codes": 8,
        **own_settings(product),
        "allow_negative_counts": True,
    }
    return usual | (own if product == "SafeTab-P" else {}) | changes


def own_settings(product: str) -> dict[str, Any]:
    """Budgets and thresholds of each family and level, all different, so that a mix-up shows."""
    families = _FAMILIES[product]
    levels = level_names()
    settings: dict[str, Any] = {}
    for number, (family, (_, thresholds_key)) in enumerate(families.items()):
        for position, level in enumerate(levels, start=number * len(levels)):
            factor = own_factor(position, len(families) * len(levels))
            settings[_budget_key(family, level)] = round(_USUAL_BUDGET[level[1]] * float(factor), 6)
        settings[thresholds_key] = {
            _threshold_key(level): _own_thresholds(family, position)
            for position, level in enumerate(levels)
        }
    return settings


def own_factor(position: int, positions: int) -> Fraction:
    """The factor of one of several budgets.

    The widest noise is a third wider than the narrowest.
    """
    return Fraction(3, 4) + Fraction(position, 2 * positions)


def _own_thresholds(family: str, position: int) -> list[int]:
    """Thresholds that are not all equal for any two of fewer than 84 positions."""
    if family == "tenure":
        return [4 + position]
    return [4 + position % 4, 8 + position % 3, 12 + position % 7]


def thresholds_of_noise_world(product: str) -> dict[str, Any]:
    """Thresholds that give each shape a level at which nearly every group has it.

    So each shape has counts of every size. The other levels keep their own thresholds.
    """
    found: dict[str, Any] = {}
    for _, key in _FAMILIES[product].values():
        found[key] = dict(own_settings(product)[key])
        for label, finer in _FINER_THAN_A_TOTAL[product].items():
            for iterations in (_REGIONAL, _DETAILED):
                level = _threshold_key((label, iterations))
                found[key][level] = thresholds_reached(finer, len(found[key][level]))
    return found


def thresholds_reached(reached: int, number: int) -> list[int]:
    """A number of thresholds; any total that is not negative reaches just the first ones."""
    return [0 if place < reached else _NEVER_REACHED for place in range(number)]


def config_of_one_level(
    product: str, geography: str, budgets: Mapping[str, float], **changes: Any
) -> dict[str, Any]:
    """A configuration that tabulates only Detailed groups of one geography level.

    `budgets` are by table family. Nothing is suppressed unless `changes` say so.
    """
    levels = {}
    for family in _FAMILIES[product]:
        for level in level_names():
            is_measured = level == (geography, _DETAILED)
            levels[_budget_key(family, level)] = budgets.get(family, 0) if is_measured else 0
    unsuppressed = {_SUPPRESSION_CHANCE: 0} if product == "SafeTab-P" else {}
    return usual_config(product, **levels) | {"run_pr": False} | unsuppressed | changes


@dataclass(frozen=True, slots=True)
class PlainLevel:
    """The part of a configuration that concerns one table family at one level."""

    budget: Fraction
    thresholds: tuple[int, ...]
    is_suppressed: bool


@dataclass(frozen=True, slots=True)
class _PlainConfig:
    """A configuration, read with the audit's own keys.

    `levels` are those of the passes that run.
    """

    keys: Mapping[str, Any]  # as they are written
    passes: Mapping[str, tuple[str, ...]]  # the labels of each
    definition: str
    stage_1_fraction: Fraction  # 0 where there is no stage 1
    suppression_chance: Fraction
    levels: Mapping[MeasuredName, PlainLevel]
    measures_every_group: bool = False  # in the finest shape, chosen by nothing

    def shares(self) -> dict[Stage, Fraction]:
        """The share of a level's budget that each stage spends."""
        gamma = self.stage_1_fraction
        return {Stage.STAGE_1: gamma, Stage.STAGE_2: 1 - gamma, Stage.TOTAL_ONLY: Fraction(1)}

    def budget_of_pass(self, which: str) -> Fraction:
        """The sum of the budgets of a pass."""
        budgets = [
            level.budget
            for (_, label, _), level in self.levels.items()
            if label in self.passes[which]
        ]
        return sum(budgets, Fraction(0))


def plain_config(parameters: Path) -> _PlainConfig:
    """Read PARAMETERS/config.json, or the specification there.

    Numbers are exact: 0.17 is 17/100.
    """
    if (parameters / "census.toml").exists():
        return _plain_choices(specified_keys(parameters))
    keys = json.loads((parameters / "config.json").read_text(), parse_float=Fraction)
    product = "SafeTab-P" if _STAGE_1_FRACTION in keys else "SafeTab-H"
    running = {
        label for which in _KEYS_OF_PASS if keys[f"run_{which}"] for label in _KEYS_OF_PASS[which]
    }
    levels = {}
    for family, (_, thresholds_key) in _FAMILIES[product].items():
        for level in level_names():
            if level[0] in running:
                budget = Fraction(keys[_budget_key(family, level)])
                thresholds = keys[thresholds_key][_threshold_key(level)]
                is_suppressed = level[0] not in _NEVER_SUPPRESSED
                levels[family, *level] = PlainLevel(budget, tuple(thresholds), is_suppressed)
    gamma = Fraction(keys.get(_STAGE_1_FRACTION, 0))  # SafeTab-H has no stage 1
    suppression_chance = Fraction(keys.get(_SUPPRESSION_CHANCE, 0))
    passes = {which: tuple(labels) for which, labels in _KEYS_OF_PASS.items()}
    return _PlainConfig(keys, passes, keys["privacy_defn"], gamma, suppression_chance, levels)


def specified_keys(parameters: Path) -> dict[str, Any]:
    """The keys of census.toml and privacy.toml, which nobody has interpreted."""
    texts = [(parameters / name).read_text() for name in ("census.toml", "privacy.toml")]
    census, privacy = (tomllib.loads(text, parse_float=Fraction) for text in texts)
    return census | privacy


def _plain_choices(keys: Mapping[str, Any]) -> _PlainConfig:
    """The choices of a specification with passes; entries name single labels or lists."""
    privacy, areas = keys["privacy"], keys["areas"]
    kind_of = {label: kind for each in areas["passes"] for kind, label in each["levels"].items()}
    numbers = {level["name"]: number for number, level in enumerate(keys["groups"]["levels"])}
    suppress = privacy.get("suppress", {"chance": 0, "areas": []})
    levels = {}
    for each in privacy["levels"]:
        for family, label, group in crossed(
            *(listed(each[name]) for name in ("tables", "areas", "groups"))
        ):
            is_suppressed = kind_of[label] in suppress["areas"]
            choice = PlainLevel(
                Fraction(each["budget"]), tuple(each.get("thresholds", ())), is_suppressed
            )
            levels[family, label, numbers[group]] = choice
    passes = {each["name"]: tuple(each["levels"].values()) for each in areas["passes"]}
    chance = Fraction(suppress["chance"])
    gamma, is_every_group = Fraction(privacy.get("stage_1", 0)), privacy["selector"] == "none"
    return _PlainConfig(keys, passes, privacy["definition"], gamma, chance, levels, is_every_group)


def listed(given: str | list[str]) -> list[str]:
    """A list, where a single text may stand for a list of one."""
    return [given] if isinstance(given, str) else given


def config_check(plan: RunPlan, parameters: Path) -> Verdict:
    """Compare what the program plans with what is written, for every level and stage."""
    plain = plain_config(parameters)
    name = SPECIFIED if "privacy" in plain.keys else CONFIG
    faults = [*_faults_of_settings(plan, plain), *_faults_of_levels(plan, plain)]
    seen = f"{len(plain.levels)} budgets and as many lists of thresholds, no two alike"
    return verdict(name, faults, seen)


def _faults_of_settings(plan: RunPlan, plain: _PlainConfig) -> Iterator[str]:
    """Say which settings of a whole run the program reads differently."""
    config = plan.config
    pairs = {
        "privacy_defn": (config.privacy_definition.spelling, plain.definition),
        "stage 1": (config.stage_1_fraction, plain.stage_1_fraction),
        "suppression": (config.zero_suppression_chance, plain.suppression_chance),
    }
    if "privacy" in plain.keys:
        may_be_negative = plain.keys["privacy"].get("negatives", "kept") != "zero"
        pairs["negatives"] = (config.allow_negative_counts, may_be_negative)
    else:
        pairs |= {
            "max_race_codes": (config.most_answers, plain.keys["max_race_codes"]),
            "state_filter_us": (
                frozenset(config.parts_of(US_PASS)),
                frozenset(plain.keys["state_filter_us"]),
            ),
            "allow_negative_counts": (
                config.allow_negative_counts,
                plain.keys["allow_negative_counts"],
            ),
            "reader": (config.reader.value, plain.keys["reader"]),
        }
    for name, (used, said) in pairs.items():
        if used != said:
            yield f"{name}: the program uses {used}, and {said} is written"


def _faults_of_levels(plan: RunPlan, plain: _PlainConfig) -> Iterator[str]:
    """Say at which levels the program's plan differs from what is written.

    Budgets, thresholds and shares are compared.
    """
    planned = {
        (
            level.family.name,
            level.level.geography.label,
            level.level.iterations.number,
        ): level.design
        for level in plan.levels
    }
    written = {name: level for name, level in plain.levels.items() if level.budget}
    for name in sorted(planned.keys() - written.keys()):
        yield f"{name}: measured, and has no budget"
    for name in sorted(written.keys() - planned.keys()):
        yield f"{name}: has a budget, and is not measured"
    for name in sorted(planned.keys() & written.keys()):
        said, design = written[name], planned[name]
        uses = f"{name}: the program uses"
        if design.budget != said.budget:
            yield f"{uses} a budget of {design.budget}, and {said.budget} is written"
        if design.thresholds.totals != said.thresholds:
            thresholds = design.thresholds.totals
            yield f"{uses} thresholds {thresholds}, and {said.thresholds} are written"
        for stage, planned_stage in design.stages.items():
            if planned_stage.budget != plain.shares()[stage] * said.budget:
                spent = f"{planned_stage.budget} is spent"
                yield f"{name}, stage {int(stage)}: {spent}, and that is not its share"
