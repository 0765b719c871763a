"""Characteristic iterations: a race or ethnicity group, alone or in combination.

"Detailed" names three things in the sources. Here it is only an iteration *level*; the list with DETAILED_ONLY=True is
`TabulationList.TOTAL_ONLY`, and the grain of geography is `is_substate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum


class IterationLevel(IntEnum):
    """How fine a race or ethnicity group is; the numbers are those of the files."""

    MAJOR = 0
    REGIONAL = 1
    DETAILED = 2

    @property
    def label(self) -> str:
        return self.name.capitalize()


TABULATED_ITERATION_LEVELS = (IterationLevel.REGIONAL, IterationLevel.DETAILED)


class IterationKind(Enum):
    """By which codes a person belongs: all race codes inside, some race code inside, or the ethnicity code."""

    RACE_ALONE = "race alone"
    RACE_IN_COMBINATION = "race alone or in any combination"
    ETHNICITY = "ethnicity"

    __hash__ = object.__hash__  # a member equals itself alone, and that of an Enum is slow


class TabulationList(Enum):
    """Where an iteration is tabulated, and how finely."""

    COMMON = "common"  # everywhere, adaptively
    TOTAL_ONLY = "total only"  # nation and state, a total with the level's whole budget; the paper's TotalOnly
    SUBSTATE_ONLY = "substate only"  # below state, adaptively

    __hash__ = object.__hash__

    def is_tabulated(self, *, is_substate: bool) -> bool:
        if self is TabulationList.COMMON:
            return True
        return is_substate == (self is TabulationList.SUBSTATE_ONLY)


@dataclass(frozen=True, slots=True)
class CharacteristicIteration:
    """A row of the iteration files. Major groups are on no list: they are never tabulated."""

    code: str
    name: str
    level: IterationLevel
    kind: IterationKind
    listed: TabulationList | None

    @property
    def is_total_only(self) -> bool:
        return self.listed is TabulationList.TOTAL_ONLY

    def is_tabulated(self, *, is_substate: bool) -> bool:
        return self.listed is not None and self.listed.is_tabulated(is_substate=is_substate)
