"""Worlds of many equal entities, from which the audit estimates the privacy loss of one record.

For persons: totals, and cells of all tables; 9 groups and 1; both kinds of noise; with suppression.
For households: both table families, alone and together; 9 groups and 1; both kinds of noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from safetab.audit.audited_product import AuditWorld, LossWorld
from safetab.audit.worlds import households, persons
from safetab.audit.worlds.households import Household
from safetab.audit.worlds.persons import Person
from safetab.audit.worlds.public_files import CROWDED_BLOCK, EIGHT_RACES, WorldLists, tracts_alone
from safetab.census.geography_levels import US_STATES, GeographyLevel
from safetab.privacy.calibration import PrivacyDefinition
from safetab.products.product import TableFamily
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPE, TENURE

_RECORDS_OF_AN_ENTITY = 4
_STATES = tuple(sorted(US_STATES))[:50]
_NINE_GROUPS = WorldLists(races=8)
_ONE_GROUP = WorldLists(races=1, has_alone=False, has_ethnicities=False)
_GEOMETRIC = {"privacy_defn": "puredp"}
_ONE_CODE = {"max_race_codes": 1}

Changes = Mapping[str, Any]
"""Changes to the configuration."""
AnyRecord = TypeVar("AnyRecord", Person, Household)


@dataclass(frozen=True, slots=True)
class _Persons:
    """The person who is present or not, and how the level is measured."""

    person: Person
    lists: WorldLists
    budget: int
    changes: Changes

    @property
    def geography(self) -> GeographyLevel:
        """States for TotalOnly groups, which are measured only at state level and above."""
        return GeographyLevel.STATE if self.lists.all_total_only else GeographyLevel.TRACT

    def write(self, entities: int, folder: Path) -> AuditWorld:
        """Write a world with this number of entities."""
        if self.geography is GeographyLevel.STATE:
            blocks = [f"{state}|001|000100|1000" for state in _STATES[:entities]]
        else:
            blocks = _tract_blocks(entities)
        people = _in_each_block(self.person, blocks)
        changes = {"state_filter_us": sorted({block[:2] for block in blocks})} | dict(self.changes)
        config = persons.config_of_one_level(self.geography.label, self.budget, **changes)
        return persons.write_world(folder, people, config, self.lists, tracts_alone(blocks))

    def world(self, name: str, runs: int, entities: int, *, is_suppressed: bool = False) -> LossWorld:
        """The loss world of this setting."""
        both_stages = (persons.GAMMA, 1 - persons.GAMMA)
        return LossWorld(
            name=name,
            definition=PrivacyDefinition.PURE_DP if "privacy_defn" in self.changes else PrivacyDefinition.ZCDP,
            stability=len(self.person.races) + self.lists.has_ethnicities,
            budget=Fraction(self.budget),
            fractions=(Fraction(1),) if self.lists.all_total_only else both_stages,
            runs=runs,
            entities=entities,
            write=partial(self.write, entities),
            is_suppressed=is_suppressed,
        )


@dataclass(frozen=True, slots=True)
class _Households:
    """The household that is present or not, and the budgets of its tract."""

    household: Household
    lists: WorldLists
    budgets: Mapping[TableFamily, Fraction]
    changes: Changes

    def write(self, entities: int, folder: Path) -> AuditWorld:
        """Write a world with this number of tracts."""
        blocks = _tract_blocks(entities)
        records = _in_each_block(self.household, blocks)
        budgets = {family: float(budget) for family, budget in self.budgets.items()}
        config = households.config_of_tracts(budgets, state_filter_us=["01"], **self.changes)
        return households.write_world(folder, records, config, self.lists, tracts_alone(blocks))

    def world(self, name: str, runs: int, entities: int) -> LossWorld:
        """The loss world of this setting."""
        budget = sum(self.budgets.values(), Fraction(0))
        return LossWorld(
            name=name,
            definition=PrivacyDefinition.PURE_DP if "privacy_defn" in self.changes else PrivacyDefinition.ZCDP,
            stability=len(self.household.races) + self.lists.has_ethnicities,
            budget=budget,
            fractions=tuple(of_family / budget for of_family in self.budgets.values()),
            runs=runs,
            entities=entities,
            write=partial(self.write, entities),
        )


def _tract_blocks(entities: int) -> list[str]:
    tracts = range(entities)
    return [f"01|{1 + tract // 5000:03d}|{100 + tract % 5000:06d}|1000" for tract in tracts]


def _in_each_block(record: AnyRecord, blocks: list[str]) -> tuple[AnyRecord, ...]:
    """Four copies of the record in each block, and a fifth in every second block."""
    records: list[AnyRecord] = []
    for position, block in enumerate(blocks):
        copies = _RECORDS_OF_AN_ENTITY + position % 2
        records += [replace(record, block=block)] * copies
    return tuple(records)


_WOMAN = replace(persons.FILLS_ALL_GROUPS, sex=2, age=21)
_INFANT = Person(CROWDED_BLOCK, EIGHT_RACES[:1], sex=2, age=0)
_ALL_TABLES = {"thresholds_p": {key: [2, 5, 8] for key in persons.audit_config()["thresholds_p"]}}
_SUPPRESSED = _ALL_TABLES | {"zero_suppression_chance": 0.6}


def _nine_totals(budget: int, changes: Changes) -> _Persons:
    lists = replace(_NINE_GROUPS, all_total_only=True)
    return _Persons(persons.FILLS_ALL_GROUPS, lists, budget, changes)


def _nine_groups(budget: int, changes: Changes) -> _Persons:
    return _Persons(_WOMAN, _NINE_GROUPS, budget, changes)


def _one_group(budget: int, changes: Changes) -> _Persons:
    return _Persons(_INFANT, _ONE_GROUP, budget, {**_ONE_CODE, **changes})


_ONE_TOTAL = replace(_one_group(1, {}), lists=replace(_ONE_GROUP, all_total_only=True))
NINE_TOTALS = _nine_totals(2, {}).world("9 totals, rho 2", 6_000, 50)
NINE_GROUPS = _nine_groups(2, _ALL_TABLES).world("9 groups, both stages, all tables, rho 2", 75, 4_000)
NINE_GROUPS_SUPPRESSED = _nine_groups(2, _SUPPRESSED).world(
    "9 groups, suppression, rho 2", 75, 4_000, is_suppressed=True
)
ONE_GROUP = _one_group(1, _ALL_TABLES).world("1 group, both stages, all tables, rho 1", 25, 20_000)
NINE_GROUPS_GEOMETRIC = _nine_groups(4, _ALL_TABLES | _GEOMETRIC).world(
    "9 groups, both stages, all tables, epsilon 4", 100, 4_000
)
PERSON_LOSS_WORLDS = (
    NINE_TOTALS,
    _nine_totals(2, {}).world("9 totals, rho 2, a key for every pair", 140_000, 2),
    NINE_GROUPS,
    NINE_GROUPS_SUPPRESSED,
    _ONE_TOTAL.world("1 total, rho 1", 10_000, 50),
    ONE_GROUP,
    _nine_totals(4, _GEOMETRIC).world("9 totals, epsilon 4", 10_000, 50),
    NINE_GROUPS_GEOMETRIC,
    _nine_groups(4, _SUPPRESSED | _GEOMETRIC).world("9 groups, suppression, epsilon 4", 75, 4_000, is_suppressed=True),
    _one_group(2, _ALL_TABLES | _GEOMETRIC).world("1 group, both stages, all tables, epsilon 2", 25, 20_000),
)

_LONE = Household(CROWDED_BLOCK, EIGHT_RACES[:1], kind=households.ALONE, tenure=households.WITHOUT_RENT)


def _both_families(budget: int, changes: Changes) -> _Households:
    """Type and tenure of nine groups; tenure gets the larger share of the budget."""
    budgets = {HOUSEHOLD_TYPE: Fraction(budget * 2, 5), TENURE: Fraction(budget * 3, 5)}
    return _Households(households.FILLS_ALL_GROUPS, _NINE_GROUPS, budgets, changes)


def _one_family(family: TableFamily, budget: int, changes: Changes) -> _Households:
    return _Households(_LONE, _ONE_GROUP, {family: Fraction(budget)}, {**_ONE_CODE, **changes})


TYPE_AND_TENURE = _both_families(2, {}).world("type and tenure of 9 groups, rho 2", 75, 4_000)
TENURE_OF_ONE_GROUP = _one_family(TENURE, 1, {}).world("tenure of 1 group, rho 1", 25, 20_000)
TENURE_GEOMETRIC = _one_family(TENURE, 2, _GEOMETRIC).world("tenure of 1 group, epsilon 2", 25, 20_000)
HOUSEHOLD_LOSS_WORLDS = (
    TYPE_AND_TENURE,
    _one_family(HOUSEHOLD_TYPE, 1, {}).world("type of 1 group, rho 1", 25, 20_000),
    TENURE_OF_ONE_GROUP,
    _both_families(4, _GEOMETRIC).world("type and tenure of 9 groups, epsilon 4", 100, 4_000),
    _one_family(HOUSEHOLD_TYPE, 2, _GEOMETRIC).world("type of 1 group, epsilon 2", 25, 20_000),
    TENURE_GEOMETRIC,
)
