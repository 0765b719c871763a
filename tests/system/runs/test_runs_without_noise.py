"""With budgets of a thousand million the noise vanishes, and the tables must be exactly what a slow count gives."""

import pytest

import safetab
from tests.brute_force import BruteForce, written_tables
from tests.seeds import seeds
from tests.worlds.people import write_random_world
from tests.worlds.world import World


@pytest.mark.parametrize("seed", seeds(1, 24))
def test_random_worlds_come_out_exactly(seed, tmp_path):
    world = write_random_world(tmp_path, seed)
    assert written_tables(world.run(tmp_path / "out")) == BruteForce(*world).tables()


@pytest.mark.parametrize("one", [pytest.param("us", marks=pytest.mark.slow), "pr"])
def test_a_pass_that_is_off_leaves_no_file(one, tmp_path):
    world = write_random_world(tmp_path, 2 + (one == "pr"), run_us=one == "us", run_pr=one == "pr")
    out = world.run(tmp_path / "out")
    assert {path.stem for folder in ("t1", "t2", "measurements") for path in (out / folder).iterdir()} == {one}
    assert written_tables(out) == BruteForce(*world).tables()


@pytest.mark.needs_2020_files
@pytest.mark.parametrize(
    "case",
    [
        "toy",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("tricky-3-codes", "tricky-8-codes", "two-states-20k")),
    ],
)
def test_the_cases_come_out_row_for_row_and_the_slow_count_is_right_itself(case, cases, tmp_path):
    world = World.of(cases / case)
    expected = [sorted((cases / case / f"expected/{table}.csv").read_text().splitlines()[1:]) for table in ("t1", "t2")]
    safetab.run(*world, tmp_path / "out")
    assert list(written_tables(tmp_path / "out")) == expected
    if case != "two-states-20k":
        assert list(BruteForce(*world).tables()) == expected
