"""The outlines that the program carries: how they are made, what they hold, and which census gets them."""

import json
from dataclasses import replace

from tests.cases import values_of
from tests.inside import PUERTO_RICO_STATE, US, US_STATES, BoundaryFiles, Outline, shipped_outlines, write_maps
from tests.named_world import named_universe
from tests.site_files import read_data
from tools.supply_chain.outlines import decoded_arcs, outlines_of, simplified

# Two squares beside each other, 10 by 10 steps of a tenth of a degree, whose common border has a point in the middle.
# The arcs are the border, northwards; around the west; and around the east. 60010 is of American Samoa.
TOPOLOGY = json.loads("""{
    "transform": {"scale": [0.1, 0.1], "translate": [-72.0, 41.0]},
    "arcs": [
        [[10, 0], [0, 5], [0, 5]],
        [[10, 10], [-10, 0], [0, -10], [10, 0]],
        [[10, 10], [10, 0], [0, -10], [-10, 0]]
    ],
    "objects": {
        "states": {"geometries": [{"type": "MultiPolygon", "id": "44", "arcs": [[[1, -3]]]}]},
        "counties": {
            "geometries": [
                {"type": "Polygon", "id": "44001", "arcs": [[0, 1]]},
                {"type": "Polygon", "id": "44003", "arcs": [[-1, -3]]},
                {"type": "Polygon", "id": "60010", "arcs": [[0, 1]]}
            ]
        }
    }
}""")


def test_arcs_are_distances_in_whole_steps():
    assert decoded_arcs(TOPOLOGY)[1].round(9).tolist() == json.loads("[[-71, 42], [-72, 42], [-72, 41], [-71, 41]]")


def test_a_point_stays_if_it_is_farther_from_the_line_than_the_tolerance():
    arc = decoded_arcs(TOPOLOGY)[0]
    assert simplified(arc, 0.01).tolist() == [arc[0].tolist(), arc[-1].tolist()]
    arc[1, 0] -= 0.03
    assert simplified(arc, 0.01).tolist() == arc.tolist()


def test_neighbours_have_one_border_and_island_areas_are_left_out():
    assert outlines_of(TOPOLOGY, 0.01, 0.1) == json.loads("""{
        "44": [[-710, 420, -10, 0, 0, -10, 10, 0, 10, 0, 0, 10, -10, 0]],
        "44001": [[-710, 410, 0, 10, -10, 0, 0, -10, 10, 0]],
        "44003": [[-710, 420, 0, -10, 10, 0, 0, 10, -10, 0]]
    }""")


def test_every_state_and_county_that_ships_is_well_formed():
    outlines = shipped_outlines(US)
    states = {region for region in outlines if len(region) == 2}
    assert states == {*US_STATES, PUERTO_RICO_STATE}
    counties = outlines.keys() - states
    assert all(region.isdecimal() and len(region) == 5 and region[:2] in states for region in counties)
    assert len(counties) == 3_218  # of the 3,221 of 2020
    assert not {"02063", "02066", "51610"} & counties
    assert {f"090{n:02}" for n in range(1, 17, 2)} == {region for region in counties if region.startswith("09")}
    for step, rings in outlines.values():
        for ring in rings:
            assert len(ring) >= 8
            assert (sum(ring[2::2]), sum(ring[3::2])) == (0, 0)  # it closes
            assert -180 <= ring[0] * step <= 180
            assert 17 <= ring[1] * step <= 72


def test_states_and_counties_get_outlines_without_being_asked_for(tmp_path):
    known = write_maps(tmp_path, named_universe(), {})
    assert known["shapeFiles"] == dict(
        values_of("""
            "STATE" | [[0, 3]]
            "COUNTY" | [[0, 6]]
            "PR-STATE" | [[0, 0]]
            "PR-COUNTY" | [[0, 1]]
        """)
    )
    assert known["backdrop"]["STATE"] == sorted({*US_STATES} - {"09", "11", "44", "53"})
    # the only county of the District is there
    assert known["backdrop"]["COUNTY"] == sorted({*US_STATES, PUERTO_RICO_STATE} - {"11"})
    assert len(read_data(tmp_path, "shapes/backdrop/0")) == 52
    position, *shape = read_data(tmp_path, "shapes/COUNTY/0")[3]
    assert (position, tuple(shape)) == (3, tuple(shipped_outlines(US)["44007"]))


def test_given_shapes_replace_those_of_their_kind_of_area(tmp_path):
    own = Outline(2, 0.01, [[-7190, 4110, 80, 0, 0, 90, -80, 0, 0, -90]])
    known = write_maps(tmp_path, named_universe(), {US.area_level("STATE"): [own]})
    assert read_data(tmp_path, "shapes/STATE/0") == [[*own]]
    assert [*known["shapeFiles"]] == ["COUNTY", "PR-COUNTY", "STATE"]
    assert [*known["backdrop"]] == ["COUNTY", "PR-COUNTY"]


def test_another_census_gets_none_even_if_its_ids_look_alike(tmp_path):
    alike = replace(named_universe(), census=replace(US, name="alike", boundary_files=BoundaryFiles()))
    assert write_maps(tmp_path, alike, {}) == {"shapeFiles": {}, "backdrop": {}, "insets": ()}
    assert [*tmp_path.iterdir()] == []
