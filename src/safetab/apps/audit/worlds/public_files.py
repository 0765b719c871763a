"""The files of the audit's worlds.

They are lists of codes and iterations, blocks, and published totals.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from safetab.apps.audit.audited_product import NO_ETHNICITY, AuditWorld, MadeUpRecord, Records
from safetab.apps.audit.worlds.configuration import TOTALS_NEAR_THRESHOLDS
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.model.config.run_config import CONFIG_FILE
from safetab.model.products.bureau_columns import RACE_COLUMNS
from safetab.model.products.product import Product
from safetab.model.us.states import PUERTO_RICO_STATE

RACES = tuple(str(1000 + number) for number in range(12))
EIGHT_RACES = RACES[:8]
TOTAL_ONLY_RACE = RACES[11]
ETHNICITIES = ("4000", "4001", "4002")
TOTAL_ONLY_ETHNICITY = ETHNICITIES[2]
_COMMON, _TOTAL_ONLY, _SUBSTATE_ONLY = "False|False", "True|False", "False|True"

_Blocks = Mapping[str, str]
"""For each block, written as in GRF-C.txt, its Census place and its AIANNH area."""
CROWDED_BLOCK = "01|001|000100|1000"
EMPTY_BLOCK = "01|001|000200|1000"
OTHER_BLOCK = "44|007|000100|1000"
PUERTO_RICAN_BLOCK = "72|031|000100|1000"
_IN_NO_PLACE = "99999|9999"
_BLOCKS = {
    CROWDED_BLOCK: "00100|0010",
    EMPTY_BLOCK: "00200|0020",
    "01|003|000100|1000": _IN_NO_PLACE,
    OTHER_BLOCK: "22800|0010",
    PUERTO_RICAN_BLOCK: "00100|9999",
    "72|031|000200|1000": _IN_NO_PLACE,
    **{f"44|009|{tract:06d}|1000": _IN_NO_PLACE for tract in range(100, 3100, 100)},
}
_INHABITED_BLOCKS = tuple(block for block in _BLOCKS if block != EMPTY_BLOCK)
CROWDED_BLOCKS_OF_NOISE = (OTHER_BLOCK, PUERTO_RICAN_BLOCK)
CROWD = 60
_CROWDS = (0, 4, 20, 55)  # one in each class of counts by which the width of noise is judged
TRACTS, TRACTS_OF_QUICK = 250, 100
_TRACTS_OF_LARGE_LEVEL = 800
LARGE_CROWD = 6_000
_FEW, _MANY = 1_500, 4_600
_SEED = 20_200_401  # any records would do; the same ones each time make a failure reproducible
_LEFT_OUT = 4  # every fourth group of those that may have no published total
# the iterations of the four householders: each of their groups has a total, in every entity
_WITH_TOTALS = frozenset(map(str, (*range(2000, 2010), *range(3000, 3003))))
_AnyRecord = TypeVar("_AnyRecord", bound=MadeUpRecord)


@dataclass(frozen=True, slots=True)
class WorldLists:
    """The groups on the public lists.

    They follow from the number of race codes and the kinds of iterations.
    """

    races: int = len(RACES)
    has_alone: bool = True
    has_ethnicities: bool = True
    all_total_only: bool = False  # every group gets only a total, with the level's whole budget
    crowded_blocks: int = 0  # of a noise world, each in its own county, tract, place and area
    more_total_only_races: int = 0  # that are only in TotalOnly groups

    @property
    def codes_of_total_only_races(self) -> list[str]:
        """The codes of the additional races, from 5000 on."""
        return [str(5000 + number) for number in range(self.more_total_only_races)]


NOISE_LISTS = WorldLists(crowded_blocks=100)
# half as many iterations, so twice as many blocks: every class of counts has 500 draws or more
NOISE_LISTS_OF_ONE_RACE = WorldLists(has_alone=False, has_ethnicities=False, crowded_blocks=200)


def block_and_codes(record: MadeUpRecord) -> list[str]:
    """The columns that all records have.

    "Null" fills the race columns that a record does not use.
    """
    unused = ["Null"] * (len(RACE_COLUMNS) - len(record.races))
    return [record.block, "01", *record.races, *unused, record.ethnicity]


def write_world(
    product: Product,
    folder: Path,
    records: Iterable[MadeUpRecord],
    config: Mapping[str, Any],
    lists: WorldLists | None = None,
    blocks: _Blocks = _BLOCKS,
) -> AuditWorld:
    """Write a world of these records, marked as synthetic.

    It has totals if they choose its tables. By default it has the usual lists and blocks, and some
    groups have no total. With other lists every group has one.
    """
    always = _WITH_TOTALS if lists is None else None
    lists = lists or WorldLists()
    world = AuditWorld(folder / "parameters", folder / "data", folder / "data" / "GRF-C.txt")
    world.parameters.mkdir(parents=True)
    world.data.mkdir()
    (world.parameters / CONFIG_FILE).write_text(json.dumps(config))
    _write_lists(world.parameters, lists)
    header = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE"
    write_lines(world.areas, header, (f"{block}|{areas}" for block, areas in blocks.items()))
    rows = (record.row for record in records)
    write_lines(world.data / f"{product.record.table}.txt", "|".join(product.record.columns), rows)
    if product.totals_table is not None:
        totals = _published_totals(lists, blocks, always)
        header = "REGION_ID|REGION_TYPE|ITERATION_CODE|COUNT"
        write_lines(world.data / f"{product.totals_table}.txt", header, totals)
    (world.data / SYNTHETIC_MARKER).write_text("These people do not exist.\n")
    return world


def tracts_alone(blocks: Iterable[str]) -> _Blocks:
    """Blocks that are in no Census place and in no AIANNH area."""
    return dict.fromkeys(blocks, _IN_NO_PLACE)


def blocks_of_noise_world(tracts: int, lists: WorldLists) -> _Blocks:
    """All usual blocks, many tracts without records, and the blocks of crowds."""
    us = [f"44|009|{tract:06d}|1000" for tract in range(3100, 3100 + tracts)]
    pr = [f"72|033|{tract:06d}|1000" for tract in range(3100, 3100 + tracts // 2)]
    crowded = {
        block: f"{30_000 + number}|{1000 + number}"
        for number, block in enumerate(_crowded_blocks(lists))
    }
    return _BLOCKS | dict(tracts_alone([*us, *pr])) | crowded


def _crowded_blocks(lists: WorldLists) -> list[str]:
    return [f"44|{101 + number}|000100|1000" for number in range(lists.crowded_blocks)]


def population(
    fills_all_groups: _AnyRecord,
    kinds: Sequence[_AnyRecord],
    blocks: Sequence[str] = _INHABITED_BLOCKS,
) -> tuple[_AnyRecord, ...]:
    """Four records that fill all groups, and one of each kind in every inhabited block."""
    others = [replace(kind, block=block) for block in blocks for kind in kinds]
    return (*[fills_all_groups] * 4, *others)


def crowds_of_noise_world(lists: WorldLists, kinds: Sequence[_AnyRecord]) -> Iterator[_AnyRecord]:
    """Crowds of all sizes: of eight races in each crowded block, and of each TotalOnly race.

    A crowd has up to three kinds of records.
    """
    _, few, some, many = _CROWDS
    all_sizes = ((few,), (some,), (many, few, some))
    crowds: list[tuple[str, str, tuple[int, ...]]] = []
    for number, block in enumerate(_crowded_blocks(lists)):
        for position, race in enumerate(EIGHT_RACES, start=number):
            crowds.append((block, race, all_sizes[position % len(all_sizes)]))
    for number, race in enumerate(lists.codes_of_total_only_races):
        for block in (CROWDED_BLOCK, OTHER_BLOCK, PUERTO_RICAN_BLOCK):
            crowds.append((block, race, (_CROWDS[number % len(_CROWDS)],)))
    for block, race, sizes in crowds:
        for size, kind in zip(sizes, kinds, strict=False):
            yield from [replace(kind, block=block, races=(race,))] * size


def blocks_of_large_level() -> _Blocks:
    """The blocks of a level with more groups than the program reads together."""
    tracts = range(100, 100 + _TRACTS_OF_LARGE_LEVEL)
    empty = tracts_alone(f"44|009|{tract:06d}|1000" for tract in tracts)
    return {OTHER_BLOCK: _BLOCKS[OTHER_BLOCK]} | dict(empty)


def thousands(
    some_record: Callable[[random.Random, str], MadeUpRecord],
    blocks: Sequence[str] = _INHABITED_BLOCKS,
) -> tuple[Records, Records]:
    """Some records, and three times as many that include them, shuffled.

    `some_record` makes one from random numbers and a block.
    """
    dice = random.Random(_SEED)  # noqa: S311 - records, not noise
    records = [some_record(dice, dice.choice(blocks)) for _ in range(_MANY)]
    return tuple(records[:_FEW]), tuple(dice.sample(records, len(records)))


def _published_totals(
    lists: WorldLists, blocks: _Blocks, always: frozenset[str] | None
) -> list[str]:
    """A total of each entity and iteration, of all sizes in turn; independent of the records.

    If `always` names some iterations, every fourth group of the others has no total.
    """
    entities = {entity for block, areas in blocks.items() for entity in _entities(block, areas)}
    codes = [iteration.code for iteration in _iterations(lists)]
    rows = []
    for position, (level, entity) in enumerate(sorted(entities)):
        for number, code in enumerate(codes, start=position):
            if always is None or code in always or number % _LEFT_OUT:
                total = TOTALS_NEAR_THRESHOLDS[number % len(TOTALS_NEAR_THRESHOLDS)]
                rows.append(f"{entity}|{level}|{code}|{total}")
    return rows


def _entities(block: str, areas: str) -> Iterator[tuple[str, str]]:
    """The level and the id of every entity that a block is in."""
    state, county, tract, _ = block.split("|")
    place, area = areas.split("|")
    prefix = "PR-" if state == PUERTO_RICO_STATE else ""
    yield f"{prefix}STATE", state
    yield f"{prefix}COUNTY", state + county
    yield f"{prefix}TRACT", state + county + tract
    if place != "99999":
        yield f"{prefix}PLACE", state + place
    if not prefix:
        yield "USA", "1"
        if area != "9999":
            yield "AIANNH", area


@dataclass(frozen=True, slots=True)
class _Iteration:
    kind: str
    code: str
    columns: str  # level, alone if it is of a race, and flags
    codes: Sequence[str]


def _iterations(lists: WorldLists) -> list[_Iteration]:
    """The iterations of races, and of ethnicities if the lists have any.

    Those of races are alone, if the lists have such, and alone or in combination.
    """
    races = _groups(RACES[: lists.races], TOTAL_ONLY_RACE, lists)
    races += [(2, _TOTAL_ONLY, [code]) for code in lists.codes_of_total_only_races]
    ethnicities = _groups(ETHNICITIES, TOTAL_ONLY_ETHNICITY, lists) if lists.has_ethnicities else []
    kinds = (
        *([("race", 1000, "|True", races)] if lists.has_alone else []),
        ("race", 2000, "|False", races),
        ("ethnicity", 3000, "", ethnicities),
    )
    return [
        _Iteration(kind, str(first + number), f"{level}{alone}|{flags}", codes)
        for kind, first, alone, groups in kinds
        for number, (level, flags, codes) in enumerate(groups)
    ]


def _groups(
    codes: Sequence[str], total_only: str, lists: WorldLists
) -> list[tuple[int, str, Sequence[str]]]:
    """Level, flags and codes: two regions, a Detailed group per code, one below state level."""
    groups: list[tuple[int, str, Sequence[str]]] = []
    groups += [(1, _COMMON, part) for part in (codes[:2], codes[2:]) if part]
    for code in codes:
        is_total_only = lists.all_total_only or code == total_only
        groups.append((2, _TOTAL_ONLY if is_total_only else _COMMON, [code]))
    if total_only in codes and not lists.all_total_only:
        groups.append((2, _SUBSTATE_ONLY, [total_only]))
    return groups


def _write_lists(parameters: Path, lists: WorldLists) -> None:
    """Write the four public lists of a world."""
    codes = (*RACES[: lists.races], *ETHNICITIES, NO_ETHNICITY, *lists.codes_of_total_only_races)
    named = (f"{code}|code {code}" for code in codes)
    write_lines(parameters / "race-and-ethnicity-codes.txt", "RACE_ETH_CODE|RACE_ETH_NAME", named)
    iterations = _iterations(lists)
    for kind, alone in (("race", "ALONE|"), ("ethnicity", "")):
        header = f"ITERATION_CODE|ITERATION_NAME|LEVEL|{alone}DETAILED_ONLY|COARSE_ONLY"
        rows = (
            f"{each.code}|{kind} {each.code}|{each.columns}"
            for each in iterations
            if each.kind == kind
        )
        write_lines(parameters / f"{kind}-characteristic-iterations.txt", header, rows)
    pairs = [f"{each.code}|{code}" for each in iterations for code in each.codes]
    path = parameters / "race-and-ethnicity-code-to-iteration.txt"
    write_lines(path, "ITERATION_CODE|RACE_ETH_CODE", pairs)


def write_lines(path: Path, header: str, rows: Iterable[str]) -> None:
    """Write a file that has a header and these rows."""
    path.write_text("".join(f"{row}\n" for row in (header, *rows)))
