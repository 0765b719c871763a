"""The audit's world of persons: one more person crosses every limit that a mistake could use.

Four people have the same eight race codes and the same ethnicity and live in one block; nobody else
has these codes. A fifth lifts each of their groups from 4 to 5: at some levels over the first
threshold (5), at some over the suppression threshold (4), if the program looked at true counts.
Budgets and thresholds differ from level to level. Two tracts, a place, an AIANNH area and several
groups have nobody.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from safetab.audit.audited_product import MadeUpRecord, Neighbour
from safetab.audit.worlds import public_files as files

_OLDEST_AGE = 115


@dataclass(frozen=True, slots=True)
class Person(MadeUpRecord):
    """A made-up person."""

    sex: int = 1
    age: int = 30

    @property
    def row(self) -> str:
        """The person's line in the file of persons."""
        races = files.race_columns(self.races)
        columns = [str(self.age), str(self.sex), "True", self.block, "01", *races, self.ethnicity]
        return "|".join(columns)


FILLS_ALL_GROUPS = Person(files.CROWDED_BLOCK, files.EIGHT_RACES, files.ETHNICITIES[0])
_OF_NINTH_RACE = Person(files.CROWDED_BLOCK, (files.RACES[8],))
_KINDS = [replace(_OF_NINTH_RACE, sex=sex, age=age) for sex in (1, 2) for age in (3, 70)]
POPULATION = files.population(FILLS_ALL_GROUPS, _KINDS)
CROWD_KINDS = (_OF_NINTH_RACE, replace(_OF_NINTH_RACE, sex=2, age=70), replace(_OF_NINTH_RACE, sex=2, age=3))
NOBODY_IN_PUERTO_RICO = tuple(person for person in POPULATION if not person.block.startswith("72|"))
_FIRST, *_REST = POPULATION
_INFANT_GIRL = replace(FILLS_ALL_GROUPS, sex=2, age=0)
_OLDEST_WOMAN = replace(FILLS_ALL_GROUPS, sex=2, age=_OLDEST_AGE, block=files.PUERTO_RICAN_BLOCK)
_IN_EMPTY_BLOCK = Person(files.EMPTY_BLOCK, (files.RACES[9],))
_TOTAL_ONLY_PERSON = Person(files.OTHER_BLOCK, (files.TOTAL_ONLY_RACE,), files.TOTAL_ONLY_ETHNICITY)
_ONE_CODE_EIGHT_TIMES = Person(files.EMPTY_BLOCK, (files.RACES[0],) * 8, files.ETHNICITIES[1])
SEVERAL_MORE = (*POPULATION, FILLS_ALL_GROUPS, _INFANT_GIRL, _OLDEST_WOMAN, _IN_EMPTY_BLOCK)
NEIGHBOURS = (
    Neighbour("one person more", (*POPULATION, _IN_EMPTY_BLOCK)),
    Neighbour("eight codes and an ethnicity", (*POPULATION, FILLS_ALL_GROUPS)),
    Neighbour("an infant", (*POPULATION, _INFANT_GIRL)),
    Neighbour("the oldest woman of Puerto Rico", (*POPULATION, _OLDEST_WOMAN)),
    Neighbour("another sex and age", (replace(_FIRST, sex=2, age=84), *_REST), is_changed=True),
    Neighbour("a TotalOnly person", (*POPULATION, _TOTAL_ONLY_PERSON)),
    Neighbour("one code eight times", (*POPULATION, _ONE_CODE_EIGHT_TIMES)),
    Neighbour("moved to Puerto Rico", (*_REST, replace(_FIRST, block=files.PUERTO_RICAN_BLOCK))),
)
FIRST_OF_PUERTO_RICO = Neighbour(
    "the first person of Puerto Rico",
    (*NOBODY_IN_PUERTO_RICO, Person(files.PUERTO_RICAN_BLOCK, (files.RACES[8],))),
)


def some_person(dice: random.Random, block: str) -> Person:
    """A person with random codes, sex and age."""
    races = tuple(dice.sample(files.RACES, dice.choice((1, 1, 2, 3, 8))))
    ethnicity = dice.choice(files.ETHNICITIES)
    return Person(block, races, ethnicity, dice.choice((1, 2)), dice.randint(0, _OLDEST_AGE))
