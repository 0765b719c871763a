"""Answers as whole tables: the levels of a configuration, and the tables of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from rich.table import Table as TextTable

from safetab.cli.plan_tables import NONE, loss_table, noise_table, parameter_text
from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers import answer as words
from safetab.cli.tune_answers.answer import Answer, keys_of, name, unit_of
from safetab.core.algorithm.level_design import LevelMargins
from safetab.core.guarantees.guarantee import neighbours_in_words
from safetab.core.guarantees.losses import DELTA, reference_words, reported_loss
from safetab.core.guarantees.plan_json import JsonObject, exact
from safetab.core.privacy.calibration import NOISES
from safetab.core.privacy.composition import PrivacyLoss
from safetab.core.privacy.reference import loss_number
from safetab.foundation.files import package_data
from safetab.inputs.tuning.concerns import concerns
from safetab.inputs.tuning.paper import (
    GAMMA,
    STABILITY,
    SUPPRESSION_CHANCE,
    margin_table,
    threshold_table,
)
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Selector

_CONFIDENCES = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))


def levels_answer(tuning: Tuning) -> Answer:
    """A configuration's results for every level: noise, margins of error, groups and losses."""
    config = tuning.config
    product = config.product
    definition = config.privacy_definition
    tunings = tuning.by_family()
    is_staged = product.selector is Selector.NOISY_STAGE_1
    has_totals = product.selector is Selector.PUBLISHED_TOTALS
    units = {
        "product": product.name,
        "unit": unit_of(config),
        **({"threshold_unit": "people"} if has_totals else {}),
    }
    gamma = f", gamma {exact(config.stage_1_fraction)}" if is_staged else ""
    added, changed = neighbours_in_words(product)
    levels = {level for of_family in tunings for level in of_family.levels}
    losses = {f"{each.name.upper()} pass": tuning.loss_of(each) for each in config.passes}
    losses |= {"anybody": tuning.loss}
    return Answer(
        for_programs={
            "privacy_definition": definition.spelling,
            config.spelling.most_answers: config.most_answers,
            **({} if is_staged else units),
            "levels": [
                _level(of_family, tuned)
                for of_family in tunings
                for tuned in of_family.levels.values()
            ],
            "groups": tuning.groups,
            **({"empty_groups_published": _empty_groups(tuning)} if is_staged else {}),
            "loss": {people: _loss(definition, loss) for people, loss in losses.items()},
        },
        sentences=(
            f"{tuning.groups:,} population groups at {len(levels)} levels,"
            f" {definition.full_name}{gamma}. No {product.record.noun} record was opened.",
        ),
        tables=(
            *(table for of_family in tunings for table in _tables(of_family)),
            ("Total privacy loss", loss_table(tuning)),
        ),
        notes=(
            _NOTES[product.selector.value].format(
                below=config.census.words.below, nouns=product.record.nouns
            ),
            f"Unbounded: {added}; bounded: {changed}. Losses are rounded up.",
            *(reference_words(product, definition) if definition.is_pure else []),
        ),
        concerns=concerns(tuning),
    )


_NOTES = package_data("safetab.cli", "texts.toml")["tune"]


def _tables(tuning: Tuning) -> Iterator[tuple[str, TextTable]]:
    """The tables of one table family, each with its title."""
    family = words.named_family(tuning.config, tuning.family)
    which = "" if family is None else f": {family.name}"
    yield f"Levels{which}", _levels_table(tuning)
    designs = [tuned.design for tuned in tuning.levels.values()]
    at = ", ".join(f"at {words.confidence_text(each)}" for each in _CONFIDENCES)
    heading = f"Budgets, margins of error (+/-) {at} in {unit_of(tuning.config)}, and noise{which}"
    yield heading, noise_table(tuning.config, designs, *_CONFIDENCES)


def _levels_table(tuning: Tuning) -> TextTable:
    """For each level: groups, budget and share of its pass.

    If noise decides, also how many empty groups are published.
    """
    heads = (
        "level",
        "groups",
        tuning.config.privacy_definition.budget_symbol,
        "share\nof its pass",
    )
    is_staged = tuning.config.product.selector is Selector.NOISY_STAGE_1
    table = text_table(*heads, *(["empty groups\npublished"] if is_staged else []))
    for level, tuned in tuning.levels.items():
        numbers = (
            f"{tuned.facts.groups:,}",
            exact(tuned.design.budget),
            words.percent(tuning.share(level)),
        )
        empty = (
            f"{tuned.empty_groups_published:,.2f}"
            if is_staged and tuned.design.can_be_drawn
            else NONE
        )
        table.add_row(name(level), *numbers, *([empty] if is_staged else []))
    if is_staged:
        table.add_section()
        empty_groups = _empty_groups(tuning)
        all_empty = NONE if empty_groups is None else f"{empty_groups:,.2f}"
        table.add_row("all levels", f"{tuning.groups:,}", "", "", all_empty)
    return table


def _empty_groups(tuning: Tuning) -> float | None:
    return (
        tuning.empty_groups_published
        if all(tuned.design.can_be_drawn for tuned in tuning.levels.values())
        else None
    )


def _margins(tuned: TunedLevel, confidence: Fraction) -> LevelMargins | None:
    return tuned.design.margins(confidence) if tuned.design.can_be_drawn else None


