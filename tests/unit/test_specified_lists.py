"""Every mistake in the public lists of a specification has a sentence that names the file, the column and the remedy."""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.inside import compile_folder, keys_of, read_specification
from tests.unit.test_specification_reading import places_of
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
LONG = "x" * 65

# name: (file, a text of the right list, what stands in its place, where, the message)
BROKEN = {
    "another separator": ("faiths.csv", "code,name\n1,One\n2,Two", "code;name\n1;One\n2;Two", "line 1",
                          "the columns are separated by semicolons, not by commas. The heading must hold code,name, in"
                          " any order."),
    "an empty file": ("faiths.csv", "code,name\n1,One\n2,Two\n", "", "",
                      "it is empty. Its first line must hold code,name."),
    "no such column": ("areas.csv", ",TOWN,", ",TWN,", "TOWN",
                       "no such column. The file has AREA_ID, REGION, REGION_NAME, TWN, ISLAND."),
    "two columns": ("areas.csv", ",ISLAND\n", ",TOWN\n", "TOWN", "two columns have this name. Keep one."),
    "no rows": ("faiths.csv", "1,One\n2,Two\n", "", "", "has no rows."),
    "an area twice": ("areas.csv", "A2,1", "A1,1", "AREA_ID", "A1: an area is listed more than once. Keep one row."),
    "a long key": ("areas.csv", "A2,1", f"{LONG},1", "AREA_ID", f"1 value has more than 64 bytes, such as {LONG[:64]}..."),
    "a long id": ("areas.csv", "A3,2,South", f"A3,{LONG},South", "REGION",
                  f"1 value has more than 64 bytes, such as {LONG[:64]}..."),
    "an empty id": ("areas.csv", "A3,2,South", "A3,,South", "REGION", "empty in 1 row. Fill them, or say with `nowhere`"
                    " what means that an area is in none."),
    "an empty key": ("areas.csv", "A2,1", ",1", "AREA_ID", "empty in 1 row. Fill them, or take their text out of records.missing."),
    "a short row": ("areas.csv", "A2,1,North,b,no", "A2,1", "", "line 3 has 2 columns, the heading has 5."),
    "rows of other widths": ("origins.csv", "102,Kaka,k,Keas\n201,Tui,t,Tuis", "102\n\n201,Tui,t,Tuis,,", "",
                             "line 3 has 1 column, line 5 has 6 columns, the heading has 4."),
    "a key that is not printable": ("areas.csv", "A2,1", "A\t2,1", "AREA_ID",
                                    r"1 value has characters that can't be printed, such as 'A\t2'. Use letters, digits and signs."),
    "an id that is not printable": ("areas.csv", ",b,no", ",b\u200b,no", "REGION, TOWN",
                                    r"1 value has characters that can't be printed, such as '1b\u200b'. Use letters, digits and signs."),
    "ids alike": ("areas.csv", "1,North,a,no\nA2,1,North,b", "1,North,1a,no\nA2,11,Other,a", "level town",
                  "11a: different values of REGION, TOWN spell it."),
    "two names of an area": ("areas.csv", "A2,1,North", "A2,1,Nort", "REGION_NAME",
                             '1 has two names, "North" and "Nort". Keep one.'),
    "a strange name": ("areas.csv", "A3,2,South", "A3,2, ", "REGION_NAME", "2: a name must be printable and not empty."),
    "an empty pass": ("areas.csv", "yes\nX9,3,Isles,-,far", "no\nX9,3,Isles,-,no", "pass isles",
                      "no row of the table is in this pass. Change its `where`."),
    "no other area": ("areas.csv", "X9,3", "X8,3", "areas.other", "X9 is not a row of the table. Add it."),
    "a code twice": ("origins.csv", "102,Kaka", "101,Kaka", "code",
                     "101: a code is listed more than once. Keep one row for each."),
    "an empty code": ("origins.csv", "102,Kaka", ",Kaka", "code", "a code is empty. Fill it, or take the row out."),
    "a long code": ("origins.csv", "102,Kaka", f"{LONG},Kaka", "code", f"1 value has more than 64 bytes, such as {LONG[:64]}..."),
    "a code that is cut": ("faiths.csv", "1,One", "123,One", "code", "123: longer than `first = 2`, so no record can"
                           " have it. Shorten the codes of the list."),
    "two names of a group": ("origins.csv", "102,Kaka,k,Keas", "102,Kaka,k,Kea", "broad_name",
                             'k has two names, "Keas" and "Kea". Keep one.'),
    "a group twice": ("origins.csv", "Tui,t,", "Tui,f1,", "group",
                      "f1 (broad in origins.csv and faith in faiths.csv): several groups have this code. Keep one row for"
                      " each, or give a level another `code_prefix`."),
    "an id with a blank": ("areas.csv", "A3,2,South", "A3,2 ,South", "REGION",
                           '1 value has leading or trailing blanks, such as "2 ". Leave the blanks out, here and in the records.'),
    "a code with a blank": ("origins.csv", "102,Kaka", " 102,Kaka", "code",
                            '1 value has leading or trailing blanks, such as " 102". Leave the blanks out, here and in the records.'),
    "a code with a no-break space": ("origins.csv", "102,Kaka", "102\u00a0,Kaka", "code",
                                     r"1 value has characters that can't be printed, such as '102\xa0'. Use letters, digits and signs."),
    "a group with a soft hyphen": ("origins.csv", "Tui,t,", "Tui,t\u00ad1,", "broad",
                                   r"1 value has characters that can't be printed, such as 't\xad1'. Use letters, digits and signs."),
    "a code with a line end": ("faiths.csv", "2,Two", '"2\n",Two', "code",
                               r"1 value has characters that can't be printed, such as '2\n'. Use letters, digits and signs."),
    "a long group": ("origins.csv", "Tui,t,", f"Tui,{LONG},", "broad",
                     f"1 value has more than 64 bytes, such as {LONG[:64]}..."),
    "a long name": ("origins.csv", "t,Tuis", f"t,{'n' * 1001}", "broad_name",
                    "t: a name has at most 1,000 characters. Shorten it."),
    "a long name of an area": ("areas.csv", "A3,2,South", f"A3,2,{'n' * 1001}", "REGION_NAME",
                               "2: a name has at most 1,000 characters. Shorten it."),
    "a strange group": ("origins.csv", "t,Tuis", "t,Tu\tis", "broad_name", "t: a name must be printable and not empty."),
}  # fmt: skip
BROKEN_FILES = {
    "an empty group": ("groups.csv", "f,One", ",One", "group", "the code of a group is empty. Fill it, or take the row out."),
    "a strange level": ("groups.csv", ",broad,", ",bread,", "level", "bread: must be one of broad, faith."),
    "a strange classification": ("groups.csv", ",faith,any", ",fiath,any", "classification",
                                 "fiath: must be one of faith, origin."),
    "a strange column": ("groups.csv", "members,list", "members,List", "List", 'unknown column. Did you mean "list"?'),
    "strange members": ("groups.csv", "origin,any", "origin,some", "members", "some: must be one of any, only."),
    "a strange list": ("groups.csv", ",common", ",comon", "list", "comon: must be one of common."),
    "a group of no file": ("codes.csv", "f,1\n", "f,1\ng,1\n", "group", "g: not in groups.csv."),
    "a strange code": ("codes.csv", "k,102", "k,103", "code", "103 of group k: not a code of origin."),
    "a group without codes": ("codes.csv", "f,1\n", "", "group",
                              "f: no code leads to the group. Give it one, or leave it out."),
    "a shared code": ("groups.csv", "f,One", "l,Keas,broad,origin,any,\nf,One", "code",
                      "code 101 is in k and in l, which share level and members."
                      " A record would be counted twice: keep it in one."),
}  # fmt: skip


