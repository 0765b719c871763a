"""The coterminous step on hand-made worlds, where noise vanishes and every table can be counted by hand."""

import csv
import json
import shutil
from hashlib import sha256

import pytest

from tests.cases import cases_of
from tests.commands import done, refused
from tests.inside import open_release_folder, tabulate_level_module
from tests.releases import files_of, json_of, numbers_of, status_of, totals_of, universe_of
from tests.worlds.people import GEOGRAPHIES, PERSON_HEADER
from tests.worlds.world import World

pytestmark = pytest.mark.slow

GEOGRAPHY = """TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE
11|001|000100|1000|50000|9999
11|001|000201|1000|50000|9999
44|005|000100|1000|99999|9999
44|005|990000|0001|99999|9999
44|007|000100|1000|10100|9999
44|007|000200|1000|99999|9999
72|031|000100|1000|20200|9999
"""
WATER = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK\n44|005|990000|0001\n06|001|000100|1000\n"
# 3001 and 3002 are everywhere, 3003 is a total for nation and state, 3004 is tabulated below state alone
LISTS = {
    "race-characteristic-iterations.txt": """ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY
3001|Maori alone|2|True|False|False
3002|Maori alone or in any combination|2|False|False|False
3003|Manx alone|2|True|True|False
3004|Hmong alone|2|True|False|True
3000|Everybody alone|0|True|Null|Null
""",
    "ethnicity-characteristic-iterations.txt": "ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY\n",
    "race-and-ethnicity-codes.txt": "RACE_ETH_CODE|RACE_ETH_NAME\n1000|Maori\n2000|Manx and Hmong\n9950|not Hispanic\n",
    "race-and-ethnicity-code-to-iteration.txt": """ITERATION_CODE|RACE_ETH_CODE
3001|1000
3002|1000
3003|2000
3004|2000
3000|1000
""",
}
PEOPLE = (
    "11|001|000100|1000|01|1000 " * 7
    + "11|001|000201|1000|01|2000 " * 5
    + "44|005|000100|1000|01|1000 " * 3
    + "44|007|000100|1000|01|2000 " * 2
    + "72|031|000100|1000|01|1000 " * 4
).split()
SETTINGS = """{
    "max_race_codes": 8,
    "privacy_budget_p_stage_1_fraction": 0.1,
    "zero_suppression_chance": 0.9,
    "allow_negative_counts": true,
    "run_us": true,
    "run_pr": true,
    "reader": "csv",
    "state_filter_us": ["11", "44"],
    "privacy_defn": "zcdp"
}"""


def write_world(folder, thresholds=None, **config):
    world = World.of(folder)
    for place in world:
        place.mkdir(parents=True)
    lines = [f"30|{1 + n % 2}|True|{person}{'|Null' * 7}|9950" for n, person in enumerate(PEOPLE)]
    records = "\n".join([PERSON_HEADER, *lines, ""])
    for name, text in {"GRF-C.txt": GEOGRAPHY, "SYNTHETIC": "made up\n", "person-records.txt": records}.items():
        (world.data / name).write_text(text)
    for name, text in LISTS.items():
        (world.parameters / name).write_text(text)
    levels = [(one, n) for one in GEOGRAPHIES for n in (1, 2)]
    budgets = {f"privacy_budget_p_level_{n}_{one}": 10**9 * (n - 1) for one, n in levels}
    low = {f"({one.upper().replace('_', '-')}, {n})": thresholds or [5, 10**6, 10**6] for one, n in levels}
    world.write_config({**budgets, "thresholds_p": low, **json.loads(SETTINGS), **config})
    return world


