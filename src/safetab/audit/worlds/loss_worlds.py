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
from typing import Any

from safetab.audit.audited_product import AuditWorld, LossWorld, MadeUpRecord
from safetab.audit.worlds import households, persons
from safetab.audit.worlds.configuration import GAMMA, config_of_one_level, usual_config
from safetab.audit.worlds.households import Household
from safetab.audit.worlds.persons import Person
from safetab.audit.worlds.public_files import CROWDED_BLOCK, EIGHT_RACES, WorldLists, tracts_alone, write_world
from safetab.dialects.bureau.states import US_STATES
from safetab.privacy.calibration import PrivacyDefinition
from safetab.products.product import Product
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_p.safetab_p import SAFETAB_P

_RECORDS_OF_AN_ENTITY = 4
_STATES = tuple(sorted(US_STATES))[:50]
_NINE_GROUPS = WorldLists(races=8)
_ONE_GROUP = WorldLists(races=1, has_alone=False, has_ethnicities=False)
_GEOMETRIC = {"privacy_defn": "puredp"}
_ONE_CODE = {"max_race_codes": 1}

Changes = Mapping[str, Any]
"""Changes to the configuration."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """The record that is present or not, and how its level is measured."""

    record: MadeUpRecord
    lists: WorldLists
    budgets: Mapping[str, Fraction]  # by table family
    changes: Changes

    @property
    def product(self) -> Product:
        """The record's product. It is not a field: settings are sent to other processes, and no product can be."""
        return SAFETAB_P if isinstance(self.record, Person) else SAFETAB_H

    def write(self, entities: int, folder: Path) -> AuditWorld:
        """Write a world with this number of tracts, or of states for TotalOnly groups.

        Those are measured only at state level and above. Each entity has four copies of the record,
        and every second one has a fifth.
        """
        geography = "TRACT"
        tracts = range(entities)
        blocks = [f"01|{1 + tract // 5000:03d}|{100 + tract % 5000:06d}|1000" for tract in tracts]
        if self.lists.all_total_only:
            geography = "STATE"
            blocks = [f"{state}|001|000100|1000" for state in _STATES[:entities]]
        records: list[MadeUpRecord] = []
        for position, block in enumerate(blocks):
            copies = _RECORDS_OF_AN_ENTITY + position % 2
            records += [replace(self.record, block=block)] * copies
        budgets = {family: float(budget) for family, budget in self.budgets.items()}
        states = sorted({block[:2] for block in blocks})
        changes = {"state_filter_us": states, **self.changes}
        config = config_of_one_level(self.product.name, geography, budgets, **changes)
        return write_world(self.product, folder, records, config, self.lists, tracts_alone(blocks))

    def world(self, name: str, runs: int, entities: int) -> LossWorld:
        """The loss world of this setting."""
        budget = sum(self.budgets.values(), Fraction(0))
        fractions = [of_family / budget for of_family in self.budgets.values()]
        if self.product is SAFETAB_P and not self.lists.all_total_only:
            fractions = [GAMMA, 1 - GAMMA]
        is_pure = "privacy_defn" in self.changes
        return LossWorld(
            name=name,
            definition=PrivacyDefinition.PURE_DP if is_pure else PrivacyDefinition.ZCDP,
            stability=len(self.record.races) + self.lists.has_ethnicities,
            budget=budget,
            fractions=tuple(fractions),
            runs=runs,
            entities=entities,
            write=partial(self.write, entities),
            is_suppressed="zero_suppression_chance" in self.changes,
        )


_WOMAN = replace(persons.FILLS_ALL_GROUPS, sex=2, age=21)
_INFANT = Person(CROWDED_BLOCK, EIGHT_RACES[:1], sex=2, age=0)
_ALL_TABLES = {"thresholds_p": {key: [2, 5, 8] for key in usual_config(SAFETAB_P.name)["thresholds_p"]}}
_SUPPRESSED = _ALL_TABLES | {"zero_suppression_chance": 0.6}


def _of_persons(person: Person, lists: WorldLists, budget: int, changes: Changes) -> _Setting:
    return _Setting(person, lists, {"persons": Fraction(budget)}, changes)


def _nine_totals(budget: int, changes: Changes) -> _Setting:
    lists = replace(_NINE_GROUPS, all_total_only=True)
    return _of_persons(persons.FILLS_ALL_GROUPS, lists, budget, changes)


def _nine_groups(budget: int, changes: Changes) -> _Setting:
    return _of_persons(_WOMAN, _NINE_GROUPS, budget, changes)


def _one_group(budget: int, changes: Changes) -> _Setting:
    return _of_persons(_INFANT, _ONE_GROUP, budget, {**_ONE_CODE, **changes})


_ONE_TOTAL = replace(_one_group(1, {}), lists=replace(_ONE_GROUP, all_total_only=True))
NINE_TOTALS = _nine_totals(2, {}).world("9 totals, rho 2", 6_000, 50)
NINE_GROUPS = _nine_groups(2, _ALL_TABLES).world("9 groups, both stages, all tables, rho 2", 75, 4_000)
NINE_GROUPS_SUPPRESSED = _nine_groups(2, _SUPPRESSED).world("9 groups, suppression, rho 2", 75, 4_000)
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
    _nine_groups(4, _SUPPRESSED | _GEOMETRIC).world("9 groups, suppression, epsilon 4", 75, 4_000),
    _one_group(2, _ALL_TABLES | _GEOMETRIC).world("1 group, both stages, all tables, epsilon 2", 25, 20_000),
)

_TYPE, _TENURE = "household type", "tenure"  # the names of the table families
_LONE = Household(CROWDED_BLOCK, EIGHT_RACES[:1], kind=households.ALONE, tenure=households.WITHOUT_RENT)


def _both_families(budget: int, changes: Changes) -> _Setting:
    """Type and tenure of nine groups; tenure gets the larger share of the budget."""
    budgets = {_TYPE: Fraction(budget * 2, 5), _TENURE: Fraction(budget * 3, 5)}
    return _Setting(households.FILLS_ALL_GROUPS, _NINE_GROUPS, budgets, changes)


def _one_family(family: str, budget: int, changes: Changes) -> _Setting:
    budgets = {family: Fraction(budget)}
    return _Setting(_LONE, _ONE_GROUP, budgets, {**_ONE_CODE, **changes})


TYPE_AND_TENURE = _both_families(2, {}).world("type and tenure of 9 groups, rho 2", 75, 4_000)
TENURE_OF_ONE_GROUP = _one_family(_TENURE, 1, {}).world("tenure of 1 group, rho 1", 25, 20_000)
TENURE_GEOMETRIC = _one_family(_TENURE, 2, _GEOMETRIC).world("tenure of 1 group, epsilon 2", 25, 20_000)
HOUSEHOLD_LOSS_WORLDS = (
    TYPE_AND_TENURE,
    _one_family(_TYPE, 1, {}).world("type of 1 group, rho 1", 25, 20_000),
    TENURE_OF_ONE_GROUP,
    _both_families(4, _GEOMETRIC).world("type and tenure of 9 groups, epsilon 4", 100, 4_000),
    _one_family(_TYPE, 2, _GEOMETRIC).world("type of 1 group, epsilon 2", 25, 20_000),
    TENURE_GEOMETRIC,
)
