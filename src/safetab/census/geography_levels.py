"""The geography levels and the two passes: the table that makes Puerto Rico a few rows, not a branch."""

from __future__ import annotations

from enum import Enum

PUERTO_RICO_STATE = "72"

_UNUSED_STATE_CODES = {3, 7, 14, 43, 52}

US_STATES = frozenset(f"{code:02d}" for code in range(1, 57) if code not in _UNUSED_STATE_CODES)
"""FIPS codes of the 50 states and the District of Columbia."""


class TabulationPass(Enum):
    """US and Puerto Rico are tabulated in two passes over disjoint people."""

    US = "us"
    PUERTO_RICO = "pr"


class EntityKind(Enum):
    """What a geographic entity is: noun, digits of its id, parent, whether it is below state level, crosses states.

    AIANNH areas count as below state level although some cross state lines.
    """

    NATION = ("nation", 1, None, False, True)
    STATE = ("state", 2, "NATION", False, False)
    COUNTY = ("county", 5, "STATE", True, False)
    TRACT = ("tract", 11, "COUNTY", True, False)
    PLACE = ("place", 7, "STATE", True, False)
    AIANNH = ("AIANNH area", 4, "NATION", True, True)

    def __init__(self, noun: str, id_digits: int, parent: str | None, is_substate: bool, crosses_states: bool) -> None:
        self.noun = noun
        self.id_digits = id_digits
        self._parent = parent
        self.is_substate = is_substate
        self.crosses_states = crosses_states  # whether one can hold people of several states

    @property
    def parent(self) -> EntityKind | None:
        """The smallest kind whose entities hold whole ones of this kind."""
        return None if self._parent is None else EntityKind[self._parent]

    @property
    def around(self) -> tuple[EntityKind, ...]:
        """The kinds that hold this one, nearest first."""
        return () if self.parent is None else (self.parent, *self.parent.around)


COTERMINOUS_ORDER = (EntityKind.STATE, EntityKind.COUNTY, EntityKind.PLACE, EntityKind.AIANNH, EntityKind.TRACT)
"""Who gives to whom in the coterminous step unless --order says otherwise; the nation never takes part."""


class GeographyLevel(Enum):
    """A geographic summary level of one pass; the label is what files call it."""

    USA = ("USA", 0, TabulationPass.US, EntityKind.NATION)
    STATE = ("STATE", 1, TabulationPass.US, EntityKind.STATE)
    COUNTY = ("COUNTY", 2, TabulationPass.US, EntityKind.COUNTY)
    TRACT = ("TRACT", 3, TabulationPass.US, EntityKind.TRACT)
    PLACE = ("PLACE", 4, TabulationPass.US, EntityKind.PLACE)
    AIANNH = ("AIANNH", 5, TabulationPass.US, EntityKind.AIANNH)
    PR_STATE = ("PR-STATE", 6, TabulationPass.PUERTO_RICO, EntityKind.STATE)
    PR_COUNTY = ("PR-COUNTY", 7, TabulationPass.PUERTO_RICO, EntityKind.COUNTY)
    PR_TRACT = ("PR-TRACT", 8, TabulationPass.PUERTO_RICO, EntityKind.TRACT)
    PR_PLACE = ("PR-PLACE", 9, TabulationPass.PUERTO_RICO, EntityKind.PLACE)

    __hash__ = object.__hash__  # names of a nation's tracts are looked up by level: an Enum's own hash is slow

    def __init__(self, label: str, address: int, tabulation_pass: TabulationPass, entity_kind: EntityKind) -> None:
        self.label = label
        self.address = address  # in the address of noise: it never changes, and no two levels share one
        self.tabulation_pass = tabulation_pass
        self.entity_kind = entity_kind

    @property
    def is_substate(self) -> bool:
        return self.entity_kind.is_substate