def shown(out, code):
    """Of one iteration: count, table, status and donor by level and region."""
    found = {}
    for (level, region, iteration), row in totals_of(numbers_of(out)).items():
        if iteration == code:
            names = ("count", "table", "status", "donor_geography_level", "donor_region_id")
            found[f"{level} {region}"] = " ".join(str(row[name]) for name in names if row[name] is not None)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a world, a file of its water, and two releases; nobody changes them."""
    folder = tmp_path_factory.mktemp("coterminous")
    world = write_world(folder)
    (folder / "water.txt").write_text(WATER)
    world.run(folder / "plain")
    world.run(folder / "out", coterminous=True, empty_blocks=folder / "water.txt")
    return folder


@pytest.fixture(scope="module")
def out(made):
    return made / "out"


@pytest.fixture(scope="module")
def maori(out):
    return shown(out, "3001")


SAME = "table_id line count unclamped_count variance noise_parameter stage_1_total"


def test_the_district_has_one_table_as_state_county_and_place(out, maori):
    assert maori["STATE 11"] == "7 sex_age_4 published"
    assert maori["COUNTY 11001"] == maori["PLACE 1150000"] == "7 sex_age_4 copied STATE 11"
    assert maori["TRACT 11001000100"] == "7 sex_age_4 published"  # half of the district
    rows = {"11": [], "1150000": []}
    for row in numbers_of(out):
        if row["iteration_code"] == "3001" and row["region_id"] in rows:
            rows[row["region_id"]].append([row[name] for name in SAME.split()])
    assert rows["11"] == rows["1150000"]
    assert len(rows["11"]) == 12


def test_a_group_of_the_state_that_is_not_tabulated_below_is_not_copied_there(out):
    assert shown(out, "3003") == {
        "USA 1": "7 total published",
        "STATE 11": "5 total published",
        "STATE 44": "2 total published",
        "PR-STATE 72": "0 total published",
    }


def test_where_the_state_has_no_data_the_county_is_the_donor(out):
    hmong = shown(out, "3004")
    assert hmong["COUNTY 11001"] == "5 sex_age_4 published"
    assert hmong["PLACE 1150000"] == "5 sex_age_4 copied COUNTY 11001"
    assert "STATE 11" not in hmong


def test_a_county_of_land_and_water_gives_to_its_land_tract(maori):
    assert maori["COUNTY 44005"] == "3 total published"
    assert maori["TRACT 44005000100"] == "3 total copied COUNTY 44005"
    assert "TRACT 44005990000" not in maori


def test_puerto_rico_goes_the_same_way(maori):
    assert {key: row for key, row in maori.items() if key.startswith("PR-")} == {
        "PR-STATE 72": "4 total published",
        **dict.fromkeys(("PR-COUNTY 72031", "PR-PLACE 7220200", "PR-TRACT 72031000100"), "4 total copied PR-STATE 72"),
    }


def test_the_sets_travel_with_the_release(out):
    sets = {}
    for row in universe_of(out, "coterminous"):
        sets.setdefault(row["set"], []).append(f"{row['geography_level']} {row['region_id']}")
    expected = """
STATE 11 | COUNTY 11001 | PLACE 1150000
COUNTY 44005 | TRACT 44005000100
PLACE 4410100 | TRACT 44007000100
PR-STATE 72 | PR-COUNTY 72031 | PR-PLACE 7220200 | PR-TRACT 72031000100
"""
    assert [*sets.values()] == cases_of(expected)


@pytest.mark.parametrize(
    ("group", "status", "column", "value"),
    cases_of(
        """
        PLACE 1150000 3001 | copied | table | sex_age_4
        PLACE 1150000 3001 | copied | donor_region_id | 11
        COUNTY 11001 3003 | not tabulated | reason | tabulated for nation and state only
        STATE 11 3004 | not tabulated | reason | tabulated below state only
        STATE 11 3000 | not tabulated | reason | a major group, which is never tabulated
        TRACT 44005990000 3001 | suppressed | reason | None
        """
    ),
)
def test_the_status_of_a_group_names_the_donor_or_the_reason(group, status, column, value, out):
    row = status_of(open_release_folder(out), *group.split())
    assert (row["status"], str(row[column])) == (status, value)


def test_without_the_list_of_empty_blocks_water_keeps_them_apart_and_copy_all_gives_other_groups(tmp_path):
    out = write_world(tmp_path).run(tmp_path / "out", coterminous=True, copy_all=True)
    assert shown(out, "3001")["TRACT 44005000100"] == "3 total published"
    assert shown(out, "3003")["COUNTY 11001"] == "5 total copied STATE 11"
    assert shown(out, "3004")["STATE 11"] == "5 sex_age_4 copied COUNTY 11001"
    row = status_of(open_release_folder(out), "STATE", "11", "3004")
    names = ("status", "table", "donor_geography_level", "donor_region_id")
    assert " ".join(row[name] for name in names) == "copied sex_age_4 COUNTY 11001"


def test_the_order_can_be_chosen(tmp_path):
    maori = shown(write_world(tmp_path).run(tmp_path / "out", coterminous=True, order="place,state"), "3001")
    assert maori["PLACE 1150000"] == "7 sex_age_4 published"
    assert maori["STATE 11"] == "7 sex_age_4 copied PLACE 1150000"
    assert maori["COUNTY 11001"] == "7 sex_age_4 published"  # takes no part


def test_a_suppressed_donor_is_passed_over(made, tmp_path, monkeypatch):
    """The county's total is made to fall to the suppression threshold; its tract then gives to it."""
    keeps = tabulate_level_module._stage_2

    def lost_county(level, counts, *rest):
        measured = keeps(level, counts, *rest)
        if level.plan.level.geography.label != "COUNTY":
            return measured
        own = level.plan.universe.index.entity_of(measured.indices) != list(level.plan.universe.entities).index(44005)
        values = {table: rows[own[measured.groups_of(table)]] for table, rows in measured.values.items()}
        return type(measured)(
            measured.plan, measured.stage, measured.indices[own], measured.shape_numbers[own], measured.stage_1_totals[own], values
        )  # fmt: skip

    monkeypatch.setattr(tabulate_level_module, "_stage_2", lost_county)
    out = World.of(made).run(tmp_path / "out", coterminous=True, empty_blocks=made / "water.txt")
    maori = shown(out, "3001")
    assert maori["TRACT 44005000100"] == "3 total published"
    assert maori["COUNTY 44005"] == "3 total copied TRACT 44005000100"
    assert "44005" not in (out / "t1" / "us.csv").read_text().replace("44005000100", "")


