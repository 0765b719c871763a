"""Areas and groups whose names are hard to tell apart, and many ways to write names, right and wrong."""

from types import MappingProxyType

import numpy as np

from tests.inside import (
    DETAILED,
    MAJOR,
    REGIONAL,
    STATE_NAMES,
    US,
    CharacteristicIteration,
    Entities,
    PrivacyDefinition,
    PublicLists,
    Universe,
    product_named,
)

_AREAS = """
USA|1|United States
STATE|09|Connecticut
STATE|11|District of Columbia
STATE|44|44
STATE|53|Washington
COUNTY|11001|District of Columbia, District of Columbia
COUNTY|22087|St. Bernard Parish, Louisiana
COUNTY|35013|Doña Ana County, New Mexico
COUNTY|44007|Providence County, Rhode Island
COUNTY|44009|Washington County, Rhode Island
COUNTY|49037|San Juan County
COUNTY|49053|Washington County, Utah
TRACT|44007000101|Census Tract 1.01, Providence County, Rhode Island
TRACT|44007010100|Census Tract 101; Providence County; Rhode Island
TRACT|44009000101|Census Tract 1.01, Washington County, Rhode Island
PLACE|1235050|Islamorada, Village of Islands village, Florida
PLACE|1523150|Kailua CDP (Honolulu County), Hawaii
PLACE|1571550|Urban Honolulu CDP, Hawai\N{MODIFIER LETTER TURNED COMMA}i
PLACE|4459000|Providence city, Rhode Island
PLACE|4967000|Salt Lake City city, Utah
AIANNH|2415|Narragansett Reservation, RI
AIANNH|2430|Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT
PR-STATE|72|Puerto Rico
PR-COUNTY|72097|Mayagüez Municipio, Puerto Rico
PR-COUNTY|72127|San Juan Municipio, Puerto Rico
"""
AREAS = {}
for _level, _code, _name in (row.split("|") for row in _AREAS.strip().splitlines()):
    AREAS.setdefault(US.area_level(_level), {})[_code] = _name
ALONE, COMBINATION, ETHNICITY = US.group_kinds
COMMON, TOTAL_ONLY, SUBSTATE_ONLY = US.lists
GROUPS = [
    ("1001", "White alone", MAJOR, ALONE, None),
    ("1048", "Hmong alone", DETAILED, ALONE, COMMON),
    ("1126", "Hmong alone or in any combination", DETAILED, COMBINATION, COMMON),
    ("1055", "Navajo Nation alone", DETAILED, ALONE, COMMON),
    ("1060", "Crow Tribe of Montana alone", DETAILED, ALONE, TOTAL_ONLY),
    ("1061", "Crow Tribe of Montana alone (Sub-state and AIANNH geographies)", DETAILED, ALONE,
     SUBSTATE_ONLY),
    ("4020", "Dominican", DETAILED, ETHNICITY, COMMON),
    ("4021", "Other Hispanic, Latino, or Spanish", REGIONAL, ETHNICITY, COMMON),
    ("4022", "Latino(a)", DETAILED, ETHNICITY, COMMON),
]  # fmt: skip


def named_universe():
    entities = {
        level: Entities(np.array([int(one) for one in areas]), tuple(areas), tuple(areas.values()))
        for level, areas in AREAS.items()
    }
    iterations = tuple(CharacteristicIteration(*one) for one in GROUPS)
    return Universe(
        census=US,
        product=product_named(None),
        definition=PrivacyDefinition.ZCDP,
        allow_negative_counts=True,
        passes=(),
        states={},
        lists=PublicLists(MappingProxyType({}), iterations, MappingProxyType({})),
        entities=entities,
        levels=(),
    )


def ways_to_write(name, code):
    """Of an area or a group: whole, in part, abbreviated, misspelt, by its code."""
    head, _, behind = name.partition(",")
    words = head.split()
    yield from (name, name.upper(), head, f" {head.lower()} ", code, f"{name} (county {code})", f"{head} ({code})")
    yield from (words[0], words[-1], " ".join(words[:-1]), " ".join(words[:2]), name.replace(",", ""))
    yield from (f"{head[:3]}{head[4:]}", f"{head[0]}{head[2:3]}{head[1:2]}{head[3:]}", f"{head}s", head[:-2])
    yield from (name.replace("St.", "Saint"), name.replace("-", " "), f"{head}, {behind[:-1]}", f"the {head}")
    for _, letters in list(STATE_NAMES.values())[::13]:
        yield f"{head}, {letters}"
    if code[:2] in STATE_NAMES:
        state, letters = STATE_NAMES[code[:2]]
        yield from (f"{words[0]}, {letters}", f"{head} {letters.lower()}", f"{words[0]} {state}", f"{head}; {state}")
        yield f"{head[:2]}{head[3:]}, {state}"


USUAL = """\
nation
USA
U.S.
u.s.a.
America
the United States
RI
r.i.
PR
DC
D.C.
county
State
tracts
Census Tract
tract 1
Tract 1.01
tract 101, Providence, RI
Tract 1.01, Washington
Tract 1.01, Washington County, Rhode Island
census tract 101 ri
Lake
Trust Land
Nation Reservation

?
,
St
saint
Doña
DON\u0303A ANA
Mayagüez, PR
San Juan, Puerto Rico
Washington
99999
Providence, Rhode Iland
Washington County, Uta
Salt Lake City, Atlantis
Providence, Rhode
San Juan, Porto Rico
Census Tract 1.01 Providence County RI
Tract 9, Providence, RI
Tract Lake
Hmong
Hmogn
hmong combination
white
Latino
Latina
Dominicans
Crow Tribe
Klingon
(1048)
Mexican American
Latino Spanish
Hmnog alone
alone
Navjo Tribe
Tribe of Nation
Dominicn ethnicity""".splitlines()
