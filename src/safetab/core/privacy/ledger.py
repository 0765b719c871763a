"""The ledger: a measurement is charged first, and only then may its noise be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.measurement_event import MeasuredLevel, MeasurementEvent
from safetab.model.census.area_levels import Pass


class OverspentBudget(Exception):  # noqa: N818 - the name is the sentence
    """A charge that the budget does not cover. Nothing was drawn."""


_LEDGERS_OWN = object()


class DrawingRight:
    """The right to draw the noise of one event, once for each address under its prefix.

    `Ledger.charge` makes it. It carries the ledger's random bits, the only ones from which noise is
    drawn.
    """

    __slots__ = ("_bits", "_event")

    def __init__(self, event: MeasurementEvent, bits: AddressedBits, made_by: object) -> None:
        if made_by is not _LEDGERS_OWN:
            raise TypeError("only the ledger hands out the right to draw noise")
        self._event = event
        self._bits = bits

    @property
    def event(self) -> MeasurementEvent:
        return self._event

    @property
    def bits(self) -> AddressedBits:
        return self._bits

    @property
    def address_prefix(self) -> int:
        return self._event.address_prefix


class Ledger:
    """Exact budgets by table family and level.

    Refuses to overspend and charges each event once.

    A level's groups are either total-only or adaptive. What it costs a record, or all records of a
    unit, is the larger of the two ways through it: the whole budget, or stages 1 and 2 together.
    Proof: docs/privacy.md#level and docs/privacy.md#units.

    The ledger owns its random bits. A second ledger can't have them, so no address is charged
    twice.
    """

    def __init__(self, budgets: Mapping[MeasuredLevel, Fraction], bits: AddressedBits) -> None:
        bits.become_owned()
        self._bits = bits
        self._budgets = dict(budgets)
        self._events: list[MeasurementEvent] = []

    @property
    def events(self) -> tuple[MeasurementEvent, ...]:
        return tuple(self._events)

    def right_to_read_again(self, event: MeasurementEvent) -> DrawingRight:
        """The right to read a charged event's noise again: the same addresses, bits and numbers.

        Neighbours and cost: those of the charge.
        Proof: docs/privacy.md#ledger.
        """
        if event not in self._events:
            raise OverspentBudget(
                f"{event.level}, stage {event.stage}: nothing was charged, so nothing was drawn"
            )
        return DrawingRight(event, self._bits, _LEDGERS_OWN)

    def charge(self, event: MeasurementEvent) -> DrawingRight:
        """Record the cost and return the right to draw. Raises OverspentBudget.

        Neighbours: add or remove one record, or all records of one unit.
        Spends: `event.cost` of the level's budget, before any noise is drawn.
        Proof: docs/privacy.md#ledger.
        """
        if event.cost <= 0:
            raise OverspentBudget(
                f"{event.level}, stage {event.stage}: a measurement must cost something"
            )
        if any(past.address_prefix == event.address_prefix for past in self._events):
            raise OverspentBudget(
                f"{event.level}, stage {event.stage}: charged already, and noise is drawn once"
            )
        spent = _cost([*self._events, event], event.measured)
        if spent > self._budgets.get(event.measured, Fraction(0)):
            raise OverspentBudget(
                f"{event.level}, stage {event.stage}: the level's budget doesn't cover it"
            )
        self._events.append(event)
        return DrawingRight(event, self._bits, _LEDGERS_OWN)

    def spent(self, tabulation_pass: Pass) -> Fraction:
        """The charge of a pass so far, for a record or a unit in it."""
        events = (
            event
            for event in self._events
            if event.level.geography.tabulation_pass == tabulation_pass
        )
        measured = {event.measured for event in events}
        return sum((_cost(self._events, level) for level in measured), Fraction(0))


def _cost(events: list[MeasurementEvent], measured: MeasuredLevel) -> Fraction:
    costs = {event.stage: event.cost for event in events if event.measured == measured}
    adaptive = costs.get(Stage.STAGE_1, Fraction(0)) + costs.get(Stage.STAGE_2, Fraction(0))
    return max(adaptive, costs.get(Stage.TOTAL_ONLY, Fraction(0)))
