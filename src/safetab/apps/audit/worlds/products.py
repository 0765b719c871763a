"""Both products as the audit sees them.

It has their worlds and what a full and a quick audit run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from safetab.apps.audit import audited_runs as runs
from safetab.apps.audit.audited_product import (
    AuditedProduct,
    AuditWorld,
    FloorWorld,
    LossWorld,
    MadeUpRecord,
    Neighbour,
    NoiseWorld,
    Records,
)
from safetab.apps.audit.worlds import public_files as files
from safetab.apps.audit.worlds.configuration import (
    GAMMA,
    config_of_one_level,
    thresholds_of_noise_world,
    usual_config,
)
from safetab.model.census.groups import GroupLevel
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import as_shipped
from safetab.model.products.product import Product
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLD_TYPES, SAFETAB_H, TENURES
from safetab.model.products.safetab_p.safetab_p import SAFETAB_P
from safetab.model.us.states import US_STATES
from safetab.model.us.us_census import DETAILED, REGIONAL, US

_OLDEST_AGE = 115
_MARRIED, _LIVING_ALONE = 1, 4
_MORTGAGED, _FREE_AND_CLEAR, _WITHOUT_RENT = 1, 2, 4
_FILLS_ALL_GROUPS = (files.CROWDED_BLOCK, files.EIGHT_RACES, files.ETHNICITIES[0])
_OF_NINTH_RACE = (files.CROWDED_BLOCK, (files.RACES[8],))
_TOTAL_ONLY = (files.OTHER_BLOCK, (files.TOTAL_ONLY_RACE,), files.TOTAL_ONLY_ETHNICITY)
_ONE_CODE_EIGHT_TIMES = (files.EMPTY_BLOCK, (files.RACES[0],) * 8, files.ETHNICITIES[1])


@dataclass(frozen=True, slots=True)
class _Person(MadeUpRecord):
    """A made-up person."""

    sex: int = 1
    age: int = 30

    @property
    def row(self) -> str:
        """The person's line in the file of persons."""
        return "|".join((str(self.age), str(self.sex), "True", *files.block_and_codes(self)))


@dataclass(frozen=True, slots=True)
class _Household(MadeUpRecord):
    """A made-up household: the householder's codes, the type and the tenure."""

    kind: int = _MARRIED
    tenure: int = _MORTGAGED

    @property
    def row(self) -> str:
        """The household's line in the file of households."""
        return "|".join((*files.block_and_codes(self), str(self.kind), str(self.tenure)))


@dataclass(frozen=True, slots=True)
class _MadeUp:
    """The records of a product's worlds. The first of the population fills all groups."""

    population: Records
    several_more: Records
    neighbours: tuple[Neighbour, ...]
    crowd_kinds: Records  # of a noise world
    some_record: Callable[[random.Random, str], MadeUpRecord]


def _persons() -> _MadeUp:
    fills, ninth = _Person(*_FILLS_ALL_GROUPS), _Person(*_OF_NINTH_RACE)
    kinds = [replace(ninth, sex=sex, age=age) for sex in (1, 2) for age in (3, 70)]
    first, *rest = population = files.population(fills, kinds)
    infant_girl = replace(fills, sex=2, age=0)
    oldest_woman = replace(fills, sex=2, age=_OLDEST_AGE, block=files.PUERTO_RICAN_BLOCK)
    in_empty_block = _Person(files.EMPTY_BLOCK, (files.RACES[9],))
    neighbours = (
        Neighbour("one person more", (*population, in_empty_block)),
        Neighbour("eight codes and an ethnicity", (*population, fills)),
        Neighbour("an infant", (*population, infant_girl)),
        Neighbour("the oldest woman of Puerto Rico", (*population, oldest_woman)),
        Neighbour("another sex and age", (replace(first, sex=2, age=84), *rest), is_changed=True),
        Neighbour("a TotalOnly person", (*population, _Person(*_TOTAL_ONLY))),
        Neighbour("one code eight times", (*population, _Person(*_ONE_CODE_EIGHT_TIMES))),
        Neighbour("moved to Puerto Rico", (*rest, replace(first, block=files.PUERTO_RICAN_BLOCK))),
    )
    several_more = (*population, fills, infant_girl, oldest_woman, in_empty_block)
    crowd_kinds = (ninth, replace(ninth, sex=2, age=70), replace(ninth, sex=2, age=3))
    return _MadeUp(population, several_more, neighbours, crowd_kinds, _some_person)


