"""The loss of households: both table families, alone and together, 9 groups and 1, both kinds of noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, LossWorld
from safetab.audit.households import world_files as worlds
from safetab.audit.households.published_totals import published_totals
from safetab.audit.world_lists import CROWDED_BLOCK, EIGHT_RACES, WorldLists
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.product import TableFamily
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPE, TENURE

_HOUSEHOLDS_OF_AN_ENTITY = 4


@dataclass(frozen=True, slots=True)
class _Setting:
    """Which household is there or not, and what its tract is measured with."""

    household: worlds.Household
    lists: WorldLists
    budgets: Mapping[TableFamily, Fraction]
    changes: Mapping[str, Any]


def _write(setting: _Setting, entities: int, folder: Path) -> AuditWorld:
    blocks = [f"01|{1 + tract // 5000:03d}|{100 + tract % 5000:06d}|1000" for tract in range(entities)]
    households = tuple(
        replace(setting.household, block=block)
        for place, block in enumerate(blocks)
        for _ in range(_HOUSEHOLDS_OF_AN_ENTITY + place % 2)
    )
    budgets = {family: float(budget) for family, budget in setting.budgets.items()}
    config = worlds.config_of_tracts(budgets, state_filter_us=["01"], **setting.changes)
    geography = dict.fromkeys(blocks, "99999|9999")
    totals = published_totals(setting.lists, geography)
    return worlds.write_with_totals(folder, households, config, setting.lists, geography, totals)


def _world(name: str, setting: _Setting, runs: int, entities: int) -> LossWorld:
    budget = sum(setting.budgets.values(), Fraction(0))
    return LossWorld(
        name=name,
        definition=PrivacyDefinition.PURE_DP if "privacy_defn" in setting.changes else PrivacyDefinition.ZCDP,
        stability=len(setting.household.races) + setting.lists.has_ethnicities,
        budget=budget,
        fractions=tuple(one / budget for one in setting.budgets.values()),
        runs=runs,
        entities=entities,
        write=partial(_write, setting, entities),
    )


_LONE = worlds.Household(CROWDED_BLOCK, EIGHT_RACES[:1], kind=worlds.ALONE, tenure=worlds.WITHOUT_RENT)
_GEOMETRIC = {"privacy_defn": "puredp"}


def _nine(budget: int, changes: Mapping[str, Any]) -> _Setting:
    """Both families, of which tenure gets the larger part."""
    budgets = {HOUSEHOLD_TYPE: Fraction(budget * 2, 5), TENURE: Fraction(budget * 3, 5)}
    return _Setting(worlds.FILLS_ALL_GROUPS, WorldLists(races=8), budgets, changes)


def _one(family: TableFamily, budget: int, changes: Mapping[str, Any]) -> _Setting:
    lists = WorldLists(races=1, has_alone=False, has_ethnicities=False)
    return _Setting(_LONE, lists, {family: Fraction(budget)}, {"max_race_codes": 1, **changes})


NINE_GROUPS = _world("type and tenure of 9 groups, rho 2", _nine(2, {}), 75, 4_000)
TYPE_OF_ONE_GROUP = _world("type of 1 group, rho 1", _one(HOUSEHOLD_TYPE, 1, {}), 25, 20_000)
TENURE_OF_ONE_GROUP = _world("tenure of 1 group, rho 1", _one(TENURE, 1, {}), 25, 20_000)
GEOMETRIC = _world("tenure of 1 group, epsilon 2", _one(TENURE, 2, _GEOMETRIC), 25, 20_000)
LOSS_WORLDS = (
    NINE_GROUPS,
    TYPE_OF_ONE_GROUP,
    TENURE_OF_ONE_GROUP,
    _world("type and tenure of 9 groups, epsilon 4", _nine(4, _GEOMETRIC), 100, 4_000),
    _world("type of 1 group, epsilon 2", _one(HOUSEHOLD_TYPE, 2, _GEOMETRIC), 25, 20_000),
    GEOMETRIC,
)
