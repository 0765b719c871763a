"""Random rounding: each number goes up or down to a multiple of a base.

The chances keep its mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safetab.apps.compare.protections.method import Form, Made, Method, Place
from safetab.apps.compare.protections.protection import Known, NumberStep, Windows, from_chances
from safetab.apps.compare.tables.exact_tables import ExactTables, PublishedTables


@dataclass(frozen=True, slots=True)
class _RandomRounding(NumberStep):
    """Rounds q * base + r up with chance r / base, else down.

    Every number is rounded by itself, totals too. `is_fixed`: the keys of the people counted
    decide, so the same people are always rounded alike.
    """

    base: int
    is_fixed: bool = False
    is_drawn_again = True

    def protect(self, tables: ExactTables, bits: np.random.Generator) -> PublishedTables:
        """The rounded numbers; multiples of the base stay."""
        quotients, rest = np.divmod(tables.counts, self.base)
        uniform = tables.keys * 2.0**-64 if self.is_fixed else bits.random(len(rest))
        return PublishedTables.of((quotients + (uniform * self.base < rest)) * self.base)

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        """The true counts less than one base away: the nearer, the likelier."""
        values = published.numbers.data
        distances = np.abs(np.arange(1 - self.base, self.base))
        chances = np.broadcast_to(1 - distances / self.base, (len(values), len(distances)))
        return from_chances(values + 1 - self.base, chances, known)

    @property
    def largest_error(self) -> int:
        return self.base - 1

    @property
    def repeats_errors(self) -> bool:
        return self.is_fixed


def _random_rounding(base: int, fixed: str) -> Made:
    is_fixed = fixed == "yes"
    return _RandomRounding(
        base, is_fixed
    ), f"random rounding to base {base}{', fixed' if is_fixed else ''}"


RANDOM_ROUNDING = Method(
    "random_rounding",
    Place.NUMBERS,
    (
        Form(
            "round-random",
            _random_rounding,
            {"base": range(1, 10**4 + 1)},
            {"fixed": (("no", "yes"), "no")},
        ),
    ),
)
