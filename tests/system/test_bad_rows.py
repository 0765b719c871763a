"""Rows that break a rule: how many is for the terminal, where they are for the confidential log, their values for nobody."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import cli
from tests.person_forms import gzipped, parquet_of_integers, parquet_of_text, people_of, split, windows_line_ends
from tests.worlds.people import PERSON_HEADER, write_random_world
from tests.worlds.world import World

SECRET = "7654321098"
COLUMNS = PERSON_HEADER.split("|")
AGE = "QAGE: must be an age from 0 to 115. 3 rows break this rule."


@pytest.fixture
def world(tmp_path):
    return write_random_world(tmp_path / "world", 3, budget=1)


def rewrite(world: World, write, changes: dict[int, tuple[str, str]]) -> None:
    """Gives rows, counted from 0, another value in a column, and writes all of them in some form."""
    rows = people_of(world)
    (world.data / "person-records.txt").unlink()
    for row, (column, value) in changes.items():
        fields = rows[row].split("|")
        fields[COLUMNS.index(column)] = value
        rows[row] = "|".join(fields)
    write(world.data, rows)


def as_text(folder: Path, rows: list[str]) -> None:
    (folder / "person-records.txt").write_text("\n".join([PERSON_HEADER, *rows]) + "\n")


def validate(world: World, *options: str):
    return cli("validate", *world, *options)


def logged(log: Path, rule: str) -> str:
    """What the log says of the rows that break a rule."""
    (found,) = re.findall(rf"^\S+ error in .*{re.escape(rule)} Rows: (.*)$", log.read_text(), re.MULTILINE)
    return found


OLD = {3: ("QAGE", "116"), 4: ("QAGE", "117"), 38: ("QAGE", "999")}


@pytest.mark.parametrize(
    ("write", "rows"),
    [
        (as_text, "person-records.txt, lines 5, 6, 40"),
        (windows_line_ends, "person-records.txt, lines 5, 6, 40"),
        (gzipped, "person-records.txt.gz, lines 5, 6, 40"),
        (split, "part-3.txt, lines 2, 9; part-4.txt, line 2"),
        (parquet_of_text, "person-records.parquet, rows 4, 5, 39"),
        (parquet_of_integers, "a.parquet, rows 4, 5; b.parquet, row 9"),
    ],
)
def test_the_log_has_the_numbers_of_rows_that_break_a_rule(write, rows, world, tmp_path):
    rewrite(world, write, OLD)
    log = tmp_path / "log"
    result = validate(world, "--confidential-log", str(log))
    assert result.exit_code == 1
    assert f"  {AGE}\n" in result.stderr
    assert f"Which rows these are, by line or row number, is in {log}." in result.stderr
    assert rows not in result.stderr
    assert logged(log, AGE) == rows


def test_a_run_has_them_in_its_log(world, tmp_path):
    rewrite(world, as_text, OLD)
    result = cli("run", *world, tmp_path / "out")
    assert result.exit_code == 1
    assert f"is in {tmp_path / 'out.confidential.log'}." in result.stderr
    assert logged(tmp_path / "out.confidential.log", AGE) == "person-records.txt, lines 5, 6, 40"


def test_validate_without_a_log_says_how_to_get_them(world):
    rewrite(world, as_text, OLD)
    result = validate(world)
    assert "safetab validate --confidential-log FILE" in result.stderr
    assert "line 5" not in result.stderr


def test_no_more_than_a_hundred_rows_of_a_rule_are_listed(world, tmp_path):
    person = people_of(world)[0].split("|")
    bad = "|".join(["x", *person[1:]])
    as_text(world.data, [bad] * 1234)
    result = validate(world, "--confidential-log", str(tmp_path / "log"))
    assert "1,234 rows break this rule." in result.stderr
    rows = logged(tmp_path / "log", "QAGE: must be an age from 0 to 115. 1,234 rows break this rule.")
    assert rows == f"person-records.txt, lines {', '.join(map(str, range(2, 102)))} and 1,134 more"


def test_lines_of_another_shape_do_not_shift_the_numbers(world, tmp_path):
    path = world.data / "person-records.txt"
    lines = path.read_bytes().splitlines()
    lines[2:2] = [b"1|2", b"\xff", b"a\rb|2"]
    lines[9] = b"x" + lines[9]
    lines[11] = b"1\r" + lines[11]
    path.write_bytes(b"\n".join(lines))
    validate(world, "--confidential-log", str(tmp_path / "log"))
    assert logged(tmp_path / "log", "a row must have 17 fields. 2 rows break this rule.").endswith("lines 3, 5")
    assert logged(tmp_path / "log", "a row must be UTF-8 text. 1 row breaks this rule.").endswith("line 4")
    assert logged(tmp_path / "log", "QAGE: must be an age from 0 to 115. 2 rows break this rule.").endswith(
        "lines 10, 12"
    )


def test_blank_lines_are_found_and_hide_no_other_fault(world, tmp_path):
    rewrite(world, as_text, {3: ("QAGE", "116")})
    path = world.data / "person-records.txt"
    lines = path.read_text().splitlines()
    lines[2:2] = ["", ""]
    path.write_text("\n".join(lines) + "\n\n\n")
    result = validate(world, "--confidential-log", str(tmp_path / "log"))
    assert "blank lines are only allowed at the end: 2 inside." in result.stderr
    assert "line 3, 4\n" in (tmp_path / "log").read_text()
    rows = logged(tmp_path / "log", "QAGE: must be an age from 0 to 115. 1 row breaks this rule.")
    assert rows == "person-records.txt, line 7"


def test_no_value_is_in_the_log(world, tmp_path):
    rewrite(world, as_text, {row: (column, SECRET) for row, column in enumerate(COLUMNS)})
    result = validate(world, "--confidential-log", str(tmp_path / "log"))
    assert result.exit_code == 1
    assert SECRET not in result.output + (tmp_path / "log").read_text()
    assert (tmp_path / "log").read_text().count(" Rows: ") == 14  # the four columns of a block have one rule


FAULTS = {
    1: ("QAGE", "116"),
    2: ("QSEX", "3"),
    3: ("TABBLKST", "x"),
    4: ("QRACE1", "12"),
    5: ("QSPAN", "Null"),
    6: ("TABBLK", "9999"),
    7: ("QRACE1", "1001"),  # of the right form, and in no list
}
FORMS = {"QAGE: must", "QSEX: must", "TABBLKST..TABBLK: must be 2, 3, 6 and 4 digits. 1 row", "QSPAN: must"}


def break_config(world: World) -> None:
    world.configure(max_race_codes=9)


def break_geography(world: World) -> None:
    (world.data / "GRF-C.txt").write_text("nothing\n")


def break_codes(world: World) -> None:
    (world.parameters / "race-and-ethnicity-codes.txt").write_text("nothing\n")


UNLISTED_BLOCK, UNLISTED_CODE, NO_CODE = "listed in GRF-C. 1 row", "8999. 2 rows", "8999. 1 row"


@pytest.mark.parametrize(
    ("damage", "told", "expected"),
    [
        (break_config, "9 is not an integer from 1 to 8", {UNLISTED_CODE}),
        (break_geography, "GRF-C", {UNLISTED_CODE}),
        (break_codes, "race-and-ethnicity-codes.txt", {UNLISTED_BLOCK, NO_CODE}),
    ],
)
def test_a_broken_public_file_hides_no_bad_row(damage, told, expected, world, tmp_path):
    rewrite(world, as_text, FAULTS)
    damage(world)
    result = validate(world, "--confidential-log", str(tmp_path / "log"))
    assert result.exit_code == 1
    assert told in result.stderr
    shown = {text for text in (*FORMS, UNLISTED_BLOCK, UNLISTED_CODE, NO_CODE) if text in result.stderr}
    assert shown == FORMS | expected
    assert "person-records.txt, line 3\n" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
def test_a_directory_that_is_not_there_is_one_sentence(command, world, tmp_path):
    rewrite(world, as_text, FAULTS)
    out = ["out"] if command == "run" else []
    result = cli(command, *(str(tmp_path / name) for name in ("langauges", "data", *out)))
    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path / 'langauges'} does not exist.\n"


def test_good_rows_of_a_broken_configuration_have_no_finding(world):
    break_config(world)
    result = validate(world)
    assert "config.json has 1 problem" in result.stderr
    assert "person-records" not in result.stderr


def test_a_part_without_a_header_hides_no_bad_row_of_another(world, tmp_path):
    rewrite(world, split, OLD)
    part = world.data / "person-records" / "part-0.txt"
    part.write_text(part.read_text().partition("\n")[2])
    result = validate(world, "--confidential-log", str(tmp_path / "log"))
    assert "line 1: it names none of the columns. Is the header missing?" in result.stderr
    assert logged(tmp_path / "log", AGE) == "part-3.txt, lines 2, 9; part-4.txt, line 2"


def test_what_validate_logs_is_refused_where_it_would_be_read(world):
    result = validate(world, "--confidential-log", str(world.data / "log"))
    assert result.exit_code == 1
    assert "can't lie inside PARAMETERS, DATA or OUT" in result.stderr
