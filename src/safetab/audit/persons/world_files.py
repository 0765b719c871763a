"""The audit's small world: made so that one more person crosses whatever a mistake could look at.

Four people have the same eight race codes and the same ethnicity and live in one block; nobody else has these codes.
A fifth lifts each of their groups from 4 to 5: at some levels over the first threshold (5), at some over the
suppression threshold (4), had the program looked at true counts. Budgets and thresholds differ from level to level.
Two tracts, a place, an AIANNH area and several groups have nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, FileRow
from safetab.audit.world_config import one_budget, own_settings
from safetab.audit.world_lists import (
    BLOCKS,
    CROWDED_BLOCK,
    EIGHT_RACES,
    EMPTY_BLOCK,
    ETHNICITIES,
    NO_ETHNICITY,
    OTHER_BLOCK,
    PUERTO_RICAN_BLOCK,
    RACES,
    TOTAL_ONLY_ETHNICITY,
    TOTAL_ONLY_RACE,
    WorldLists,
    race_columns,
    records_file,
    write_public_world,
)
from safetab.products.safetab_p.safetab_p import SAFETAB_P

OLDEST_AGE = 115
GAMMA = Fraction(1, 10)  # the share of stage 1


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who doesn't exist."""

    block: str
    races: tuple[str, ...]
    ethnicity: str = NO_ETHNICITY
    sex: int = 1
    age: int = 30

    @property
    def row(self) -> str:
        return "|".join(
            [str(self.age), str(self.sex), "True", self.block, "01", *race_columns(self.races), self.ethnicity]
        )


FILLS_ALL_GROUPS = Person(CROWDED_BLOCK, EIGHT_RACES, ETHNICITIES[0])
_PEOPLE = (
    *[FILLS_ALL_GROUPS] * 4,
    *(Person(block, (RACES[8],), sex=sex, age=age) for block in BLOCKS for sex in (1, 2) for age in (3, 70))
)  # fmt: skip
POPULATION = tuple(person for person in _PEOPLE if person.block != EMPTY_BLOCK)

INFANT_GIRL = replace(FILLS_ALL_GROUPS, sex=2, age=0)
OLDEST_WOMAN = replace(FILLS_ALL_GROUPS, sex=2, age=OLDEST_AGE, block=PUERTO_RICAN_BLOCK)
AN_INFANT = (*POPULATION, INFANT_GIRL)
THE_OLDEST_WOMAN = (*POPULATION, OLDEST_WOMAN)
ANOTHER_SEX_AND_AGE = (replace(POPULATION[0], sex=2, age=84), *POPULATION[1:])
SEVERAL_MORE = (*POPULATION, FILLS_ALL_GROUPS, INFANT_GIRL, OLDEST_WOMAN, Person(EMPTY_BLOCK, (RACES[9],)))
ONE_MORE_PERSON = (*POPULATION, Person(EMPTY_BLOCK, (RACES[9],)))
EIGHT_CODES_AND_AN_ETHNICITY = (*POPULATION, FILLS_ALL_GROUPS)
A_TOTAL_ONLY_PERSON = (*POPULATION, Person(OTHER_BLOCK, (TOTAL_ONLY_RACE,), TOTAL_ONLY_ETHNICITY))
ONE_CODE_EIGHT_TIMES = (*POPULATION, Person(EMPTY_BLOCK, (RACES[0],) * 8, ETHNICITIES[1]))
NOBODY_IN_PUERTO_RICO = tuple(person for person in POPULATION if not person.block.startswith("72|"))
ONE_PERSON_IN_PUERTO_RICO = (*NOBODY_IN_PUERTO_RICO, Person(PUERTO_RICAN_BLOCK, (RACES[8],)))
MOVED_TO_PUERTO_RICO = (*POPULATION[1:], replace(POPULATION[0], block=PUERTO_RICAN_BLOCK))


def write_world(
    folder: Path,
    people: Iterable[FileRow],
    config: Mapping[str, Any],
    lists: WorldLists | None = None,
    blocks: Mapping[str, str] | None = None,
) -> AuditWorld:
    """`blocks` gives for each block its place and its AIANNH area."""
    return write_public_world(folder, config, lists or WorldLists(), blocks or BLOCKS, records_file(SAFETAB_P, people))


def audit_config(**changes: Any) -> dict[str, Any]:
    """Noise of about 3 in every level's stage 2, so that nearly everything happens to some group."""
    return {
        "privacy_defn": "zcdp",
        "run_us": True,
        "run_pr": True,
        "state_filter_us": ["01", "44"],
        "reader": "csv",
        "max_race_codes": 8,
        **own_settings("SafeTab-P"),
        "privacy_budget_p_stage_1_fraction": float(GAMMA),
        "zero_suppression_chance": 0.9,
        "allow_negative_counts": True,
    } | changes


def config_of_one_level(geography: str, budget: float, **changes: Any) -> dict[str, Any]:
    """Only the Detailed groups of one geography level are tabulated, and nothing is suppressed."""
    budgets = one_budget("SafeTab-P", {("persons", geography, 2): budget})
    return audit_config(**budgets, **({"run_pr": False, "zero_suppression_chance": 0} | changes))
