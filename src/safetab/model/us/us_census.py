"""The U.S. census as a value. Puerto Rico is rows of these tables, not a branch."""

from __future__ import annotations

from types import MappingProxyType

from safetab.model.census.area_levels import AreaKind, AreaLevel, DigitIds, Pass
from safetab.model.census.census import AreaCodes, BoundaryFiles, Census, Spelling, Words
from safetab.model.census.groups import GroupKind, GroupLevel, GroupList, Members
from safetab.model.option_words import AREAS_FILE
from safetab.model.products.bureau_columns import ETHNICITY, RACE
from safetab.model.us.states import ISLAND_AREAS, PUERTO_RICO_STATE, STATE_NAMES, TILES, US_STATES

US_PASS = Pass("us", "United States", "the United States")
PR_PASS = Pass("pr", "Puerto Rico")

NATION = AreaKind(
    "nation", "nation", "nation", "Nation", DigitIds(1), parent=None, suppresses=False,
    is_whole=True,
    words=(
        "nation", "usa", "us", "united states", "united states of america", "the united states",
        "america", "nations",
    ),
    summary_level="010",
)  # fmt: skip
STATE = AreaKind(
    "state", "state", "states", "State", DigitIds(2), parent=NATION, suppresses=False,
    summary_level="040", boundary=("STATEFP",), map_step=0.01,
)  # fmt: skip
COUNTY = AreaKind(
    "county", "county", "counties", "County", DigitIds(5, begin_with_parent=True), parent=STATE,
    suppresses=True, words=("municipio", "municipios", "parish", "parishes"), summary_level="050",
    boundary=("STATEFP", "COUNTYFP"), map_step=0.004,
    ends=(
        "city and borough", "census area", "planning region", "county", "parish", "borough",
        "municipality", "municipio", "city",
    ),
)  # fmt: skip
TRACT = AreaKind(
    "tract", "tract", "tracts", "Tract", DigitIds(11, begin_with_parent=True), parent=COUNTY,
    suppresses=True, words=("census tract", "census tracts"), summary_level="140",
    boundary=("STATEFP", "COUNTYFP", "TRACTCE"),
)  # fmt: skip
NO_PLACE, NO_AIANNH = 99999, 9999  # "in no place": such blocks join no place
PLACE = AreaKind(
    "place", "place", "places", "Place", DigitIds(7, begin_with_parent=True), parent=STATE,
    suppresses=True, summary_level="160", boundary=("STATEFP", "PLACEFP"), nowhere=NO_PLACE,
    ends=(
        "city and borough", "zona urbana", "comunidad", "municipality", "borough", "village",
        "city", "town", "cdp",
    ),
)  # fmt: skip
AIANNH = AreaKind(
    "aiannh", "AIANNH area", "AIANNH areas", "AIANNH area", DigitIds(4), parent=NATION,
    suppresses=True, long_noun="American Indian, Alaska Native or Native Hawaiian area",
    long_nouns="American Indian, Alaska Native and Native Hawaiian areas",
    words=("aiannh", "aiannh area", "aiannh areas", "tribal area", "tribal areas"),
    summary_level="250", boundary=("AIANNHCE",), tab="tribal areas", nowhere=NO_AIANNH,
    ends=(
        "reservation and off reservation trust land", "pueblo and off reservation trust land",
        "rancheria and off reservation trust land", "community and off reservation trust land",
        "off reservation trust land", "indian reservation", "hawaiian home land", "reservation",
        "rancheria", "pueblo", "anvsa", "otsa", "sdtsa", "tdsa", "tribe", "nation",
    ),
)  # fmt: skip
"""These areas suppress small totals as counties do, although some cross state lines."""

_KINDS = (NATION, STATE, COUNTY, TRACT, PLACE, AIANNH)

MAJOR = GroupLevel(0, "Major", is_tabulated=False)
REGIONAL = GroupLevel(1, "Regional", example="European")
DETAILED = GroupLevel(2, "Detailed", example="German")

RACE_ALONE = GroupKind("race alone", "Race alone", RACE, Members.ONLY, ("alone",), ("alone",))
RACE_IN_COMBINATION = GroupKind(
    "race alone or in any combination", "Race alone or in combination", RACE, Members.ANY,
    ("combination", "in combination", "in any combination"),
    (
        "alone or in any combination", "alone or in combination", "in any combination",
        "in combination", "combination",
    ),
)  # fmt: skip
ETHNICITY_KIND = GroupKind(
    "ethnicity", "Ethnicity", ETHNICITY, Members.ANY, ("ethnicity",), ("ethnicity",)
)

