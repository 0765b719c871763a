"""The public files of the audit's worlds: codes, iterations and blocks that all products share."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, FileRow, People
from safetab.config.config_file import CONFIG_FILE
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.products.product import Product
from safetab.products.record import RACE_COLUMNS

RACES = tuple(str(1000 + number) for number in range(12))
TOTAL_ONLY_RACE = RACES[11]
ETHNICITIES = ("4000", "4001", "4002")
TOTAL_ONLY_ETHNICITY = ETHNICITIES[2]
NO_ETHNICITY = "9950"
_COMMON, _TOTAL_ONLY, _SUBSTATE_ONLY = "False|False", "True|False", "False|True"
EIGHT_RACES = RACES[:8]
CROWDED_BLOCK, EMPTY_BLOCK, OTHER_BLOCK, PUERTO_RICAN_BLOCK = (
    "01|001|000100|1000",
    "01|001|000200|1000",
    "44|007|000100|1000",
    "72|031|000100|1000",
)
BLOCKS = {
    CROWDED_BLOCK: "00100|0010",
    EMPTY_BLOCK: "00200|0020",
    "01|003|000100|1000": "99999|9999",
    OTHER_BLOCK: "22800|0010",
    PUERTO_RICAN_BLOCK: "00100|9999",
    "72|031|000200|1000": "99999|9999",
    **{f"44|009|{tract:06d}|1000": "99999|9999" for tract in range(100, 3100, 100)},
}
CROWDED_BLOCKS_OF_NOISE, CROWD = (OTHER_BLOCK, PUERTO_RICAN_BLOCK), 60
_CROWDS = (0, 4, 20, 55)  # one in each class of counts that the width of noise is judged by
TRACTS, TRACTS_OF_QUICK = 250, 100
TRACTS_OF_LARGE_LEVEL, LARGE_CROWD = 800, 6_000
_FEW, _MANY = 1_500, 4_600
_SEED = 20_200_401  # who they are makes no difference; that they are the same each time helps to look into a failure


@dataclass(frozen=True, slots=True)
class WorldLists:
    """Which of the public lists' groups there are: the number of race codes, and the kinds of iterations."""

    races: int = len(RACES)
    has_alone: bool = True
    has_ethnicities: bool = True
    all_total_only: bool = False  # every group gets a total with the level's whole budget, and nothing else
    crowded_blocks: int = 0  # of a noise world, each in a county, tract, place and area of its own
    more_total_only_races: int = 0  # in TotalOnly groups alone

    @property
    def codes_of_total_only_races(self) -> list[str]:
        return [str(5000 + number) for number in range(self.more_total_only_races)]


@dataclass(frozen=True, slots=True)
class DataFile:
    """A delimited file of DATA."""

    table: str
    columns: tuple[str, ...]
    rows: Iterable[str]


def records_file(product: Product, records: Iterable[FileRow]) -> DataFile:
    return DataFile(product.record.table, product.record.columns, (record.row for record in records))


def race_columns(races: Sequence[str]) -> tuple[str, ...]:
    return (*races, *["Null"] * (len(RACE_COLUMNS) - len(races)))


def write_public_world(
    folder: Path, config: Mapping[str, Any], lists: WorldLists, blocks: Mapping[str, str], *files: DataFile
) -> AuditWorld:
    """Configuration, lists and geography, and whatever files of DATA the product has."""
    world = AuditWorld(folder / "parameters", folder / "data")
    world.parameters.mkdir(parents=True)
    world.data.mkdir()
    (world.parameters / CONFIG_FILE).write_text(json.dumps(config))
    _write_lists(world.parameters, lists)
    geography = (f"{block}|{place_and_area}" for block, place_and_area in blocks.items())
    _write(world.data / "GRF-C.txt", "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE", geography)
    for file in files:
        _write(world.data / f"{file.table}.txt", "|".join(file.columns), file.rows)
    (world.data / SYNTHETIC_MARKER).write_text("These people do not exist.\n")
    return world


NOISE_LISTS = WorldLists(crowded_blocks=100)
NOISE_LISTS_OF_ONE_RACE = WorldLists(has_alone=False, has_ethnicities=False, crowded_blocks=200)
"""Half as many iterations, so twice as many blocks: every class of counts has 500 draws or more."""


