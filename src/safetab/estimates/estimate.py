"""A number with all that is known of its noise: what data users are handed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from safetab.census.iterations import CharacteristicIteration
from safetab.distributions.weighted_sum import WeightedSum
from safetab.estimates.html import HtmlTable
from safetab.estimates.intervals import Interval, interval_of
from safetab.estimates.linear_form import LinearForm
from safetab.estimates.operators import Operators
from safetab.estimates.plots import Bar, intervals_chart
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.tabular import ProductTabular
from safetab.foundation.argument_types import checks_arguments
from safetab.products.product import Line
from safetab.release.release_universe import Universe

if TYPE_CHECKING:
    from safetab.estimates.reading.absence import Absence

Number = int | float

SELECTION_NOTE = (
    "small totals are shown only above a threshold, so that shown ones tend to be too large;"
    " the interval takes that into account"
)


class HasInterval(Protocol):
    """A number, its noise, and what is known of the truth."""

    @property
    def value(self) -> Number: ...
    @property
    def margin_of_error(self) -> Number: ...
    @property
    def interval(self) -> tuple[Number, Number]: ...
    @property
    def selection_matters(self) -> bool: ...
    @property
    def holds_confidence(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Counted:
    """Whom a published number counts."""

    entity: Entity
    group: CharacteristicIteration
    line: Line

    @property
    def what(self) -> str:
        people = f"{self.group.name}, {self.entity.name}"
        return f"{people}, {self.line.words}" if self.line.words else people


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Operators, ProductTabular):
    """A published number, or a sum of such: `a + b`, `a - b` and `a / b` know what noise their parts share.

    `value` is the number with no part raised to 0, `published` what the release shows if that differs.
    `margin_of_error` describes noise. `interval` holds the truth at the `confidence`, also where small totals are not
    shown; unless `holds_confidence` is False, since the noise of a stage-1 total chose the table. `absent` is what a
    sum would have in it if it had been published.
    """

    what: str
    exact_value: Fraction
    form: LinearForm
    confidence: Fraction
    counted: tuple[Counted, ...]
    published: int | None = None
    notes: tuple[str, ...] = ()
    combined: Estimate | None = field(default=None)
    holds_confidence: bool = True
    absent: tuple[Absence, ...] = ()
    universe: Universe = field(kw_only=True)

    @property
    def value(self) -> Number:
        return as_number(self.exact_value)

    @cached_property
    def noise(self) -> WeightedSum:
        return self.form.noise

    @property
    def variance(self) -> float:
        return self.noise.variance

    @cached_property
    def margin_of_error(self) -> Number:
        return as_number(self.noise.margin_of_error(self.confidence))

    @checks_arguments
    def margin_at(self, confidence: float | str) -> Number:
        """The margin of error at another confidence.

        Args:
            confidence: How often the truth is within the margin, e.g. 0.99.
        """
        try:
            wanted = Fraction(str(confidence))
        except ValueError:
            wanted = Fraction(0)
        if not 0 < wanted < 1:
            raise ValueError("a confidence lies between 0 and 1, e.g. 0.99")
        return as_number(self.noise.margin_of_error(wanted))

    @property
    def interval(self) -> tuple[Number, Number]:
        """The true size is in here at the confidence; never below 0, since no group is smaller."""
        return as_number(self._interval.low), as_number(self._interval.high)

    @cached_property
    def _interval(self) -> Interval:
        return interval_of(self.exact_value, self.form, self.confidence, least=Fraction(0))

    @property
    def selection_matters(self) -> bool:
        """Whether parts are so near to their thresholds that the interval is not the number and its margin."""
        return self._interval.selection_matters

    def __str__(self) -> str:
        lines = [f"{self.what}: {with_interval(self, self.confidence)}"]
        if self.published is not None and self.published != self.exact_value:
            lines.append(f"  shown in the release as {self.published:,}, with negative parts raised to 0")
        if self.combined is not None:
            lines.append(f"  combined with all that was measured: {with_interval(self.combined, self.confidence)}")
            lines += [f"    {note}" for note in self.combined.notes]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def html_table(self) -> HtmlTable:
        of_both = [("as published", self), *([("combined", self.combined)] if self.combined else [])]
        rows = [[name, *cells_of(one, self.confidence)] for name, one in of_both]
        notes = [*self.notes, *(self.combined.notes if self.combined else ())]
        return HtmlTable(self.what, heads_of(self.confidence), rows, notes)

    def plot(self) -> Any:
        """A chart of the number and its interval, with the combined one below; needs Altair."""
        rows = [bar_of("as published", self), *([bar_of("combined", self.combined)] if self.combined else [])]
        return intervals_chart(rows, self.what, interval_words(self.confidence))

    def rows(self) -> list[dict[str, object]]:
        low, high = self.interval
        one = self.counted[0] if len(self.counted) == 1 else None
        labels = [column.name for column in self.product.label_columns]
        return [
            {
                "what": self.what,
                "geography_level": one.entity.geography.label if one else None,
                "region_id": one.entity.region_id if one else None,
                "region_name": one.entity.name if one else None,
                "iteration_code": one.group.code if one else None,
                "iteration_name": one.group.name if one else None,
                **(dict(zip(labels, one.line.labels, strict=True)) if one else dict.fromkeys(labels)),
                "status": "number",
                "estimate": float(self.exact_value),
                "margin_of_error": float(self.margin_of_error),
                "interval_low": float(low),
                "interval_high": float(high),
                "variance": self.variance,
                "combined_total": None if self.combined is None else float(self.combined.exact_value),
                "combined_margin_of_error": None if self.combined is None else float(self.combined.margin_of_error),
                "notes": " ".join([*self.notes, *(self.combined.notes if self.combined else ())]) or None,
            }
        ]


def as_number(exact: Fraction) -> Number:
    return int(exact) if exact.denominator == 1 else float(exact)


def with_interval(number: HasInterval, confidence: Fraction) -> str:
    """The number with its interval under its true name: only what holds the truth so often is called 95 %."""
    value, margin = shown(number.value), shown(number.margin_of_error)
    if not number.holds_confidence:
        return f"{value}, noise ± {margin} (not at {percent(confidence)})"
    low, high = number.interval
    interval = f"{percent(confidence)}: {shown(low)} to {shown(high)}"
    return (
        f"{value} ({interval}; its noise is ± {margin})"
        if number.selection_matters
        else f"{value} ± {margin} ({interval})"
    )


def heads_of(confidence: Fraction) -> tuple[str, ...]:
    return "", "number", "margin of error", f"{percent(confidence)} interval"


def cells_of(number: HasInterval, confidence: Fraction) -> tuple[str, ...]:
    """The number, its margin and its interval in texts, under the names of `heads_of`."""
    low, high = number.interval
    sure = f"{shown(low)} to {shown(high)}" if number.holds_confidence else f"not known at {percent(confidence)}"
    return shown(number.value), f"± {shown(number.margin_of_error)}", sure


def bar_of(name: str, number: HasInterval) -> Bar:
    low, high = number.interval
    return Bar(name, float(number.value), float(low), float(high))


def interval_words(confidence: Fraction) -> str:
    return f"the lines are {percent(confidence)} intervals"


def shown(number: Number) -> str:
    """Thousands apart; decimals to one place."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def percent(confidence: Fraction) -> str:
    return f"{float(100 * confidence):.6g} %"
