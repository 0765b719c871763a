"""The budget, threshold or margins that give what is wanted.

Other answers say what other noise or fewer codes would give.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, sqrt
from types import MappingProxyType
from typing import Final, Generic, TypeVar

import pyarrow as pa

from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.core.privacy.calibration import Stage, calibrated_noise, stage_fraction
from safetab.core.privacy.composition import epsilon_of_rho
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.result_tables import Result
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import LossUnit, PrivacyDefinition
from safetab.model.products.product import LineKind, TableFamily

_SIGNIFICANT_DIGITS: Final = 4
PAPER_CONSTANT = Fraction("1.9208")
"""1.96^2 / 2: the paper's rho for a 95 % margin of error of 1, if a person is in one group."""

_What = TypeVar("_What", bound=Hashable)
"""A level, or a table family of a level."""
_Found = TypeVar("_Found")
_LEAST_POWER, _MOST_POWER = -16, 14
_STEPS_OF_PROPORTIONS = 1000


@dataclass(frozen=True, slots=True)
class BudgetForMargin:
    """The smallest budget of a level with the wanted margin, to 4 significant decimal digits."""

    budget: Fraction
    margin: int
    paper_budget: Fraction | None
    """The budget of the paper's formula, unrounded; it is about zCDP and a confidence of 95 %."""

    @property
    def saving(self) -> Fraction | None:
        """The share of the paper's budget that this one saves."""
        return None if self.paper_budget is None else 1 - self.budget / self.paper_budget


@dataclass(frozen=True, slots=True)
class ThresholdForError:
    """The true size from which a table is as precise as wanted."""

    size: int
    cautious_threshold: int | None
    """The size plus the margin of the first stage.

    A group whose noisy size reaches it is rarely smaller than the size. None if published totals
    choose tables: those count people, whatever the records are of.
    """


