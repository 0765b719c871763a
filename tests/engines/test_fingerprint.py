"""The fingerprint is a function of the secret and of the records of a pass, and of nothing else."""

import random
from contextlib import closing
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.engine_inputs import engine_inputs
from tests.inside import (
    PERSON_RECORD,
    EngineSettings,
    InvalidInput,
    LocalEngine,
    RecordFingerprint,
    RecordIntegers,
    RunFailed,
    of_nobody,
)
from tests.inside import US as US_CENSUS
from tests.person_forms import as_text, parquet_of_text, people_of
from tests.plain_engine import PlainEngine, plain_sums
from tests.worlds.people import PERSON_HEADER, problems_with, write_random_world

US, PR = "us", "pr"
SECRET = bytes(range(32))
COLUMNS = PERSON_HEADER.split("|")
INTEGERS = RecordIntegers(PERSON_RECORD)


def write(folder):
    return write_random_world(folder / "world", 3, people=60, max_race_codes=8)


@pytest.fixture
def world(tmp_path):
    return write(tmp_path)


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """The fingerprints of such a world."""
    return fingerprints(write(tmp_path_factory.mktemp("before")))


def local_engine(world, threads=2):
    inputs, settings = engine_inputs(world), EngineSettings(world.data.parent, threads=threads)
    return closing(LocalEngine(inputs.persons, inputs.files, settings, lambda _: None))


def fingerprints(world, secret=SECRET, threads=2):
    """What both engines say, which must be the same."""
    inputs = engine_inputs(world)
    judge = PlainEngine(inputs.persons, inputs.files)
    with local_engine(world, threads) as engine:
        found = engine.check()
        assert found == judge.check()
        assert problems_with(found) == ()
        found = engine.fingerprint(secret)
        assert found == judge.fingerprint(secret)
    return found


def of_people(world, rows):
    """The fingerprints of the world with these people."""
    as_text(world.data, rows)
    return fingerprints(world)


def in_us(rows):
    """The places of people of one state."""
    return [number for number, row in enumerate(rows) if row.split("|")[3] == "01"]


def test_zeros_before_an_age_do_not_matter(world, before):
    assert of_people(world, ["000" + row for row in people_of(world)]) == before


def test_parameters_and_threads_do_not_matter(world, before):
    world.configure(max_race_codes=1, state_filter_us=["44"], privacy_defn="puredp", run_pr=False)
    assert fingerprints(world, threads=1) == before


def test_a_file_that_changed_after_it_was_checked_is_at_fault(world):
    path, rows = world.data / "person-records.parquet", people_of(world)
    (world.data / "person-records.txt").unlink()
    parquet_of_text(world.data, rows)
    with local_engine(world) as engine:
        assert problems_with(engine.check()) == ()
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(
            InvalidInput, match=r"person-records\.parquet has 1 problem:\s+person-records\.parquet: it can't be read"
        ):
            engine.fingerprint(SECRET)


def test_a_value_that_changed_after_it_was_checked_is_not_shown(world):
    path = world.data / "person-records.txt"
    with local_engine(world) as engine:
        assert problems_with(engine.check()) == ()
        header, first, *rest = path.read_text().split("\n")
        path.write_text("\n".join([header, "secret" + first, *rest]))
        with pytest.raises(RunFailed, match=r"^the records changed while they were read\. Nothing was written\.$"):
            engine.fingerprint(SECRET)


RACES = [f"QRACE{position}" for position in range(1, 9)]
OTHER_VALUES = {"QAGE": "99", "CENRACE": "63", "QSPAN": "1000"} | dict.fromkeys(RACES, "8999")


def test_every_column_matters(world):
    rows = people_of(world)
    number = in_us(rows)[0]
    person = dict(zip(COLUMNS, rows[number].split("|"), strict=True))
    person |= dict.fromkeys(RACES, "1000") | {"QSPAN": "9950"}

    def of_person(**other):
        return of_people(world, [*rows[:number], "|".join((person | other).values()), *rows[number + 1 :]])

    before, other = of_person(), {"1": "2", "2": "1", "True": "False", "False": "True"}
    others = OTHER_VALUES | {column: other[person[column]] for column in ("QSEX", "HOUSEHOLDER")}
    for column, value in others.items():
        assert value != person[column]
        after = of_person(**{column: value})
        assert after[US] != before[US], column
        assert after[PR] == before[PR], column


@pytest.mark.parametrize("part", range(3, 7))
def test_every_part_of_the_block_matters(part, world):
    person = dict(zip(COLUMNS, people_of(world)[0].split("|"), strict=True))
    column = COLUMNS[part]
    moved = person | {column: f"{int(person[column]) + 1:0{len(person[column])}d}"}
    assert plain_sums(SECRET, person)[2:] != plain_sums(SECRET, moved)[2:]


def test_who_has_which_value_matters(world, before):
    """Two people swap their ages: every column by itself has the same values as before."""
    rows = people_of(world)
    first, *others = in_us(rows)
    ages, rest = zip(*(row.split("|", 1) for row in rows), strict=True)
    second = next(one for one in others if int(ages[one]) != int(ages[first]) and rest[one] != rest[first])
    swapped = list(rows)
    swapped[first], swapped[second] = f"{ages[second]}|{rest[first]}", f"{ages[first]}|{rest[second]}"
    assert of_people(world, swapped)[US] != before[US]


def test_how_often_a_record_is_there_matters(world, before):
    rows = people_of(world)
    one, other, *_ = in_us(rows)
    for changed in ([*rows, rows[one]], [*rows[:one], *rows[one + 1 :]], [*rows[:one], rows[other], *rows[one + 1 :]]):
        after = of_people(world, changed)
        assert after[US] != before[US]
        assert after[PR] == before[PR]


