"""What a release takes from its census: reasons, partners, parts, the order of donors, and ids of the agency."""

from dataclasses import replace

import pyarrow as pa
import pytest

from tests.cases import values_of
from tests.commands import invalid
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    SAFETAB_H,
    SAFETAB_P,
    US,
    US_PASS,
    CoterminousOptions,
    _numbers_for_csv,
    csv_resources_of,
    data_dictionary_geo_id,
    plan_of,
    read_public_files,
    repeated_totals,
    universe_of_run,
    with_ids,
)

WITHOUT_CODES = replace(US, area_codes=None)


@pytest.fixture(scope="module")
def universe():
    files = read_public_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    return universe_of_run(plan_of(files).require(), files.geography_of_pass, files.names)


def test_reasons_keep_the_order_that_the_digits_of_a_site_have(universe):
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


def test_entities_lie_in_the_parts_of_their_pass_unless_they_may_cross_parts(universe):
    nowhere = replace(universe, states={**universe.states, US_PASS: ()})
    for level, entities in universe.entities.items():
        assert universe.lies_in_parts(level).all()
        is_judged = US.part in (level.kind, *level.kind.around) and level.tabulation_pass == US_PASS
        assert nowhere.lies_in_parts(level).tolist() == [not is_judged] * len(entities)


@pytest.mark.parametrize("names", [("state",), ("state", "state"), ("state", "moon"), ("state", "nation"), ("",)])
def test_an_order_names_kinds_that_can_give(names):
    assert "two or more of state,county,place,aiannh,tract, each once" in invalid(CoterminousOptions(names).donors, US)


def test_without_an_order_donors_are_in_the_order_of_the_census():
    assert CoterminousOptions().donors(US) == US.donor_order
    assert CoterminousOptions(("tract", "state")).donors(US) == (US.kind("tract"), US.kind("state"))


@pytest.mark.parametrize(("census", "id_"), [(US, "0500000US04007"), (WITHOUT_CODES, "COUNTY:04007")])
def test_every_census_has_ids_that_stay_texts(universe, census, id_):
    written = with_ids(pa.table({"region_id": ["04007"]}), census, "COUNTY")
    assert written.column_names == ["geography_level", "region_id", "geo_id"]
    assert (
        written["geo_id"].to_pylist() == [id_] == [data_dictionary_geo_id(census, census.area_level("COUNTY"), "04007")]
    )
    (described,) = csv_resources_of(replace(universe, census=census), ["universe/entities.csv"])
    fields = [field["name"] for field in described["schema"]["fields"]]
    assert fields == ["geography_level", "region_id", "geo_id", "region_name"]


def test_a_group_has_an_id_that_stays_text_if_the_agency_has_no_form_of_its_own():
    table = pa.table({"iteration_code": ["0101"], "iteration_level": ["Detailed"]})
    assert with_ids(table, WITHOUT_CODES, None)["iteration_id"].to_pylist() == ["Detailed:0101"]
    assert with_ids(table, US, None).column_names == table.column_names


def test_intervals_of_csv_files_reach_no_size_below_0_and_are_null_only_if_withheld():
    header, *rows = values_of("""
        "table_id" | "line" | "unclamped_count" | "unclamped_margin_of_error" | "interval_low" | "interval_high"
        "T01001" | 1 | 30 | 9 | None | None
        "T02001" | 1 | 30 | 9 | None | None
        "T02001" | 2 | -3 | 9 | None | None
        "T02003" | 3 | -30 | 9 | None | None
        "T01001" | 1 | 20 | 9 | 0 | 25
        "T01001" | 1 | None | None | None | None
    """)
    numbers = pa.Table.from_pylist([dict(zip(header, row, strict=True)) for row in rows])
    ends = _numbers_for_csv(numbers, SAFETAB_P).select(["interval_low", "interval_high"]).to_pylist()
    assert [[*each.values()] for each in ends] == values_of("21 | 39\n 0 | 6\n 0 | 0\n 0 | 25\n None | None")


def test_only_tables_of_people_repeat_totals():
    assert repeated_totals(SAFETAB_P) == {("T02001", 1), ("T02002", 1), ("T02003", 1)}
    assert repeated_totals(SAFETAB_H) == frozenset()
