"""A number with everything that is known about its noise, and a missing number with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from safetab.census.iterations import CharacteristicIteration
from safetab.distributions.weighted_sum import WeightedSum
from safetab.estimates.noise import Interval, LinearForm, interval_of
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.tables import GROUP_COLUMNS, Bar, HtmlTable, ProductTabular, Tabular, intervals_chart, percent
from safetab.foundation.argument_types import checks_arguments
from safetab.planning.level_design import LevelDesign
from safetab.privacy.calibration import Stage
from safetab.products.product import Line, Product, Selector
from safetab.release.release_folder import NOT_IN_FILES
from safetab.release.release_universe import NotTabulated, ReleaseLevel, Universe


@dataclass(frozen=True, eq=False, repr=False)
class MissingNumber(ProductTabular):
    """A group without a number, and the reason. Absent does not mean zero.

    A group of more than `at_most` people is suppressed with a chance below 1 - confidence.
    """

    entity: Entity
    group: CharacteristicIteration
    status: str
    reason: str
    at_most: int | None = None
    confidence: Fraction = Fraction(19, 20)
    instead: tuple[ProductTabular, ...] = ()
    hint: str | None = None

    @property
    def what(self) -> str:
        """The group and the area, as a title."""
        return f"{self.group.name}, {self.entity.name}"

    @property
    def value(self) -> None:
        """Always None: an absent number is not zero."""
        return

    def __str__(self) -> str:
        lines = [f"{self.what}: no number ({self.status}).", f"  {self.reason}"]
        if self.at_most is not None:
            lines.append(
                f"  A group of more than {self.at_most:,} {self.product.record.nouns} would be shown"
                f" {percent(self.confidence)} of the time or more."
            )
        if self.hint:
            lines.append(f"  {self.hint}")
        if self.instead:
            lines.append("  Instead:")
            lines += [f"    {line}" for one in self.instead for line in str(one).splitlines()[:1]]
        return "\n".join(lines)

    def rows(self) -> list[dict[str, object]]:
        """One row with the status and the reason."""
        cells = _group_cells(self.entity, self.group)
        return [{"what": self.what, **cells, "status": self.status, "notes": self.reason}]


def _group_cells(entity: Entity, group: CharacteristicIteration) -> dict[str, object]:
    """The area and the group of a row, by column."""
    values = (entity.geography.label, entity.region_id, entity.name, group.code, group.name)
    return dict(zip(GROUP_COLUMNS[1:], values, strict=True))


def most_if_suppressed(design: LevelDesign, confidence: Fraction) -> int | None:
    """The size above which a group is suppressed with a chance of at most 1 - confidence.

    A group of n is suppressed only if n + noise <= T. Proof: docs/noise.md#suppressed-groups.
    """
    if design.suppression_threshold is None:
        return None
    return design.suppression_threshold - design.noise(Stage.STAGE_2).quantile(1 - confidence)


def withheld_because(rule: str | None) -> str:
    """Why a measured number is not shown, in a sentence."""
    if rule is None:
        return "It was measured; the files that were read show X in its place."
    return f"It was measured; the rule {rule} of this release keeps it from being shown."


def reason_of(why: NotTabulated | None, level: ReleaseLevel | None, product: Product, status: str) -> str:
    """Why a group has no number at this level, in one or two sentences."""
    if why is not None:
        return f"It is never tabulated there: {why.value}."
    if status == NOT_IN_FILES:
        where = "it is published elsewhere, or suppressed"
        return f"It is not in the files that were read: {where}. This does not mean zero."
    if product.selector is Selector.PUBLISHED_TOTALS:
        where = f"{product.record.nouns} are counted only where there is one"
        return f"No total of its people was published, and {where}. This does not mean zero."
    limit = level.design.suppression_threshold if level is not None else None
    below = "" if limit is None else f" (its noisy total was not above {limit})"
    return f"No count is published: the group is small here, or nobody is in it{below}. This does not mean zero."


Number = int | float

SELECTION_NOTE = (
    "small totals are shown only above a threshold, so that shown ones tend to be too large;"
    " the interval takes that into account"
)


class HasNoise(Tabular):
    """A number with noise that is a linear form over measurements, and what is known about the truth."""

    exact_value: Fraction
    form: LinearForm
    confidence: Fraction
    holds_confidence: bool
    _least: Fraction | None = None  # no end of the interval is below it

    @property
    def value(self) -> Number:
        """The number: an int, or a float if it is not whole."""
        return as_number(self.exact_value)

    @cached_property
    def noise(self) -> WeightedSum:
        """The distribution of the noise in the number."""
        return self.form.noise

    @property
    def variance(self) -> float:
        """The variance of that noise."""
        return self.noise.variance

    @cached_property
    def margin_of_error(self) -> Number:
        """The margin of error at the number's confidence, without noise that cancels.

        Selection is considered in the interval only.
        """
        return as_number(self.noise.margin_of_error(self.confidence))

    @cached_property
    def _interval(self) -> Interval:
        return interval_of(self.exact_value, self.form, self.confidence, self._least)

    @property
    def interval(self) -> tuple[Number, Number]:
        """An interval that holds the truth at the confidence, if `holds_confidence`. No size is below 0."""
        return as_number(self._interval.low), as_number(self._interval.high)

    @property
    def selection_matters(self) -> bool:
        """Whether a part is so near its suppression threshold that the interval is not symmetric."""
        return self._interval.selection_matters


@dataclass(frozen=True, slots=True)
class Counted:
    """Whom a published number counts: an area, a group and a line of its table."""

    entity: Entity
    group: CharacteristicIteration
    line: Line

    @property
    def what(self) -> str:
        """The number's title, such as "Samoan alone, Rhode Island, female 18 to 44"."""
        people = f"{self.group.name}, {self.entity.name}"
        return f"{people}, {self.line.words}" if self.line.words else people


