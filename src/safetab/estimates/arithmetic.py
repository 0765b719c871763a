"""`a + b`, `a - b` and `a / b` for numbers with noise, and the types that have these operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

from safetab.estimates.estimate import (
    SELECTION_NOTE,
    HasNoise,
    MissingNumber,
    NoisyNumber,
    bar_of,
    cells_of,
    heads_of,
    interval_words,
    with_interval,
)
from safetab.estimates.noise import LinearForm, covariance, interval_of, sum_of_forms
from safetab.estimates.overlaps import sum_notes
from safetab.estimates.tables import Bar, HtmlTable, Tabular, intervals_chart, percent
from safetab.foundation.findings import Finding, InvalidInput, Severity

_DIFFERENCE_COLUMNS = (
    "a", "b", "difference", "margin_of_error", "interval_low", "interval_high", "variance", "holds_confidence",
    "chance_of_noise_alone",
)  # fmt: skip
_RATIO_COLUMNS = ("a", "b", "ratio", "interval_low", "interval_high", "method", "holds_confidence")


class Operators:
    """The operators of an estimate. Noise that both sides share is counted as shared.

    Both sides must be numbers of the same release. An absence is refused with its reason, because
    it is not zero.
    """

    def __add__(self, other: object) -> Estimate:
        return added(self, other)

    def __radd__(self, other: object) -> Estimate:
        """Support Python's `sum`, which starts with 0."""
        return _estimate(self) if isinstance(other, int) and other == 0 else added(other, self)

    def __sub__(self, other: object) -> Difference:
        return Difference(*_both(self, other))

    def __rsub__(self, other: object) -> Difference:
        return Difference(*_both(other, self))

    def __truediv__(self, other: object) -> Ratio:
        return Ratio(*_both(self, other))

    def __rtruediv__(self, other: object) -> Ratio:
        return Ratio(*_both(other, self))


@dataclass(frozen=True, eq=False, repr=False)
class Ratio(Operators, Tabular):
    """a / b, such as the share of children.

    The interval holds the ratios r for which a - r b is no farther from 0 than its noise explains:
    Fieller's method. If b itself may be 0, no ratio can be ruled out, and the interval goes from 0
    to infinity. Where selection matters, it has all ratios of numbers in the intervals of a and b,
    which together hold both at the confidence.

    Proof: docs/noise.md#ratios.
    """

    a: NoisyNumber
    b: NoisyNumber

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
        """How the interval was made."""
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
        """Whether the interval has an upper end."""
        return self.interval[1] < inf

    @property
    def _multiplier(self) -> float:
        """Standard deviations per margin of error: the largest of the normal's and both numbers' own."""
        confidence = self.a.confidence
        noises = [one.noise for one in (self.a, self.b) if one.variance > 0]
        own = [float(noise.margin_of_error(confidence)) / sqrt(noise.variance) for noise in noises]
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
        """A chart of the ratio and its interval.

        Needs Altair. Raises ValueError if the interval has no end.
        """
        low, high = self.interval
        if self.value is None or not self.is_bounded:
            raise ValueError("a ratio whose interval has no end can't be drawn: the number below may be 0.")
        bars, title = [Bar("ratio", self.value, low, high)], f"{self.a.what} over {self.b.what}"
        return intervals_chart(bars, title, interval_words(self.a.confidence))

    def rows(self) -> list[dict[str, object]]:
        """One row with the ratio and its interval."""
        low, high = self.interval
        values = (self.a.what, self.b.what, self.value, low, high, self.method, self.holds_confidence)
        return [dict(zip(_RATIO_COLUMNS, values, strict=True))]


