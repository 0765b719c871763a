"""A whole release, counted level by level."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import TabulationPass
from safetab.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.products.product import TableFamily
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
        return self.universe.product.only_family

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
        return loss_of_a_pass(level.design.budget for level in self.levels_of(tabulation_pass))

    @property
    def loss(self) -> PrivacyLoss:
        return loss_of_disjoint_passes(self.loss_of(tabulation_pass) for tabulation_pass in self.universe.passes)


def release_summary(release: ReleaseFolder) -> ReleaseSummary:
    """Raises InvalidInput if a file of the release is damaged."""
    levels = tuple(level_summary(release, facts) for facts in release.universe.levels)
    return ReleaseSummary(release.facts, release.universe, levels)