@dataclass(frozen=True, slots=True, repr=False)
class MarginsForTotal(Result, Generic[_What]):
    """Margins about in given proportions, as small as a total loss allows, and their budgets."""

    margins: Mapping[_What, int]
    budgets: Mapping[_What, Fraction]
    spent: Fraction
    left: Fraction

    @property
    def _title(self) -> str:
        return (
            f"Margins for a total loss: {float(self.spent):.6g} spent, {float(self.left):.6g} left"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each level: its margin and its budget."""
        rows = (
            (str(each), margin, float(self.budgets[each])) for each, margin in self.margins.items()
        )
        return pa.Table.from_pylist(
            [dict(zip(("level", "margin", "budget"), row, strict=True)) for row in rows]
        )


@checks_arguments
def least_budget(
    tuned: TunedLevel, margin: int, confidence: Fraction = CONFIDENCE
) -> BudgetForMargin | None:
    """The budget for the margin of a cell, which is also that of a published total.

    None if no such noise can be drawn.

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
    budget = _least_budget(config.privacy_definition, tuned.sensitivity, share, margin, confidence)
    if budget is None:
        return None
    noise = calibrated_noise(config.privacy_definition, tuned.sensitivity, budget * share)
    if noise.out_of_sampler_range is not None:
        return None
    paper = None
    if (
        config.privacy_definition is PrivacyDefinition.ZCDP
        and confidence == CONFIDENCE
        and margin > 0
    ):
        paper = PAPER_CONSTANT * tuned.sensitivity.l2_squared / margin**2 / share
    return BudgetForMargin(budget, noise.margin_of_error(confidence), paper)


@lru_cache(maxsize=4096)
def _least_budget(
    definition: PrivacyDefinition,
    sensitivity: Sensitivity,
    share: Fraction,
    margin: int,
    confidence: Fraction,
) -> Fraction | None:
    def is_enough(budget: Fraction) -> bool:
        return calibrated_noise(definition, sensitivity, budget * share).covers(margin, confidence)

    return least_decimal(is_enough)


def least_decimal(is_enough: Callable[[Fraction], bool]) -> Fraction | None:
    """The smallest decimal of 4 significant digits that is enough.

    All above it must be enough, and none below.
    """
    powers = range(_LEAST_POWER, _MOST_POWER)
    power = next((power for power in powers if is_enough(Fraction(10) ** power)), None)
    if power is None or power == _LEAST_POWER:
        return None
    step = Fraction(10) ** (power - _SIGNIFICANT_DIGITS)
    most = 10**_SIGNIFICANT_DIGITS
    least = most // 10 + 1
    return step * bisect_left(
        range(most), True, lo=least, key=lambda digits: is_enough(digits * step)
    )


@checks_arguments
def threshold_for(
    tuned: TunedLevel, kind: LineKind, relative_margin: Fraction, confidence: Fraction = CONFIDENCE
) -> ThresholdForError | None:
    """The least true size of a group at which a line has this relative margin.

    The margin is this part of the line's average true size.

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
    tabulation_pass: Pass,
    total: Fraction,
    proportions: Mapping[PopulationGroupLevel, Fraction],
    confidence: Fraction = CONFIDENCE,
) -> MarginsForTotal[PopulationGroupLevel] | None:
    """The smallest margins in these proportions that a pass can have for `total`.

    They are in the tuning's table family. The whole total is spent: what the proportions leave over
    makes every margin a little smaller. Levels of the pass without a proportion are left out. None
    if there is no such noise.

    Args:
        tuning: The configuration.
        tabulation_pass: One of `tuning.config.passes`, such as the United States.
        total: What the pass may lose in all: rho or epsilon, for a record added or removed.
        proportions: The margins of levels, as multiples of each other.
        confidence: How often the truth is within the margin, exactly.
    """
    of_pass = tuning.config.census.levels_of([tabulation_pass])
    levels = [level for level in of_pass if proportions.get(level, 0) > 0]
    return smallest_margins(
        {level: tuning.level(level) for level in levels}, total, proportions, confidence
    )


def smallest_margins(
    levels: Mapping[_What, TunedLevel],
    total: Fraction,
    proportions: Mapping[_What, Fraction],
    confidence: Fraction,
) -> MarginsForTotal[_What] | None:
    """The smallest margins, rounded up, in these proportions that cost at most `total`.

    Their budgets are then raised alike until they cost all of it, unless no margin can become
    smaller.
    """

    def at(steps: int) -> dict[_What, BudgetForMargin] | None:
        margins = {one: ceil(steps * proportions[one] / _STEPS_OF_PROPORTIONS) for one in levels}
        answers = {
            one: least_budget(levels[one], margin, confidence) for one, margin in margins.items()
        }
        known = {one: answer for one, answer in answers.items() if answer is not None}
        return (
            None
            if len(known) < len(levels) or sum(answer.budget for answer in known.values()) > total
            else known
        )

    best = _first_that_works(at) if levels else None
    if best is None:
        return None
    budgets = {one: answer.budget for one, answer in best.items()}
    if any(answer.margin > 0 for answer in best.values()):
        budgets = _spread_over(budgets, total)
    margins = {one: _margin_at(levels[one], budget, confidence) for one, budget in budgets.items()}
    spent = sum(budgets.values(), Fraction(0))
    return MarginsForTotal(
        MappingProxyType(margins), MappingProxyType(budgets), spent, total - spent
    )


def _first_that_works(at: Callable[[int], _Found | None]) -> _Found | None:
    """The result of the smallest number of steps that gives any.

    None if no number of steps up to 2**40 gives one.
    """
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


def _spread_over(budgets: Mapping[_What, Fraction], total: Fraction) -> dict[_What, Fraction]:
    """Budgets in the same proportions that add up to `total`.

    They have 4 significant digits; the largest one also takes what rounding leaves over.
    """
    factor = total / sum(budgets.values())
    spread = {one: _rounded_down(budget * factor) for one, budget in budgets.items()}
    largest = max(spread, key=spread.__getitem__)
    return spread | {largest: spread[largest] + total - sum(spread.values())}


def _rounded_down(number: Fraction) -> Fraction:
    """The largest decimal of 4 significant digits that is not above the number.

    The number is above 0.
    """
    power = len(str(number.numerator)) - len(str(number.denominator))
    if Fraction(10) ** power > number:
        power -= 1
    step = Fraction(10) ** (power + 1 - _SIGNIFICANT_DIGITS)
    return number // step * step


def _margin_at(tuned: TunedLevel, budget: Fraction, confidence: Fraction) -> int:
    """The margin of a published cell if the level had this budget."""
    stage, config = tuned.main_stage, tuned.config
    assert stage is not None
    share = stage_fraction(stage, config.stage_1_fraction)
    return calibrated_noise(
        config.privacy_definition, tuned.sensitivity, budget * share
    ).margin_of_error(confidence)


@dataclass(frozen=True, slots=True)
class LevelNoises:
    """The cost of a level's margin of error with each kind of noise."""

    level: PopulationGroupLevel
    family: TableFamily
    margin: int
    gaussian_rho: Fraction
    geometric_epsilon: Fraction
    geometric_rho: Fraction
    """The charge of zCDP for the geometric noise.

    Proof: docs/privacy.md#geometric-noise-under-zcdp.
    """


@dataclass(frozen=True, slots=True, repr=False)
class NoiseComparison(Result):
    """A comparison of both kinds of noise at equal margins.

    It is in (epsilon, delta)-DP with epsilons rounded up.
    """

    levels: tuple[LevelNoises, ...]
    gaussian_rho: Fraction
    gaussian_epsilon: Fraction
    geometric_epsilon_pure: Fraction
    """Holds at delta 0, so at every delta."""
    geometric_epsilon_by_zcdp: Fraction

    @property
    def _title(self) -> str:
        gaussian, geometric = float(self.gaussian_epsilon), float(self.geometric_epsilon_pure)
        return (
            f"The same margins: epsilon {gaussian:.4g} with Gaussian noise,"
            f" {geometric:.4g} with geometric noise"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each level and family: its margin, and what each kind of noise costs."""
        costs = ("gaussian_rho", "geometric_epsilon", "geometric_rho")
        return pa.Table.from_pylist([
            {"level": str(each.level), "family": each.family.name, "margin": each.margin}
            | {cost: float(getattr(each, cost)) for cost in costs}
            for each in self.levels
        ])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Multiplicity:
    """A level if this many codes of a record are used and the loss stays the same."""

    codes: int
    stability: int
    margin: int
    change: Fraction
    """The change of the margin, against all codes."""
    deviation_change: float
    """The change of the noise's width, against all codes.

    Margins would change like it if they weren't whole numbers.
    """


@checks_arguments
def compare_noises(
    tuning: Tuning, delta: Fraction, confidence: Fraction = CONFIDENCE
) -> NoiseComparison | None:
    """The comparison at the margins of a published cell that the configuration has now.

    None if a noise can't be drawn.

    Args:
        tuning: The configuration.
        delta: Of (epsilon, delta)-differential privacy, in which both are compared.
        confidence: How often the truth is within the margin, exactly.
    """
    tuned_levels = [tuned for one in tuning.by_family() for tuned in one.levels.values()]
    levels = [
        _level_noises(tuned, confidence) for tuned in tuned_levels if tuned.main_stage is not None
    ]
    known = [noises for noises in levels if noises is not None]
    if len(known) < len(levels):
        return None
    gaussian_rho = _costliest(tuning, ((noises.level, noises.gaussian_rho) for noises in known))
    geometric_rho = _costliest(tuning, ((noises.level, noises.geometric_rho) for noises in known))
    return NoiseComparison(
        levels=tuple(known),
        gaussian_rho=gaussian_rho,
        gaussian_epsilon=epsilon_of_rho(gaussian_rho, delta),
        geometric_epsilon_pure=_costliest(
            tuning, ((noises.level, noises.geometric_epsilon) for noises in known)
        ),
        geometric_epsilon_by_zcdp=epsilon_of_rho(geometric_rho, delta),
    )


def _costliest(tuning: Tuning, costs: Iterable[tuple[PopulationGroupLevel, Fraction]]) -> Fraction:
    """The cost of the costliest pass: the sum of the costs of its levels."""
    totals = dict.fromkeys(tuning.config.passes, Fraction(0))
    for level, cost in costs:
        totals[level.geography.tabulation_pass] += cost
    return max(totals.values())


def _level_noises(tuned: TunedLevel, confidence: Fraction) -> LevelNoises | None:
    """A level's margin and its cost with each kind of noise, or None if one can't be drawn."""
    stage = tuned.main_stage
    assert stage is not None
    margin = tuned.design.noise(stage).margin_of_error(confidence)
    compared = (PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP)
    configs = (replace(tuned.config, privacy_definition=definition) for definition in compared)
    gaussian, geometric = (
        least_budget(replace(tuned, config=config), margin, confidence) for config in configs
    )
    if gaussian is None or geometric is None:
        return None
    gamma = tuned.config.stage_1_fraction
    shares = Fraction(1) if Stage.TOTAL_ONLY in tuned.design.stages else gamma**2 + (1 - gamma) ** 2
    # half the squared epsilon of a change by one, times the squared length of a record's change
    rho = (
        tuned.sensitivity.l2_squared
        * LossUnit.EPSILON.rho_of(geometric.budget / tuned.sensitivity.l1)
        * shares
    )
    return LevelNoises(
        tuned.facts.level, tuned.family, margin, gaussian.budget, geometric.budget, rho
    )


@checks_arguments
def multiplicities(
    tuned: TunedLevel, confidence: Fraction = CONFIDENCE
) -> tuple[Multiplicity, ...]:
    """For 1, 2, ... codes used of a record, at the same budget.

    Args:
        tuned: A level with its configuration, e.g. one of `tuning.levels`.
        confidence: How often the truth is within the margin, exactly.
    """
    stage = tuned.main_stage
    if stage is None:
        return ()
    most = tuned.config.census.most_answers
    configs = (replace(tuned.config, most_answers=codes) for codes in range(1, most + 1))
    levels = [replace(tuned, config=config) for config in configs]
    margins = [level.design.noise(stage).margin_of_error(confidence) for level in levels]
    is_pure = tuned.config.privacy_definition.is_pure
    found = []
    for codes, (level, margin) in enumerate(zip(levels, margins, strict=True), start=1):
        ratio = level.stability / levels[-1].stability
        change = Fraction(margin, margins[-1]) - 1 if margins[-1] else Fraction(0)
        continuous = ratio if is_pure else sqrt(ratio)
        found.append(Multiplicity(codes, level.stability, margin, change, continuous - 1))
    return tuple(found)
