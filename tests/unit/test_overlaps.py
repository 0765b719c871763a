"""Which areas lie in which, by the facts of their kinds."""

from __future__ import annotations

import pytest

from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.estimates.overlaps import areas_overlap


@pytest.mark.parametrize(
    ("kind", "around"),
    [
        (EntityKind.NATION, ()),
        (EntityKind.STATE, (EntityKind.NATION,)),
        (EntityKind.COUNTY, (EntityKind.STATE, EntityKind.NATION)),
        (EntityKind.TRACT, (EntityKind.COUNTY, EntityKind.STATE, EntityKind.NATION)),
        (EntityKind.PLACE, (EntityKind.STATE, EntityKind.NATION)),
        (EntityKind.AIANNH, (EntityKind.NATION,)),
    ],
)
def test_each_kind_of_area_knows_the_kinds_around_it(kind: EntityKind, around: tuple[EntityKind, ...]) -> None:
    assert kind.around == around


@pytest.mark.parametrize(
    ("level", "region_id", "other", "other_id", "overlap"),
    [
        ("COUNTY", "44007", "TRACT", "44007000100", True),
        ("COUNTY", "44007", "TRACT", "44001000100", False),
        ("TRACT", "44007000100", "COUNTY", "44007", True),
        ("STATE", "44", "COUNTY", "44007", True),
        ("STATE", "49", "COUNTY", "44007", False),
        ("COUNTY", "44007", "PLACE", "4459000", True),  # as far as their ids tell
        ("TRACT", "44007000100", "PLACE", "4900001", False),
        ("AIANNH", "2430", "TRACT", "44007000100", True),
        ("USA", "1", "PLACE", "4459000", True),
        ("USA", "1", "PR-STATE", "72", False),
    ],
)
def test_areas_overlap_if_one_can_hold_people_of_the_other(
    level: str, region_id: str, other: str, other_id: str, overlap: bool
) -> None:
    levels = {one.label: one for one in GeographyLevel}
    assert areas_overlap(levels[level], {region_id}, levels[other], {other_id}) is overlap
