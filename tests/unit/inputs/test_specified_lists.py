"""Every mistake in the public lists of a specification has a sentence that names the file, the column and the remedy."""

import json
import tomllib
from copy import deepcopy
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of, values_of
from tests.inside import compile_folder, keys_of, read_specification
from tests.unit.model.test_specification_reading import inside, places_of
from tests.worlds.specified.small_text import SMALL, write_specification
from tests.worlds.specified.toml_text import toml_of

LISTS = {
    "areas.csv": (
        "AREA_ID,REGION,REGION_NAME,TOWN,ISLAND\n"
        "A1,1,North,a,no\nA2,1,North,b,no\nA3,2,South,-,no\nA4,3,Isles,c,yes\nX9,3,Isles,-,far\n"
    ),
    "origins.csv": "code,name,broad,broad_name\n101,Kea,k,Keas\n102,Kaka,k,Keas\n201,Tui,t,Tuis\n999,Not stated,,\n",
    "faiths.csv": "code,name\n1,One\n2,Two\n",
}
FILES = {
    **LISTS,
    "groups.csv": "group,name,level,classification,members,list\nk,Keas,broad,origin,any,\nf,One,faith,faith,any,common\n",
    "codes.csv": "group,code\nk,101\nk,102\nf,1\n",
}
OF_FILES = SMALL.replace("words = { only", 'file = "groups.csv"\ncodes = "codes.csv"\n# { only').replace(
    SMALL[SMALL.index('  { name = "broad", title') : SMALL.index("]\nwords")],
    '  { name = "broad", title = "Broad" },\n  { name = "faith", title = "Faith" },\n',
)

BROKEN = tomllib.loads(Path(__file__).with_name("broken_lists.toml").read_text("utf-8"))
TOO_LONG = "a name has at most 1,000 characters. Shorten it."
BROKEN["columns"] |= {
    "a long name": ("origins.csv", "t,Tuis", f"t,{'n' * 1001}", "broad_name", f"t: {TOO_LONG}"),
    "a long name of an area": ("areas.csv", "A3,2,South", f"A3,2,{'n' * 1001}", "REGION_NAME", f"2: {TOO_LONG}"),
}


# findings about what two lists say together
IN_ANOTHER_FILE = {"a group twice": "census.toml", "a group without codes": "groups.csv", "a shared code": "codes.csv"}
SHARED_CODE = FILES | {
    "groups.csv": FILES["groups.csv"].replace("f,One", "l,Keas,broad,origin,any,\nf,One"),
    "codes.csv": FILES["codes.csv"] + "l,101\n",
}


def write_lists(folder, text, lists):
    parameters = write_specification(folder, text)
    for name, content in lists.items():
        (parameters / name).write_text(content, "utf-8")
    return parameters


def with_change(file, right, wrong, lists=LISTS):
    assert lists[file].count(right) == 1
    return lists | {file: lists[file].replace(right, wrong)}


def errors(folder, text, lists):
    return compile_folder(write_lists(folder, text, lists)).errors


def findings_of(folder, text=SMALL, lists=LISTS):
    return [(finding.where, finding.message) for finding in errors(folder, text, lists)]


def test_right_lists_have_no_findings(tmp_path):
    assert findings_of(tmp_path / "columns") == findings_of(tmp_path / "files", OF_FILES, FILES) == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in BROKEN.items() for name in names])
def test_a_broken_list_is_refused_with_the_right_sentence(kind, name, tmp_path):
    file, right, wrong, where, message = BROKEN[kind][name]
    text, lists = (SMALL, LISTS) if kind == "columns" else (OF_FILES, FILES)
    changed = SHARED_CODE if name == "a shared code" else with_change(file, right, wrong, lists)
    found = [(each.file, each.where, each.message) for each in errors(tmp_path, text, changed)]
    assert (IN_ANOTHER_FILE.get(name, file), where, message) in found


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    values_of(r"""
        "Tui,t," | "Tui,t\u00a0," | "broad"
        "t,Tuis" | "t,Tu\u00a0is" | "broad_name"
    """),
)
def test_a_strange_character_is_one_finding_about_its_list(tmp_path, right, wrong, where):
    found = errors(tmp_path, SMALL, with_change("origins.csv", right, wrong))
    assert [(each.file, each.where) for each in found] == [("origins.csv", where)]


