"""The ledger: what is measured is charged first, and only who paid may draw noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from safetab.census.geography_levels import TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.privacy.calibration import Noise, calibrated_noise
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import Product, TableFamily

MeasuredLevel = tuple[TableFamily, PopulationGroupLevel]
"""What has a budget of its own."""


_FIELD_BITS = 4


class OverspentBudget(Exception):  # noqa: N818 - the name is the sentence
    """A charge that the budget doesn't cover; nothing was drawn."""


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


_LEDGERS_OWN = object()


class DrawingRight:
    """The right to draw the noise of one event, once for each address under its prefix; made by `Ledger.charge`."""

    __slots__ = ("_event",)

    def __init__(self, event: MeasurementEvent, made_by: object) -> None:
        if made_by is not _LEDGERS_OWN:
            raise TypeError("only the ledger hands out the right to draw noise")
        self._event = event

    @property
    def event(self) -> MeasurementEvent:
        return self._event

    @property
    def address_prefix(self) -> int:
        return self._event.address_prefix


class Ledger:
    """Budgets by table family and level, exact; refuses before anything is overspent, and charges each event once.

    A level's groups are either total-only or adaptive, and a person's cost is the larger of the two ways through it:
    the whole budget, or stage 1 and stage 2 together. Proof: docs/privacy.md#level.
    """

    def __init__(self, budgets: Mapping[MeasuredLevel, Fraction]) -> None:
        self._budgets = dict(budgets)
        self._events: list[MeasurementEvent] = []

    @property
    def events(self) -> tuple[MeasurementEvent, ...]:
        return tuple(self._events)

    def charge(self, event: MeasurementEvent) -> DrawingRight:
        """Records the cost and hands out the right to draw.

        Neighbours: add or remove one person.
        Spends: `event.cost` of the level's budget, before any noise is drawn.
        Proof: docs/privacy.md#ledger.
        """
        if event.cost <= 0:
            raise OverspentBudget(f"{event.level}, stage {event.stage}: a measurement must cost something")
        if any(past.address_prefix == event.address_prefix for past in self._events):
            raise OverspentBudget(f"{event.level}, stage {event.stage}: charged already, and noise is drawn once")
        spent = _cost_to_a_person([*self._events, event], event.measured)
        if spent > self._budgets.get(event.measured, Fraction(0)):
            raise OverspentBudget(f"{event.level}, stage {event.stage}: the level's budget doesn't cover it")
        self._events.append(event)
        return DrawingRight(event, _LEDGERS_OWN)

    def spent(self, tabulation_pass: TabulationPass) -> Fraction:
        """What was charged in a pass, for a person in it."""
        measured = {event.measured: event for event in self._events}
        return sum(
            (
                _cost_to_a_person(self._events, one)
                for one, event in measured.items()
                if event.level.geography.tabulation_pass is tabulation_pass
            ),
            Fraction(0),
        )


def _cost_to_a_person(events: list[MeasurementEvent], measured: MeasuredLevel) -> Fraction:
    costs = {event.stage: event.cost for event in events if event.measured == measured}
    adaptive = costs.get(Stage.STAGE_1, Fraction(0)) + costs.get(Stage.STAGE_2, Fraction(0))
    return max(adaptive, costs.get(Stage.TOTAL_ONLY, Fraction(0)))
