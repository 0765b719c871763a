"""With budgets of a thousand million the noise vanishes, and the tables must be exactly what a slow count gives."""

from __future__ import annotations

import pytest

import safetab
from tests.brute_force import BruteForce, written_tables
from tests.seeds import seeds
from tests.worlds.people import write_random_world


@pytest.mark.parametrize("seed", seeds(4, 24))
def test_random_worlds_come_out_exactly(seed, tmp_path):
    world = write_random_world(tmp_path, seed)
    safetab.run(*world, tmp_path / "out")
    assert written_tables(tmp_path / "out") == BruteForce(*world).tables()


@pytest.mark.parametrize(("run_us", "run_pr"), [(True, False), (False, True)])
def test_a_pass_that_is_off_leaves_no_file(run_us, run_pr, tmp_path):
    world = write_random_world(tmp_path, 1, run_us=run_us, run_pr=run_pr)
    safetab.run(*world, tmp_path / "out")
    assert (tmp_path / "out" / "t1" / "us.csv").exists() == run_us
    assert (tmp_path / "out" / "measurements" / "pr.parquet").exists() == run_pr
    assert written_tables(tmp_path / "out") == BruteForce(*world).tables()


@pytest.mark.needs_2020_files
@pytest.mark.parametrize(
    "case", ["toy", "tricky-8-codes", "tricky-3-codes", pytest.param("two-states-20k", marks=pytest.mark.slow)]
)
def test_the_cases_come_out_row_for_row(case, cases, tmp_path):
    safetab.run(cases / case / "parameters", cases / case / "data", tmp_path / "out")
    expected = [
        sorted((cases / case / "expected" / f"{table}.csv").read_text().splitlines()[1:]) for table in ("t1", "t2")
    ]
    assert list(written_tables(tmp_path / "out")) == expected


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("case", ["toy", "tricky-8-codes", "tricky-3-codes"])
def test_the_slow_count_is_right_itself(case, cases):
    expected = [
        sorted((cases / case / "expected" / f"{table}.csv").read_text().splitlines()[1:]) for table in ("t1", "t2")
    ]
    assert list(BruteForce(cases / case / "parameters", cases / case / "data").tables()) == expected
