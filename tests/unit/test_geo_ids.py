import pytest

from tests.inside import US, area_of_geo_id, geo_id


@pytest.mark.parametrize(
    ("text", "level", "region"),
    [
        ("0100000US", US.area_level("USA"), "1"),
        ("0400000US44", US.area_level("STATE"), "44"),
        ("0500000US44007", US.area_level("COUNTY"), "44007"),
        ("1400000US44007000101", US.area_level("TRACT"), "44007000101"),
        ("1600000US4459000", US.area_level("PLACE"), "4459000"),
        ("2500000US4530", US.area_level("AIANNH"), "4530"),
        ("0500000US72031", US.area_level("PR-COUNTY"), "72031"),
        ("2500000US7210", US.area_level("AIANNH"), "7210"),
    ],
)
def test_a_geo_id_names_an_area(text, level, region):
    assert geo_id(level, region) == text
    assert area_of_geo_id(text) == (level, int(region))
    assert area_of_geo_id(f"{text[:3]}XX00{text[7:]}") == (level, int(region))


@pytest.mark.parametrize("text", ["0600000US4400712345", "0400001US44", "0500000US4400", "0500000US4400A", "US", ""])
def test_other_areas_are_not_tabulated(text):
    assert area_of_geo_id(text) is None
