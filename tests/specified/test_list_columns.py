"""Answers in one column of lists, as Parquet stores them: what an empty list and a missing answer mean."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of
from tests.inside import (
    _overlap,
    groups_overlap,
    parts_of_group,
    plan_of,
    read_inputs,
    read_public_files,
    universe_of_run,
)
from tests.specified.agreement import differences, errors
from tests.specified.judge import Judge
from tests.worlds.specified.small_world import PEOPLE, nz_keys, of_lists, write_specification

LISTS = cases_of("""
    11111
    11111 | 21111
    31111 | 33111
    12411 | 11111 | 12411
    21111 | 94444
    21111
    31111 | 11111 | 21111
    99999
""")


def write_lists(folder, lists, **of_classification):
    """The small census with one column of lists, whose missing text is not the empty one."""
    keys = of_lists(**of_classification)
    keys["records"]["missing"] = ["NA"]
    world = write_specification(folder, keys, None)
    header, *rows = [line.split(",")[:4] for line in PEOPLE.splitlines()]
    columns = {name: pa.array([row[at] for row in rows]) for at, name in enumerate(header)}
    pq.write_table(pa.table({**columns, "ETH": pa.array(lists, pa.list_(pa.string()))}), world.data / "people.parquet")
    return world


def test_lists_are_answers_in_their_order(tmp_path):
    assert differences(*write_lists(tmp_path, LISTS)) == []


@pytest.mark.parametrize("nothing", [[], None], ids=["empty", "null"])
def test_a_list_without_answers_is_missing(tmp_path, nothing):
    lists = [nothing, *LISTS[1:]]
    optional = write_lists(tmp_path / "optional", lists, required=False)
    assert differences(*optional) == []
    assert Judge(*optional).totals("level 2", Judge(*optional).label("nation"))["NZ", "11"] == 3
    required = write_lists(tmp_path / "required", lists)
    ((_, message),) = errors(*required)
    assert "1 row breaks" in message
    assert Judge(*required).broken.total() == 1


def test_an_answer_that_is_missing_inside_a_list_is_a_gap(tmp_path):
    lists = [["11111", None, "21111"], *LISTS[1:]]
    assert differences(*write_lists(tmp_path / "skipped", lists, gaps="skipped")) == []
    wrong = write_lists(tmp_path / "wrong", lists)
    assert len(errors(*wrong)) == 1
    assert Judge(*wrong).broken.total() == 1


def test_a_separator_inside_an_answer_divides_nothing(tmp_path):
    assert len(errors(*write_lists(tmp_path / "wrong", [["11111;21111"], *LISTS[1:]]))) == 1


@pytest.mark.parametrize(
    "stored", [pa.list_(pa.string(), 1), pa.list_(pa.dictionary(pa.int32(), pa.string()))], ids=["fixed", "dictionary"]
)
def test_lists_that_are_stored_otherwise_are_refused_with_what_is_due(tmp_path, stored):
    parameters, data = write_lists(tmp_path, LISTS)
    path = data / "people.parquet"
    table = pq.read_table(path)
    lists = pa.array([["11111"]] * len(table), pa.list_(pa.string())).cast(stored)
    pq.write_table(table.set_column(table.column_names.index("ETH"), "ETH", lists), path)
    (finding,) = read_inputs(parameters, data).errors
    assert str(finding) == "ETH: holds values of another type. Give text or lists of text."


@pytest.mark.parametrize("field_type", ["string", "list"])
def test_groups_of_a_column_of_lists_overlap_and_those_of_one_answer_do_not(field_type, tmp_path):
    keys = of_lists() if field_type == "list" else nz_keys()
    if field_type == "string":
        keys["classifications"]["ethnicity"]["columns"] = ["ETH1"]
    keys["groups"]["levels"][0]["members"] = ["any"]
    files = read_public_files(*write_specification(tmp_path, keys)).require()
    universe = universe_of_run(plan_of(files).require(), files.geography_of_pass, files.names)
    census, nation = universe.census, universe.census.area_levels[0]
    of_code = {group.code: group for group in universe.lists.iterations}
    maori, samoan, pacific = (of_code[code] for code in ("21", "31", "3"))
    parts = parts_of_group(universe, pacific, nation)
    if field_type == "list":
        assert parts == ()
        assert groups_overlap(universe, maori, samoan)
        assert census.words.overlapping == "Ethnic groups"
        assert _overlap(census, "person") == "Groups overlap, since a person can be in several. "
    else:
        assert [part.name for part in parts] == ["Samoan", "Tongan"]
        assert not groups_overlap(universe, maori, samoan)
        assert census.words.overlapping == ""
        assert _overlap(census, "person") == "Groups of different levels overlap. "
