"""Which areas lie in which, by the facts of their kinds."""

import pytest

from tests.cases import values_of
from tests.inside import AIANNH, COUNTY, NATION, PLACE, STATE, TRACT, US, area_facts, areas_overlap
from tests.named_world import named_universe


def test_each_kind_of_area_knows_the_kinds_around_it():
    assert {kind: kind.around for kind in US.kinds} == {
        NATION: (),
        STATE: (NATION,),
        COUNTY: (STATE, NATION),
        TRACT: (COUNTY, STATE, NATION),
        PLACE: (STATE, NATION),
        AIANNH: (NATION,),
    }


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    # the county overlaps the place as far as their ids tell
    values_of("""
        "COUNTY 44007" | "TRACT 44007000100" | True
        "COUNTY 44007" | "TRACT 44001000100" | False
        "TRACT 44007000100" | "COUNTY 44007" | True
        "STATE 44" | "COUNTY 44007" | True
        "STATE 49" | "COUNTY 44007" | False
        "COUNTY 44007" | "PLACE 4459000" | True
        "TRACT 44007000100" | "PLACE 4900001" | False
        "AIANNH 2430" | "TRACT 44007000100" | True
        "USA 1" | "PLACE 4459000" | True
        "USA 1" | "PR-STATE 72" | False
    """),
)
def test_areas_overlap_if_one_can_hold_people_of_the_other(one, other, overlap):
    pairs = (area.split() for area in (one, other))
    areas = [(US.area_level(label), {region}) for label, region in pairs]
    assert areas_overlap(named_universe(), *areas) is overlap


def test_a_site_knows_which_area_lies_in_which():
    universe = named_universe()
    levels = [level.label for level in universe.entities]
    tracts, counties, reservations = (area_facts(US.area_level(one), universe) for one in ("TRACT", "COUNTY", "AIANNH"))
    assert tracts["around"][0] == {"level": levels.index("COUNTY"), "starts": [0, 0, 0, 0, 2, 3, 3]}
    assert tracts["parts"] == [(0, "44")]
    # some of their states are not in the release
    assert counties["around"][0] == {"level": levels.index("STATE"), "parents": [1, -1, -1, 2, 2, -1, -1]}
    assert counties["parts"] == [(0, "11"), (1, "22"), (2, "35"), (3, "44"), (5, "49")]
    assert (reservations["around"], reservations["parts"]) == ([{"level": levels.index("USA")}], [])
