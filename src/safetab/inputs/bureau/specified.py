"""A specification whose areas are the Bureau's.

Its choices and groups are for the U.S. census and its two products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from safetab.foundation.findings import FindingsOf
from safetab.inputs.bureau.config_file import SPELLING
from safetab.inputs.specification.group_lists import NamedGroup
from safetab.model.census.area_levels import Pass
from safetab.model.census.groups import CharacteristicIteration, GroupKind, GroupList, PublicLists
from safetab.model.census_value import config_of
from safetab.model.config.run_config import FamilyConfig, RunConfig
from safetab.model.products.all_products import PRODUCTS, product_named
from safetab.model.products.product import Thresholds
from safetab.model.specification.values import Specification
from safetab.model.us.states import PUERTO_RICO_STATE, US_STATES
from safetab.model.us.us_census import (
    COMMON,
    ETHNICITY_KIND,
    PR_PASS,
    RACE_ALONE,
    RACE_IN_COMBINATION,
    SUBSTATE_ONLY,
    TOTAL_ONLY,
    US,
    US_PASS,
)

_AREAS_FILE = "GRF-C"
"""The table of areas that lies in DATA, in the Bureau's form."""
_STATE_COLUMN, _RACE = "TABBLKST", "race"
_KINDS: Mapping[str, GroupKind] = {
    "race": RACE_IN_COMBINATION, "race only": RACE_ALONE, "hispanic-origin": ETHNICITY_KIND,
}  # fmt: skip
_LISTS: Mapping[str, GroupList] = {
    "common": COMMON,
    "total-only": TOTAL_ONLY,
    "substate": SUBSTATE_ONLY,
}
_LEVELS = {level.name.casefold(): level for level in US.group_levels}
_PASSES = {US_PASS.name: US_PASS, PR_PASS.name: PR_PASS}
_STATES = {US_PASS: US_STATES, PR_PASS: (PUERTO_RICO_STATE,)}


def is_of_the_bureau(spec: Specification) -> bool:
    """Whether the areas of a specification are in the Bureau's files."""
    return spec.areas.file == _AREAS_FILE


def check_bureaus(spec: Specification, findings: FindingsOf) -> None:
    """Report what is unlike the U.S. census if the areas are the Bureau's.

    If they are not, report passes that have the names of its passes.
    """
    if not is_of_the_bureau(spec):
        for name in (one.name for one in spec.areas.passes if one.name.lower() in _PASSES):
            # accounts take passes with these names to share nobody
            findings.error(
                "areas.passes", f"{name} is a pass of the 2020 U.S. Census. Choose another name."
            )
        return
    try:
        product = product_named(spec.about.name)
    except KeyError:
        names = " or ".join(f'"{each.name}"' for each in PRODUCTS)
        findings.error("about.name", f"with areas from {_AREAS_FILE} the name must be {names}.")
        return
    if spec.about.noise != product.number:
        findings.error(
            "about.noise", f"{product.name} has the number {product.number} in noise addresses."
        )
    for one in spec.areas.passes:
        known = _STATES.get(_PASSES.get(one.name, US_PASS), ())
        if one.name not in _PASSES or not set(one.where.get(_STATE_COLUMN, ())) <= set(known):
            findings.error(
                "areas.passes",
                f"{one.name}: must be us, of states of the nation, or pr, of Puerto Rico.",
            )
    labels = {level.label for level in US.area_levels}
    for level in (label for one in spec.areas.passes for label in one.levels.values()):
        if level not in labels:
            findings.error("areas.passes", f"{level}: labels must be {', '.join(sorted(labels))}.")


def config_of_bureau(spec: Specification) -> RunConfig:
    """The configuration that the choices of a specification make, as config.json would."""
    product, passes = (
        product_named(spec.about.name),
        tuple(_PASSES[one.name] for one in spec.areas.passes),
    )
    states = {
        _PASSES[one.name]: tuple(sorted(one.where[_STATE_COLUMN])) for one in spec.areas.passes
    }
    choices = (
        replace(choice, groups=tuple(_LEVELS[group].name for group in choice.groups))
        for choice in spec.privacy.levels
    )
    named = replace(spec, privacy=replace(spec.privacy, levels=tuple(choices)))
    made = config_of(named, US, product, {which: states.get(which, ()) for which in US.passes})
    return replace(
        made,
        families=tuple(_with_all_thresholds(each, passes) for each in made.families),
        most_answers=spec.privacy.use.get(_RACE, US.most_answers),
        passes=passes,
        spelling=SPELLING,
        specification=None,
    )


def _with_all_thresholds(config: FamilyConfig, passes: tuple[Pass, ...]) -> FamilyConfig:
    """The configuration with thresholds of 0 for the levels that are not tabulated.

    config.json has some for every level.
    """
    zeros = dict.fromkeys(US.levels_of(passes), Thresholds((0,) * len(config.family.finer)))
    return replace(config, thresholds=MappingProxyType({**zeros, **config.thresholds}))


def lists_of_bureau(groups: list[NamedGroup], code_names: Mapping[str, str]) -> PublicLists:
    """The groups of a specification as groups of the U.S. census.

    The census lists none of a level never tabulated.
    """
    ordered = sorted(groups, key=lambda group: group.code)
    iterations = []
    for group in ordered:
        level = _LEVELS[group.level]
        listed = _LISTS[group.listed] if level.is_tabulated else None
        iterations.append(
            CharacteristicIteration(group.code, group.name, level, _KINDS[group.kind], listed)
        )
    return PublicLists(
        code_names, tuple(iterations), {group.code: group.codes for group in ordered}
    )
