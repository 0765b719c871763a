"""The audit's world of households, and neighbours with one more household or another one.

Four householders have the same eight race codes and the same ethnicity and live in one block.
Published totals say nothing about the households: a group of four may be measured in any table, and
every fourth group of the others in none.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from safetab.audit.audited_product import MadeUpRecord, Neighbour
from safetab.audit.worlds import public_files as files
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPES, TENURES

_MARRIED = 1
ALONE = 4
_MORTGAGED = 1
_FREE_AND_CLEAR = 2
WITHOUT_RENT = 4


@dataclass(frozen=True, slots=True)
class Household(MadeUpRecord):
    """A made-up household: the householder's codes, the type and the tenure."""

    kind: int = _MARRIED
    tenure: int = _MORTGAGED

    @property
    def row(self) -> str:
        """The household's line in the file of households."""
        races = files.race_columns(self.races)
        columns = [self.block, "01", *races, self.ethnicity, str(self.kind), str(self.tenure)]
        return "|".join(columns)


FILLS_ALL_GROUPS = Household(files.CROWDED_BLOCK, files.EIGHT_RACES, files.ETHNICITIES[0])
_OF_NINTH_RACE = Household(files.CROWDED_BLOCK, (files.RACES[8],))
_KINDS = [replace(_OF_NINTH_RACE, kind=kind, tenure=kind - 1) for kind in (2, 3, 4, 5)]
POPULATION = files.population(FILLS_ALL_GROUPS, _KINDS)
CROWD_KINDS = (
    _OF_NINTH_RACE,
    replace(_OF_NINTH_RACE, kind=ALONE, tenure=WITHOUT_RENT),
    replace(_OF_NINTH_RACE, kind=3, tenure=_FREE_AND_CLEAR),
)
NOBODY_IN_PUERTO_RICO = tuple(household for household in POPULATION if not household.block.startswith("72|"))
_FIRST, *_REST = POPULATION
_RENTS_NOTHING = replace(FILLS_ALL_GROUPS, kind=ALONE, tenure=WITHOUT_RENT)
_PUERTO_RICAN = replace(FILLS_ALL_GROUPS, kind=5, tenure=_FREE_AND_CLEAR, block=files.PUERTO_RICAN_BLOCK)
_IN_EMPTY_BLOCK = Household(files.EMPTY_BLOCK, (files.RACES[0], files.RACES[9]))
_OTHER_CODES = replace(_FIRST, races=(files.RACES[10],), ethnicity=files.ETHNICITIES[1])
_TOTAL_ONLY_HOUSEHOLDER = Household(files.OTHER_BLOCK, (files.TOTAL_ONLY_RACE,), files.TOTAL_ONLY_ETHNICITY)
_ONE_CODE_EIGHT_TIMES = Household(files.EMPTY_BLOCK, (files.RACES[0],) * 8, files.ETHNICITIES[1])
_MOVED = replace(_FIRST, block=files.PUERTO_RICAN_BLOCK)
SEVERAL_MORE = (*POPULATION, FILLS_ALL_GROUPS, _RENTS_NOTHING, _PUERTO_RICAN, _IN_EMPTY_BLOCK)
NEIGHBOURS = (
    Neighbour("one household more", (*POPULATION, _IN_EMPTY_BLOCK)),
    Neighbour("eight codes and an ethnicity", (*POPULATION, FILLS_ALL_GROUPS)),
    Neighbour("alone, without rent", (*POPULATION, _RENTS_NOTHING)),
    Neighbour("another tenure", (replace(_FIRST, tenure=WITHOUT_RENT), *_REST), is_changed=True),
    Neighbour("another household type", (replace(_FIRST, kind=ALONE), *_REST), is_changed=True),
    Neighbour("a household of Puerto Rico", (*POPULATION, _PUERTO_RICAN)),
    Neighbour("a householder with other codes", (*_REST, _OTHER_CODES), has_other_codes=True),
    Neighbour("a TotalOnly householder", (*POPULATION, _TOTAL_ONLY_HOUSEHOLDER)),
    Neighbour("one code eight times", (*POPULATION, _ONE_CODE_EIGHT_TIMES)),
    Neighbour("moved to Puerto Rico", (*_REST, _MOVED)),
)
FIRST_OF_PUERTO_RICO = Neighbour(
    "the first household of Puerto Rico",
    (*NOBODY_IN_PUERTO_RICO, Household(files.PUERTO_RICAN_BLOCK, (files.RACES[0],))),
)


def some_household(dice: random.Random, block: str) -> Household:
    """A household with random codes, type and tenure."""
    races = tuple(dice.sample(files.RACES, dice.choice((1, 1, 2, 3, 8))))
    kind = dice.randint(1, HOUSEHOLD_TYPES)
    tenure = dice.randint(1, TENURES)
    return Household(block, races, dice.choice(files.ETHNICITIES), kind, tenure)
