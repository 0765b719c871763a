"""Every number of the explorer, from the Python package: what the page is compared with."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from safetab.config.run_config import RunConfig
from safetab.explorer.page_facts import level_key
from safetab.planning.losses import DELTAS, reported_loss
from safetab.privacy.conversions import epsilon_of_rho
from safetab.privacy.definitions import PrivacyDefinition
from safetab.spec.geography_levels import TabulationPass
from safetab.spec.population_group_levels import POPULATION_GROUP_LEVELS
from safetab.spec.tables import SEX_BY_AGE_TABLES, Stage, Table, Thresholds
from safetab.tuning import Number, Tuning, concerns
from safetab.tuning.tuned_level import TunedLevel

CONFIDENCES = {"90": Fraction(9, 10), "95": Fraction(19, 20), "99": Fraction(99, 100)}
STAGES = {"stage_1": Stage.STAGE_1, "stage_2": Stage.STAGE_2, "total_only": Stage.TOTAL_ONLY}


def middle(ball) -> float:
    return float(ball.mid())


def numbers_of(tuning: Tuning) -> dict:
    """The page's `results`, nested in the same way."""
    config = tuning.config
    losses = {one.value: tuning.loss_of(one) for one in config.passes} | {"whole_run": tuning.loss}
    return {
        "levels": {level_key(level): level_numbers(tuning, tuned) for level, tuned in tuning.levels.items()},
        "loss": {who: loss_numbers(config, loss) for who, loss in losses.items()},
        "epsilon_curve": {
            f"1e-{len(str(delta.denominator)) - 1}": {
                "unbounded": epsilon_of_rho(tuning.loss.unbounded, delta),
                "bounded": epsilon_of_rho(tuning.loss.bounded, delta),
            }
            for delta in DELTAS
            if config.privacy_definition is PrivacyDefinition.ZCDP
        },
        "groups": tuning.groups,
        "empty_groups_published": tuning.empty_groups_published,
        "warnings": [
            {"level": None if concern.level is None else level_key(concern.level), "text": concern.text}
            for concern in concerns(tuning)
        ],
    }


def level_numbers(tuning: Tuning, tuned: TunedLevel) -> dict:
    stages = {name: tuned.noise(stage) for name, stage in STAGES.items() if stage in tuned.stages}
    is_gaussian = tuned.config.privacy_definition is PrivacyDefinition.ZCDP
    return {
        "stability": tuned.stability,
        "groups": tuned.facts.groups,
        "share": tuning.share(tuned.facts.level),
        "stages": {
            name: {
                "parameter": float(noise.sigma_squared) ** 0.5 if is_gaussian else noise.scale,
                "deviation": middle(noise.variance()) ** 0.5,
            }
            for name, noise in stages.items()
        },
        "margins": {name: margin_numbers(tuned, confidence) for name, confidence in CONFIDENCES.items()},
        "suppression_threshold": tuned.suppression_threshold,
        "empty_groups_published": tuned.empty_groups_published,
    }


def margin_numbers(tuned: TunedLevel, confidence: Fraction) -> dict:
    margins = tuned.margins(confidence)
    told = {"stage_1": margins.stage_1_total, "total_only": margins.total_only}
    if margins.tables:
        told["total"] = margins.tables[Table.TOTAL].total
    for table in SEX_BY_AGE_TABLES if margins.tables else ():
        of_table = margins.tables[table]
        told[table.label] = {"cell": of_table.cell, "sex": of_table.sex_marginal, "total": of_table.total}
    return {name: value for name, value in told.items() if value is not None}


def loss_numbers(config: RunConfig, loss) -> dict:
    told = reported_loss(config.privacy_definition, loss)
    return {name: getattr(told, name) for name in ("unbounded", "bounded", "unbounded_epsilon", "bounded_epsilon")}


def numbers_at(tuned: TunedLevel, size: int) -> dict:
    """The page's `atSize`."""
    suppressed = tuned.suppression_chance(size)
    relative = {
        table.label: {
            number.value: tuned.relative_margin(size, table, number) if size else None
            for number in (Number if table is not Table.TOTAL else (Number.TOTAL,))
        }
        for table in Table
    }
    return {
        "suppressed": middle(suppressed),
        "published": middle(1 - suppressed),
        "tables": {table.label: middle(chance) for table, chance in tuned.table_chances(size).items()},
        "bias": middle(tuned.bias(size)),
        "relative": relative,
    }


def setting_of(config: RunConfig) -> dict:
    """A configuration as the page's controls hold it."""
    return {
        "definition": config.privacy_definition.spelling,
        "max_race_codes": config.max_race_codes,
        "gamma": decimal(config.stage_1_fraction),
        "suppression_chance": decimal(config.zero_suppression_chance),
        "passes": {name: name in {one.value for one in config.passes} for name in ("us", "pr")},
        "budgets": {level_key(level): decimal(config.budgets[level]) for level in POPULATION_GROUP_LEVELS},
        "thresholds": {
            level_key(level): list(config.thresholds[level].as_tuple) if level in config.thresholds else [0, 0, 0]
            for level in POPULATION_GROUP_LEVELS
        },
    }


def decimal(number: Fraction) -> str:
    for places in range(40):
        if (number * 10**places).denominator == 1:
            digits = str(int(number * 10**places)).rjust(places + 1, "0")
            return f"{digits[:-places]}.{digits[-places:]}" if places else digits
    raise ValueError(number)


def random_config(base: RunConfig, seed: int) -> RunConfig:
    """Budgets over six powers of ten, thresholds of all sizes, both definitions, some levels and passes left out."""
    dice = random.Random(seed)
    definition = dice.choice(list(PrivacyDefinition))

    def budget() -> Fraction:
        if dice.random() < 0.15:
            return Fraction(0)
        exponent = dice.uniform(-4, 1.5) if definition is PrivacyDefinition.ZCDP else dice.uniform(-2.5, 1.5)
        return Fraction(f"{10**exponent:.{dice.randint(1, 6)}g}")

    shared = [budget() for _ in range(4)]
    budgets = {level: (dice.choice(shared) if dice.random() < 0.5 else budget()) for level in POPULATION_GROUP_LEVELS}
    passes = dice.choice([tuple(TabulationPass)] * 3 + [(one,) for one in TabulationPass])
    for one in passes:  # each pass needs a level
        first = next(level for level in POPULATION_GROUP_LEVELS if level.geography.tabulation_pass is one)
        budgets[first] = budgets[first] or Fraction(1, 100)
    thresholds = {
        level: Thresholds(*sorted(int(10 ** dice.uniform(0, 5.5)) for _ in range(3)))
        for level in POPULATION_GROUP_LEVELS
    }
    return replace(
        base,
        privacy_definition=definition,
        budgets=MappingProxyType(budgets),
        stage_1_fraction=Fraction(dice.randint(1, 99), 100),
        thresholds=MappingProxyType(thresholds),
        max_race_codes=dice.randint(1, 8),
        zero_suppression_chance=Fraction(dice.choice(["0", "0.3", "0.9", "0.95", "0.999", "0.9999", "0.999999"])),
        passes=passes,
    )