def _some_person(dice: random.Random, block: str) -> _Person:
    """A person with random codes, sex and age."""
    races = tuple(dice.sample(files.RACES, dice.choice((1, 1, 2, 3, 8))))
    ethnicity = dice.choice(files.ETHNICITIES)
    return _Person(block, races, ethnicity, dice.choice((1, 2)), dice.randint(0, _OLDEST_AGE))


def _households() -> _MadeUp:
    fills, ninth = _Household(*_FILLS_ALL_GROUPS), _Household(*_OF_NINTH_RACE)
    kinds = [replace(ninth, kind=kind, tenure=kind - 1) for kind in (2, 3, 4, 5)]
    first, *rest = population = files.population(fills, kinds)
    rents_nothing = replace(fills, kind=_LIVING_ALONE, tenure=_WITHOUT_RENT)
    puerto_rican = replace(fills, kind=5, tenure=_FREE_AND_CLEAR, block=files.PUERTO_RICAN_BLOCK)
    in_empty_block = _Household(files.EMPTY_BLOCK, (files.RACES[0], files.RACES[9]))
    other_codes = replace(first, races=(files.RACES[10],), ethnicity=files.ETHNICITIES[1])
    neighbours = (
        Neighbour("one household more", (*population, in_empty_block)),
        Neighbour("eight codes and an ethnicity", (*population, fills)),
        Neighbour("alone, without rent", (*population, rents_nothing)),
        Neighbour("another tenure", (replace(first, tenure=_WITHOUT_RENT), *rest), is_changed=True),
        Neighbour(
            "another household type", (replace(first, kind=_LIVING_ALONE), *rest), is_changed=True
        ),
        Neighbour("a household of Puerto Rico", (*population, puerto_rican)),
        Neighbour("a householder with other codes", (*rest, other_codes), has_other_codes=True),
        Neighbour("a TotalOnly householder", (*population, _Household(*_TOTAL_ONLY))),
        Neighbour("one code eight times", (*population, _Household(*_ONE_CODE_EIGHT_TIMES))),
        Neighbour("moved to Puerto Rico", (*rest, replace(first, block=files.PUERTO_RICAN_BLOCK))),
    )
    several_more = (*population, fills, rents_nothing, puerto_rican, in_empty_block)
    alone = replace(ninth, kind=_LIVING_ALONE, tenure=_WITHOUT_RENT)
    crowd_kinds = (ninth, alone, replace(ninth, kind=3, tenure=_FREE_AND_CLEAR))
    return _MadeUp(population, several_more, neighbours, crowd_kinds, _some_household)


def _some_household(dice: random.Random, block: str) -> _Household:
    """A household with random codes, type and tenure."""
    races = tuple(dice.sample(files.RACES, dice.choice((1, 1, 2, 3, 8))))
    kind = dice.randint(1, HOUSEHOLD_TYPES)
    tenure = dice.randint(1, TENURES)
    return _Household(block, races, dice.choice(files.ETHNICITIES), kind, tenure)


PERSONS, HOUSEHOLDS = _persons(), _households()