def test_a_group_whose_prefix_makes_it_too_long_is_found_in_the_specification(tmp_path):
    found = errors(tmp_path, SMALL.replace('code_prefix = "f"', f'code_prefix = "{"x" * 65}"'), LISTS)
    assert [(each.file, each.where) for each in found] == [("census.toml", "group")]


def codes_of_two_groups_are_refused(folder):
    assert tuple(BROKEN["files"]["a shared code"][3:]) in findings_of(folder, OF_FILES, SHARED_CODE)


def areas_of_two_passes_are_refused(folder):
    """Passes by different columns, which the specification alone can't compare."""
    text = SMALL.replace('where  = { ISLAND = "no" }', 'where  = { REGION = ["1", "3"] }')
    assert ("pass isles", "some areas are in another pass too. Passes must not overlap.") in findings_of(folder, text)


def test_areas_of_two_passes_are_refused(tmp_path):
    areas_of_two_passes_are_refused(tmp_path)


def ids_are_in_the_order_of_their_bytes(folder):
    """Capitals come first, whatever letters they are."""
    compiled = compile_folder(write_lists(folder, SMALL, with_change("areas.csv", ",North,a,", ",North,C,"))).require()
    (ids,) = {kind.ids.texts for kind in compiled.config.census.kinds if kind.name == "town"}
    assert ids == ("1C", "1b", "3c")


def test_ids_are_in_the_order_of_their_bytes(tmp_path):
    ids_are_in_the_order_of_their_bytes(tmp_path)


@pytest.mark.parametrize(
    ("file", "encoding", "change", "line"),
    values_of("""
        "areas.csv" | "utf-16" | ("", "") | 1
        "origins.csv" | "utf-16" | ("", "") | 1
        "areas.csv" | "latin-1" | ("ISLAND", "ISLÄND") | 1
        "areas.csv" | "latin-1" | ("A2,1,North", "A2,1,Nörd") | 3
        "origins.csv" | "latin-1" | ("Kaka", "Käkä") | 3
    """),
)
def test_a_list_that_is_not_utf_8_is_named_with_the_line(tmp_path, file, encoding, change, line):
    parameters = write_lists(tmp_path, SMALL, LISTS)
    (parameters / file).write_bytes(LISTS[file].replace(*change).encode(encoding))
    (told,) = compile_folder(parameters).errors
    assert f"line {line} is not UTF-8 text" in str(told)
    assert "CSV UTF-8" in str(told)


@pytest.mark.parametrize("file", ["areas.csv", "origins.csv"])
def test_a_quote_that_was_left_open_is_told(tmp_path, file):
    (told,) = findings_of(tmp_path, lists=LISTS | {file: LISTS[file] + '"open' + ",x\n" * 1_000_000})
    assert "a row has more than a million bytes" in told[1]
    assert "close a quote that was left open" in told[1]


def test_a_parquet_list_that_is_not_utf_8_is_refused(tmp_path):
    columns = [[*column] for column in zip(*(line.split(",") for line in LISTS["areas.csv"].split()), strict=True)]
    table = {name: pa.array([text.encode() for text in texts]) for name, *texts in columns}
    table["REGION_NAME"] = pa.array([b"N\xf6rd", *[b"South"] * 4])
    parameters = write_lists(tmp_path, SMALL.replace("areas.csv", "areas.parquet"), LISTS)
    pq.write_table(pa.table(table), parameters / "areas.parquet")
    (found,) = compile_folder(parameters).errors
    assert found.file == "areas.parquet"
    assert "Invalid UTF8" in found.message


