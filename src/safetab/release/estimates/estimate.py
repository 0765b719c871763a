"""Estimates: published numbers and their sums and differences, and the absence of a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.foundation.result_tables import HtmlTable
from safetab.model.census.groups import CharacteristicIteration
from safetab.release.estimates.noise import LinearForm, sum_of_forms
from safetab.release.estimates.noisy_number import (
    SELECTION_NOTE,
    Counted,
    NoisyNumber,
    NoNumber,
    bar_of,
    cells_of,
    chance_in_words,
    heads_of,
    interval_words,
    with_interval,
)
from safetab.release.estimates.overlaps import overlap_notes
from safetab.release.estimates.ratio import NoPlainArithmetic, Ratio, no_arithmetic_with
from safetab.release.estimates.reading.lookup import Entity
from safetab.release.estimates.tables import GROUP_COLUMNS, ProductTabular, intervals_chart, percent
from safetab.release.files.release_universe import Universe

_DIFFERENCE_COLUMNS = (
    "a", "b", "difference", "margin_of_error", "interval_low", "interval_high", "variance",
    "holds_confidence", "chance_of_noise_alone",
)  # fmt: skip
_LONGEST_NAME = 200


class _Division(NoPlainArithmetic):
    """Numbers can be divided by each other; `_both` refuses what can't."""

    def __truediv__(self, other: object) -> Ratio:
        return Ratio(*_both(self, other))

    def __rtruediv__(self, other: object) -> Ratio:
        return Ratio(*_both(other, self))


class _Operators(_Division):
    """The operators of an estimate. Noise that both sides share is counted as shared.

    Both sides must be numbers of the same release. An absence is refused with its reason, because
    it is not zero.
    """

    def __add__(self, other: object) -> Estimate:
        return _added(self, other)

    def __radd__(self, other: object) -> Estimate:
        """Support Python's `sum`, which starts with 0."""
        return _estimate(self) if isinstance(other, int) and other == 0 else _added(other, self)

    def __sub__(self, other: object) -> Difference:
        return Difference(*_both(self, other))

    def __rsub__(self, other: object) -> Difference:
        return Difference(*_both(other, self))


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(_Operators, NoisyNumber, ProductTabular):
    """A published number, or a sum of such numbers.

    `a + b`, `a - b` and `a / b` know which noise their parts share. `value` is the number with no
    part raised to 0; `published` is what the release shows if that differs. `margin_of_error`
    describes noise. `interval` holds the truth at the `confidence`, even where small totals are not
    shown, unless `holds_confidence` is False because the noise of a stage-1 total chose the table.
    `absent` lists the parts of a sum that were not published.
    """

    what: str
    exact_value: Fraction
    form: LinearForm
    confidence: Fraction
    counted: tuple[Counted, ...]
    published: int | None = None
    notes: tuple[str, ...] = ()
    combined: Estimate | None = None
    holds_confidence: bool = True
    absent: tuple[Absence, ...] = ()
    universe: Universe = field(kw_only=True)
    _least = Fraction(0)

    def __str__(self) -> str:
        lines = [f"{self.what}: {with_interval(self)}"]
        if self.published is not None and self.published != self.exact_value:
            lines.append(
                f"  shown in the release as {self.published:,}, with negative parts raised to 0"
            )
        if self.combined is not None:
            lines.append(f"  combined with all that was measured: {with_interval(self.combined)}")
            lines += [f"    {note}" for note in self.combined.notes]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def html_table(self) -> HtmlTable:
        rows = [["as published", *cells_of(self)]]
        rows += [["combined", *cells_of(self.combined)]] if self.combined else []
        return HtmlTable(self.what, heads_of(self.confidence), rows, self._all_notes)

    def plot(self) -> Any:
        """A chart of the number and its interval, with the combined number below. Needs Altair."""
        bars = [bar_of("as published", self)]
        bars += [bar_of("combined", self.combined)] if self.combined else []
        return intervals_chart(bars, self.what, interval_words(self.confidence))

    @property
    def _all_notes(self) -> tuple[str, ...]:
        return self.notes + (self.combined.notes if self.combined else ())

    def rows(self) -> list[dict[str, object]]:
        """One row with the number, what it counts, its margin and its interval."""
        low, high = self.interval
        labels = [column.name for column in self.product.label_columns]
        counted: dict[str, object] = dict.fromkeys([*GROUP_COLUMNS[1:], *labels])
        if len(self.counted) == 1:
            only = self.counted[0]
            counted = _group_cells(only.entity, only.group) | dict(
                zip(labels, only.line.labels, strict=True)
            )
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
                "combined_total": None
                if self.combined is None
                else float(self.combined.exact_value),
                "combined_margin_of_error": None
                if self.combined is None
                else float(self.combined.margin_of_error),
                "notes": "; ".join(self._all_notes) or None,
            }
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Absence(NoNumber, _Operators, ProductTabular):
    """The absence of a group's number, with its reason. Arithmetic with it is refused.

    Absent does not mean zero. A group of more than `at_most` people is suppressed with a chance
    below 1 - confidence.
    """

    entity: Entity
    group: CharacteristicIteration
    status: str
    reason: str
    at_most: int | None = None
    confidence: Fraction = Fraction(19, 20)
    instead: tuple[Estimate, ...] = ()
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
                f"  A group of more than {self.at_most:,} {self.product.record.nouns}"
                f" would be shown {percent(self.confidence)} of the time or more."
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


