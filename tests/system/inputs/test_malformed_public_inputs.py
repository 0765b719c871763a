"""Malformed public inputs: each gives a clear finding and exit 1, never a traceback and never a plan."""

import gzip
import json
import os
import shutil
import time
from operator import methodcaller
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, invalid, refused

CODES = "race-and-ethnicity-codes.txt"
RACE = "race-characteristic-iterations.txt"
ETHNICITY = "ethnicity-characteristic-iterations.txt"
PAIRS = "race-and-ethnicity-code-to-iteration.txt"
GEOGRAPHY = "GRF-C.txt"
CONFIG = "config.json"

CONFIGURED = """
{"privacy_budget_p_level_1_usa": -0.1} -> -0.1 is not a number 0 or above
{"privacy_budget_p_level_1_usa": "0.1"} -> "0.1" is not a number 0 or above. Write it without quotes.
{"privacy_budget_p_level_1_usa": true} -> true is not a number 0 or above
{"privacy_budget_p_level_1_usa": null} -> privacy_budget_p_level_1_usa: null
{"privacy_budget_p_level_1_usa": NaN} -> NaN (out of range) is not a number 0 or above
{"privacy_budget_p_level_1_usa": Infinity} -> Infinity (out of range) is not a number
{"privacy_budget_p_level_2_tract": 1e-12} -> _tract: the noise of stage 1
{"privacy_budget_p_level_2_tract": 100000000000000} -> sigma must lie between
{"privacy_budget_p_stage_1_fraction": 0} -> 0 is not a number strictly between 0 and 1
{"privacy_budget_p_stage_1_fraction": 1} -> 1 is not a number strictly between 0 and 1
{"max_race_codes": 0} -> 0 is not an integer from 1 to 8
{"max_race_codes": 9} -> 9 is not an integer from 1 to 8
{"max_race_codes": true} -> true is not an integer from 1 to 8
{"max_race_codes": 8.0} -> 8.0 is not an integer from 1 to 8
{"zero_suppression_chance": 1} -> 1 is not a number of at least 0 and below 1
{"zero_suppression_chance": -0.5} -> -0.5 is not a number of at least 0
{"allow_negative_counts": "true"} -> "true" is not a boolean
{"run_us": 1} -> run_us: 1 is not a boolean
{"run_us": false, "run_pr": false} -> both are false
{"state_filter_us": []} -> state_filter_us: empty
{"state_filter_us": ["44", "03"]} -> "03": not a two-digit FIPS code
{"state_filter_us": ["44", "72"]} -> and write run_pr: true.
{"state_filter_us": [44]} -> 44: not a two-digit FIPS code, in quotes
{"state_filter_us": ["44", "44"]} -> 44 given more than once
{"state_filter_us": "44"} -> "44" is not a list
{"state_filter_us": ["01"]} -> no block of state 01: the US pass would be empty
{"privacy_defn": "rdp"} -> "rdp" is not "zcdp" or "puredp"
{"reader": "sas"} -> "sas" is not "csv" or "cef"
{"thresholds_p": [1, 2, 3]} -> thresholds_p: [1, 2, 3] is not an object
"""
THRESHOLDS = """
{"(USA, 1)": [1, 2]} -> [1, 2] is not a list of three integers
{"(COUNTY, 2)": [5000, 1000, 20000]} -> 5000, 1000, 20000 decrease
{"(USA, 1)": [-1, 2, 3]} -> each threshold must be an integer from 0 to below 2^62
{"(USA, 1)": [true, 2, 3]} -> each threshold must be an integer
{"(USA, 1)": [1.5, 2, 3]} -> each threshold must be an integer
"""
CONTENTS = {
    CONFIG: r"""
{max_race_codes: 8} -> line 1, column 2: a key in double quotes is expected here
{"a": } -> line 1, column 7: a value is expected here: a number
{"a": 1\n "b": 2} -> line 2, column 2: a comma or a closing bracket is
{"a" 1} -> line 1, column 6: a colon is missing after the key.
{"a": "zcdp} -> line 1, column 7: the text that begins here has no
{"a": 1}} -> line 1, column 9: the object ends before this place
 -> it is empty.
[] -> must hold one JSON object
{\n"a": "\xff"} -> line 2 is not UTF-8 text
""",
    CODES: r"""
 -> it is empty. Its first line must be RACE_ETH_CODE|RACE_ETH_NAME
RACE_ETH_CODE|RACE_ETH_NAME\n -> a header but no rows
RACE_ETH_CODE|RACE_ETH_NAME\n1000|\xe9 -> line 2 is not UTF-8
""",
    GEOGRAPHY: " -> the file is empty, or begins with an empty line.",
}
"""With what stands for bytes in the program's source."""
BLOCKS = {
    b"\n": "it lists no block",
    b"": "it lists no block",
    b"\n44|007|00\xff100|1001|99999|9999": "6 digits",
    b"\n44|007|000100\xfc1001|99999|9999\n": "a row must have 6 fields separated by |, as the header has: line 2.",
}
"""What follows the header of the geography."""
EDITED = {
    CONFIG: """
"run_us": true => "run_us": true, "run_us": true -> run_us: given twice
0.01 => 1e999999999 -> 1e99999999 (out of range) is not a number 0 or above
0.01 => 1e999999999999999999999 -> is not a number 0 or above
"privacy_budget_p_level_2_tract" => "tract" -> privacy_budget_p_level_2_tract: missing. Every level
"privacy_budget_p_level_1_pr_place" => "place" -> _pr_place: missing
"thresholds_p" => "thresholds" -> thresholds_p: missing
"(PR-TRACT, 2)" => "(TRACT, 3)" -> thresholds_p "(PR-TRACT, 2)": missing
""",
    CODES: """
RACE_ETH_CODE| => RACE_ETH_CODE, -> line 1: the columns are separated by commas, not by |. Line 1 is "RACE_ETH_CODE,RACE_ETH_NAME". The header
RACE_ETH_NAME => NAME -> the header is "RACE_ETH_CODE|NAME"
""",
    RACE: """
LEVEL|ALONE => ALONE|LEVEL -> LEVEL: must be 0
|ALONE =>  -> line 1: these are the columns of ethnicity-characteristic-iterations.txt. The header must be
|ALONE => |ALONE|MORE -> in any order; unknown: "MORE".
|ALONE => |LEVEL -> missing: ALONE; more than once: LEVEL.
""",
    GEOGRAPHY: """
PLACEFP => PLACE -> columns missing or repeated: PLACEFP
AIANNHCE => PLACEFP -> missing or repeated: PLACEFP, AIANNHCE
PLACEFP|AIANNHCE => AIANNHCE|PLACEFP -> PLACEFP: must be 5 digits
""",
}
APPENDED = {
    CODES: """
123|Someone -> must be four digits, 1000 to 9999: line 19 ("123")
0123|Someone -> must be four digits, 1000 to 9999
12a4|Someone -> must be four digits, 1000 to 9999
١٢٣٤|Someone -> must be four digits, 1000 to 9999
1234| -> RACE_ETH_NAME: must not be empty
1110|Basque -> listed more than once; keep one row per code: line 19 ("1110")
1234|Some|one -> a row must have 2 fields separated by |: line 19
1234|safe\u202etxt.exe -> RACE_ETH_NAME: must be text with only printable characters and plain spaces: line
""",
    RACE: """
A001|X|1|True|False|False -> ITERATION_CODE: must be four digits
1901|X|3|True|False|False -> LEVEL: must be 0 (major), 1 (Regional) or 2 (Detailed)
1901|X|1|Null|False|False -> ALONE: must be True or False
1901|X|1|true|False|False -> ALONE: must be True or False
1901|X|2|True|True|True -> can't both be True
1901|X|0|True|False|False -> must both be Null at level 0
1901|X|2|True|Null|False -> must be True or False at levels 1 and 2
1002|X|1|True|False|False -> listed more than once; keep one row per iteration
""",
    ETHNICITY: """
4901|\x1b[2Jgroup|2|False|False -> ITERATION_NAME: must be text with only printable characters and plain spaces: line
4901||2|False|False -> ITERATION_NAME: must not be empty
1002|X|1|False|False -> 1002 is also a race iteration
""",
    PAIRS: """
1003|1110 -> the same pair is listed more than once; keep one row per pair: line
1003|1111 -> RACE_ETH_CODE: not in the list of codes
1999|1110 -> ITERATION_CODE: not in the lists of iterations
1004|1110 -> 1110 in 1003 and 1004 (Detailed race alone)
1005|1199 -> below state level, a code can be in only one
4005|2110 -> 2110 in 4003 and 4005 (Detailed ethnicity)
""",
    GEOGRAPHY: """
4|007|000100|1001|99999|9999 -> TABBLKST: must be 2 digits: line 62 ("4")
44|007|0001a0|1001|99999|9999 -> TABTRACTCE: must be 6 digits
44|007|000100|2001||9999 -> PLACEFP: must be 5 digits: line 62 ("")
44|007|000100|2001|99999|Null -> AIANNHCE: must be 4 digits
44|007|000100|1001|99999|9999 -> more than once: block 440070001001001
44|007|000100 -> a row must have 6 fields separated by |
"44"|007|000100|2001|99999|9999 -> TABBLKST: must be 2 digits
||||| -> a row has nothing in it: the last row
""",
}
BLOCK = """
TABBLKST | 44
TABBLKCOU | 007
TABTRACTCE | 000100
TABBLK | 1001
PLACEFP | 99999
AIANNHCE | 9999
"""
PARQUET = [
    ({"PLACEFP": None}, "columns missing or repeated: PLACEFP"),
    ({"PLACEFP": pa.nulls(1, pa.string())}, 'must be 5 digits: row 1 ("null")'),
    ({"TABBLK": [10000]}, 'TABBLK: must be 4 digits: row 1 ("10000")'),
    ({"TABBLK": [1001.0]}, "TABBLK: has the type double. Give text or integers."),
    ({column: [1.0] for column, _ in cases_of(BLOCK)}, "TABBLKST: has the type double"),
    ({"TABBLK": [b"\xff\xff10"]}, "TABBLK: must be 4 digits"),
]
FOLDERS = {
    "": "is empty",
    "a.txt b.txt.gz": "more than one form of this table",
    "a.txt b.csv": "contains files that are not part of a table: b.csv",
    "a.txt b.txt": "listed more than once",
}
DAMAGED = "is damaged, or not what its ending says"