_MADE_UP: Mapping[Product, _MadeUp] = {SAFETAB_P: PERSONS, SAFETAB_H: HOUSEHOLDS}
_ROUTES = (runs.RELEASED_AGAIN, runs.SMALL_BATCHES, runs.COTERMINOUS)
_NINE_AND_THREE = {DETAILED: 9, REGIONAL: 3}
"""Eight codes and an ethnicity are in 9 Detailed groups, and in 3 Regional ones.

The Regional groups are of two regions of each kind.
"""
_ONE = dict.fromkeys(US.group_levels, 1)
"""One code is in one group.

There are no groups of one race alone, and no groups of ethnicities.
"""
_ONE_CODE_GEOMETRIC = {"privacy_defn": "puredp", "max_race_codes": 1}


def _write_usual(
    product: Product, folder: Path, records: Records, changes: Mapping[str, Any]
) -> AuditWorld:
    """Write a world of these records."""
    return files.write_world(product, folder, records, usual_config(product.name, **changes))


def _write_large(product: Product, budgets: Mapping[str, float], folder: Path) -> AuditWorld:
    """Write Detailed groups of tracts; one tract has a crowd, and most have nobody."""
    fills_all_groups, *_ = _MADE_UP[product].population
    crowd = [replace(fills_all_groups, block=files.OTHER_BLOCK)] * files.LARGE_CROWD
    changes: dict[str, Any] = {"state_filter_us": ["44"]}
    suppression_key = as_shipped(product).suppression_key
    if suppression_key is not None:
        changes[suppression_key] = 0.9
    config = config_of_one_level(product.name, "TRACT", budgets, **changes)
    blocks = files.blocks_of_large_level()
    return files.write_world(product, folder, crowd, config, files.WorldLists(), blocks)


def _write_noisy(
    product: Product, lists: files.WorldLists, changes: Mapping[str, Any], tracts: int, folder: Path
) -> AuditWorld:
    """Write a noise world, in which every group of every level is drawn."""
    made = _MADE_UP[product]
    crowded = [replace(made.population[0], block=block) for block in files.CROWDED_BLOCKS_OF_NOISE]
    crowds = files.crowds_of_noise_world(lists, made.crowd_kinds)
    records = (*made.population, *crowded * files.CROWD, *crowds)
    suppression_key = as_shipped(product).suppression_key
    unsuppressed = {} if suppression_key is None else {suppression_key: 0}
    thresholds = thresholds_of_noise_world(product.name)
    config = usual_config(product.name, **unsuppressed, **thresholds, **changes)
    blocks = files.blocks_of_noise_world(tracts, lists)
    return files.write_world(product, folder, records, config, lists, blocks)


_Noise = tuple[str, files.WorldLists, Mapping[str, Any], Mapping[GroupLevel, int]]
"""A name, lists, changes to the configuration, and the stability of each level of groups."""
_GAUSSIAN: _Noise = ("Gaussian, stability 9 and 3", files.NOISE_LISTS, {}, _NINE_AND_THREE)
_GEOMETRIC: _Noise = (
    "geometric, stability 1",
    files.NOISE_LISTS_OF_ONE_RACE,
    _ONE_CODE_GEOMETRIC,
    _ONE,
)


def _noise_world(
    product: Product, noise: _Noise, total_only_races: int = 0, tracts: int = files.TRACTS
) -> NoiseWorld:
    """A world with this noise; every group of households has a published total."""
    name, lists, changes, stability = noise
    lists = replace(lists, more_total_only_races=total_only_races)
    which = "" if product is SAFETAB_P else "households, "
    return NoiseWorld(
        f"{which}{name}", partial(_write_noisy, product, lists, changes, tracts), stability
    )


gaussian_persons = partial(_noise_world, SAFETAB_P, _GAUSSIAN, 260)
gaussian_households = partial(_noise_world, SAFETAB_H, _GAUSSIAN, 0)


