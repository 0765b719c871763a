"""People made up for a specification: clustered in places, rare and common groups, several answers, and the same each time."""

import csv
import re
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests import cases
from tests.commands import done, refused
from tests.inside import (
    STEPS,
    NoProgress,
    PeopleRequest,
    RandomBits,
    RecordField,
    RuledColumn,
    columns_of_package,
    matching,
    shares_of,
    values_of,
    write_example,
    write_new_census,
    write_people,
)


@pytest.fixture(scope="module")
def nz(tmp_path_factory):
    """The parameters of a shipped census."""
    folder = tmp_path_factory.mktemp("nz")
    write_example("nz", 1, folder, NoProgress())
    return folder / "parameters"


@pytest.fixture
def own(tmp_path):
    """The parameters of `safetab new`, with changes to its text."""

    def changed(*changes):
        (folder := tmp_path / "own").mkdir()
        write_new_census(folder, columns_of_package(None), "own")
        text = (folder / "census.toml").read_text()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        (folder / "census.toml").write_text(text)
        return folder

    return changed


def people(parameters, folder, count, *, is_text=False, seed=7):
    folder.mkdir()
    plan = PeopleRequest(parameters, count, seed, is_text).checked().require()
    write_people(folder, plan, NoProgress())
    return folder / plan.file


def rows_of(path):
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with path.open() as file:
        rows = csv.DictReader(file, delimiter="," if path.suffix == ".csv" else "|")
        return [{name: text or None for name, text in row.items()} for row in rows]


def test_text_and_parquet_hold_the_same_people_and_a_seed_gives_the_same_bytes(nz, tmp_path):
    parquet = people(nz, tmp_path / "a", 5_000)
    assert rows_of(parquet) == rows_of(people(nz, tmp_path / "b", 5_000, is_text=True))
    assert parquet.read_bytes() == people(nz, tmp_path / "c", 5_000).read_bytes()
    assert parquet.read_bytes() != people(nz, tmp_path / "d", 5_000, seed=8).read_bytes()
    assert "do not exist" in (tmp_path / "a" / "SYNTHETIC").read_text()


@pytest.fixture(scope="module")
def made(nz, tmp_path_factory):
    """Rows of 30,000 people of a shipped census."""
    rows = rows_of(people(nz, tmp_path_factory.mktemp("made") / "up", 30_000))
    assert len(rows) == 30_000
    return rows