# findings about what two lists say together
IN_ANOTHER_FILE = {"a group twice": "census.toml", "a group without codes": "groups.csv", "a shared code": "codes.csv"}


def write_lists(folder: Path, text: str, lists: dict[str, str]) -> Path:
    parameters = write_specification(folder, text)
    for name, content in lists.items():
        (parameters / name).write_text(content, encoding="utf-8")
    return parameters


def findings_of(folder: Path, text: str, lists: dict[str, str]) -> list[tuple[str, str]]:
    return [(finding.where, finding.message) for finding in compile_folder(write_lists(folder, text, lists)).errors]


def test_right_lists_have_no_findings(tmp_path):
    assert findings_of(tmp_path / "columns", SMALL, LISTS) == []
    assert findings_of(tmp_path / "files", OF_FILES, FILES) == []


@pytest.mark.parametrize("name", [*BROKEN, *BROKEN_FILES])
def test_a_broken_list_is_refused_with_the_right_sentence(name, tmp_path):
    file, right, wrong, where, message = (BROKEN | BROKEN_FILES)[name]
    text, lists = (SMALL, LISTS) if name in BROKEN else (OF_FILES, FILES)
    assert lists[file].count(right) == 1
    changed = lists | {file: lists[file].replace(right, wrong)}
    if name == "a shared code":
        changed["codes.csv"] += "l,101\n"
    found = compile_folder(write_lists(tmp_path, text, changed)).errors
    expected = (IN_ANOTHER_FILE.get(name, file), where, message)
    assert expected in [(each.file, each.where, each.message) for each in found]


