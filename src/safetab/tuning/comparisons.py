"""One choice beside another: discrete Gaussian and geometric noise, and how many race codes are used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.foundation.argument_types import checks_arguments
from safetab.planning.level_design import CONFIDENCE
from safetab.privacy.conversions import epsilon_of_rho, rho_of_epsilon
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.stages import Stage
from safetab.products.product import TableFamily
from safetab.tuning.level_sizes import MOST_RACE_CODES
from safetab.tuning.questions import least_budget
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning


@dataclass(frozen=True, slots=True)
class LevelNoises:
    """What the margin of error of a level costs with each kind of noise."""

    level: PopulationGroupLevel
    family: TableFamily
    margin: int
    gaussian_rho: Fraction
    geometric_epsilon: Fraction
    geometric_rho: Fraction
    """What zCDP charges for the geometric noise. Proof: docs/privacy.md#geometric-noise-under-zcdp."""


@dataclass(frozen=True, slots=True)
class NoiseComparison:
    """The same margins with both kinds of noise, each as (epsilon, delta)-differential privacy; epsilons rounded up."""

    levels: tuple[LevelNoises, ...]
    gaussian_rho: Fraction
    gaussian_epsilon: Fraction
    geometric_epsilon_pure: Fraction
    """Holds at delta 0, so at every delta."""
    geometric_epsilon_by_zcdp: Fraction


@dataclass(frozen=True, slots=True)
class Multiplicity:
    """A level, if so many race codes of a record are used and the loss stays the same."""

    codes: int
    stability: int
    margin: int
    change: Fraction
    """The change of the margin, against 8 codes."""
    deviation_change: float
    """The change of the noise's width, against 8 codes: what margins would do if they weren't whole numbers."""


@checks_arguments
def compare_noises(tuning: Tuning, delta: Fraction, confidence: Fraction = CONFIDENCE) -> NoiseComparison | None:
    """At the margins of a published cell that the configuration has now; None if a noise can't be drawn.

    Args:
        tuning: The configuration.
        delta: Of (epsilon, delta)-differential privacy, in which both are compared.
        confidence: How often the truth is within the margin, exactly.
    """
    tuned_levels = [tuned for one in tuning.by_family() for tuned in one.levels.values()]
    levels = [_level_noises(tuned, confidence) for tuned in tuned_levels if tuned.main_stage is not None]
    known = [noises for noises in levels if noises is not None]
    if len(known) < len(levels):
        return None
    gaussian_rho = _costliest(tuning, ((noises.level, noises.gaussian_rho) for noises in known))
    return NoiseComparison(
        levels=tuple(known),
        gaussian_rho=gaussian_rho,
        gaussian_epsilon=epsilon_of_rho(gaussian_rho, delta),
        geometric_epsilon_pure=_costliest(tuning, ((noises.level, noises.geometric_epsilon) for noises in known)),
        geometric_epsilon_by_zcdp=epsilon_of_rho(
            _costliest(tuning, ((noises.level, noises.geometric_rho) for noises in known)), delta
        ),
    )


def _costliest(tuning: Tuning, costs: Iterable[tuple[PopulationGroupLevel, Fraction]]) -> Fraction:
    """The cost of the costliest pass, which is that of its levels together."""
    totals = dict.fromkeys(tuning.config.passes, Fraction(0))
    for level, cost in costs:
        totals[level.geography.tabulation_pass] += cost
    return max(totals.values())


def _level_noises(tuned: TunedLevel, confidence: Fraction) -> LevelNoises | None:
    stage = tuned.main_stage
    assert stage is not None
    margin = tuned.design.noise(stage).margin_of_error(confidence)
    gaussian, geometric = (
        least_budget(_under(tuned, definition), margin, confidence)
        for definition in (PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP)
    )
    if gaussian is None or geometric is None:
        return None
    return LevelNoises(
        tuned.facts.level,
        tuned.family,
        margin,
        gaussian.budget,
        geometric.budget,
        _rho_of_geometric(tuned, geometric.budget),
    )


def _under(tuned: TunedLevel, definition: PrivacyDefinition) -> TunedLevel:
    return replace(tuned, config=replace(tuned.config, privacy_definition=definition))


def _rho_of_geometric(tuned: TunedLevel, epsilon: Fraction) -> Fraction:
    """Each of a record's `stability` counts is pure, and costs the square of its epsilon, halved."""
    gamma = tuned.config.stage_1_fraction
    shares = Fraction(1) if Stage.TOTAL_ONLY in tuned.design.stages else gamma**2 + (1 - gamma) ** 2
    return tuned.stability * rho_of_epsilon(epsilon / tuned.stability) * shares


@checks_arguments
def multiplicities(tuned: TunedLevel, confidence: Fraction = CONFIDENCE) -> tuple[Multiplicity, ...]:
    """For 1, 2, ..., 8 race codes, at the same budget.

    Args:
        tuned: A level with its configuration, e.g. one of `tuning.levels`.
        confidence: How often the truth is within the margin, exactly.
    """
    stage = tuned.main_stage
    if stage is None:
        return ()
    levels = [
        replace(tuned, config=replace(tuned.config, max_race_codes=codes)) for codes in range(1, MOST_RACE_CODES + 1)
    ]
    margins = [level.design.noise(stage).margin_of_error(confidence) for level in levels]
    is_gaussian = tuned.config.privacy_definition is PrivacyDefinition.ZCDP
    found = []
    for codes, (level, margin) in enumerate(zip(levels, margins, strict=True), start=1):
        ratio = level.stability / levels[-1].stability
        change = Fraction(margin, margins[-1]) - 1 if margins[-1] else Fraction(0)
        found.append(Multiplicity(codes, level.stability, margin, change, (sqrt(ratio) if is_gaussian else ratio) - 1))
    return tuple(found)
