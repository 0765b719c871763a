"""One contract for every engine: findings, totals, cells and fingerprints are what counting by hand gives."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.brute_force import AGES, BruteForce
from tests.cases import cases_of, values_of
from tests.engine_inputs import assert_counts_as, engine_inputs, local_engine, plain_engine
from tests.inside import (
    PERSON_RECORD,
    PERSONS,
    EngineSettings,
    KnownLists,
    LocalBackend,
    MiscountedRecords,
    PartRecords,
    Severity,
    find_record_files,
)
from tests.person_forms import EMPTY_FORMS, PERSON_FORMS, as_text, people_of, people_of_other_states, split
from tests.plain_engine import PlainEngine
from tests.refused_files import REFUSED_FILES
from tests.worlds.people import PERSON_HEADER, problems_with, write_random_world

COLUMNS = PERSON_HEADER.split("|")
SECRET = bytes(range(32))
RANGES = dict(zip(PERSONS.finer, AGES.values(), strict=True))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The people of a world, and what engines of it are made of; engines of other records take its public files."""
    world = write_random_world(tmp_path_factory.mktemp("small"), 3, people=80, max_race_codes=8)
    return people_of(world), engine_inputs(world)


@pytest.fixture
def inputs_of(small, tmp_path):
    """What engines of these records are made of."""

    def of(write, rows):
        data = tmp_path / "data"
        data.mkdir()
        write(data, rows)
        return small[1].of_records(data)

    return of


def every_third(level):
    return {shape: np.arange(first, level.universe.size, 3) for first, shape in enumerate(PERSONS.finer)}


def cells_of(people, starts):
    cells = [0] * (2 * len(starts))
    for (sex, age), count in people.items():
        cells[(sex - 1) * len(starts) + sum(age >= start for start in starts) - 1] += count
    return cells


def assert_counts_everybody(engine, inputs, world):
    """`BruteForce` shares no code with any engine."""
    brute = BruteForce(*world)
    by_group = brute.people_of_groups()
    assert problems_with(engine.check()) == ()
    assert sum(engine.prepare().values()) == len(brute.people)
    for level in inputs.plan.levels:
        groups = [level.universe.group_at(index) for index in range(level.universe.size)]
        label = level.level.geography.label
        people = [by_group[label, group.region_id, group.iteration.code] for group in groups]
        totals = engine.totals(level)
        assert totals.indices.tolist() == [index for index, one in enumerate(people) if one]
        assert totals.confidential_counts.tolist() == [[sum(one.values())] for one in people if one]
        wanted = every_third(level)
        for shape, counts in engine.cells(level, wanted).items():
            assert counts.indices.tolist() == wanted[shape].tolist()
            expected = [cells_of(people[index], RANGES[shape]) for index in wanted[shape]]
            assert counts.confidential_counts.tolist() == expected


@pytest.mark.parametrize(
    ("seed", "people", "max_race_codes"),
    values_of("""
        3 | 60 | 8
        11 | 120 | 3
        5 | 2 | 1
    """),
)
def test_everybody_is_counted_once_in_each_of_their_groups(engine_of, seed, people, max_race_codes, tmp_path):
    world = write_random_world(tmp_path / "world", seed, people, max_race_codes=max_race_codes)
    inputs = engine_inputs(world)
    assert_counts_everybody(engine_of(inputs), inputs, world)


def test_a_pattern_leads_to_the_iterations_of_the_map_however_its_codes_are_repeated(engine_of, tmp_path):
    """Alone is what all codes share, in combination what any has: eight codes, all pairs, one twice."""
    world = write_random_world(tmp_path / "world", 8, people=2, max_race_codes=8)
    rows = people_of(world)
    codes = [str(1000 + 7 * number) for number in range(9)]
    combinations = [[one, other] for one in codes for other in codes] + [codes[:8], codes[8:] * 8, codes[:3] * 2]
    fields = rows[0].split("|")
    rows += ["|".join([*fields[:8], *races, *["Null"] * (8 - len(races)), fields[16]]) for races in combinations]
    as_text(world.data, rows)
    inputs = engine_inputs(world)
    assert_counts_everybody(engine_of(inputs), inputs, world)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), people=st.integers(2, 120))
