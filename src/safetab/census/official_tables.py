"""Published tables as the Census Bureau has them: for each group a row of numbers, some of them withheld."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import GeographyLevel

LEVELS = tuple(GeographyLevel)
CODES = 10_000
"""Codes of groups are below this."""


class Cell(IntEnum):
    """What a file says of one number."""

    NOT_GIVEN = 0
    NUMBER = 1
    WITHHELD = 2


@dataclass(frozen=True, slots=True, eq=False)
class OfficialTable:
    """One row per group: a position in LEVELS, the entity, the code of the group, and its numbers by line."""

    level: NDArray[np.int64]
    entity: NDArray[np.int64]
    code: NDArray[np.int64]
    counts: NDArray[np.int64]  # two dimensions; 0 where there is no number
    cells: NDArray[np.uint8]  # of Cell

    def __len__(self) -> int:
        return len(self.code)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> OfficialTable:
        return OfficialTable(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """A file that was read: its form in words, its tables, and how many rows it has."""

    name: str
    form: str
    table_ids: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class OfficialTables:
    """What some files say together: each group at most once in each table.

    `names` are those of areas, `labels` those of groups by POPGROUP; `left_out` counts rows by the reason why they are
    not in the tables; `statuses` are those that rows say forbid a release.
    """

    tables: Mapping[str, OfficialTable]
    names: Mapping[tuple[GeographyLevel, int], str]
    labels: Mapping[str, str]
    files: tuple[OfficialFile, ...]
    left_out: Mapping[str, int]
    statuses: tuple[str, ...] = ()


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each number once, rising; by sorting, since a hash of such keys is slow."""
    rising = np.sort(numbers)
    is_first = np.concatenate([np.ones(min(len(rising), 1), dtype=np.bool_), rising[1:] != rising[:-1]])
    return np.asarray(rising[is_first])


def is_among(numbers: NDArray[np.int64], rising: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the numbers are in a rising list."""
    if not len(rising):
        return np.zeros(len(numbers), dtype=np.bool_)
    position = np.minimum(np.searchsorted(rising, numbers), len(rising) - 1)
    return np.asarray(rising[position] == numbers)


def joined_tables(parts: list[OfficialTable]) -> OfficialTable:
    return OfficialTable(*(np.concatenate([getattr(part, name) for part in parts]) for name in OfficialTable.__slots__))
