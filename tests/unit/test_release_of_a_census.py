"""What a release takes from its census: reasons, partners, parts, the order of donors, and ids of the agency."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from tests.conftest import SMALL_EXAMPLE

from safetab.census.census import Census
from safetab.dialects.bureau.us_census import US, US_PASS
from safetab.foundation.findings import InvalidInput
from safetab.planning.planner import plan_of, read_public_files
from safetab.release.data_dictionary import _with_ids, csv_resources_of
from safetab.release.release_options import CoterminousOptions
from safetab.release.release_universe import Universe, universe_of_run

WITHOUT_CODES = replace(US, area_codes=None)


@pytest.fixture(scope="module")
def universe() -> Universe:
    files = read_public_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    return universe_of_run(plan_of(files).require(), files.geography_of_pass, files.names)


def test_reasons_keep_the_order_that_the_digits_of_a_site_have(universe: Universe) -> None:
    assert list(universe.reasons) == [
        "a major group, which is never tabulated",
        "the level has no budget",
        "no code leads to a group of this level",
        "tabulated for nation and state only",
        "tabulated below state only",
    ]
    major = next(group for group in universe.lists.iterations if not group.level.is_tabulated)
    for level in universe.entities:
        assert universe.why_not_tabulated(level, major) == universe.census.words.never_tabulated
        for group in universe.lists.iterations:
            assert universe.why_not_tabulated(level, group) in (None, *universe.reasons)


def test_entities_lie_in_the_parts_of_their_pass_unless_they_may_cross_parts(universe: Universe) -> None:
    nowhere = replace(universe, states={**universe.states, US_PASS: ()})
    for level, entities in universe.entities.items():
        assert universe.lies_in_parts(level).all()
        is_judged = US.part in (level.kind, *level.kind.around) and level.tabulation_pass == US_PASS
        assert nowhere.lies_in_parts(level).tolist() == [not is_judged] * len(entities)


@pytest.mark.parametrize("names", [("state",), ("state", "state"), ("state", "moon"), ("state", "nation"), ("",)])
def test_an_order_names_kinds_that_can_give(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="two or more of state,county,place,aiannh,tract, each once"):
        CoterminousOptions(names).donors(US)


def test_without_an_order_donors_are_in_the_order_of_the_census() -> None:
    assert CoterminousOptions().donors(US) == US.donor_order
    assert CoterminousOptions(("tract", "state")).donors(US) == (US.kind("tract"), US.kind("state"))


@pytest.mark.parametrize(("census", "names"), [(US, ["region_id", "geo_id"]), (WITHOUT_CODES, ["region_id"])])
def test_only_an_agency_with_ids_of_its_own_has_a_column_of_them(
    universe: Universe, census: Census, names: list[str]
) -> None:
    written = _with_ids(pa.table({"region_id": ["44007"]}), census, "COUNTY")
    assert written.column_names == ["geography_level", *names]
    (described,) = csv_resources_of(replace(universe, census=census), ["universe/entities.csv"])
    fields = [field["name"] for field in described["schema"]["fields"]]
    assert fields == ["geography_level", *names, "region_name"]
