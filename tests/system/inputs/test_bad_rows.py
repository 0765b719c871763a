"""Rows that break a rule: how many is for the terminal, where they are for the confidential log, their values for nobody."""

import re

import pytest

from tests import person_forms
from tests.cases import cases_of
from tests.commands import cli, refused
from tests.person_forms import as_text, people_of, split
from tests.worlds.people import PERSON_HEADER, write_random_world

SECRET = "7654321098"
COLUMNS = PERSON_HEADER.split("|")
AGE = "QAGE: must be an age from 0 to 115. 3 rows break this rule."


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 3, budget=1)


def rewrite(world, write, changes):
    """Gives rows, counted from 0, another value in a column, and writes all of them in some form."""
    rows = people_of(world)
    (world.data / "person-records.txt").unlink()
    for row, (column, value) in changes.items():
        fields = rows[row].split("|")
        fields[COLUMNS.index(column)] = value
        rows[row] = "|".join(fields)
    write(world.data, rows)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def validate(world, log):
    return cli("validate", *world, "--confidential-log", log).stderr


def logged(log, rule):
    """What the log says of the rows that break a rule."""
    [found] = re.findall(rf"^\S+ error in .*{re.escape(rule)} Rows: (.*)$", log.read_text(), re.MULTILINE)
    return found


OLD = {3: ("QAGE", "116"), 4: ("QAGE", "117"), 38: ("QAGE", "999")}


OF_FORMS = """
as_text | person-records.txt, lines 5, 6, 40
windows_line_ends | person-records.txt, lines 5, 6, 40
gzipped | person-records.txt.gz, lines 5, 6, 40
split | part-3.txt, lines 2, 9; part-4.txt, line 2
parquet_of_text | person-records.parquet, rows 4, 5, 39
parquet_of_integers | a.parquet, rows 4, 5; b.parquet, row 9
"""


@pytest.mark.parametrize(("form", "rows"), cases_of(OF_FORMS))
def test_the_log_has_the_numbers_of_rows_that_break_a_rule(form, rows, world, log):
    rewrite(world, getattr(person_forms, form), OLD)
    told = validate(world, log)
    assert f"  {AGE}\n" in told
    assert f"Which rows these are, by line or row number, is in {log}." in told
    assert rows not in told
    assert logged(log, AGE) == rows


def test_a_run_has_them_in_its_log_and_validate_says_how_to_get_one(world, tmp_path):
    rewrite(world, as_text, OLD)
    log = tmp_path / "out.confidential.log"
    assert f"is in {log}." in refused("run", *world, tmp_path / "out")
    assert logged(log, AGE) == "person-records.txt, lines 5, 6, 40"
    told = refused("validate", *world)
    assert "safetab validate --confidential-log FILE" in told
    assert "line 5" not in told


def test_no_more_than_a_hundred_rows_of_a_rule_are_listed(world, log):
    bad = "|".join(["x", *people_of(world)[0].split("|")[1:]])
    as_text(world.data, [bad] * 1234)
    assert "1,234 rows break this rule." in validate(world, log)
    rows = logged(log, AGE.replace("3 rows", "1,234 rows"))
    assert rows == f"person-records.txt, lines {', '.join(map(str, range(2, 102)))} and 1,134 more"


def test_lines_of_another_shape_do_not_shift_the_numbers(world, log):
    path = world.data / "person-records.txt"
    lines = path.read_bytes().splitlines()
    lines[2:2] = [b"1|2", b"\xff", b"a\rb|2"]
    lines[9] = b"x" + lines[9]
    lines[11] = b"1\r" + lines[11]
    path.write_bytes(b"\n".join(lines))
    validate(world, log)
    for rule, rows in (
        ("a row must have 17 fields. 2 rows break this rule.", "lines 3, 5"),
        ("a row must be UTF-8 text. 1 row breaks this rule.", "line 4"),
        (AGE.replace("3 rows", "2 rows"), "lines 10, 12"),
    ):
        assert logged(log, rule).endswith(rows)


def test_blank_lines_are_found_and_hide_no_other_fault(world, log):
    rewrite(world, as_text, {3: ("QAGE", "116")})
    path = world.data / "person-records.txt"
    lines = path.read_text().splitlines()
    lines[2:2] = ["", ""]
    path.write_text("\n".join(lines) + "\n\n\n")
    assert "blank lines are only allowed at the end: 2 inside." in validate(world, log)
    assert "line 3, 4\n" in log.read_text()
    assert logged(log, AGE.replace("3 rows break", "1 row breaks")) == "person-records.txt, line 7"


def test_no_value_is_in_the_log(world, log):
    rewrite(world, as_text, {row: (column, SECRET) for row, column in enumerate(COLUMNS)})
    told = refused("validate", *world, "--confidential-log", log)
    assert SECRET not in told + log.read_text()
    assert log.read_text().count(" Rows: ") == 14  # the four columns of a block have one rule


FAULTS = "QAGE=116 QSEX=3 TABBLKST=x QRACE1=12 QSPAN=Null TABBLK=9999 QRACE1=1001"
"""The last is of the right form, and in no list."""
FORMS = {"QAGE: must", "QSEX: must", "TABBLKST..TABBLK: must be 2, 3, 6 and 4 digits. 1 row", "QSPAN: must"}


CODES = "race-and-ethnicity-codes.txt"
UNLISTED_BLOCK, UNLISTED_CODE, NO_CODE = "listed in GRF-C. 1 row", "8999. 2 rows", "8999. 1 row"


@pytest.mark.parametrize(
    ("damage", "told", "expected"),
    [
        (lambda world: world.configure(max_race_codes=9), "9 is not an integer from 1 to 8", {UNLISTED_CODE}),
        (lambda world: (world.data / "GRF-C.txt").write_text("nothing\n"), "GRF-C", {UNLISTED_CODE}),
        (lambda world: (world.parameters / CODES).write_text("nothing\n"), CODES, {UNLISTED_BLOCK, NO_CODE}),
    ],
)
def test_a_broken_public_file_hides_no_bad_row(damage, told, expected, world, log):
    rewrite(world, as_text, {row: one.split("=") for row, one in enumerate(FAULTS.split(), 1)})
    damage(world)
    said = validate(world, log)
    assert told in said
    assert {text for text in (*FORMS, UNLISTED_BLOCK, UNLISTED_CODE, NO_CODE) if text in said} == FORMS | expected
    assert "person-records.txt, line 3\n" in log.read_text()


@pytest.mark.parametrize("command", ["validate {0} {1}", "plan {0} {1}", "run {0} {1} {1}/out"])
def test_a_directory_that_is_not_there_is_one_sentence(command, tmp_path):
    nothing = tmp_path / "langauges"
    assert refused(*command.format(nothing, tmp_path).split()) == f"{nothing} does not exist."


def test_good_rows_of_a_broken_configuration_have_no_finding(world):
    world.configure(max_race_codes=9)
    told = refused("validate", *world)
    assert "config.json has 1 problem" in told
    assert "person-records" not in told


def test_a_part_without_a_header_hides_no_bad_row_of_another(world, log):
    rewrite(world, split, OLD)
    part = world.data / "person-records" / "part-0.txt"
    part.write_text(part.read_text().partition("\n")[2])
    assert "line 1: it names none of the columns. Is the header missing?" in validate(world, log)
    assert logged(log, AGE) == "part-3.txt, lines 2, 9; part-4.txt, line 2"


def test_what_validate_logs_is_refused_where_it_would_be_read(world):
    within = world.data / "log"
    assert "can't lie inside PARAMETERS, DATA or OUT" in refused("validate", *world, "--confidential-log", within)
