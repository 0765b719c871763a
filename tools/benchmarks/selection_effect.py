"""The effect on combined totals of choosing the table by the stage-1 total.

Run it as `python -m tools.benchmarks.selection_effect`. A combined total uses the stage-1 total
again, which is known to have passed (or not) a threshold. Computed, not simulated: for a group of n
people the chance that the margin of the combined total holds n, given the table it got, by (n -
threshold) / sigma of stage 1; and how far the combined total is off on average, in its own standard
deviations.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.noise.weighted_sum import FloatTails
from safetab.core.privacy.calibration import Stage
from safetab.model.products.product import Shape
from safetab.model.products.safetab_p.safetab_p import PERSONS
from safetab.model.us.us_census import US
from safetab.release.estimates.noise import Guess, LinearForm, Measured, combined

CONFIDENCE = Fraction(19, 20)
STAGE_1, STAGE_2 = (
    DiscreteGaussian(Fraction(15000, 53)),
    DiscreteGaussian(Fraction(5000, 159)),
)  # counties, 2020
DISTANCES = (-4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4)


def combined_form(cells: int) -> tuple[float, float, float]:
    """The share of the stage-1 total, the margin and the standard deviation of a combined total."""
    own = Measured("", US.area_level("COUNTY"), "44007", "3010", Stage.STAGE_2, STAGE_2)
    first = own._replace(stage=Stage.STAGE_1, noise=STAGE_1)
    guesses = [
        Guess(Fraction(0), LinearForm({own: (1,) * cells})),
        Guess(Fraction(0), LinearForm({first: (1,)})),
    ]
    form = combined(guesses).form
    return (
        float(form.weights[first][0]),
        float(form.noise.margin_of_error(CONFIDENCE)),
        form.noise.variance**0.5,
    )


def coverage(shape: Shape, distance: float, *, is_above: bool) -> tuple[float, float, float]:
    """The chance that a group at this distance gets the shape, and its results then.

    They are how often its margin holds, and its mean error.
    """
    share, margin, deviation = combined_form(shape.cells)
    noise = np.arange(-400, 401)
    sigma = float(STAGE_1.sigma_squared) ** 0.5
    chances = np.exp(-(noise**2) / (2 * float(STAGE_1.sigma_squared)))
    passes = noise >= -round(distance * sigma)  # n + noise >= threshold
    chances = np.where(passes == is_above, chances / chances.sum(), 0.0)
    cells = FloatTails(DiscreteGaussian(shape.cells * STAGE_2.sigma_squared))
    low = np.ceil((-margin - share * noise) / (1 - share) - 1e-9).astype(np.int64)
    high = np.floor((margin - share * noise) / (1 - share) + 1e-9).astype(np.int64)
    held = cells.at_least(low) - cells.at_least(high + 1)
    reached = chances.sum()
    return (
        reached,
        (chances * held).sum() / reached,
        share * (chances * noise).sum() / reached / deviation,
    )


def called_and_missed(shape: Shape, *, is_above: bool) -> float:
    """The largest chance that a combined total is called 95 % and misses, given its shape.

    It is the most over all n. It is called so if the stage-1 total is more than 2 sigma from the
    threshold.
    """
    share, margin, _ = combined_form(shape.cells)
    noise = np.arange(-400, 401)
    sigma = float(STAGE_1.sigma_squared) ** 0.5
    chances = np.exp(-(noise**2) / (2 * float(STAGE_1.sigma_squared)))
    cells = FloatTails(DiscreteGaussian(shape.cells * STAGE_2.sigma_squared))
    low = np.ceil((-margin - share * noise) / (1 - share) - 1e-9).astype(np.int64)
    high = np.floor((margin - share * noise) / (1 - share) + 1e-9).astype(np.int64)
    missed = chances * (1 - cells.at_least(low) + cells.at_least(high + 1))
    worst = 0.0
    for distance in range(-round(7 * sigma), round(7 * sigma) + 1):
        beyond = distance + noise if is_above else -1 - distance - noise
        worst = max(worst, missed[beyond > 2 * sigma].sum() / chances[beyond >= 0].sum())
    return worst


def main() -> None:
    print(
        "Sigma as in 2020 for a county's Detailed groups; margins at 95 %. Below:"
        " the group got the coarser table."
    )
    for below, above in pairwise(PERSONS.shapes):
        print(f"\nThreshold of {above.label}")
        for shape, is_above in ((above, True), (below, False)):
            if shape is not PERSONS.total:
                print(
                    f"{shape.label}: called 95 % and missed at most"
                    f" {called_and_missed(shape, is_above=is_above):.4f}"
                )
        print(
            "(n - threshold) / sigma_1 | gets it | holds n | off by || gets the coarser | holds n"
            " | off by"
        )
        for distance in DISTANCES:
            cells = []
            for shape, is_above in ((above, True), (below, False)):
                reached, held, mean = coverage(shape, distance, is_above=is_above)
                is_combined = shape is not PERSONS.total
                shown = (
                    f"{100 * held:5.1f} % | {mean:+.2f}"
                    if is_combined and reached > 1e-5
                    else "      - |     -"
                )
                cells.append(f"{100 * reached:5.1f} % | {shown}")
            print(f"{distance:+25.1f} | " + " || ".join(cells))


if __name__ == "__main__":
    main()