def _level(tuning: Tuning, tuned: TunedLevel) -> JsonObject:
    """One level as JSON."""
    design = tuned.design
    width = NOISES[tuning.config.privacy_definition.mechanism].width_name
    is_staged = tuning.config.product.selector is Selector.NOISY_STAGE_1
    about_empty_groups = {
        "suppression_threshold": design.suppression_threshold,
        "empty_groups_published": tuned.empty_groups_published
        if is_staged and design.can_be_drawn
        else None,
    }
    return {
        **keys_of(tuned),
        "groups": tuned.facts.groups,
        "stability": design.stability,
        "budget": exact(design.budget),
        "share": float(tuning.share(tuned.facts.level)),
        width: {stage.name.lower(): parameter_text(design, stage) for stage in design.stages},
        "thresholds": list(design.thresholds.totals),
        **(about_empty_groups if is_staged else {}),
        "margins_of_error": {
            exact(each): _margins_json(_margins(tuned, each)) for each in _CONFIDENCES
        },
    }


def _margins_json(margins: LevelMargins | None) -> JsonObject | None:
    """The margins of a level by table and kind of line; None if there is no noise."""
    if margins is None:
        return None
    tables: JsonObject = {
        shape.label: {
            kind.short: of[kind.name]
            for kind in shape.kinds
            if of.get("cell") or kind.name == "total"
        }
        for shape, of in margins.shapes.items()
    }
    if margins.stage_1_total is None and margins.total_only is None:
        return tables
    return {"stage_1_total": margins.stage_1_total, "total_only": margins.total_only, **tables}


def _loss(definition: PrivacyDefinition, loss: PrivacyLoss) -> JsonObject:
    """A loss as JSON: exact numbers as text, and epsilons under zCDP."""
    reported = reported_loss(definition, loss)
    values: JsonObject = {
        "unbounded": exact(reported.unbounded),
        "bounded": exact(reported.bounded),
    }
    if not definition.is_pure:
        epsilons = {
            "unbounded_epsilon": reported.unbounded_epsilon,
            "bounded_epsilon": reported.bounded_epsilon,
        }
        values |= {
            "delta": float(DELTA),
            **{key: loss_number(epsilon) for key, epsilon in epsilons.items()},
        }
    return values


def paper_margins_answer() -> Answer:
    """The paper's table of margin-of-error targets, to the last digit, beside exact margins."""
    rows = margin_table()
    table = text_table(
        *("level", "target\n+/- at 95 %"),
        *(
            f"{kind} rho\n{part}"
            for kind in ("unbounded", "bounded")
            for part in ("step 2", "total")
        ),
        *(
            "exact +/- at 95 %\nwith that total",
            "least total rho\nfor the target",
            "saved by\nthe exact margin",
        ),
    )
    differing: dict[tuple[int, Decimal, int], list[str]] = {}
    rows_as_json = []
    for row in rows:
        budgets = {
            "unbounded_step_2_rho": row.stage_2,
            "unbounded_total_rho": row.total,
            "bounded_step_2_rho": row.bounded_stage_2,
            "bounded_total_rho": row.bounded_total,
        }
        saving = 1 - row.exact_total / Fraction(row.total)
        numbers = map(str, (row.target, *budgets.values(), row.exact_margin))
        table.add_row(name(row.level), *numbers, exact(row.exact_total), words.percent(saving))
        if row.exact_margin != row.target:
            differing.setdefault((row.target, row.total, row.exact_margin), []).append(
                name(row.level)
            )
        rows_as_json.append(
            {
                "level": name(row.level),
                "target_margin": row.target,
                **{key: str(budget) for key, budget in budgets.items()},
                "exact_margin": row.exact_margin,
                "least_total_rho": exact(row.exact_total),
                "saving": float(saving),
            }
        )
    paper_sum, exact_sum = (
        sum(Fraction(row.total) for row in rows),
        sum(row.exact_total for row in rows),
    )
    return Answer(
        for_programs={
            "confidence": "0.95",
            "stability": STABILITY,
            "stage_1_fraction": exact(GAMMA),
            "rows": rows_as_json,
        },
        tables=(("The paper's margin-of-error targets, beside the exact distribution", table),),
        notes=(
            f"The paper's columns are 1.9208 x {STABILITY} / target^2 rounded to three decimals,"
            f" and that over {exact(1 - GAMMA)} rounded; bounded is twice the rounded number."
            " The exact columns are the discrete Gaussian's own, with no rounding but to 4 digits,"
            " upward.",
            *(
                (
                    f"Where the target is {target}, rho {total} gives +/- {margin} at 95 %"
                    f" already: {', '.join(names)}."
                )
                for (target, total, margin), names in differing.items()
            ),
            f"All levels: rho {exact(Fraction(paper_sum))} in the paper,"
            f" {exact(Fraction(exact_sum))} by the exact margins"
            f" ({words.signed_percent(exact_sum / paper_sum - 1)}).",
        ),
    )


def paper_thresholds_answer() -> Answer:
    """The paper's table of suppression thresholds; ours are equal."""
    table = text_table("rho", "threshold T")
    rows = threshold_table()
    for row in rows:
        table.add_row(exact(row.budget), str(row.threshold))
    chance = exact(SUPPRESSION_CHANCE)
    return Answer(
        for_programs={
            "zero_suppression_chance": chance,
            "stability": STABILITY,
            "stage_1_fraction": exact(GAMMA),
            "rows": [{"rho": exact(row.budget), "threshold": row.threshold} for row in rows],
        },
        tables=(("The paper's suppression thresholds", table),),
        notes=(
            "T is the least number of persons that the noise of stage 2 exceeds with a chance of"
            f" at most {exact(1 - SUPPRESSION_CHANCE)}; gamma {exact(GAMMA)},"
            f" stability {STABILITY}. Exact, and equal to the paper's.",
        ),
    )
