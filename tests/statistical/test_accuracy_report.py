"""Measured errors beside theory: right code is near it, and planted faults are far from it.

Distances are in standard errors. A count with a variance of 25 or more is beyond 8 of them with a chance below 2e-9
(Bernstein), a mean of 100 or more errors about as rarely: with some 30,000 overlapping distances right code fails
less than once in ten thousand times. The slow test has a fixed key, so that it fails always or never.
"""

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.inside import (
    AccuracyRequest,
    RunOptions,
    accuracy_files,
    level_numbers_module,
    noisy_count,
    tabulate_level_module,
)
from tests.worlds.people import write_small_census
from tests.worlds.world import World

pytestmark = pytest.mark.slow

FAR = 8.0
KEY = bytes(range(32))


def distances(world, out, runs, statistic=""):
    accuracy_files(*world, out, AccuracyRequest(runs, options=RunOptions(test_key=KEY)))
    table = pq.read_table(out / "accuracy.parquet")
    names = [name for name in table.column_names if name.endswith(f"{statistic}_distance")]
    return np.concatenate([table[name].drop_null().to_numpy() for name in names])


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World.of(write_small_census(tmp_path_factory.mktemp("statistical") / "census"))


def test_right_code_is_near_theory(world, tmp_path):
    found = distances(world, tmp_path / "out", 10)
    assert len(found) > 2_000
    assert np.abs(found).max() < FAR
    assert 0.9 < np.sqrt((found**2).mean()) < 1.1


@pytest.mark.parametrize(
    ("change", "statistic", "far", "sign"),
    [
        (lambda noise: noise + 1, "bias", 2 * FAR, 1),  # of one person
        (lambda noise: np.trunc(0.9 * noise).astype(np.int64), "coverage_90", FAR, 1),  # too narrow
        (lambda noise: np.rint(1.1 * noise).astype(np.int64), "coverage_90", FAR, -1),  # too wide
    ],
)
def test_wrong_noise_of_every_number_shows_up(change, statistic, far, sign, world, tmp_path, monkeypatch):
    def faulty(counts, shape, right):
        noise = noisy_count(counts, shape, right) - counts.confidential_counts
        return counts.confidential_counts + change(noise)

    monkeypatch.setattr(tabulate_level_module, "noisy_count", faulty)
    assert (sign * distances(world, tmp_path / "out", 10, statistic)).max() > far


def test_intervals_that_forget_the_selection_show_up_in_their_coverage(world, tmp_path, monkeypatch):
    """The plain margin given out as the selection-aware interval."""

    class Forgetful:
        def __init__(self, noise, _, confidence):
            self._margin = noise.margin_of_error(confidence)

        def of(self, totals):
            return np.maximum(totals - self._margin, 0), totals + self._margin

    monkeypatch.setattr(level_numbers_module, "selection_aware_intervals", Forgetful)
    assert distances(world, tmp_path / "out", 60, "selection_aware_coverage").min() < -FAR


def test_two_hundred_runs_of_a_hundred_thousand_people_are_what_theory_says(tmp_path):
    """Every statistic of every class, and all of them together: their mean square is 1 within 5 %."""
    world = World.of(write_small_census(tmp_path / "census", people=100_000, tracts=200))
    found = distances(world, tmp_path / "out", 200)
    assert len(found) > 10_000
    assert np.abs(found).max() < FAR
    assert 0.95 < np.sqrt((found**2).mean()) < 1.05
    assert (np.abs(found) > 3).mean() < 0.006  # 0.0027 by chance; distances of overlapping classes come together
