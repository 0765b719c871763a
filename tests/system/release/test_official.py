"""`safetab official`: published files become a release, and what they don't tell is said."""

import csv
import json
import re
import shutil
from collections import Counter

import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, done, refused
from tests.inside import (
    STATUS_COLUMN,
    Absence,
    Estimate,
    OutputStatus,
    ReadingPublication,
    open_release_folder,
    published_by_the_bureau,
)
from tests.official_forms import as_published, numbers_in, read_again, rows_of
from tests.releases import json_of, lines_of

pytestmark = pytest.mark.slow

NOT_PUBLISHED = {"stage_1_total", "rule", "status", "donor_geography_level", "donor_region_id"}
"""Columns that no published file tells."""


@pytest.fixture
def made(made_in_census_form):
    return made_in_census_form


@pytest.fixture
def whole(official_whole):
    return official_whole


@pytest.fixture
def totals_alone(official_totals):
    return official_totals


@pytest.fixture
def told(made, new):
    """What is said of files that are refused, with no release written."""

    def found(*files, code=1):
        said = refused("official", *files, new, "--parameters", made.world.parameters, code=code)
        assert not new.exists()
        return said

    return found


@pytest.fixture(params=["whole", "totals_alone"])
def release(request):
    """Both, by name."""
    return request.param


@pytest.fixture
def path(release, request):
    return request.getfixturevalue(release)


def test_a_release_that_went_through_the_official_form_has_the_same_numbers_and_margins(made, whole):
    before, after = numbers_in(made.out / "release"), numbers_in(whole)
    assert before.keys() == after.keys()
    for key, row in before.items():
        known = {name: value for name, value in row.items() if name not in NOT_PUBLISHED}
        assert known == {name: after[key][name] for name in known}, key
        assert (row["status"] == "withheld") == (after[key]["status"] == "withheld")
    assert {row["table"] for row in after.values()} == {"total", "sex_age_4", "sex_age_9", "sex_age_23"}
    assert all(row["least_margin_of_error"] is None for row in after.values())


def test_copies_have_the_noise_of_the_area_that_was_measured(made, whole, tmp_path):
    """State 44 has one county: its numbers are the state's, at another level's noise than a county's own."""
    output = read_again(made, tmp_path / "blocks", "--complete", "--geography", made.world.data / "GRF-C.txt")
    assert "copies of another area" in output
    before, by_blocks, by_numbers = (numbers_in(one) for one in (made.out / "release", tmp_path / "blocks", whole))
    copied = {key for key, row in before.items() if row["donor_geography_level"] == "STATE"}
    assert len(copied) > 20
    assert {key[:2] for key in copied} == {("COUNTY", "44007")}
    for read in (by_blocks, by_numbers):
        for key in copied:
            assert (read[key]["donor_geography_level"], read[key]["donor_region_id"]) == ("STATE", "44")
            assert read[key]["noise_parameter"] == before[key]["noise_parameter"]
    own = {row["noise_parameter"] for key, row in before.items() if key[0] == "COUNTY" and row["status"] == "published"}
    assert not own & {before[key]["noise_parameter"] for key in copied}, "a county's own noise is another"
    assert all(by_blocks[key]["margin_of_error"] == row["margin_of_error"] for key, row in before.items())


def test_all_three_forms_are_read(made, totals_alone):
    before, after = numbers_in(made.out / "release"), numbers_in(totals_alone)
    assert after.keys() == {key for key in before if key[3] == "T01001"}
    for key, row in after.items():
        assert row["count"] == before[key]["count"]
        assert (row["status"] == "withheld") == (before[key]["status"] == "withheld")


def test_totals_alone_have_a_range_for_their_margin(made, totals_alone):
    before, after = numbers_in(made.out / "release"), numbers_in(totals_alone)
    wide = 0
    for key, row in after.items():
        truth = before[key]["margin_of_error"]
        if row["status"] == "withheld":
            continue
        if row["least_margin_of_error"] is None:
            assert row["margin_of_error"] == truth, "a group that gets a total alone"
        else:
            assert row["least_margin_of_error"] <= truth <= row["margin_of_error"]
            wide += row["least_margin_of_error"] == truth < row["margin_of_error"]
    assert wide > 20