def _floor_world(
    product: Product,
    name: str,
    share: Fraction,
    shares: Mapping[str, float],
    geography: str = "TRACT",
    **changes: Any,
) -> FloorWorld:
    """A world at the floor; `shares` are what each table family gets of the budget."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        budgets = {family: budget * of_family for family, of_family in shares.items()}
        config = config_of_one_level(
            product.name, geography, budgets, privacy_defn=definition, **changes
        )
        return files.write_world(product, folder, _MADE_UP[product].population, config)

    return FloorWorld(name, 9, share, write)


def _floor_of_persons(name: str, geography: str, gamma: Fraction, share: Fraction) -> FloorWorld:
    """A world at the floor; `gamma` is stage 1's share of the budget."""
    stage_1 = {"privacy_budget_p_stage_1_fraction": float(gamma)}
    return _floor_world(SAFETAB_P, name, share, {"persons": 1}, geography, **stage_1)


_Setting = tuple[MadeUpRecord, files.WorldLists]
"""The record that is present or not, and the lists of its groups.

Worlds of many equal entities show the loss of this record. For persons: totals, and cells of all
tables; 9 groups and 1; both kinds of noise; with suppression. For households: both table families,
alone and together; 9 groups and 1; both kinds of noise.
"""
_RECORDS_OF_AN_ENTITY = 4
_STATES = tuple(sorted(US_STATES))[:50]
_NINE_GROUPS = files.WorldLists(races=8)
_ONE_GROUP = files.WorldLists(races=1, has_alone=False, has_ethnicities=False)
_PURE = {"privacy_defn": "puredp"}
_PERSONS = {"persons": Fraction(1)}
_TYPE = {"household type": Fraction(1)}
_TENURE = {"tenure": Fraction(1)}
_BOTH_FAMILIES = {"household type": Fraction(2, 5), "tenure": Fraction(3, 5)}
"""Shares of a budget; tenure gets the larger one."""


def _write_loss(
    setting: _Setting,
    budgets: Mapping[str, float],
    changes: Mapping[str, Any],
    entities: int,
    folder: Path,
) -> AuditWorld:
    """Write a world with this number of tracts, or of states for TotalOnly groups.

    Those are measured only at state level and above. Each entity has four copies of the record,
    and every second one has a fifth.
    """
    record, lists = setting
    # no product can be sent to another process, and these arguments are
    product = SAFETAB_P if isinstance(record, _Person) else SAFETAB_H
    geography = "TRACT"
    blocks = [
        f"01|{1 + tract // 5000:03d}|{100 + tract % 5000:06d}|1000" for tract in range(entities)
    ]
    if lists.all_total_only:
        geography = "STATE"
        blocks = [f"{state}|001|000100|1000" for state in _STATES[:entities]]
    records: list[MadeUpRecord] = []
    for position, block in enumerate(blocks):
        records += [replace(record, block=block)] * (_RECORDS_OF_AN_ENTITY + position % 2)
    states, answers = sorted({block[:2] for block in blocks}), len(record.races)
    more = {"state_filter_us": states, "max_race_codes": answers, **changes}
    config = config_of_one_level(product.name, geography, budgets, **more)
    return files.write_world(product, folder, records, config, lists, files.tracts_alone(blocks))


def _loss_world(
    name: str,
    setting: _Setting,
    shares: Mapping[str, Fraction],
    budget: int,
    runs: int,
    entities: int,
    **changes: Any,
) -> LossWorld:
    """The loss world of a setting, in which each table family has its share of the budget."""
    record, lists = setting
    has_stage_1 = isinstance(record, _Person) and not lists.all_total_only
    budgets = {family: float(budget * share) for family, share in shares.items()}
    return LossWorld(
        name=name,
        definition=PrivacyDefinition.PURE_DP
        if "privacy_defn" in changes
        else PrivacyDefinition.ZCDP,
        stability=len(record.races) + lists.has_ethnicities,
        budget=Fraction(budget),
        fractions=(GAMMA, 1 - GAMMA) if has_stage_1 else tuple(shares.values()),
        runs=runs,
        entities=entities,
        write=partial(_write_loss, setting, budgets, changes, entities),
        is_suppressed="zero_suppression_chance" in changes,
    )