@dataclass(frozen=True, eq=False, repr=False)
class NoisyNumber(HasNoise, ProductTabular):
    """A published number, or a sum of such numbers, without operators.

    `value` is the number with no part raised to 0; `published` is what the release shows if that
    differs. `margin_of_error` describes noise. `interval` holds the truth at the `confidence`, even
    where small totals are not shown, unless `holds_confidence` is False because the noise of a
    stage-1 total chose the table. `absent` lists the parts of a sum that were not published.
    """

    what: str
    exact_value: Fraction
    form: LinearForm
    confidence: Fraction
    counted: tuple[Counted, ...]
    published: int | None = None
    notes: tuple[str, ...] = ()
    combined: NoisyNumber | None = None
    holds_confidence: bool = True
    absent: tuple[MissingNumber, ...] = ()
    universe: Universe = field(kw_only=True)
    _least = Fraction(0)

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
        """A chart of the number and its interval, with the combined number below. Needs Altair."""
        rows = [bar_of("as published", self), *([bar_of("combined", self.combined)] if self.combined else [])]
        return intervals_chart(rows, self.what, interval_words(self.confidence))

    def rows(self) -> list[dict[str, object]]:
        """One row with the number, what it counts, its margin and its interval."""
        low, high = self.interval
        labels = [column.name for column in self.product.label_columns]
        counted: dict[str, object] = dict.fromkeys([*GROUP_COLUMNS[1:], *labels])
        if len(self.counted) == 1:
            only = self.counted[0]
            counted = _group_cells(only.entity, only.group) | dict(zip(labels, only.line.labels, strict=True))
        return [
            {
                "what": self.what,
                **counted,
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
    """The fraction as an int if it is whole, else as a float."""
    return int(exact) if exact.denominator == 1 else float(exact)


def with_interval(number: HasNoise, confidence: Fraction) -> str:
    """The number and its interval in words.

    An interval is called 95 % only if it holds the truth that often.
    """
    value, margin = shown(number.value), shown(number.margin_of_error)
    if not number.holds_confidence:
        return f"{value}, noise ± {margin} (not at {percent(confidence)})"
    low, high = number.interval
    interval = f"{percent(confidence)}: {shown(low)} to {shown(high)}"
    if number.selection_matters:
        return f"{value} ({interval}; its noise is ± {margin})"
    return f"{value} ± {margin} ({interval})"


def heads_of(confidence: Fraction) -> tuple[str, ...]:
    """The column headings for `cells_of`."""
    return "", "number", "margin of error", f"{percent(confidence)} interval"


def cells_of(number: HasNoise, confidence: Fraction) -> tuple[str, ...]:
    """The number, its margin and its interval as texts, in the order of `heads_of`."""
    low, high = number.interval
    sure = f"{shown(low)} to {shown(high)}" if number.holds_confidence else f"not known at {percent(confidence)}"
    return shown(number.value), f"± {shown(number.margin_of_error)}", sure


def bar_of(name: str, number: HasNoise) -> Bar:
    """The number with its interval, for a chart."""
    low, high = number.interval
    return Bar(name, float(number.value), float(low), float(high))


def interval_words(confidence: Fraction) -> str:
    """What the lines of a chart mean."""
    return f"the lines are {percent(confidence)} intervals"


def shown(number: Number) -> str:
    """The number with thousands separators, and one decimal if it is not whole."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"
