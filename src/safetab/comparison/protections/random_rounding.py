"""Unbiased random rounding: up to the next multiple with the chance that keeps the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safetab.comparison.protections.protection import Known, Windows, from_chances
from safetab.comparison.tables.exact_tables import ExactTables, PublishedTables


@dataclass(frozen=True, slots=True)
class RandomRounding:
    """Rounds q * base + r up with chance r / base, else down. Every number by itself, totals too.

    `is_fixed`: the chance is decided by the keys of the people counted, so the same people are
    always rounded alike.
    """

    base: int
    is_fixed: bool = False

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
    def largest_error(self) -> int | None:
        return self.base - 1
