"""SafeTab-H as the audit sees it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import (
    AuditedProduct,
    AuditWorld,
    CpuSeconds,
    FloorWorld,
    Neighbour,
    NoiseWorld,
    People,
)
from safetab.audit.audited_runs import SPARK_IF_INSTALLED, WAYS
from safetab.audit.households import loss_worlds
from safetab.audit.households import world_files as worlds
from safetab.audit.households.published_totals import published_totals
from safetab.audit.households.release_checks import release_checks
from safetab.audit.world_config import thresholds_of_noise_world
from safetab.audit.world_lists import (
    CROWD,
    CROWDED_BLOCKS_OF_NOISE,
    ETHNICITIES,
    LARGE_CROWD,
    NOISE_LISTS,
    NOISE_LISTS_OF_ONE_RACE,
    OTHER_BLOCK,
    RACES,
    TRACTS,
    TRACTS_OF_QUICK,
    WorldLists,
    blocks_of_large_level,
    blocks_of_noise_world,
    crowds_of_noise_world,
    thousands,
)
from safetab.census.iterations import IterationLevel
from safetab.products.product import TableFamily
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPE, HOUSEHOLD_TYPES, TENURE, TENURES

NEIGHBOURS = (
    Neighbour("one household more", worlds.ONE_MORE_HOUSEHOLD),
    Neighbour("eight codes and an ethnicity", worlds.EIGHT_CODES_AND_AN_ETHNICITY),
    Neighbour("alone, without rent", worlds.ALONE_WITHOUT_RENT),
    Neighbour("another tenure", worlds.ANOTHER_TENURE, is_changed=True),
    Neighbour("another household type", worlds.ANOTHER_TYPE, is_changed=True),
    Neighbour("a household of Puerto Rico", worlds.A_PUERTO_RICAN_HOUSEHOLD),
    Neighbour("a householder with other codes", worlds.OTHER_CODES, has_other_codes=True),
    Neighbour("a TotalOnly householder", worlds.A_TOTAL_ONLY_HOUSEHOLDER),
    Neighbour("one code eight times", worlds.ONE_CODE_EIGHT_TIMES),
    Neighbour("moved to Puerto Rico", worlds.MOVED_TO_PUERTO_RICO),
)


def _write(folder: Path, people: People, changes: Mapping[str, Any]) -> AuditWorld:
    return worlds.write_world(folder, people, worlds.audit_config(**changes))


def _some_household(dice: random.Random, block: str) -> worlds.Household:
    races = tuple(dice.sample(RACES, dice.choice((1, 1, 2, 3, 8))))
    kind, tenure = dice.randint(1, HOUSEHOLD_TYPES), dice.randint(1, TENURES)
    return worlds.Household(block, races, dice.choice(ETHNICITIES), kind, tenure)


def _crowds(lists: WorldLists) -> Iterator[worlds.Household]:
    for crowd in crowds_of_noise_world(lists):
        for size, (kind, tenure) in zip(crowd.sizes, ((1, 1), (4, 4), (3, 2)), strict=False):
            yield from [worlds.Household(crowd.block, (crowd.race,), kind=kind, tenure=tenure)] * size


def _write_noise_world(changes: Mapping[str, Any], lists: WorldLists, tracts: int, folder: Path) -> AuditWorld:
    """Every group has a total, so every group is drawn."""
    crowd = [replace(worlds.FILLS_ALL_GROUPS, block=block) for block in CROWDED_BLOCKS_OF_NOISE for _ in range(CROWD)]
    config = worlds.audit_config(**thresholds_of_noise_world(SAFETAB_H.name), **changes)
    everywhere = blocks_of_noise_world(tracts, lists)
    households, totals = (*worlds.POPULATION, *crowd, *_crowds(lists)), published_totals(lists, everywhere)
    return worlds.write_with_totals(folder, households, config, lists, everywhere, totals)


def _write_large(folder: Path) -> AuditWorld:
    """Detailed groups of tracts, all with a total; nobody lives in most."""
    config = worlds.config_of_tracts({HOUSEHOLD_TYPE: 0.4, TENURE: 0.5}, state_filter_us=["44"])
    crowd = [replace(worlds.FILLS_ALL_GROUPS, block=OTHER_BLOCK)] * LARGE_CROWD
    lists, blocks = WorldLists(), blocks_of_large_level()
    return worlds.write_with_totals(folder, crowd, config, lists, blocks, published_totals(lists, blocks))


def gaussian_world(tracts: int = TRACTS) -> NoiseWorld:
    """Eight codes and an ethnicity reach 9 Detailed groups, and of two regions of each kind 3."""
    stability = {IterationLevel.DETAILED: 9, IterationLevel.REGIONAL: 3}
    write = partial(_write_noise_world, {}, NOISE_LISTS, tracts)
    return NoiseWorld("households, Gaussian, stability 9 and 3", write, stability)


def geometric_world(tracts: int = TRACTS) -> NoiseWorld:
    """One code reaches one group: there are none of one race alone, and none of ethnicities."""
    changes = {"privacy_defn": "puredp", "max_race_codes": 1}
    write = partial(_write_noise_world, changes, NOISE_LISTS_OF_ONE_RACE, tracts)
    return NoiseWorld("households, geometric, stability 1", write, dict.fromkeys(IterationLevel, 1))


def _floor_world(narrow: TableFamily) -> FloorWorld:
    """The other family's noise is four times as wide."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        budgets = {family: budget if family is narrow else budget / 4 for family in SAFETAB_H.families}
        return worlds.write_world(folder, worlds.POPULATION, worlds.config_of_tracts(budgets, privacy_defn=definition))

    return FloorWorld(narrow.name, 9, Fraction(1), write)


_few, _many = thousands(_some_household)
AUDITED_HOUSEHOLDS = AuditedProduct(
    product=SAFETAB_H,
    write=_write,
    write_large=_write_large,
    population=worlds.POPULATION,
    several_more=worlds.SEVERAL_MORE,
    neighbours=NEIGHBOURS,
    quick_neighbours=(NEIGHBOURS[1], NEIGHBOURS[3]),
    nobody_in_a_pass=worlds.NOBODY_IN_PUERTO_RICO,
    first_of_a_pass=Neighbour("the first household of Puerto Rico", worlds.ONE_HOUSEHOLD_IN_PUERTO_RICO),
    few=_few,
    many=_many,
    ways=(*WAYS[:3], WAYS[4], *SPARK_IF_INSTALLED),  # what is left out is the way of the thousands
    quick_ways=WAYS[2:3],
    times_lost=2,
    floor_worlds=tuple(map(_floor_world, SAFETAB_H.families)),
    of_its_own=release_checks,
    noise_worlds=(gaussian_world(), geometric_world()),
    quick_noise_worlds=(geometric_world(TRACTS_OF_QUICK),),
    loss_worlds=loss_worlds.LOSS_WORLDS,
    quick_loss_worlds=(loss_worlds.NINE_GROUPS, loss_worlds.GEOMETRIC),
    cpu_seconds=CpuSeconds(neighbours=58, ways=57, spending=6, noise=14, loss=30),
    quick_cpu_seconds=CpuSeconds(neighbours=9, ways=9, spending=5, noise=3, loss=5),
)
