from dataclasses import replace
from fractions import Fraction

import pytest

from tests.commands import done, refused
from tests.inside import JUDGED, DiscreteGaussian, InversionTable, noisy_count_module, selftest


@pytest.mark.parametrize("command", ["audit --selftest", "selftest"])
def test_right_noise_passes_and_the_command_says_what_it_tried(command):
    """False alarm 1e-6."""
    assert done(*command.split()).count("right") == len(JUDGED) + 1


@pytest.mark.parametrize("factor", ["0.97", "1.03"])
def test_noise_three_percent_too_narrow_or_too_wide_fails(factor, monkeypatch):
    def wrong_table(noise):
        if isinstance(noise, DiscreteGaussian):
            return InversionTable(replace(noise, sigma_squared=noise.sigma_squared * Fraction(factor) ** 2))
        return InversionTable(replace(noise, scale=noise.scale * Fraction(factor)))

    monkeypatch.setattr(noisy_count_module, "inversion_table", wrong_table)
    assert [verdict.is_right for verdict in selftest()] == [False] * len(JUDGED)
    told = refused("audit", "--selftest", code=3)
    assert "The run failed: the noise of this installation is not right." in told
