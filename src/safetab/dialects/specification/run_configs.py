"""The configuration that a specification makes, and its choices again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product as product_of_lists
from types import MappingProxyType

from safetab.census.area_levels import Pass
from safetab.census.census import Census, PopulationGroupLevel
from safetab.census.groups import MOST_ANSWERS
from safetab.config.run_config import ConfigSpelling, FamilyConfig, ReaderKind, RunConfig
from safetab.dialects.specification.census_value import slots_of
from safetab.privacy.calibration import PrivacyDefinition
from safetab.products.product import Product, TableFamily, Thresholds
from safetab.specification.values import SPECIFICATION_FILE, Choice, Privacy, Specification
from safetab.specification.writing import privacy_keys


def config_of(
    spec: Specification, census: Census, product: Product, parts: Mapping[Pass, tuple[str, ...]]
) -> RunConfig:
    """The configuration that the choices of a specification make."""
    privacy = spec.privacy
    return RunConfig(
        census=census,
        product=product,
        privacy_definition=next(each for each in PrivacyDefinition if each.spelling == privacy.definition),
        families=tuple(_family_config(privacy, census, family) for family in product.families),
        stage_1_fraction=privacy.stage_1 or Fraction(0),
        most_answers=spec.use_of(spec.classification(slots_of(spec)[0].name)) or MOST_ANSWERS,
        zero_suppression_chance=privacy.suppress_chance,
        allow_negative_counts=privacy.negatives != "zero",
        withholds_negatives=privacy.negatives == "withheld",
        passes=census.passes,
        parts=MappingProxyType(dict(parts)),
        reader=ReaderKind.CSV,
        spelling=_spelling(spec, census),
        specification=spec,
    )


def _family_config(privacy: Privacy, census: Census, family: TableFamily) -> FamilyConfig:
    budgets = dict.fromkeys(census.levels, Fraction(0))
    thresholds: dict[PopulationGroupLevel, Thresholds] = {}
    for choice in privacy.levels:
        if family.name in choice.tables:
            for label, group in product_of_lists(choice.areas, choice.groups):
                level = census.level(label, group)
                budgets[level], thresholds[level] = choice.budget, Thresholds(choice.thresholds)
    return FamilyConfig(family, MappingProxyType(budgets), MappingProxyType(thresholds))


def _spelling(spec: Specification, census: Census) -> ConfigSpelling:
    several = slots_of(spec)[0].name
    passes = {one: one.name for one in census.passes}
    return ConfigSpelling(
        f"use.{several}", "areas.passes", passes, lambda config: privacy_keys(privacy_of(config)), SPECIFICATION_FILE
    )


def privacy_of(config: RunConfig) -> Privacy:
    """The choices of a configuration again: those of its specification, with its budgets and thresholds."""
    spec = config.specification
    assert spec is not None
    choices = [
        Choice((of_family.family.name,), (level.iterations.name,), (level.geography.label,), budget,
               of_family.thresholds[level].totals)
        for of_family in config.families
        for level, budget in of_family.budgets.items()
        if budget > 0
    ]  # fmt: skip
    several = slots_of(spec)[0].name
    is_usual = config.most_answers == (spec.use_of(spec.classification(several)) or MOST_ANSWERS)
    return replace(
        spec.privacy,
        definition=config.privacy_definition.spelling,
        levels=tuple(choices),
        stage_1=config.stage_1_fraction or None,
        suppress_chance=config.zero_suppression_chance,
        use=spec.privacy.use if is_usual else {**spec.privacy.use, several: config.most_answers},
    )
