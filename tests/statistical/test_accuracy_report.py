"""Measured errors beside theory: right code is near it, and planted faults are far from it.

Distances are in standard errors. A count with a variance of 25 or more is beyond 8 of them with a chance below 2e-9
(Bernstein), a mean of 100 or more errors about as rarely: with some 30,000 overlapping distances right code fails
less than once in ten thousand times. The slow test has a fixed key, so that it fails always or never.
"""

from __future__ import annotations

from pathlib import Path

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

FAR = 8.0
KEY = bytes(range(32))


def distances(world: Path, out: Path, runs: int, statistic: str = "") -> np.ndarray:
    request = AccuracyRequest(runs, options=RunOptions(test_key=KEY))
    accuracy_files(world / "parameters", world / "data", out, request)
    table = pq.read_table(out / "accuracy.parquet")
    names = [name for name in table.column_names if name.endswith(f"{statistic}_distance")]
    return np.concatenate([table[name].drop_null().to_numpy() for name in names])


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_small_census(tmp_path_factory.mktemp("statistical") / "census")


@pytest.fixture
def plant(monkeypatch):
    """Changes the noise of every number on its way."""

    def planted(change):
        def faulty(counts, shape, right):
            noise = noisy_count(counts, shape, right) - counts.confidential_counts
            return counts.confidential_counts + change(noise)

        monkeypatch.setattr(tabulate_level_module, "noisy_count", faulty)

    return planted


@pytest.mark.slow
def test_right_code_is_near_theory(world, tmp_path):
    found = distances(world, tmp_path / "out", runs=10)
    assert len(found) > 2_000
    assert np.abs(found).max() < FAR
    assert 0.9 < np.sqrt((found**2).mean()) < 1.1


@pytest.mark.slow
def test_a_planted_bias_of_one_person_shows_up(world, tmp_path, plant):
    plant(lambda noise: noise + 1)
    assert distances(world, tmp_path / "out", 10, "bias").max() > 2 * FAR


@pytest.mark.slow
def test_noise_that_is_too_narrow_shows_up_in_the_coverage(world, tmp_path, plant):
    plant(lambda noise: np.trunc(0.9 * noise).astype(np.int64))
    assert distances(world, tmp_path / "out", 10, "coverage_90").max() > FAR


@pytest.mark.slow
def test_noise_that_is_too_wide_shows_up_in_the_coverage(world, tmp_path, plant):
    plant(lambda noise: np.rint(1.1 * noise).astype(np.int64))
    assert distances(world, tmp_path / "out", 10, "coverage_90").min() < -FAR


@pytest.mark.slow
def test_intervals_that_forget_the_selection_show_up_in_their_coverage(world, tmp_path, monkeypatch):
    """The plain margin given out as the selection-aware interval."""

    class Forgetful:
        def __init__(self, noise, _, confidence):
            self._margin = noise.margin_of_error(confidence)

        def of(self, totals):
            return np.maximum(totals - self._margin, 0), totals + self._margin

    monkeypatch.setattr(level_numbers_module, "selection_aware_intervals", Forgetful)
    assert distances(world, tmp_path / "out", 60, "selection_aware_coverage").min() < -FAR


@pytest.mark.slow
def test_two_hundred_runs_of_a_hundred_thousand_people_are_what_theory_says(tmp_path):
    """Every statistic of every class, and all of them together: their mean square is 1 within 5 %."""
    world = write_small_census(tmp_path / "census", people=100_000, tracts=200)
    found = distances(world, tmp_path / "out", runs=200)
    assert len(found) > 10_000
    assert np.abs(found).max() < FAR
    assert 0.95 < np.sqrt((found**2).mean()) < 1.05
    assert (np.abs(found) > 3).mean() < 0.006  # 0.0027 by chance; distances of overlapping classes come together
