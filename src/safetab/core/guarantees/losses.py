"""The cost of a run, alone or together with another product, in figures and words for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.algorithm.run_plan import RunPlan, loss_of_config_pass
from safetab.core.guarantees.concerns import levels_by_sentence
from safetab.core.privacy.composition import PrivacyLoss, epsilon_of_rho
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.core.privacy.reference import (
    level_far_above,
    loss_text,
    reference_losses,
    total_too_large,
)
from safetab.foundation.findings import shortened
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.config.run_config import RunConfig
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product

DELTA = Fraction(1, 10**10)
DELTAS = tuple(Fraction(1, 10**digits) for digits in range(5, 16))


@dataclass(frozen=True, slots=True)
class ReportedLoss:
    """A loss in its own unit, exact, and as an epsilon: under zCDP that at DELTA, rounded up."""

    unbounded: Fraction
    bounded: Fraction
    unbounded_epsilon: Fraction
    bounded_epsilon: Fraction


def reported_loss(definition: PrivacyDefinition, loss: PrivacyLoss) -> ReportedLoss:
    """The loss as reports show it."""
    if definition.is_pure:
        return ReportedLoss(loss.unbounded, loss.bounded, loss.unbounded, loss.bounded)
    unbounded, bounded = (epsilon_of_rho(rho, DELTA) for rho in (loss.unbounded, loss.bounded))
    return ReportedLoss(loss.unbounded, loss.bounded, unbounded, bounded)


def epsilons_by_delta(rho: Fraction) -> dict[str, Fraction]:
    """The epsilon that rho-zCDP implies at each of several deltas, rounded up."""
    return {f"{float(delta):g}": epsilon_of_rho(rho, delta) for delta in DELTAS}


def reported_references(product: Product) -> dict[str, ReportedLoss]:
    """The cost of the release to compare with, by its name; empty without one."""
    return {
        name: reported_loss(PrivacyDefinition.ZCDP, loss)
        for name, loss in reference_losses(product).items()
    }


def reference_words(product: Product, definition: PrivacyDefinition) -> list[str]:
    """One sentence on the loss to compare with, for readers of a loss under this definition.

    The list is empty if no loss is known to compare with.
    """
    return [
        _reference_words(name, loss, definition)
        for name, loss in reported_references(product).items()
    ]


def _reference_words(name: str, loss: ReportedLoss, definition: PrivacyDefinition) -> str:
    rho = (
        f"For comparison, the {name}: rho {loss_text(loss.unbounded)} (bounded"
        f" {loss_text(loss.bounded)})"
    )
    if definition.is_pure:
        return f"{rho}. A pure epsilon counts as rho = epsilon squared / 2 at most."
    epsilon = (
        f"epsilon {loss_text(loss.unbounded_epsilon)} (bounded {loss_text(loss.bounded_epsilon)})"
    )
    return f"{rho}, {epsilon} at delta {float(DELTA):g}."


PEOPLE_SHOWN = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class JointLoss:
    """The loss of two runs over the same people, persons and households.

    Proof: docs/privacy.md#two-products.
    """

    persons: RunConfig
    households: RunConfig

    @property
    def definition(self) -> PrivacyDefinition:
        return self.persons.privacy_definition

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes of either run. A pass that one of them does not run costs nothing there."""
        run = {*self.persons.passes, *self.households.passes}
        return tuple(
            tabulation_pass
            for tabulation_pass in self.persons.census.passes
            if tabulation_pass in run
        )

    def rows(self) -> Iterator[tuple[str, dict[Pass, Fraction]]]:
        """Each change, and the most that it can cost in each pass."""
        losses = {
            tabulation_pass: self._of_pass(tabulation_pass) for tabulation_pass in self.passes
        }
        for change in next(iter(losses.values()), {}):
            yield (
                change,
                {tabulation_pass: of_pass[change] for tabulation_pass, of_pass in losses.items()},
            )

    def _of_pass(self, tabulation_pass: Pass) -> dict[str, Fraction]:
        """The most that each change can cost in a pass."""
        person = _loss(self.persons, tabulation_pass)
        household = _loss(self.households, tabulation_pass)
        noun = self.households.product.record.noun
        # How many times the loss of one record several records cost if all change alike.
        power = self.definition.unit.power
        losses = {
            # Nobody's own record changes.
            f"one {noun} record is added or removed": household,
            # One person record, and a change of at most one household's.
            "a person is added or removed": person + 2 * household,
            # One person record and at most one household record change.
            "a person's answers change": 2 * person + 2 * household,
            # One person record changes, and two household records may change alike.
            f"a person moves to another {noun}": 2 * person + 2**power * 2 * household,
        }
        for people in PEOPLE_SHOWN:
            losses[f"a {noun} of {people} people is added or removed"] = (
                people**power * person + household
            )
        return losses


def _loss(config: RunConfig, tabulation_pass: Pass) -> Fraction:
    is_run = tabulation_pass in config.passes
    return loss_of_config_pass(config, tabulation_pass).unbounded if is_run else Fraction(0)


def privacy_warnings(plan: RunPlan) -> Iterator[str]:
    """Sentences on losses that are too large: the whole run, then levels.

    Levels whose losses are alike share one sentence.
    """
    yield from total_too_large(
        plan.config.product, plan.config.privacy_definition, plan.loss.unbounded
    )
    for sentence, levels in levels_by_sentence(plan.levels, _levels_far_above).items():
        names = shortened(levels, 3, "; ")
        if len(levels) == 1:
            yield f"{names}: {sentence}"
        else:
            yield f"{len(levels)} levels, {names}: {sentence.replace('this level', 'each')}"


def _levels_far_above(design: LevelDesign) -> Iterator[str]:
    sentence = level_far_above(design.product, design.definition, design.budget)
    if sentence is not None:
        yield sentence


def no_protection(unprotected_levels: Collection[PopulationGroupLevel]) -> str | None:
    """A warning that names the levels whose noise is mostly 0, or None without such a level."""
    if not unprotected_levels:
        return None
    count = len(unprotected_levels)
    where = ", ".join(map(str, unprotected_levels))
    return (
        f"No protection at {count} {'level' if count == 1 else 'levels'}: {where}."
        " The noise there is 0 more often than not, so a published number would more likely be"
        " exact than not. `safetab run` refuses such budgets: make them smaller."
        " It accepts them only for synthetic people (DATA holds them and a file"
        f" {SYNTHETIC_MARKER}), and its output is then not for release."
    )
