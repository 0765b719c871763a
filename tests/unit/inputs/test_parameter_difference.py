"""`safetab diff`: what changes from one parameters folder to another, whatever their dialects."""

import json
import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, done, refused
from tests.conftest import PROJECT
from tests.inside import UnsharedFact
from tests.worlds.households import write_household_world
from tests.worlds.specified.of_bureau import as_specification

SMALL = PROJECT / "examples" / "small"
PARAMETERS, DATA = SMALL / "parameters", SMALL / "data"
NZ = Path(str(files("safetab.apps.synthetic.specified"))) / "nz"


PAIRS, GROUPS = "race-and-ethnicity-code-to-iteration.txt", "race-characteristic-iterations.txt"


def diff(*arguments):
    return cli("diff", *arguments)


def changed(folder, lines=None, **keys):
    """A copy of the small parameters with other keys, and with texts replaced in its lists."""
    shutil.copytree(PARAMETERS, folder)
    (folder / "config.json").write_text(json.dumps(json.loads((folder / "config.json").read_text()) | keys))
    for name, (old, new) in (lines or {}).items():
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    return folder


def without_lines(folder, is_gone, *names):
    """A copy of the small parameters without some lines of these files."""
    shutil.copytree(PARAMETERS, folder)
    for name in names:
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(line for line in lines if not is_gone(line)))
    return folder


def rows(before, after, data=None):
    return {tuple(row) for row in safetab.diff(before, after, data).rows}


def expected(table):
    return {tuple(row) for row in cases_of(table)}


def test_equal_folders_have_no_difference(tmp_path):
    copy = changed(tmp_path / "copy")
    assert str(safetab.diff(PARAMETERS, copy, DATA)) == f"No difference between {PARAMETERS} and {copy}."
    assert str(safetab.diff(PARAMETERS, copy)).endswith(
        "Areas were not compared: they lie in DATA. Give --data DATA to compare them."
    )
    document = json.loads(diff(PARAMETERS, copy, "--data", DATA, "--json").stdout)
    answer = {"is_equal": True, "areas_compared": True, "differences": []}
    assert document == document | answer | {"before": str(PARAMETERS), "after": str(copy)}
    assert len(safetab.diff(NZ, NZ)) == 0


def test_a_folder_and_its_specification_are_equal(tmp_path):
    assert rows(PARAMETERS, as_specification(PARAMETERS, tmp_path / "persons"), DATA) == set()
    households = write_household_world(tmp_path / "world", 3).parameters
    assert rows(households, as_specification(households, tmp_path / "households")) == set()


def test_whose_numbers_they_are_and_the_reader_are_compared(tmp_path):
    other = changed(tmp_path / "other", reader="cef")
    (other / "about.toml").write_text('[about]\ntitle = "Groups of an island"\nagency = "Island"\n')
    found = rows(PARAMETERS, other)
    assert ("key", "reader", "", "csv", "cef") in found
    assert ("key", "about.title", "", None, "Groups of an island") in found
    (other / "about.toml").write_text("titel = 1\n")
    assert "other/about.toml" in " ".join(diff(PARAMETERS, other).stderr.split())


def test_a_loss_is_that_of_the_protected_unit(tmp_path):
    world = write_household_world(tmp_path / "world", 3)
    other = world.copy(tmp_path / "other")
    name = next(key for key, value in world.config().items() if key.startswith("privacy_budget") and value)
    other.configure(**{name: 7})
    printed = str(safetab.diff(world.parameters, other.parameters))
    assert "any household in this run" in printed
    assert "person" not in printed


def test_a_budget_changes_its_level_and_the_loss_of_its_pass(tmp_path):
    found = rows(PARAMETERS, changed(tmp_path / "other", privacy_budget_p_level_2_county=0.25))
    table = """
    loss | us | unbounded rho | 4.85 | 4.9
    loss | us | bounded rho | 9.7 | 9.8
    level | (COUNTY, Detailed) | budget | 0.2 | 0.25
    level | (COUNTY, Detailed) | margins of error, total, total | 10 | 9
    level | (COUNTY, Detailed) | suppression threshold | 19 | 17
    """
    assert expected(table) <= found
    assert {row[:2] for row in found} == {("loss", "us"), ("loss", "whole_run"), ("level", "(COUNTY, Detailed)")}


