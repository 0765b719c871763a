"""The audit's small world: made so that one more person crosses whatever a mistake could look at.

Four people have the same eight race codes and the same ethnicity and live in one block; nobody else has these codes.
A fifth lifts each of their groups from 4 to 5: over the first threshold (5) and over the suppression threshold (4),
had the program looked at true counts. Two tracts, a place, an AIANNH area and several groups have nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, FileRow
from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.config.config_file import CONFIG_FILE, budget_key, threshold_key
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.record import RACE_COLUMNS
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.products.safetab_p.safetab_p import SAFETAB_P

RACES = tuple(str(1000 + number) for number in range(12))
_TOTAL_ONLY_RACE = RACES[11]
ETHNICITIES = ("4000", "4001", "4002")
_TOTAL_ONLY_ETHNICITY = ETHNICITIES[2]
_NO_ETHNICITY = "9950"
_COMMON, _TOTAL_ONLY, _SUBSTATE_ONLY = "False|False", "True|False", "False|True"
EIGHT_RACES = RACES[:8]
OLDEST_AGE = 115
GAMMA = Fraction(1, 10)  # the share of stage 1


@dataclass(frozen=True, slots=True)
class WorldLists:
    """Which of the public lists' groups there are: the number of race codes, and the kinds of iterations."""

    races: int = len(RACES)
    has_alone: bool = True
    has_ethnicities: bool = True
    all_total_only: bool = False  # every group gets a total with the level's whole budget, and nothing else


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who doesn't exist."""

    block: str
    races: tuple[str, ...]
    ethnicity: str = _NO_ETHNICITY
    sex: int = 1
    age: int = 30

    @property
    def row(self) -> str:
        races = (*self.races, *["Null"] * (len(RACE_COLUMNS) - len(self.races)))
        return "|".join([str(self.age), str(self.sex), "True", self.block, "01", *races, self.ethnicity])


CROWDED_BLOCK, EMPTY_BLOCK, OTHER_BLOCK, PUERTO_RICAN_BLOCK = (
    "01|001|000100|1000",
    "01|001|000200|1000",
    "44|007|000100|1000",
    "72|031|000100|1000",
)
FILLS_ALL_GROUPS = Person(CROWDED_BLOCK, EIGHT_RACES, ETHNICITIES[0])
BLOCKS = {
    CROWDED_BLOCK: "00100|0010",
    EMPTY_BLOCK: "00200|0020",
    "01|003|000100|1000": "99999|9999",
    OTHER_BLOCK: "22800|0010",
    PUERTO_RICAN_BLOCK: "00100|9999",
    "72|031|000200|1000": "99999|9999",
    **{f"44|009|{tract:06d}|1000": "99999|9999" for tract in range(100, 3100, 100)},
}
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
A_TOTAL_ONLY_PERSON = (*POPULATION, Person(OTHER_BLOCK, (_TOTAL_ONLY_RACE,), _TOTAL_ONLY_ETHNICITY))
ONE_CODE_EIGHT_TIMES = (*POPULATION, Person(EMPTY_BLOCK, (RACES[0],) * 8, ETHNICITIES[1]))
NOBODY_IN_PUERTO_RICO = tuple(person for person in POPULATION if not person.block.startswith("72|"))
ONE_PERSON_IN_PUERTO_RICO = (*NOBODY_IN_PUERTO_RICO, Person(PUERTO_RICAN_BLOCK, (RACES[8],)))
MOVED_TO_PUERTO_RICO = (*POPULATION[1:], replace(POPULATION[0], block=PUERTO_RICAN_BLOCK))


def write_world(
    folder: Path,
    people: Iterable[FileRow],
    config: dict[str, Any],
    lists: WorldLists | None = None,
    blocks: Mapping[str, str] | None = None,
) -> AuditWorld:
    """`blocks` gives for each block its place and its AIANNH area."""
    world = AuditWorld(folder / "parameters", folder / "data")
    world.parameters.mkdir(parents=True)
    world.data.mkdir()
    (world.parameters / CONFIG_FILE).write_text(json.dumps(config))
    _write_lists(world.parameters, lists or WorldLists())
    geography = (f"{block}|{place_and_area}" for block, place_and_area in (blocks or BLOCKS).items())
    _write(world.data / "GRF-C.txt", "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE", geography)
    _write(world.data / "person-records.txt", "|".join(PERSON_RECORD.columns), (person.row for person in people))
    (world.data / SYNTHETIC_MARKER).write_text("These people do not exist.\n")
    return world