def lines(table):
    """What is wrong, and what is said of it."""
    return [line.split(" -> ") for line in table.strip("\n").split("\n")]


def configured(changes):
    return lambda world: world.configure(**json.loads(changes))


def with_thresholds(changes):
    return lambda world: world.configure(thresholds_p=world.config()["thresholds_p"] | json.loads(changes))


def all_budgets_zero(world):
    world.configure(**dict.fromkeys((key for key in world.config() if key.startswith("privacy_budget_p_level")), 0))


def written(file, content):
    as_bytes = content.encode().decode("unicode_escape").encode("latin-1")
    return lambda world: world.path(file).write_bytes(as_bytes)


def with_blocks(content):
    def damage(world):
        path = world.path(GEOGRAPHY)
        path.write_bytes(path.read_bytes().partition(b"\n")[0] + content)

    return damage


def replaced(file, *make):
    """With nothing, or with what a function makes at its path."""

    def damage(world):
        path = world.path(file)
        path.unlink()
        for one in make:
            one(path)

    return damage


def renamed(name):
    return lambda world: world.path(GEOGRAPHY).rename(world.data / name)


def truncated_gzip(world):
    content = gzip.compress(world.path(GEOGRAPHY).read_bytes())
    world.path(GEOGRAPHY).unlink()
    (world.data / "GRF-C.txt.gz").write_bytes(content[:-30])


