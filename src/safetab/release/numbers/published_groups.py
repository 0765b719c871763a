"""Published groups of one level as arrays: their places, tables and noisy numbers, and where copies come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.products.safetab_p.tables import Table
from safetab.tabulation.measurements import TABLES

NO_DONOR = -1
_CELLS = np.array([table.cells for table in TABLES], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedGroups:
    """One element per group, by rising place in the release; `values` holds the total or the cells of each in turn.

    `measured_at` is the number of the level that measured a group: another one for a copied group, whose `donors` is
    then the entity that gave it.
    """

    places: NDArray[np.int64]
    tables: NDArray[np.int8]
    is_total_only: NDArray[np.bool_]
    stage_1_totals: NDArray[np.int64]  # 0 for total-only groups, which have none
    measured_at: NDArray[np.int16]
    donors: NDArray[np.int64]
    values: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each group's values begin."""
        cells = _CELLS[self.tables]
        starts: NDArray[np.int64] = np.cumsum(cells) - cells
        return starts

    def matrix_of(self, groups: NDArray[np.intp], table: Table) -> NDArray[np.int64]:
        """The values of groups that have this table: a row for each group, a column for each cell."""
        rows: NDArray[np.int64] = self.values[self.starts[groups][:, None] + np.arange(table.cells)]
        return rows

    def chosen(self, groups: NDArray[np.intp] | NDArray[np.bool_] | slice) -> PublishedGroups:
        """Some of the groups, in the given order."""
        positions = np.arange(len(self))[groups]
        cells = _CELLS[self.tables[positions]]
        first = np.repeat(self.starts[positions] - (np.cumsum(cells) - cells), cells)
        values = self.values[first + np.arange(len(first))]
        return PublishedGroups(
            self.places[positions],
            self.tables[positions],
            self.is_total_only[positions],
            self.stage_1_totals[positions],
            self.measured_at[positions],
            self.donors[positions],
            values,
        )


_NONE = np.empty(0, dtype=np.int64)
NO_GROUPS = PublishedGroups(
    _NONE, _NONE.astype(np.int8), _NONE.astype(np.bool_), _NONE, _NONE.astype(np.int16), _NONE, _NONE
)


def joined(parts: Sequence[PublishedGroups]) -> PublishedGroups:
    """The groups of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    fields = ("places", "tables", "is_total_only", "stage_1_totals", "measured_at", "donors", "values")
    return PublishedGroups(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def merged(own: PublishedGroups, more: PublishedGroups) -> PublishedGroups:
    """Both by rising place; a group of `more` takes the place of an own one."""
    if not len(more):
        return own
    kept = own.chosen(~np.isin(own.places, more.places))
    both = joined([kept, more])
    return both.chosen(np.argsort(both.places, kind="stable"))
