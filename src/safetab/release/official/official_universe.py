"""The universe of published tables: which of their groups it knows, and which areas it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import Geography, region_id
from safetab.census.geography_levels import EntityKind, GeographyLevel, TabulationPass
from safetab.census.iterations import IterationLevel
from safetab.census.official_tables import CODES, LEVELS, OfficialTable, OfficialTables, distinct, is_among
from safetab.census.public_lists import PublicLists
from safetab.config.run_config import RunConfig
from safetab.planning.run_plan import RunPlan
from safetab.release.release_universe import Entities, Universe, universe_of_plan, universe_of_run

_MAJOR = "a major group, which is never tabulated"
_UNLISTED = "which is not in the lists"


def known_tables(tables: OfficialTables, config: RunConfig, lists: PublicLists) -> OfficialTables:
    """Rows of listed groups, in areas of the states that the configuration has; the others are counted."""
    why = {one.code: _MAJOR for one in lists.iterations if one.level is IterationLevel.MAJOR}
    is_listed = np.zeros(CODES, dtype=np.bool_)
    is_listed[[int(one.code) for one in lists.iterations if one.level is not IterationLevel.MAJOR]] = True
    left_out, kept = Counter(tables.left_out), {}
    for table_id, table in tables.tables.items():
        is_ours = _is_in_states(table, config)
        left_out["areas of states that config.json doesn't have"] += int((~is_ours).sum())
        codes, rows = np.unique(table.code[is_ours & ~is_listed[table.code]], return_counts=True)
        for code, count in zip(codes.tolist(), rows.tolist(), strict=True):
            left_out[f"POPGROUP {code:04d}, {why.get(f'{code:04d}', _UNLISTED)}"] += count
        kept[table_id] = table.chosen(is_ours & is_listed[table.code])
    return replace(tables, tables=kept, left_out={reason: rows for reason, rows in left_out.items() if rows})


def _is_in_states(table: OfficialTable, config: RunConfig) -> NDArray[np.bool_]:
    is_ours = np.zeros(len(table), dtype=np.bool_)
    for number, level in enumerate(LEVELS):
        rows = table.level == number
        if level.tabulation_pass not in config.passes or not rows.any():
            continue
        kind = level.entity_kind
        if kind.crosses_states:
            is_ours[rows] = True
        else:
            states = [int(state) for state in config.states_of(level.tabulation_pass)]
            is_ours[rows] = np.isin(table.entity[rows] // 10 ** (kind.id_digits - EntityKind.STATE.id_digits), states)
    return is_ours


def passes_of(tables: OfficialTables) -> tuple[TabulationPass, ...]:
    """Those that some area is of."""
    present = {int(level) for table in tables.tables.values() for level in np.unique(table.level)}
    return tuple(one for one in TabulationPass if any(LEVELS[level].tabulation_pass is one for level in present))


def official_universe(
    plan: RunPlan, tables: OfficialTables, geography_of_pass: Mapping[TabulationPass, Geography] | None
) -> Universe:
    """With the areas of a geography, if there is one, or else with those of the tables."""
    names = {
        (level, region_id(entity, level.entity_kind)): name
        for (level, entity), name in tables.names.items()
        if name.strip()
    }
    if geography_of_pass is not None:
        return universe_of_run(plan, geography_of_pass, names)
    levels = dict.fromkeys(level.geography for level in plan.config.levels)
    return universe_of_plan(plan, {level: _entities(level, tables, names) for level in levels})


def _entities(
    level: GeographyLevel, tables: OfficialTables, names: Mapping[tuple[GeographyLevel, str], str]
) -> Entities:
    number = LEVELS.index(level)
    found = [table.entity[table.level == number] for table in tables.tables.values()]
    ids = distinct(np.concatenate([np.empty(0, dtype=np.int64), *found]))
    shown = tuple(region_id(entity, level.entity_kind) for entity in ids.tolist())
    return Entities(ids, shown, tuple(names.get((level, one), one) for one in shown))


def areas_not_in(universe: Universe, tables: OfficialTables) -> dict[str, list[str]]:
    """Areas of the tables that a universe doesn't have, by level."""
    missing = {}
    for level, entities in universe.entities.items():
        number = LEVELS.index(level)
        found = [table.entity[table.level == number] for table in tables.tables.values()]
        ids = distinct(np.concatenate([np.empty(0, dtype=np.int64), *found]))
        strange = ids[~is_among(ids, entities.ids)]
        if len(strange):
            missing[level.label] = [region_id(entity, level.entity_kind) for entity in strange.tolist()]
    return missing