def as_parquet(columns):
    block = {name: [value] for name, value in cases_of(BLOCK)}
    table = {name: values for name, values in (block | columns).items() if values is not None}
    return replaced(GEOGRAPHY, lambda path: pq.write_table(pa.table(table), path.with_suffix(".parquet")))


def two_forms(world):
    shutil.copy(world.path(GEOGRAPHY), world.data / "GRF-C.txt.gz")


def in_folder(names):
    def damage(world):
        (world.data / "GRF-C").mkdir()
        for name in names.split():
            shutil.copy(world.path(GEOGRAPHY), world.data / "GRF-C" / name)
        world.path(GEOGRAPHY).unlink()

    return damage


MALFORMED = [
    *((configured(changes), said) for changes, said in lines(CONFIGURED)),
    *((with_thresholds(changes), said) for changes, said in lines(THRESHOLDS)),
    *((written(file, content), said) for file in CONTENTS for content, said in lines(CONTENTS[file])),
    (written(CONFIG, "[" * 100_000), "nested too deeply"),
    *((with_blocks(content), said) for content, said in BLOCKS.items()),
    *((methodcaller("edit", file, *edit.split(" => ")), said) for file in EDITED for edit, said in lines(EDITED[file])),
    *((methodcaller("append", file, row), said) for file in APPENDED for row, said in lines(APPENDED[file])),
    *((as_parquet(columns), said) for columns, said in PARQUET),
    *((in_folder(names), said) for names, said in FOLDERS.items()),
    *((replaced(file), f"/{file} does not exist.") for file in (CONFIG, CODES, PAIRS)),
    *((replaced(file, Path.mkdir), "is a directory, not a file") for file in (CONFIG, GEOGRAPHY)),
    *((replaced(file, os.mkfifo), "is not a regular file") for file in (CONFIG, CODES, GEOGRAPHY)),
    *((renamed(f"GRF-C.{ending}"), DAMAGED) for ending in ("txt.gz", "parquet")),
    (truncated_gzip, DAMAGED),
    (replaced(GEOGRAPHY), "holds no GRF-C.txt, GRF-C.txt.gz, GRF-C.parquet, or folder GRF-C"),
    (two_forms, "more than one form of this table: GRF-C.txt, GRF-C.txt.gz"),
    (all_budgets_zero, "run_us: true, but every budget of this pass is 0"),
    (methodcaller("edit", CONFIG, "0.01", "0." + "1" * 10**6), "is not a number 0 or above"),
    (methodcaller("edit", CONFIG, "0.01", "[" * 900 + "]" * 900), "is not a number 0 or above"),
    (
        methodcaller("edit", CODES, "RACE_ETH_CODE|RACE_ETH_NAME\n", ""),
        "line 1: it names none of the columns. Is the header",
    ),
    (methodcaller("edit", CODES, "\n1110", "\n\n1110"), "blank lines are only allowed at the end: line 3"),
    (methodcaller("append", GEOGRAPHY, "", "44|007|000100|2001|99999|9999"), "blank lines are only"),
]