_NINE_TOTALS: _Setting = (PERSONS.population[0], replace(_NINE_GROUPS, all_total_only=True))
_WOMAN: _Setting = (
    _Person(files.CROWDED_BLOCK, files.EIGHT_RACES, files.ETHNICITIES[0], sex=2, age=21),
    _NINE_GROUPS,
)
_INFANT: _Setting = (_Person(files.CROWDED_BLOCK, files.EIGHT_RACES[:1], sex=2, age=0), _ONE_GROUP)
_ONE_TOTAL: _Setting = (_INFANT[0], replace(_ONE_GROUP, all_total_only=True))
_TABLES = {"thresholds_p": {key: [2, 5, 8] for key in usual_config(SAFETAB_P.name)["thresholds_p"]}}
_SUPPRESSED = _TABLES | {"zero_suppression_chance": 0.6}
NINE_TOTALS = _loss_world("9 totals, rho 2", _NINE_TOTALS, _PERSONS, 2, 6_000, 50)
_BOTH_STAGES = _loss_world(
    "9 groups, both stages, all tables, rho 2", _WOMAN, _PERSONS, 2, 75, 4_000, **_TABLES
)
NINE_GROUPS_SUPPRESSED = _loss_world(
    "9 groups, suppression, rho 2", _WOMAN, _PERSONS, 2, 75, 4_000, **_SUPPRESSED
)
ONE_GROUP = _loss_world(
    "1 group, both stages, all tables, rho 1", _INFANT, _PERSONS, 1, 25, 20_000, **_TABLES
)
NINE_GROUPS_GEOMETRIC = _loss_world(
    "9 groups, both stages, all tables, epsilon 4",
    _WOMAN,
    _PERSONS,
    4,
    100,
    4_000,
    **_TABLES,
    **_PURE,
)
PERSON_LOSS_WORLDS = (
    NINE_TOTALS,
    _loss_world("9 totals, rho 2, a key for every pair", _NINE_TOTALS, _PERSONS, 2, 140_000, 2),
    _BOTH_STAGES,
    NINE_GROUPS_SUPPRESSED,
    _loss_world("1 total, rho 1", _ONE_TOTAL, _PERSONS, 1, 10_000, 50),
    ONE_GROUP,
    _loss_world("9 totals, epsilon 4", _NINE_TOTALS, _PERSONS, 4, 10_000, 50, **_PURE),
    NINE_GROUPS_GEOMETRIC,
    _loss_world(
        "9 groups, suppression, epsilon 4", _WOMAN, _PERSONS, 4, 75, 4_000, **_SUPPRESSED, **_PURE
    ),
    _loss_world(
        "1 group, both stages, all tables, epsilon 2",
        _INFANT,
        _PERSONS,
        2,
        25,
        20_000,
        **_TABLES,
        **_PURE,
    ),
)

_FILLS: _Setting = (HOUSEHOLDS.population[0], _NINE_GROUPS)
_ALONE = _Household(
    files.CROWDED_BLOCK, files.EIGHT_RACES[:1], kind=_LIVING_ALONE, tenure=_WITHOUT_RENT
)
_LONE: _Setting = (_ALONE, _ONE_GROUP)
_TYPE_AND_TENURE = _loss_world(
    "type and tenure of 9 groups, rho 2", _FILLS, _BOTH_FAMILIES, 2, 75, 4_000
)
TENURE_OF_ONE_GROUP = _loss_world("tenure of 1 group, rho 1", _LONE, _TENURE, 1, 25, 20_000)
_TENURE_GEOMETRIC = _loss_world(
    "tenure of 1 group, epsilon 2", _LONE, _TENURE, 2, 25, 20_000, **_PURE
)
HOUSEHOLD_LOSS_WORLDS = (
    _TYPE_AND_TENURE,
    _loss_world("type of 1 group, rho 1", _LONE, _TYPE, 1, 25, 20_000),
    TENURE_OF_ONE_GROUP,
    _loss_world(
        "type and tenure of 9 groups, epsilon 4", _FILLS, _BOTH_FAMILIES, 4, 100, 4_000, **_PURE
    ),
    _loss_world("type of 1 group, epsilon 2", _LONE, _TYPE, 2, 25, 20_000, **_PURE),
    _TENURE_GEOMETRIC,
)


