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
    """What a geographic entity is, and how many digits its id has."""

    NATION = ("nation", 1)
    STATE = ("state", 2)
    COUNTY = ("county", 5)
    TRACT = ("tract", 11)
    PLACE = ("place", 7)
    AIANNH = ("AIANNH area", 4)

    def __init__(self, noun: str, id_digits: int) -> None:
        self.noun = noun
        self.id_digits = id_digits

    @property
    def is_substate(self) -> bool:
        """Below state level; AIANNH areas count as such although some cross state lines."""
        return self not in {EntityKind.NATION, EntityKind.STATE}

    @property
    def parent(self) -> EntityKind | None:
        """The smallest kind of area that holds every entity of this kind whole."""
        return _PARENTS.get(self)

    @property
    def around(self) -> tuple[EntityKind, ...]:
        """The kinds of areas around an entity, nearest first; its id begins with theirs unless they cross states."""
        return () if self.parent is None else (self.parent, *self.parent.around)

    @property
    def crosses_states(self) -> bool:
        """Whether an entity of this kind can hold people of several states."""
        return self in {EntityKind.NATION, EntityKind.AIANNH}


_PARENTS = {
    EntityKind.STATE: EntityKind.NATION,
    EntityKind.COUNTY: EntityKind.STATE,
    EntityKind.TRACT: EntityKind.COUNTY,
    EntityKind.PLACE: EntityKind.STATE,
    EntityKind.AIANNH: EntityKind.NATION,
}


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

    def __init__(self, label: str, address: int, tabulation_pass: TabulationPass, entity_kind: EntityKind) -> None:
        self.label = label
        self.address = address  # in the address of noise: it never changes, and no two levels share one
        self.tabulation_pass = tabulation_pass
        self.entity_kind = entity_kind

    @property
    def is_substate(self) -> bool:
        return self.entity_kind.is_substate
