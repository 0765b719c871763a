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
from safetab.audit.worlds.configuration import thresholds_of_noise_world
from safetab.census.iterations import IterationLevel
from safetab.products.product import TableFamily
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPE, TENURE
from safetab.products.safetab_p.safetab_p import SAFETAB_P

_NINE_AND_THREE = {IterationLevel.DETAILED: 9, IterationLevel.REGIONAL: 3}
"""Eight codes and an ethnicity are in 9 Detailed groups, and in 3 of two regions of each kind."""
_ONE = dict.fromkeys(IterationLevel, 1)
"""One code is in one group: there are no groups of one race alone, and none of ethnicities."""
_ONE_CODE_GEOMETRIC = {"privacy_defn": "puredp", "max_race_codes": 1}


def _write_usual(made: ModuleType, folder: Path, records: Records, changes: Mapping[str, Any]) -> AuditWorld:
    """Write a world of these records; `made` is the module `persons` or `households`."""
    world: AuditWorld = made.write_world(folder, records, made.audit_config(**changes))
    return world


def _write_noisy(
    made: ModuleType, changes: Mapping[str, Any], lists: files.WorldLists, tracts: int, folder: Path
) -> AuditWorld:
    """Write a noise world, in which every group of every level is drawn."""
    crowded = [replace(made.FILLS_ALL_GROUPS, block=block) for block in files.CROWDED_BLOCKS_OF_NOISE]
    records = (*made.POPULATION, *crowded * files.CROWD, *made.crowds(lists))
    blocks = files.blocks_of_noise_world(tracts, lists)
    world: AuditWorld = made.write_world(folder, records, made.audit_config(**changes), lists, blocks)
    return world


def _write_large(made: ModuleType, config: Mapping[str, Any], folder: Path) -> AuditWorld:
    """Write Detailed groups of tracts; one tract has a crowd, and most have nobody."""
    crowd = [replace(made.FILLS_ALL_GROUPS, block=files.OTHER_BLOCK)] * files.LARGE_CROWD
    blocks = files.blocks_of_large_level()
    world: AuditWorld = made.write_world(folder, crowd, config, files.WorldLists(), blocks)
    return world


_NOISY_PERSONS = {"zero_suppression_chance": 0, **thresholds_of_noise_world(SAFETAB_P.name)}
_NOISY_HOUSEHOLDS = thresholds_of_noise_world(SAFETAB_H.name)


def gaussian_persons(tracts: int = files.TRACTS) -> NoiseWorld:
    """Persons with Gaussian noise at stability 9 and 3."""
    lists = replace(files.NOISE_LISTS, more_total_only_races=260)
    write = partial(_write_noisy, persons, _NOISY_PERSONS, lists, tracts)
    return NoiseWorld("Gaussian, stability 9 and 3", write, _NINE_AND_THREE)


def _geometric_persons() -> NoiseWorld:
    lists = replace(files.NOISE_LISTS_OF_ONE_RACE, more_total_only_races=520)
    write = partial(_write_noisy, persons, _NOISY_PERSONS | _ONE_CODE_GEOMETRIC, lists, files.TRACTS)
    return NoiseWorld("geometric, stability 1", write, _ONE)


def gaussian_households(tracts: int = files.TRACTS) -> NoiseWorld:
    """Households with Gaussian noise at stability 9 and 3; every group has a published total."""
    write = partial(_write_noisy, households, _NOISY_HOUSEHOLDS, files.NOISE_LISTS, tracts)
    return NoiseWorld("households, Gaussian, stability 9 and 3", write, _NINE_AND_THREE)


def _geometric_households(tracts: int = files.TRACTS) -> NoiseWorld:
    changes = _NOISY_HOUSEHOLDS | _ONE_CODE_GEOMETRIC
    write = partial(_write_noisy, households, changes, files.NOISE_LISTS_OF_ONE_RACE, tracts)
    return NoiseWorld("households, geometric, stability 1", write, _ONE)


