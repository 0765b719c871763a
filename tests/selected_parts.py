"""Totals that passed suppression with the noise of 2020's areas, and how often intervals hold what is made of them."""

from fractions import Fraction

import numpy as np

from tests.inside import (
    SAFETAB_P,
    US,
    DiscreteGaussian,
    Estimate,
    FloatTails,
    LinearForm,
    Measured,
    Selected,
    Stage,
    sum_of_forms,
)

CONFIDENCE = Fraction(19, 20)
LEVELS = {
    "rho 0.008": (DiscreteGaussian(Fraction(625)), 93),
    "rho 0.159": (DiscreteGaussian(Fraction(5000, 159)), 21),
    "rho 0.543": (DiscreteGaussian(Fraction(5000, 543)), 11),
}
"""Noise of stage 2 and T, with a stability of 9 and nine tenths of the budget.

The levels below state in 2020 have rho 0.008 and 0.159; 0.543 is the third row of the paper's table of thresholds.
"""


def number(value, form, **more):
    return Estimate("x", Fraction(value), form, CONFIDENCE, (), product=SAFETAB_P, universe=None, **more)


def drawn(noise, size, rng):
    """Noise as numpy draws it."""
    k = np.arange(-400, 401)
    if isinstance(noise, DiscreteGaussian):
        weights = np.exp(-(k**2) / (2 * float(noise.sigma_squared)))
    else:
        weights = np.exp(-np.abs(k) / float(noise.scale))
    return rng.choice(k, size, p=weights / weights.sum())


def measured(number, noise):
    return Measured("", US.area_level("COUNTY"), str(number), "3010", Stage.STAGE_2, noise)


def published(number, level, total):
    noise, threshold = LEVELS[level]
    return LinearForm({measured(number, noise): (1,)}, {measured(number, noise): Selected(total, threshold)})


def form_of(level, totals, weights):
    return sum_of_forms([published(i, level, total).times(weights[i]) for i, total in enumerate(totals)])


def chances_of_totals(level, size, least_chance):
    """The published totals of a group of this size and their chances, without the rarest at the far end."""
    noise, threshold = LEVELS[level]
    tails = FloatTails(noise)
    totals = np.arange(threshold + 1, max(threshold, size) + 15 * int(float(noise.sigma_squared) ** 0.5) + 2)
    chances = (tails.at_least(totals - size) - tails.at_least(totals + 1 - size)) / tails.at_least(
        np.array([threshold + 1 - size])
    )
    kept = chances > least_chance
    return totals[kept], chances[kept]
