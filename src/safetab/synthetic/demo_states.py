"""The places of the demo census: real ones, with made-up numbers of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from safetab.census.geography_levels import PUERTO_RICO_STATE, TabulationPass

AgeKnots = tuple[tuple[int, int], ...]
"""Ages with their weights; between two knots the weight runs straight."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A place or AIANNH area inside a county: a run of the county's blocks, in percent of them.

    At least 5 percent long, so that it has a block even where a county is one tract of 20 blocks.
    """

    code: str
    name: str
    start_percent: int
    end_percent: int


@dataclass(frozen=True, slots=True)
class County:
    code: str
    name: str
    people_per_mille: int  # of the state
    places: tuple[Stretch, ...] = ()
    aiannh_areas: tuple[Stretch, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    code: str
    name: str
    tabulation_pass: TabulationPass
    people_per_mille: int  # of all
    several_race_codes_per_mille: int  # people with more than one race code
    ages: AgeKnots
    counties: tuple[County, ...]


@dataclass(frozen=True, slots=True)
class HomeArea:
    """An AIANNH area is mostly lived in by the people whose home it is."""

    race_code: str
    percent: int


_YOUNG: AgeKnots = (
    (0, 1500), (18, 1600), (30, 1450), (45, 1150), (60, 900), (70, 600), (80, 260), (90, 60), (100, 3), (115, 0),
)  # fmt: skip
_MIDDLE: AgeKnots = (
    (0, 1050), (18, 1300), (30, 1350), (45, 1200), (60, 1300), (70, 950), (80, 450), (90, 120), (100, 5), (115, 0),
)  # fmt: skip
_OLD: AgeKnots = (
    (0, 750), (18, 1150), (30, 1150), (45, 1200), (60, 1450), (70, 1250), (80, 600), (90, 170), (100, 8), (115, 0),
)  # fmt: skip

_NAVAJO_NATION = ("2430", "Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT")

HOME_AREAS: Mapping[str, HomeArea] = MappingProxyType(
    {
        "2415": HomeArea("5140", 60),
        "2430": HomeArea("5110", 88),
        "4785": HomeArea("5120", 90),
    }
)

_HAWAII = State(
    "15", "Hawaii", TabulationPass.US, 220, 200, _MIDDLE,
    (
        County("001", "Hawaii County", 140, (Stretch("14650", "Hilo CDP", 0, 35),)),
        County(
            "003", "Honolulu County", 680,
            (
                Stretch("06290", "East Honolulu CDP", 0, 8),
                Stretch("23150", "Kailua CDP (Honolulu County)", 8, 14),
                Stretch("62600", "Pearl City CDP", 14, 22),
                Stretch("71550", "Urban Honolulu CDP", 22, 70),
                Stretch("79700", "Waipahu CDP", 70, 80),
            ),
        ),
        County("007", "Kauai County", 60, (Stretch("45200", "Lihue CDP", 0, 20),)),
        County("009", "Maui County", 120, (Stretch("22700", "Kahului CDP", 0, 25),)),
    ),
)  # fmt: skip

_NEW_MEXICO = State(
    "35", "New Mexico", TabulationPass.US, 240, 85, _MIDDLE,
    (
        County("001", "Bernalillo County", 480, (Stretch("02000", "Albuquerque city", 0, 82),)),
        County("013", "Doña Ana County", 170, (Stretch("39380", "Las Cruces city", 0, 52),)),
        County(
            "031", "McKinley County", 90, (Stretch("28460", "Gallup city", 0, 30),),
            (Stretch("4785", "Zuni Reservation and Off-Reservation Trust Land, NM--AZ", 30, 42),
             Stretch(*_NAVAJO_NATION, 42, 92)),
        ),
        County(
            "045", "San Juan County", 140,
            (Stretch("25800", "Farmington city", 0, 38), Stretch("72770", "Shiprock CDP", 64, 72)),
            (Stretch(*_NAVAJO_NATION, 58, 100),),
        ),
        County("049", "Santa Fe County", 120, (Stretch("70500", "Santa Fe city", 0, 56),)),
    ),
)  # fmt: skip

_RHODE_ISLAND = State(
    "44", "Rhode Island", TabulationPass.US, 240, 75, _MIDDLE,
    (
        County("001", "Bristol County", 50),
        County("003", "Kent County", 155, (Stretch("74300", "Warwick city", 0, 48),)),
        County("005", "Newport County", 80, (Stretch("49960", "Newport city", 0, 30),)),
        County(
            "007", "Providence County", 600,
            (
                Stretch("14140", "Central Falls city", 0, 5),
                Stretch("19180", "Cranston city", 5, 18),
                Stretch("22960", "East Providence city", 18, 25),
                Stretch("54640", "Pawtucket city", 25, 36),
                Stretch("59000", "Providence city", 36, 66),
                Stretch("80780", "Woonsocket city", 66, 73),
            ),
        ),
        County("009", "Washington County", 115, (), (Stretch("2415", "Narragansett Reservation, RI", 90, 95),)),
    ),
)  # fmt: skip

_UTAH = State(
    "49", "Utah", TabulationPass.US, 120, 70, _YOUNG,
    (
        County(
            "035", "Salt Lake County", 560,
            (Stretch("67000", "Salt Lake City city", 0, 20), Stretch("83470", "West Valley City city", 20, 32)),
        ),
        County("037", "San Juan County", 100, (), (Stretch(*_NAVAJO_NATION, 45, 100),)),
        County(
            "049", "Utah County", 340,
            (Stretch("57300", "Orem city", 0, 18), Stretch("62470", "Provo city", 18, 40)),
        ),
    ),
)  # fmt: skip

_VERMONT = State(
    "50", "Vermont", TabulationPass.US, 110, 60, _OLD,
    (
        County(
            "007", "Chittenden County", 440,
            (
                Stretch("10675", "Burlington city", 0, 28),
                Stretch("66175", "South Burlington city", 28, 40),
                Stretch("85150", "Winooski city", 40, 46),
            ),
        ),
        County("021", "Rutland County", 200, (Stretch("61225", "Rutland city", 0, 28),)),
        County("023", "Washington County", 200, (Stretch("46000", "Montpelier city", 0, 15),)),
        County("027", "Windsor County", 160),
    ),
)  # fmt: skip

_PUERTO_RICO = State(
    PUERTO_RICO_STATE, "Puerto Rico", TabulationPass.PUERTO_RICO, 70, 150, _OLD,
    (
        County("097", "Mayagüez Municipio", 150, (Stretch("52431", "Mayagüez zona urbana", 0, 70),)),
        County("113", "Ponce Municipio", 330, (Stretch("63820", "Ponce zona urbana", 0, 80),)),
        County("127", "San Juan Municipio", 520, (Stretch("76770", "San Juan zona urbana", 0, 94),)),
    ),
)  # fmt: skip

STATES = (_HAWAII, _NEW_MEXICO, _RHODE_ISLAND, _UTAH, _VERMONT, _PUERTO_RICO)
"""In the order of their codes, as their counties are; the weights of codes have one column for each."""
