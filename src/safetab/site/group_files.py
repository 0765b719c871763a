"""The totals by group: every area that has one, cut into files by group and state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safetab.release.release_universe import Universe
from safetab.site.area_files import state_numbers
from safetab.site.cuts import begins, cuts, text_sizes
from safetab.site.data_files import DataFolder
from safetab.site.level_rows import LevelRows
from safetab.site.measured_tables import MeasuredTables
from safetab.site.row_batches import Integers


@dataclass(frozen=True, slots=True, eq=False)
class _Totals:
    """By rising iteration and entity. Of a withheld total the table is -1 less the number that says why."""

    iterations: Integers
    entities: Integers
    tables: Integers
    values: Integers


def write_groups(
    data: DataFolder, name: str, families: Sequence[LevelRows], tables: MeasuredTables, universe: Universe
) -> list[list[int]]:
    """Writes the files name/0.js, ..; gives back the iteration and the entity with which each begins."""
    totals = _first_shown([_totals(rows, tables) for rows in families])
    states = state_numbers(families[0].level.geography, universe, totals.entities)
    of_group = begins(totals.iterations)
    flat = np.stack([totals.entities, totals.tables, totals.values], axis=1)
    sizes = text_sizes(flat.ravel()).reshape(flat.shape).sum(axis=1, dtype=np.int64)
    parts = cuts(sizes, [of_group, of_group | begins(states)]).tolist()
    for number, (first, end) in enumerate(zip(parts, [*parts[1:], len(flat)], strict=True)):
        iterations, areas = np.unique(totals.iterations[first:end], return_counts=True)
        part = flat[first:end].copy()
        is_next = ~begins(totals.iterations[first:end])[1:]
        part[1:, 0] -= np.where(is_next, flat[first : end - 1, 0], 0)
        groups = np.stack([iterations, areas], axis=1).ravel().tolist()
        data.write(f"{name}/{number}", {"groups": groups, "totals": part.ravel().tolist()})
    return [[int(totals.iterations[first]), int(totals.entities[first])] for first in parts]


def _totals(rows: LevelRows, tables: MeasuredTables) -> _Totals:
    lines = [[line.is_total for line in table.lines].index(True) for table in tables.tables]
    at = rows.starts[:-1] + np.array(lines, dtype=np.int64)[rows.tables]
    numbers, values = rows.tables.copy(), rows.values[at]
    place = np.searchsorted(rows.withheld.at, at)
    found = np.append(rows.withheld.at, -1)[place] == at
    numbers[found] = -1 - rows.withheld.values[place[found]]
    return _Totals(rows.iterations, rows.entities, numbers, np.where(found, 0, values))


def _first_shown(families: Sequence[_Totals]) -> _Totals:
    """One total for each group: that of the first family which shows it, or of the first."""
    joined = _Totals(*(np.concatenate([getattr(one, name) for one in families]) for name in _Totals.__slots__))
    family = np.repeat(np.arange(len(families)), [len(one.entities) for one in families])
    order = np.lexsort((family, joined.tables < 0, joined.entities, joined.iterations))
    is_first = begins(joined.iterations[order]) | begins(joined.entities[order])
    chosen = order[is_first]
    return _Totals(*(getattr(joined, name)[chosen] for name in _Totals.__slots__))