_LONGEST_NAME = 200


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Operators, NoisyNumber):
    """A published number, or a sum of such numbers.

    `a + b`, `a - b` and `a / b` know which noise their parts share.
    """

    combined: Estimate | None = None
    absent: tuple[Absence, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Absence(Operators, MissingNumber):
    """Why a group has no number. Adding, subtracting or dividing it is refused with the reason."""

    instead: tuple[Estimate, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Difference(HasNoise):
    """How far one number is from another, as far as noise and selection allow to know.

    A number can be added or subtracted: (a - b) + c is how far a + c is from b.
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
        """Support Python's `sum`, which starts with 0."""
        return self if isinstance(other, int) and other == 0 else Difference(added(other, self.a), self.b)

    def __rsub__(self, other: object) -> Difference:
        return -self + other

    def __truediv__(self, other: object) -> Ratio:
        return Ratio(*_both(self, other))

    def __rtruediv__(self, other: object) -> Ratio:
        return Ratio(*_both(other, self))

    @cached_property
    def exact_value(self) -> Fraction:  # type: ignore[override] # computed, not stored
        """The difference as an exact fraction."""
        return self.a.exact_value - self.b.exact_value

    @cached_property
    def form(self) -> LinearForm:  # type: ignore[override]
        """The noise of both numbers. What they share cancels."""
        return self.a.form.minus(self.b.form)

    @property
    def confidence(self) -> Fraction:  # type: ignore[override]
        """The confidence of both numbers."""
        return self.a.confidence

    @property
    def holds_confidence(self) -> bool:  # type: ignore[override]
        """Whether the interval holds the truth as often as its confidence says."""
        return self.a.holds_confidence and self.b.holds_confidence

    @cached_property
    def chance_of_noise_alone(self) -> float | None:
        """The chance that noise makes equal true numbers differ by at least this much, in either direction.

        None if selection changes it; the interval then says whether the true numbers can be equal.
        """
        if self.selection_matters or not self.holds_confidence:
            return None
        return self.noise.chance_of_at_least(abs(self.exact_value))

    def __str__(self) -> str:
        numbers = with_interval(self, self.confidence)
        lines = [self.a.what, f"  minus {self.b.what}:", f"  {numbers}"]
        return "\n".join([*lines, *(f"  {one}" for one in self._sentences())])

    def _sentences(self) -> list[str]:
        """What the numbers mean, in sentences."""
        if not self.noise.parts:
            return ["Both are the same measurements, so they can't differ by noise."]
        sentences = []
        if self.chance_of_noise_alone is not None:
            often = chance_in_words(self.chance_of_noise_alone)
            sentences.append(f"How often noise makes equal true numbers differ by this much or more: {often}.")
        if self.holds_confidence:
            low, high = self.interval
            verdict = "not ruled out" if low <= 0 <= high else "ruled out"
            sentences.append(f"Equal true numbers are {verdict} at {percent(self.confidence)}.")
        return [*sentences, *([f"note: {SELECTION_NOTE}"] if self.selection_matters else [])]

    def html_table(self) -> HtmlTable:
        numbers = (self.a.what, self.a), (f"minus {self.b.what}", self.b), ("the difference", self)
        rows = [[name, *cells_of(one, self.confidence)] for name, one in numbers]
        return HtmlTable("The difference of two numbers", heads_of(self.confidence), rows, self._sentences())

    def plot(self) -> Any:
        """A chart of both numbers and their difference, with intervals. Needs Altair."""
        rows = [bar_of(self.a.what, self.a), bar_of(self.b.what, self.b), bar_of("the difference", self)]
        return intervals_chart(rows, "The difference of two numbers", interval_words(self.confidence), with_zero=True)

    def rows(self) -> list[dict[str, object]]:
        """One row with the difference, its interval and what noise alone explains."""
        low, high = self.interval
        numbers = [float(number) for number in (self.exact_value, self.margin_of_error, low, high)]
        certainty = (self.variance, self.holds_confidence, self.chance_of_noise_alone)
        values = (self.a.what, self.b.what, *numbers, *certainty)
        return [dict(zip(_DIFFERENCE_COLUMNS, values, strict=True))]


def chance_in_words(chance: float) -> str:
    """How often something happens, such as "3 times in 100"."""
    if chance < 1e-6:
        return "less than once in a million times"
    if chance < 0.01:
        return f"about once in {round(1 / chance):,} times"
    return f"{100 * chance:.0f} times in 100"


def added(a: object, b: object) -> Estimate:
    """The sum of two numbers. Its notes say who is counted more than once and who is missing."""
    parts = _both(a, b)
    absent = tuple({id(one): one for part in parts for one in part.absent}.values())
    notes = sum_notes(parts[0].universe, parts, absent)
    what = f"{parts[0].what} + {parts[1].what}"
    if len(what) > _LONGEST_NAME:
        what = f"the sum of {sum(len(part.counted) for part in parts):,} numbers"
    return sum_of_estimates(parts, what, notes, absent)


def _both(a: object, b: object) -> tuple[Estimate, Estimate]:
    """Both numbers. Raises InvalidInput for absences and for numbers of different releases.

    Two releases can share measurements, so the noise that their numbers share is unknown.
    """
    one, other = _estimate(a), _estimate(b)
    if len({measured.release for number in (one, other) for measured in number.form.weights}) > 1:
        raise _refusal(other.what, "is of another release. Ask one release for all numbers.")
    return one, other


def _estimate(number: object) -> Estimate:
    """The argument as an estimate. Raises InvalidInput for an absence, TypeError for others."""
    if isinstance(number, Estimate):
        return number
    if isinstance(number, Absence):
        raise _refusal(number.what, f"has no number ({number.status}). {number.reason}")
    if isinstance(number, Difference):
        raise TypeError(
            "a difference can be added up or subtracted if it comes first, as in (a - b) + c, and is not divided:"
            " the growth (a - b) / b is a / b less 1."
        )
    raise TypeError(
        f"numbers of a release are added, subtracted and divided among each other; one side is of type"
        f" {type(number).__name__}. For plain arithmetic take `value`, which has no margin of error."
    )


def _refusal(what: str, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, "the release", what, message)])


