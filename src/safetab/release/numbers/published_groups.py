"""Published groups of one level as arrays: their indices, shapes and noisy numbers, and where copies come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.products.product import Shape, TableFamily

NO_DONOR = -1


@dataclass(frozen=True, slots=True, eq=False)
class PublishedGroups:
    """One element per group, by rising index in the release; `values` holds the total or the cells of each in turn.

    `measured_at` is the number of the level that measured a group: another one for a copied group, whose `donors` is
    then the entity that gave it.
    """

    family: TableFamily
    indices: NDArray[np.int64]
    shapes: NDArray[np.int8]  # positions in the family's ladder
    is_total_only: NDArray[np.bool_]
    stage_1_totals: NDArray[np.int64]  # 0 for groups that have none
    measured_at: NDArray[np.int16]
    donors: NDArray[np.int64]
    values: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each group's values begin."""
        cells = self.family.cells[self.shapes]
        starts: NDArray[np.int64] = np.cumsum(cells) - cells
        return starts

    def matrix_of(self, groups: NDArray[np.intp], shape: Shape) -> NDArray[np.int64]:
        """The values of groups that have this shape: a row for each group, a column for each cell."""
        rows: NDArray[np.int64] = self.values[self.starts[groups][:, None] + np.arange(shape.cells)]
        return rows

    def part(self, first: int, end: int) -> PublishedGroups:
        """Neighbouring groups, whose arrays are parts of these."""
        cells = self.family.cells[self.shapes[:end]]
        before, own = int(cells[:first].sum()), int(cells[first:].sum())
        own_groups = slice(first, end)
        return PublishedGroups(
            self.family,
            self.indices[own_groups],
            self.shapes[own_groups],
            self.is_total_only[own_groups],
            self.stage_1_totals[own_groups],
            self.measured_at[own_groups],
            self.donors[own_groups],
            self.values[before : before + own],
        )

    def chosen(self, groups: NDArray[np.intp] | NDArray[np.bool_]) -> PublishedGroups:
        """Some of the groups, in the given order."""
        positions = np.arange(len(self))[groups]
        cells = self.family.cells[self.shapes[positions]]
        first = np.repeat(self.starts[positions] - (np.cumsum(cells) - cells), cells)
        values = self.values[first + np.arange(len(first))]
        return PublishedGroups(
            self.family,
            self.indices[positions],
            self.shapes[positions],
            self.is_total_only[positions],
            self.stage_1_totals[positions],
            self.measured_at[positions],
            self.donors[positions],
            values,
        )


def no_groups(family: TableFamily) -> PublishedGroups:
    none = np.empty(0, dtype=np.int64)
    return PublishedGroups(
        family, none, none.astype(np.int8), none.astype(np.bool_), none, none.astype(np.int16), none, none
    )


def joined(parts: Sequence[PublishedGroups]) -> PublishedGroups:
    """The groups of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    fields = ("indices", "shapes", "is_total_only", "stage_1_totals", "measured_at", "donors", "values")
    family = parts[0].family
    return PublishedGroups(family, *(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def merged(own: PublishedGroups, more: PublishedGroups) -> PublishedGroups:
    """Both by rising index; a group of `more` stands for an own one."""
    if not len(more):
        return own
    kept = own.chosen(~np.isin(own.indices, more.indices))
    both = joined([kept, more])
    return both.chosen(np.argsort(both.indices, kind="stable"))
