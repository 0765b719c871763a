"""The units of one state, by MAFID: what persons are joined to."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.readers.cef.layout import GROUP_QUARTERS, HOUSING_UNIT
from safetab.readers.cef.line_loops import Flags, Int32s, Int64s, find_units

_MAFID_BITS = 30  # nine digits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Units:
    """One element a unit; `places` are positions of their blocks in the list of OIDs, `lines` those in the file."""

    mafids: Int32s
    places: Int32s
    lines: Int32s
    populations: Int32s
    types: NDArray[np.uint8]  # RTYPE
    household_types: NDArray[np.uint8]  # HHT
    races: NDArray[np.uint8]  # HHRACE, 0 for none
    tenures: NDArray[np.uint8]

    def chosen(self, which: NDArray[np.integer] | Flags) -> Units:
        return Units(*(getattr(self, field.name)[which] for field in fields(self)))


def joined_units(parts: list[Units]) -> Units:
    """All parts as one; the list is emptied, so that a state is held once."""
    columns = [
        np.concatenate([getattr(part, field.name) for part in parts] or [np.empty(0, dtype=np.int32)])
        for field in fields(Units)
    ]
    parts.clear()
    return Units(*columns)


class UnitTable:
    """Units rising by MAFID, and how many persons and householders were found in each."""

    def __init__(self, units: Units) -> None:
        self.units = units.chosen(np.argsort(units.mafids, kind="stable"))
        self.persons = np.zeros(len(units.mafids), dtype=np.int32)
        self.householders = np.zeros(len(units.mafids), dtype=np.int32)
        self._shift = max(0, _MAFID_BITS - max(1, len(units.mafids)).bit_length())
        bounds = np.arange((1 << (_MAFID_BITS - self._shift)) + 1, dtype=np.int64) << self._shift
        self._bucket_starts = np.searchsorted(self.units.mafids, bounds)

    @property
    def repeated(self) -> Flags:
        """The units whose MAFID another one has before them."""
        return np.append(False, np.diff(self.units.mafids) == 0) if len(self.units.mafids) else np.empty(0, np.bool_)

    def find(self, mafids: Int64s, is_householder: Flags) -> Int32s:
        """The unit of each person, or a negative number; counts who was found. MAFIDs have nine digits."""
        found = np.empty(len(mafids), dtype=np.int32)
        loop = compiled_if_worthwhile(find_units, len(mafids))
        loop(
            mafids, is_householder, self._shift, self._bucket_starts, self.units.mafids, found, self.persons,
            self.householders,
        )  # fmt: skip
        return found

    @property
    def is_household(self) -> Flags:
        """An occupied housing unit."""
        return np.asarray((self.units.types == HOUSING_UNIT) & (self.units.household_types > 0))

    @property
    def without_one_householder(self) -> Flags:
        return np.asarray(self.is_household & (self.householders != 1))

    @property
    def inhabited_without_a_type(self) -> Flags:
        """Housing units where somebody lives and that say that they are vacant: a household would be lost."""
        return np.asarray((self.units.types == HOUSING_UNIT) & (self.units.household_types == 0) & (self.persons > 0))

    @property
    def group_quarters_with_householders(self) -> Flags:
        return np.asarray((self.units.types == GROUP_QUARTERS) & (self.householders > 0))

    @property
    def with_other_population(self) -> Flags:
        return np.asarray(self.units.populations != self.persons)

    def lines_where(self, which: Flags) -> Int32s:
        """Line numbers, rising."""
        return np.sort(self.units.lines[which])

    def counts(self) -> dict[str, int]:
        """The six counts of the state, by their names in the file of counts."""
        found = {"COUNT_UNIT": len(self.units.mafids), "COUNT_PER": int(self.persons.sum())}
        for ending, unit_type in (("HU", HOUSING_UNIT), ("GQ", GROUP_QUARTERS)):
            is_of_type = self.units.types == unit_type
            found[f"COUNT_UNIT_{ending}"] = int(np.count_nonzero(is_of_type))
            found[f"COUNT_PER_{ending}"] = int(self.persons[is_of_type].sum())
        return found
