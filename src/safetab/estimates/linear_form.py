"""Every published number is a linear form over noisy measurements; sums and differences of numbers are forms again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from safetab.census.geography_levels import GeographyLevel
from safetab.distributions.weighted_sum import WeightedDraws, WeightedSum, weighted_sum
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage


class Measured(NamedTuple):
    """A group as one stage measured it: its total or its cells, with a draw of noise for each.

    A number that was copied names the group that gave it, so that copies share their noise by construction. The same
    group of another release has other noise; `release` is the folder.
    """

    release: str
    geography: GeographyLevel
    region_id: str
    iteration_code: str
    stage: Stage
    noise: Noise
    family: str = ""  # which of the product's tables, each with noise of its own


Weights = tuple[Fraction | int, ...]
"""One for each cell of a measured group."""


class Selected(NamedTuple):
    """A noisy total that is shown only because it is above the threshold."""

    total: int
    threshold: int


@dataclass(frozen=True, slots=True, eq=False)
class LinearForm:
    """The weight of each draw of noise in a number; which of the draws passed suppression."""

    weights: Mapping[Measured, Weights]
    selected: Mapping[Measured, Selected] = field(default_factory=dict)

    def times(self, factor: Fraction | int) -> LinearForm:
        scaled = {measured: tuple(factor * one for one in own) for measured, own in self.weights.items()}
        return LinearForm(scaled, self.selected)

    def plus(self, other: LinearForm) -> LinearForm:
        return sum_of_forms([self, other])

    def minus(self, other: LinearForm) -> LinearForm:
        return sum_of_forms([self, other.times(-1)])

    @property
    def noise(self) -> WeightedSum:
        """The distribution of the form's noise: draws are independent and symmetric, so weights count by their size."""
        draws: Counter[tuple[Noise, Fraction]] = Counter()
        for measured, own in self.weights.items():
            for weight, times in Counter(own).items():
                if weight:
                    draws[measured.noise, abs(Fraction(weight))] += times
        parts = [WeightedDraws(noise, weight, times) for (noise, weight), times in draws.items()]
        return weighted_sum(tuple(sorted(parts, key=lambda part: (str(part.noise), part.weight))))

    @property
    def selected_draws(self) -> tuple[tuple[Selected, Noise, Fraction], ...]:
        """The draws that passed suppression, with their weights; those that cancelled are left out."""
        weights = {measured: Fraction(self.weights[measured][0]) for measured in self.selected}
        return tuple((self.selected[key], key.noise, weight) for key, weight in weights.items() if weight)

    @property
    def unselected(self) -> LinearForm:
        return LinearForm({key: own for key, own in self.weights.items() if key not in self.selected})

    @property
    def counts_something_twice(self) -> bool:
        return any(weight > 1 for own in self.weights.values() for weight in own)


def covariance(a: LinearForm, b: LinearForm) -> float:
    """The covariance of the noise in two numbers, which comes from the draws that they share."""
    shared = a.weights.keys() & b.weights.keys()
    return sum(
        float(sum(one * other for one, other in zip(a.weights[key], b.weights[key], strict=True)))
        * float(key.noise.variance().mid())
        for key in shared
    )


def sum_of_forms(forms: Iterable[LinearForm]) -> LinearForm:
    total: dict[Measured, Weights] = {}
    selected: dict[Measured, Selected] = {}
    for form in forms:
        selected |= form.selected
        for measured, own in form.weights.items():
            before = total.get(measured)
            total[measured] = (
                own if before is None else tuple(one + other for one, other in zip(before, own, strict=True))
            )
    return LinearForm(total, selected)
