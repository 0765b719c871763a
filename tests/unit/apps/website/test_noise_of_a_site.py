"""A web site names the noise that its pages compute with, and none that they can't."""

from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

from tests.inside import DiscreteLaplace, Stage, Universe, noise_of_level
from tests.noises import gaussian, laplace


@dataclass(frozen=True, slots=True)
class Staircase(DiscreteLaplace):
    """A third noise."""

    mechanism = "staircase"


def named(noise):
    design = SimpleNamespace(stages={Stage.STAGE_2: SimpleNamespace(noise=noise)}, suppression_threshold=None)
    universe = SimpleNamespace(levels=[SimpleNamespace(design=design)])
    return noise_of_level(0, cast(Universe, universe), Fraction(95, 100))["STAGE_2"]


def test_a_site_names_the_noise_of_a_level():
    assert named(gaussian(9)) == ["gaussian", 9.0]
    assert named(laplace("5/2")) == ["laplace", 2.5]


def test_a_noise_that_the_pages_do_not_know_is_refused():
    with pytest.raises(KeyError, match="staircase"):
        named(Staircase(Fraction(5, 2)))