def test_a_budget_of_0_takes_a_level_away_and_others_bring_one(tmp_path):
    other = changed(tmp_path / "other", privacy_budget_p_level_1_usa=0, privacy_budget_p_level_1_aiannh=0.5)
    words = diff(PARAMETERS, other).stdout
    assert "1 level vanishes: (USA, Regional)" in words
    assert "1 level appears: (AIANNH, Regional)" in words
    assert "  United States, unbounded rho: 4.85 becomes 5.34\n" in words
    assert "  any person in this run, unbounded rho: 4.85 becomes 5.34\n" in words


def test_levels_that_change_alike_are_said_once(tmp_path):
    keys = {f"privacy_budget_p_level_2_{name}": 0.3 for name in ("county", "tract")}
    words = diff(PARAMETERS, changed(tmp_path / "other", **keys)).stdout
    assert "2 levels change: (COUNTY, Detailed); (TRACT, Detailed)\n    budget: 0.2 becomes 0.3\n" in words
    assert "    +/- total of stage 1: 29 becomes 24\n    +/- lone total: 10 becomes 8\n" in words
    assert "    +/- Sex by Age(23), sex: 47 becomes 38\n" in words


def test_groups_that_change_their_names_alone_are_listed_under_one_heading(tmp_path):
    words = diff(PARAMETERS, changed(tmp_path / "other", {GROUPS: ("Korean alone", "Koreans alone")})).stdout
    assert "  2 groups change their name:\n    1104: Korean alone becomes Koreans alone\n    2104: " in words
    assert "4 groups" not in words
    one = changed(tmp_path / "one", {GROUPS: ("1104|Korean alone|", "1104|Koreans alone|")})
    assert "  1 group changes its name:\n    1104: Korean alone becomes Koreans alone\n" in diff(PARAMETERS, one).stdout


def test_a_group_that_comes_into_a_list_was_in_none():
    row = UnsharedFact("group", "1002", "list", "no list", "common")
    found = safetab.ParameterDifference(("a", "b"), (row,), {("group", "1002"): "1002 (European)"}, has_areas=True)
    assert str(found).splitlines()[1:] == ["  1 group changes: 1002 (European)", "    list: none becomes common"]


def test_thresholds_and_choices_change(tmp_path):
    thresholds = json.loads((PARAMETERS / "config.json").read_text())["thresholds_p"] | {"(USA, 2)": [500, 1000, 8000]}
    other = changed(
        tmp_path / "other", thresholds_p=thresholds, max_race_codes=2, allow_negative_counts=False, run_pr=False
    )
    table = """
    level | (USA, Detailed) | thresholds | 500, 1000, 7000 | 500, 1000, 8000
    choice | | answers that count | 8 | 2
    choice | | negative numbers | allowed | not allowed
    choice | | passes | us, pr | us
    level | (USA, Detailed) | stability | 9 | 3
    """
    assert expected(table) <= rows(PARAMETERS, other)
    assert "passes: loses 1: pr" in diff(PARAMETERS, other).stdout


def test_groups_and_codes_that_move_are_named(tmp_path):
    lines = {
        PAIRS: ("2004|1120\n", "2003|1120\n"),
        GROUPS: ("1104|Korean alone|2|True|False|False", "1104|Koreans alone|2|True|True|False"),
    }
    words = diff(PARAMETERS, changed(tmp_path / "other", lines)).stdout
    assert "1 code moves: 1120 (Irish)\n    groups: loses 1: 2004 and gains 1: 2003\n" in words
    assert "1 group changes: 1104 (Korean alone)\n    name: Korean alone becomes Koreans alone\n" in words
    assert "    list: common becomes total only\n" in words
    gone = without_lines(tmp_path / "gone", lambda line: line.startswith("1005|"), PAIRS, GROUPS)
    words = diff(gone, PARAMETERS).stdout
    assert "1 group in common appears: 1005 (Italian alone)" in words
    assert " move" not in words  # its codes are where they were among the other groups


def test_a_code_that_gains_its_first_groups_or_loses_its_last_is_said_to(tmp_path):
    kept = without_lines(tmp_path / "kept", lambda line: line.endswith("|1120\n"), PAIRS)
    moves = "1 code moves: 1120 (Irish)\n    groups: {} 6: 1001, 1002, 1004, 2001, 2002 and 1 more\n"
    assert moves.format("loses") in diff(PARAMETERS, kept).stdout
    assert moves.format("gains") in diff(kept, PARAMETERS).stdout


