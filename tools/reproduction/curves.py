"""The two curves of the paper's figures, exact."""

from __future__ import annotations

from fractions import Fraction

from safetab.inputs.tuning.paper import stage_2_noise, suppression_threshold


def suppression_curve(budget: Fraction) -> tuple[tuple[float, float], ...]:
    """The paper's Figure 1: true size over T, chance of suppression."""
    noise, threshold = stage_2_noise(budget), suppression_threshold(budget)
    return tuple(
        (size / threshold, float(noise.cdf(threshold - size).mid()))
        for size in range(2 * threshold + 1)
    )


def bias_curve(budget: Fraction) -> tuple[tuple[float, float], ...]:
    """The paper's Figure 2: true size over T, bias of a published total over T."""
    noise, threshold = stage_2_noise(budget), suppression_threshold(budget)
    return tuple(
        (size / threshold, float(noise.mean_given_at_least(threshold + 1 - size).mid()) / threshold)
        for size in range(2 * threshold + 1)
    )
