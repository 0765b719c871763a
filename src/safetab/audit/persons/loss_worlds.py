"""The loss of persons: totals and cells of all tables, 9 groups and 1, both kinds of noise, with suppression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, LossWorld
from safetab.audit.persons import world_files as worlds
from safetab.audit.world_lists import CROWDED_BLOCK, EIGHT_RACES, WorldLists
from safetab.census.geography_levels import US_STATES, GeographyLevel
from safetab.privacy.definitions import PrivacyDefinition

_PEOPLE_OF_AN_ENTITY = 4
_STATES = tuple(sorted(US_STATES))[:50]


@dataclass(frozen=True, slots=True)
class _Setting:
    """Who is there or not, and how the level is measured."""

    person: worlds.Person
    lists: WorldLists
    budget: int
    changes: Mapping[str, Any]

    @property
    def geography(self) -> GeographyLevel:
        """TotalOnly groups are measured at state level and above alone."""
        return GeographyLevel.STATE if self.lists.all_total_only else GeographyLevel.TRACT

    def blocks(self, entities: int) -> list[str]:
        if self.geography is GeographyLevel.STATE:
            return [f"{state}|001|000100|1000" for state in _STATES[:entities]]
        return [f"01|{1 + tract // 5000:03d}|{100 + tract % 5000:06d}|1000" for tract in range(entities)]


def _write(setting: _Setting, entities: int, folder: Path) -> AuditWorld:
    blocks = setting.blocks(entities)
    people = tuple(
        replace(setting.person, block=block)
        for place, block in enumerate(blocks)
        for _ in range(_PEOPLE_OF_AN_ENTITY + place % 2)
    )
    states = sorted({block[:2] for block in blocks})
    changes = {"state_filter_us": states, **setting.changes}
    config = worlds.config_of_one_level(setting.geography.label, setting.budget, **changes)
    return worlds.write_world(folder, people, config, setting.lists, dict.fromkeys(blocks, "99999|9999"))


def _world(name: str, setting: _Setting, runs: int, entities: int, *, is_suppressed: bool = False) -> LossWorld:
    is_geometric = "privacy_defn" in setting.changes
    both_stages = (worlds.GAMMA, 1 - worlds.GAMMA)
    return LossWorld(
        name=name,
        definition=PrivacyDefinition.PURE_DP if is_geometric else PrivacyDefinition.ZCDP,
        stability=len(setting.person.races) + setting.lists.has_ethnicities,
        budget=Fraction(setting.budget),
        fractions=(Fraction(1),) if setting.lists.all_total_only else both_stages,
        runs=runs,
        entities=entities,
        write=partial(_write, setting, entities),
        is_suppressed=is_suppressed,
    )


_NINE = WorldLists(races=8)
_ONE = WorldLists(races=1, has_alone=False, has_ethnicities=False)
_WOMAN = replace(worlds.FILLS_ALL_GROUPS, sex=2, age=21)
_INFANT = worlds.Person(CROWDED_BLOCK, EIGHT_RACES[:1], sex=2, age=0)
_ALL_TABLES = {"thresholds_p": {key: [2, 5, 8] for key in worlds.audit_config()["thresholds_p"]}}
_SUPPRESSED = _ALL_TABLES | {"zero_suppression_chance": 0.6}
_GEOMETRIC, _ONE_CODE = {"privacy_defn": "puredp"}, {"max_race_codes": 1}


def _nine_totals(budget: int, changes: Mapping[str, Any]) -> _Setting:
    return _Setting(worlds.FILLS_ALL_GROUPS, replace(_NINE, all_total_only=True), budget, changes)


def _nine(budget: int, changes: Mapping[str, Any]) -> _Setting:
    return _Setting(_WOMAN, _NINE, budget, changes)


def _one(budget: int, changes: Mapping[str, Any]) -> _Setting:
    return _Setting(_INFANT, _ONE, budget, {**_ONE_CODE, **changes})


NINE_TOTALS = _world("9 totals, rho 2", _nine_totals(2, {}), 6_000, 50)
A_KEY_FOR_EVERY_PAIR = _world("9 totals, rho 2, a key for every pair", _nine_totals(2, {}), 140_000, 2)
NINE_GROUPS = _world("9 groups, both stages, all tables, rho 2", _nine(2, _ALL_TABLES), 75, 4_000)
ONE_GROUP = _world("1 group, both stages, all tables, rho 1", _one(1, _ALL_TABLES), 25, 20_000)
GEOMETRIC = _world("9 groups, both stages, all tables, epsilon 4", _nine(4, _ALL_TABLES | _GEOMETRIC), 100, 4_000)
LOSS_WORLDS = (
    NINE_TOTALS,
    A_KEY_FOR_EVERY_PAIR,
    NINE_GROUPS,
    _world("9 groups, suppression, rho 2", _nine(2, _SUPPRESSED), 75, 4_000, is_suppressed=True),
    _world("1 total, rho 1", replace(_one(1, {}), lists=replace(_ONE, all_total_only=True)), 10_000, 50),
    ONE_GROUP,
    _world("9 totals, epsilon 4", _nine_totals(4, _GEOMETRIC), 10_000, 50),
    GEOMETRIC,
    _world("9 groups, suppression, epsilon 4", _nine(4, _SUPPRESSED | _GEOMETRIC), 75, 4_000, is_suppressed=True),
    _world("1 group, both stages, all tables, epsilon 2", _one(2, _ALL_TABLES | _GEOMETRIC), 25, 20_000),
)