def test_areas_and_numbers_of_groups_are_compared_with_data(tmp_path):
    other = changed(tmp_path / "other", state_filter_us=["44"])
    found = rows(PARAMETERS, other, DATA)
    table = """
    area | COUNTY | ids | 44007, 44009, 50007, 50021 | 44007, 44009
    area | STATE | ids | 44, 50 | 44
    level | (COUNTY, Detailed) | groups | 84 | 42
    """  # 21 groups in each of 4 areas, and of 2
    assert expected(table) <= found
    assert {row[0] for row in rows(PARAMETERS, other)} == {"choice"}


def test_an_area_that_moves_into_another_is_a_difference(tmp_path):
    shutil.copytree(NZ, tmp_path / "nz")
    assert rows(NZ, tmp_path / "nz") == set()
    path = tmp_path / "nz" / "areas.csv"
    head, first, *lines = path.read_text().splitlines()
    moved = ",".join([first.partition(",")[0], lines[-1].partition(",")[2]])
    assert moved != first
    path.write_text("\n".join([head, moved, *lines, ""]))
    found = rows(NZ, tmp_path / "nz")
    assert {row[0] for row in found} == {"area"}
    assert any("what lies in which" in str(row[2]) for row in found)


def test_other_keys_of_specifications_are_compared(tmp_path):
    shutil.copytree(NZ, tmp_path / "nz")
    path = tmp_path / "nz" / "census.toml"
    path.write_text(re.sub("(?m)^agency.*", 'agency = "Another"', path.read_text(), count=1))
    (row,) = safetab.diff(NZ, tmp_path / "nz").rows
    assert (row.kind, row.where, row.after) == ("key", "about.agency", "Another")


def test_it_prints_shortly_and_as_a_table(tmp_path):
    found = safetab.diff(PARAMETERS, changed(tmp_path / "other", max_race_codes=7))
    assert repr(found) == f"<{len(found)} differences between {PARAMETERS} and {tmp_path / 'other'}>"
    table = found.to_arrow()
    assert table.column_names == ["kind", "where", "what", "before", "after"]
    assert table.to_pylist() == found.as_json()["differences"]


def test_every_problem_of_both_folders_is_told(tmp_path):
    one = changed(tmp_path / "one", privacy_budget_p_level_2_county="much")
    other = changed(tmp_path / "other", max_race_codes=99)
    said = {one: f"{one}/config.json has 1 problem", tmp_path / "no": f"{tmp_path}/no does not exist."}
    for before, told in said.items():
        result = diff(before, other)
        assert (result.exit_code, result.stdout) == (1, "")
        assert told in result.stderr
        assert f"{other}/config.json has 1 problem" in result.stderr


@pytest.mark.parametrize("arguments", [[], [PARAMETERS]])
def test_two_folders_are_needed(arguments):
    assert diff(*arguments).exit_code == 2


# Parameters to start from

OF_PRODUCTS = [["--us"], ["--us", "--households"]]
SIZE = "--people 1000 --states 3 --counties 4 --tracts 6"


@pytest.mark.parametrize("options", OF_PRODUCTS)
def test_new_parameters_are_valid_and_those_of_2020(options, tmp_path):
    folder, data = tmp_path / "new", tmp_path / "try" / "data"
    done("new", folder, *options)
    done("synthesize", data.parent, *options, *SIZE.split(), "--parameters", folder)
    found = safetab.diff(folder, folder, data)
    assert len(found) == 0
    assert found.has_areas is True
    if options == ["--us"]:
        assert "4.944" in done("plan", folder, data)
    else:  # only published totals of people are missing
        assert "pop-group-totals has 1 problem" in refused("plan", folder, data)


@pytest.mark.slow
@pytest.mark.parametrize("options", OF_PRODUCTS)
def test_the_commands_of_their_readme_work_as_they_stand(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("new", "mine", *options)
    lines = (tmp_path / "mine" / "README.md").read_text().splitlines()
    commands = [line.removeprefix("    safetab ").split() for line in lines if line.startswith("    ")]
    assert commands[-1][:3] == ["plan", "mine", "TRY/data"]
    for command in commands:
        done(*command)


def test_new_parameters_do_not_replace_anything(tmp_path):
    (tmp_path / "mine").write_text("mine")
    refused("new", tmp_path, "--us")
    refused("new", tmp_path / "x", "--us", "--from", "package.json", code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
