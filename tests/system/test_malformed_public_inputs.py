"""Malformed public inputs: each gives a clear finding and exit 1, never a traceback and never a plan."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import time
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
from tests.worlds.world import World

CODES = "race-and-ethnicity-codes.txt"
RACE = "race-characteristic-iterations.txt"
ETHNICITY = "ethnicity-characteristic-iterations.txt"
PAIRS = "race-and-ethnicity-code-to-iteration.txt"
GEOGRAPHY = "GRF-C.txt"
CONFIG = "config.json"

Damage = Callable[[World], object]


def configured(**changes: object) -> Damage:
    return lambda world: world.configure(**changes)


def without(key: str) -> Damage:
    return lambda world: world.write_config({k: v for k, v in world.config().items() if k != key})


def thresholds(level: str, value: object) -> Damage:
    return lambda world: world.configure(thresholds_p=world.config()["thresholds_p"] | {level: value})


def raw_config(old: str, new: str) -> Damage:
    return lambda world: world.edit(CONFIG, old, new)


def edited(file: str, old: str, new: str) -> Damage:
    return lambda world: world.edit(file, old, new)


def appended(file: str, *lines: str) -> Damage:
    return lambda world: world.append(file, *lines)


def written(file: str, content: bytes) -> Damage:
    return lambda world: world.path(file).write_bytes(content)


def removed(file: str) -> Damage:
    return lambda world: world.path(file).unlink()


def made_a_directory(file: str) -> Damage:
    def damage(world: World) -> None:
        world.path(file).unlink()
        world.path(file).mkdir()

    return damage


def all_budgets_zero(world: World) -> None:
    config = world.config()
    world.write_config({key: 0 if key.startswith("privacy_budget_p_level") else value for key, value in config.items()})


def thresholds_without_a_level(world: World) -> None:
    given = world.config()["thresholds_p"]
    world.configure(thresholds_p={key: value for key, value in given.items() if key != "(PR-TRACT, 2)"})


def truncated_gzip(world: World) -> None:
    content = gzip.compress(world.path(GEOGRAPHY).read_bytes())
    world.path(GEOGRAPHY).unlink()
    (world.data / "GRF-C.txt.gz").write_bytes(content[:-30])


def false_gzip(world: World) -> None:
    world.path(GEOGRAPHY).rename(world.data / "GRF-C.txt.gz")


def as_parquet(columns: dict[str, object]) -> Damage:
    def damage(world: World) -> None:
        world.path(GEOGRAPHY).unlink()
        block = {"TABBLKST": ["44"], "TABBLKCOU": ["007"], "TABTRACTCE": ["000100"], "TABBLK": ["1001"]}
        rest = {"PLACEFP": ["99999"], "AIANNHCE": ["9999"]}
        table = {key: value for key, value in (block | rest | columns).items() if value is not None}
        pq.write_table(pa.table(table), world.data / "GRF-C.parquet")

    return damage


def false_parquet(world: World) -> None:
    world.path(GEOGRAPHY).rename(world.data / "GRF-C.parquet")


def two_forms(world: World) -> None:
    shutil.copy(world.path(GEOGRAPHY), world.data / "GRF-C.txt.gz")


def folder_with(*names: str) -> Damage:
    def damage(world: World) -> None:
        (world.data / "GRF-C").mkdir()
        for name in names:
            shutil.copy(world.path(GEOGRAPHY), world.data / "GRF-C" / name)
        world.path(GEOGRAPHY).unlink()

    return damage


def piped(file: str) -> Damage:
    def damage(world: World) -> None:
        world.path(file).unlink()
        os.mkfifo(world.path(file))

    return damage


COLUMNS = ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK", "PLACEFP", "AIANNHCE")
HEADER_OF_GEOGRAPHY = b"TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE\n"

MALFORMED: dict[str, tuple[Damage, str]] = {
    # config.json: the file
    "no config": (removed(CONFIG), "/config.json does not exist."),
    "config is a directory": (made_a_directory(CONFIG), "is a directory, not a file"),
    "config is no JSON": (
        written(CONFIG, b"{max_race_codes: 8}"),
        "line 1, column 2: a key in double quotes is expected here",
    ),
    "config lacks a value": (written(CONFIG, b'{"a": }'), "line 1, column 7: a value is expected here: a number"),
    "config lacks a comma": (
        written(CONFIG, b'{"a": 1\n "b": 2}'),
        "line 2, column 2: a comma or a closing bracket is",
    ),
    "config lacks a colon": (written(CONFIG, b'{"a" 1}'), "line 1, column 6: a colon is missing after the key."),
    "config lacks a quote": (written(CONFIG, b'{"a": "zcdp}'), "line 1, column 7: the text that begins here has no"),
    "config goes on": (written(CONFIG, b'{"a": 1}}'), "line 1, column 9: the object ends before this place"),
    "a key is misspelled": (raw_config('"run_us"', '"Run_US"'), 'it has no effect. Did you mean "run_us"?'),
    "config is empty": (written(CONFIG, b""), "it is empty."),
    "config is a list": (written(CONFIG, b"[]"), "must hold one JSON object"),
    "config is not UTF-8": (written(CONFIG, b'{\n"a": "\xff"}'), "line 2 is not UTF-8 text"),
    "config is nested too deeply": (written(CONFIG, b"[" * 100_000), "nested too deeply"),
    "config has a key twice": (raw_config('"run_us": true', '"run_us": true, "run_us": true'), "run_us: given twice"),
    # config.json: types and ranges
    "budget missing": (
        without("privacy_budget_p_level_2_tract"),
        "privacy_budget_p_level_2_tract: missing. Every level",
    ),
    "budget of a level of Puerto Rico missing": (without("privacy_budget_p_level_1_pr_place"), "_pr_place: missing"),
    "budget negative": (configured(privacy_budget_p_level_1_usa=-0.1), "-0.1 is not a number 0 or above"),
    "budget is text": (
        configured(privacy_budget_p_level_1_usa="0.1"),
        '"0.1" is not a number 0 or above. Write it without quotes.',
    ),
    "budget is a boolean": (configured(privacy_budget_p_level_1_usa=True), "true is not a number 0 or above"),
    "budget is null": (configured(privacy_budget_p_level_1_usa=None), "privacy_budget_p_level_1_usa: null"),
    "budget is NaN": (
        configured(privacy_budget_p_level_1_usa=float("nan")),
        "NaN (out of range) is not a number 0 or above",
    ),
    "budget is infinite": (
        configured(privacy_budget_p_level_1_usa=float("inf")),
        "Infinity (out of range) is not a number",
    ),
    "budget has a huge exponent": (
        raw_config("0.01", "1e999999999"),
        "1e99999999 (out of range) is not a number 0 or above",
    ),
    "budget has a million digits": (raw_config("0.01", "0." + "1" * 10**6), "is not a number 0 or above"),
    "budget too small for the sampler": (
        configured(privacy_budget_p_level_2_tract=1e-12),
        "_tract: the noise of stage 1",
    ),
    "budget too large for the sampler": (configured(privacy_budget_p_level_2_tract=10**14), "sigma must lie between"),
    "budget has an exponent beyond all bounds": (
        raw_config("0.01", "1e999999999999999999999"),
        "is not a number 0 or above",
    ),
    "a value of many brackets": (raw_config("0.01", "[" * 900 + "]" * 900), "is not a number 0 or above"),
    "config is a pipe": (piped(CONFIG), "is not a regular file"),
    "a list is a pipe": (piped(CODES), "is not a regular file"),
    "geography is a pipe": (piped(GEOGRAPHY), "is not a regular file"),
    "all budgets are 0": (all_budgets_zero, "run_us: true, but every budget of this pass is 0"),
    "gamma is 0": (configured(privacy_budget_p_stage_1_fraction=0), "0 is not a number strictly between 0 and 1"),
    "gamma is 1": (configured(privacy_budget_p_stage_1_fraction=1), "1 is not a number strictly between 0 and 1"),
    "max_race_codes is 0": (configured(max_race_codes=0), "0 is not an integer from 1 to 8"),
    "max_race_codes is 9": (configured(max_race_codes=9), "9 is not an integer from 1 to 8"),
    "max_race_codes is a boolean": (configured(max_race_codes=True), "true is not an integer from 1 to 8"),
    "max_race_codes is 8.0": (configured(max_race_codes=8.0), "8.0 is not an integer from 1 to 8"),
    "suppression chance is 1": (configured(zero_suppression_chance=1), "1 is not a number of at least 0 and below 1"),
    "suppression chance is negative": (configured(zero_suppression_chance=-0.5), "-0.5 is not a number of at least 0"),
    "a boolean is text": (configured(allow_negative_counts="true"), '"true" is not a boolean'),
    "a boolean is a number": (configured(run_us=1), "run_us: 1 is not a boolean"),
    "neither pass runs": (configured(run_us=False, run_pr=False), "both are false"),
    "no states": (configured(state_filter_us=[]), "state_filter_us: empty"),
    "a state that isn't": (configured(state_filter_us=["44", "03"]), '"03": not a two-digit FIPS code'),
    "Puerto Rico among the states": (configured(state_filter_us=["44", "72"]), "and write run_pr: true."),
    "a state as a number": (configured(state_filter_us=[44]), "44: not a two-digit FIPS code, in quotes"),
    "a state twice": (configured(state_filter_us=["44", "44"]), "44 given more than once"),
    "states are text": (configured(state_filter_us="44"), '"44" is not a list'),
    "unknown privacy definition": (configured(privacy_defn="rdp"), '"rdp" is not "zcdp" or "puredp"'),
    "unknown reader": (configured(reader="sas"), '"sas" is not "csv" or "cef"'),
    "thresholds missing": (without("thresholds_p"), "thresholds_p: missing"),
    "thresholds are a list": (configured(thresholds_p=[1, 2, 3]), "thresholds_p: [1, 2, 3] is not an object"),
    "thresholds of a level missing": (thresholds_without_a_level, 'thresholds_p "(PR-TRACT, 2)": missing'),
    "two thresholds": (thresholds("(USA, 1)", [1, 2]), "[1, 2] is not a list of three integers"),
    "thresholds decrease": (thresholds("(COUNTY, 2)", [5000, 1000, 20000]), "5000, 1000, 20000 decrease"),
    "a threshold is negative": (
        thresholds("(USA, 1)", [-1, 2, 3]),
        "each threshold must be an integer from 0 to below 2^62",
    ),
    "a threshold is a boolean": (thresholds("(USA, 1)", [True, 2, 3]), "each threshold must be an integer"),
    "a threshold is no integer": (thresholds("(USA, 1)", [1.5, 2, 3]), "each threshold must be an integer"),
    # the list of codes
    "no list of codes": (removed(CODES), f"/{CODES} does not exist."),
    "list of codes is empty": (written(CODES, b""), "it is empty. Its first line must be RACE_ETH_CODE|RACE_ETH_NAME"),
    "list of codes has commas": (
        edited(CODES, "RACE_ETH_CODE|RACE_ETH_NAME", "RACE_ETH_CODE,RACE_ETH_NAME"),
        'line 1: the columns are separated by commas, not by |. Line 1 is "RACE_ETH_CODE,RACE_ETH_NAME". The header',
    ),
    "list of codes has no header": (
        edited(CODES, "RACE_ETH_CODE|RACE_ETH_NAME\n", ""),
        "line 1: it names none of the columns. Is the header missing? Line 1 is",
    ),
    "list of codes has no rows": (written(CODES, b"RACE_ETH_CODE|RACE_ETH_NAME\n"), "a header but no rows"),
    "list of codes has other columns": (edited(CODES, "RACE_ETH_NAME", "NAME"), 'the header is "RACE_ETH_CODE|NAME"'),
    "a code has three digits": (appended(CODES, "123|Someone"), 'must be four digits, 1000 to 9999: line 19 ("123")'),
    "a code begins with 0": (appended(CODES, "0123|Someone"), "must be four digits, 1000 to 9999"),
    "a code has letters": (appended(CODES, "12a4|Someone"), "must be four digits, 1000 to 9999"),
    "a code in other digits": (appended(CODES, "١٢٣٤|Someone"), "must be four digits, 1000 to 9999"),
    "a code without a name": (appended(CODES, "1234|"), "RACE_ETH_NAME: must not be empty"),
    "a code twice": (appended(CODES, "1110|Basque"), 'listed more than once; keep one row per code: line 19 ("1110")'),
    "a row with too many fields": (
        appended(CODES, "1234|Some|one"),
        "a row must have 2 fields separated by |: line 19",
    ),
    "a blank line inside": (edited(CODES, "\n1110", "\n\n1110"), "blank lines are only allowed at the end: line 3"),
    "list of codes is not UTF-8": (written(CODES, b"RACE_ETH_CODE|RACE_ETH_NAME\n1000|\xe9"), "line 2 is not UTF-8"),
    # the lists of iterations
    "a header in another order than its values": (edited(RACE, "LEVEL|ALONE", "ALONE|LEVEL"), "LEVEL: must be 0"),
    "race list with the ethnicity header": (
        edited(RACE, "|ALONE", ""),
        "line 1: these are the columns of ethnicity-characteristic-iterations.txt. The header must be",
    ),
    "an unknown column": (edited(RACE, "|ALONE", "|ALONE|MORE"), 'in any order; unknown: "MORE".'),
    "a column twice": (edited(RACE, "|ALONE", "|LEVEL"), "missing: ALONE; more than once: LEVEL."),
    "iteration code has letters": (appended(RACE, "A001|X|1|True|False|False"), "ITERATION_CODE: must be four digits"),
    "level 3": (appended(RACE, "1901|X|3|True|False|False"), "LEVEL: must be 0 (major), 1 (Regional) or 2 (Detailed)"),
    "ALONE is Null": (appended(RACE, "1901|X|1|Null|False|False"), "ALONE: must be True or False"),
    "ALONE in lower case": (appended(RACE, "1901|X|1|true|False|False"), "ALONE: must be True or False"),
    "both flags are True": (appended(RACE, "1901|X|2|True|True|True"), "can't both be True"),
    "flags at level 0": (appended(RACE, "1901|X|0|True|False|False"), "must both be Null at level 0"),
    "a flag is Null at level 2": (
        appended(RACE, "1901|X|2|True|Null|False"),
        "must be True or False at levels 1 and 2",
    ),
    "a code whose name turns the direction of reading": (
        appended(CODES, "1234|safe\u202etxt.exe"),
        "RACE_ETH_NAME: must be text with only printable characters and plain spaces: line",
    ),
    "an iteration whose name steers the terminal": (
        appended(ETHNICITY, "4901|\x1b[2Jgroup|2|False|False"),
        "ITERATION_NAME: must be text with only printable characters and plain spaces: line",
    ),
    "iteration without a name": (appended(ETHNICITY, "4901||2|False|False"), "ITERATION_NAME: must not be empty"),
    "iteration twice": (
        appended(RACE, "1002|X|1|True|False|False"),
        "listed more than once; keep one row per iteration",
    ),
    "race and ethnicity share a code": (appended(ETHNICITY, "1002|X|1|False|False"), "1002 is also a race iteration"),
    # codes to iterations
    "no pairs": (removed(PAIRS), f"/{PAIRS} does not exist."),
    "a pair twice": (
        appended(PAIRS, "1003|1110"),
        "the same pair is listed more than once; keep one row per pair: line",
    ),
    "a pair with an unknown code": (appended(PAIRS, "1003|1111"), "RACE_ETH_CODE: not in the list of codes"),
    "a pair with an unknown iteration": (
        appended(PAIRS, "1999|1110"),
        "ITERATION_CODE: not in the lists of iterations",
    ),
    "a code in two alone iterations": (appended(PAIRS, "1004|1110"), "1110 in 1003 and 1004 (Detailed race alone)"),
    "a code in two iterations below state": (
        appended(PAIRS, "1005|1199"),
        "below state level, a code can be in only one",
    ),
    "a code in two ethnicity iterations": (appended(PAIRS, "4005|2110"), "2110 in 4003 and 4005 (Detailed ethnicity)"),
    # geography
    "no geography": (removed(GEOGRAPHY), "holds no GRF-C.txt, GRF-C.txt.gz, GRF-C.parquet, or folder GRF-C"),
    "geography is a directory": (made_a_directory(GEOGRAPHY), "is a directory, not a file"),
    "geography is empty": (written(GEOGRAPHY, b""), "the file is empty, or begins with an empty line."),
    "geography has no rows": (written(GEOGRAPHY, HEADER_OF_GEOGRAPHY), "it lists no block"),
    "geography lacks a column": (
        edited(GEOGRAPHY, "PLACEFP", "PLACE"),
        "columns missing or repeated: PLACEFP",
    ),
    "geography has a column twice": (
        edited(GEOGRAPHY, "AIANNHCE", "PLACEFP"),
        "missing or repeated: PLACEFP, AIANNHCE",
    ),
    "geography in another order than its values": (
        edited(GEOGRAPHY, "PLACEFP|AIANNHCE", "AIANNHCE|PLACEFP"),
        "PLACEFP: must be 5 digits",
    ),
    "state has one digit": (
        appended(GEOGRAPHY, "4|007|000100|1001|99999|9999"),
        'TABBLKST: must be 2 digits: line 62 ("4")',
    ),
    "tract has letters": (appended(GEOGRAPHY, "44|007|0001a0|1001|99999|9999"), "TABTRACTCE: must be 6 digits"),
    "place is empty": (appended(GEOGRAPHY, "44|007|000100|2001||9999"), 'PLACEFP: must be 5 digits: line 62 ("")'),
    "AIANNH is Null": (appended(GEOGRAPHY, "44|007|000100|2001|99999|Null"), "AIANNHCE: must be 4 digits"),
    "block twice": (appended(GEOGRAPHY, "44|007|000100|1001|99999|9999"), "more than once: block 440070001001001"),
    "a row with too few fields": (appended(GEOGRAPHY, "44|007|000100"), "a row must have 6 fields separated by |"),
    "a blank line in the geography": (appended(GEOGRAPHY, "", "44|007|000100|2001|99999|9999"), "blank lines are only"),
    "geography in quotes": (appended(GEOGRAPHY, '"44"|007|000100|2001|99999|9999'), "TABBLKST: must be 2 digits"),
    "geography is not UTF-8": (
        written(GEOGRAPHY, HEADER_OF_GEOGRAPHY + b"44|007|00\xff100|1001|99999|9999"),
        "6 digits",
    ),
    "a row that is not UTF-8 with too few fields": (
        written(GEOGRAPHY, HEADER_OF_GEOGRAPHY + b"44|007|000100\xfc1001|99999|9999\n"),
        "a row must have 6 fields separated by |, as the header has: line 2.",
    ),
    "no block of the US": (configured(state_filter_us=["01"]), "no block of state 01: the US pass would be empty"),
    "gzip cut short": (truncated_gzip, "is damaged, or not what its ending says"),
    "gzip that isn't": (false_gzip, "is damaged, or not what its ending says"),
    "Parquet that isn't": (false_parquet, "is damaged, or not what its ending says"),
    "Parquet lacks a column": (as_parquet({"PLACEFP": None}), "columns missing or repeated: PLACEFP"),
    "Parquet with a null": (as_parquet({"PLACEFP": pa.array([None], pa.string())}), 'must be 5 digits: row 1 ("null")'),
    "Parquet with a large integer": (as_parquet({"TABBLK": [10000]}), 'TABBLK: must be 4 digits: row 1 ("10000")'),
    "Parquet with floats": (as_parquet({"TABBLK": [1001.0]}), "TABBLK: has the type double. Give text or integers."),
    "Parquet with floats everywhere": (
        as_parquet({column: [1.0] for column in COLUMNS}),
        "TABBLKST: has the type double",
    ),
    "Parquet that is not UTF-8": (as_parquet({"TABBLK": pa.array([b"\xff\xff10"])}), "TABBLK: must be 4 digits"),
    "a last row of nothing": (appended(GEOGRAPHY, "|||||"), "a row has nothing in it: the last row"),
    "a header without a line end": (written(GEOGRAPHY, HEADER_OF_GEOGRAPHY.strip()), "it lists no block"),
    "two forms of the geography": (two_forms, "more than one form of this table: GRF-C.txt, GRF-C.txt.gz"),
    "an empty folder": (folder_with(), "is empty"),
    "a folder with two forms": (folder_with("a.txt", "b.txt.gz"), "more than one form of this table"),
    "a folder with something else": (
        folder_with("a.txt", "b.csv"),
        "contains files that are not part of a table: b.csv",
    ),
    "a folder with a block twice": (folder_with("a.txt", "b.txt"), "listed more than once"),
}


@pytest.mark.parametrize("command", ["validate", pytest.param("plan", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_public_input_is_explained(kind, command, world):
    damage, expected = MALFORMED[kind]
    damage(world)
    result = cli(command, *world)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)  # not an error of ours
    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_all_mistakes_of_all_files_are_told_at_once(world):
    world.configure(max_race_codes=0, run_us=1, reader="sas")
    world.append(CODES, "12|Someone", "1234|")
    world.append(RACE, "1901|X|3|Maybe|True|True")
    world.append(PAIRS, "1999|1111")
    world.append(GEOGRAPHY, "4|007|000100|1001|9999|9999")
    result = cli("validate", *world)
    assert result.exit_code == 1
    for part in [
        "config.json has 3 problems",
        "max_race_codes: 0 is not",
        "run_us: 1 is not",
        'reader: "sas" is not',
        f"{CODES} has 2 problems",
        f"{RACE} has 2 problems",
        "LEVEL: must be",
        "ALONE: must be",
        "GRF-C.txt has 2 problems",
        "TABBLKST: must be",
        "PLACEFP: must be",
    ]:
        assert part in result.stderr


def test_one_kind_of_mistake_does_not_hide_another(world):
    world.append(GEOGRAPHY, "4|007|000100|1001|99999|9999", "44|007|000100|1001|99999|9999")
    world.configure(privacy_budget_p_level_2_tract=1e-12)
    result = cli("plan", *world)
    assert "TABBLKST: must be 2 digits: line 62" in result.stderr
    assert "listed more than once: block 440070001001001" in result.stderr
    assert "privacy_budget_p_level_2_tract: the noise of stage 1 is out of range" in result.stderr


def test_many_blank_lines_are_no_work(world):
    with world.path(GEOGRAPHY).open("a") as file:
        file.write("\n" * 3_000_000)
    started = time.perf_counter()
    assert cli("plan", *world).exit_code == 0
    assert time.perf_counter() - started < 30  # a hang, not a benchmark


def test_a_value_cannot_forge_a_line(world):
    world.configure(**{"fine\nconfig.json has no problem": 1})
    result = cli("plan", *world)
    assert "fine\\nconfig.json has no problem: unknown key" in result.stderr


def test_names_that_are_not_utf8_or_too_long_are_told(world):
    strange = os.fsencode(world.data.parent) + b"/d\xff"
    world.data.rename(os.fsdecode(strange))
    for data in (os.fsdecode(strange), str(world.data / ("x" * 300))):
        result = cli("plan", world.parameters, data)
        assert result.exit_code == 1
        assert isinstance(result.exception, SystemExit)


def test_a_rule_broken_a_thousand_times_is_one_finding(world):
    world.append(CODES, *(f"x{n}|Someone" for n in range(1000)))
    result = cli("validate", *world)
    assert f"{CODES} has 1 problem" in result.stderr
    assert "and 995 more" in result.stderr


def test_lines_that_are_left_out_do_not_shift_the_numbers_of_others(world):
    world.append(GEOGRAPHY, "44|007", "44|007|0001a0|1001|99999|9999")
    result = cli("validate", *world)
    assert "as the header has: line 62." in result.stderr
    assert 'line 63 ("0001a0")' in result.stderr


def test_a_file_cannot_steer_the_terminal(world):
    world.append(CODES, "\x1b[2J|Someone")
    result = cli("validate", *world)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr


def test_unknown_keys_are_a_warning(world):
    world.configure(thresholds_p=world.config()["thresholds_p"] | {"(MOON, 1)": [1, 2, 3]}, max_race_code=3)
    result = cli("plan", *world)
    assert result.exit_code == 0
    assert "config.json has 2 warnings" in result.stderr
    assert "max_race_code: unknown key" in result.stderr
    assert "(MOON, 1): unknown level in thresholds_p" in result.stderr


@pytest.mark.parametrize(
    ("parameters", "data"), [("nowhere", "data"), ("parameters", "nowhere"), ("parameters", "data/GRF-C.txt")]
)
def test_a_directory_that_is_not_there_is_told(parameters, data, world):
    top = world.data.parent
    result = cli("plan", top / parameters, top / data)
    assert result.exit_code == 1
    assert "directory" in result.stderr


def test_bureau_files_with_windows_line_ends_and_a_byte_order_mark_are_accepted(world):
    for path in [*world.parameters.glob("*.txt"), world.path(GEOGRAPHY)]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    config = world.parameters / CONFIG
    config.write_bytes(b"\xef\xbb\xbf" + json.dumps(world.config()).encode())
    result = cli("plan", *world)
    assert (result.exit_code, result.stderr) == (0, "")
