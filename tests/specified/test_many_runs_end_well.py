"""The same as test_runs_end_well.py with every construct, and 300 worlds with odd texts: minutes of work."""

import pytest

from tests.specified.test_runs_end_well import SMALL_WORLDS, run_odd_world, run_world
from tests.worlds.specified.changed_worlds import SELECTORS

ODD_WORLDS = 300
LEAST_OF_EACH_ENDING = ODD_WORLDS // 10


@pytest.mark.slow
@pytest.mark.parametrize("families_of_one_table", [0, 1, 3])
@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("seed", SMALL_WORLDS)
def test_every_selector_runs_with_every_construct(tmp_path, seed, selector, families_of_one_table):
    run_world(tmp_path, seed, selector, families_of_one_table)


@pytest.mark.slow
def test_many_runs_with_odd_texts_are_released_or_refused_before_the_charge(tmp_path):
    """Both endings occur often, so the texts are neither all harmless nor all refused."""
    endings = [run_odd_world(tmp_path / str(seed), seed, seed) for seed in range(ODD_WORLDS)]
    assert LEAST_OF_EACH_ENDING < sum(endings) < ODD_WORLDS - LEAST_OF_EACH_ENDING
