"""A thousand million draws against exact probabilities: chi-square over all usual values, and every tail."""

from fractions import Fraction

import numpy as np
import pytest

from tests.inside import (
    TOTAL,
    AddressedBits,
    DiscreteGaussian,
    DiscreteLaplace,
    ExactCounts,
    noisy_count,
    p_value_of_counts,
    right_to_draw,
)

DRAWS, AT_ONCE = 200_000_000, 4_000_000
NOISES = [
    DiscreteGaussian(Fraction(2500, 1067)),
    DiscreteGaussian(Fraction(5000, 159)),
    DiscreteGaussian(Fraction(625)),
    DiscreteGaussian(Fraction(1, 3)),
    DiscreteLaplace(Fraction(10)),
]
FALSE_ALARM = 1e-9 / len(NOISES)


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_a_thousand_million_draws_have_the_right_distribution(noise):
    """Chi-square and each tail; false alarm of all together 2e-9. Noise that is 0.1 % too narrow would be rejected.

    The most extreme of all draws lies where a tail has a chance between 1e-10 and 30 of one expected.
    """
    right = right_to_draw(noise, AddressedBits(bytes(range(32))))
    least, counts = -(1 << 12), np.zeros(1 << 13, dtype=np.int64)
    for first in range(0, DRAWS, AT_ONCE):
        nobody = ExactCounts(np.arange(first, first + AT_ONCE), np.zeros((AT_ONCE, 1), dtype=np.int64))
        counts += np.bincount(noisy_count(nobody, TOTAL, right)[:, 0] - least, minlength=len(counts))
    seen = {least + int(position): int(counts[position]) for position in np.flatnonzero(counts)}
    assert sum(seen.values()) == DRAWS
    assert p_value_of_counts(seen, noise) >= FALSE_ALARM
    if isinstance(noise, DiscreteGaussian) and noise.sigma_squared > 1:
        assert p_value_of_counts(seen, DiscreteGaussian(noise.sigma_squared * Fraction(999, 1000) ** 2)) < FALSE_ALARM
    for far in range(1, 200):
        expected = float(noise.tail(far)) * DRAWS
        if expected < 5:
            break
        for values in ((v for v in seen if v >= far), (v for v in seen if v <= -far)):
            observed = sum(seen[value] for value in values)
            assert abs(observed - expected) < 7.5 * np.sqrt(expected) + 7, far  # below 1e-12 for one tail
    farthest = max(map(abs, seen))
    assert float(noise.tail(farthest)) * DRAWS > 1e-10
    assert float(noise.tail(farthest + 1)) * DRAWS < 30