EACH = pytest.mark.parametrize(("damage", "said"), MALFORMED)
BY_COMMAND = pytest.mark.parametrize("command", ["validate", "plan"])


def told_by(command, world):
    """What it says of inputs that it refuses, with no error of its own."""
    result = cli(command, *world)
    assert (result.exit_code, result.stdout) == (1, "")
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.stderr
    return result.stderr


@EACH
def test_a_malformed_public_input_is_explained(damage, said, world):
    damage(world)
    assert said in invalid(safetab.plan, *world)


@pytest.mark.slow
@BY_COMMAND
@EACH
def test_each_is_told_by_every_command_and_is_no_error_of_the_program(damage, said, command, world):
    damage(world)
    assert said in told_by(command, world)


@BY_COMMAND
def test_all_mistakes_of_all_files_are_told_at_once(command, world):
    world.configure(max_race_codes=0, run_us=1, reader="sas")
    world.append(CODES, "12|Someone", "1234|")
    world.append(RACE, "1901|X|3|Maybe|True|True")
    world.append(PAIRS, "1999|1111")
    world.append(GEOGRAPHY, "4|007|000100|1001|9999|9999")
    told = told_by(command, world)
    parts = f"""
config.json has 3 problems; max_race_codes: 0 is not; run_us: 1 is not; reader: "sas" is not; {CODES} has 2 problems;
{RACE} has 2 problems; LEVEL: must be; ALONE: must be; GRF-C.txt has 2 problems; TABBLKST: must be; PLACEFP: must be"""
    assert [part for part in parts.replace("\n", " ").split("; ") if part.strip() not in told] == []