def test_lists_are_checked_though_the_specification_has_errors(tmp_path):
    wrong = with_change("areas.csv", "A2,1", "A1,1", with_change("origins.csv", "102,Kaka", "101,Kaka"))

    def places(*changes):
        text = SMALL
        for right, wrong_text in changes:
            text = text.replace(right, wrong_text)
        return {where for where, _ in findings_of(tmp_path, text, wrong)}

    assert places(("budget = 2\n", "budget = 0\n")) > {"AREA_ID", "code"}
    assert places(('columns = ["FAITH"]', 'columns = ["FAIHT"]'), ("AREA = AREA", "AERA = AREA")) > {"AREA_ID", "code"}
    # the areas can't be checked
    assert places(('names = "REGION_NAME"', 'names = ["REGION_NAME"]')) == {"code", "areas.levels[2].names"}


def test_a_pass_is_not_called_like_one_of_the_bureau(tmp_path):
    text = SMALL.replace('name   = "isles"', 'name   = "us"')
    told = ("areas.passes", "us is a pass of the 2020 U.S. Census. Choose another name.")
    assert findings_of(tmp_path, text) == [told]
    assert told in findings_of(tmp_path, text.replace("budget = 2\n", "budget = 0\n"))


def test_a_short_row_hides_nothing_else(tmp_path):
    short = with_change("areas.csv", "A2,1,North,b,no", "A2,1")
    found = findings_of(tmp_path, SMALL.replace('id = ["REGION"]', 'id = ["REGOIN"]'), short)
    assert [where for where, _ in found] == ["", "REGOIN"]
    found = findings_of(tmp_path, lists=with_change("areas.csv", "A3,2", "A1,2", short))
    assert [where for where, _ in found] == ["", "AREA_ID"]


@pytest.mark.parametrize(
    "change", [("groups.csv", "f,One,faith,faith", "f,One,faith,fiath"), ("codes.csv", "f,1\n", "g,1\n")]
)
def test_a_code_in_two_groups_is_found_beside_other_mistakes(change, tmp_path):
    found = findings_of(tmp_path, OF_FILES, with_change(*change, SHARED_CODE))
    assert tuple(BROKEN["files"]["a shared code"][3:]) in found
    assert len(found) > 1


@pytest.mark.parametrize(
    ("text", "where"),
    cases_of("""
        A2 | AREA_ID
        101 | code
    """),
)
def test_a_text_that_means_no_value_is_not_listed(text, where, tmp_path):
    found = findings_of(tmp_path, SMALL.replace("[records]", f'[records]\nmissing = ["", "{text}"]'))
    assert [place for place, message in found if "records.missing" in message] == [where]


def test_a_code_that_is_listed_twice_is_told_once(tmp_path):
    named = SMALL.replace('column = "code", members', 'column = "code", names = "name", members')
    of_two = SMALL.replace('file    = "faiths.csv"', 'file    = "origins.csv"').replace("first   = 2\n", "")
    for text, change in (named, ("faiths.csv", "2,Two", "1,Two")), (of_two, ("origins.csv", "102,Kaka", "101,Kaka")):
        assert [where for where, _ in findings_of(tmp_path, text, with_change(*change))] == ["code"]


def test_a_folder_is_not_a_list(tmp_path):
    (tmp_path / "faiths.csv").mkdir()
    lists = {name: text for name, text in LISTS.items() if name != "faiths.csv"}
    assert findings_of(tmp_path, SMALL, lists) == [("", f"{tmp_path / 'faiths.csv'} is a directory, not a file.")]


@pytest.mark.parametrize("tenth", [0, *(pytest.param(tenth, marks=pytest.mark.slow) for tenth in range(1, 10))])
def test_no_strange_value_is_a_traceback_when_lists_are_read(tenth, tmp_path):
    assert findings_of(tmp_path) == []
    keys = json.loads(json.dumps(keys_of(read_specification(tmp_path).require())), parse_float=Decimal)
    strange = ("", 7, True, {}, [], ["x"], [{}], [[]], {"x": 1})
    paths = [path for path in places_of(keys) if len(path) > 2]
    assert len(paths) > 150
    for number, path in [*enumerate(paths)][tenth::10]:
        changed = deepcopy(keys)
        inside(changed, path)[path[-1]] = strange[number % len(strange)]
        write_specification(tmp_path, toml_of(changed))
        compiled = compile_folder(tmp_path)
        assert (compiled.value is None) == bool(compiled.errors)
