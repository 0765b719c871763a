"""A release of households for its users: combined totals, tables of both families, absences, steps."""

import csv
import shutil

import pytest

import safetab
from tests.commands import cli, done, refused
from tests.inside import Absence, Estimate
from tests.releases import group, lines_of, numbers_of

FAMILIES = ("household type", "tenure")
FINEST = dict(zip(("T03004", "T04002"), FAMILIES, strict=True))


@pytest.fixture
def out(household_run):
    return household_run.out


@pytest.fixture
def release(out):
    return safetab.open_release(out)


def published_groups(out):
    """By level, region and iteration: the total line of each family."""
    groups = {}
    for row in numbers_of(out):
        if row["line"] == 1:
            groups.setdefault(group(row), {})[row["table_id"][:3]] = row
    return groups


def named(release, key):
    """The area and the group of a key."""
    level, region, code = key
    return release.area(region, level), release.group(code)


def test_the_combined_total_is_the_best_mean_of_both_families(out, release):
    of_both = [(key, rows) for key, rows in [*published_groups(out).items()][::7] if len(rows) == 2]
    assert len(of_both) >= 10
    for key, rows in of_both:
        answer = release.total(*named(release, key))
        assert isinstance(answer, Estimate)
        combined, row = answer.combined, rows["T03"]
        assert answer.exact_value == row["unclamped_count"]
        weight, other = (1 / one["variance"] for one in (row, rows["T04"]))
        mean = (row["unclamped_count"] * weight + rows["T04"]["unclamped_count"] * other) / (weight + other)
        if row["iteration_level"] == "Detailed":  # Regional groups have a sum of Detailed ones besides
            assert float(combined.exact_value) == pytest.approx(mean, abs=0.001 * max(abs(mean), 1))
            assert combined.variance == pytest.approx(1 / (weight + other), rel=1e-3)
        assert combined.variance <= 1 / (weight + other) * 1.001
        assert combined.margin_of_error < answer.margin_of_error


def test_tables_of_both_families_add_up(out, release):
    rows = [row for row in numbers_of(out) if row["table_id"] in FINEST and row["line"] == 1]
    assert {row["table_id"] for row in rows} == FINEST.keys()
    for row in rows[:10]:
        family = FINEST[row["table_id"]]
        table = release.table(*named(release, group(row)), family=family)
        assert table.shape.label == row["table_id"]
        assert table.count().exact_value == row["unclamped_count"]
        if family == "household type":
            both = table.count("family").exact_value + table.count(category="nonfamily").exact_value
            assert both == row["unclamped_count"]


def test_adjusted_cells_agree_in_total_and_are_narrower(out, release):
    groups = published_groups(out).items()
    of_both = [key for key, rows in groups if len(rows) == 2 and not {"T03001", "T04001"} & tables_of(rows)]
    assert len(of_both) >= 3
    for key in of_both[:5]:
        asked = named(release, key)
        tables = [release.table(*asked, family=name, adjusted=True) for name in FAMILIES]
        first, second = (sum(cells_of(table)) for table in tables)
        assert first == second
        for before, after in zip(release.table(*asked).lines, tables[0].lines, strict=True):
            assert after.variance < before.variance
            assert after.what.endswith("adjusted")


def tables_of(rows):
    return {row["table_id"] for row in rows.values()}


def cells_of(table):
    return [one.exact_value for one in table.lines if one.counted[0].line.cells == 1]


@pytest.mark.slow
def test_a_table_on_the_terminal_begins_with_its_total_and_is_aligned(out, release):
    looked_at = 0
    for key, rows in list(published_groups(out).items())[:40]:
        for row in rows.values():
            if row["table_id"] in FINEST:
                asked, family = named(release, key), FINEST[row["table_id"]]
                table, adjusted = (release.table(*asked, family=family, adjusted=one) for one in (False, True))
                assert table.lines[0].exact_value == row["unclamped_count"]
                assert adjusted.lines[0].exact_value == sum(cells_of(adjusted))
                lines = str(table).splitlines()[1:-1]
                assert lines[0].split()[0] == "all"
                assert len({line.index(" ± ") for line in lines}) == 1
                looked_at += 1
    assert looked_at >= 3


