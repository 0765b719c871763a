"""Measurements: the noisy numbers of published groups. Releasable from here on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.planning.run_plan import LevelPlan
from safetab.products.safetab_p.tables import Stage, Table

TABLES = tuple(Table)


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """Published groups of one level, by rising place, with every noisy number that was drawn for them.

    `values` has for each table a row for each of its groups, in the order of their places.
    """

    plan: LevelPlan
    stage: Stage  # TOTAL_ONLY, or STAGE_2 for adaptive groups
    places: NDArray[np.int64]
    table_numbers: NDArray[np.int8]  # positions in TABLES
    stage_1_totals: NDArray[np.int64] | None  # none for total-only groups
    values: Mapping[Table, NDArray[np.int64]]

    def groups_of(self, table: Table) -> NDArray[np.intp]:
        """The positions of the groups that got this table."""
        return np.flatnonzero(self.table_numbers == TABLES.index(table))
