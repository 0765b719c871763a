"""What two products about the same census cost together, for each way in which a person or a household may change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from safetab.census.geography_levels import TabulationPass
from safetab.config.config_file import read_config
from safetab.config.run_config import RunConfig
from safetab.foundation.findings import Checked, Finding, Severity
from safetab.planning.run_plan import loss_of_config_pass
from safetab.privacy.definitions import PrivacyDefinition

PEOPLE_SHOWN = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class JointLoss:
    """A configuration whose records are persons, and one whose records are made of persons, such as households.

    Proof of every number: docs/privacy.md#two-products.
    """

    persons: RunConfig
    households: RunConfig

    @property
    def definition(self) -> PrivacyDefinition:
        return self.persons.privacy_definition

    @property
    def passes(self) -> tuple[TabulationPass, ...]:
        """Those of either; a pass that one of them doesn't run costs nothing there."""
        return tuple(one for one in TabulationPass if one in self.persons.passes or one in self.households.passes)

    def of_a_record(self, one: TabulationPass) -> Fraction:
        """The record of a household is added or removed, and nobody's own record changes."""
        return _loss(self.households, one)

    def of_a_person(self, one: TabulationPass) -> Fraction:
        """A person is added or removed: one person's record, and at most one household's, which changes."""
        return _loss(self.persons, one) + 2 * _loss(self.households, one)

    def of_changed_answers(self, one: TabulationPass) -> Fraction:
        """A person's answers change: one person's record changes, and at most one household's."""
        return 2 * _loss(self.persons, one) + 2 * _loss(self.households, one)

    def of_a_move(self, one: TabulationPass) -> Fraction:
        """A person moves to another household: one person's record changes, and two households' may change alike."""
        return 2 * _loss(self.persons, one) + self._group_factor(2) * 2 * _loss(self.households, one)

    def of_people(self, one: TabulationPass, people: int) -> Fraction:
        """A household of this many people is added or removed, with everybody in it."""
        return self._group_factor(people) * _loss(self.persons, one) + _loss(self.households, one)

    def _group_factor(self, records: int) -> int:
        """How many times the loss of one record this many records cost that all change in the same way."""
        return records**2 if self.definition is PrivacyDefinition.ZCDP else records

    def rows(self) -> Iterator[tuple[str, dict[TabulationPass, Fraction]]]:
        """What changes, and the most that this costs in each pass."""
        noun = self.households.product.record.noun
        yield f"one {noun} record is added or removed", {one: self.of_a_record(one) for one in self.passes}
        yield "a person is added or removed", {one: self.of_a_person(one) for one in self.passes}
        yield "a person's answers change", {one: self.of_changed_answers(one) for one in self.passes}
        yield f"a person moves to another {noun}", {one: self.of_a_move(one) for one in self.passes}
        for people in PEOPLE_SHOWN:
            losses = {one: self.of_people(one, people) for one in self.passes}
            yield f"a {noun} of {people} people is added or removed", losses


def _loss(config: RunConfig, one: TabulationPass) -> Fraction:
    return loss_of_config_pass(config, one).unbounded if one in config.passes else Fraction(0)


def joint_loss(config: RunConfig, other_parameters: Path) -> Checked[JointLoss]:
    """Of a configuration and that of another parameters directory, in either order."""
    read = read_config(other_parameters)
    if read.value is None:
        return Checked(None, read.findings)
    persons, households = sorted((config, read.value), key=lambda one: one.product.record.holds_people)
    problem = None
    if config.product is read.value.product:
        problem = f"is for {config.product.name} too. Two runs of one product are added up by --spend-log."
    elif config.privacy_definition is not read.value.privacy_definition:
        problem = "has another privacy_defn. Losses of two definitions don't add up to one."
    if problem is not None:
        return Checked(None, (*read.findings, Finding(Severity.ERROR, str(other_parameters), "--with", problem)))
    return Checked(JointLoss(persons, households), read.findings)