@dataclass(frozen=True, eq=False, repr=False)
class Difference(_Division, NoisyNumber):
    """The difference of two numbers, as far as noise and selection allow to know it.

    A number can be added or subtracted: (a - b) + c is how far a + c is from b.
    """

    a: Estimate
    b: Estimate

    def __add__(self, other: object) -> Difference:
        if isinstance(other, Difference):
            return Difference(_added(self.a, other.a), _added(self.b, other.b))
        return Difference(_added(self.a, other), self.b)

    def __sub__(self, other: object) -> Difference:
        if isinstance(other, Difference):
            return self + -other
        return Difference(self.a, _added(self.b, other))

    def __neg__(self) -> Difference:
        return Difference(self.b, self.a)

    def __radd__(self, other: object) -> Difference:
        """Support Python's `sum`, which starts with 0."""
        return (
            self
            if isinstance(other, int) and other == 0
            else Difference(_added(other, self.a), self.b)
        )

    def __rsub__(self, other: object) -> Difference:
        return -self + other

    @property
    def what(self) -> str:  # type: ignore[override] # computed, not stored
        """Both numbers, as a title."""
        return f"{self.a.what} minus {self.b.what}"

    @cached_property
    def exact_value(self) -> Fraction:  # type: ignore[override]
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
        """The chance that noise makes equal true numbers differ by at least this much.

        They may differ in either direction. The chance is None if selection changes it; the
        interval then says whether the true numbers can be equal.
        """
        if self.selection_matters or not self.holds_confidence:
            return None
        return self.noise.chance_of_at_least(abs(self.exact_value))

    def __str__(self) -> str:
        lines = [f"minus {self.b.what}:", with_interval(self), *self._sentences()]
        return "\n  ".join([self.a.what, *lines])

    def _sentences(self) -> list[str]:
        """The meaning of the numbers, in sentences."""
        if not self.noise.parts:
            return ["Both are the same measurements, so they can't differ by noise."]
        sentences = []
        if self.chance_of_noise_alone is not None:
            often = chance_in_words(self.chance_of_noise_alone)
            sentences.append(
                f"How often noise makes equal true numbers differ by this much or more: {often}."
            )
        if self.holds_confidence:
            low, high = self.interval
            verdict = "not ruled out" if low <= 0 <= high else "ruled out"
            sentences.append(f"Equal true numbers are {verdict} at {percent(self.confidence)}.")
        return [*sentences, *([f"note: {SELECTION_NOTE}"] if self.selection_matters else [])]

    def html_table(self) -> HtmlTable:
        numbers = {self.a.what: self.a, f"minus {self.b.what}": self.b, "the difference": self}
        rows = [[name, *cells_of(number)] for name, number in numbers.items()]
        return HtmlTable(
            "The difference of two numbers", heads_of(self.confidence), rows, self._sentences()
        )

    def plot(self) -> Any:
        """A chart of both numbers and their difference, with intervals. Needs Altair."""
        rows = [
            bar_of(self.a.what, self.a),
            bar_of(self.b.what, self.b),
            bar_of("the difference", self),
        ]
        return intervals_chart(
            rows, "The difference of two numbers", interval_words(self.confidence), with_zero=True
        )

    def rows(self) -> list[dict[str, object]]:
        """One row with the difference, its interval and what noise alone explains."""
        low, high = self.interval
        numbers = [float(number) for number in (self.exact_value, self.margin_of_error, low, high)]
        certainty = (self.variance, self.holds_confidence, self.chance_of_noise_alone)
        values = (self.a.what, self.b.what, *numbers, *certainty)
        return [dict(zip(_DIFFERENCE_COLUMNS, values, strict=True))]


