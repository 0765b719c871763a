"""Better totals for free: independent estimates of one total, weighted so that their noise is least.

A decimal of its own beside the published number, which stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel
from safetab.estimates.linear_form import LinearForm, sum_of_forms
from safetab.release.release_universe import Universe

_FINEST_SHARE = 10_000  # weights are fractions with at most this denominator: it costs below 1e-5 of the variance


@dataclass(frozen=True, slots=True)
class Guess:
    """An unbiased estimate of a total. `near` is how many stage-1 totals in it are near a threshold between tables."""

    value: Fraction
    form: LinearForm
    near: int = 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """A table as it was measured: its total, how many cells that sums, and the variance of one."""

    total: Guess
    cells: int
    variance: float


def combined(guesses: Sequence[Guess]) -> Guess:
    """The weighted mean of independent guesses, with weights that add up to 1 and are about as 1 / variance.

    Proof: docs/noise.md#combined-totals.
    """
    result = guesses[0]
    for other in guesses[1:]:
        own, its = result.form.noise.variance, other.form.noise.variance
        share = share_of_first(own, its)
        result = Guess(
            share * result.value + (1 - share) * other.value,
            sum_of_forms([result.form.times(share), other.form.times(1 - share)]),
            result.near + other.near,
        )
    return result


def adjusted(line: Guess, cells: int, own: Measurement, other: Measurement, *, is_first: bool) -> Guess:
    """A line of so many cells of one table, after least squares makes two tables of the same records agree in total.

    `is_first` says which of the two tables it is: the shares of both are rounded so that the totals are equal.
    Proof: docs/noise.md#adjusted-cells.
    """
    share = _share_of_a_cell(own, other) if is_first else (1 - other.cells * _share_of_a_cell(other, own)) / own.cells
    difference = own.total.form.minus(other.total.form)
    value = line.value - cells * share * (own.total.value - other.total.value)
    return Guess(value, line.form.minus(difference.times(cells * share)))


def _share_of_a_cell(first: Measurement, second: Measurement) -> Fraction:
    """How much of the difference of the totals each cell of the first table gives up."""
    both = first.cells * first.variance + second.cells * second.variance
    return Fraction(first.variance / both if both else 0).limit_denominator(_FINEST_SHARE)


def share_of_first(own_variance: float, other_variance: float) -> Fraction:
    """The weight of the first of two independent guesses; the other has the rest."""
    both = own_variance + other_variance
    return Fraction(other_variance / both).limit_denominator(_FINEST_SHARE) if both else Fraction(1)


def parts_of_regional_group(
    universe: Universe, group: CharacteristicIteration, geography: GeographyLevel
) -> tuple[CharacteristicIteration, ...]:
    """The Detailed ethnicity groups that together are exactly this Regional one, by the public list of codes.

    Only for nation and states, where nothing is suppressed; everybody has one ethnicity code, so that no one is in two
    of the parts. Empty if there are no such parts.
    """
    if geography.is_substate:
        return ()
    if group.kind is not IterationKind.ETHNICITY or group.level is not IterationLevel.REGIONAL:
        return ()
    codes = universe.lists.codes_of_iteration
    whole = codes.get(group.code, frozenset())
    detailed = universe.level_of(geography, IterationLevel.DETAILED)
    parts = tuple(
        one
        for one in detailed.iterations
        if one.kind is IterationKind.ETHNICITY
        and detailed.why_not_tabulated(one) is None
        and codes.get(one.code)
        and codes[one.code] <= whole
    )
    held = [code for one in parts for code in codes[one.code]]
    return parts if sorted(held) == sorted(whole) else ()