def _audited(product: Product, budgets: Mapping[str, float], **own: Any) -> AuditedProduct:
    """A product with the worlds that both products have; `budgets` are those of a large level."""
    made = _MADE_UP[product]
    nobody = tuple(record for record in made.population if not record.block.startswith("72|"))
    first = replace(made.crowd_kinds[0], block=files.PUERTO_RICAN_BLOCK, races=files.RACES[:1])
    return AuditedProduct(
        product=product,
        write=partial(_write_usual, product),
        write_large=partial(_write_large, product, budgets),
        population=made.population,
        several_more=made.several_more,
        neighbours=made.neighbours,
        first_of_a_pass=Neighbour(
            f"the first {product.record.noun} of Puerto Rico", (*nobody, first)
        ),
        thousands=files.thousands(made.some_record),
        **own,
    )


AUDITED_PERSONS = _audited(
    SAFETAB_P,
    {"persons": 0.5},
    quick_neighbours=PERSONS.neighbours[1:2],
    routes=(
        *_ROUTES,
        runs.CLAMPED,
        runs.GEOMETRIC,
        runs.NOTHING_SUPPRESSED,
        *runs.SPARK_IF_INSTALLED,
    ),
    quick_routes=(runs.CLAMPED,),
    times_lost=1,
    floor_worlds=(
        _floor_of_persons("stage 1", "TRACT", Fraction(19, 20), Fraction(19, 20)),
        _floor_of_persons("stage 2", "TRACT", Fraction(1, 10), Fraction(9, 10)),
        _floor_of_persons("TotalOnly groups", "STATE", Fraction(1, 10), Fraction(1)),
    ),
    noise_worlds=(gaussian_persons(), _noise_world(SAFETAB_P, _GEOMETRIC, 520)),
    quick_noise_worlds=(gaussian_persons(files.TRACTS_OF_QUICK),),
    loss_worlds=PERSON_LOSS_WORLDS,
    quick_loss_worlds=(ONE_GROUP,),  # a stay of a guest is in several groups
    cpu_seconds={"neighbours": 41, "routes": 68, "spending": 1, "noise": 12, "loss": 125},
    quick_cpu_seconds={"neighbours": 6, "routes": 7, "spending": 1, "noise": 4, "loss": 1},
)
AUDITED_HOUSEHOLDS = _audited(
    SAFETAB_H,
    {"household type": 0.4, "tenure": 0.5},
    quick_neighbours=HOUSEHOLDS.neighbours[1:2],
    # runs.CLAMPED is left out: thousands of records take that route
    routes=(*_ROUTES, runs.GEOMETRIC, *runs.SPARK_IF_INSTALLED),
    quick_routes=(runs.COTERMINOUS,),
    times_lost=2,
    floor_worlds=(  # the noise of the other family is four times as wide
        _floor_world(
            SAFETAB_H, "household type", Fraction(1), {"household type": 1, "tenure": 0.25}
        ),
        _floor_world(SAFETAB_H, "tenure", Fraction(1), {"household type": 0.25, "tenure": 1}),
    ),
    noise_worlds=(gaussian_households(), _noise_world(SAFETAB_H, _GEOMETRIC)),
    quick_noise_worlds=(_noise_world(SAFETAB_H, _GEOMETRIC, tracts=files.TRACTS_OF_QUICK),),
    loss_worlds=HOUSEHOLD_LOSS_WORLDS,
    quick_loss_worlds=(_TYPE_AND_TENURE, _TENURE_GEOMETRIC),
    cpu_seconds={"neighbours": 58, "routes": 57, "spending": 5, "noise": 14, "loss": 30},
    quick_cpu_seconds={"neighbours": 4, "routes": 9, "spending": 4, "noise": 3, "loss": 3},
)