SEVERAL = """
TABBLKST: must be 2 digits: line 62
listed more than once: block 440070001001001
privacy_budget_p_level_2_tract: the noise of stage 1 is out of range
as the header has: line 64.
line 65 ("0001a0")
"""
"""Lines that are left out do not shift the numbers of others."""


def test_one_kind_of_mistake_does_not_hide_another(world):
    world.append(GEOGRAPHY, "4|007|000100|1001|99999|9999", "44|007|000100|1001|99999|9999")
    world.append(GEOGRAPHY, "44|007", "44|007|0001a0|1001|99999|9999")
    world.configure(privacy_budget_p_level_2_tract=1e-12)
    told = refused("plan", *world)
    assert [one for one in SEVERAL.strip().splitlines() if one not in told] == []


def test_many_blank_lines_are_no_work(world):
    with world.path(GEOGRAPHY).open("a") as file:
        file.write("\n" * 500_000)
    started = time.perf_counter()
    safetab.plan(*world)
    assert time.perf_counter() - started < 30  # a hang, not a benchmark


def test_names_that_are_not_utf8_or_too_long_are_told(world):
    strange = os.fsdecode(os.fsencode(world.data.parent) + b"/d\xff")
    world.data.rename(strange)
    for data in (strange, world.data / ("x" * 300)):
        refused("plan", world.parameters, data)


def test_a_rule_broken_a_thousand_times_is_one_finding(world):
    world.append(CODES, *(f"x{n}|Someone" for n in range(1000)))
    told = refused("plan", *world)
    assert f"{CODES} has 1 problem" in told
    assert "and 995 more" in told


def test_a_file_cannot_steer_the_terminal_or_forge_a_line(world):
    world.append(CODES, "\x1b[2J|Someone")
    world.configure(**{"fine\nconfig.json has no problem": 1})
    told = refused("plan", *world)
    assert "\x1b" not in told
    assert "fine\\nconfig.json has no problem: unknown key" in told


def test_unknown_keys_are_a_warning(world):
    with_thresholds('{"(MOON, 1)": [1, 2, 3]}')(world)
    world.configure(max_race_code=3)
    result = cli("plan", *world)
    assert result.exit_code == 0
    assert "config.json has 2 warnings" in result.stderr
    assert "max_race_code: unknown key" in result.stderr
    assert "(MOON, 1): unknown level in thresholds_p" in result.stderr


def test_a_key_that_is_misspelled_is_told_with_the_right_one(world):
    world.edit(CONFIG, '"run_us"', '"Run_US"')
    assert 'it has no effect. Did you mean "run_us"?' in refused("plan", *world)


@pytest.mark.parametrize("places", ["nowhere data", "parameters nowhere", "parameters data/GRF-C.txt"])
def test_a_directory_that_is_not_there_is_told(places, world):
    assert "directory" in refused("plan", *(world.data.parent / place for place in places.split()))


def test_bureau_files_with_windows_line_ends_and_a_byte_order_mark_are_accepted(world):
    for path in [*world.parameters.glob("*.txt"), world.path(GEOGRAPHY)]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    config = world.parameters / CONFIG
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes())
    assert cli("plan", *world).stderr == ""
