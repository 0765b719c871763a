"""A number that is not there: why, what is known all the same, and what to use instead."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.census.iterations import CharacteristicIteration
from safetab.estimates.estimate import Estimate, percent
from safetab.estimates.operators import Operators
from safetab.estimates.reading.lookup import Entity
from safetab.estimates.tabular import ProductTabular
from safetab.planning.level_design import LevelDesign
from safetab.privacy.stages import Stage
from safetab.products.product import Product, Selector
from safetab.release.group_status import NOT_IN_FILES
from safetab.release.release_universe import NotTabulated, ReleaseLevel


@dataclass(frozen=True, eq=False, repr=False)
class Absence(Operators, ProductTabular):
    """Why a group has no number. Absent is not zero.

    A group of more than `at_most` people is suppressed with a chance below 1 - confidence.
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
        return f"{self.group.name}, {self.entity.name}"

    @property
    def value(self) -> None:
        """There is none; absent is not zero."""
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
        return [
            {
                "what": self.what,
                "geography_level": self.entity.geography.label,
                "region_id": self.entity.region_id,
                "region_name": self.entity.name,
                "iteration_code": self.group.code,
                "iteration_name": self.group.name,
                "status": self.status,
                "notes": self.reason,
            }
        ]


def most_if_suppressed(design: LevelDesign, confidence: Fraction) -> int | None:
    """Larger groups are suppressed with a chance of at most 1 - confidence.

    A group of n is suppressed only if n + noise <= T. Proof: docs/noise.md#suppressed-groups.
    """
    if design.suppression_threshold is None:
        return None
    return design.suppression_threshold - design.noise(Stage.STAGE_2).quantile(1 - confidence)


def withheld_because(rule: str | None) -> str:
    if rule is None:
        return "It was measured; the files that were read show X in its place."
    return f"It was measured; the rule {rule} of this release keeps it from being shown."


def reason_of(why: NotTabulated | None, level: ReleaseLevel | None, product: Product, status: str) -> str:
    if why is not None:
        return f"It is never tabulated there: {why.value}."
    if status == NOT_IN_FILES:
        return (
            "It is not in the files that were read: it is published elsewhere, or suppressed. It is not known to be"
            " zero."
        )
    if product.selector is Selector.PUBLISHED_TOTALS:
        return (
            f"No total of its people was published, and {product.record.nouns} are counted only where there is one."
            " It is not known to be zero."
        )
    threshold = "" if level is None else f", {level.design.suppression_threshold}"
    return f"Its noisy total was not above the threshold{threshold}: nobody, or few people. It is not known to be zero."
