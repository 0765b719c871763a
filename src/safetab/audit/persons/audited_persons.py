"""SafeTab-P as the audit sees it."""

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
from safetab.audit.audited_runs import NOTHING_SUPPRESSED, SPARK_IF_INSTALLED, WAYS
from safetab.audit.persons import loss_worlds
from safetab.audit.persons import world_files as worlds
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
from safetab.products.safetab_p.safetab_p import SAFETAB_P

NEIGHBOURS = (
    Neighbour("one person more", worlds.ONE_MORE_PERSON),
    Neighbour("eight codes and an ethnicity", worlds.EIGHT_CODES_AND_AN_ETHNICITY),
    Neighbour("an infant", worlds.AN_INFANT),
    Neighbour("the oldest woman of Puerto Rico", worlds.THE_OLDEST_WOMAN),
    Neighbour("another sex and age", worlds.ANOTHER_SEX_AND_AGE, is_changed=True),
    Neighbour("a TotalOnly person", worlds.A_TOTAL_ONLY_PERSON),
    Neighbour("one code eight times", worlds.ONE_CODE_EIGHT_TIMES),
    Neighbour("moved to Puerto Rico", worlds.MOVED_TO_PUERTO_RICO),
)


def _write(folder: Path, people: People, changes: Mapping[str, Any]) -> AuditWorld:
    return worlds.write_world(folder, people, worlds.audit_config(**changes))


def _somebody(dice: random.Random, block: str) -> worlds.Person:
    races = tuple(dice.sample(RACES, dice.choice((1, 1, 2, 3, 8))))
    ethnicity = dice.choice(ETHNICITIES)
    return worlds.Person(block, races, ethnicity, dice.choice((1, 2)), dice.randint(0, worlds.OLDEST_AGE))


def _crowds(lists: WorldLists) -> Iterator[worlds.Person]:
    for crowd in crowds_of_noise_world(lists):
        for size, (sex, age) in zip(crowd.sizes, ((1, 30), (2, 70), (2, 3)), strict=False):
            yield from [worlds.Person(crowd.block, (crowd.race,), sex=sex, age=age)] * size


def _write_noise_world(changes: Mapping[str, Any], lists: WorldLists, tracts: int, folder: Path) -> AuditWorld:
    crowd = [replace(worlds.FILLS_ALL_GROUPS, block=block) for block in CROWDED_BLOCKS_OF_NOISE for _ in range(CROWD)]
    thresholds = thresholds_of_noise_world(SAFETAB_P.name)
    config = worlds.audit_config(zero_suppression_chance=0, **thresholds, **changes)
    people, everywhere = (*worlds.POPULATION, *crowd, *_crowds(lists)), blocks_of_noise_world(tracts, lists)
    return worlds.write_world(folder, people, config, lists, everywhere)


def _write_large(folder: Path) -> AuditWorld:
    """Detailed groups of tracts, some of them suppressed; nobody lives in most."""
    config = worlds.config_of_one_level("TRACT", 0.5, zero_suppression_chance=0.9, state_filter_us=["44"])
    crowd = [replace(worlds.FILLS_ALL_GROUPS, block=OTHER_BLOCK)] * LARGE_CROWD
    return worlds.write_world(folder, crowd, config, WorldLists(), blocks_of_large_level())


def gaussian_world(tracts: int = TRACTS) -> NoiseWorld:
    """Eight codes and an ethnicity reach 9 Detailed groups, and of two regions of each kind 3."""
    stability = {IterationLevel.DETAILED: 9, IterationLevel.REGIONAL: 3}
    lists = replace(NOISE_LISTS, more_total_only_races=260)
    write = partial(_write_noise_world, {}, lists, tracts)
    return NoiseWorld("Gaussian, stability 9 and 3", write, stability)


def geometric_world(tracts: int = TRACTS) -> NoiseWorld:
    """One code reaches one group: there are none of people with one race alone, and none of ethnicities."""
    changes = {"privacy_defn": "puredp", "max_race_codes": 1}
    lists = replace(NOISE_LISTS_OF_ONE_RACE, more_total_only_races=520)
    write = partial(_write_noise_world, changes, lists, tracts)
    return NoiseWorld("geometric, stability 1", write, dict.fromkeys(IterationLevel, 1))


def _floor_world(name: str, geography: str, gamma: Fraction, share: Fraction) -> FloorWorld:
    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        changes = {"privacy_defn": definition, "privacy_budget_p_stage_1_fraction": float(gamma)}
        config = worlds.config_of_one_level(geography, budget, **changes)
        return worlds.write_world(folder, worlds.POPULATION, config)

    return FloorWorld(name, 9, share, write)


_few, _many = thousands(_somebody)
AUDITED_PERSONS = AuditedProduct(
    product=SAFETAB_P,
    write=_write,
    write_large=_write_large,
    population=worlds.POPULATION,
    several_more=worlds.SEVERAL_MORE,
    neighbours=NEIGHBOURS,
    quick_neighbours=NEIGHBOURS[1:2],
    nobody_in_a_pass=worlds.NOBODY_IN_PUERTO_RICO,
    first_of_a_pass=Neighbour("the first person of Puerto Rico", worlds.ONE_PERSON_IN_PUERTO_RICO),
    few=_few,
    many=_many,
    ways=(*WAYS, NOTHING_SUPPRESSED, *SPARK_IF_INSTALLED),
    quick_ways=WAYS[3:4],
    times_lost=1,
    floor_worlds=(
        _floor_world("stage 1", "TRACT", Fraction(19, 20), Fraction(19, 20)),
        _floor_world("stage 2", "TRACT", Fraction(1, 10), Fraction(9, 10)),
        _floor_world("TotalOnly groups", "STATE", Fraction(1, 10), Fraction(1)),
    ),
    of_its_own=None,
    noise_worlds=(gaussian_world(), geometric_world()),
    quick_noise_worlds=(gaussian_world(TRACTS_OF_QUICK),),
    loss_worlds=loss_worlds.LOSS_WORLDS,
    quick_loss_worlds=(loss_worlds.NINE_GROUPS, loss_worlds.ONE_GROUP),
    cpu_seconds=CpuSeconds(neighbours=41, ways=68, spending=2, noise=12, loss=125),
    quick_cpu_seconds=CpuSeconds(neighbours=6, ways=7, spending=2, noise=4, loss=4),
)
