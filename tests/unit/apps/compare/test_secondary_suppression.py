"""Secondary suppression: nothing withheld can be computed by the reader that the rule states, and little is lost."""

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import digits_in, values_of
from tests.inside import ExactTables, IntegerProgram, Rows, rounding_module, secondary
from tests.random_systems import random_system, system_of, tables_of
from tests.seeds import seeds

LIMIT = 20.0
ROW = digits_in("0 1 2 3 0123")


def small(tables):
    return (tables.counts >= 1) & (tables.counts <= 2)


def protected(tables, is_primary=None, *, zeros_shown=True, limit=LIMIT, **given):
    """Which numbers are withheld, all in time."""
    is_withheld, not_finished = secondary(
        tables, small(tables) if is_primary is None else is_primary, zeros_shown=zeros_shown, limit=limit, **given
    )
    assert not not_finished
    return is_withheld.tolist()


def exactly_known(tables, is_withheld, least):
    """The withheld numbers that have one possible value, for a reader who knows that withheld ones are `least` or more."""
    known = []
    for number in np.flatnonzero(is_withheld).tolist():
        value = int(tables.counts[number])
        others = [(least, value - 1), (value + 1, value + 100)]
        if not any(low <= high and _is_possible(tables, is_withheld, least, number, low, high) for low, high in others):
            known.append(number)
    return known


def _is_possible(tables, is_withheld, least, number, low, high):
    program = IntegerProgram()
    for _ in range(int(tables.parts.members.max()) + 1):
        program.add_unknown(0, 10**6)
    for other, (start, end) in enumerate(zip(tables.parts.starts, tables.parts.starts[1:], strict=False)):
        unknowns = tables.parts.members[start:end].tolist()
        value = int(tables.counts[other])
        bounds = (least, 10**6) if is_withheld[other] else (value, value)
        program.add_row(unknowns, [1] * len(unknowns), *((low, high) if other == number else bounds))
    answer = program.solution(LIMIT)
    assert answer.is_finished
    return answer.values is not None


def test_a_row_in_which_the_usual_bound_of_zero_protects_nothing():
    """1 and 1 are withheld and their sum follows: they could be 0 and 2, but a withheld number isn't 0."""
    tables = system_of([1, 1, 7, 9], ROW).exact
    usual = protected(tables, zeros_shown=False)
    assert usual == [True, True, False, False, False]
    assert exactly_known(tables, usual, least=0) == []
    assert exactly_known(tables, usual, least=1) == [0, 1]
    right = protected(tables)
    assert right == [True, True, True, False, False]
    assert exactly_known(tables, right, least=1) == []


@pytest.mark.parametrize(
    ("counts", "width", "pattern"),
    values_of(
        """
        [1, 0, 0, 8] | 1 | "x..x."  # shown zeros stay and hide nothing
        [1, 0, 0, 0] | 1 | "x...x"  # a total that equals its only cell is withheld with it
        [1, 3, 4, 90] | 2 | "xx..."  # a 3 beside the 1 leaves 1 to 3
        [1, 3, 4, 90] | 4 | "xxx.."  # with 3 and 4 it can be 1 to 6
        [5, 6, 7, 8] | 1 | "....."  # nothing to protect
        """
    ),
)
def test_as_much_is_withheld_as_the_width_needs(counts, width, pattern):
    assert protected(system_of(counts, ROW).exact, width=width) == [mark == "x" for mark in pattern]


def test_withheld_zeros_are_protected_too():
    tables = system_of([1, 0, 0, 8], ROW).exact
    is_withheld = protected(tables, tables.counts <= 2, zeros_shown=False)
    assert is_withheld == [True, True, True, True, False]
    assert exactly_known(tables, is_withheld, least=0) == []


def test_a_group_smaller_than_the_width_is_protected():
    """All its numbers are withheld, so each can be larger by any width."""
    tables = system_of([1, 0, 0, 0], ROW).exact
    assert all(protected(tables, tables.counts < 10, zeros_shown=False, width=10))


@pytest.mark.parametrize("seed", seeds(3, 8))
def test_the_stated_reader_computes_nothing(seed):
    """Three levels, places across tracts."""
    tables = random_system(default_rng([43, seed]), tracts=5).exact
    is_withheld = np.array(protected(tables))
    assert np.all(is_withheld[small(tables)])
    assert np.all(tables.counts[is_withheld] > 0)
    assert exactly_known(tables, is_withheld, least=1) == []


