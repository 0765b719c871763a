"""Numbers with noise: what is known about the truth behind one, and how it is written.

Also why a group has no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.noise.weighted_sum import WeightedSum
from safetab.core.privacy.calibration import Stage
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.result_tables import Tabular
from safetab.model.census.groups import CharacteristicIteration
from safetab.model.products.product import Line, Product, Selector
from safetab.release.estimates.noise import Interval, LinearForm, interval_of
from safetab.release.estimates.reading.lookup import Entity
from safetab.release.estimates.tables import Bar, percent
from safetab.release.files.group_statuses import NOT_IN_FILES
from safetab.release.files.release_universe import ReleaseLevel

_Number = int | float

SELECTION_NOTE = (
    "small totals are shown only above a threshold, so that shown ones tend to be too large;"
    " the interval takes that into account"
)


class NoisyNumber(Tabular):
    """A number whose noise is a linear form over measurements, and what it says of the truth."""

    what: str
    exact_value: Fraction
    form: LinearForm
    confidence: Fraction
    holds_confidence: bool
    _least: Fraction | None = None  # no end of the interval is below it

    @property
    def value(self) -> _Number:
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
    def margin_of_error(self) -> _Number:
        """The margin of error at the number's confidence, without noise that cancels.

        Selection is considered in the interval only.
        """
        return as_number(self.noise.margin_of_error(self.confidence))

    @checks_arguments
    def margin_at(self, confidence: float | str) -> _Number:
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

    @cached_property
    def _interval(self) -> Interval:
        return interval_of(self.exact_value, self.form, self.confidence, self._least)

    @property
    def interval(self) -> tuple[_Number, _Number]:
        """An interval that holds the truth at the confidence, if `holds_confidence`.

        Only differences go below 0.
        """
        return as_number(self._interval.low), as_number(self._interval.high)

    @property
    def selection_matters(self) -> bool:
        """Whether a part is near its suppression threshold, which makes the interval asymmetric."""
        return self._interval.selection_matters


class NoNumber:
    """The lack of a number, which answers with its reason if asked for what only numbers have.

    Examples are `count` and `plot`.
    """

    if not TYPE_CHECKING:  # so that mypy finds what is lacking

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):  # of copies, which have no fields yet, and of notebooks
                raise AttributeError(name)
            raise AttributeError(
                f"no {name}: {self.what} has no number ({self.status}). {self.reason}"
            )


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


def as_number(exact: Fraction) -> _Number:
    """The fraction as an int if it is whole, else as a float."""
    return int(exact) if exact.denominator == 1 else float(exact)


def chance_in_words(chance: float) -> str:
    """The frequency of an event in words, such as "3 times in 100"."""
    if chance < 1e-6:
        return "less than once in a million times"
    if chance < 0.01:
        return f"about once in {float(f'{1 / chance:.1g}'):,.0f} times"
    return f"{100 * chance:.0f} times in 100"


def with_interval(number: NoisyNumber) -> str:
    """The number and its interval in words.

    It is called 95 % only if it holds the truth that often.
    """
    value, margin = shown(number.value), shown(number.margin_of_error)
    confidence = percent(number.confidence)
    if not number.holds_confidence:
        return f"{value}, noise ± {margin} (not at {confidence})"
    low, high = number.interval
    interval = f"{confidence}: {shown(low)} to {shown(high)}"
    if number.selection_matters:
        return f"{value} ({interval}; its noise is ± {margin})"
    return f"{value} ± {margin} ({interval})"


def heads_of(confidence: Fraction) -> tuple[str, ...]:
    """The column headings for `cells_of`."""
    return "", "number", "margin of error", f"{percent(confidence)} interval"


def cells_of(number: NoisyNumber) -> tuple[str, ...]:
    """The number, its margin and its interval as texts, in the order of `heads_of`."""
    low, high = number.interval
    sure = (
        f"{shown(low)} to {shown(high)}"
        if number.holds_confidence
        else f"not known at {percent(number.confidence)}"
    )
    return shown(number.value), f"± {shown(number.margin_of_error)}", sure


def bar_of(name: str, number: NoisyNumber) -> Bar:
    """The number with its interval, for a chart."""
    low, high = number.interval
    return Bar(name, float(number.value), float(low), float(high))


def interval_words(confidence: Fraction) -> str:
    """The meaning of a chart's lines, in words."""
    return f"the lines are {percent(confidence)} intervals"


def shown(number: _Number) -> str:
    """The number with thousands separators, and one decimal if it is not whole."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def most_if_suppressed(design: LevelDesign, confidence: Fraction) -> int | None:
    """The size above which a group is suppressed with a chance of at most 1 - confidence.

    A group of n is suppressed only if n + noise <= T. Proof: docs/noise.md#suppressed-groups.
    """
    if design.suppression_threshold is None:
        return None
    return design.suppression_threshold - design.noise(Stage.STAGE_2).quantile(1 - confidence)


def withheld_because(rule: str | None) -> str:
    """The reason why a measured number is not shown, in a sentence."""
    if rule is None:
        return "It was measured; the files that were read show X in its place."
    return f"It was measured; the rule {rule} of this release keeps it from being shown."


def reason_of(why: str | None, level: ReleaseLevel | None, product: Product, status: str) -> str:
    """The reason why a group has no number at this level, in one or two sentences."""
    if why is not None:
        return f"The group is not counted here: {why}. This does not mean zero."
    if status == NOT_IN_FILES:
        where = "it is published elsewhere, or suppressed"
        return f"It is not in the files that were read: {where}. This does not mean zero."
    if product.selector is Selector.PUBLISHED_TOTALS:
        where = f"{product.record.nouns} are counted only where there is one"
        return f"No total of its people was published, and {where}. This does not mean zero."
    limit = level.design.suppression_threshold if level is not None else None
    below = "" if limit is None else f" (its noisy total was not above {limit})"
    return (
        f"No count is published: the group is small here, or nobody is in it{below}."
        " This does not mean zero."
    )
