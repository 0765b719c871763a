"""The short form of the code assignments: read strictly, written so that it reads back the same."""

import hashlib
import json
import shutil
from types import MappingProxyType

import pytest

from tests.cases import values_of
from tests.commands import done, refused
from tests.conftest import SHARED
from tests.inside import (
    DelimitedRow,
    FindingsOf,
    demo_plan,
    expanded,
    plan_of_files,
    read_public_lists,
    short_form_lines,
)

LONG = "race-and-ethnicity-code-to-iteration.txt"
SHORT = "race-and-ethnicity-code-to-iteration-short-form.txt"
HEADER = "ITERATION_CODE|RACE_ETH_CODE"


def short(parameters, file, *options):
    return "lists", parameters, "--short", file, *options


def pairs_of(parameters):
    return {tuple(row.split("|")) for row in (parameters / LONG).read_text().splitlines()[1:]}


def pairs_read(parameters):
    lists = read_public_lists(parameters).require()
    return {(iteration, code) for iteration, codes in lists.codes_of_iteration.items() for code in codes}


def shortened(parameters):
    """The short form in place of the long one."""
    done(*short(parameters, parameters / SHORT))
    (parameters / LONG).unlink()


def expansion(*rows):
    """The pairs, and the errors."""
    findings = FindingsOf(SHORT)
    numbered = [DelimitedRow(number, row) for number, row in enumerate(rows, start=2)]
    pairs = expanded(numbered, {"1000", "1001", "1010", "9950"}, findings)
    return ["|".join(pair.fields) for pair in pairs], [str(one) for one in findings.findings if one.is_error]


def test_terms_are_codes_and_ranges_with_both_ends_and_spaces_where_they_may_be():
    pairs, errors = expansion((" 1002", "  1000 "), ("1003 ", "1000:1001,  1005:1010   "), ("1004", "1000:9999"))
    assert errors == []
    assert " ".join(pairs) == "1002|1000 1003|1000 1003|1001 1003|1010 1004|1000 1004|1001 1004|1010 1004|9950"


@pytest.mark.parametrize(
    ("values", "complaint"),
    values_of("""
        ["1010:1000"] | "a range must begin with its lower code"
        ["1002:1009"] | "the range contains no listed code"
        ["1000 ,1001", "1000,,1001", "1000,", "", "100", "1000:1001:1010", "1000: 1001"] | "a term must be"
    """),
)
def test_a_term_that_says_nothing_sure_is_an_error(values, complaint):
    for value in values:
        _, (error,) = expansion(("1002", value))
        assert complaint in error
        assert "line 2" in error


def test_an_iteration_twice_is_an_error():
    _, errors = expansion(("1002", "1000"), ("1002", "1001"))
    assert errors == ['ITERATION_CODE: listed more than once; keep one row per iteration: line 3 ("1002").']


def test_a_code_in_two_terms_counts_once_with_a_warning():
    findings = FindingsOf(SHORT)
    pairs = expanded([DelimitedRow(2, ("1002", "1000:1001,1001"))], {"1000", "1001"}, findings)
    assert [pair.fields for pair in pairs] == [("1002", "1000"), ("1002", "1001")]
    assert [finding.is_error for finding in findings.findings] == [False]


@pytest.mark.parametrize("name", [SHORT, LONG])
def test_long_to_short_to_long_gives_the_same_pairs_and_the_same_lists(name, world):
    """The short form is known by its values too."""
    before, lists = pairs_of(world.parameters), read_public_lists(world.parameters).require()
    shortened(world.parameters)
    (world.parameters / SHORT).rename(world.parameters / name)
    assert pairs_read(world.parameters) == before
    assert read_public_lists(world.parameters).require() == lists
    assert plan_of_files(*world).findings == ()


def test_the_demos_lists_are_the_same_again(demo_census, tmp_path):
    parameters = shutil.copytree(demo_census / "parameters", tmp_path / "parameters")
    before = pairs_of(parameters)
    shortened(parameters)
    assert pairs_read(parameters) == before


@pytest.mark.needs_2020_files
def test_the_lists_of_2020_are_the_same_again_in_fewer_terms(tmp_path):
    shutil.copytree(SHARED / "spec-2020", tmp_path, dirs_exist_ok=True)
    before = pairs_of(tmp_path)
    assert len(before) == 14_088
    shortened(tmp_path)
    header, *lines = (tmp_path / SHORT).read_text().splitlines()
    assert header == HEADER
    assert len(lines) == 3_054
    assert sum(line.count(",") + 1 for line in lines) == 3_623
    assert pairs_read(tmp_path) == before


def test_a_range_runs_over_numbers_that_no_code_has_but_not_over_a_code_of_others():
    lists = demo_plan(1_000, 1).lists
    codes = sorted(lists.code_names)
    iteration = lists.iterations[0].code
    chosen = MappingProxyType({iteration: frozenset((*codes[:3], codes[4]))})
    lines = list(short_form_lines(type(lists)(lists.code_names, lists.iterations, chosen)))
    assert lines == [HEADER, f"{iteration}|{codes[0]}:{codes[2]},{codes[4]}"]


def test_both_files_at_once_are_a_finding(world):
    done(*short(world.parameters, world.parameters / SHORT))
    told = refused("plan", *world)
    assert f"{LONG} has 1 problem" in told
    assert f"{SHORT} also exists. Keep one of the two." in told


def test_an_unknown_single_code_and_an_unknown_iteration_are_findings(world):
    shortened(world.parameters)
    world.append(SHORT, "0001|9998")
    told = refused("validate", *world)
    assert f"{SHORT} has 2 problems" in told
    assert "RACE_ETH_CODE: not in the list of codes: line" in told
    assert "ITERATION_CODE: not in the lists of iterations: line" in told


def test_the_manifest_hashes_the_short_form(releases, tmp_path):
    world = releases.people(2, people=60, budget=1).world.copy(tmp_path)
    shortened(world.parameters)
    world.configure(run_pr=False)
    manifest = (world.run(tmp_path / "out") / "manifest.json").read_text()
    digest = hashlib.sha256((world.parameters / SHORT).read_bytes()).hexdigest()
    assert f'"{SHORT}": "{digest}"' in json.dumps(json.loads(manifest))
    assert f'"{LONG}"' not in manifest


def test_a_file_that_is_there_is_not_replaced_unasked(world, tmp_path):
    command, file = short(world.parameters, tmp_path / "short.txt"), tmp_path / "short.txt"
    file.write_text("mine")
    assert "already exists" in refused(*command)
    assert file.read_text() == "mine"
    done(*command, "--overwrite")
    assert file.read_text().startswith(HEADER)


def test_lists_at_fault_are_not_written(world, tmp_path):
    world.append(LONG, "9999|1000")
    assert "not in the lists of iterations" in refused(*short(world.parameters, tmp_path / "short.txt"))
    assert not (tmp_path / "short.txt").exists()
