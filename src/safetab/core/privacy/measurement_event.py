"""A measurement event: what a ledger is charged for.

It knows its noise and address; it draws nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.calibration import Stage, calibrated_noise
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product, TableFamily

MeasuredLevel = tuple[TableFamily, PopulationGroupLevel]
"""A family at a level, which has a budget of its own."""
_FIELD_BITS = 4


@dataclass(frozen=True, slots=True)
class MeasurementEvent:
    """One stage of a family at one level, never of one group.

    It says what the stage costs a person, and so its noise.
    """

    product: Product
    family: TableFamily
    level: PopulationGroupLevel
    stage: Stage
    definition: PrivacyDefinition
    sensitivity: Sensitivity
    cost: Fraction

    @property
    def stability(self) -> int:
        """The greatest number of the level's groups that one record can be in."""
        return self.sensitivity.groups

    @property
    def measured(self) -> MeasuredLevel:
        return self.family, self.level

    @property
    def noise(self) -> NoiseDistribution:
        """The noise that the cost buys: no event can pay for less noise than it draws."""
        return calibrated_noise(self.definition, self.sensitivity, self.cost)

    @property
    def address_prefix(self) -> int:
        """24 bits that differ for every product, pass, level, table family and stage.

        4 bits each: product, geography level, family, iteration level, unused, stage. A geography
        level belongs to one pass and so identifies it.
        """
        fields = (
            self.product.number, self.level.geography.address, self.family.number,
            self.level.iterations.number, 0, int(self.stage),
        )  # fmt: skip
        prefix = 0
        for number in fields:
            if not 0 <= number < 1 << _FIELD_BITS:
                raise OverflowError(
                    "an address has no room for this many products, families or levels"
                )
            prefix = (prefix << _FIELD_BITS) | number
        return prefix
