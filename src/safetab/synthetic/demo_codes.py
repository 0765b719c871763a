"""The race and ethnicity codes of the demo census, with made-up frequencies in its six states.

The codes are the demo's own. Names are those of well-known groups; how often they occur is only roughly how it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from safetab.census.iterations import TabulationList

_TOTAL_ONLY = TabulationList.TOTAL_ONLY
_OTHER = TabulationList.SUBSTATE_ONLY
_CHECKBOX = None

StateWeights = tuple[int, int, int, int, int, int]
"""Roughly, people in 10,000 whose code this is: in Hawaii, New Mexico, Rhode Island, Utah, Vermont and Puerto Rico."""


@dataclass(frozen=True, slots=True)
class ReportedCode:
    """A code and where it leads at the Detailed level.

    COMMON: to a group of its own. TOTAL_ONLY: to a group of its own at nation and state level, and below to the
    family's others. SUBSTATE_ONLY: only to those others. None: to no Detailed group, as a checkbox does.
    """

    code: str
    name: str
    weights: StateWeights
    listed: TabulationList | None = TabulationList.COMMON


@dataclass(frozen=True, slots=True)
class CodeFamily:
    """The codes of one region, or those of a major group that are in no region.

    `others` names the group below state level that holds the codes with no group of their own there.
    """

    major: str
    region: str | None
    codes: tuple[ReportedCode, ...]
    others: str | None = None


WHITE, BLACK = "White", "Black or African American"
AMERICAN_INDIAN, ASIAN = "American Indian and Alaska Native", "Asian"
PACIFIC_ISLANDER, SOME_OTHER_RACE = "Native Hawaiian and Other Pacific Islander", "Some Other Race"

MAJOR_RACES = (WHITE, BLACK, AMERICAN_INDIAN, ASIAN, PACIFIC_ISLANDER, SOME_OTHER_RACE)
"""In the order in which CENRACE numbers them."""

_Code = ReportedCode

RACE_FAMILIES = (
    CodeFamily(WHITE, None, (_Code("1000", "White (checkbox)", (800, 2300, 1900, 2800, 3000, 1500), _CHECKBOX),)),
    CodeFamily(
        WHITE, "European",
        (
            _Code("1010", "Basque", (2, 25, 1, 70, 1, 2)),
            _Code("1020", "Dutch", (25, 60, 30, 200, 90, 1)),
            _Code("1030", "English", (330, 560, 900, 2300, 1300, 8)),
            _Code("1040", "French", (70, 130, 450, 130, 950, 12)),
            _Code("1050", "German", (380, 720, 400, 950, 850, 15)),
            _Code("1060", "Irish", (300, 480, 1450, 480, 1450, 12)),
            _Code("1070", "Italian", (130, 240, 1500, 260, 650, 20)),
            _Code("1080", "Norwegian", (50, 90, 30, 180, 60, 1)),
            _Code("1090", "Polish", (60, 120, 320, 90, 320, 2)),
            _Code("1100", "Portuguese", (280, 20, 780, 20, 30, 4)),
            _Code("1110", "Scottish", (60, 130, 130, 380, 330, 1)),
            _Code("1120", "Swedish", (40, 80, 140, 330, 110, 1)),
            _Code("1130", "Ukrainian", (8, 15, 45, 25, 30, 0)),
            _Code("1140", "Livonian", (0, 1, 2, 1, 1, 0), _TOTAL_ONLY),
            _Code("1150", "Manx", (1, 1, 2, 6, 2, 0), _TOTAL_ONLY),
            _Code("1199", "European, not specified", (90, 110, 120, 150, 160, 30), _OTHER),
        ),
        others="Other European",
    ),
    CodeFamily(
        WHITE, "Middle Eastern or North African",
        (
            _Code("1510", "Egyptian", (3, 6, 14, 6, 4, 1)),
            _Code("1520", "Iranian", (6, 14, 10, 28, 5, 1)),
            _Code("1530", "Lebanese", (5, 22, 30, 14, 26, 6)),
            _Code("1540", "Syrian", (2, 5, 34, 6, 6, 2)),
        ),
    ),
    CodeFamily(
        BLACK, None,
        (
            _Code("3000", "Black or African American (checkbox)", (60, 80, 130, 60, 50, 500), _CHECKBOX),
            _Code("3010", "African American", (90, 120, 240, 60, 60, 30)),
        ),
    ),
    CodeFamily(
        BLACK, "Sub-Saharan African",
        (
            _Code("3110", "Cabo Verdean", (2, 1, 230, 1, 2, 1)),
            _Code("3120", "Congolese", (1, 4, 10, 14, 24, 0)),
            _Code("3130", "Liberian", (1, 1, 80, 4, 2, 0)),
            _Code("3140", "Nigerian", (4, 8, 60, 8, 5, 1)),
            _Code("3150", "Somali", (1, 5, 4, 32, 36, 0)),
        ),
    ),
    CodeFamily(
        BLACK, "Caribbean",
        (
            _Code("3310", "Haitian", (2, 2, 90, 5, 5, 8)),
            _Code("3320", "Jamaican", (5, 5, 26, 4, 18, 2)),
        ),
    ),
    CodeFamily(ASIAN, None, (_Code("4000", "Other Asian (checkbox)", (60, 10, 15, 15, 10, 2), _CHECKBOX),)),
    CodeFamily(
        ASIAN, "East Asian",
        (
            _Code("4010", "Chinese", (950, 50, 110, 90, 60, 12)),
            _Code("4020", "Japanese", (1500, 30, 15, 90, 12, 2)),
            _Code("4030", "Korean", (240, 25, 30, 50, 20, 2)),
            _Code("4040", "Okinawan", (90, 1, 0, 2, 0, 0)),
        ),
    ),
    CodeFamily(
        ASIAN, "South Asian",
        (
            _Code("4210", "Asian Indian", (30, 55, 70, 50, 40, 10)),
            _Code("4220", "Nepalese", (3, 6, 6, 20, 80, 0)),
            _Code("4230", "Pakistani", (2, 5, 8, 8, 3, 1)),
        ),
    ),
    CodeFamily(
        ASIAN, "Southeast Asian",
        (
            _Code("4410", "Cambodian", (4, 4, 65, 20, 3, 0)),
            _Code("4420", "Filipino", (1950, 45, 50, 45, 20, 3)),
            _Code("4430", "Hmong", (3, 1, 40, 3, 1, 0)),
            _Code("4440", "Laotian", (15, 4, 30, 15, 2, 0)),
            _Code("4450", "Vietnamese", (110, 45, 20, 60, 35, 1)),
            _Code("4460", "Iu Mien", (1, 0, 2, 1, 0, 0), _TOTAL_ONLY),
            _Code("4499", "Southeast Asian, not specified", (30, 2, 8, 5, 3, 0), _OTHER),
        ),
        others="Other Southeast Asian",
    ),
    CodeFamily(
        AMERICAN_INDIAN, None,
        (_Code("5000", "American Indian or Alaska Native (checkbox)", (20, 90, 25, 30, 15, 25), _CHECKBOX),),
    ),
    CodeFamily(
        AMERICAN_INDIAN, "American Indian",
        (
            _Code("5110", "Navajo Nation", (3, 260, 2, 60, 1, 0)),
            _Code("5120", "Zuni Tribe of the Zuni Reservation", (0, 25, 0, 1, 0, 0)),
            _Code("5130", "Pueblo of Laguna", (0, 60, 0, 1, 0, 0)),
            _Code("5140", "Narragansett Indian Tribe", (0, 0, 30, 0, 1, 0)),
            _Code("5150", "Abenaki", (0, 0, 2, 0, 40, 0)),
            _Code("5160", "Cherokee", (15, 35, 20, 25, 20, 2)),
            _Code("5170", "Apache", (2, 55, 2, 5, 1, 1)),
            _Code("5180", "Mohegan Tribe of Indians of Connecticut", (0, 0, 2, 0, 1, 0), _TOTAL_ONLY),
            _Code("5199", "American Indian, not specified", (8, 45, 12, 15, 12, 5), _OTHER),
        ),
        others="Other American Indian",
    ),
    CodeFamily(AMERICAN_INDIAN, "Caribbean Indian", (_Code("5410", "Taino", (3, 3, 15, 2, 2, 90)),)),
    CodeFamily(
        PACIFIC_ISLANDER, None,
        (_Code("7000", "Other Pacific Islander (checkbox)", (40, 2, 2, 10, 1, 1), _CHECKBOX),),
    ),
    CodeFamily(
        PACIFIC_ISLANDER, "Polynesian",
        (
            _Code("7010", "Native Hawaiian", (1300, 12, 6, 35, 4, 1)),
            _Code("7020", "Samoan", (230, 4, 2, 70, 1, 0)),
            _Code("7030", "Tongan", (80, 1, 0, 110, 0, 0)),
            _Code("7040", "Tahitian", (6, 0, 0, 2, 0, 0), _TOTAL_ONLY),
            _Code("7099", "Polynesian, not specified", (20, 1, 0, 5, 0, 0), _OTHER),
        ),
        others="Other Polynesian",
    ),
    CodeFamily(
        PACIFIC_ISLANDER, "Micronesian",
        (
            _Code("7110", "Chamorro", (45, 5, 2, 6, 1, 0)),
            _Code("7120", "Chuukese", (95, 0, 0, 1, 0, 0)),
            _Code("7130", "Marshallese", (100, 0, 0, 12, 0, 0)),
        ),
    ),
    CodeFamily(
        SOME_OTHER_RACE, None,
        (
            _Code("8000", "Some Other Race (checkbox)", (90, 250, 120, 150, 30, 900), _CHECKBOX),
            _Code("8110", "Brazilian", (8, 4, 60, 20, 6, 2)),
        ),
    ),
)  # fmt: skip

RACES_OF_HISPANIC_PEOPLE = {"8000": 50, "1000": 28, "3000": 6, "5000": 6}
"""Hispanic people often report these as their race; the weights are per cent, and the rest report as others do."""

HISPANIC, NOT_HISPANIC = "Hispanic or Latino", "Not Hispanic or Latino"

NOT_HISPANIC_CODE = "9950"

ETHNICITY_FAMILIES = (
    CodeFamily(
        NOT_HISPANIC, None,
        (_Code(NOT_HISPANIC_CODE, "Not Hispanic (checkbox)", (9000, 5100, 8200, 8500, 9780, 130), _CHECKBOX),),
    ),
    CodeFamily(
        HISPANIC, None,
        (
            _Code("2000", "Hispanic, Latino, or Spanish (checkbox)", (60, 500, 60, 60, 10, 40), _CHECKBOX),
            _Code("2010", "Hispanic", (20, 300, 30, 40, 6, 10), _TOTAL_ONLY),
            _Code("2110", "Mexican", (280, 3000, 90, 1000, 70, 15)),
        ),
    ),
    CodeFamily(
        HISPANIC, "Central American",
        (
            _Code("2210", "Guatemalan", (10, 40, 300, 40, 8, 2)),
            _Code("2220", "Honduran", (8, 15, 45, 20, 4, 3)),
            _Code("2230", "Salvadoran", (15, 35, 40, 60, 4, 2)),
        ),
    ),
    CodeFamily(
        HISPANIC, "Caribbean Hispanic",
        (
            _Code("2310", "Cuban", (15, 60, 25, 10, 10, 60)),
            _Code("2320", "Dominican", (6, 8, 520, 8, 12, 280)),
            _Code("2330", "Puerto Rican", (330, 60, 430, 45, 60, 9400)),
        ),
    ),
    CodeFamily(
        HISPANIC, "South American",
        (
            _Code("2410", "Colombian", (10, 20, 190, 30, 10, 20)),
            _Code("2420", "Ecuadorian", (3, 6, 40, 10, 4, 4)),
            _Code("2430", "Peruvian", (10, 12, 20, 70, 6, 4)),
            _Code("2440", "Venezuelan", (4, 8, 12, 70, 4, 15)),
        ),
    ),
    CodeFamily(
        HISPANIC, "Other Hispanic, Latino, or Spanish",
        (
            _Code("2510", "Spaniard", (50, 420, 20, 40, 12, 25)),
            _Code("2520", "Spanish American", (4, 160, 2, 6, 1, 1)),
            _Code("2530", "Garifuna", (0, 1, 4, 0, 0, 0), _TOTAL_ONLY),
        ),
    ),
)  # fmt: skip