@pytest.mark.parametrize(
    ("right", "wrong", "where"), [("Tui,t,", "Tui,t\u00a0,", "broad"), ("t,Tuis", "t,Tu\u00a0is", "broad_name")]
)
def test_a_strange_character_is_one_finding_about_its_list(tmp_path, right, wrong, where):
    lists = LISTS | {"origins.csv": LISTS["origins.csv"].replace(right, wrong)}
    found = compile_folder(write_lists(tmp_path, SMALL, lists)).errors
    assert [(each.file, each.where) for each in found] == [("origins.csv", where)]


def test_a_group_whose_prefix_makes_it_too_long_is_found_in_the_specification(tmp_path):
    text = SMALL.replace('code_prefix = "f"', f'code_prefix = "{LONG}"')
    assert text != SMALL
    found = compile_folder(write_lists(tmp_path, text, LISTS)).errors
    assert [(each.file, each.where) for each in found] == [("census.toml", "group")]


def codes_of_two_groups_are_refused(folder: Path) -> None:
    _, right, wrong, where, message = BROKEN_FILES["a shared code"]
    lists = FILES | {
        "groups.csv": FILES["groups.csv"].replace(right, wrong),
        "codes.csv": FILES["codes.csv"] + "l,101\n",
    }
    assert (where, message) in findings_of(folder, OF_FILES, lists)


def areas_of_two_passes_are_refused(folder: Path) -> None:
    """Passes by different columns, which the specification alone can't compare."""
    text = SMALL.replace('where  = { ISLAND = "no" }', 'where  = { REGION = ["1", "3"] }')
    assert text != SMALL
    told = ("pass isles", "some areas are in another pass too. Passes must not overlap.")
    assert told in findings_of(folder, text, LISTS)


def test_areas_of_two_passes_are_refused(tmp_path):
    areas_of_two_passes_are_refused(tmp_path)


def ids_are_in_the_order_of_their_bytes(folder: Path) -> None:
    """Capitals come first, whatever letters they are."""
    lists = LISTS | {"areas.csv": LISTS["areas.csv"].replace(",North,a,", ",North,C,")}
    compiled = compile_folder(write_lists(folder, SMALL, lists)).require()
    (ids,) = {kind.ids.texts for kind in compiled.config.census.kinds if kind.name == "town"}
    assert ids == ("1C", "1b", "3c")


