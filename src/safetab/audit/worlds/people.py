"""The audit's worlds of persons and of households, and neighbours with one more record or another one.

Four people, or four householders, have the same eight race codes and the same ethnicity and live in
one block; nobody else has these codes. A fifth person lifts each of their groups from 4 to 5: at some
levels over the first threshold (5), at some over the suppression threshold (4), if the program looked
at true counts. Budgets and thresholds differ from level to level. Two tracts, a place, an AIANNH area
and several groups have nobody. Published totals say nothing about the households: a group of four may
be measured in any table, and every fourth group of the others in none.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from safetab.audit.audited_product import MadeUpRecord, Neighbour, Records
from safetab.audit.worlds import public_files as files
from safetab.products.safetab_h.safetab_h import HOUSEHOLD_TYPES, TENURES

_OLDEST_AGE = 115
_MARRIED, ALONE = 1, 4
_MORTGAGED, _FREE_AND_CLEAR, WITHOUT_RENT = 1, 2, 4
_FILLS_ALL_GROUPS = (files.CROWDED_BLOCK, files.EIGHT_RACES, files.ETHNICITIES[0])
_OF_NINTH_RACE = (files.CROWDED_BLOCK, (files.RACES[8],))
_TOTAL_ONLY = (files.OTHER_BLOCK, (files.TOTAL_ONLY_RACE,), files.TOTAL_ONLY_ETHNICITY)
_ONE_CODE_EIGHT_TIMES = (files.EMPTY_BLOCK, (files.RACES[0],) * 8, files.ETHNICITIES[1])


@dataclass(frozen=True, slots=True)
class Person(MadeUpRecord):
    """A made-up person."""

    sex: int = 1
    age: int = 30

    @property
    def row(self) -> str:
        """The person's line in the file of persons."""
        return "|".join((str(self.age), str(self.sex), "True", *files.block_and_codes(self)))


@dataclass(frozen=True, slots=True)
class Household(MadeUpRecord):
    """A made-up household: the householder's codes, the type and the tenure."""

    kind: int = _MARRIED
    tenure: int = _MORTGAGED

    @property
    def row(self) -> str:
        """The household's line in the file of households."""
        return "|".join((*files.block_and_codes(self), str(self.kind), str(self.tenure)))


@dataclass(frozen=True, slots=True)
class MadeUp:
    """The records of a product's worlds. The first of the population fills all groups."""

    population: Records
    several_more: Records
    neighbours: tuple[Neighbour, ...]
    crowd_kinds: Records  # of a noise world
    some_record: Callable[[random.Random, str], MadeUpRecord]


def _persons() -> MadeUp:
    fills, ninth = Person(*_FILLS_ALL_GROUPS), Person(*_OF_NINTH_RACE)
    kinds = [replace(ninth, sex=sex, age=age) for sex in (1, 2) for age in (3, 70)]
    first, *rest = population = files.population(fills, kinds)
    infant_girl = replace(fills, sex=2, age=0)
    oldest_woman = replace(fills, sex=2, age=_OLDEST_AGE, block=files.PUERTO_RICAN_BLOCK)
    in_empty_block = Person(files.EMPTY_BLOCK, (files.RACES[9],))
    neighbours = (
        Neighbour("one person more", (*population, in_empty_block)),
        Neighbour("eight codes and an ethnicity", (*population, fills)),
        Neighbour("an infant", (*population, infant_girl)),
        Neighbour("the oldest woman of Puerto Rico", (*population, oldest_woman)),
        Neighbour("another sex and age", (replace(first, sex=2, age=84), *rest), is_changed=True),
        Neighbour("a TotalOnly person", (*population, Person(*_TOTAL_ONLY))),
        Neighbour("one code eight times", (*population, Person(*_ONE_CODE_EIGHT_TIMES))),
        Neighbour("moved to Puerto Rico", (*rest, replace(first, block=files.PUERTO_RICAN_BLOCK))),
    )
    several_more = (*population, fills, infant_girl, oldest_woman, in_empty_block)
    crowd_kinds = (ninth, replace(ninth, sex=2, age=70), replace(ninth, sex=2, age=3))
    return MadeUp(population, several_more, neighbours, crowd_kinds, _some_person)


def _some_person(dice: random.Random, block: str) -> Person:
    """A person with random codes, sex and age."""
    races = tuple(dice.sample(files.RACES, dice.choice((1, 1, 2, 3, 8))))
    ethnicity = dice.choice(files.ETHNICITIES)
    return Person(block, races, ethnicity, dice.choice((1, 2)), dice.randint(0, _OLDEST_AGE))


def _households() -> MadeUp:
    fills, ninth = Household(*_FILLS_ALL_GROUPS), Household(*_OF_NINTH_RACE)
    kinds = [replace(ninth, kind=kind, tenure=kind - 1) for kind in (2, 3, 4, 5)]
    first, *rest = population = files.population(fills, kinds)
    rents_nothing = replace(fills, kind=ALONE, tenure=WITHOUT_RENT)
    puerto_rican = replace(fills, kind=5, tenure=_FREE_AND_CLEAR, block=files.PUERTO_RICAN_BLOCK)
    in_empty_block = Household(files.EMPTY_BLOCK, (files.RACES[0], files.RACES[9]))
    other_codes = replace(first, races=(files.RACES[10],), ethnicity=files.ETHNICITIES[1])
    neighbours = (
        Neighbour("one household more", (*population, in_empty_block)),
        Neighbour("eight codes and an ethnicity", (*population, fills)),
        Neighbour("alone, without rent", (*population, rents_nothing)),
        Neighbour("another tenure", (replace(first, tenure=WITHOUT_RENT), *rest), is_changed=True),
        Neighbour("another household type", (replace(first, kind=ALONE), *rest), is_changed=True),
        Neighbour("a household of Puerto Rico", (*population, puerto_rican)),
        Neighbour("a householder with other codes", (*rest, other_codes), has_other_codes=True),
        Neighbour("a TotalOnly householder", (*population, Household(*_TOTAL_ONLY))),
        Neighbour("one code eight times", (*population, Household(*_ONE_CODE_EIGHT_TIMES))),
        Neighbour("moved to Puerto Rico", (*rest, replace(first, block=files.PUERTO_RICAN_BLOCK))),
    )
    several_more = (*population, fills, rents_nothing, puerto_rican, in_empty_block)
    alone = replace(ninth, kind=ALONE, tenure=WITHOUT_RENT)
    crowd_kinds = (ninth, alone, replace(ninth, kind=3, tenure=_FREE_AND_CLEAR))
    return MadeUp(population, several_more, neighbours, crowd_kinds, _some_household)


def _some_household(dice: random.Random, block: str) -> Household:
    """A household with random codes, type and tenure."""
    races = tuple(dice.sample(files.RACES, dice.choice((1, 1, 2, 3, 8))))
    kind = dice.randint(1, HOUSEHOLD_TYPES)
    tenure = dice.randint(1, TENURES)
    return Household(block, races, dice.choice(files.ETHNICITIES), kind, tenure)


PERSONS, HOUSEHOLDS = _persons(), _households()
