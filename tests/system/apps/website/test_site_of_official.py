"""`safetab site` on releases that `safetab official` read: what is withheld, and totals whose table is not known."""

import csv
import random

import pytest

import safetab
from tests.inside import Absence, write_site
from tests.official_forms import numbers_in, read_again, rows_of
from tests.site_files import SiteFiles

TOTAL = "T01001_001N"
X = "It was measured; the files that were read show X in its place."


@pytest.fixture(scope="module", params=["official_whole", "official_totals"])
def read(request, tmp_path_factory):
    """A release and its site: with all tables, and with T01001 alone."""
    release = request.getfixturevalue(request.param)
    site = tmp_path_factory.mktemp("sites") / "site"
    assert write_site(release, site).numbers == len(numbers_in(release))
    return release, SiteFiles(site)


@pytest.mark.slow
def test_every_number_is_that_of_the_release_and_what_is_withheld_is_none(read):
    release, files = read
    shown, withheld = files.numbers(), 0
    lines = {one.label: one.lines for family in safetab.open_release(release).product.families for one in family.shapes}
    for (level, region, code, table_id, number), row in numbers_in(release).items():
        place = [(line.table_id, line.number) for line in lines[row["table"]]].index((table_id, number))
        found = shown.pop((level, region, code, table_id, place))
        assert found.is_withheld == (row["status"] == "withheld")
        withheld += found.is_withheld
        if not found.is_withheld:
            assert (found.value, found.margin) == (row["unclamped_count"], row["unclamped_margin_of_error"])
    assert shown == {}
    assert withheld > 5


def test_totals_are_answered_as_open_release_does(read):
    path, files = read
    release, totals, reasons, least_margins = safetab.open_release(path), files.totals(), set(), set()
    chosen = random.Random(1).sample(sorted(totals), 120) + [key for key, (table, _) in totals.items() if table < 0][:5]
    for level, region, code in chosen:
        table, value = totals[level, region, code]
        answer = release.total(release.area(region, level), release.group(code))
        if isinstance(answer, Absence):
            assert files.facts["rules"][-1 - table][2:] == [answer.status, answer.reason]
            reasons.add(answer.reason)
            continue
        margin, *interval = files.shown(table, 0, value)
        assert (value, margin, *interval) == (answer.value, answer.margin_of_error, *answer.interval)
        least = files.facts["tables"][table]["least"]
        least_margins.add(least)
        said = f"the margin of error is {least} to {margin}: which table"
        assert any(said in note for note in answer.notes) == (least is not None)
    assert reasons == {X}
    assert (least_margins == {None}) == path.name.startswith("whole")


def test_the_site_says_who_read_the_numbers_and_of_unknown_tables_only_if_there_are_some(read):
    path, files = read
    assert files.facts["isRead"]
    line, status = files.facts["status"]["line"], safetab.open_release(path).output_status.line
    assert line == status if path.name == "whole" else line.startswith(f"{status} Where the files don't say")


def test_lines_that_no_file_has_are_said_to_be_in_none(made_in_census_form, tmp_path):
    table = rows_of(made_in_census_form.census / "T02001.csv")
    row = next(row for row in table if row["T02001_003N"] != "X" != row["T02001_001N"])
    names = ("GEO_ID", "POPGROUP", "T02001_001N", "T02001_003N")
    (tmp_path / "some.csv").write_text(f"{','.join(names)}\n{','.join(row[name] for name in names)}\n")
    read_again(made_in_census_form, tmp_path / "new", files=[tmp_path / "some.csv"])
    assert write_site(tmp_path / "new", tmp_path / "site").numbers == 3
    files = SiteFiles(tmp_path / "site")
    numbers = {key[3:]: one for key, one in files.numbers().items()}
    shown = {key: (one.value, one.margin) for key, one in numbers.items() if not one.is_withheld}
    total, boys = ((int(row[f"{name}N"]), int(row[f"{name}M"])) for name in ("T02001_001", "T02001_003"))
    assert shown == {("T01001", 0): total, ("T02001", 1): total, ("T02001", 3): boys}
    assert len(numbers) > 8, "the other lines of its table have their place"
    part = files.data(f"areas/{next(iter(files.facts['areas']))}/0")
    assert {files.facts["rules"][why][2] for why in part["withheld"][1::2]} == {"not in the files"}


@pytest.mark.parametrize("earlier", ["official_totals", pytest.param("official_whole", marks=pytest.mark.slow)])
def test_releases_of_published_files_are_compared_with_each_other(made_in_census_form, earlier, request, tmp_path):
    """The newer one has other numbers; of the earlier ones, one has all tables and one only totals."""
    rows = [{**row, TOTAL: row[TOTAL] + "0" * (row[TOTAL] != "X")} for row in rows_of(made_in_census_form.tables[0])]
    with (tmp_path / "T01001.csv").open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *(row.values() for row in rows)])
    read_again(made_in_census_form, tmp_path / "new", files=[tmp_path / "T01001.csv"])
    release = request.getfixturevalue(earlier)
    summary = write_site(tmp_path / "new", tmp_path / "site", earlier=release)
    assert not summary.status.is_for_release, "the newer one has a test key"
    files = SiteFiles(tmp_path / "site")
    tables, totals = files.facts["earlier"]["tables"], files.totals("earlier")
    rows = {key[:3]: row for key, row in numbers_in(release).items() if key[3] == "T01001"}
    assert rows.keys() == totals.keys()
    for key, (table, value) in totals.items():
        assert (rows[key]["status"] == "withheld") == (table < 0)
        if table >= 0:
            margins = rows[key]["unclamped_margin_of_error"], rows[key]["least_margin_of_error"]
            assert (value, tables[table]["margin"]) == (rows[key]["unclamped_count"], margins[0])
            assert tables[table]["least"] == margins[1]
    assert files.facts["earlier"]["isRead"]
