"""A measurement event: what is charged to a ledger. It knows its noise and its address, and draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.privacy.calibration import Noise, calibrated_noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import Product, TableFamily

MeasuredLevel = tuple[TableFamily, PopulationGroupLevel]
"""What has a budget of its own."""
_FIELD_BITS = 4


@dataclass(frozen=True, slots=True)
class MeasurementEvent:
    """One stage of a table family at one level: what it costs a person, and so which noise its groups get.

    Never about one group.
    """

    product: Product
    family: TableFamily
    level: PopulationGroupLevel
    stage: Stage
    definition: PrivacyDefinition
    stability: int
    cost: Fraction

    @property
    def measured(self) -> MeasuredLevel:
        return self.family, self.level

    @property
    def noise(self) -> Noise:
        """Follows from the cost: no event can pay for less noise than it draws."""
        return calibrated_noise(self.definition, self.stability, self.cost)

    @property
    def address_prefix(self) -> int:
        """24 bits, different for every product, pass, level, table family and stage.

        4 bits each: product, geography level, family, iteration level, none, stage. A geography level belongs to one
        pass, so the pass is in it.
        """
        fields = (
            self.product.number, self.level.geography.address, self.family.number, int(self.level.iterations),
            0, int(self.stage),
        )  # fmt: skip
        prefix = 0
        for number in fields:
            if not 0 <= number < 1 << _FIELD_BITS:
                raise OverflowError("an address has no room for this many products, families or levels")
            prefix = (prefix << _FIELD_BITS) | number
        return prefix
