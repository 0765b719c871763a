"""`safetab export --form census`: a release in the form of data.census.gov and the Census API."""

import shutil

import pytest

from tests.commands import done, refused
from tests.official_forms import rows_of
from tests.releases import numbers_of

pytestmark = pytest.mark.slow

GEO_IDS = {"USA": "010", "STATE": "040", "COUNTY": "050", "TRACT": "140", "PLACE": "160", "AIANNH": "250"}


@pytest.fixture
def made(made_in_census_form):
    return made_in_census_form


def test_every_number_of_the_release_is_there_under_its_official_name(made):
    found = {}
    for path in made.tables:
        for row in rows_of(path):
            for column, text in row.items():
                if column.endswith("N") and column.startswith("T"):
                    found[row["GEO_ID"], row["POPGROUP"], column] = (text, row[f"{column[:-1]}M"])
    expected = {}
    for row in numbers_of(made.out):
        region = "" if row["geography_level"] == "USA" else row["region_id"]
        name = f"{row['table_id']}_{row['line']:03d}N"
        shown = ("X", "") if row["status"] == "withheld" else (str(row["count"]), str(row["margin_of_error"]))
        geo_id = f"{GEO_IDS[row['geography_level'].removeprefix('PR-')]}0000US{region}"
        expected[geo_id, row["iteration_code"], name] = shown
    assert found == expected
    assert ("X", "") in found.values(), "some number is withheld"
    assert " ".join(path.name for path in made.tables) == "T01001.csv T02001.csv T02002.csv T02003.csv"
    assert all(rows_of(path) for path in made.tables), "every table occurs"


def test_columns_and_popgroups_are_explained(made):
    columns = {row["COLUMN"]: row for row in rows_of(made.census / "columns.csv")}
    assert (columns["T02001_003N"]["STUB"], columns["T02001_003N"]["WHO"]) == ("Under 18 years", "male 0 to 17")
    assert columns["T02003_049N"]["STUB"] == "85 years and over"
    assert len(columns) == 1 + 11 + 21 + 49
    popgroups = {row["POPGROUP"]: row["CODES"].split() for row in rows_of(made.census / "popgroups.csv")}
    pairs = (made.world.parameters / "race-and-ethnicity-code-to-iteration.txt").read_text().split()[1:]
    assert sorted(f"{one}|{code}" for one, codes in popgroups.items() for code in codes) == sorted(pairs)
    assert "Status: test key." in (made.census / "README.txt").read_text()
    assert (made.census / "NOT-FOR-RELEASE").is_file()


def test_the_readme_has_the_words_of_persons(made):
    text = (made.census / "README.txt").read_text()
    words = " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert "T02001_003N is line 3 of table T02001." in words
    assert "Numbers below 0 are withheld. If a group has no row, it was suppressed" in words
    assert "which makes the smallest of them too large on average" in words
    assert {row["BELOW_0"] for row in rows_of(made.census / "columns.csv")} == {"withheld"}


def test_numbers_that_were_raised_to_0_are_not_read_as_published_ones(made, tmp_path):
    """Their margin would be that of a number which is not there."""
    census, new = tmp_path / "census", tmp_path / "new"
    done("rerelease", made.out, tmp_path / "clamped", "--rule", "clamp-negatives")
    done("export", tmp_path / "clamped", census, "--form", "census")
    assert {row["BELOW_0"] for row in rows_of(census / "columns.csv")} == {"shown as 0"}
    assert "Numbers below 0 are shown as 0" in (census / "README.txt").read_text()
    command = ("official", census / "T01001.csv", new, "--parameters", made.world.parameters)
    assert "FILES: the columns.csv beside them says that numbers below 0 are shown as 0" in refused(*command)
    assert not new.exists()
    (census / "columns.csv").write_text("COLUMN\nT01001_001N\n")
    done(*command)


FORMS = pytest.mark.parametrize("form", ["tidy", "census"])


@FORMS
def test_an_export_is_replaced_only_if_that_is_asked_for(made, tmp_path, form):
    folder = shutil.copytree(made.census, tmp_path / "csv")
    (folder / "T01001.csv").write_text("old\n")
    command = ("export", made.out, folder, "--form", form)
    assert "already exists. Choose another folder, or add --overwrite." in refused(*command)
    done(*command, "--overwrite")
    done("export", made.out, folder, "--form", "census", "--overwrite")
    assert (folder / "T01001.csv").read_bytes() == (made.census / "T01001.csv").read_bytes()
    assert not (folder / "numbers").exists()


@FORMS
def test_what_is_no_export_is_never_replaced_and_what_somebody_put_into_one_stays(form, made, tmp_path):
    other, csv = shutil.copytree(made.out / "release", tmp_path / "release"), tmp_path / "csv"
    replacing = ("export", made.out, other, "--form", form, "--overwrite")
    assert "of an earlier output, so it is not replaced" in refused(*replacing)
    assert (other / "datapackage.json").is_file()
    done("export", made.out, csv, "--form", form)
    mine = csv / "numbers" / "mine.csv"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("years of work")
    told = refused("export", made.out, csv, "--overwrite")
    assert "holds what safetab didn't write there: numbers/mine.csv. Move it away" in told
    assert mine.read_text() == "years of work"
    mine.unlink()
    done("export", made.out, csv, "--overwrite")
