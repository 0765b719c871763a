"""How far two numbers are apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from safetab.distributions.weighted_sum import WeightedSum
from safetab.estimates.estimate import (
    SELECTION_NOTE,
    Estimate,
    Number,
    as_number,
    bar_of,
    cells_of,
    heads_of,
    interval_words,
    percent,
    with_interval,
)
from safetab.estimates.html import HtmlTable
from safetab.estimates.intervals import Interval, interval_of
from safetab.estimates.linear_form import LinearForm
from safetab.estimates.operators import added, divided, is_start_of_sum
from safetab.estimates.plots import intervals_chart
from safetab.estimates.tabular import Tabular

if TYPE_CHECKING:
    from safetab.estimates.ratio import Ratio


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Tabular):
    """How far one number is from another, as far as noise and selection let it be known.

    A number can be added to it and taken from it again: (a - b) + c is how far a + c is from b.
    """

    a: Estimate
    b: Estimate

    def __add__(self, other: object) -> Difference:
        if isinstance(other, Difference):
            return Difference(added(self.a, other.a), added(self.b, other.b))
        return Difference(added(self.a, other), self.b)

    def __sub__(self, other: object) -> Difference:
        if isinstance(other, Difference):
            return self + -other
        return Difference(self.a, added(self.b, other))

    def __neg__(self) -> Difference:
        return Difference(self.b, self.a)

    def __radd__(self, other: object) -> Difference:
        """So that Python's own `sum` works, which begins with 0."""
        return self if is_start_of_sum(other) else Difference(added(other, self.a), self.b)

    def __rsub__(self, other: object) -> Difference:
        return -self + other

    def __truediv__(self, other: object) -> Ratio:
        return divided(self, other)

    def __rtruediv__(self, other: object) -> Ratio:
        return divided(other, self)

    @property
    def exact_value(self) -> Fraction:
        return self.a.exact_value - self.b.exact_value

    @property
    def value(self) -> Number:
        return as_number(self.exact_value)

    @cached_property
    def _form(self) -> LinearForm:
        return self.a.form.minus(self.b.form)

    @cached_property
    def noise(self) -> WeightedSum:
        return self._form.noise

    @property
    def variance(self) -> float:
        return self.noise.variance

    @cached_property
    def margin_of_error(self) -> Number:
        """It describes the noise of both, less what they share; selection is in the interval alone."""
        return as_number(self.noise.margin_of_error(self.a.confidence))

    @cached_property
    def _interval(self) -> Interval:
        return interval_of(self.exact_value, self._form, self.a.confidence)

    @property
    def interval(self) -> tuple[Number, Number]:
        """Holds the true difference at the confidence, if `holds_confidence`."""
        return as_number(self._interval.low), as_number(self._interval.high)

    @property
    def selection_matters(self) -> bool:
        return self._interval.selection_matters

    @property
    def holds_confidence(self) -> bool:
        return self.a.holds_confidence and self.b.holds_confidence

    @cached_property
    def chance_of_noise_alone(self) -> float | None:
        """How often noise makes equal true numbers differ by this much or more, either way.

        None if selection changes it: the interval then says whether the true numbers can be equal.
        """
        if self.selection_matters or not self.holds_confidence:
            return None
        return self.noise.chance_of_at_least(abs(self.exact_value))

    def __str__(self) -> str:
        numbers = with_interval(self, self.a.confidence)
        lines = [self.a.what, f"  minus {self.b.what}:", f"  {numbers}"]
        return "\n".join([*lines, *(f"  {one}" for one in self._sentences())])

    def _sentences(self) -> list[str]:
        """What the numbers mean."""
        if not self.noise.parts:
            return ["Both are the same measurements, so they can't differ by noise."]
        sentences, chance = list[str](), self.chance_of_noise_alone
        if chance is not None:
            often = chance_in_words(chance)
            sentences.append(f"How often noise makes equal true numbers differ by this much or more: {often}.")
        if self.holds_confidence:
            low, high = self.interval
            verdict = "not ruled out" if low <= 0 <= high else "ruled out"
            sentences.append(f"Equal true numbers are {verdict} at {percent(self.a.confidence)}.")
        return [*sentences, *([f"note: {SELECTION_NOTE}"] if self.selection_matters else [])]

    def html_table(self) -> HtmlTable:
        numbers = (self.a.what, self.a), (f"minus {self.b.what}", self.b), ("the difference", self)
        rows = [[name, *cells_of(one, self.a.confidence)] for name, one in numbers]
        return HtmlTable("The difference of two numbers", heads_of(self.a.confidence), rows, self._sentences())

    def plot(self) -> Any:
        """A chart of both numbers and of their difference, with their intervals; needs Altair."""
        rows = [bar_of(self.a.what, self.a), bar_of(self.b.what, self.b), bar_of("the difference", self)]
        return intervals_chart(rows, "The difference of two numbers", interval_words(self.a.confidence), with_zero=True)

    def rows(self) -> list[dict[str, object]]:
        low, high = self.interval
        return [
            {
                "a": self.a.what,
                "b": self.b.what,
                "difference": float(self.exact_value),
                "margin_of_error": float(self.margin_of_error),
                "interval_low": float(low),
                "interval_high": float(high),
                "variance": self.variance,
                "holds_confidence": self.holds_confidence,
                "chance_of_noise_alone": self.chance_of_noise_alone,
            }
        ]


def chance_in_words(chance: float) -> str:
    if chance < 1e-6:
        return "less than once in a million times"
    if chance < 0.01:
        return f"about once in {round(1 / chance):,} times"
    return f"{100 * chance:.0f} times in 100"