def sum_of_estimates(
    parts: Sequence[Estimate], what: str, notes: tuple[str, ...] = (), absent: tuple[Absence, ...] = ()
) -> Estimate:
    """The sum with its exact noise, whatever the parts share, and beside it the combined totals' sum."""
    answer = replace(_plain_sum(parts, what, notes), combined=_combined(parts, what), absent=absent)
    if not answer.form.selected or not answer.selection_matters:
        return answer
    selected = sum(bool(part.form.selected) for part in parts)
    note = (
        f"{selected:,} of {len(parts):,} are totals that are shown only above a threshold, and the small ones among"
        " them tend to be too large; the interval takes that into account"
    )
    return replace(answer, notes=(*notes, note))


def _plain_sum(parts: Sequence[Estimate], what: str, notes: tuple[str, ...]) -> Estimate:
    """The sum of values and of forms, without a combined total."""
    return Estimate(
        product=parts[0].product,
        universe=parts[0].universe,
        what=what,
        exact_value=sum((part.exact_value for part in parts), Fraction(0)),
        form=sum_of_forms(part.form for part in parts),
        confidence=parts[0].confidence,
        counted=tuple(one for part in parts for one in part.counted),
        notes=notes,
        holds_confidence=all(part.holds_confidence for part in parts),
    )


def _combined(parts: Sequence[Estimate], what: str) -> Estimate | None:
    """The sum of the best estimate of each part."""
    if all(part.combined is None for part in parts):
        return None
    best = [part.combined or part for part in parts]
    near = sum(bool(part.combined and part.combined.notes) for part in parts)
    note = f"{near:,} of them are near a threshold between tables, and less sure than their noise says"
    answer = _plain_sum(best, f"{what}, combined", (note,) if near else ())
    return replace(answer, holds_confidence=not near)
