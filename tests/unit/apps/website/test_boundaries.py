"""Shapes as the Bureau's cartographic boundary files have them, and as others do."""

import json

import pytest

from tests.cases import lines_in, values_of
from tests.commands import invalid
from tests.inside import US, read_boundaries
from tests.named_world import named_universe

SQUARE, LAKE, ISLAND = map(
    json.loads,
    (
        "[[-71.9, 41.1], [-71.1, 41.1], [-71.1, 42.0], [-71.9, 42.0], [-71.9, 41.1]]",
        "[[-71.6, 41.4], [-71.6, 41.6], [-71.4, 41.6], [-71.4, 41.4], [-71.6, 41.4]]",
        "[[-71.6, 41.0], [-71.5, 41.0], [-71.5, 41.05], [-71.6, 41.0]]",
    ),
)


@pytest.fixture
def read(tmp_path):
    """The shapes of features, and how many have no area."""

    def shapes(*features):
        path = tmp_path / "shapes.json"
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        return read_boundaries(path, named_universe())

    return shapes


def feature(properties, **more):
    geometry = {"type": "Polygon", "coordinates": [SQUARE]}
    return {"type": "Feature", "properties": properties, "geometry": geometry} | more


@pytest.mark.parametrize(
    "case",
    # cb_2020_us_state_500k, cb_2023_us_county_500k, tl_2020_44_tabblock's tracts, cb_2020_us_aiannh_500k, places
    lines_in(
        """
        STATE 2 STATEFP=44 STATENS=01219835 AFFGEOID=0400000US44 GEOID=44 NAME=Rhode-Island
        COUNTY 3 STATEFP=44 COUNTYFP=007 GEOIDFQ=0500000US44007 GEOID=44007 LSAD=06
        COUNTY 4 GEOIDFQ=0500000US44009
        TRACT 0 AFFGEOID=1400000US44007000101
        TRACT 1 STATEFP20=44 COUNTYFP20=007 TRACTCE20=010100 GEOID20=44007010100
        TRACT 0 STATEFP=44 COUNTYFP=007 TRACTCE=000101
        PLACE 3 STATEFP=44 PLACEFP=59000
        AIANNH 1 AIANNHCE=2430 AFFGEOID=2500000US2430R GEOID=2430R
        AIANNH 1 AIANNHCE=2430
        PR-COUNTY 1 STATEFP=72 COUNTYFP=127 GEOID=72127
        STATE 3 STATEFP=53
        STATE 3 geoid=53
        """
    ),
)
def test_a_shape_is_known_by_the_properties_of_the_bureaus_files(read, case):
    level, position, *properties = case.split()
    shapes, without_area = read(feature(dict(one.split("=") for one in properties)))
    found = [(one.label, *(str(shape.position) for shape in of_level)) for one, of_level in shapes.items()]
    assert (found, without_area) == ([(level, position)], 0)


def test_a_shape_is_known_by_the_id_of_its_feature(read):
    assert [*read(feature({}, id="0500000US44007"))[0]] == [US.area_level("COUNTY")]


@pytest.mark.parametrize(
    "properties",
    values_of(
        """
        {"STATEFP": "44", "COUNTYFP": "007", "TRACTCE": "999999", "GEOID": "44007999999"}  # no tract of the release
        {"STATEFP": "44", "COUNTYFP": "007", "TRACTCE": "999999"}
        {"STATEFP": "44", "COUNTYFP": "001", "GEOID": "44001"}
        {"STATEFP": "44", "SLDUST": "001", "GEOID": "44001"}
        {"GEOID": 2430}  # may be 02430, with its zero lost
        {}
        None
        """
    ),
)
def test_a_part_of_an_area_is_never_drawn_as_the_area(read, properties):
    part = feature(*properties)
    shapes, without_area = read(feature({"GEOID": "53"}), part)
    assert [*shapes] == [US.area_level("STATE")]
    assert without_area == 1
    assert "has no shape that matches an area of this release" in invalid(read, part)


def test_an_id_that_is_a_number_is_refused_as_such(read):
    for name, properties in values_of(
        """
        "GEOID" | {"GEOID": 44007}
        "GEOID20" | {"GEOID20": 44007}
        "STATEFP" | {"STATEFP": 44, "COUNTYFP": 7}
        "id" | {}
        """
    ):
        told = invalid(read, feature(properties, id=None if properties else 44007))
        assert f'{name} is a number. Write ids as text, such as "44007"' in told


def test_islands_and_holes_are_kept_and_heights_and_shapes_without_geometry_are_left_out(read):
    geometry = {"type": "MultiPolygon", "coordinates": [[SQUARE, LAKE], [[[x, y, 12.5] for x, y in ISLAND]]]}
    shapes, without_area = read(feature({"GEOID": "44"}, geometry=geometry), feature({"GEOID": "53"}, geometry=None))
    (shape,) = shapes[US.area_level("STATE")]
    assert shape.rings == json.loads("""[
        [-7190, 4110, 80, 0, 0, 90, -80, 0, 0, -90],
        [-7160, 4140, 0, 20, 20, 0, 0, -20, -20, 0],
        [-7160, 4100, 10, 0, 0, 5, -10, -5]
    ]""")
    assert without_area == 1
