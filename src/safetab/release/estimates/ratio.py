"""The ratio of two numbers with noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, sqrt
from statistics import NormalDist
from typing import Any, NoReturn

from safetab.foundation.result_tables import Tabular
from safetab.release.estimates.noise import covariance, interval_of
from safetab.release.estimates.noisy_number import SELECTION_NOTE, NoisyNumber, interval_words
from safetab.release.estimates.tables import Bar, intervals_chart, percent

_RATIO_COLUMNS = ("a", "b", "ratio", "interval_low", "interval_high", "method", "holds_confidence")


def no_arithmetic_with(operand: object) -> TypeError:
    """The error to raise for an operand that is not a number of a release."""
    return TypeError(
        "numbers of a release are added, subtracted and divided among each other; one side is of"
        f" type {type(operand).__name__}."
        " For plain arithmetic take `value`, which has no margin of error."
    )


class NoPlainArithmetic:
    """Operations that a number with noise refuses, each with the reason."""

    def __mul__(self, other: object) -> NoReturn:
        raise no_arithmetic_with(other)

    __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = __mul__

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError(
            "numbers with noise are compared by their difference:"
            " print(a - b) says whether they may be equal. To sort them, take `value`."
        )

    __le__ = __gt__ = __ge__ = __lt__

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise TypeError(
            "this is a number with its margin."
            " Take `value`, a plain number, and give `margin_of_error` beside it."
        )

    __float__ = __int__ = __round__

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError(f'"{spec}" formats plain numbers. Format `value` or `margin_of_error`.')
        return str(self)


@dataclass(frozen=True, eq=False, repr=False)
class Ratio(NoPlainArithmetic, Tabular):
    """a / b, such as the share of children.

    The interval holds the ratios r for which a - r b is no farther from 0 than its noise explains:
    Fieller's method. If b itself may be 0, no ratio can be ruled out, and the interval goes from 0
    to infinity. Where selection matters, it has all ratios of numbers in the intervals of a and b,
    which together hold both at the confidence.

    Proof: docs/noise.md#ratios.
    """

    a: NoisyNumber
    b: NoisyNumber

    def __add__(self, other: object) -> NoReturn:
        raise no_arithmetic_with(self)

    __radd__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __add__

    @property
    def value(self) -> float | None:
        """The ratio, or None if b is 0 or less."""
        return float(self.a.exact_value / self.b.exact_value) if self.b.exact_value > 0 else None

    @cached_property
    def interval(self) -> tuple[float, float]:
        """An interval that holds the true ratio at the confidence, if `holds_confidence`."""
        return self._of_both_intervals if self.selection_matters else self._fieller

    @property
    def selection_matters(self) -> bool:
        """Whether the interval of a or b is shaped by suppression."""
        return self.a.selection_matters or self.b.selection_matters

    @property
    def holds_confidence(self) -> bool:
        """Whether the interval holds the truth as often as its confidence says."""
        return self.a.holds_confidence and self.b.holds_confidence

    @property
    def method(self) -> str:
        """The name of the method that made the interval."""
        return "intervals of both" if self.selection_matters else "Fieller"

    @property
    def _of_both_intervals(self) -> tuple[float, float]:
        """All ratios of numbers in intervals of a and b.

        Together the intervals hold both numbers at the confidence.
        """
        confidence = (1 + self.a.confidence) / 2
        a = interval_of(self.a.exact_value, self.a.form, confidence, least=Fraction(0))
        b = interval_of(self.b.exact_value, self.b.form, confidence, least=Fraction(0))
        return (float(a.low / b.high) if b.high else 0.0), (float(a.high / b.low) if b.low else inf)

    @property
    def _fieller(self) -> tuple[float, float]:
        """The ratios r for which a - r b is no farther from 0 than its margin of error."""
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
        """Whether the interval has an upper end."""
        return self.interval[1] < inf

    @property
    def _multiplier(self) -> float:
        """Standard deviations per margin of error: the largest of the normal's and both's own."""
        confidence = self.a.confidence
        noises = [self.a.noise, self.b.noise]
        own = [
            float(one.margin_of_error(confidence)) / sqrt(one.variance)
            for one in noises
            if one.variance > 0
        ]
        return max([NormalDist().inv_cdf((1 + float(confidence)) / 2), *own])

    def __str__(self) -> str:
        head = f"{self.a.what}\n  over {self.b.what}:\n  "
        method = "from the intervals of both" if self.selection_matters else "Fieller's method"
        notes = f"\n  note: {SELECTION_NOTE}" if self.selection_matters else ""
        low, high = self.interval
        if self.value is None or not self.is_bounded:
            what = (
                f"no ratio above {low:.4g} can be ruled out" if low else "no ratio can be ruled out"
            )
            return head + f"{what}, since the number below may be 0 ({method})" + notes
        # Fieller's coverage is measured, not proved.
        about = "" if self.selection_matters else "about "
        level = percent(self.a.confidence)
        name = f"{about}{level}" if self.holds_confidence else f"noise, not at {level}"
        return head + f"{self.value:.4g} ({name}: {low:.4g} to {high:.4g}, {method})" + notes

    def plot(self) -> Any:
        """A chart of the ratio and its interval.

        Needs Altair. Raises ValueError if the interval has no end.
        """
        low, high = self.interval
        if self.value is None or not self.is_bounded:
            raise ValueError(
                "a ratio whose interval has no end can't be drawn: the number below may be 0."
            )
        title = f"{self.a.what} over {self.b.what}"
        return intervals_chart(
            [Bar("ratio", self.value, low, high)], title, interval_words(self.a.confidence)
        )

    def rows(self) -> list[dict[str, object]]:
        """One row with the ratio and its interval."""
        low, high = self.interval
        values = (
            self.a.what,
            self.b.what,
            self.value,
            low,
            high,
            self.method,
            self.holds_confidence,
        )
        return [dict(zip(_RATIO_COLUMNS, values, strict=True))]
