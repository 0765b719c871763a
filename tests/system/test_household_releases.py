"""A release of households for its users: combined totals, tables of both families, absences, steps."""

import csv
import shutil

import pytest

import safetab
from tests.commands import cli, done, refused
from tests.inside import Absence, Estimate
from tests.releases import group, numbers_of


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


def test_the_combined_total_is_the_best_mean_of_both_families(out, release):
    looked_at = 0
    for (level, region, code), rows in list(published_groups(out).items())[::7]:
        if len(rows) < 2:
            continue
        answer = release.total(release.area(region, level), release.group(code))
        assert isinstance(answer, Estimate)
        type_row, tenure_row = rows["T03"], rows["T04"]
        assert answer.exact_value == type_row["unclamped_count"]
        combined = answer.combined
        assert combined is not None
        weights = [1 / type_row["variance"], 1 / tenure_row["variance"]]
        mean = (type_row["unclamped_count"] * weights[0] + tenure_row["unclamped_count"] * weights[1]) / sum(weights)
        if type_row["iteration_level"] == "Detailed":  # Regional groups have a sum of Detailed ones besides
            assert float(combined.exact_value) == pytest.approx(mean, abs=0.001 * max(abs(mean), 1))
            assert combined.variance == pytest.approx(1 / sum(weights), rel=1e-3)
        assert combined.variance <= 1 / sum(weights) * 1.001
        assert combined.margin_of_error < answer.margin_of_error
        looked_at += 1
    assert looked_at >= 10


def test_tables_of_both_families_add_up(out, release):
    rows = [row for row in numbers_of(out) if row["table_id"] in {"T03004", "T04002"} and row["line"] == 1]
    assert {row["table_id"] for row in rows} == {"T03004", "T04002"}
    for row in rows[:10]:
        family = "household type" if row["table_id"] == "T03004" else "tenure"
        area, group = release.area(row["region_id"], row["geography_level"]), release.group(row["iteration_code"])
        table = release.table(area, group, family=family)
        assert table.shape.label == row["table_id"]
        assert table.count().exact_value == row["unclamped_count"]
        if family == "household type":
            both = table.count("family").exact_value + table.count(category="nonfamily").exact_value
            assert both == row["unclamped_count"]


def test_adjusted_cells_agree_in_total_and_are_narrower(out, release):
    looked_at = 0
    for (level, region, code), rows in published_groups(out).items():
        if len(rows) < 2 or rows["T03"]["table_id"] == "T03001" or rows["T04"]["table_id"] == "T04001":
            continue
        area, group = release.area(region, level), release.group(code)
        tables = [release.table(area, group, family=name, adjusted=True) for name in ("household type", "tenure")]
        plain = release.table(area, group)
        totals = [sum(one.exact_value for one in table.lines if one.counted[0].line.cells == 1) for table in tables]
        assert totals[0] == totals[1]
        for before, after in zip(plain.lines, tables[0].lines, strict=True):
            assert after.variance < before.variance
            assert after.what.endswith("adjusted")
        looked_at += 1
        if looked_at == 5:
            break
    assert looked_at >= 3


@pytest.mark.slow
def test_a_table_on_the_terminal_begins_with_its_total_and_is_aligned(out, release):
    looked_at = 0
    for (level, region, code), rows in list(published_groups(out).items())[:40]:
        for prefix, family in (("T03", "household type"), ("T04", "tenure")):
            if prefix in rows and rows[prefix]["table_id"] in {"T03004", "T04002"}:
                table = release.table(release.area(region, level), release.group(code), family=family)
                adjusted = release.table(release.area(region, level), release.group(code), family=family, adjusted=True)
                assert [one.exact_value for one in table.lines[:1]] == [rows[prefix]["unclamped_count"]]
                cells = [one.exact_value for one in adjusted.lines if one.counted[0].line.cells == 1]
                assert adjusted.lines[0].exact_value == sum(cells)
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
        donor = (
            row["donor_geography_level"],
            row["donor_region_id"],
            row["iteration_code"],
            row["table_id"],
            row["line"],
        )
        assert row["unclamped_count"] == own[donor]
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
    exported = sum(len(path.read_text().splitlines()) - 1 for path in (tmp_path / "csv" / "numbers").glob("*.csv"))
    assert exported == len(numbers_of(out))
    assert "does not apply to SafeTab-H" in cli("show", out, "--nation", "--group", "x", "--sex", "male").output


@pytest.mark.slow
def test_a_family_that_is_asked_for_is_shown(out, release):
    level, region, code = next(iter(published_groups(out)))
    level = level.removeprefix("PR-").lower().replace("usa", "nation")
    asked = ["show", out, *(["--nation"] if level == "nation" else [f"--{level}", region]), "--group", code, "--family"]
    for family in ("household type", "tenure"):
        table = release.table(release.area(region, level), release.group(code), family=family)
        assert str(table.count()) in done(*asked, family)
    refused(*asked, "tenur")


@pytest.mark.slow
def test_households_that_went_through_the_official_form_have_the_same_margins(household_run, tmp_path):
    world, out = household_run
    done("export", out, tmp_path / "census", "--form", "census")
    tables = sorted((tmp_path / "census").glob("T0*.csv"))
    assert [one.stem for one in tables] == ["T03001", "T03002", "T03003", "T03004", "T04001", "T04002"]
    readme = (tmp_path / "census" / "README.txt").read_text()
    assert max(map(len, readme.splitlines())) <= 80
    assert "T02001" not in readme
    assert "T03002_003N is line 3 of table T03002." in " ".join(readme.split())
    read = done("official", *tables, tmp_path / "new", "--parameters", world.parameters, "--complete")
    assert "not known" not in read, "each table of households is the group's own"
    for words in (" ".join(one.split()) for one in (readme, (tmp_path / "new" / "README.txt").read_text())):
        assert "If a group has no row, no total of its people was published" in words
        assert "suppressed" not in words
        assert "too large on average" not in words
    (tmp_path / "read").mkdir()
    shutil.move(tmp_path / "new", tmp_path / "read" / "release")
    before, after = numbers_of(out), numbers_of(tmp_path / "read")
    for row in before + after:
        row.pop("least_margin_of_error", None)
    assert before == after
