"""The plan as JSON for programs: exact numbers as texts beside the floats that approximate them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan, output_if_all_groups_are_empty
from safetab.core.guarantees import guarantee, losses
from safetab.core.guarantees.losses import DELTA, JointLoss, ReportedLoss
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.privacy.composition import PrivacyLoss, epsilon_of_rho
from safetab.core.privacy.reference import loss_number
from safetab.foundation.findings import VERSION
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import as_shipped
from safetab.model.products.product import Product

JsonObject = dict[str, object]


def plan_as_json(plan: RunPlan) -> JsonObject:
    """All facts of a plan as JSON values."""
    config = plan.config
    definition = config.privacy_definition
    return {
        "safetab_version": VERSION,
        "product": config.product.name,
        **_guarantee(plan),
        "privacy_definition": definition.spelling,
        config.spelling.most_answers: config.most_answers,
        "stage_1_fraction": exact(config.stage_1_fraction),
        "zero_suppression_chance": exact(config.zero_suppression_chance),
        "confidence": exact(CONFIDENCE),
        "levels": [_level(level_plan) for level_plan in plan.levels],
        "levels_left_out": [_level_name(level) for level in plan.levels_left_out],
        "levels_without_protection": [_level_name(level) for level in plan.unprotected_levels],
        "no_protection": losses.no_protection(plan.unprotected_levels),
        "groups": sum(
            {level_plan.level: level_plan.universe.size for level_plan in plan.levels}.values()
        ),
        "loss": loss_as_json(plan),
        **_reference(config.product),
        "privacy_warnings": list(losses.privacy_warnings(plan)),
    }


def _reference(product: Product) -> JsonObject:
    """The loss to compare with, if there is one."""
    for name, reported in losses.reported_references(product).items():
        loss = _loss(reported, PrivacyDefinition.ZCDP)
        is_of_2020 = as_shipped(product).production is not None
        return (
            {"loss_of_2020": loss} if is_of_2020 else {"loss_of_reference": {"name": name} | loss}
        )
    return {}


def _guarantee(plan: RunPlan) -> JsonObject:
    """The guarantee of a specification.

    It says what is protected, who reaches the stability and what is taken to be public.
    """
    if not guarantee.is_specified(plan.config.census):
        return {}
    facts = {
        "stability": [*guarantee.stabilities_in_words(plan)],
        "public_files": guarantee.hashes_of_public_files(plan),
    }
    return guarantee.guarantee_as_json(plan.config) | facts


def loss_as_json(plan: RunPlan) -> JsonObject:
    """The cost of each pass to a person in it, and of the whole run."""
    loss_of = {each.name: plan.loss_of(each) for each in plan.config.passes}
    return losses_as_json(plan.config.privacy_definition, loss_of | {"whole_run": plan.loss})


def losses_as_json(definition: PrivacyDefinition, loss_of: Mapping[str, PrivacyLoss]) -> JsonObject:
    """Losses by whom they concern: a pass, or the whole run."""
    return {
        who: _loss(losses.reported_loss(definition, loss), definition)
        for who, loss in loss_of.items()
    }


def joint_loss_as_json(joint: JointLoss) -> list[JsonObject]:
    """The rows of a joint loss: what changes and what it costs in each pass."""
    rows = list[JsonObject]()
    for change, of_passes in joint.rows():
        row: JsonObject = {"change": change}
        for tabulation_pass, loss in of_passes.items():
            cost: JsonObject = {joint.definition.budget_symbol: exact(loss)}
            if not joint.definition.is_pure:
                cost |= {"delta": float(DELTA), "epsilon": loss_number(epsilon_of_rho(loss, DELTA))}
            row[tabulation_pass.name] = cost
        rows.append(row)
    return rows


def _level_name(level: PopulationGroupLevel) -> JsonObject:
    return {"geography_level": level.geography.label, "iteration_level": level.iterations.name}


def _level(plan: LevelPlan) -> JsonObject:
    """Everything that the plan says about one level."""
    design, universe, output = plan.design, plan.universe, output_if_all_groups_are_empty(plan)
    margins = design.margins()
    return {
        "pass": plan.level.geography.tabulation_pass.name,
        **_level_name(plan.level),
        **({"family": plan.family.name} if design.product.has_several_families else {}),
        **(
            {}
            if plan.selected is None
            else {"groups_with_a_published_total": len(plan.selected.indices)}
        ),
        "entities": len(universe.entities),
        "iterations": len(universe.iterations),
        "adaptive_iterations": len(universe.iterations) - universe.total_only_iterations,
        "total_only_iterations": universe.total_only_iterations,
        "groups": universe.size,
        "stability": design.stability,
        "budget": exact(design.budget),
        "thresholds": list(design.thresholds.totals),
        "stages": {
            stage.name.lower(): {"budget": exact(measured.budget), **_noise(measured.noise)}
            for stage, measured in design.stages.items()
        },
        "suppression_threshold": design.suppression_threshold,
        "margins_of_error": {
            "stage_1_total": margins.stage_1_total,
            "total_only": margins.total_only,
            **{shape.label: dict(of_shape) for shape, of_shape in margins.shapes.items()},
        },
        "if_all_groups_are_empty": {
            "published_groups": output.published_groups,
            **{f"{folder}_rows": rows for folder, rows in output.rows.items()},
        },
    }


def _noise(noise: NoiseDistribution) -> JsonObject:
    parameter = noise.parameter_name
    if parameter == noise.width_name:
        parameter += "_exact"
    exact_parameter = exact(noise.parameter)
    return {"mechanism": noise.mechanism, parameter: exact_parameter, noise.width_name: noise.width}


def _loss(loss: ReportedLoss, definition: PrivacyDefinition) -> JsonObject:
    """A loss in its own unit and, under zCDP, as an epsilon at several deltas."""
    values: JsonObject = {
        f"unbounded_{definition.budget_symbol}": exact(loss.unbounded),
        f"bounded_{definition.budget_symbol}": exact(loss.bounded),
    }
    if not definition.is_pure:
        values |= {
            "delta": float(DELTA),
            "unbounded_epsilon": loss_number(loss.unbounded_epsilon),
            "bounded_epsilon": loss_number(loss.bounded_epsilon),
            "unbounded_epsilon_by_delta": _by_delta(loss.unbounded),
            "bounded_epsilon_by_delta": _by_delta(loss.bounded),
        }
    return values


def _by_delta(rho: Fraction) -> dict[str, float]:
    return {delta: loss_number(epsilon) for delta, epsilon in losses.epsilons_by_delta(rho).items()}


def exact(number: Fraction) -> str:
    """The number as a decimal if it has at most 60 digits, else as numerator/denominator."""
    digits = 0
    while digits <= 60 and (number * 10**digits).denominator != 1:
        digits += 1
    if digits > 60:
        return str(number)
    whole, rest = divmod(abs(number.numerator) * 10**digits // number.denominator, 10**digits)
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"
