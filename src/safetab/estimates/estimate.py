"""A number with all that is known of its noise: what data users are handed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from safetab.distributions.weighted_sum import WeightedSum
from safetab.estimates.linear_form import LinearForm
from safetab.estimates.lookup import Entity
from safetab.estimates.tabular import NUMBER_SCHEMA, Tabular
from safetab.spec.iterations import CharacteristicIteration
from safetab.spec.published_lines import Sex
from safetab.spec.tables import OLDEST_AGE

Number = int | float


@dataclass(frozen=True, slots=True)
class Counted:
    """Whom a published number counts."""

    entity: Entity
    group: CharacteristicIteration
    sex: Sex
    age_start: int
    age_end: int

    @property
    def ages(self) -> tuple[int, int]:
        return self.age_start, self.age_end


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Tabular):
    """A published number, or a sum of such.

    `value` is the number with no part raised to 0, `published` what the release shows if that differs. `interval` holds
    the truth at the `confidence`; where small totals are not shown, it takes that into account.
    """

    schema = NUMBER_SCHEMA

    what: str
    exact_value: Fraction
    form: LinearForm
    confidence: Fraction
    counted: tuple[Counted, ...]
    published: int | None = None
    notes: tuple[str, ...] = ()
    selection_aware: tuple[int, int] | None = None
    combined: Estimate | None = field(default=None)

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

    def margin_at(self, confidence: float | str) -> Number:
        """The margin of error at another confidence, e.g. 0.99."""
        wanted = Fraction(str(confidence))
        if not 0 < wanted < 1:
            raise ValueError("a confidence lies between 0 and 1, e.g. 0.99")
        return as_number(self.noise.margin_of_error(wanted))

    @property
    def interval(self) -> tuple[Number, Number]:
        """The true size is in here at the confidence; never below 0, since no group is smaller."""
        if self.selection_aware is not None:
            return self.selection_aware
        margin = self.noise.margin_of_error(self.confidence)
        low, high = self.exact_value - margin, self.exact_value + margin
        return as_number(max(low, Fraction(0))), as_number(max(high, Fraction(0)))

    def __str__(self) -> str:
        low, high = self.interval
        lines = [f"{self.what}: {shown(self.value)} ± {shown(self.margin_of_error)}"]
        lines[0] += f" ({percent(self.confidence)}: {shown(low)} to {shown(high)})"
        if self.published is not None and self.published != self.exact_value:
            lines.append(f"  shown in the release as {self.published:,}, with negative parts raised to 0")
        if self.combined is not None:
            value, margin = float(self.combined.exact_value), float(self.combined.margin_of_error)
            lines.append(f"  combined with all that was measured: {shown(value)} ± {shown(margin)}")
            lines += [f"    {note}" for note in self.combined.notes]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def rows(self) -> list[dict[str, object]]:
        low, high = self.interval
        one = self.counted[0] if len(self.counted) == 1 else None
        return [
            {
                "what": self.what,
                "geography_level": one.entity.geography.label if one else None,
                "region_id": one.entity.region_id if one else None,
                "region_name": one.entity.name if one else None,
                "iteration_code": one.group.code if one else None,
                "iteration_name": one.group.name if one else None,
                "sex": one.sex.value if one else None,
                "age_start": one.age_start if one else None,
                "age_end": one.age_end if one else None,
                "status": "number",
                "estimate": float(self.exact_value),
                "margin_of_error": float(self.margin_of_error),
                "interval_low": float(low),
                "interval_high": float(high),
                "variance": self.variance,
                "combined_total": None if self.combined is None else float(self.combined.exact_value),
                "combined_margin_of_error": None if self.combined is None else float(self.combined.margin_of_error),
                "notes": " ".join(self.notes) or None,
            }
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Tabular):
    """How far one number is from another, as far as noise lets it be known."""

    a: Estimate
    b: Estimate

    @property
    def exact_value(self) -> Fraction:
        return self.a.exact_value - self.b.exact_value

    @property
    def value(self) -> Number:
        return as_number(self.exact_value)

    @cached_property
    def noise(self) -> WeightedSum:
        return self.a.form.minus(self.b.form).noise

    @property
    def variance(self) -> float:
        return self.noise.variance

    @cached_property
    def margin_of_error(self) -> Number:
        return as_number(self.noise.margin_of_error(self.a.confidence))

    @property
    def interval(self) -> tuple[Number, Number]:
        margin = self.noise.margin_of_error(self.a.confidence)
        return as_number(self.exact_value - margin), as_number(self.exact_value + margin)

    @cached_property
    def chance_of_noise_alone(self) -> float:
        """How often noise alone makes two equal true numbers differ by this much or more, either way."""
        return self.noise.chance_of_at_least(abs(self.exact_value))

    def __str__(self) -> str:
        low, high = self.interval
        head = f"{self.a.what}\n  minus {self.b.what}:\n  {shown(self.value)} ± {shown(self.margin_of_error)}"
        head += f" ({percent(self.a.confidence)}: {shown(low)} to {shown(high)})"
        if not self.noise.parts:
            return head + "\n  Both are the same measurements, so they can't differ by noise."
        chance = self.chance_of_noise_alone
        verdict = "more than noise" if chance < 1 - self.a.confidence else "it may be noise alone"
        return head + f"\n  Noise alone makes a difference this large {chance_in_words(chance)}: {verdict}."

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
                "chance_of_noise_alone": self.chance_of_noise_alone,
            }
        ]


def as_number(exact: Fraction) -> Number:
    return int(exact) if exact.denominator == 1 else float(exact)


def shown(number: Number) -> str:
    """Thousands apart; decimals to one place."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def ages_in_words(first: int, last: int) -> str:
    if (first, last) == (0, OLDEST_AGE):
        return "all ages"
    if last == OLDEST_AGE:
        return f"{first} and over"
    return f"{first} to {last}" if first != last else f"aged {first}"


def percent(confidence: Fraction) -> str:
    return f"{float(100 * confidence):.6g} %"


def chance_in_words(chance: float) -> str:
    if chance < 1e-6:
        return "less than once in a million times"
    if chance < 0.01:
        return f"about once in {round(1 / chance):,} times"
    return f"{100 * chance:.0f} times in 100"
