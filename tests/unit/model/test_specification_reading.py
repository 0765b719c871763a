"""A specification is read exactly, and every mistake in it has a sentence that says where it is and what to do."""

import json
import tomllib
from copy import deepcopy
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cases import values_of
from tests.conftest import SHARED
from tests.inside import (
    FindingsOf,
    KeyColumn,
    is_specification,
    keys_of,
    lists_folder,
    public_file,
    read_specification,
    specification_of_keys,
)
from tests.worlds.specified.small_text import SMALL, write_specification

HEAD, FROM_AREAS = SMALL.split("[areas]")
LENT, REST = FROM_AREAS.split("[[tables]]", 1)
INHERITED = f"census = 1\n[areas]{LENT}"
LINES = SMALL[SMALL.index("lines  = [") : SMALL.index('shapes = [\n  { id = "T1"')]
PRIVACY = "[privacy]" + SMALL.split("[privacy]")[1]
LIKE = HEAD.replace("census = 1", 'census = 1\nlike = "../lender/census.toml"') + "[[tables]]" + REST


def read(folder, text=SMALL):
    return read_specification(write_specification(folder, text))


def broken(*names):
    """The small specification with these mistakes."""
    text = SMALL
    for name in names:
        right, wrong, _ = BROKEN[name]
        assert right in text
        text = text.replace(right, wrong, 1)
    return text


def errors(checked):
    return [str(finding) for finding in checked.errors]


def errors_in(folder, text=SMALL):
    return errors(read(folder, text))


def test_a_right_specification_is_read(tmp_path):
    checked = read(tmp_path)
    assert errors(checked) == []
    spec = checked.require()
    region_and_town, isles = spec.areas.levels[2], spec.areas.passes[1]
    assert spec.about.noise == 15
    assert spec.records.where == {"RESIDENT": ("1",)}
    assert spec.records.missing == ("",)
    assert spec.records.named("AGE").maximum == 99
    assert spec.records.named("SEX").other == "U"
    assert spec.areas.key == (KeyColumn("AREA", "AREA_ID"),)
    assert spec.areas.other == ("X9",)
    assert region_and_town.id == ("REGION", "TOWN")
    assert region_and_town.nowhere == ("-",)
    assert isles.where == {"ISLAND": ("yes", "far")}
    assert spec.classification("origin").residual == ("999",)
    assert spec.groups.any_words == "{name}"
    assert spec.groups.only_words == "only {name}"
    assert spec.groups.lists[0].areas == ("nation", "region")
    assert spec.tables[0].shapes[2].breaks == {"age": (0, 18, 65)}
    assert spec.tables[1].lines[1].values == ("1", "2")
    assert spec.privacy.levels[0].budget == Fraction(30000000000000000000000000001, 10**29)
    assert spec.privacy.levels[1].tables == ("sex and age", "tenure")
    assert spec.privacy.stage_1 == Fraction(1, 10)
    assert spec.privacy.suppress_chance == Fraction(99, 100)


def test_fields_that_nothing_reads_are_one_warning(tmp_path):
    alone = "records.fields[9]: nothing reads the field TONGUES; its values are only checked."
    assert [*map(str, read(tmp_path).warnings)] == [alone]
    more = "".join(f'  {{ name = "Q{number}", type = "string" }},\n' for number in range(6))
    (warning,) = read(tmp_path, SMALL.replace('  { name = "FAITH"', f'{more}  {{ name = "FAITH"', 1)).warnings
    assert "nothing reads 7 fields: TONGUES, Q0, Q1, Q2, Q3 and 2 more; their values are only checked" in str(warning)
    assert read(tmp_path, broken("column of codes")).warnings == ()  # beside an error


def test_a_list_that_nothing_uses_is_a_warning(tmp_path):
    checked = read(tmp_path, SMALL.replace('common = { areas = ["nation", "region"] }', 'rare = { tables = "total" }'))
    assert "groups.lists.rare: nothing uses this list" in "\n".join(map(str, checked.warnings))
    lists = checked.require().groups.lists
    assert [(each.name, each.areas, each.total_only) for each in lists] == [
        ("common", None, False),
        ("rare", None, True),
    ]


@pytest.mark.parametrize(
    ("column", "separator", "more"),
    values_of(r"""
        "TONGUES" | ";" | ""
        "ORIGIN2" | "/" | '\nseparator = "/"'
    """),
)
def test_a_list_of_codes_has_the_delimiter_of_its_field_or_its_own(column, separator, more, tmp_path):
    text = SMALL.replace('columns = ["ORIGIN1", "ORIGIN2"]', f'column = "{column}"{more}')
    codes = read(tmp_path, text.replace("use        = { origin = 1 }", "")).require().classification("origin")
    assert codes.columns == (column,)
    assert codes.separator == separator


