"""The coterminous step on hand-made worlds, where noise vanishes and every table can be counted by hand."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

import safetab
from tests.commands import cli
from tests.inside import open_release_folder, tabulate_level_module
from tests.releases import Row, numbers_of, status_of, totals_of, universe_of
from tests.worlds.people import GEOGRAPHIES, PERSON_HEADER

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
RACE = """ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY
3001|Maori alone|2|True|False|False
3002|Maori alone or in any combination|2|False|False|False
3003|Manx alone|2|True|True|False
3004|Hmong alone|2|True|False|True
3000|Everybody alone|0|True|Null|Null
"""
CODES = {"3001": "1000", "3002": "1000", "3003": "2000", "3004": "2000", "3000": "1000"}


def write_world(folder: Path, thresholds: list[int] | None = None, **config: object) -> tuple[Path, Path]:
    parameters, data = folder / "parameters", folder / "data"
    parameters.mkdir(parents=True)
    data.mkdir()
    (data / "GRF-C.txt").write_text(GEOGRAPHY)
    (data / "SYNTHETIC").write_text("made up\n")
    people = [
        *(["11|001|000100|1000", "1000"] for _ in range(7)),
        *(["11|001|000201|1000", "2000"] for _ in range(5)),
        *(["44|005|000100|1000", "1000"] for _ in range(3)),
        *(["44|007|000100|1000", "2000"] for _ in range(2)),
        *(["72|031|000100|1000", "1000"] for _ in range(4)),
    ]
    lines = [f"30|{1 + n % 2}|True|{block}|01|{code}{'|Null' * 7}|9950" for n, (block, code) in enumerate(people)]
    (data / "person-records.txt").write_text("\n".join([PERSON_HEADER, *lines]) + "\n")
    (parameters / "race-characteristic-iterations.txt").write_text(RACE)
    (parameters / "ethnicity-characteristic-iterations.txt").write_text(
        "ITERATION_CODE|ITERATION_NAME|LEVEL|DETAILED_ONLY|COARSE_ONLY\n"
    )
    (parameters / "race-and-ethnicity-codes.txt").write_text(
        "RACE_ETH_CODE|RACE_ETH_NAME\n1000|Maori\n2000|Manx and Hmong\n9950|not Hispanic\n"
    )
    pairs = "".join(f"{iteration}|{code}\n" for iteration, code in CODES.items())
    (parameters / "race-and-ethnicity-code-to-iteration.txt").write_text("ITERATION_CODE|RACE_ETH_CODE\n" + pairs)
    values = {f"privacy_budget_p_level_{n}_{g}": 10**9 if n == 2 else 0 for g in GEOGRAPHIES for n in (1, 2)}
    values |= {
        "thresholds_p": {
            f"({g.upper().replace('_', '-')}, {n})": thresholds or [5, 10**6, 10**6]
            for g in GEOGRAPHIES
            for n in (1, 2)
        },
        "max_race_codes": 8,
        "privacy_budget_p_stage_1_fraction": 0.1,
        "zero_suppression_chance": 0.9,
        "allow_negative_counts": True,
        "run_us": True,
        "run_pr": True,
        "reader": "csv",
        "state_filter_us": ["11", "44"],
        "privacy_defn": "zcdp",
    }
    (parameters / "config.json").write_text(json.dumps(values | config))
    return parameters, data


def shown(rows: list[Row], code: str) -> dict[tuple[str, str], tuple[int, str, str, str | None]]:
    """Of one iteration: count, table, status and donor by level and region."""
    return {
        (level, region): (
            row["count"],
            row["table"],
            row["status"],
            row["donor_geography_level"] and f"{row['donor_geography_level']} {row['donor_region_id']}",
        )
        for (level, region, iteration), row in totals_of(rows).items()
        if iteration == code
    }


@pytest.fixture
def out(tmp_path: Path) -> Path:
    parameters, data = write_world(tmp_path)
    (tmp_path / "water.txt").write_text(WATER)
    out = tmp_path / "out"
    safetab.run(parameters, data, out, coterminous=True, empty_blocks=tmp_path / "water.txt")
    return out


def test_the_district_has_one_table_as_state_county_and_place(out):
    maori = shown(numbers_of(out), "3001")
    assert maori["STATE", "11"] == (7, "sex_age_4", "published", None)
    assert maori["COUNTY", "11001"] == (7, "sex_age_4", "copied", "STATE 11")
    assert maori["PLACE", "1150000"] == (7, "sex_age_4", "copied", "STATE 11")
    assert maori["TRACT", "11001000100"] == (7, "sex_age_4", "published", None)  # half of the district
    rows = [row for row in numbers_of(out) if row["iteration_code"] == "3001" and row["region_id"] in {"11", "1150000"}]
    of_state = [row for row in rows if row["geography_level"] == "STATE"]
    of_place = [row for row in rows if row["geography_level"] == "PLACE"]
    assert len(of_state) == len(of_place) == 12
    same = ("table_id", "line", "count", "unclamped_count", "variance", "noise_parameter", "stage_1_total")
    assert [[row[name] for name in same] for row in of_state] == [[row[name] for name in same] for row in of_place]


def test_a_group_of_the_state_that_is_not_tabulated_below_is_not_copied_there(out):
    assert shown(numbers_of(out), "3003") == {
        ("USA", "1"): (7, "total", "published", None),
        ("STATE", "11"): (5, "total", "published", None),
        ("STATE", "44"): (2, "total", "published", None),
        ("PR-STATE", "72"): (0, "total", "published", None),
    }


def test_where_the_state_has_no_data_the_county_is_the_donor(out):
    hmong = shown(numbers_of(out), "3004")
    assert hmong["COUNTY", "11001"] == (5, "sex_age_4", "published", None)
    assert hmong["PLACE", "1150000"] == (5, "sex_age_4", "copied", "COUNTY 11001")
    assert ("STATE", "11") not in hmong


def test_a_county_of_land_and_water_gives_to_its_land_tract(out):
    maori = shown(numbers_of(out), "3001")
    assert maori["COUNTY", "44005"] == (3, "total", "published", None)
    assert maori["TRACT", "44005000100"] == (3, "total", "copied", "COUNTY 44005")
    assert ("TRACT", "44005990000") not in maori


def test_puerto_rico_goes_the_same_way(out):
    maori = shown(numbers_of(out), "3001")
    assert {key: row for key, row in maori.items() if key[0].startswith("PR-")} == {
        ("PR-STATE", "72"): (4, "total", "published", None),
        ("PR-COUNTY", "72031"): (4, "total", "copied", "PR-STATE 72"),
        ("PR-PLACE", "7220200"): (4, "total", "copied", "PR-STATE 72"),
        ("PR-TRACT", "72031000100"): (4, "total", "copied", "PR-STATE 72"),
    }


def test_the_sets_travel_with_the_release(out):
    sets: dict[int, list[str]] = {}
    for row in universe_of(out, "coterminous"):
        sets.setdefault(row["set"], []).append(f"{row['geography_level']} {row['region_id']}")
    assert list(sets.values()) == [
        ["STATE 11", "COUNTY 11001", "PLACE 1150000"],
        ["COUNTY 44005", "TRACT 44005000100"],
        ["PLACE 4410100", "TRACT 44007000100"],
        ["PR-STATE 72", "PR-COUNTY 72031", "PR-PLACE 7220200", "PR-TRACT 72031000100"],
    ]


def test_the_status_of_a_copied_group_names_the_donor(out):
    release = open_release_folder(out)
    copied = status_of(release, "PLACE", "1150000", "3001")
    assert (copied["status"], copied["table"]) == ("copied", "sex_age_4")
    assert (copied["donor_geography_level"], copied["donor_region_id"]) == ("STATE", "11")
    absent = {
        ("COUNTY", "11001", "3003"): ("not tabulated", "tabulated for nation and state only"),
        ("STATE", "11", "3004"): ("not tabulated", "tabulated below state only"),
        ("STATE", "11", "3000"): ("not tabulated", "a major group, which is never tabulated"),
        ("TRACT", "44005990000", "3001"): ("suppressed", None),
    }
    for group, expected in absent.items():
        row = status_of(release, *group)
        assert (row["status"], row["reason"]) == expected


def test_without_the_list_of_empty_blocks_water_keeps_them_apart(tmp_path):
    parameters, data = write_world(tmp_path)
    safetab.run(parameters, data, tmp_path / "out", coterminous=True)
    assert shown(numbers_of(tmp_path / "out"), "3001")["TRACT", "44005000100"] == (3, "total", "published", None)


def test_copy_all_gives_groups_too_that_the_level_does_not_tabulate(tmp_path):
    parameters, data = write_world(tmp_path)
    safetab.run(parameters, data, tmp_path / "out", coterminous=True, copy_all=True)
    rows = numbers_of(tmp_path / "out")
    assert shown(rows, "3003")["COUNTY", "11001"] == (5, "total", "copied", "STATE 11")
    assert shown(rows, "3004")["STATE", "11"] == (5, "sex_age_4", "copied", "COUNTY 11001")
    release = open_release_folder(tmp_path / "out")
    row = status_of(release, "STATE", "11", "3004")
    assert (row["status"], row["table"], row["donor_geography_level"]) == ("copied", "sex_age_4", "COUNTY")
    assert row["donor_region_id"] == "11001"


def test_the_order_can_be_chosen(tmp_path):
    parameters, data = write_world(tmp_path)
    safetab.run(parameters, data, tmp_path / "out", coterminous=True, order="place,state")
    maori = shown(numbers_of(tmp_path / "out"), "3001")
    assert maori["PLACE", "1150000"] == (7, "sex_age_4", "published", None)
    assert maori["STATE", "11"] == (7, "sex_age_4", "copied", "PLACE 1150000")
    assert maori["COUNTY", "11001"] == (7, "sex_age_4", "published", None)  # takes no part


def test_a_suppressed_donor_is_passed_over(tmp_path, monkeypatch):
    """The county's total is made to fall to the suppression threshold; its tract then gives to it."""
    parameters, data = write_world(tmp_path)
    (tmp_path / "water.txt").write_text(WATER)
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
    safetab.run(parameters, data, tmp_path / "out", coterminous=True, empty_blocks=tmp_path / "water.txt")
    maori = shown(numbers_of(tmp_path / "out"), "3001")
    assert maori["TRACT", "44005000100"] == (3, "total", "published", None)
    assert maori["COUNTY", "44005"] == (3, "total", "copied", "TRACT 44005000100")
    assert "44005" not in (tmp_path / "out" / "t1" / "us.csv").read_text().replace("44005000100", "")


