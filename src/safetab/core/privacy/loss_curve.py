"""The exact delta(epsilon) of the numbers drawn for one person's groups, certified.

A conversion from rho bounds this curve from above. An attack on the numbers can reach the curve
itself but never exceed it: docs/privacy.md#exact-curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import floor

from flint import arb

from safetab.core.noise.noise_distribution import NoiseDistribution, exactly, working_precision

_BITS = 256


@dataclass(frozen=True, slots=True)
class ChangedCounts:
    """Counts that one person changes by `by` each, with independent noise of one kind.

    A unit with several equal records changes each count by their number.
    """

    noise: NoiseDistribution
    number: int
    by: int = 1


@dataclass(frozen=True, slots=True)
class LossCurve:
    """Delta as a function of epsilon, for counts with one or two kinds of noise.

    Two kinds are those of stages 1 and 2.

    The shape that stage 2 measures makes no difference: a person changes one cell of each group by
    one in any shape.
    Proof: docs/privacy.md#exact-curve.
    """

    counts: tuple[ChangedCounts, ...]

    def __post_init__(self) -> None:
        if len(self.counts) not in {1, 2}:
            raise ValueError("a curve is of one or two kinds of noise")

    def delta(self, epsilon: Fraction) -> arb:
        """A ball around the smallest delta at which these counts are (epsilon, delta)-DP."""
        with working_precision(_BITS):
            parts = list(map(_losses, self.counts))
            outer, inner = (_NO_LOSS, parts[0]) if len(parts) == 1 else parts
            total = arb(0)
            for place, chance in enumerate(outer.chances):
                total += chance * inner.excess_over(epsilon - (outer.first + place * outer.step))
            return total.union(total + outer.left_out + inner.left_out)


@dataclass(frozen=True, slots=True, eq=False)
class _Losses:
    """The distribution of a loss, except a negligible rest.

    The loss has the values `first`, `first` + `step`, ...
    """

    first: Fraction
    step: Fraction
    chances: Sequence[arb]
    left_out: arb
    chances_from: Sequence[arb]  # of this value and all greater ones
    weighted_from: Sequence[arb]  # the same, each times exp(-loss)

    def excess_over(self, epsilon: Fraction) -> arb:
        """The mean of 1 - exp(epsilon - loss) where the loss exceeds epsilon, and 0 elsewhere."""
        place = max(floor((epsilon - self.first) / self.step) + 1, 0)
        if place >= len(self.chances):
            return arb(0)
        return self.chances_from[place] - arb(exactly(epsilon)).exp() * self.weighted_from[place]


def _with_sums(first: Fraction, step: Fraction, chances: Sequence[arb], left_out: arb) -> _Losses:
    weighted = [
        chance * arb(exactly(-(first + place * step))).exp() for place, chance in enumerate(chances)
    ]
    from_end = [list(accumulate(reversed(terms)))[::-1] for terms in (chances, weighted)]
    return _Losses(first, step, chances, left_out, *from_end)


_NO_LOSS = _Losses(Fraction(0), Fraction(1), [arb(1)], arb(0), [arb(1)], [arb(1)])


@lru_cache(maxsize=256)
def _losses(counts: ChangedCounts) -> _Losses:
    with working_precision(_BITS):
        return _with_sums(*counts.noise.losses(counts.number, counts.by))