def test_a_bound_of_zero_is_seen():
    """The same check, with the pattern that the usual bound gives, finds numbers that are exactly known."""
    known = 0
    for seed in 3, 4, 5:
        tables = random_system(default_rng([43, seed]), tracts=5).exact
        pattern = rounding_module._Pattern(tables, small(tables), zeros_shown=True, width=1)
        pattern.room = pattern.values
        rounding_module._protect(pattern, 1, LIMIT)
        is_withheld = small(tables) | pattern.is_number_withheld
        assert exactly_known(tables, is_withheld, least=0) == []
        known += len(exactly_known(tables, is_withheld, least=1))
    assert known >= 30


def test_a_dropped_equation_is_seen():
    """A pattern made without knowing the totals leaves numbers that follow from them."""
    tables = system_of([1, 5, 6, 9], ROW).exact
    without = tables_of(tables.counts[:4], Rows.of_lists(ROW[:4]))
    assert exactly_known(tables, [*protected(without), False], least=1) == [0]


def uneven():
    """Half people could move here, whole ones can't: the linear programs alone leave the last number exactly known."""
    return system_of([4, 4, 2, 0, 1, 1], digits_in("123 15 234 035 025 35")).exact


def test_the_audit_protects_what_only_half_people_protected(monkeypatch):
    tables = uneven()
    assert exactly_known(tables, protected(tables), least=1) == []
    monkeypatch.setattr(rounding_module, "_audit", lambda *_: False)
    assert exactly_known(tables, protected(tables), least=1) == [5]


def test_a_limit_that_comes_first_is_said():
    tables = random_system(default_rng(1)).exact
    is_withheld, not_finished = secondary(tables, small(tables), zeros_shown=True, limit=-1.0)
    assert is_withheld.tolist() == small(tables).tolist()
    assert not_finished


def test_the_same_tables_give_the_same_pattern():
    tables = random_system(default_rng(2)).exact
    assert protected(tables) == protected(tables)


JUDGE = """
import json, sys
from pytauargus import protect
for number, cells in enumerate(json.load(sys.stdin)):
    people = [(f"r{row}", f"c{column}") for row, line in enumerate(cells) for column, n in enumerate(line) for _ in range(n)]
    rows, columns = zip(*people)
    microdata = {"Region": rows, "Cell": columns, "One": [1] * len(people)}
    done = protect(microdata, ["Region", "Cell"], "One", "FREQ(3,10)", "OPT(1)", workdir=f"table{number}")
    table = done.tables[0].dataframe()
    print(json.dumps([[row.Region, row.Cell, row.status] for row in table.itertuples()]), file=sys.stderr)
"""


def judged(tables, folder):
    """The status of every number by tau-ARGUS, which writes true values into the folder that it works in."""
    given = json.dumps(tables)
    done = subprocess.run(
        [sys.executable, "-c", JUDGE], cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[[")]
    return [{(row, column): status for row, column, status in line} for line in lines]


def table_of(cells):
    """A table of two dimensions with its totals, and the names of its numbers as tau-ARGUS has them."""
    place = np.arange(cells.size).reshape(cells.shape)
    numbers = {(f"r{row}", f"c{column}"): [int(place[row, column])] for row, column in np.ndindex(*cells.shape)}
    numbers |= {(f"r{row}", "Total"): line.tolist() for row, line in enumerate(place)}
    numbers |= {("Total", f"c{column}"): line.tolist() for column, line in enumerate(place.T)}
    numbers["Total", "Total"] = place.ravel().tolist()
    return system_of(cells.ravel().tolist(), list(numbers.values())).exact, list(numbers)


@pytest.mark.slow
def test_as_few_numbers_are_withheld_as_by_tau_argus(tmp_path):
    """Tables without zeros and the usual bound of 0: the program that tau-ARGUS solves to the optimum."""
    rng = default_rng(44)
    worlds = [rng.integers(1, 13, size=(rng.integers(4, 8), rng.integers(3, 6))) for _ in range(20)]
    judgements = judged([cells.tolist() for cells in worlds], tmp_path)
    ours = optimal = 0
    for cells, judgement in zip(worlds, judgements, strict=True):
        tables, names = table_of(cells)
        is_withheld = np.array(protected(tables, zeros_shown=False))
        assert exactly_known(tables, is_withheld, least=0) == []
        by_judge = np.array([judgement[name] != "S" for name in names])
        assert exactly_known(tables, by_judge, least=0) == []
        assert np.all(by_judge[small(tables)])
        ours += int((is_withheld & ~small(tables)).sum())
        optimal += int((by_judge & ~small(tables)).sum())
    assert ours <= 1.25 * optimal
    assert optimal > 20


def test_where_nothing_is_small_nothing_is_withheld():
    nobody = ExactTables(*(np.zeros(2, kind) for kind in (int, np.uint64, int, int)), Rows.of_lists([[0], [0]]))
    assert protected(nobody, np.zeros(2, bool)) == [False, False]
