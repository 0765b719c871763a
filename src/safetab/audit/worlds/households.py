"""The audit's world of households, and neighbours with one more household or another one.

Four householders have the same eight race codes and the same ethnicity and live in one block.
Published totals say nothing about the households: a group of four may be measured in any table, and
every fourth group of the others in none.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, FileRow, Neighbour
from safetab.audit.worlds import public_files as files
from safetab.audit.worlds.configuration import budgets_of_levels, usual_config
from safetab.products.product import TableFamily
from safetab.products.safetab_h.safetab_h import SAFETAB_H
from safetab.products.safetab_h.tables import HOUSEHOLD_TYPES, TENURES

_MARRIED = 1
ALONE = 4
_MORTGAGED = 1
_FREE_AND_CLEAR = 2
WITHOUT_RENT = 4
# the iterations of the four householders: each of their groups has a total, in every entity
_WITH_TOTALS = frozenset(map(str, (*range(2000, 2010), *range(3000, 3003))))


@dataclass(frozen=True, slots=True)
class Household:
    """A household that does not exist: the householder's codes, the type and the tenure."""

    block: str
    races: tuple[str, ...]
    ethnicity: str = files.NO_ETHNICITY
    kind: int = _MARRIED
    tenure: int = _MORTGAGED

    @property
    def row(self) -> str:
        """The household's line in the file of households."""
        races = files.race_columns(self.races)
        columns = [self.block, "01", *races, self.ethnicity, str(self.kind), str(self.tenure)]
        return "|".join(columns)


FILLS_ALL_GROUPS = Household(files.CROWDED_BLOCK, files.EIGHT_RACES, files.ETHNICITIES[0])
POPULATION = (
    *[FILLS_ALL_GROUPS] * 4,
    *(
        Household(block, (files.RACES[8],), kind=kind, tenure=kind - 1)
        for block in files.BLOCKS
        if block != files.EMPTY_BLOCK
        for kind in (2, 3, 4, 5)
    ),
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


def crowds(lists: files.WorldLists) -> Iterator[Household]:
    """The households of a noise world's crowds, of three kinds by type and tenure."""
    for crowd in files.crowds_of_noise_world(lists):
        for size, (kind, tenure) in zip(crowd.sizes, ((1, 1), (4, 4), (3, 2)), strict=False):
            yield from [Household(crowd.block, (crowd.race,), kind=kind, tenure=tenure)] * size


def write_world(
    folder: Path,
    households: Iterable[FileRow],
    config: Mapping[str, Any],
    lists: files.WorldLists | None = None,
    blocks: files.Blocks | None = None,
) -> AuditWorld:
    """Write a world of these households and published totals of people.

    By default it has the usual lists and blocks, and some groups have no total. With other lists
    every group has one.
    """
    always = _WITH_TOTALS if lists is None else None
    lists, blocks = lists or files.WorldLists(), blocks or files.BLOCKS
    totals = files.published_totals(SAFETAB_H, lists, blocks, always)
    records = files.records_file(SAFETAB_H, households)
    return files.write_public_world(folder, config, lists, blocks, records, totals)


def audit_config(**changes: Any) -> dict[str, Any]:
    """Noise of about 3 at every level, in both table families."""
    return usual_config(SAFETAB_H.name) | changes


def config_of_tracts(budgets: Mapping[TableFamily, float], **changes: Any) -> dict[str, Any]:
    """A configuration that tabulates only Detailed groups of tracts, in families with a budget."""
    by_name = {(family.name, "TRACT", 2): budget for family, budget in budgets.items()}
    return audit_config(**budgets_of_levels(SAFETAB_H.name, by_name)) | {"run_pr": False} | changes
