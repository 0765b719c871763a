"""Cell suppression: small counts are withheld, then others that would give them away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safetab.comparison.protections.protection import Known, Windows, between
from safetab.comparison.protections.secondary_suppression import secondary
from safetab.comparison.tables.exact_tables import ExactTables, PublishedTables

_SECONDS = 600.0  # of work, for secondary suppression
_FEWEST_PEOPLE, _SHOWN_FROM = 15, 3  # the rules of 1980


@dataclass(frozen=True, slots=True)
class Suppression:
    """Withholds the counts 1 to `below` - 1 (and 0 unless zeros are shown); shows all others exactly.

    `has_secondary`: more numbers are withheld, so that no withheld number can be computed from sums
    to within less than `width`; only where the tables say what their numbers are sums of.
    """

    below: int
    has_secondary: bool = False
    zeros_shown: bool = True
    width: int = 1

    def protect(self, tables: ExactTables, bits: np.random.Generator) -> PublishedTables:
        """The exact numbers without those that are withheld; nothing is random."""
        del bits
        is_withheld = (tables.counts < self.below) & ((tables.counts > 0) | (not self.zeros_shown))
        if not self.has_secondary or tables.parts is None:
            return PublishedTables.of(tables.counts, is_withheld)
        is_withheld, not_finished = secondary(
            tables, is_withheld, zeros_shown=self.zeros_shown, width=self.width, limit=_SECONDS
        )
        return PublishedTables.of(tables.counts, is_withheld, is_finished=not not_finished)

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        """Shown numbers are true. A withheld number is small, or anything if it may be a secondary one."""
        values, is_shown = published.numbers.data, published.is_shown
        largest = known.most if self.has_secondary else self.below - 1
        least = np.where(is_shown, values, int(self.zeros_shown))
        return between(least, np.where(is_shown, values, largest), known)

    @property
    def largest_error(self) -> int | None:
        return 0


@dataclass(frozen=True, slots=True)
class WholeTables:
    """Withholds every number of a group of 1 to 14 people in an area; elsewhere counts of 1 and 2 become 0.

    The rules of 1980, for tables of one group each.
    """

    def protect(self, tables: ExactTables, bits: np.random.Generator) -> PublishedTables:
        """The numbers of groups that are large enough or empty; nothing is random."""
        del bits
        is_withheld = (tables.group_totals > 0) & (tables.group_totals < _FEWEST_PEOPLE)
        return PublishedTables.of(np.where(tables.counts < _SHOWN_FROM, 0, tables.counts), is_withheld)

    def windows(self, published: PublishedTables, known: Known) -> Windows:
        """Shown numbers are true, except that 0 may be 1 or 2. A withheld number is at most 14."""
        values = published.numbers.data
        most = np.where(values == 0, _SHOWN_FROM - 1, values)
        return between(values, np.where(published.is_shown, most, _FEWEST_PEOPLE - 1), known)

    @property
    def largest_error(self) -> int | None:
        return _SHOWN_FROM - 1
