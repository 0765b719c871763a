from __future__ import annotations

import pytest

from safetab.census.geography import area_of_geo_id, geo_id
from safetab.census.geography_levels import GeographyLevel


@pytest.mark.parametrize(
    ("text", "level", "region"),
    [
        ("0100000US", GeographyLevel.USA, "1"),
        ("0400000US44", GeographyLevel.STATE, "44"),
        ("0500000US44007", GeographyLevel.COUNTY, "44007"),
        ("1400000US44007000101", GeographyLevel.TRACT, "44007000101"),
        ("1600000US4459000", GeographyLevel.PLACE, "4459000"),
        ("2500000US4530", GeographyLevel.AIANNH, "4530"),
        ("0500000US72031", GeographyLevel.PR_COUNTY, "72031"),
        ("2500000US7210", GeographyLevel.AIANNH, "7210"),
    ],
)
def test_a_geo_id_names_an_area(text: str, level: GeographyLevel, region: str) -> None:
    assert geo_id(level, region) == text
    assert area_of_geo_id(text) == (level, int(region))
    assert area_of_geo_id(f"{text[:3]}XX00{text[7:]}") == (level, int(region))


@pytest.mark.parametrize("text", ["0600000US4400712345", "0400001US44", "0500000US4400", "0500000US4400A", "US", ""])
def test_other_areas_are_not_tabulated(text: str) -> None:
    assert area_of_geo_id(text) is None