@pytest.mark.parametrize("name", ["hospital-admissions", "nz-ethnicity", "ons-ethnic-group", "safetab-h", "safetab-p"])
@pytest.mark.needs_2020_files
def test_the_designed_specifications_are_read(name):
    folder = SHARED / "census" / name
    if not folder.is_dir():
        pytest.skip("the designed specifications are not there")
    spec = read_specification(folder).require()
    assert specification_of_keys(keys_of(spec), FindingsOf("keys")) == spec


BROKEN = tomllib.loads(Path(__file__).with_name("broken_specifications.toml").read_text("utf-8")) | {
    "nested": ("census = 1", "census = " + "[" * 5_000, "its brackets are nested too deeply."),
    "digits": ("census = 1", "census = " + "1" * 5_000, "it has an integer with thousands of digits."),
    "hex digits": ("census = 1", "census = 0x" + "f" * 5_000, "census: must be 1, not a huge number."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_specification_is_refused_with_the_right_sentence(name, tmp_path):
    checked = read(tmp_path, broken(name))
    assert checked.value is None
    assert [error for error in errors(checked) if BROKEN[name][2] in error], errors(checked)


def test_all_findings_come_at_once(tmp_path):
    chosen = ("budget of 0", "other", "key", "unit", "of", "breaks that fall", "suppress", "separator", "gaps")
    found = "\n".join(errors_in(tmp_path, broken(*chosen)))
    assert [name for name in chosen if BROKEN[name][2] not in found] == []


def test_findings_are_in_the_order_of_the_file(tmp_path):
    text = broken("key", "budget of 0", "separator", "of", "first break", "product name", "stage 1")
    places = [finding.where for finding in read(tmp_path, text).errors]
    order = ["about.name", "records.separator", "areas.key[1]", "groups.levels[2].of", "tables[1].shapes[3].breaks.age"]
    assert list(dict.fromkeys(places)) == [*order, "privacy.stage_1", "privacy.levels[2].budget"]


@pytest.mark.parametrize("name", ["stage 1", "members"])
def test_what_is_wrong_is_not_said_to_be_missing(name, tmp_path):
    assert len(errors_in(tmp_path, broken(name))) == 1


def test_an_unknown_attribute_of_a_table_with_breaks_is_told_once(tmp_path):
    found = errors_in(tmp_path, SMALL.replace('by = ["sex", "age"]', 'by = ["sex", "ages"]'))
    (told,) = [error for error in found if "shapes[3]" in error]
    assert 'tables[1].shapes[3].by[2]: "ages" is not an attribute' in told


def test_a_level_of_areas_is_not_called_all_where_a_list_means_every_level(tmp_path):
    text = SMALL.replace('{ name = "town", id', '{ name = "all", id').replace('town = "M-TOWN"', 'all = "M-TOWN"')
    text = text.replace('areas = "town"', 'areas = "all"')
    assert errors_in(tmp_path / "levels", text) == []
    text = text.replace('{ common = { areas = ["nation", "region"] } }', '{ common = { areas = "all" } }')
    message = 'groups.lists.common.areas: "all" means every level, and a level has this name. Rename the level.'
    assert errors_in(tmp_path / "lists", text) == [message]


def test_privacy_toml_does_not_follow_a_link_out(tmp_path):
    folder = write_specification(tmp_path / "in", SMALL.replace(PRIVACY, ""))
    (tmp_path / "privacy.toml").write_text(PRIVACY)
    (folder / "privacy.toml").symlink_to(tmp_path / "privacy.toml")
    message = "privacy.toml is a link that leads out of the folder. Copy the file there."
    assert errors(read_specification(folder)) == [message]


def places_of(keys, path=()):
    """The path of every value in nested tables and lists."""
    for key, value in keys.items() if isinstance(keys, dict) else enumerate(keys) if isinstance(keys, list) else ():
        yield (*path, key)
        yield from places_of(value, (*path, key))


def inside(keys, path):
    """What holds the last value of a path."""
    for key in path[:-1]:
        keys = keys[key]
    return keys


STRANGE = json.loads(
    '["", "x", 7, -1, 2.5, true, [], {}, [1], ["x"], [{}], [[]], {"x": 1}, {"x": {}}, 1e99, NaN, null]'
)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 36))])
def test_nothing_that_stands_in_the_place_of_a_value_is_a_traceback(part, tmp_path):
    keys = keys_of(read(tmp_path).require())
    places = [*places_of(keys)]
    assert len(places) > 200
    for number, path in enumerate(places):
        for value in [*STRANGE, "leave out"][(number + part) % 36 :: 36]:
            changed = deepcopy(keys)
            if value == "leave out":
                del inside(changed, path)[path[-1]]
            else:
                inside(changed, path)[path[-1]] = value
            findings = FindingsOf("keys")
            assert (specification_of_keys(changed, findings) is None) == findings.has_errors


