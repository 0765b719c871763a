"""Questions from the other side: which budget, which threshold, which margins."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from types import MappingProxyType
from typing import Final, Generic, TypeVar

from safetab.census.geography_levels import TabulationPass
from safetab.census.population_group_levels import PopulationGroupLevel, levels_of_passes
from safetab.foundation.argument_types import checks_arguments
from safetab.planning.level_design import CONFIDENCE
from safetab.privacy.calibration import Noise, calibrated_noise, stage_fraction
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import LineKind
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning

SIGNIFICANT_DIGITS: Final = 4
PAPER_CONSTANT = Fraction("1.9208")
"""1.96^2 / 2: the paper's rho for a 95 % margin of error of 1, if a person is in one group."""

What = TypeVar("What", bound=Hashable)
"""A level, or a table family of a level."""
_LEAST_POWER, _MOST_POWER = -16, 14
_STEPS_OF_PROPORTIONS = 1000


@dataclass(frozen=True, slots=True)
class BudgetForMargin:
    """The least budget of a level, in decimals of 4 significant digits, whose margin is at most the one asked for."""

    budget: Fraction
    margin: int
    paper_budget: Fraction | None
    """What the paper's formula asks for, unrounded; it is about zCDP and a confidence of 95 %."""

    @property
    def saving(self) -> Fraction | None:
        return None if self.paper_budget is None else 1 - self.budget / self.paper_budget


@dataclass(frozen=True, slots=True)
class ThresholdForError:
    """From which true size on a table is as precise as asked."""

    size: int
    cautious_threshold: int | None
    """The size plus the margin of the first stage: a group whose noisy size reaches it is rarely smaller.

    None if published totals choose tables: those count people, whatever the records are of.
    """


@dataclass(frozen=True, slots=True)
class MarginsForTotal(Generic[What]):
    """Margins in the given proportions, as small as a total loss allows, and their budgets."""

    margins: Mapping[What, int]
    budgets: Mapping[What, Fraction]
    spent: Fraction
    left: Fraction


@checks_arguments
def least_budget(tuned: TunedLevel, margin: int, confidence: Fraction = CONFIDENCE) -> BudgetForMargin | None:
    """For the margin of a cell, which is also that of a published total; None if no such noise can be drawn.

    Args:
        tuned: A level with its configuration, e.g. one of `tuning.levels`.
        margin: The margin of error that is wanted, in whole records.
        confidence: How often the truth is within the margin, exactly.
    """
    stage = tuned.main_stage
    if stage is None or margin < 0:
        return None
    config = tuned.config
    share = stage_fraction(stage, config.stage_1_fraction)

    mechanism = _Mechanism(config.privacy_definition, tuned.stability, share)
    budget = _least_budget(mechanism, margin, confidence)
    if budget is None or mechanism.noise(budget).out_of_sampler_range is not None:
        return None
    paper = None
    if config.privacy_definition is PrivacyDefinition.ZCDP and confidence == CONFIDENCE and margin > 0:
        paper = PAPER_CONSTANT * tuned.stability / margin**2 / share
    return BudgetForMargin(budget, mechanism.noise(budget).margin_of_error(confidence), paper)


@dataclass(frozen=True, slots=True)
class _Mechanism:
    """All that turns a level's budget into noise."""

    definition: PrivacyDefinition
    stability: int
    share: Fraction

    def noise(self, budget: Fraction) -> Noise:
        return calibrated_noise(self.definition, self.stability, budget * self.share)


@lru_cache(maxsize=4096)
def _least_budget(mechanism: _Mechanism, margin: int, confidence: Fraction) -> Fraction | None:
    return least_decimal(lambda budget: mechanism.noise(budget).covers(margin, confidence))


def least_decimal(is_enough: Callable[[Fraction], bool]) -> Fraction | None:
    """The least decimal of 4 significant digits that is enough, if all above it are and none below."""
    powers = range(_LEAST_POWER, _MOST_POWER)
    power = next((power for power in powers if is_enough(_power_of_ten(power))), None)
    if power is None or power == _LEAST_POWER:
        return None
    step = _power_of_ten(power - SIGNIFICANT_DIGITS)
    enough = 10**SIGNIFICANT_DIGITS
    short = enough // 10
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if is_enough(middle * step) else (middle, enough)
    return enough * step


def _power_of_ten(power: int) -> Fraction:
    return Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)


@checks_arguments
def threshold_for(
    tuned: TunedLevel, kind: LineKind, relative_margin: Fraction, confidence: Fraction = CONFIDENCE
) -> ThresholdForError | None:
    """The least true size of a group at which the margin of a line is this part of its average true size.

    Args:
        tuned: A level with its configuration, e.g. one of `tuning.levels`.
        kind: Which lines of which table, e.g. `shape.kind("cell")`.
        relative_margin: The margin of error as a part of the number.
        confidence: How often the truth is within the margin, exactly.
    """
    design = tuned.design
    if Stage.STAGE_2 not in design.stages:
        return None
    size = ceil(design.margin(kind, confidence) * kind.parts / relative_margin)
    if Stage.STAGE_1 not in design.stages:
        return ThresholdForError(size, None)
    return ThresholdForError(size, size + design.noise(Stage.STAGE_1).margin_of_error(confidence))


@checks_arguments
def best_margins(
    tuning: Tuning,
    tabulation_pass: TabulationPass,
    total: Fraction,
    proportions: Mapping[PopulationGroupLevel, Fraction],
    confidence: Fraction = CONFIDENCE,
) -> MarginsForTotal[PopulationGroupLevel] | None:
    """The smallest margins in these proportions that a pass can have for `total`, in the tuning's table family.

    Levels of the pass without a proportion are left out. None if there is no such noise.

    Args:
        tuning: The configuration.
        tabulation_pass: The pass: the United States, or Puerto Rico.
        total: What the pass may lose in all: rho or epsilon, for a record added or removed.
        proportions: The margins of levels, as multiples of each other.
        confidence: How often the truth is within the margin, exactly.
    """
    levels = [level for level in levels_of_passes([tabulation_pass]) if proportions.get(level, 0) > 0]
    return smallest_margins({level: tuning.level(level) for level in levels}, total, proportions, confidence)


def smallest_margins(
    levels: Mapping[What, TunedLevel], total: Fraction, proportions: Mapping[What, Fraction], confidence: Fraction
) -> MarginsForTotal[What] | None:
    """The smallest margins in these proportions, rounded up to whole records, that cost at most `total` together."""

    def at(steps: int) -> MarginsForTotal[What] | None:
        margins = {one: ceil(steps * proportions[one] / _STEPS_OF_PROPORTIONS) for one in levels}
        answers = {one: least_budget(levels[one], margin, confidence) for one, margin in margins.items()}
        budgets = {one: answer.budget for one, answer in answers.items() if answer is not None}
        spent = sum(budgets.values(), Fraction(0))
        if len(budgets) < len(levels) or spent > total:
            return None
        return MarginsForTotal(MappingProxyType(margins), MappingProxyType(budgets), spent, total - spent)

    return _first_that_works(at) if levels else None


def _first_that_works(at: Callable[[int], MarginsForTotal[What] | None]) -> MarginsForTotal[What] | None:
    too_few, best_steps = -1, 1
    while (best := at(best_steps)) is None:
        too_few, best_steps = best_steps, 2 * best_steps
        if best_steps > 2**40:
            return None
    while best_steps - too_few > 1:
        middle = (too_few + best_steps) // 2
        found = at(middle)
        if found is None:
            too_few = middle
        else:
            best, best_steps = found, middle
    return best
