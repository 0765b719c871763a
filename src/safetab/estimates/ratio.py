"""A ratio of two numbers, with the interval of Fieller's method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

from safetab.estimates.estimate import SELECTION_NOTE, Estimate, interval_words, percent
from safetab.estimates.intervals import interval_of
from safetab.estimates.linear_form import covariance
from safetab.estimates.operators import Operators
from safetab.estimates.plots import Bar, intervals_chart
from safetab.estimates.tabular import Tabular


@dataclass(frozen=True, eq=False, repr=False)
class Ratio(Operators, Tabular):
    """a / b, e.g. the share of children.

    The interval holds the ratios r for which a - r b is no farther from 0 than its noise explains: Fieller's method. If
    b itself may be 0, no ratio can be ruled out, and the interval goes from 0 to infinity. Where selection matters, it
    has all ratios of numbers in the intervals of a and b, which together hold both at the confidence.
    Proof: docs/noise.md#ratios.
    """

    a: Estimate
    b: Estimate

    @property
    def value(self) -> float | None:
        """None if b is 0 or less."""
        return float(self.a.exact_value / self.b.exact_value) if self.b.exact_value > 0 else None

    @cached_property
    def interval(self) -> tuple[float, float]:
        return self._of_both_intervals if self.selection_matters else self._fieller

    @property
    def selection_matters(self) -> bool:
        return self.a.selection_matters or self.b.selection_matters

    @property
    def holds_confidence(self) -> bool:
        return self.a.holds_confidence and self.b.holds_confidence

    @property
    def method(self) -> str:
        return "intervals of both" if self.selection_matters else "Fieller"

    @property
    def _of_both_intervals(self) -> tuple[float, float]:
        confidence = (1 + self.a.confidence) / 2
        a, b = (interval_of(one.exact_value, one.form, confidence, least=Fraction(0)) for one in (self.a, self.b))
        return (float(a.low / b.high) if b.high else 0.0), (float(a.high / b.low) if b.low else inf)

    @property
    def _fieller(self) -> tuple[float, float]:
        a, b = float(self.a.exact_value), float(self.b.exact_value)
        k_squared = self._multiplier**2
        leading = b * b - k_squared * self.b.variance
        if b <= 0 or leading <= 0:
            return 0.0, inf
        middle = a * b - k_squared * covariance(self.a.form, self.b.form)
        last = a * a - k_squared * self.a.variance
        root = sqrt(max(middle * middle - leading * last, 0.0))
        return max((middle - root) / leading, 0.0), max((middle + root) / leading, 0.0)

    @property
    def is_bounded(self) -> bool:
        return self.interval[1] < inf

    @property
    def _multiplier(self) -> float:
        """Standard deviations in a margin of error: the most of a normal distribution and of the two numbers."""
        confidence = self.a.confidence
        own = [
            float(one.noise.margin_of_error(confidence)) / sqrt(one.variance)
            for one in (self.a, self.b)
            if one.variance > 0
        ]
        return max([NormalDist().inv_cdf((1 + float(confidence)) / 2), *own])

    def __str__(self) -> str:
        head = f"{self.a.what}\n  over {self.b.what}:\n  "
        method = "from the intervals of both" if self.selection_matters else "Fieller's method"
        notes = f"\n  note: {SELECTION_NOTE}" if self.selection_matters else ""
        low, high = self.interval
        if self.value is None or not self.is_bounded:
            what = f"no ratio above {low:.4g} can be ruled out" if low else "no ratio can be ruled out"
            return head + f"{what}, since the number below may be 0 ({method})" + notes
        about = "" if self.selection_matters else "about "  # Fieller's coverage is measured, not proved
        level = percent(self.a.confidence)
        name = f"{about}{level}" if self.holds_confidence else f"noise, not at {level}"
        return head + f"{self.value:.4g} ({name}: {low:.4g} to {high:.4g}, {method})" + notes

    def plot(self) -> Any:
        """A chart of the ratio and its interval; needs Altair. Refused if the interval has no end."""
        low, high = self.interval
        if self.value is None or not self.is_bounded:
            raise ValueError("a ratio whose interval has no end can't be drawn: the number below may be 0.")
        bars, title = [Bar("ratio", self.value, low, high)], f"{self.a.what} over {self.b.what}"
        return intervals_chart(bars, title, interval_words(self.a.confidence))

    def rows(self) -> list[dict[str, object]]:
        low, high = self.interval
        return [
            {
                "a": self.a.what,
                "b": self.b.what,
                "ratio": self.value,
                "interval_low": low,
                "interval_high": high,
                "method": self.method,
                "holds_confidence": self.holds_confidence,
            }
        ]
