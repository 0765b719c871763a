"""What the parts of a run cost together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """A total loss, rho or epsilon, under both kinds of neighbours.

    Proof: docs/privacy.md#bounded-neighbours (a changed record costs at most twice an added one).
    """

    unbounded: Fraction

    @property
    def bounded(self) -> Fraction:
        return 2 * self.unbounded


def loss_of_a_pass(level_budgets: Iterable[Fraction]) -> PrivacyLoss:
    """Levels are measured on the same people, one after another: their budgets add up.

    Proof: docs/privacy.md#whole-pass (adaptive sequential composition).
    """
    return PrivacyLoss(sum(level_budgets, Fraction(0)))


def loss_of_disjoint_passes(passes: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """Each person is in one pass, so a person's loss is that of the costlier pass.

    Proof: docs/privacy.md#two-passes (parallel composition; a move between passes costs their sum, never more than
    twice the larger).
    """
    return PrivacyLoss(max((loss.unbounded for loss in passes), default=Fraction(0)))