def _added(a: object, b: object) -> Estimate:
    """The sum of two numbers. Its notes say who is counted more than once and who is missing."""
    parts = _both(a, b)
    absent = tuple({id(one): one for part in parts for one in part.absent}.values())
    what = f"{parts[0].what} + {parts[1].what}"
    if len(what) > _LONGEST_NAME:
        what = f"the sum of {sum(len(part.counted) for part in parts):,} numbers"
    return sum_of_estimates(parts, what, absent)


def _both(a: object, b: object) -> tuple[Estimate, Estimate]:
    """Both numbers. Raises InvalidInput for absences and for numbers of different releases.

    Two releases can share measurements, so the noise that their numbers share is unknown.
    """
    first, second = _estimate(a), _estimate(b)
    if len({measured.release for measured in (*first.form.weights, *second.form.weights)}) > 1:
        raise _refusal(second.what, "is of another release. Ask one release for all numbers.")
    return first, second


def _estimate(number: object) -> Estimate:
    """The argument as an estimate. Raises InvalidInput for an absence, TypeError for others."""
    if isinstance(number, Estimate):
        return number
    if isinstance(number, Absence):
        raise _refusal(number.what, f"has no number ({number.status}). {number.reason}")
    if isinstance(number, Difference):
        raise TypeError(
            "a difference can be added up or subtracted if it comes first, as in (a - b) + c,"
            " and is not divided: the growth (a - b) / b is a / b less 1."
        )
    raise no_arithmetic_with(number)


def _refusal(what: str, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, "the release", what, message)])


def sum_of_estimates(
    parts: Sequence[Estimate], what: str, absent: tuple[Absence, ...] = ()
) -> Estimate:
    """The sum with its exact noise, and beside it the sum of the combined totals.

    The noise is exact whatever the parts share. The notes say who is counted more than once and
    who is missing.
    """
    notes = _sum_notes(parts, absent)
    answer = replace(_plain_sum(parts, what, notes), combined=_combined(parts, what), absent=absent)
    if not answer.form.selected or not answer.selection_matters:
        return answer
    selected = sum(bool(part.form.selected) for part in parts)
    note = (
        f"{selected:,} of {len(parts):,} are totals that are shown only above a threshold,"
        " and the small ones among them tend to be too large;"
        " the interval takes that into account"
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
    note = (
        f"{near:,} of them are near a threshold between tables, and less sure than their noise says"
    )
    answer = _plain_sum(best, f"{what}, combined", (note,) if near else ())
    return replace(answer, holds_confidence=not near)


def _sum_notes(parts: Sequence[Estimate], absences: Sequence[Absence]) -> tuple[str, ...]:
    """Who is counted twice in a sum, and who is missing from it, in sentences."""
    counted = [one for part in parts for one in part.counted]
    notes = overlap_notes(parts[0].universe, counted, sum_of_forms([part.form for part in parts]))
    if absences:
        notes.append(
            f"{len(absences):,} of {len(parts) + len(absences):,} are absent and not in this sum,"
            " which is not the same as zero:"
            f" {shortened([one.what for one in absences], 3, '; ')}{_at_most(absences)}"
        )
    return tuple(notes)


def _at_most(absences: Sequence[Absence]) -> str:
    """The size above which the suppressed groups would nearly always have been shown, in words."""
    limits = [one.at_most for one in absences if one.at_most is not None]
    if len(limits) < len(absences):
        return ""
    often = percent(absences[0].confidence)
    return (
        f" (with more than {max(limits):,} people each would be shown {often} of the time or more)"
    )
