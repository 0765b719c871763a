import pytest

from tests.inside import US, area_of_geo_id, geo_id


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("0100000US1", "USA"),
        ("0400000US44", "STATE"),
        ("0500000US44007", "COUNTY"),
        ("1400000US44007000101", "TRACT"),
        ("1600000US4459000", "PLACE"),
        ("2500000US4530", "AIANNH"),
        ("0500000US72031", "PR-COUNTY"),
        ("2500000US7210", "AIANNH"),
    ],
)
def test_a_geo_id_names_an_area(text, level):
    level, region = US.area_level(level), text.partition("US")[2]
    text = text.removesuffix("1") if level.label == "USA" else text
    assert geo_id(level, region) == text
    assert area_of_geo_id(text) == area_of_geo_id(f"{text[:3]}XX00{text[7:]}") == (level, int(region))


@pytest.mark.parametrize("text", ["0600000US4400712345", "0400001US44", "0500000US4400", "0500000US4400A", "US", ""])
def test_other_areas_are_not_tabulated(text):
    assert area_of_geo_id(text) is None