def test_a_specification_may_lie_in_two_files(tmp_path):
    folder = write_specification(tmp_path / "two", SMALL.replace(PRIVACY, ""))
    assert errors(read_specification(folder)) == ["privacy: missing. Write it, for example [privacy]."]
    privacy = folder / "privacy.toml"
    privacy.write_text(PRIVACY)
    assert read_specification(folder).require() == read(tmp_path / "one").require()
    privacy.write_text(PRIVACY.replace("budget = 2\n", "budget = 0\n") + '[about]\nname = "x"\n')
    found = [(finding.file, finding.where) for finding in read_specification(folder).errors]
    assert found == [("privacy.toml", "about"), ("privacy.toml", "privacy.levels[2].budget")]
    write_specification(folder)
    assert "privacy: also in privacy.toml. Keep one of them." in errors(read_specification(folder))


def test_like_lends_areas_classifications_and_groups(tmp_path):
    def lent(text=INHERITED, like=LIKE):
        write_specification(tmp_path / "lender", text)
        return read_specification(write_specification(borrower, like))

    borrower = tmp_path / "borrower"
    assert lent().require() == read(tmp_path / "whole").require()
    assert lists_folder(borrower).resolve() == tmp_path / "lender"
    assert lists_folder(tmp_path / "whole") == tmp_path / "whole"
    twice = lent(INHERITED.replace('name = "town"', 'name = "Region"'))
    assert "../lender/census.toml" in {finding.file for finding in twice.errors}
    assert "which is like another" in "".join(errors(lent('like = "../other/census.toml"\n' + INHERITED)))
    both = lent(like=LIKE + SMALL[SMALL.index("[classifications.faith]") : SMALL.index("[groups]")])
    assert errors(both)[0].startswith("classifications: also taken from ../lender/census.toml.")


@pytest.mark.parametrize(
    "like", ["../../census.toml", "/census.toml", "../a/b/census.toml", "../lender/x.toml", "census.toml"]
)
def test_like_stays_near(like, tmp_path):
    (found,) = errors_in(tmp_path / "borrower", LIKE.replace("../lender/census.toml", like))
    assert found.startswith("like: ")


def test_like_does_not_follow_a_link_out(tmp_path):
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "lender").symlink_to(write_specification(tmp_path / "far" / "lender", INHERITED))
    assert errors(read(tmp_path / "near" / "borrower", LIKE))[0].startswith("like: ")


def test_a_folder_has_one_configuration(tmp_path):
    assert not is_specification(tmp_path)
    folder = write_specification(tmp_path)
    assert is_specification(folder)
    (folder / "config.json").write_text("{}")
    assert errors(read_specification(folder)) == [
        "config.json lies beside it. A folder has one of them: remove the other."
    ]


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_byte_order_mark_and_crlf_are_accepted(change, tmp_path):
    folder = write_specification(tmp_path)
    (folder / "census.toml").write_bytes(change(SMALL).encode())
    assert errors(read_specification(folder)) == []


def test_what_is_not_text_has_a_sentence(tmp_path):
    folder = write_specification(tmp_path)
    (folder / "census.toml").write_bytes(b"census = 1\n# \xff\n")
    assert errors(read_specification(folder)) == ["line 2 is not UTF-8 text. Save the file as UTF-8."]
    (folder / "census.toml").unlink()
    assert errors(read_specification(folder)) == [f"{folder / 'census.toml'} does not exist."]


def test_public_files_stay_in_their_folder(tmp_path):
    folder, findings = tmp_path / "in", FindingsOf("census.toml")
    folder.mkdir()
    for path in folder / "list.csv", tmp_path / "out.csv":
        path.touch()
    (folder / "link.csv").symlink_to(tmp_path / "out.csv")
    assert public_file(folder, "list.csv", "areas.file", findings) == folder / "list.csv"
    assert findings.findings == ()
    assert [public_file(folder, name, "", findings) for name in ("link.csv", "../out.csv", "none.csv", "..")] == [
        None
    ] * 4
    link, _, none, _ = (finding.message for finding in findings.findings)
    assert "leads out of the folder" in link
    assert none == f"{folder / 'none.csv'} does not exist."