def test_people_of_no_pass_do_not_matter(world, before):
    rows = people_of(world)
    fields = rows[0].split("|")
    assert of_people(world, [*rows, "|".join([*fields[:3], "60", "001", "000100", "1000", *fields[7:]])]) == before


PEOPLE = [
    "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|QAGE|HOUSEHOLDER|QRACE2",
    "01|001|000100|1000|115|True|Null",
    "44|003|020101|2001|7|False|8999",
    "72|001|956300|1007|40|True|1000",
]


def test_old_logs_recognise_their_people():
    """The values that the first version of the fingerprint gave these records."""
    names, *people = (line.split("|") for line in PEOPLE)
    columns = {
        name: np.array([INTEGERS.of(name, text) for text in texts])
        for name, texts in zip(names, zip(*people, strict=True), strict=True)
    }
    fingerprint = RecordFingerprint(SECRET, "TABBLKST")
    found = fingerprint.of_passes(fingerprint.sums_of_columns(columns), US_CENSUS.pass_of_part)
    assert found == {US: "1754e31aaa9fda5418463d6f554c5369", PR: "c547bfd35474b4cad76d88abf74d0536"}
    assert of_nobody(SECRET) == "5d978e66fae96223efafd66ef41e9e0d"
    assert set(fingerprint.of_passes((), US_CENSUS.pass_of_part).values()) == {of_nobody(SECRET)}


def test_columns_parts_and_passes_may_have_any_name():
    columns = {"region": np.array([7, 9, 7, 8]), "language": np.array([2, 0, 1, 5])}
    fingerprint = RecordFingerprint(SECRET, "region")
    sums = list(fingerprint.sums_of_columns(columns))
    assert [(part, count) for part, count, *_ in sums] == [(7, 2), (8, 1), (9, 1)]
    one, both = fingerprint.of_passes(sums, {7: "all"}), fingerprint.of_passes(sums, {7: "north", 9: "south"})
    assert both.keys() == {"north", "south"}
    assert both["north"] == one["all"] != both["south"]
    renamed = RecordFingerprint(SECRET, "area")
    sums = list(renamed.sums_of_columns({"area": columns["region"], "language": columns["language"]}))
    assert renamed.of_passes(sums, {7: "all"}) != one


def test_digits_are_the_number_that_they_spell():
    assert [INTEGERS.of("QAGE", text) for text in ("007", "Null", "True")] == [7, 0, 1]
    for text in (None, "", "secret"):
        with pytest.raises(ValueError, match="invalid literal"):
            INTEGERS.of("QAGE", text)


def test_a_record_too_large_for_exact_sums_is_refused():
    small = sum(10**digits - 1 for digits in PERSON_RECORD.digits.values())
    room = 2**21 - 1 - small - 1 - 2  # HOUSEHOLDER is 1 at most, QSEX is 2
    sex, age = PERSON_RECORD.attribute
    RecordIntegers(replace(PERSON_RECORD, attribute=(sex, replace(age, field=replace(age.field, maximum=room)))))
    larger = replace(PERSON_RECORD, attribute=(sex, replace(age, field=replace(age.field, maximum=room + 1))))
    with pytest.raises(ValueError, match=r"person-records: .* add up to 2,097,152, .* less than 2,097,152"):
        RecordIntegers(larger)


def test_another_secret_gives_another_fingerprint(world, before):
    assert set(before.values()).isdisjoint(fingerprints(world, secret=bytes(32)).values())


@pytest.mark.slow
def test_no_small_change_of_many_is_missed():
    """A wrong miss has a chance of about 1e-11 each; 20,000 random swaps of random people are all seen."""
    rng = random.Random(1)
    ends = {column: 10**4 if column.startswith("Q") else 99 for column in COLUMNS} | {"QAGE": 116, "QSEX": 3}
    for _ in range(20_000):
        one, two = ({column: str(rng.randrange(1, ends[column])) for column in COLUMNS} for _ in range(2))
        column = rng.choice(COLUMNS)
        if one[column] == two[column]:
            continue
        swapped = [one | {column: two[column]}, two | {column: one[column]}]
        sums = [[plain_sums(SECRET, person)[2:] for person in people] for people in ([one, two], swapped)]
        assert [sum(lane) for lane in zip(*sums[0], strict=True)] != [sum(lane) for lane in zip(*sums[1], strict=True)]


def test_the_largest_values_do_not_overflow():
    largest = dict.fromkeys(COLUMNS, "9999") | {"QAGE": "115", "TABBLKST": "56", "TABBLKCOU": "999"}
    largest |= {"TABTRACTCE": "999999", "HOUSEHOLDER": "True", "CENRACE": "63", "QSEX": "2"}
    columns = {column: np.array([INTEGERS.of(column, text)]) for column, text in largest.items()}
    for number in range(200):
        secret = number.to_bytes(32)
        assert list(RecordFingerprint(secret, "TABBLKST").sums_of_columns(columns)) == [plain_sums(secret, largest)]


def test_values_in_a_dictionary_that_no_row_has_do_not_matter(world, before):
    rows = people_of(world)
    (world.data / "person-records.txt").unlink()
    columns = {}
    for name, texts in zip(COLUMNS, zip(*(row.split("|") for row in rows), strict=True), strict=True):
        distinct = sorted(set(texts))
        indices = pa.array([distinct.index(text) for text in texts], pa.int32())
        columns[name] = pa.DictionaryArray.from_arrays(indices, pa.array([*distinct, "no such value", ""]))
    pq.write_table(pa.table(columns), world.data / "person-records.parquet")
    assert fingerprints(world) == before