def rows_told(log):
    return [line.partition(" ")[2] for line in log.decode().splitlines() if line.endswith(" rows")]


def test_the_command_makes_what_run_makes_and_leaves_the_old_output_alone(made, tmp_path):
    before = files_of(made / "plain")
    water = ("--empty-blocks", made / "water.txt")
    done("coterminous", made / "plain", tmp_path / "new", "--geography", made / "data" / "GRF-C.txt", *water)
    assert files_of(made / "plain") == before
    new, at_once = files_of(tmp_path / "new"), files_of(made / "out")
    manifests = [json.loads(files.pop("manifest.json")) for files in (new, at_once)]
    logs = [rows_told(files.pop("log.txt")) for files in (new, at_once)]
    assert new == at_once
    for part in ("outputs", "release"):
        assert manifests[0][part] == manifests[1][part]
    read = manifests[0]["rerelease"]["public_files"]
    assert list(read["geography"]) == ["GRF-C.txt"]
    assert manifests[0]["public_files"] | read["geography"] | read["empty_blocks"] == manifests[1]["public_files"]
    assert logs[0] == logs[1]
    assert len(logs[0]) == len(manifests[0]["outputs"])
    assert "NOT-FOR-RELEASE" in new


def test_the_totals_after_the_step_are_there_for_those_who_go_on_with_them(out):
    def rows_of(table):
        with (out / "after-steps" / table / "us.csv").open() as file:
            return [row for row in csv.DictReader(file, delimiter="|") if row["ITERATION_CODE"] == "3001"]

    totals = {f"{row['REGION_TYPE']} {row['REGION_ID']}": row["COUNT"] for row in rows_of("t1")}
    assert totals["COUNTY 11001"] == totals["PLACE 1150000"] == totals["STATE 11"] == "7"
    assert totals["TRACT 44005000100"] == "3"
    of_place = [list(row.values())[3:] for row in rows_of("t2") if row["REGION_ID"] == "1150000"]
    boys, girls = "0-17-1-0 18-44-1-4 45-64-1-0 65-115-1-0 *-*-1-4", "0-17-2-0 18-44-2-3 45-64-2-0 65-115-2-0 *-*-2-3"
    assert ["-".join(row) for row in of_place] == f"{boys} {girls}".split()
    assert "not SafeTab-P's own tables" in (out / "after-steps" / "README.txt").read_text()


