"""Tables that the Census Bureau has published: one row of numbers per group, some withheld."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.arrays import Columns, begins_run
from safetab.model.census.area_levels import AreaLevel
from safetab.model.us.us_census import US

LEVELS = tuple(US.area_levels)
CODES = 10_000
"""Codes of groups are below this."""


class Cell(IntEnum):
    """The statement of a file about one number."""

    NOT_GIVEN = 0
    NUMBER = 1
    WITHHELD = 2


@dataclass(frozen=True, slots=True, eq=False)
class OfficialTable(Columns):
    """One row per group: its place and code, and its numbers by line.

    The place is a position in LEVELS, and the entity.
    """

    level: NDArray[np.int64]
    entity: NDArray[np.int64]
    code: NDArray[np.int64]
    counts: NDArray[np.int64]  # two dimensions; 0 where there is no number
    cells: NDArray[np.uint8]  # of Cell


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """A file that was read: its name, its form in words, its tables and its number of rows."""

    name: str
    form: str
    table_ids: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class OfficialTables:
    """The contents of several files together. A group appears at most once in each table.

    `names` names areas, `labels` names groups by POPGROUP, `left_out` counts the rows that are not
    in the tables by reason, and `statuses` holds the statuses in the files that forbid a release.
    """

    tables: Mapping[str, OfficialTable]
    names: Mapping[tuple[AreaLevel, int], str]
    labels: Mapping[str, str]
    files: tuple[OfficialFile, ...]
    left_out: Mapping[str, int]
    statuses: tuple[str, ...] = ()


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct numbers in ascending order. Sorts, because hashing such keys is slow."""
    rising = np.sort(numbers)
    return np.asarray(rising[begins_run(rising)])
