"""The paper's tables, from its formulas and from the exact distribution."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.privacy.calibration import calibrated_noise
from safetab.inputs.tuning.questions import PAPER_CONSTANT, least_decimal
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.us.us_census import DETAILED, REGIONAL, US

STABILITY = 9
GAMMA = Fraction(1, 10)
SUPPRESSION_CHANCE = Fraction(9_999, 10_000)

_US = tuple(map(US.area_level, ("USA", "STATE", "COUNTY", "TRACT", "PLACE")))
_MARGIN_TARGETS = {
    **{PopulationGroupLevel(geography, DETAILED): 3 for geography in _US[:2]},
    **{
        PopulationGroupLevel(geography, DETAILED): 11
        for geography in (*_US[2:], US.area_level("AIANNH"))
    },
    **{PopulationGroupLevel(geography, REGIONAL): 50 for geography in _US},
}
THRESHOLD_BUDGETS = (Fraction("0.008"), Fraction("0.159"), Fraction("0.543"))


@dataclass(frozen=True, slots=True)
class _MarginRow:
    """A row of the paper's table of margin targets, with the exact values beside it.

    The paper's numbers are 1.9208 stability / margin^2, rounded to three decimals; those for
    bounded neighbours are doubled after rounding.
    """

    level: PopulationGroupLevel
    target: int
    stage_2: Decimal
    total: Decimal
    exact_margin: int
    """The margin of a cell, with the budget in the column `total`."""
    exact_total: Fraction
    """The least budget of the level, in 4 digits, that meets the target."""

    @property
    def bounded_stage_2(self) -> Decimal:
        """The budget of stage 2 for bounded neighbours, as the paper rounds it."""
        return 2 * self.stage_2

    @property
    def bounded_total(self) -> Decimal:
        """The level's budget for bounded neighbours, as the paper rounds it."""
        return 2 * self.total


@dataclass(frozen=True, slots=True)
class _ThresholdRow:
    """A row of the paper's table of suppression thresholds."""

    budget: Fraction
    threshold: int


def margin_table() -> tuple[_MarginRow, ...]:
    """The paper's table of margin targets."""
    return tuple(_margin_row(level, target) for level, target in _MARGIN_TARGETS.items())


def _margin_row(level: PopulationGroupLevel, target: int) -> _MarginRow:
    stage_2 = PAPER_CONSTANT * STABILITY / target**2
    total = stage_2 / (1 - GAMMA)
    exact_total = least_decimal(lambda budget: stage_2_noise(budget).covers(target, CONFIDENCE))
    assert exact_total is not None
    rounded = to_three_decimals(total)
    exact_margin = stage_2_noise(Fraction(rounded)).margin_of_error(CONFIDENCE)
    return _MarginRow(level, target, to_three_decimals(stage_2), rounded, exact_margin, exact_total)


def threshold_table() -> tuple[_ThresholdRow, ...]:
    """The paper's table of suppression thresholds."""
    return tuple(
        _ThresholdRow(budget, suppression_threshold(budget)) for budget in THRESHOLD_BUDGETS
    )


def suppression_threshold(budget: Fraction) -> int:
    """The suppression threshold of a level with this budget and the paper's parameters."""
    return stage_2_noise(budget).quantile(SUPPRESSION_CHANCE)


def stage_2_noise(budget: Fraction) -> DiscreteGaussian:
    """The noise of stage 2 at this budget with the paper's parameters."""
    noise = calibrated_noise(
        PrivacyDefinition.ZCDP, Sensitivity.of_groups(STABILITY), (1 - GAMMA) * budget
    )
    assert isinstance(noise, DiscreteGaussian)
    return noise


def to_three_decimals(number: Fraction) -> Decimal:
    """The number as the paper rounds budgets."""
    exact = Decimal(number.numerator) / Decimal(number.denominator)
    return exact.quantize(Decimal("0.001"), ROUND_HALF_UP)
