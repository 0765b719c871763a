"""People made up for a specification: clustered in places, rare and common groups, several answers, and the same each time."""

import re
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
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

Rows = list[dict[str, str | None]]


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
        folder = tmp_path / "own"
        folder.mkdir()
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
    separator = "," if path.suffix == ".csv" else "|"
    header, *lines = path.read_text().splitlines()
    names = header.split(separator)
    return [dict(zip(names, (text or None for text in line.split(separator)), strict=True)) for line in lines]


def test_text_and_parquet_hold_the_same_people_and_a_seed_gives_the_same_bytes(nz, tmp_path):
    parquet = people(nz, tmp_path / "a", 20_000)
    assert rows_of(parquet) == rows_of(people(nz, tmp_path / "b", 20_000, is_text=True))
    assert parquet.read_bytes() == people(nz, tmp_path / "c", 20_000).read_bytes()
    assert parquet.read_bytes() != people(nz, tmp_path / "d", 20_000, seed=8).read_bytes()
    assert "do not exist" in (tmp_path / "a" / "SYNTHETIC").read_text()


def test_groups_live_together_and_few_are_large(nz, tmp_path):
    rows = rows_of(people(nz, tmp_path / "a", 60_000))
    assert len(rows) == 60_000
    of_codes = Counter(row["ETH1"] for row in rows)
    of_areas = Counter(row["SA1"] for row in rows)
    for sizes in (of_codes, of_areas):
        largest = sorted(sizes.values(), reverse=True)
        assert sum(largest[: len(largest) // 5]) > 0.4 * len(rows)
    # In the place where a code of middling size is commonest, it is many times as common as elsewhere.
    place_of = {row.split(",")[0]: row.split(",")[3] for row in (nz / "areas.csv").read_text().splitlines()}
    people_of = Counter(place_of[str(row["SA1"])] for row in rows)
    middling = [code for code, _ in of_codes.most_common()[5:25]]
    at_most = []
    for code in middling:
        here = Counter(place_of[str(row["SA1"])] for row in rows if row["ETH1"] == code)
        at_most.append(max(here[place] / people_of[place] for place in here) / (of_codes[code] / len(rows)))
    assert np.median(at_most) > 3


def test_several_answers_are_rarer_and_have_no_gaps(nz, tmp_path):
    answers = [[row[f"ETH{number}"] for number in range(1, 7)] for row in rows_of(people(nz, tmp_path / "a", 50_000))]
    given = Counter(sum(answer is not None for answer in each) for each in answers)
    assert given[0] == 0
    assert given[1] > 5 * given[2] > 10 * given[3] > 0
    for each in answers:
        said = [answer for answer in each if answer is not None]
        assert each[: len(said)] == said
        assert len(set(said)) == len(said)


def test_ages_are_plausible_and_most_people_are_counted(nz, tmp_path):
    rows = rows_of(people(nz, tmp_path / "a", 50_000))
    ages = np.array([int(str(row["AGE"])) for row in rows])
    assert ages.min() == 0
    assert 95 < ages.max() <= 120
    assert 0.15 < (ages >= 65).mean() < 0.3
    assert (ages >= 90).mean() < 0.03
    assert 0.93 < np.mean([row["RESIDENT"] == "1" for row in rows]) < 0.97
    assert {row["GENDER"] for row in rows} == {"1", "2", "3"}


def test_a_list_column_holds_several_answers(own, tmp_path):
    as_list = ('{ name = "GROUP", type = "string" }', '{ name = "GROUP", type = "list", delimiter = ";" }')
    parameters = own(as_list, ('columns = ["GROUP"]', 'column = "GROUP"\nrequired = false'))
    said = Counter(row["GROUP"] for row in rows_of(people(parameters, tmp_path / "a", 5_000, is_text=True)))
    assert None in said
    assert {text for text in said if text and ";" not in text} == {"1", "2", "3"}
    assert any(text is not None and text.count(";") == 2 for text in said)
    assert all(len(set(text.split(";"))) == len(text.split(";")) for text in said if text)


def test_units_have_up_to_as_many_records_as_they_may(own, tmp_path):
    unit = 'fields = [\n  { name = "ID", type = "string" },'
    parameters = own(
        ("fields = [", unit), ("# where =", 'unit = { name = "household", column = "ID", most_records = 3 }\n#')
    )
    of_units = Counter(row["ID"] for row in rows_of(people(parameters, tmp_path / "a", 5_000)))
    assert sorted(set(of_units.values())) == [1, 2, 3]
    sizes = Counter(of_units.values())
    assert sizes[1] > sizes[2] > sizes[3]


def test_units_with_ids_of_a_pattern(own, tmp_path):
    unit = 'fields = [\n  { name = "ID", type = "string", constraints = { pattern = "H[0-9]{2}" } },'
    parameters = own(
        ("fields = [", unit), ("# where =", 'unit = { name = "household", column = "ID", most_records = 3 }\n#')
    )
    of_units = Counter(row["ID"] for row in rows_of(people(parameters, tmp_path / "a", 90)))
    assert all(re.fullmatch("H[0-9]{2}", str(text)) for text in of_units)
    assert set(of_units.values()) == {3}
    errors = PeopleRequest(parameters, 500).checked().errors
    assert ["Ask for fewer people" in str(error) for error in errors] == [True]


def test_missing_values_stand_where_they_are_allowed(own, tmp_path):
    parameters = own(("maximum = 120 } }", "maximum = 120 }, other = 120 }"), ('missing = [""]', 'missing = ["?", ""]'))
    rows = (people(parameters, tmp_path / "a", 5_000, is_text=True)).read_text().splitlines()[1:]
    absent = Counter(place for row in rows for place, text in enumerate(row.split(",")) if text == "?")
    assert set(absent) == {1}
    assert 20 < absent[1] < 100


def test_a_field_that_excludes_every_code_or_area_is_refused(own):
    impossible = 'type = "string", constraints = { pattern = "X" } }'
    parameters = own(
        ('"GROUP", type = "string" }', f'"GROUP", {impossible}'), ('"AREA", type = "string" }', f'"AREA", {impossible}')
    )
    assert "no area of areas.csv" in str(PeopleRequest(parameters, 5).checked().errors[0])


@pytest.mark.parametrize(
    ("people_asked", "seed", "message"),
    [(0, 1, "--people: must be from 1"), (5, -1, "--seed: must be 0 or above")],
)
def test_wrong_options_are_refused(people_asked, seed, message, own):
    errors = PeopleRequest(own(), people_asked, seed).checked().errors
    assert message in str(errors[0])


def test_a_list_that_is_not_there_is_named(own):
    parameters = own()
    (parameters / "codes.csv").unlink()
    assert "codes.csv does not exist." in str(PeopleRequest(parameters, 5).checked().errors[0])


def test_the_command_writes_beside_the_specification(own, tmp_path):
    def synthesize(*more):
        ended = cli("synthesize", parameters, "--people", "40", *more)
        return ended.exit_code, " ".join(ended.stderr.split())

    parameters = own()
    assert synthesize()[0] == 0
    assert sorted(path.name for path in (tmp_path / "own-data").iterdir()) == ["SYNTHETIC", "people.parquet"]
    assert "already exists" in synthesize()[1]
    assert synthesize("--overwrite", "--format", "text")[0] == 0
    assert sorted(path.name for path in (tmp_path / "own-data").iterdir()) == ["SYNTHETIC", "people.csv"]
    code, stderr = synthesize("--overwrite", "--states", "3")
    assert (code, "only --people" in stderr) == (1, True)
    assert (synthesize("--overwrite", "--us")[0], synthesize("--overwrite", "--threads", "1")[0]) == (1, 1)
    (tmp_path / "own-data" / "thesis.odt").write_text("years of work")
    assert "thesis.odt" in synthesize("--overwrite")[1]


def test_a_mistyped_directory_makes_no_census_of_the_united_states(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "langauges", tmp_path / "empty"):
        ended = cli("synthesize", folder, "--people", "500")
        told = " ".join(ended.stderr.split())
        assert ended.exit_code == 1
        assert (
            f"no census.toml in it: `safetab new {folder}` starts one; to make a U.S. census there, add --us." in told
        )
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_the_third_and_later_genders_share_a_hundredth():
    genders = RuledColumn(RecordField("G", "string", attribute="gender", enum=("1", "2", "3", "4")))
    shares = shares_of(genders, ["1", "2", "3", "4"], (), RandomBits(1))
    assert shares[:2].min() > 0.4 * STEPS
    assert 0.009 * STEPS < shares[2:].sum() < 0.011 * STEPS


@pytest.mark.parametrize(
    "pattern", ["[EW]00[0-9]{6}", r"P-\d{3,}(a|bc)?", "[^x]{2}", "(?!A)(?:AB|CD)[A-F0-9]+", r"\w+\.\d"]
)
def test_texts_of_a_pattern_match_it(pattern):
    texts = list(matching(pattern, RandomBits(3), 20))
    assert len(set(texts)) == 20
    assert all(re.fullmatch(pattern, text) for text in texts)


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("integer", {"minimum": -5, "maximum": 10**9}),
        ("integer", {"maximum": 3}),
        ("integer", {"minimum": 0, "maximum": 99, "pattern": "[0-9]"}),
        ("boolean", {}),
        ("string", {"pattern": "[a-c]", "enum": ("a", "d")}),
        ("string", {}),
    ],
)
def test_values_are_those_that_the_column_accepts(kind, rules):
    column = RuledColumn(RecordField("a", kind, **rules))
    values = values_of(column, RandomBits(1))
    assert values
    assert all(column.value_of(value) is not None for value in values)
    assert shares_of(column, values, [column.value_of(values[0])], RandomBits(1)).sum() == STEPS