def audit_config(**changes: Any) -> dict[str, Any]:
    """Noise of about 3 in every level's stage 2, so that nearly everything happens to some group."""
    budgets = {IterationLevel.REGIONAL: 0.17, IterationLevel.DETAILED: 0.5}
    return {
        "privacy_defn": "zcdp",
        "run_us": True,
        "run_pr": True,
        "state_filter_us": ["01", "44"],
        "reader": "csv",
        "max_race_codes": 8,
        **{_budget_key(level): budgets[level.iterations] for level in POPULATION_GROUP_LEVELS},
        "privacy_budget_p_stage_1_fraction": float(GAMMA),
        "thresholds_p": {threshold_key(level): [5, 8, 12] for level in POPULATION_GROUP_LEVELS},
        "zero_suppression_chance": 0.9,
        "allow_negative_counts": True,
    } | changes


def config_of_one_level(geography: GeographyLevel, budget: float, **changes: Any) -> dict[str, Any]:
    """Only the Detailed groups of one geography level are tabulated, and nothing is suppressed."""
    budgets = {
        _budget_key(level): budget if (level.geography, level.iterations) == (geography, IterationLevel.DETAILED) else 0
        for level in POPULATION_GROUP_LEVELS
    }
    return audit_config(**budgets, **({"run_pr": False, "zero_suppression_chance": 0} | changes))


def _budget_key(level: PopulationGroupLevel) -> str:
    (family, *_) = SAFETAB_P.families
    return budget_key(SAFETAB_P, family, level)


def _write_lists(parameters: Path, lists: WorldLists) -> None:
    races, ethnicities = RACES[: lists.races], ETHNICITIES
    codes = (*races, *ethnicities, _NO_ETHNICITY)
    _write(parameters / "race-and-ethnicity-codes.txt", "RACE_ETH_CODE|RACE_ETH_NAME", (f"{c}|code {c}" for c in codes))
    kinds = ((1000, True), (2000, False)) if lists.has_alone else ((2000, False),)
    race = [
        (str(first + number), f"{level}|{is_alone}|{flags}", codes)
        for first, is_alone in kinds
        for number, (level, flags, codes) in enumerate(_groups(races, _TOTAL_ONLY_RACE, lists))
    ]
    ethnicity = [
        (str(3000 + number), f"{level}|{flags}", codes)
        for number, (level, flags, codes) in enumerate(_groups(ethnicities, _TOTAL_ONLY_ETHNICITY, lists))
        if lists.has_ethnicities
    ]
    for kind, groups, alone in (("race", race, "ALONE|"), ("ethnicity", ethnicity, "")):
        header = f"ITERATION_CODE|ITERATION_NAME|LEVEL|{alone}DETAILED_ONLY|COARSE_ONLY"
        rows = (f"{code}|{kind} {code}|{columns}" for code, columns, _ in groups)
        _write(parameters / f"{kind}-characteristic-iterations.txt", header, rows)
    pairs = (f"{iteration}|{code}" for iteration, _, codes in (*race, *ethnicity) for code in codes)
    _write(parameters / "race-and-ethnicity-code-to-iteration.txt", "ITERATION_CODE|RACE_ETH_CODE", pairs)


def _groups(codes: Sequence[str], total_only: str, lists: WorldLists) -> list[tuple[int, str, Sequence[str]]]:
    """Level, flags and codes: two regions, a Detailed group for each code, and below state one for the rest."""
    detailed = [(2, _TOTAL_ONLY if lists.all_total_only or code == total_only else _COMMON, [code]) for code in codes]
    rest = [] if lists.all_total_only or total_only not in codes else [(2, _SUBSTATE_ONLY, [total_only])]
    regions = [(1, _COMMON, part) for part in (codes[:2], codes[2:]) if part]
    return [*regions, *detailed, *rest]


def _write(path: Path, header: str, rows: Iterable[str]) -> None:
    path.write_text("".join(f"{row}\n" for row in (header, *rows)))