def released(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def rows_told(log: str) -> list[str]:
    return [line.partition(" ")[2] for line in log.splitlines() if line.endswith(" rows")]


def test_the_command_makes_what_run_makes_and_leaves_the_old_output_alone(tmp_path):
    parameters, data = write_world(tmp_path)
    (tmp_path / "water.txt").write_text(WATER)
    safetab.run(parameters, data, tmp_path / "plain", test_key="00" * 32)
    safetab.run(
        parameters,
        data,
        tmp_path / "at-once",
        test_key="00" * 32,
        coterminous=True,
        empty_blocks=tmp_path / "water.txt",
    )
    before = released(tmp_path / "plain")
    arguments = ["--geography", str(data / "GRF-C.txt"), "--empty-blocks", str(tmp_path / "water.txt")]
    result = cli("coterminous", tmp_path / "plain", tmp_path / "new", *arguments)
    assert result.exit_code == 0, result.output
    assert released(tmp_path / "plain") == before
    new, at_once = released(tmp_path / "new"), released(tmp_path / "at-once")
    manifests = [json.loads(files.pop("manifest.json")) for files in (new, at_once)]
    logs = [files.pop("log.txt").decode() for files in (new, at_once)]
    assert new == at_once
    assert manifests[0]["outputs"] == manifests[1]["outputs"]
    assert manifests[0]["release"] == manifests[1]["release"]
    read = manifests[0]["rerelease"]["public_files"]
    assert list(read["geography"]) == ["GRF-C.txt"]
    assert manifests[0]["public_files"] | read["geography"] | read["empty_blocks"] == manifests[1]["public_files"]
    assert rows_told(logs[0]) == rows_told(logs[1])
    assert len(rows_told(logs[0])) == len(manifests[0]["outputs"])
    assert (tmp_path / "new" / "NOT-FOR-RELEASE").exists()


def test_the_totals_after_the_step_are_there_for_those_who_go_on_with_them(out):
    rows = [line.split("|") for line in (out / "after-steps" / "t1" / "us.csv").read_text().splitlines()]
    assert rows[0] == ["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "COUNT"]
    totals = {(level, region): int(count) for region, level, code, count in rows[1:] if code == "3001"}
    assert totals["COUNTY", "11001"] == totals["PLACE", "1150000"] == totals["STATE", "11"] == 7
    assert totals["TRACT", "44005000100"] == 3
    sexes = [line.split("|") for line in (out / "after-steps" / "t2" / "us.csv").read_text().splitlines()]
    of_place = [row[3:] for row in sexes if row[:3] == ["1150000", "PLACE", "3001"]]
    assert [row[:3] for row in of_place] == [
        [*ages, sex] for sex in "12" for ages in (("0", "17"), ("18", "44"), ("45", "64"), ("65", "115"), ("*", "*"))
    ]
    assert [int(row[3]) for row in of_place] == [0, 4, 0, 0, 4, 0, 3, 0, 0, 3]
    assert "not SafeTab-P's own tables" in (out / "after-steps" / "README.txt").read_text()


def test_the_hashes_are_those_of_the_geography_that_was_read_and_of_nothing_else(tmp_path):
    parameters, data = write_world(tmp_path)
    safetab.run(parameters, data, tmp_path / "plain")
    for name in ("geography", "water"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_person-records.txt").write_text("QAGE\n30\n")
        (tmp_path / name / ".notes.txt").write_text("for the curator\n")
    head, *blocks = GEOGRAPHY.splitlines()
    (tmp_path / "geography" / "part-0.txt").write_text("\n".join([head, *blocks[:3]]) + "\n")
    (tmp_path / "geography" / "part-1.txt").write_text("\n".join([head, *blocks[3:]]) + "\n")
    (tmp_path / "water" / "part-0.txt").write_text(WATER)
    arguments = ["--geography", str(tmp_path / "geography"), "--empty-blocks", str(tmp_path / "water")]
    result = cli("coterminous", tmp_path / "plain", tmp_path / "new", *arguments)
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "new" / "manifest.json").read_text())
    before = json.loads((tmp_path / "plain" / "manifest.json").read_text())
    assert told["public_files"] == before["public_files"]
    assert told["rerelease"]["public_files"] == {
        folder: {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted((tmp_path / given).glob("part-*"))}
        for folder, given in (("geography", "geography"), ("empty_blocks", "water"))
    }
    safetab.run(parameters, data, tmp_path / "at-once", coterminous=True, empty_blocks=tmp_path / "water")
    of_run = json.loads((tmp_path / "at-once" / "manifest.json").read_text())["public_files"]
    assert of_run == before["public_files"] | told["rerelease"]["public_files"]["empty_blocks"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (["--order", "state,moon"], "--order: must be two or more of state,county,place,aiannh,tract"),
        (["--order", "state"], "--order: must be two or more of"),
        (["--empty-blocks", "{}/missing.txt"], "does not exist"),
        (["--empty-blocks", "{}/unknown.txt"], "not in the geography: block 440010001001000"),
        (["--empty-blocks", "{}/data/GRF-C.txt"], "lists every block of the US pass"),
        (["--empty-blocks", "{}/short.txt"], 'TABBLK: must be 4 digits: line 2 ("1")'),
        (["--empty-blocks", "{}/header.txt"], "columns missing or repeated: TABBLK."),
        (["--geography", "{}/other/GRF-C.txt"], "COUNTY: not the entities of the run: 44005"),
        (["--geography", "{}/nothing"], "does not exist"),
        (["--geography", "{}/GRF-C.docx"], "must be a file that ends in .txt, .txt.gz, .parquet"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(mistake, message, out, tmp_path):
    head = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK\n"
    (tmp_path / "unknown.txt").write_text(head + "44|001|000100|1000\n")
    (tmp_path / "short.txt").write_text(head + "44|005|000100|1\n")
    (tmp_path / "header.txt").write_text("TABBLKST|TABBLKCOU|TABTRACTCE\n44|005|000100\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "GRF-C.txt").write_text(
        "\n".join(line for line in GEOGRAPHY.splitlines() if "|005|" not in line) + "\n"
    )
    (tmp_path / "GRF-C.docx").write_text("")
    given = [part.format(tmp_path) for part in mistake]
    geography = [] if "--geography" in given else ["--geography", str(tmp_path / "data" / "GRF-C.txt")]
    result = cli("coterminous", out, tmp_path / "new", *geography, *given)
    assert result.exit_code == (2 if mistake[0] == "--order" else 1), result.output
    assert message in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_no_output_is_told(tmp_path, out):
    geography = ["--geography", str(tmp_path / "data" / "GRF-C.txt")]
    (tmp_path / "nothing").mkdir()
    for wrong, message in (
        (tmp_path / "nothing", "is not a release"),
        (out / "release", "has no readable manifest.json"),
    ):
        result = cli("coterminous", wrong, tmp_path / "new", *geography)
        assert result.exit_code == 1
        assert message in result.stderr
    (out / "t1" / "us.csv").unlink()
    result = cli("coterminous", out, tmp_path / "new", *geography)
    assert "names files that don't exist: t1/us.csv" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--empty-blocks", "water.txt"], "--empty-blocks: needs --coterminous"),
        (["--order", "state,county"], "--order: is about the coterminous step"),
        (["--copy-all"], "--copy-all: is about the coterminous step"),
        (["--confidence", "95"], "--confidence: must be a number from 0.5 to 0.999999"),
        (["--confidence", "1/0"], "--confidence: must be a number"),
        (["--confidence", "0.9e0"], "--confidence: must be a number"),
        (["--rule", "no-zeros"], '"no-zeros" is not a rule. The rules are clamp-negatives, withhold-negatives'),
        (["--rule", "clamp-negatives", "--rule", "withhold-negatives"], "can be clamped or withheld, not both"),
    ],
)
def test_options_of_a_release_that_make_no_sense_are_told(options, message, tmp_path):
    parameters, data = write_world(tmp_path)
    result = cli("run", parameters, data, tmp_path / "out", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()
