"""A whole release, counted level by level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import pyarrow as pa

from safetab.census.geography_levels import TabulationPass
from safetab.foundation.in_threads import results_in_threads
from safetab.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.products.product import TableFamily
from safetab.products.record import RecordLayout
from safetab.release.documents import ReleaseFacts
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import Universe
from safetab.reports.level_summary import LevelSummary, level_summary


@dataclass(frozen=True, eq=False)
class ReleaseSummary:
    """All that the page is made from."""

    facts: ReleaseFacts
    universe: Universe
    levels: tuple[LevelSummary, ...]

    @property
    def family(self) -> TableFamily:
        """The family that the levels are of; the first, if they are of several."""
        return self.levels[0].facts.family

    def by_family(self) -> tuple[ReleaseSummary, ...]:
        """The same for each table family, with its levels alone."""
        return tuple(
            replace(self, levels=tuple(level for level in self.levels if level.facts.family is family))
            for family in self.universe.product.families
        )

    @property
    def detail(self) -> str:
        """What the tables show beyond totals."""
        return " and ".join(family.detail for family in self.universe.product.families)

    @property
    def record(self) -> RecordLayout:
        return self.universe.product.record

    @property
    def confidence(self) -> Fraction:
        return self.facts.options.confidence

    @property
    def confidence_text(self) -> str:
        return f"{float(100 * self.confidence):.10g}%"

    @property
    def measured_levels(self) -> tuple[LevelSummary, ...]:
        return tuple(level for level in self.levels if level.design.stages)

    def levels_of(self, tabulation_pass: TabulationPass) -> tuple[LevelSummary, ...]:
        return tuple(level for level in self.levels if level.facts.geography.tabulation_pass is tabulation_pass)

    def loss_of(self, tabulation_pass: TabulationPass) -> PrivacyLoss:
        return loss_of_a_pass(level.design.budget for level in self.universe.levels_of(tabulation_pass))

    @property
    def loss(self) -> PrivacyLoss:
        return loss_of_disjoint_passes(self.loss_of(tabulation_pass) for tabulation_pass in self.universe.passes)


def release_summary(release: ReleaseFolder) -> ReleaseSummary:
    """Raises InvalidInput if a file of the release is damaged."""
    of_levels = (partial(level_summary, release, facts) for facts in release.universe.levels)
    levels = tuple(results_in_threads(of_levels, pa.cpu_count()))
    return ReleaseSummary(release.facts, release.universe, levels)