def _floor_of_persons(name: str, geography: str, gamma: Fraction, share: Fraction) -> FloorWorld:
    """A world at the floor; `gamma` is stage 1's share of the budget."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        changes = {"privacy_defn": definition, "privacy_budget_p_stage_1_fraction": float(gamma)}
        config = persons.config_of_one_level(geography, budget, **changes)
        return persons.write_world(folder, persons.POPULATION, config)

    return FloorWorld(name, 9, share, write)


_LARGE_PERSONS = persons.config_of_one_level("TRACT", 0.5, zero_suppression_chance=0.9, state_filter_us=["44"])
_few_people, _many_people = files.thousands(persons.some_person)
AUDITED_PERSONS = AuditedProduct(
    product=SAFETAB_P,
    write=partial(_write_usual, persons),
    write_large=partial(_write_large, persons, _LARGE_PERSONS),
    population=persons.POPULATION,
    several_more=persons.SEVERAL_MORE,
    neighbours=persons.NEIGHBOURS,
    quick_neighbours=persons.NEIGHBOURS[1:2],
    nobody_in_a_pass=persons.NOBODY_IN_PUERTO_RICO,
    first_of_a_pass=persons.FIRST_OF_PUERTO_RICO,
    few=_few_people,
    many=_many_people,
    routes=(
        runs.RELEASED_AGAIN,
        runs.SMALL_BATCHES,
        runs.COTERMINOUS,
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
    noise_worlds=(gaussian_persons(), _geometric_persons()),
    quick_noise_worlds=(gaussian_persons(files.TRACTS_OF_QUICK),),
    loss_worlds=loss_worlds.PERSON_LOSS_WORLDS,
    quick_loss_worlds=(loss_worlds.NINE_GROUPS, loss_worlds.ONE_GROUP),
    cpu_seconds=CpuSeconds(neighbours=41, routes=68, spending=2, noise=12, loss=125),
    quick_cpu_seconds=CpuSeconds(neighbours=6, routes=7, spending=2, noise=4, loss=4),
)


def _floor_of_households(narrow: TableFamily) -> FloorWorld:
    """A world at the floor; the other family's noise is four times as wide."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        budgets = dict.fromkeys(SAFETAB_H.families, budget / 4) | {narrow: budget}
        config = households.config_of_tracts(budgets, privacy_defn=definition)
        return households.write_world(folder, households.POPULATION, config)

    return FloorWorld(narrow.name, 9, Fraction(1), write)


_LARGE_HOUSEHOLDS = households.config_of_tracts({HOUSEHOLD_TYPE: 0.4, TENURE: 0.5}, state_filter_us=["44"])
_few_households, _many_households = files.thousands(households.some_household)
AUDITED_HOUSEHOLDS = AuditedProduct(
    product=SAFETAB_H,
    write=partial(_write_usual, households),
    write_large=partial(_write_large, households, _LARGE_HOUSEHOLDS),
    population=households.POPULATION,
    several_more=households.SEVERAL_MORE,
    neighbours=households.NEIGHBOURS,
    quick_neighbours=(households.NEIGHBOURS[1], households.NEIGHBOURS[3]),
    nobody_in_a_pass=households.NOBODY_IN_PUERTO_RICO,
    first_of_a_pass=households.FIRST_OF_PUERTO_RICO,
    few=_few_households,
    many=_many_households,
    # runs.CLAMPED is left out: files.thousands of records take that route
    routes=(runs.RELEASED_AGAIN, runs.SMALL_BATCHES, runs.COTERMINOUS, runs.GEOMETRIC, *runs.SPARK_IF_INSTALLED),
    quick_routes=(runs.COTERMINOUS,),
    times_lost=2,
    floor_worlds=tuple(map(_floor_of_households, SAFETAB_H.families)),
    noise_worlds=(gaussian_households(), _geometric_households()),
    quick_noise_worlds=(_geometric_households(files.TRACTS_OF_QUICK),),
    loss_worlds=loss_worlds.HOUSEHOLD_LOSS_WORLDS,
    quick_loss_worlds=(loss_worlds.TYPE_AND_TENURE, loss_worlds.TENURE_GEOMETRIC),
    cpu_seconds=CpuSeconds(neighbours=58, routes=57, spending=6, noise=14, loss=30),
    quick_cpu_seconds=CpuSeconds(neighbours=9, routes=9, spending=5, noise=3, loss=5),
)