def test_ids_are_in_the_order_of_their_bytes(tmp_path):
    ids_are_in_the_order_of_their_bytes(tmp_path)


NOT_UTF_8 = "line {} is not UTF-8 text. Save the file as UTF-8. A spreadsheet calls this form CSV UTF-8."


@pytest.mark.parametrize(
    ("file", "encoding", "change", "line"),
    [
        ("areas.csv", "utf-16", ("", ""), 1),
        ("origins.csv", "utf-16", ("", ""), 1),
        ("areas.csv", "latin-1", ("ISLAND", "ISLÄND"), 1),
        ("areas.csv", "latin-1", ("A2,1,North", "A2,1,Nörd"), 3),
        ("origins.csv", "latin-1", ("Kaka", "Käkä"), 3),
    ],
)
def test_a_list_that_is_not_utf_8_is_named_with_the_line(tmp_path, file, encoding, change, line):
    parameters = write_lists(tmp_path, SMALL, LISTS)
    (parameters / file).write_bytes(LISTS[file].replace(*change).encode(encoding))
    assert [str(finding) for finding in compile_folder(parameters).errors] == [NOT_UTF_8.format(line)]


@pytest.mark.parametrize("file", ["areas.csv", "origins.csv"])
def test_a_quote_that_was_left_open_is_told(tmp_path, file):
    parameters = write_lists(tmp_path, SMALL, LISTS)
    (parameters / file).write_text(LISTS[file] + '"open' + ",x\n" * 1_000_000)
    told = "a row has more than a million bytes. Shorten its texts, or close a quote that was left open."
    assert [finding.message for finding in compile_folder(parameters).errors] == [told]


def test_a_parquet_list_that_is_not_utf_8_is_refused(tmp_path):
    columns = [[*column] for column in zip(*(line.split(",") for line in LISTS["areas.csv"].split()), strict=True)]
    table = {name: pa.array([text.encode() for text in texts]) for name, *texts in columns}
    table["REGION_NAME"] = pa.array([b"N\xf6rd", *[b"South"] * 4])
    parameters = write_lists(tmp_path, SMALL.replace("areas.csv", "areas.parquet"), LISTS)
    pq.write_table(pa.table(table), parameters / "areas.parquet")
    (found,) = compile_folder(parameters).errors
    assert (found.file, "Invalid UTF8" in found.message) == ("areas.parquet", True)


def test_lists_are_checked_though_the_specification_has_errors(tmp_path):
    wrong = {
        **LISTS,
        "areas.csv": LISTS["areas.csv"].replace("A2,1", "A1,1"),
        "origins.csv": LISTS["origins.csv"].replace("102,Kaka", "101,Kaka"),
    }
    of_lists = {
        ("AREA_ID", "A1: an area is listed more than once. Keep one row."),
        ("code", "101: a code is listed more than once. Keep one row for each."),
    }
    text = SMALL.replace("budget = 2\n", "budget = 0\n")
    assert of_lists < {*findings_of(tmp_path / "budget", text, wrong)}
    text = SMALL.replace('columns = ["FAITH"]', 'columns = ["FAIHT"]').replace("AREA = AREA_ID", "AERA = AREA_ID")
    assert of_lists < {*findings_of(tmp_path / "fields", text, wrong)}
    text = SMALL.replace('names = "REGION_NAME"', 'names = ["REGION_NAME"]')  # the areas can't be checked
    found = {*findings_of(tmp_path / "areas", text, wrong)}
    assert found & of_lists == {("code", "101: a code is listed more than once. Keep one row for each.")}
    assert [where for where, _ in found - of_lists] == ["areas.levels[2].names"]