def test_groups_live_together_and_few_are_large(nz, made):
    of_codes, of_areas = (Counter(row[column] for row in made) for column in ("ETH1", "SA1"))
    for sizes in of_codes, of_areas:
        largest = sorted(sizes.values(), reverse=True)
        assert sum(largest[: len(largest) // 5]) > 0.4 * len(made)
    # In the place where a code of middling size is commonest, it is many times as common as elsewhere.
    place_of = {row[0]: row[3] for row in csv.reader((nz / "areas.csv").read_text().splitlines())}
    people_of = Counter(place_of[row["SA1"]] for row in made)
    together = Counter((row["ETH1"], place_of[row["SA1"]]) for row in made)
    at_most = [
        max(together[code, place] / people_of[place] for place in people_of) / (count / len(made))
        for code, count in of_codes.most_common()[5:25]
    ]
    assert np.median(at_most) > 3


def test_several_answers_are_rarer_and_have_no_gaps(made):
    given = Counter()
    for row in made:
        answers = [row[f"ETH{number}"] for number in range(1, 7)]
        said = [*filter(None, answers)]
        assert answers[: len(said)] == said
        assert len(set(said)) == len(said)
        given[len(said)] += 1
    assert given[0] == 0
    assert given[1] > 5 * given[2] > 10 * given[3] > 0


def test_ages_are_plausible_and_most_people_are_counted(made):
    ages = np.array([int(row["AGE"]) for row in made])
    assert ages.min() == 0
    assert 95 < ages.max() <= 120
    assert 0.15 < (ages >= 65).mean() < 0.3
    assert (ages >= 90).mean() < 0.03
    assert 0.93 < np.mean([row["RESIDENT"] == "1" for row in made]) < 0.97
    assert {row["GENDER"] for row in made} == {"1", "2", "3"}


def test_a_list_column_holds_several_answers(own, tmp_path):
    as_list = '{ name = "GROUP", type = "string" }', '{ name = "GROUP", type = "list", delimiter = ";" }'
    parameters = own(as_list, ('columns = ["GROUP"]', 'column = "GROUP"\nrequired = false'))
    rows = rows_of(people(parameters, tmp_path / "a", 5_000, is_text=True))
    said = [(row["GROUP"] or "").split(";") for row in rows]
    assert {one for one, *more in said if not more} == {"", "1", "2", "3"}
    assert {len(each) for each in said} >= {1, 2, 3}
    assert all(len(set(each)) == len(each) for each in said)


UNIT = "# where =", 'unit = { name = "household", column = "ID", most_records = 3 }\n#'
IDS = 'fields = [\n  { name = "ID", type = "string"'


def units_of(path):
    return Counter(row["ID"] for row in rows_of(path))


def test_units_have_up_to_as_many_records_as_they_may(own, tmp_path):
    parameters = own(("fields = [", IDS + " },"), UNIT)
    sizes = Counter(units_of(people(parameters, tmp_path / "a", 2_000)).values())
    assert sizes[1] > sizes[2] > sizes[3] > 0
    assert max(sizes) == 3


def test_units_with_ids_of_a_pattern(own, tmp_path):
    parameters = own(("fields = [", IDS + ', constraints = { pattern = "H[0-9]{2}" } },'), UNIT)
    of_units = units_of(people(parameters, tmp_path / "a", 90))
    assert all(re.fullmatch("H[0-9]{2}", text) for text in of_units)
    assert set(of_units.values()) == {3}
    assert "Ask for fewer people" in mistake(parameters, 500)


def test_missing_values_stand_where_they_are_allowed(own, tmp_path):
    parameters = own(("maximum = 120 } }", "maximum = 120 }, other = 120 }"), ('missing = [""]', 'missing = ["?", ""]'))
    rows = rows_of(people(parameters, tmp_path / "a", 5_000, is_text=True))
    absent = Counter(name for row in rows for name, text in row.items() if text == "?")
    assert set(absent) == {"AGE"}
    assert 20 < absent["AGE"] < 100


def mistake(*request):
    (error,) = PeopleRequest(*request).checked().errors
    return str(error)


def test_what_nobody_can_be_made_up_for_is_refused(own):
    fits_nothing = 'type = "string", constraints = { pattern = "X" } }'
    parameters = own(*((f'"{name}", type = "string" }}', f'"{name}", {fits_nothing}') for name in ("GROUP", "AREA")))
    assert "no area of areas.csv" in str(PeopleRequest(parameters, 5).checked().errors[0])
    assert "--people: must be from 1" in mistake(parameters, 0, 1)
    assert "--seed: must be 0 or above" in mistake(parameters, 5, -1)
    (parameters / "codes.csv").unlink()
    assert "codes.csv does not exist." in mistake(parameters, 5)


def test_the_command_writes_beside_the_specification(own, tmp_path):
    command, data = ("synthesize", own(), "--people", "40"), tmp_path / "own-data"
    done(*command)
    assert sorted(path.name for path in data.iterdir()) == ["SYNTHETIC", "people.parquet"]
    assert "already exists" in refused(*command)
    done(*command, "--overwrite", "--format", "text")
    assert sorted(path.name for path in data.iterdir()) == ["SYNTHETIC", "people.csv"]
    for options in ["--states", "3"], ["--us"], ["--threads", "1"]:
        assert "only --people" in refused(*command, "--overwrite", *options)
    (data / "thesis.odt").write_text("years of work")
    assert "thesis.odt" in refused(*command, "--overwrite")


def test_a_mistyped_directory_makes_no_census_of_the_united_states(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in tmp_path / "langauges", tmp_path / "empty":
        told = refused("synthesize", folder, "--people", "500")
        assert f"no census.toml in it: `safetab new {folder}` starts one" in told
        assert "to make a U.S. census there, add --us." in told
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_the_third_and_later_genders_share_a_hundredth():
    genders = RuledColumn(RecordField("G", "string", attribute="gender", enum=("1", "2", "3", "4")))
    shares = shares_of(genders, ["1", "2", "3", "4"], (), RandomBits(1))
    assert shares[:2].min() > 0.4 * STEPS
    assert 0.009 * STEPS < shares[2:].sum() < 0.011 * STEPS


def test_texts_of_a_pattern_match_it():
    for pattern in "[EW]00[0-9]{6}", r"P-\d{3,}(a|bc)?", "[^x]{2}", "(?!A)(?:AB|CD)[A-F0-9]+", r"\w+\.\d":
        texts = list(matching(pattern, RandomBits(3), 20))
        assert len(set(texts)) == 20
        assert all(re.fullmatch(pattern, text) for text in texts)


def test_values_are_those_that_the_column_accepts():
    for kind, rules in cases.values_of(
        """
        "integer" | {"minimum": -5, "maximum": 1_000_000_000}
        "integer" | {"maximum": 3}
        "integer" | {"minimum": 0, "maximum": 99, "pattern": "[0-9]"}
        "boolean" | {}
        "string" | {"pattern": "[a-c]", "enum": ("a", "d")}
        "string" | {}
        """
    ):
        column = RuledColumn(RecordField("a", kind, **rules))
        values = values_of(column, RandomBits(1))
        assert values
        assert None not in map(column.value_of, values)
        assert shares_of(column, values, [column.value_of(values[0])], RandomBits(1)).sum() == STEPS
