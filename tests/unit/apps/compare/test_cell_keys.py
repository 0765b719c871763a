"""Perturbation tables beside those of R's ptable, and look-ups beside the package of ONS."""

import csv
import re
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import values_of
from tests.inside import CellKey, ExactTables, Known, PublishedTables, Rounding, cell_key_of_file, table_of

REFERENCE = values_of(
    """
    "a" | (2, 1.0)
    "b" | (2, 0.9)
    "c" | (4, 1.0, 0, 0.5)
    "d" | (5, 3.0, 2)
    "e" | (5, 3.0, 2, 0.5)
    "f" | (2, 1.08, 1, 0.0, (True, True, False, True))
    "g" | (3, 2.0)
    "h" | (5, 3.0)
    "k" | (3, 1.05, 1)
    """
)


@pytest.mark.parametrize(("name", "parameters"), REFERENCE)
def test_tables_are_those_of_the_r_package(name, parameters):
    """The file beside this one was made by R's ptable 0.3.3 with these parameters."""
    with Path(__file__).with_name("ptable_reference.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["conf"] == name]
    table = table_of(*parameters)
    assert (table > 0).sum() == len(rows)
    for row in rows:
        count, change = int(row["i"]), int(row["v"])
        assert table[count, change + parameters[0]] == pytest.approx(float(row["p"]), abs=1e-6)


def test_the_example_of_the_packages_vignette():
    assert table_of(2, 1.08, 1, 0.0, (True, True, False, True))[1].round(4).tolist() == [0, 0.5133, 0, 0.46, 0.0267]


def test_the_example_of_the_packages_own_tests():
    """D=5, V=3, js=2, pstay=0.5: the number of rows, and the means of chances, bounds and changes."""
    table = table_of(5, 3.0, 2, 0.5)
    counts, places = np.nonzero(table)
    upper = np.cumsum(table, axis=1)[counts, places]
    chances = table[counts, places]
    assert len(counts) == 66
    means = [chances.mean(), (upper - chances).mean(), upper.mean(), (places - 5).mean()]
    assert np.round(means, 3).tolist() == [0.136, 0.562, 0.698, 1.045]


@pytest.mark.parametrize(
    "parameters",
    literal_eval("(10, 8.0), (2, 1e-6), (3, 100.0), (5, 4.0, 3), (7, 2.01, 2), (2, 0.9, 0, 0.99), (5, 3.0, 0, 1.0)"),
)
def test_every_row_is_a_distribution_with_mean_0_and_the_variance_at_most(parameters):
    table = table_of(*parameters)
    changes = np.arange(-parameters[0], parameters[0] + 1)
    assert np.abs(table.sum(axis=1) - 1).max() < 1e-12
    assert np.abs(table @ changes).max() < 1e-9
    assert (table @ changes**2).max() < parameters[1] + 1e-9
    published = np.arange(len(table))[:, None] + changes
    assert not table[(published < 0) | ((published > 0) & (published <= [*parameters, 0][2]))].any()


def test_a_chance_to_stay_that_is_larger_than_asked_is_not_lowered():
    """Holding it at 0.07 exactly would give this row an entropy of 2.80617."""
    row = table_of(9, 21.113, 0, 0.07)[7]
    assert row[9] > 0.0704
    assert -(row[row > 0] @ np.log(row[row > 0])) > 2.80619


def test_a_cell_key_takes_its_interval_of_the_row():
    table = CellKey(np.array([[0, 1, 0], [0.25, 0.5, 0.25]]))
    keys = (np.array([0, 0.2499, 0.25, 0.7499, 0.75, 0.9999999]) * 2**64).astype(np.uint64)
    assert table.changes(np.ones(6, int), keys).tolist() == [-1, -1, 0, 0, 1, 1]
    assert table.changes(np.array([7, 0]), np.array([2**64 - 1] * 2, np.uint64)).tolist() == [1, 0]


def test_two_ones_and_a_margin_of_0_leave_1_to_3_and_0_to_2():
    """Published 1, 1 and margin 0 with D=2: the windows from which both inner cells follow."""
    known = Known(np.zeros(3), np.full(3, 50), np.ones(3), np.zeros(3, bool))
    windows = CellKey(table_of(2, 0.9)).windows(PublishedTables.of(np.array([1, 1, 0])), known)
    assert windows.firsts.tolist() == [1, 1, 0]
    assert np.diff(windows.starts).tolist() == [3, 3, 3]


# Look-ups as in the package of ONS


def ons_table(path, seed, size):
    """A file with random changes for the counts 1 to 750, and the given number of keys."""
    generator = default_rng(seed)
    counts, keys = np.repeat(np.arange(1, 751), size), np.tile(np.arange(size), 750)
    changes = np.maximum(generator.integers(-4, 5, len(counts)), -counts)
    lines = [f"{count},{key},{change}" for count, key, change in zip(counts, keys, changes, strict=True)]
    path.write_text("\n".join(["pcv,ckey,pvalue", *lines]))
    return path


@pytest.mark.parametrize(("seed", "bits"), [pytest.param(1, 8, marks=pytest.mark.slow), (2, 4), (3, 4)])
def test_look_ups_are_those_of_the_package_of_ons(seed, bits, tmp_path):
    pandas = pytest.importorskip("pandas")
    judge = pytest.importorskip("cell_key_perturbation.create_perturbed_table")
    file = ons_table(tmp_path / "ptable.csv", seed, 2**bits)
    generator = default_rng(seed)
    cells = np.minimum(generator.geometric(0.004, 60_000) - 1, 700) // generator.integers(1, 30)
    keys = generator.integers(0, 2**bits, len(cells))
    people = pandas.DataFrame({"area": cells // 10, "cell": cells % 10, "key": keys})
    theirs = judge.create_perturbed_table(people, pandas.read_csv(file), ["area"], ["cell"], "key", threshold=0)
    counts = np.bincount(cells)
    sums = np.zeros(len(counts), np.uint64)
    np.add.at(sums, cells, keys.astype(np.uint64) << np.uint64(64 - bits))
    ours = cell_key_of_file(file).protect(ExactTables(counts, sums, counts, counts), generator)
    places = (theirs["area"] * 10 + theirs["cell"]).to_numpy()
    is_ours = places < len(counts)
    assert counts.max() > 750
    assert theirs["count"].to_numpy(int)[is_ours].tolist() == ours.numbers.data[places[is_ours]].tolist()


def test_the_10_5_rule_of_the_package_of_ons_is_ours():
    pandas = pytest.importorskip("pandas")
    judge = pytest.importorskip("cell_key_perturbation.create_perturbed_table")
    tables = pytest.importorskip("cell_key_perturbation.utils.generate_test_ptable")
    counts = np.array([0, 1, 5, *range(9, 16), *range(748, 754), 1_003, 1_238])
    people = pandas.DataFrame({"cell": np.repeat(np.arange(len(counts)), counts), "key": 0})
    theirs = judge.create_perturbed_table(people, tables.generate_ptable_10_5_rule(), [], ["cell"], "key")
    ours = Rounding(((0, 5),), withheld_below=10, zeros_shown=False).protect(
        ExactTables(counts, counts.astype(np.uint64), counts, counts), default_rng(0)
    )
    for cell, count in zip(theirs["cell"], theirs["count"], strict=True):
        assert ours.numbers[cell] is np.ma.masked if count is pandas.NA else ours.numbers[cell] == count


# Files


def test_a_table_of_the_r_package_is_read_back(tmp_path):
    table = table_of(3, 1.05, 1)
    lines = [f"{count};{count + place - 3};{chance:.12f}" for (count, place), chance in np.ndenumerate(table) if chance]
    (tmp_path / "ptable.csv").write_text("\n".join(['"i";"j";"p"', *lines]))
    assert np.abs(cell_key_of_file(tmp_path / "ptable.csv").chances - table).max() < 1e-9


@pytest.mark.parametrize(
    ("text", "message"),
    values_of(
        r"""
        "" | "columns: none"
        "a,b,c\n1,2,3" | "columns: a, b, c"
        "i,j,p\n0,0,1\n1,0,0.5\n1,1,0.4" | "i = 1: the probabilities sum to 0.9, not to 1"
        "i,j,p\n0,0,1\n2,2,1" | "i = 1: the probabilities sum to 0, not to 1"
        "i,j,p\n0,0,0.5\n0,1,0.5\n1,1,1" | "i = 0: zero must stay zero"
        "i,j,p\n1,1,1.5\n1,2,-0.5" | "p: some probabilities are not between 0 and 1"
        "i,j,p\n1,-1,1" | "i, j: some counts are below 0"
        "i,j,p\n1,x,1" | "rows: some have no number"
        "i,j,p\n1,1" | "rows: some have no number"
        "i,j,p\n1,1.5,1" | "j: some values are not whole numbers"
        "i,j,p\n1,1,nan" | "p: some probabilities are not between 0 and 1"
        "i,j,p\n" | "rows: there are none"
        "pcv,ckey,pvalue\n1,0,0" | "rows: every pcv from 1 to 750 needs each ckey"
        "pcv,ckey,pvalue\n" | "rows: every pcv from 1 to 750 needs each ckey"
        """
    ),
)
def test_a_bad_table_is_refused_with_what_is_wrong(text, message, tmp_path):
    (tmp_path / "ptable.csv").write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)):
        cell_key_of_file(tmp_path / "ptable.csv")


def test_a_table_by_keys_that_would_go_below_0_is_refused(tmp_path):
    file = ons_table(tmp_path / "ptable.csv", 1, 1)
    file.write_text(re.sub("^2,0,.*", "2,0,-3", file.read_text(), flags=re.MULTILINE))
    with pytest.raises(ValueError, match="a number would be below 0"):
        cell_key_of_file(file)