def test_the_hashes_are_those_of_the_geography_that_was_read_and_of_nothing_else(made, tmp_path):
    for name in ("geography", "water"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_person-records.txt").write_text("QAGE\n30\n")
        (tmp_path / name / ".notes.txt").write_text("for the curator\n")
    head, *blocks = GEOGRAPHY.splitlines()
    for part, rows in enumerate((blocks[:3], blocks[3:])):
        (tmp_path / "geography" / f"part-{part}.txt").write_text("\n".join([head, *rows, ""]))
    (tmp_path / "water" / "part-0.txt").write_text(WATER)
    new, water = tmp_path / "new", tmp_path / "water"
    done("coterminous", made / "plain", new, "--geography", tmp_path / "geography", "--empty-blocks", water)
    read, before = json_of(new / "manifest.json"), json_of(made / "plain" / "manifest.json")["public_files"]
    assert read["public_files"] == before
    hashes = {
        folder: {path.name: sha256(path.read_bytes()).hexdigest() for path in (tmp_path / given).glob("part-*")}
        for folder, given in (("geography", "geography"), ("empty_blocks", "water"))
    }
    assert read["rerelease"]["public_files"] == hashes
    of_run = World.of(made).run(tmp_path / "at-once", coterminous=True, empty_blocks=water)
    assert json_of(of_run / "manifest.json")["public_files"] == before | hashes["empty_blocks"]


HEAD = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK\n"
WRONG_FILES = {
    "unknown.txt": f"{HEAD}44|001|000100|1000\n",
    "short.txt": f"{HEAD}44|005|000100|1\n",
    "header.txt": "TABBLKST|TABBLKCOU|TABTRACTCE\n44|005|000100\n",
    "other.txt": "\n".join(line for line in GEOGRAPHY.splitlines() if "|005|" not in line),
    "GRF-C.docx": "",
}


@pytest.mark.parametrize(
    ("mistake", "message"),
    cases_of(
        """
        --order state,moon | --order: must be two or more of state,county,place,aiannh,tract
        --order state | --order: must be two or more of
        --empty-blocks {}/missing.txt | does not exist
        --empty-blocks {}/unknown.txt | not in the geography: block 440010001001000
        --empty-blocks {}/../data/GRF-C.txt | lists every block of the US pass
        --empty-blocks {}/short.txt | TABBLK: must be 4 digits: line 2 ("1")
        --empty-blocks {}/header.txt | columns missing or repeated: TABBLK.
        --geography {}/other.txt | COUNTY: not the entities of the run: 44005
        --geography {}/nothing | does not exist
        --geography {}/GRF-C.docx | must be a file that ends in .txt, .txt.gz, .parquet
        """
    ),
)
def test_mistakes_are_told_and_nothing_is_written(mistake, message, made, new, tmp_path):
    for name, text in WRONG_FILES.items():
        (tmp_path / name).write_text(text)
    given = mistake.replace("{}/..", str(made)).format(tmp_path).split()
    words = ["--geography", made / "data" / "GRF-C.txt", *given]  # the last one counts
    code = 2 if "--order" in mistake else 1
    assert message in refused("coterminous", made / "out", new, *words, code=code)
    assert not new.exists()


def test_a_folder_that_is_no_output_is_told(made, tmp_path):
    (tmp_path / "nothing").mkdir()
    shutil.copytree(made / "out", tmp_path / "out")
    (tmp_path / "out" / "t1" / "us.csv").unlink()
    for wrong, message in (
        (tmp_path / "nothing", "is not a release"),
        (made / "out" / "release", "has no readable manifest.json"),
        (tmp_path / "out", "names files that don't exist: t1/us.csv"),
    ):
        geography = ("--geography", made / "data" / "GRF-C.txt")
        assert message in refused("coterminous", wrong, tmp_path / "new", *geography)


@pytest.mark.parametrize(
    ("options", "message"),
    cases_of(
        """
        --empty-blocks water.txt | --empty-blocks: needs --coterminous
        --order state,county | --order: is about the coterminous step
        --copy-all | --copy-all: is about the coterminous step
        --confidence 95 | --confidence: must be a number from 0.5 to 0.999999
        --confidence 1/0 | --confidence: must be a number
        --confidence 0.9e0 | --confidence: must be a number
        --rule no-zeros | "no-zeros" is not a rule. The rules are clamp-negatives, withhold-negatives
        --rule clamp-negatives --rule withhold-negatives | can be clamped or withheld, not both
        """
    ),
)
def test_options_of_a_release_that_make_no_sense_are_told(options, message, made, tmp_path):
    assert message in refused("run", *World.of(made), tmp_path / "out", *options.split(), code=2)
    assert not (tmp_path / "out").exists()