def test_the_local_engine_counts_what_the_judge_counts(seed, people):
    """As above, in many more worlds than Spark has the time for."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = engine_inputs(write_random_world(Path(folder), seed, people))
        engine = local_engine(inputs, Path(folder))
        assert_counts_as(plain_engine(inputs, Path(folder)), engine, inputs)
        engine.close()


@pytest.mark.parametrize("write", PERSON_FORMS)
def test_every_form_of_the_files_is_the_same_people(engine_of, write, small, inputs_of):
    rows, given = small
    engine = engine_of(inputs_of(write, rows))
    assert problems_with(engine.check()) == ()
    assert engine.fingerprint(SECRET) == PlainEngine(given.persons, given.files).fingerprint(SECRET)
    assert sum(engine.prepare().values()) == sum(row.split("|")[3] in {"01", "44", "72"} for row in rows)


@pytest.mark.parametrize("case", REFUSED_FILES)
def test_what_is_refused_is_refused_by_all_in_the_same_words(engine_of, engine_name, case, small, inputs_of, tmp_path):
    """Engines of one machine are given files that were looked at before, and what can be judged of their rows is."""
    refused, data, findings = REFUSED_FILES[case], tmp_path / "data", ()
    inputs = inputs_of(refused.write, small[0][:8])
    if not engine_name.startswith("spark"):
        findings = find_record_files(data, PERSON_RECORD).findings
    if findings:
        backend = LocalBackend(EngineSettings(tmp_path), lambda _: None)
        findings += backend.judge(data, KnownLists.of_files(inputs.files), lambda _: None)
    else:
        findings = engine_of(inputs).check()
    said = [(file, where, message.format(data / "person-records")) for file, where, message in refused.said]
    assert [(one.file, one.where, one.message) for one in findings] == said


BROKEN_PEOPLE = cases_of("""
QAGE | QAGE | must be an age from 0 to 115 | 116,-1,,x, 5,1e1,99999999999999999999,٣,0000000005
QSEX | QSEX | must be 1 or 2 | 0,3,M,,01, 1
HOUSEHOLDER | HOUSEHOLDER | must be True or False | true,Null,
TABBLKST | TABBLKST | must be a state that the census has | 99,43,00
TABBLKST | TABBLKST..TABBLK | must be 2, 3, 6 and 4 digits | 1,xx,
TABBLK | TABBLKST..TABBLK | must be 2, 3, 6 and 4 digits | 100
TABBLK | TABBLKST..TABBLK | the block must be listed in GRF-C | 9999
CENRACE | CENRACE | must be 01 to 63 | 00,64,1,,001
QRACE1 | QRACE1 | must be a code of the list from 1000 to 8999 | Null,1001,,9950,100
QRACE2 | QRACE2 | must be a code of the list from 1000 to 8999, or Null | 1001,,null,9950
QRACE8 | QRACE2..QRACE8 | after the first Null only Null may follow | 1000
QSPAN | QSPAN | must be a code of the list | Null,1001,
""")
"""A column, the message with the columns that it names, and wrong values."""


@pytest.mark.parametrize("column", dict.fromkeys(column for column, *_ in BROKEN_PEOPLE))
def test_every_broken_rule_is_found_in_its_rows(engine_of, engine_name, column, small, inputs_of):
    """Each wrong value stands in two rows, 40 lines apart."""
    lines, row, expected = [PERSON_HEADER, *small[0]], 0, []
    for _, where, rule, values in (one for one in BROKEN_PEOPLE if one[0] == column):
        numbers = []
        for value in values.split(","):
            row += 1
            for damaged in (row, row + 40):
                fields = lines[damaged].split("|")
                fields[8:16] = ["1000", *["Null"] * 7]
                fields[3:7] = lines[41].split("|")[3:7]
                fields[COLUMNS.index(column)] = value
                lines[damaged] = "|".join(fields)
                numbers.append(damaged + 1)
        listed = f"person-records.txt, lines {', '.join(map(str, sorted(numbers)))}"
        rows = f"{len(numbers)} in person-records.txt" if engine_name.startswith("spark") else listed
        expected.append((where, f"{rule}. {len(numbers)} rows break this rule.", rows))
    findings = engine_of(inputs_of(as_text, lines[1:])).check()
    assert [(one.where, one.message, one.rows) for one in findings] == expected
    assert {one.severity for one in findings} == {Severity.ERROR}


def test_zeros_may_stand_before_an_age_and_before_nothing_else(engine_of, tmp_path):
    world = write_random_world(tmp_path / "world", 3)
    as_text(world.data, [f"000{row}" for row in people_of(world)])
    inputs = engine_inputs(world)
    assert_counts_everybody(engine_of(inputs), inputs, world)


def test_rows_of_another_shape_and_of_no_text_are_found(engine_of, small, inputs_of):
    def write(data, rows):
        as_text(data, rows)
        with (data / "person-records.txt").open("ab") as file:
            file.write(b"1|2\n" + b"|" * 17 + b"\n" + b"x" * 100 + b"\n" + b"|".join([b"\xff"] * 17) + b"\n\n\n")

    findings = engine_of(inputs_of(write, small[0])).check()
    assert [finding.message for finding in findings] == [
        "a row must be UTF-8 text. 1 row breaks this rule.",
        "a row must have 17 fields. 3 rows break this rule.",
    ]


NOBODY = "no record is in a state of the {} pass: its counts are 0 before noise."


@pytest.mark.parametrize("write", EMPTY_FORMS)
def test_nobody_is_counted_as_zeros(engine_of, write, small, inputs_of):
    rows, given = small
    engine = engine_of(inputs_of(write, rows))
    findings = problems_with(engine.check())
    expected = [NOBODY.format("US"), NOBODY.format("PR")]
    if write is not people_of_other_states:
        expected.insert(0, "it has no record.")
    assert [finding.message for finding in findings] == expected
    assert {finding.severity for finding in findings} == {Severity.WARNING}
    assert set(engine.prepare().values()) == {0}
    for level in given.plan.levels:
        assert len(engine.totals(level).indices) == 0
        (cells,) = engine.cells(level, {PERSONS.finer[0]: np.arange(3)}).values()
        assert not cells.confidential_counts.any()


def test_an_empty_pass_is_a_warning(engine_of, small, inputs_of):
    inputs = inputs_of(as_text, [row for row in small[0] if row.split("|")[3] != "72"])
    (finding,) = problems_with(engine_of(inputs).check())
    assert not finding.is_error
    assert finding.message == NOBODY.format("PR")


def test_records_of_states_that_are_not_asked_for_are_a_warning_and_are_counted_nowhere(engine_of, small, inputs_of):
    """Their blocks are not looked for: the geography may be that of the states asked for."""
    counted = [row for row in small[0] if row.split("|")[3] in {"01", "44", "72"}]
    first = counted[0].split("|")
    elsewhere = ["|".join([*first[:3], state, *first[4:]]) for state in ("08", "60", "56")]
    engine = engine_of(inputs_of(as_text, [*counted, *elsewhere]))
    assert [(one.is_error, one.where, one.message) for one in engine.check()] == [
        (False, "TABBLKST", "3 records are in no pass and are counted nowhere.")
    ]
    assert sum(engine.prepare().values()) == len(counted)


def test_exact_counts_do_not_show_themselves(engine_of, small):
    inputs = small[1]
    engine = engine_of(inputs)
    engine.check()
    engine.prepare()
    counts = engine.totals(inputs.plan.levels[0])
    assert repr(counts) == str(counts) == "<exact counts: confidential>"
    with pytest.raises(TypeError):
        pickle.dumps(counts)


def test_a_person_who_is_joined_twice_fails_the_run(small, tmp_path, monkeypatch):
    """DuckDB's engine; Spark's has a test of its own, and the plain one joins nothing."""
    original = PartRecords.add

    def doubled(self, *columns):
        original(self, *(np.concatenate([column, column[:1]]) for column in columns))

    monkeypatch.setattr(PartRecords, "add", doubled)
    engine = local_engine(small[1], tmp_path)
    assert problems_with(engine.check()) == ()
    with pytest.raises(MiscountedRecords):
        engine.prepare()
    engine.close()


def test_a_return_inside_a_line_of_a_part_is_a_finding(small, inputs_of, tmp_path):
    rows = [*small[0]]
    rows[9] = "True\r|" + rows[9].partition("|")[2]  # of the last part
    engine = local_engine(inputs_of(split, rows), tmp_path)
    findings = " ".join(str(finding) for finding in engine.check())
    engine.close()
    assert "QAGE: must be an age from 0 to 115. 1 row breaks this rule." in findings
