"""The privacy definitions that a run can satisfy.

Each has its noise and the unit of its losses.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction


class LossUnit(Enum):
    """The unit of a privacy loss, and how losses in it add up over equal records and convert.

    Proof: docs/privacy.md#repeated-runs.
    """

    RHO = (
        "rho",
        "\N{GREEK SMALL LETTER RHO}",
        "zero-concentrated differential privacy",
        Fraction(50),
    )
    EPSILON = ("epsilon", "ε", "pure differential privacy", Fraction(15))

    def __init__(
        self, symbol: str, letter: str, full_name: str, most_that_protects: Fraction
    ) -> None:
        self.symbol = symbol
        self.letter = letter
        self.full_name = full_name
        # The total loss up to which presence may stay in doubt: docs/privacy.md#beyond-protection.
        self.most_that_protects = most_that_protects

    @property
    def is_pure(self) -> bool:
        """Whether a loss is an epsilon that holds without a delta."""
        return self is LossUnit.EPSILON

    @property
    def power(self) -> int:
        """The power of k in the factor by which k records that change alike lose more than one."""
        return 1 if self.is_pure else 2

    def rho_of(self, loss: Fraction) -> Fraction:
        """The rho that a loss implies. There is no way back to a pure epsilon."""
        return loss**2 / 2 if self.is_pure else loss


class PrivacyDefinition(Enum):
    """A row for each choice of definition and noise: its spelling, unit and mechanism.

    The spelling is that of config.json, and the mechanism names the module of core/noise with its
    class.
    """

    ZCDP = ("zcdp", LossUnit.RHO, "discrete_gaussian")
    PURE_DP = ("puredp", LossUnit.EPSILON, "discrete_laplace")

    def __init__(self, spelling: str, unit: LossUnit, mechanism: str) -> None:
        self.spelling = spelling
        self.unit = unit
        self.mechanism = mechanism
        self.full_name = unit.full_name
        self.budget_symbol = unit.symbol
        self.is_pure = unit.is_pure

    @classmethod
    def spelled(cls, spelling: str) -> PrivacyDefinition:
        """The definition with this spelling. Raises StopIteration if no row has it."""
        return next(each for each in cls if each.spelling == spelling)

    @classmethod
    def of_each_unit(cls) -> tuple[PrivacyDefinition, ...]:
        """The first definition of each unit, rho first."""
        firsts = {each.unit: each for each in reversed(cls)}
        return tuple(firsts[unit] for unit in LossUnit)


SPELLINGS = tuple(each.spelling for each in PrivacyDefinition)