def test_a_pass_is_not_called_like_one_of_the_bureau(tmp_path):
    text = SMALL.replace('name   = "isles"', 'name   = "us"')
    told = ("areas.passes", "us is a pass of the 2020 U.S. Census. Choose another name.")
    assert findings_of(tmp_path / "pass", text, LISTS) == [told]
    assert told in findings_of(tmp_path / "budget", text.replace("budget = 2\n", "budget = 0\n"), LISTS)


def test_a_short_row_hides_nothing_else(tmp_path):
    text = SMALL.replace('id = ["REGION"]', 'id = ["REGOIN"]')
    short = LISTS | {"areas.csv": LISTS["areas.csv"].replace("A2,1,North,b,no", "A2,1")}
    assert [where for where, _ in findings_of(tmp_path / "column", text, short)] == ["", "REGOIN"]
    short["areas.csv"] = short["areas.csv"].replace("A3,2", "A1,2")
    assert [where for where, _ in findings_of(tmp_path / "area", SMALL, short)] == ["", "AREA_ID"]


@pytest.mark.parametrize(
    "change", [("groups.csv", "f,One,faith,faith", "f,One,faith,fiath"), ("codes.csv", "f,1\n", "g,1\n")]
)
def test_a_code_in_two_groups_is_found_beside_other_mistakes(change, tmp_path):
    _, right, wrong, where, message = BROKEN_FILES["a shared code"]
    lists = FILES | {
        "groups.csv": FILES["groups.csv"].replace(right, wrong),
        "codes.csv": FILES["codes.csv"] + "l,101\n",
    }
    file, right, wrong = change
    lists[file] = lists[file].replace(right, wrong)
    found = findings_of(tmp_path, OF_FILES, lists)
    assert (where, message) in found
    assert len(found) > 1


@pytest.mark.parametrize(("text", "file", "where"), [("A2", "areas.csv", "AREA_ID"), ("101", "origins.csv", "code")])
def test_a_text_that_means_no_value_is_not_listed(text, file, where, tmp_path):
    assert file in LISTS
    found = findings_of(tmp_path, SMALL.replace("[records]", f'[records]\nmissing = ["", "{text}"]'), LISTS)
    assert [place for place, message in found if "records.missing" in message] == [where]


def test_a_code_that_is_listed_twice_is_told_once(tmp_path):
    text = SMALL.replace('column = "code", members', 'column = "code", names = "name", members')
    lists = LISTS | {"faiths.csv": "code,name\n1,One\n1,Two\n"}
    assert [where for where, _ in findings_of(tmp_path, text, lists)] == ["code"]


def test_a_folder_is_not_a_list(tmp_path):
    (tmp_path / "faiths.csv").mkdir()
    lists = {name: text for name, text in LISTS.items() if name != "faiths.csv"}
    assert findings_of(tmp_path, SMALL, lists) == [("", f"{tmp_path / 'faiths.csv'} is a directory, not a file.")]


def test_one_list_of_two_classifications_is_reported_once(tmp_path):
    text = SMALL.replace('file    = "faiths.csv"', 'file    = "origins.csv"').replace("first   = 2\n", "")
    changed = LISTS | {"origins.csv": LISTS["origins.csv"].replace("102,Kaka", "101,Kaka")}
    found = findings_of(tmp_path, text, changed)
    assert found == [("code", "101: a code is listed more than once. Keep one row for each.")]


def test_no_strange_value_is_a_traceback_when_lists_are_read(tmp_path):
    assert findings_of(tmp_path, SMALL, LISTS) == []
    keys = json.loads(json.dumps(keys_of(read_specification(tmp_path).require())), parse_float=Decimal)
    strange = ("", 7, True, {}, [], ["x"], [{}], [[]], {"x": 1})
    paths = [path for path in places_of(keys) if len(path) > 2]
    assert len(paths) > 150
    for number, path in enumerate(paths):
        changed = inner = deepcopy(keys)
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = strange[number % len(strange)]
        write_specification(tmp_path, toml_of(changed))
        compiled = compile_folder(tmp_path)
        assert (compiled.value is None) == bool(compiled.errors)
