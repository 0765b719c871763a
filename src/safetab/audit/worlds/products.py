"""Both products as the audit sees them: their worlds and what a full and a quick audit run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from safetab.audit import audited_runs as runs
from safetab.audit.audited_product import AuditedProduct, AuditWorld, CpuSeconds, FloorWorld, NoiseWorld, Records
from safetab.audit.worlds import households, loss_worlds, persons
from safetab.audit.worlds import public_files as files
from safetab.audit.worlds.configuration import config_of_one_level, thresholds_of_noise_world, usual_config
from safetab.dialects.bureau.us_census import DETAILED, REGIONAL, US
from safetab.products.product import Product
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_p.safetab_p import SAFETAB_P

_MADE_UP: Mapping[Product, ModuleType] = {SAFETAB_P: persons, SAFETAB_H: households}
_ROUTES = (runs.RELEASED_AGAIN, runs.SMALL_BATCHES, runs.COTERMINOUS)
_NINE_AND_THREE = {DETAILED: 9, REGIONAL: 3}
"""Eight codes and an ethnicity are in 9 Detailed groups, and in 3 of two regions of each kind."""
_ONE = dict.fromkeys(US.group_levels, 1)
"""One code is in one group: there are no groups of one race alone, and none of ethnicities."""
_ONE_CODE_GEOMETRIC = {"privacy_defn": "puredp", "max_race_codes": 1}


def _write_usual(product: Product, folder: Path, records: Records, changes: Mapping[str, Any]) -> AuditWorld:
    """Write a world of these records."""
    return files.write_world(product, folder, records, usual_config(product.name, **changes))


def _write_large(product: Product, budgets: Mapping[str, float], folder: Path) -> AuditWorld:
    """Write Detailed groups of tracts; one tract has a crowd, and most have nobody."""
    fills = _MADE_UP[product].FILLS_ALL_GROUPS
    crowd = [replace(fills, block=files.OTHER_BLOCK)] * files.LARGE_CROWD
    changes: dict[str, Any] = {"state_filter_us": ["44"]}
    if product.suppression_key is not None:
        changes[product.suppression_key] = 0.9
    config = config_of_one_level(product.name, "TRACT", budgets, **changes)
    blocks = files.blocks_of_large_level()
    return files.write_world(product, folder, crowd, config, files.WorldLists(), blocks)


def _write_noisy(
    product: Product, lists: files.WorldLists, changes: Mapping[str, Any], tracts: int, folder: Path
) -> AuditWorld:
    """Write a noise world, in which every group of every level is drawn."""
    made = _MADE_UP[product]
    crowded = [replace(made.FILLS_ALL_GROUPS, block=block) for block in files.CROWDED_BLOCKS_OF_NOISE]
    crowds = files.crowds_of_noise_world(lists, made.CROWD_KINDS)
    records = (*made.POPULATION, *crowded * files.CROWD, *crowds)
    unsuppressed = {} if product.suppression_key is None else {product.suppression_key: 0}
    thresholds = thresholds_of_noise_world(product.name)
    config = usual_config(product.name, **unsuppressed, **thresholds, **changes)
    blocks = files.blocks_of_noise_world(tracts, lists)
    return files.write_world(product, folder, records, config, lists, blocks)


def gaussian_persons(tracts: int = files.TRACTS) -> NoiseWorld:
    """Persons with Gaussian noise at stability 9 and 3."""
    lists = replace(files.NOISE_LISTS, more_total_only_races=260)
    write = partial(_write_noisy, SAFETAB_P, lists, {}, tracts)
    return NoiseWorld("Gaussian, stability 9 and 3", write, _NINE_AND_THREE)


def _geometric_persons() -> NoiseWorld:
    lists = replace(files.NOISE_LISTS_OF_ONE_RACE, more_total_only_races=520)
    write = partial(_write_noisy, SAFETAB_P, lists, _ONE_CODE_GEOMETRIC, files.TRACTS)
    return NoiseWorld("geometric, stability 1", write, _ONE)


def gaussian_households(tracts: int = files.TRACTS) -> NoiseWorld:
    """Households with Gaussian noise at stability 9 and 3; every group has a published total."""
    write = partial(_write_noisy, SAFETAB_H, files.NOISE_LISTS, {}, tracts)
    return NoiseWorld("households, Gaussian, stability 9 and 3", write, _NINE_AND_THREE)


def _geometric_households(tracts: int = files.TRACTS) -> NoiseWorld:
    lists = files.NOISE_LISTS_OF_ONE_RACE
    write = partial(_write_noisy, SAFETAB_H, lists, _ONE_CODE_GEOMETRIC, tracts)
    return NoiseWorld("households, geometric, stability 1", write, _ONE)


def _floor_of_persons(name: str, geography: str, gamma: Fraction, share: Fraction) -> FloorWorld:
    """A world at the floor; `gamma` is stage 1's share of the budget."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        changes = {"privacy_defn": definition, "privacy_budget_p_stage_1_fraction": float(gamma)}
        config = config_of_one_level(SAFETAB_P.name, geography, {"persons": budget}, **changes)
        return files.write_world(SAFETAB_P, folder, persons.POPULATION, config)

    return FloorWorld(name, 9, share, write)


