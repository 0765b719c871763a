"""Seeds of random worlds: a few by day, the same each time; at night more, which no night before had."""

import os

import pytest


def seeds(by_day, at_night):
    """Parameters of a test. `make nightly` gives and prints NIGHT, where the seeds of its slow ones begin."""
    first = int(os.environ.get("NIGHT", by_day))
    of_the_night = range(first, first + at_night - by_day)
    return [*range(by_day), *(pytest.param(seed, marks=pytest.mark.slow) for seed in of_the_night)]