COMMON = GroupList("common", _KINDS)
TOTAL_ONLY = GroupList(
    "total only", (NATION, STATE), is_total_only=True,
    words="nation and states, a total", only_here="tabulated for nation and state only",
    clause="as a total for nation and state alone",
)  # fmt: skip
SUBSTATE_ONLY = GroupList(
    "substate only", (COUNTY, TRACT, PLACE, AIANNH),
    words="below states", only_here="tabulated below state only", clause="below state alone",
)  # fmt: skip

_EXAMPLE_ORDER = (
    "COUNTY", "STATE", "PR-COUNTY", "PR-STATE", "USA", "PLACE", "PR-PLACE", "TRACT", "PR-TRACT",
    "AIANNH",
)  # fmt: skip

US = Census(
    name="U.S. census",
    kinds=_KINDS,
    passes=(US_PASS, PR_PASS),
    area_levels=(
        AreaLevel("USA", 0, US_PASS, NATION, "Nation"),
        AreaLevel("STATE", 1, US_PASS, STATE, "State"),
        AreaLevel("COUNTY", 2, US_PASS, COUNTY, "County"),
        AreaLevel("TRACT", 3, US_PASS, TRACT, "Tract"),
        AreaLevel("PLACE", 4, US_PASS, PLACE, "Place"),
        AreaLevel("AIANNH", 5, US_PASS, AIANNH, "AIANNH area"),
        AreaLevel("PR-STATE", 6, PR_PASS, STATE, "Puerto Rico state"),
        AreaLevel("PR-COUNTY", 7, PR_PASS, COUNTY, "Puerto Rico county"),
        AreaLevel("PR-TRACT", 8, PR_PASS, TRACT, "Puerto Rico tract"),
        AreaLevel("PR-PLACE", 9, PR_PASS, PLACE, "Puerto Rico place"),
    ),
    classifications=(RACE, ETHNICITY),
    group_levels=(MAJOR, REGIONAL, DETAILED),
    group_kinds=(RACE_ALONE, RACE_IN_COMBINATION, ETHNICITY_KIND),
    lists=(COMMON, TOTAL_ONLY, SUBSTATE_ONLY),
    part=STATE,
    donor_order=(STATE, COUNTY, PLACE, AIANNH, TRACT),
    words=Words(
        title="Detailed race and ethnicity groups",
        group="race or ethnicity group",
        groups="race and ethnicity groups",
        smallest_areas="blocks",
        answers="race codes",
        below="below state level",
        whole="the nation and states",
        below_short="below state",
        reach="from the nation down to neighborhoods",
        typed_areas="State, county, city, …",
        tried_areas="a county, city or state",
        same_area="a county with one place",
        areas_file=AREAS_FILE,
        example_levels="COUNTY or PR-TRACT",
        agency="the Census Bureau",
        some_groups="race or ethnicity groups",
        code_form="Four digits.",
        never_tabulated="a major group, which is never tabulated",
        overlapping='Groups "alone or in any combination"',
        nesting="the counties of a state don't sum to the state's number. Prefer the state's.",
        known_units="The Census Bureau did so for 2020: it declared them invariant.",
        answer="race code",
        source="the 2020 Census",
        example="Tongan alone in one county",
        whole_each="the nation and the states",
        entities="entities",
        iterations="iterations",
        coded_group="race or ethnicity group (characteristic iteration)",
        group_level="an iteration level",
        only_above_any="an Alone group is withheld if it is above the same number of its partner,"
        " the group Alone or in Any Combination of the same codes",
    ),
    pass_of_part=dict.fromkeys(map(int, US_STATES), US_PASS.name)
    | {int(PUERTO_RICO_STATE): PR_PASS.name},
    parts_elsewhere=frozenset(map(int, ISLAND_AREAS)),
    spelling=Spelling(
        whole_names=NATION.words,
        part_names=STATE_NAMES,
        ends=MappingProxyType({kind: kind.ends for kind in _KINDS if kind.ends}),
        repeats=(AIANNH,),
        last=TRACT,
        starts=("census tract", "tract"),
        as_written='Tracts are written with commas, e.g. "Tract 1.01, Providence County, RI",'
        " or by an id of 11 digits.",
    ),
    boundary_files=BoundaryFiles(
        id_columns=("GEOID", "GEO_ID", "GEOIDFQ", "AFFGEOID"),
        column_end="(10|20)$",  # as in GEOID20 and STATEFP20 of census files
        id_forms=(
            "(?:.*US)?(.*)",
            r"(?:.*US)?(\d{4})[RT]",
        ),  # a long id; a reservation, or its trust land
        example="44007",
        shipped="us",
        insets=(("02", 0, 470, 240, 165), ("15", 262, 545, 105, 90), ("72", 890, 580, 110, 50)),
    ),
    tiles=TILES,
    example_order=_EXAMPLE_ORDER,
    area_codes=AreaCodes(mark="0000US", example="0500000US01001"),
    example_level=("COUNTY", "Detailed"),
)