def _floor_of_households(narrow: str) -> FloorWorld:
    """A world at the floor; the noise of the family that is not named is four times as wide."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        budgets = {family.name: budget / 4 for family in SAFETAB_H.families} | {narrow: budget}
        config = config_of_one_level(SAFETAB_H.name, "TRACT", budgets, privacy_defn=definition)
        return files.write_world(SAFETAB_H, folder, households.POPULATION, config)

    return FloorWorld(narrow, 9, Fraction(1), write)


_few_people, _many_people = files.thousands(persons.some_person)
AUDITED_PERSONS = AuditedProduct(
    product=SAFETAB_P,
    write=partial(_write_usual, SAFETAB_P),
    write_large=partial(_write_large, SAFETAB_P, {"persons": 0.5}),
    population=persons.POPULATION,
    several_more=persons.SEVERAL_MORE,
    neighbours=persons.NEIGHBOURS,
    quick_neighbours=persons.NEIGHBOURS[1:2],
    nobody_in_a_pass=persons.NOBODY_IN_PUERTO_RICO,
    first_of_a_pass=persons.FIRST_OF_PUERTO_RICO,
    few=_few_people,
    many=_many_people,
    routes=(*_ROUTES, runs.CLAMPED, runs.GEOMETRIC, runs.NOTHING_SUPPRESSED, *runs.SPARK_IF_INSTALLED),
    quick_routes=(runs.CLAMPED,),
    times_lost=1,
    floor_worlds=(
        _floor_of_persons("stage 1", "TRACT", Fraction(19, 20), Fraction(19, 20)),
        _floor_of_persons("stage 2", "TRACT", Fraction(1, 10), Fraction(9, 10)),
        _floor_of_persons("TotalOnly groups", "STATE", Fraction(1, 10), Fraction(1)),
    ),
    noise_worlds=(gaussian_persons(), _geometric_persons()),
    quick_noise_worlds=(gaussian_persons(files.TRACTS_OF_QUICK),),
    loss_worlds=loss_worlds.PERSON_LOSS_WORLDS,
    quick_loss_worlds=(loss_worlds.NINE_GROUPS, loss_worlds.ONE_GROUP),
    cpu_seconds=CpuSeconds(neighbours=41, routes=68, spending=2, noise=12, loss=125),
    quick_cpu_seconds=CpuSeconds(neighbours=6, routes=7, spending=2, noise=4, loss=4),
)


_few_households, _many_households = files.thousands(households.some_household)
AUDITED_HOUSEHOLDS = AuditedProduct(
    product=SAFETAB_H,
    write=partial(_write_usual, SAFETAB_H),
    write_large=partial(_write_large, SAFETAB_H, {"household type": 0.4, "tenure": 0.5}),
    population=households.POPULATION,
    several_more=households.SEVERAL_MORE,
    neighbours=households.NEIGHBOURS,
    quick_neighbours=(households.NEIGHBOURS[1], households.NEIGHBOURS[3]),
    nobody_in_a_pass=households.NOBODY_IN_PUERTO_RICO,
    first_of_a_pass=households.FIRST_OF_PUERTO_RICO,
    few=_few_households,
    many=_many_households,
    # runs.CLAMPED is left out: thousands of records take that route
    routes=(*_ROUTES, runs.GEOMETRIC, *runs.SPARK_IF_INSTALLED),
    quick_routes=(runs.COTERMINOUS,),
    times_lost=2,
    floor_worlds=(_floor_of_households("household type"), _floor_of_households("tenure")),
    noise_worlds=(gaussian_households(), _geometric_households()),
    quick_noise_worlds=(_geometric_households(files.TRACTS_OF_QUICK),),
    loss_worlds=loss_worlds.HOUSEHOLD_LOSS_WORLDS,
    quick_loss_worlds=(loss_worlds.TYPE_AND_TENURE, loss_worlds.TENURE_GEOMETRIC),
    cpu_seconds=CpuSeconds(neighbours=58, routes=57, spending=6, noise=14, loss=30),
    quick_cpu_seconds=CpuSeconds(neighbours=9, routes=9, spending=5, noise=3, loss=5),
)
