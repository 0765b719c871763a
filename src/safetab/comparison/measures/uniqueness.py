"""Uniqueness: how much there is to expose, whatever is published."""

from __future__ import annotations

import numpy as np

from safetab.comparison.tables.exact_tables import Int64s


def share_unique(people: int, person: Int64s, *columns: Int64s) -> float | None:
    """The share of people who are alone with their values in some row; None without people.

    A row names its person: somebody in several groups has a row for each. The columns are, for
    example, the smallest area and the attribute, or also the group.
    """
    if not people:
        return None
    _, row, times = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True)
    return len(np.unique(person[times[row.ravel()] == 1])) / people
