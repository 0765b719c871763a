"""The audit's small world of households, and one household more or another one.

Four householders have the same eight race codes and the same ethnicity and live in one block. Published totals say
nothing of the households: a group of four may be measured in any table, and every fourth group of the others in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from safetab.audit.audited_product import AuditWorld, FileRow
from safetab.audit.households.published_totals import published_totals
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
    DataFile,
    WorldLists,
    race_columns,
    records_file,
    write_public_world,
)
from safetab.products.product import TableFamily
from safetab.products.safetab_h.safetab_h import SAFETAB_H

MARRIED, ALONE = 1, 4
MORTGAGED, FREE_AND_CLEAR, WITHOUT_RENT = 1, 2, 4
_ALWAYS = frozenset(f"{first + number}" for first, groups in ((2000, 10), (3000, 3)) for number in range(groups))
"""The iterations of the four: each of their groups has a total, wherever it is."""


@dataclass(frozen=True, slots=True)
class Household:
    """One that doesn't exist: the householder's codes, the type and the tenure."""

    block: str
    races: tuple[str, ...]
    ethnicity: str = NO_ETHNICITY
    kind: int = MARRIED
    tenure: int = MORTGAGED

    @property
    def row(self) -> str:
        columns = [self.block, "01", *race_columns(self.races), self.ethnicity, str(self.kind), str(self.tenure)]
        return "|".join(columns)


FILLS_ALL_GROUPS = Household(CROWDED_BLOCK, EIGHT_RACES, ETHNICITIES[0])
_HOUSEHOLDS = (
    *[FILLS_ALL_GROUPS] * 4,
    *(Household(block, (RACES[8],), kind=kind, tenure=kind - 1) for block in BLOCKS for kind in (2, 3, 4, 5))
)  # fmt: skip
POPULATION = tuple(one for one in _HOUSEHOLDS if one.block != EMPTY_BLOCK)

_RENTS_NOTHING = replace(FILLS_ALL_GROUPS, kind=ALONE, tenure=WITHOUT_RENT)
_PUERTO_RICAN = replace(FILLS_ALL_GROUPS, kind=5, tenure=FREE_AND_CLEAR, block=PUERTO_RICAN_BLOCK)
_FIRST_OF_ITS_BLOCK = Household(EMPTY_BLOCK, (RACES[0], RACES[9]))
SEVERAL_MORE = (*POPULATION, FILLS_ALL_GROUPS, _RENTS_NOTHING, _PUERTO_RICAN, _FIRST_OF_ITS_BLOCK)
ONE_MORE_HOUSEHOLD = (*POPULATION, _FIRST_OF_ITS_BLOCK)
EIGHT_CODES_AND_AN_ETHNICITY = (*POPULATION, FILLS_ALL_GROUPS)
ALONE_WITHOUT_RENT = (*POPULATION, _RENTS_NOTHING)
A_PUERTO_RICAN_HOUSEHOLD = (*POPULATION, _PUERTO_RICAN)
ANOTHER_TYPE = (replace(POPULATION[0], kind=ALONE), *POPULATION[1:])
ANOTHER_TENURE = (replace(POPULATION[0], tenure=WITHOUT_RENT), *POPULATION[1:])
OTHER_CODES = (*POPULATION[1:], replace(POPULATION[0], races=(RACES[10],), ethnicity=ETHNICITIES[1]))
A_TOTAL_ONLY_HOUSEHOLDER = (*POPULATION, Household(OTHER_BLOCK, (TOTAL_ONLY_RACE,), TOTAL_ONLY_ETHNICITY))
ONE_CODE_EIGHT_TIMES = (*POPULATION, Household(EMPTY_BLOCK, (RACES[0],) * 8, ETHNICITIES[1]))
MOVED_TO_PUERTO_RICO = (*POPULATION[1:], replace(POPULATION[0], block=PUERTO_RICAN_BLOCK))
NOBODY_IN_PUERTO_RICO = tuple(one for one in POPULATION if not one.block.startswith("72|"))
ONE_HOUSEHOLD_IN_PUERTO_RICO = (*NOBODY_IN_PUERTO_RICO, Household(PUERTO_RICAN_BLOCK, (RACES[0],)))


def write_world(folder: Path, households: Iterable[FileRow], config: Mapping[str, Any]) -> AuditWorld:
    lists = WorldLists()
    return write_with_totals(folder, households, config, lists, BLOCKS, published_totals(lists, BLOCKS, _ALWAYS))


def write_with_totals(
    folder: Path,
    households: Iterable[FileRow],
    config: Mapping[str, Any],
    lists: WorldLists,
    blocks: Mapping[str, str],
    totals: DataFile,
) -> AuditWorld:
    return write_public_world(folder, config, lists, blocks, records_file(SAFETAB_H, households), totals)


def audit_config(**changes: Any) -> dict[str, Any]:
    """Noise of about 3 at every level, in both families."""
    return {
        "privacy_defn": "zcdp",
        "run_us": True,
        "run_pr": True,
        "state_filter_us": ["01", "44"],
        "reader": "csv",
        "max_race_codes": 8,
        **own_settings("SafeTab-H"),
        "allow_negative_counts": True,
    } | changes


def config_of_tracts(budgets: Mapping[TableFamily, float], **changes: Any) -> dict[str, Any]:
    """Only the Detailed groups of tracts are tabulated, in the families that have a budget."""
    of_levels = one_budget("SafeTab-H", {(family.name, "TRACT", 2): budget for family, budget in budgets.items()})
    return audit_config(**of_levels, **({"run_pr": False} | changes))