@pytest.mark.slow
def test_a_category_of_the_other_family_is_told_where_it_is(out):
    rows = next(one for one in published_groups(out).values() if one.get("T04", {}).get("table_id") == "T04002")["T04"]
    asked = ("show", out, rows["region_id"], rows["iteration_code"], "--category", "rented")
    assert 'Tables of tenure have it: give the family, "tenure".' in refused(*asked)
    assert ", rented: " in done(*asked, "--family", "tenure")


@pytest.mark.slow
def test_an_absent_group_says_that_no_total_of_people_was_published(out, release):
    result = cli("status", out, "--level", "TRACT", "--csv")
    statuses = list(csv.DictReader(result.stdout.splitlines()))
    absent = next(one for one in statuses if one["status"] == "no published total")
    answer = release.total(release.area(absent["region_id"], "tract"), release.group(absent["iteration_code"]))
    assert isinstance(answer, Absence)
    assert "No total of its people was published" in str(answer)
    assert "suppress" not in str(answer)
    assert "suppressed" not in result.stdout


@pytest.mark.slow
def test_copies_and_rules_work_by_family(household_run, tmp_path):
    world, out = household_run
    world.run(tmp_path / "steps", test_key="0a" * 32, coterminous=True, rules=["clamp-negatives"])
    rows = numbers_of(tmp_path / "steps")
    assert min(row["count"] for row in rows) >= 0
    copied = [row for row in rows if row["status"] == "copied"]
    assert {row["table_id"][:3] for row in copied} == {"T03", "T04"}
    own = {(*group(row), row["table_id"], row["line"]): row["unclamped_count"] for row in numbers_of(out)}
    for row in copied:
        donor = (row["donor_geography_level"], row["donor_region_id"], row["iteration_code"])
        assert row["unclamped_count"] == own[*donor, row["table_id"], row["line"]]
    done("rerelease", tmp_path / "steps", tmp_path / "again")
    assert [row["count"] for row in numbers_of(tmp_path / "again")] == [row["count"] for row in numbers_of(out)]


@pytest.mark.slow
def test_commands_speak_of_households(out, tmp_path):
    readme = (out / "release" / "README.txt").read_text()
    assert "households" in readme
    assert "sex" not in readme
    report = (out / "report.html").read_text()
    assert "Every household in the records is protected" in report
    assert "tables of household type and tenure were measured separately, each with its own random noise" in report
    assert "Tenure" in report
    done("export", out, tmp_path / "csv")
    exported = sum(len(lines_of(path)) - 1 for path in (tmp_path / "csv" / "numbers").glob("*.csv"))
    assert exported == len(numbers_of(out))
    assert "does not apply to SafeTab-H" in cli("show", out, "--nation", "--group", "x", "--sex", "male").output


@pytest.mark.slow
def test_a_family_that_is_asked_for_is_shown(out, release):
    level, region, code = next(iter(published_groups(out)))
    level = level.removeprefix("PR-").lower().replace("usa", "nation")
    asked = ["show", out, *(["--nation"] if level == "nation" else [f"--{level}", region]), "--group", code, "--family"]
    for family in FAMILIES:
        table = release.table(*named(release, (level, region, code)), family=family)
        assert str(table.count()) in done(*asked, family)
    refused(*asked, "tenur")


@pytest.mark.slow
def test_households_that_went_through_the_official_form_have_the_same_margins(household_run, new, tmp_path):
    world, out = household_run
    done("export", out, tmp_path / "census", "--form", "census")
    tables = sorted((tmp_path / "census").glob("T0*.csv"))
    assert " ".join(one.stem for one in tables) == "T03001 T03002 T03003 T03004 T04001 T04002"
    readme = (tmp_path / "census" / "README.txt").read_text()
    assert max(map(len, readme.splitlines())) <= 80
    assert "T02001" not in readme
    assert "T03002_003N is line 3 of table T03002." in " ".join(readme.split())
    read = done("official", *tables, new, "--parameters", world.parameters, "--complete")
    assert "not known" not in read, "each table of households is the group's own"
    for words in (" ".join(one.split()) for one in (readme, (new / "README.txt").read_text())):
        assert "If a group has no row, no total of its people was published" in words
        assert "suppressed" not in words
        assert "too large on average" not in words
    (tmp_path / "read").mkdir()
    shutil.move(new, tmp_path / "read" / "release")
    before, after = numbers_of(out), numbers_of(tmp_path / "read")
    for row in before + after:
        row.pop("least_margin_of_error", None)
    assert before == after