def test_a_margin_that_is_a_range_is_said_wherever_the_number_is(totals_alone, tmp_path):
    key, row = next(
        (key, row)
        for key, row in numbers_in(totals_alone).items()
        if key[0] == "STATE" and row["least_margin_of_error"] and row["status"] == "published"
    )
    ends = f"the margin of error is {row['least_margin_of_error']} to {row['margin_of_error']}: which table"
    assert ends in done("show", totals_alone, "--state", key[1], "--group", row["iteration_name"])
    estimate = safetab.open_release(totals_alone).total("44", row["iteration_name"], level="state")
    assert isinstance(estimate, Estimate)
    assert estimate.margin_of_error == row["margin_of_error"]
    status = done("status", totals_alone, "--csv", "--level", "STATE", "--region", key[1], "--iteration", key[2])
    assert ',"published",,,,' in status, "no table is claimed"
    done("report", totals_alone, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "which table a group got" in page
    assert "may hold only part of the tables" in page
    assert re.search("not known|don't tell", (totals_alone / "README.txt").read_text())


def test_the_status_says_where_the_numbers_are_from_and_no_more(whole):
    line = "Status: official. Read by safetab from files that were given as published by the Census Bureau."
    assert safetab.open_release(whole).output_status is OutputStatus.OFFICIAL
    assert line in " ".join(done("show", whole, "--nation").split())
    assert line in " ".join((whole / "README.txt").read_text().split())
    privacy = json_of(whole / "privacy.json")
    assert privacy["name"] == "SafeTab-P tabulation, read from files given as published by the Census Bureau"
    assert not (whole / "NOT-FOR-RELEASE").exists()
    refused("rerelease", whole, whole.parent / "no")  # there are no measurements


def test_published_files_are_the_bureaus(whole):
    publication = open_release_folder(whole).facts.publication
    assert publication == ReadingPublication(
        "Detailed Demographic and Housing Characteristics File A", "U.S. Census Bureau"
    )
    assert "\nPublished by: U.S. Census Bureau\n" in (whole / "README.txt").read_text()
    names = ["DECENNIALDDHCB2020.T03001-Data.csv", "answer.json"]
    assert published_by_the_bureau("household", names).year == "2020"
    assert published_by_the_bureau("person", ["DECENNIALDDHCA2020.a.csv", "DECENNIALDDHCA2030.b.csv"]).year == ""


@pytest.mark.parametrize("told", [OutputStatus.SYNTHETIC, OutputStatus.TEST_KEY, OutputStatus.NO_PROTECTION])
def test_what_is_not_for_release_does_not_become_official(made, new, tmp_path, told, monkeypatch):
    """The NOT-FOR-RELEASE of an export holds for what is read from it, and for exports of that."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "census").mkdir()
    file = as_published(made.census / "T01001.csv", tmp_path / "census")
    (tmp_path / "census" / "NOT-FOR-RELEASE").write_text(f"{told.line}\n")
    output = read_again(made, new, files=[file])
    assert told.line in " ".join(output.split())
    assert all(len(line) <= 80 for line in output.splitlines() if str(tmp_path) not in line)
    assert max(map(len, lines_of(new / "README.txt"))) <= 80
    assert (new / "NOT-FOR-RELEASE").read_text() == f"{told.line}\n"
    assert safetab.open_release(new).output_status is told
    readme = " ".join((new / "README.txt").read_text().split())
    assert told.line in readme
    privacy = json_of(new / "privacy.json")
    assert (privacy["status"], privacy["for_release"]) == (told.value, False)
    for text in (readme, json.dumps(privacy)):
        assert "Census Bureau's" not in text
        assert "by the Census Bureau" not in text
    done("export", new, tmp_path / "again", "--form", "census")
    assert (tmp_path / "again" / "NOT-FOR-RELEASE").is_file()


def test_the_readme_is_of_this_very_release(release, path):
    text = (path / "README.txt").read_text()
    words = " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\[[A-Z_]+\]", text), "all is filled in"
    example = re.search(r"count = ([-0-9,]+) and margin_of_error = ([0-9,]+) says", words)
    assert example
    count, margin = (int(one.replace(",", "")) for one in example.groups())
    assert (count, margin) in {(row["count"], row["margin_of_error"]) for row in numbers_in(path).values()}
    assert "use interval_low and interval_high: they allow for it" in words
    assert "their sum is too large on average, and this is no 95 % interval" in words
    assert ("it was suppressed (too small to be shown" in words) == (release == "whole")
    assert ("it is not in the files that were read" in words) == (release == "totals_alone")


def test_an_export_keeps_its_status_and_the_gravest_holds(made, new, tmp_path):
    """One file beside the export's own NOT-FOR-RELEASE, reached by a link; one beside a lesser."""
    for name in ("linked", "lesser"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / "T01001.csv").symlink_to(made.census / "T01001.csv")
    (tmp_path / "lesser" / "NOT-FOR-RELEASE").write_text(OutputStatus.SYNTHETIC.line)
    files = [shutil.copy(made.census / "T02001.csv", tmp_path / "lesser"), tmp_path / "linked" / "T01001.csv"]
    read_again(made, new, files=files)
    assert safetab.open_release(new).output_status is OutputStatus.TEST_KEY


def test_a_status_that_forbids_a_release_goes_wherever_a_file_is_copied(made, new, tmp_path):
    """Without what lies beside it, without most rows, among other files: every row has it."""
    rows = lines_of(made.census / "T01001.csv")
    (tmp_path / "some.csv").write_text("\n".join([rows[0], *rows[5:9], ""]))
    (tmp_path / "published").mkdir()
    published = as_published(made.census / "T02001.csv", tmp_path / "published")
    read_again(made, new, files=[published, tmp_path / "some.csv"])
    assert safetab.open_release(new).output_status is OutputStatus.TEST_KEY
    done("export", new, tmp_path / "again", "--form", "census")
    shutil.copy(tmp_path / "again" / "T02001.csv", tmp_path / "published" / "again.csv")
    read_again(made, tmp_path / "newer", files=[tmp_path / "published" / "again.csv"])
    assert (tmp_path / "newer" / "NOT-FOR-RELEASE").read_text() == f"{OutputStatus.TEST_KEY.line}\n"


@pytest.mark.parametrize("status", ["", "for release", "official"])
def test_a_status_that_forbids_nothing_is_an_error(status, made, told, tmp_path):
    file = tmp_path / "T01001.csv"
    file.write_text((made.census / "T01001.csv").read_text().replace("test key", status, 1))
    assert "NOT_FOR_RELEASE: is not a known status. Get the file again: row 2." in told(file)


def test_only_tables_that_are_not_for_release_have_a_column_that_says_so(made, whole, tmp_path):
    assert all(row[STATUS_COLUMN] == "test key" for path in made.tables for row in rows_of(path))
    done("export", whole, tmp_path / "official", "--form", "census")
    assert not any(STATUS_COLUMN in path.read_text() for path in (tmp_path / "official").glob("*.csv"))


@pytest.mark.parametrize("text", ["", "Status: for release. This output may be released.\n", "\x00"])
def test_a_marker_that_is_not_understood_is_an_error(text, made, told, tmp_path):
    file = shutil.copy(made.census / "T01001.csv", tmp_path)
    (tmp_path / "NOT-FOR-RELEASE").write_text(text)
    assert "the NOT-FOR-RELEASE beside them can't be understood" in told(file)


def test_an_absent_group_is_suppressed_only_if_the_files_are_whole_tables(whole, totals_alone):
    listed = done("status", whole, "--csv", "--level", "TRACT")
    suppressed = next(row for row in csv.DictReader(listed.splitlines()) if row["status"] == "suppressed")
    region, code = suppressed["region_id"], suppressed["iteration_code"]
    answers = [safetab.open_release(one).total(region, code, level="tract") for one in (whole, totals_alone)]
    assert all(isinstance(one, Absence) for one in answers)
    assert [one.status for one in answers] == ["suppressed", "not in the files"]
    assert "not in the files that were read" in str(answers[1])
    assert '"not in the files"' in done("status", totals_alone, "--csv", "--level", "TRACT", "--region", region)


def statuses_shown(release, *of_which):
    """Status and reason of each line of the readable table, counted."""
    lines = [re.split(" {2,}", line.strip()) for line in done("status", release, *of_which).splitlines()]
    return Counter((cells[1], cells[2]) for cells in lines if len(cells) == 3 and cells[1] != "status")


def rows_for_programs(release, *of_which):
    return list(csv.DictReader(cli("status", release, "--csv", *of_which).stdout.splitlines()))


def test_the_readable_table_has_words_for_every_status(release, path):
    """All groups of two areas, one by one: what programs read as CSV is what people read."""
    absent = {"whole": "suppressed", "totals_alone": "not in the files"}[release]
    where = next(row for row in rows_for_programs(path) if row["status"] == absent)
    shown, rows = Counter[tuple[str, str]](), list[dict[str, str]]()
    for level, area in (("STATE", "44"), (where["geography_level"], where["region_id"])):
        shown += statuses_shown(path, "--level", level, "--area", area)
        rows += rows_for_programs(path, "--level", level, "--area", area)
    by_status = Counter[str]()
    for (status, reason), count in shown.items():
        by_status[status] += count
        assert reason
        assert "None" not in reason
    assert by_status == Counter(row["status"] for row in rows)
    unknown = sum(row["status"] == "published" and not row["table"] for row in rows)
    assert shown["published", "table not known (the files have its total alone)"] == unknown
    assert (unknown > 0) == (release == "totals_alone")


def test_groups_are_counted_by_status_for_people(release, path):
    expected = Counter(row["status"] for row in rows_for_programs(path))
    counted = Counter[str]()
    for line in done("status", path).splitlines():
        cells = re.split(" {2,}", line.strip())
        if len(cells) == 3:
            counted[cells[1]] += int(cells[0].replace(",", ""))
    assert counted == expected
    assert ("not in the files" in counted) == (release == "totals_alone")
    assert ("Suppressed: nobody" in done("status", path)) == (release == "whole")


def withheld_total(path):
    return next(key for key, row in numbers_in(path).items() if row["status"] == "withheld" and key[3] == "T01001")


def test_an_x_has_words_in_the_readable_table(path):
    key = withheld_total(path)
    shown = statuses_shown(path, "--level", key[0], "--area", key[1], "--group", key[2])
    assert shown == {("withheld", "the files show X in its place"): 1}
    assert "the files show X in its place" in done("status", path, "--level", key[0])


def test_a_withheld_number_is_said_to_be_the_choice_of_the_files(whole):
    level, region, code, *_ = withheld_total(whole)
    level = level.removeprefix("PR-").lower().replace("usa", "nation")
    answer = safetab.open_release(whole).total(region, code, level=level)
    assert isinstance(answer, Absence)
    assert "the files that were read show X in its place" in str(answer)


def test_what_is_not_known_is_left_out_and_named(made, new, tmp_path):
    rows = rows_of(made.census / "T01001.csv")
    text = as_published(made.census / "T01001.csv", tmp_path).read_text()
    text += '"0100000US","United States","001","All people","5",1\n"0100000US","United States","9876","New","6",1\n'
    text += f'"0600000US4400712345","A town","{rows[0]["POPGROUP"]}","x","7",1\n'
    (tmp_path / "more.csv").write_text(text)
    output = read_again(made, new, files=[tmp_path / "more.csv"])
    assert "left out: 1 rows of POPGROUP 001, which is not in the lists" in output
    assert "left out: 1 rows of POPGROUP 9876, which is not in the lists" in output
    assert "left out: 1 rows of areas of summary level 060, component 00" in output
    assert json_of(new / "official-files.json")["popgroups_not_in_the_lists"] == {"001": "All people", "9876": "New"}
    popgroups = {row["POPGROUP"]: row for row in rows_of(new / "popgroups.csv")}
    assert popgroups["9876"]["CODES"] == ""
    pairs = (made.world.parameters / "race-and-ethnicity-code-to-iteration.txt").read_text().split()[1:]
    assert popgroups[rows[0]["POPGROUP"]]["CODES"].split() == sorted(
        one[5:] for one in pairs if one.startswith(rows[0]["POPGROUP"])
    )


BAD = """
a.csv | GEO_ID,NAME,POPGROUP,POPGROUP_LABEL,T01001_001N;0100000US,US,1010,x,many;nowhere,US,1010,x,5;
b.json | [["T01001_001N", "POPGROUP", "zip code"], ["5", "1010", "02906"]]
c.json | [[
d.csv | a,b;1,2;
e.csv | GEO_ID,POPGROUP,T03001_001N;0100000US,1010,5;
f.csv | GEO_ID,POPGROUP,T02001_012N;0100000US,1010,5;
g.csv | GEO_ID,POPGROUP,T01001_001N;0100000US,1010;
"""
"""Files and their lines."""
SENTENCES = """
T01001_001N: is neither a whole number nor X: row 2.
GEO_ID: does not name an area: row 3.
areas are named by zip code, which is not understood. Ask the API for GEO_ID too.
it begins like JSON but is not valid JSON. Get it again.
its form is unknown.
T03001_001N: is not a column of SafeTab-P, which has T01001, T02001, T02002, T02003.
T02001_012N: T02001 has 11 lines.
a row has more or fewer fields than the header
does not exist
--confidence: must be a number from 0.5 to 0.999999
"""


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_written(told, tmp_path):
    files = [tmp_path / name for name, _ in cases_of(BAD)]
    for file, (_, text) in zip(files, cases_of(BAD), strict=True):
        file.write_text(text.replace(";", "\n"))
    found = told(*files, tmp_path / "h.csv", "--confidence", "2", code=2)
    assert [sentence for sentence in SENTENCES.strip().splitlines() if sentence not in found] == []


def test_contradictions_between_tables_are_errors(made, told, tmp_path):
    group, *_ = rows_of(made.census / "T02001.csv")
    row = f"{group['GEO_ID']},{group['POPGROUP']},{int(group['T02001_001N']) + 1}\n"
    (tmp_path / "t1.csv").write_text(f"GEO_ID,POPGROUP,T01001_001N\n{row}")
    files = tmp_path / "t1.csv", made.census / "T02001.csv"
    assert "T01001: some groups have different numbers in different rows." in told(*files, made.census / "T01001.csv")
    assert "--complete: no file has T02002, T02003." in told(*files, "--complete")
    assert "1 groups have one total in T01001 and another in their table." in told(*files)


@pytest.mark.parametrize("strange", ["\x1b[2J", "\u202e", "\u2066", "\x00"])
@pytest.mark.parametrize("column", ["NAME", "POPGROUP", "POPGROUP_LABEL"])
def test_names_that_steer_a_terminal_or_turn_a_line_around_are_refused(column, strange, told, tmp_path):
    row = {"NAME": "US", "POPGROUP": "1010", "POPGROUP_LABEL": "x", "T01001_001N": "5", "GEO_ID": "0100000US"}
    rows = [list(row), list(row.values()), list((row | {column: f"a{strange}b"}).values())]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    found = told(tmp_path / "a.json")
    assert f"{column}: must be text with only printable characters and plain spaces: row 3." in found
    assert strange[0] not in found


def test_half_a_character_is_no_text(told, tmp_path):
    rows = '[["NAME", "POPGROUP", "T01001_001N", "GEO_ID"], ["\\ud800", "1010", "5", "0100000US"]]'
    (tmp_path / "a.json").write_text(rows)
    assert "Get it again" in told(tmp_path / "a.json")


def test_a_release_that_was_read_is_replaced_and_nothing_else(made, whole):
    given = ["--parameters", made.world.parameters]
    refused("official", *made.tables, whole, *given)
    found = refused("official", *made.tables, made.out, *given, "--overwrite")
    assert "holds no official-files.json of an earlier output" in found


def test_what_somebody_put_into_a_release_that_was_read_stays(made, whole, tmp_path):
    new = shutil.copytree(whole, tmp_path / "new")
    (new / "thesis.txt").write_text("mine")
    again = ("official", *made.tables, new, "--parameters", made.world.parameters, "--overwrite")
    assert "holds what safetab didn't write there: thesis.txt. Move it away" in refused(*again)
    assert (new / "thesis.txt").read_text() == "mine"
    (new / "thesis.txt").unlink()
    done(*again)


@pytest.mark.needs_2020_files
def test_the_published_anchors_have_their_margins(spec_2020, new, tmp_path):
    anchors = {"3845": 70_697, "3788": 48_321, "1207": 630, "1096": 444, "3839": 4_768_846}
    rows = [["United States", str(count), code, code, "1"] for code, count in anchors.items()]
    header = ["NAME", "T01001_001N", "POPGROUP", "POPGROUP", "us"]
    (tmp_path / "anchors.json").write_text(json.dumps([header, *rows]))
    done("official", tmp_path / "anchors.json", new, "--parameters", spec_2020)
    release = safetab.open_release(new)
    for code, count in anchors.items():
        total = release.total("1", code, level="nation")
        assert (total.value, total.margin_of_error) == (count, 20)
        assert "the margin of error is 3 to 20" in str(total)


def test_lines_that_no_file_has_are_no_numbers(made, new, tmp_path):
    row = next(row for row in rows_of(made.census / "T02001.csv") if row["T02001_003N"] != "X" != row["T02001_001N"])
    header = "GEO_ID,POPGROUP,T02001_001N,T02001_003N\n"
    cells = ",".join(row[name] for name in ("GEO_ID", "POPGROUP", "T02001_001N", "T02001_003N"))
    (tmp_path / "some.csv").write_text(f"{header}{cells}\n")
    read_again(made, new, files=[tmp_path / "some.csv"])
    found = {key[3:]: (one["count"], one["margin_of_error"]) for key, one in numbers_in(new).items()}
    total, boys = ((int(row[f"{name}N"]), int(row[f"{name}M"])) for name in ("T02001_001", "T02001_003"))
    assert found == {("T01001", 1): total, ("T02001", 1): total, ("T02001", 3): boys}
