"""The geography levels and the two passes. Puerto Rico is rows of this table, not a branch."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType

PUERTO_RICO_STATE = "72"

_STATES = """
01 AL Alabama|02 AK Alaska|04 AZ Arizona|05 AR Arkansas|06 CA California|08 CO Colorado|09 CT Connecticut|10 DE Delaware
11 DC District of Columbia|12 FL Florida|13 GA Georgia|15 HI Hawaii|16 ID Idaho|17 IL Illinois|18 IN Indiana|19 IA Iowa
20 KS Kansas|21 KY Kentucky|22 LA Louisiana|23 ME Maine|24 MD Maryland|25 MA Massachusetts|26 MI Michigan
27 MN Minnesota|28 MS Mississippi|29 MO Missouri|30 MT Montana|31 NE Nebraska|32 NV Nevada|33 NH New Hampshire
34 NJ New Jersey|35 NM New Mexico|36 NY New York|37 NC North Carolina|38 ND North Dakota|39 OH Ohio|40 OK Oklahoma
41 OR Oregon|42 PA Pennsylvania|44 RI Rhode Island|45 SC South Carolina|46 SD South Dakota|47 TN Tennessee|48 TX Texas
49 UT Utah|50 VT Vermont|51 VA Virginia|53 WA Washington|54 WV West Virginia|55 WI Wisconsin|56 WY Wyoming
72 PR Puerto Rico
"""

STATE_NAMES = MappingProxyType({row[:2]: (row[6:], row[3:5]) for row in _STATES.strip().replace("\n", "|").split("|")})
"""(name, abbreviation) by the two digits of a state's id."""

US_STATES = frozenset(STATE_NAMES) - {PUERTO_RICO_STATE}
"""FIPS codes of the 50 states and the District of Columbia."""


class TabulationPass(Enum):
    """One of two passes, US and Puerto Rico, which tabulate disjoint people."""

    US = "us"
    PUERTO_RICO = "pr"


class EntityKind(Enum):
    """A kind of geographic entity.

    Each has a noun, the number of digits of its ids, a parent, and says whether it is below state
    level and whether it can cross state lines. AIANNH areas count as below state level although
    some cross state lines.
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
        """The smallest kind whose entities contain whole entities of this kind."""
        return None if self._parent is None else EntityKind[self._parent]

    @property
    def around(self) -> tuple[EntityKind, ...]:
        """The kinds that contain this one, nearest first."""
        return () if self.parent is None else (self.parent, *self.parent.around)


COTERMINOUS_ORDER = (EntityKind.STATE, EntityKind.COUNTY, EntityKind.PLACE, EntityKind.AIANNH, EntityKind.TRACT)
"""Which kind gives its numbers to which in the coterminous step, unless --order says otherwise.

The nation never takes part.
"""


class GeographyLevel(Enum):
    """A geographic summary level of one pass. The label is its name in files."""

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

    __hash__ = object.__hash__  # a nation's tract names are looked up by level, and Enum's hash is slow

    def __init__(self, label: str, address: int, tabulation_pass: TabulationPass, entity_kind: EntityKind) -> None:
        self.label = label
        self.address = address  # part of noise addresses: it never changes, and levels never share one
        self.tabulation_pass = tabulation_pass
        self.entity_kind = entity_kind

    @property
    def is_substate(self) -> bool:
        return self.entity_kind.is_substate