def blocks_of_noise_world(tracts: int, lists: WorldLists) -> Mapping[str, str]:
    """All blocks, many tracts where nobody lives, and the blocks of crowds."""
    us = {f"44|009|{tract:06d}|1000": "99999|9999" for tract in range(3100, 3100 + tracts)}
    pr = {f"72|033|{tract:06d}|1000": "99999|9999" for tract in range(3100, 3100 + tracts // 2)}
    crowded = {block: f"{30_000 + number}|{1000 + number}" for number, block in enumerate(_crowded_blocks(lists))}
    return BLOCKS | us | pr | crowded


def _crowded_blocks(lists: WorldLists) -> list[str]:
    return [f"44|{101 + number}|000100|1000" for number in range(lists.crowded_blocks)]


@dataclass(frozen=True, slots=True)
class Crowd:
    """Records of one race: a given number of each of three kinds."""

    block: str
    race: str
    sizes: tuple[int, ...]


def crowds_of_noise_world(lists: WorldLists) -> Iterator[Crowd]:
    """Crowds of all sizes, for each of eight races in each crowded block and for each race of TotalOnly groups."""
    _, few, some, many = _CROWDS
    sizes = ((few,), (some,), (many, few, some))
    for number, block in enumerate(_crowded_blocks(lists)):
        for place, race in enumerate(EIGHT_RACES, start=number):
            yield Crowd(block, race, sizes[place % len(sizes)])
    for number, race in enumerate(lists.codes_of_total_only_races):
        for block in (CROWDED_BLOCK, OTHER_BLOCK, PUERTO_RICAN_BLOCK):
            yield Crowd(block, race, (_CROWDS[number % len(_CROWDS)],))


def blocks_of_large_level() -> Mapping[str, str]:
    tracts = {f"44|009|{tract:06d}|1000": "99999|9999" for tract in range(100, 100 + TRACTS_OF_LARGE_LEVEL)}
    return {OTHER_BLOCK: BLOCKS[OTHER_BLOCK]} | tracts


def thousands(some: Callable[[random.Random, str], FileRow]) -> tuple[People, People]:
    """Some records, and these with three times as many, shuffled; each is made of dice and a block."""
    dice = random.Random(_SEED)  # noqa: S311 - records, not noise
    blocks = [block for block in BLOCKS if block != EMPTY_BLOCK]
    records = [some(dice, dice.choice(blocks)) for _ in range(_MANY)]
    return tuple(records[:_FEW]), tuple(dice.sample(records, len(records)))


def iteration_codes(lists: WorldLists) -> list[str]:
    return [one.code for one in (*_race_iterations(lists), *_ethnicity_iterations(lists))]


@dataclass(frozen=True, slots=True)
class _Iteration:
    code: str
    columns: str  # level, alone if it is of a race, and flags
    codes: Sequence[str]


def _race_iterations(lists: WorldLists) -> list[_Iteration]:
    kinds = ((1000, True), (2000, False)) if lists.has_alone else ((2000, False),)
    more = [(2, _TOTAL_ONLY, [code]) for code in lists.codes_of_total_only_races]
    return [
        _Iteration(str(first + number), f"{level}|{is_alone}|{flags}", codes)
        for first, is_alone in kinds
        for number, (level, flags, codes) in enumerate([*_groups(RACES[: lists.races], TOTAL_ONLY_RACE, lists), *more])
    ]


def _ethnicity_iterations(lists: WorldLists) -> list[_Iteration]:
    return [
        _Iteration(str(3000 + number), f"{level}|{flags}", codes)
        for number, (level, flags, codes) in enumerate(_groups(ETHNICITIES, TOTAL_ONLY_ETHNICITY, lists))
        if lists.has_ethnicities
    ]


def _write_lists(parameters: Path, lists: WorldLists) -> None:
    codes = (*RACES[: lists.races], *ETHNICITIES, NO_ETHNICITY, *lists.codes_of_total_only_races)
    _write(parameters / "race-and-ethnicity-codes.txt", "RACE_ETH_CODE|RACE_ETH_NAME", (f"{c}|code {c}" for c in codes))
    race, ethnicity = _race_iterations(lists), _ethnicity_iterations(lists)
    for kind, iterations, alone in (("race", race, "ALONE|"), ("ethnicity", ethnicity, "")):
        header = f"ITERATION_CODE|ITERATION_NAME|LEVEL|{alone}DETAILED_ONLY|COARSE_ONLY"
        rows = (f"{one.code}|{kind} {one.code}|{one.columns}" for one in iterations)
        _write(parameters / f"{kind}-characteristic-iterations.txt", header, rows)
    pairs = (f"{one.code}|{code}" for one in (*race, *ethnicity) for code in one.codes)
    _write(parameters / "race-and-ethnicity-code-to-iteration.txt", "ITERATION_CODE|RACE_ETH_CODE", pairs)


def _groups(codes: Sequence[str], total_only: str, lists: WorldLists) -> list[tuple[int, str, Sequence[str]]]:
    """Level, flags and codes: two regions, a Detailed group for each code, and below state one for the rest."""
    detailed = [(2, _TOTAL_ONLY if lists.all_total_only or code == total_only else _COMMON, [code]) for code in codes]
    rest = [] if lists.all_total_only or total_only not in codes else [(2, _SUBSTATE_ONLY, [total_only])]
    regions = [(1, _COMMON, part) for part in (codes[:2], codes[2:]) if part]
    return [*regions, *detailed, *rest]


def _write(path: Path, header: str, rows: Iterable[str]) -> None:
    path.write_text("".join(f"{row}\n" for row in (header, *rows)))
