"""What a configuration means, level by level: like a plan, without data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from rich.table import Table as TextTable

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.cli.plan_tables import NONE, loss_table, margin_heads, margin_texts, parameter_text, shown, text_table
from safetab.cli.tune_answers.answer import Answer, confidence_text, name, percent
from safetab.planning.level_design import LevelMargins
from safetab.planning.losses import DELTA, reference_words, reported_loss
from safetab.planning.plan_json import JsonObject, exact
from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_number
from safetab.privacy.stages import Stage
from safetab.products.product import TableFamily
from safetab.tuning.concerns import concerns
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning

CONFIDENCES = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))


def levels_answer(tuning: Tuning) -> Answer:
    definition, family = tuning.config.privacy_definition, tuning.config.only_family.family
    margins = {
        confidence: {tuned.facts.level: _margins(tuned, confidence) for tuned in tuning.levels.values()}
        for confidence in CONFIDENCES
    }
    return Answer(
        for_programs={
            "privacy_definition": definition.spelling,
            "max_race_codes": tuning.config.max_race_codes,
            "levels": [_level(tuning, tuned) for tuned in tuning.levels.values()],
            "groups": tuning.groups,
            "empty_groups_published": _empty_groups(tuning),
            "loss": {people: _loss(definition, loss) for people, loss in _losses(tuning).items()},
        },
        sentences=(
            f"{tuning.groups:,} population groups at {len(tuning.levels)} levels, {definition.full_name}, gamma"
            f" {exact(tuning.config.stage_1_fraction)}. No person record was opened.",
        ),
        tables=(
            ("Levels and their noise", _noise_table(tuning)),
            *(
                (
                    f"Margins of error (+/-) at {confidence_text(confidence)}, in persons",
                    _margin_table(by_level, family),
                )
                for confidence, by_level in margins.items()
            ),
            ("Total privacy loss", loss_table(definition, _losses(tuning))),
        ),
        notes=(
            "Empty groups: how many would be published, on average, if nobody were in any. T: below state level, a"
            " group that gets only a total is published only if it is above T.",
            "Unbounded: a person's record is added or removed; bounded: it is changed. Losses are rounded up.",
            *([reference_words(definition)] if definition is PrivacyDefinition.PURE_DP else []),
        ),
        concerns=concerns(tuning),
    )


def _noise_table(tuning: Tuning) -> TextTable:
    config = tuning.config
    parameter = "sigma" if config.privacy_definition is PrivacyDefinition.ZCDP else "scale"
    table = text_table(
        *("level", "groups", "stability", config.privacy_definition.budget_symbol, "share\nof its pass"),
        *(f"{parameter}\n{what}" for what in ("stage 1", "stage 2", "total-only")),
        *("T", "thresholds", "empty groups\npublished"),
    )
    for level, tuned in tuning.levels.items():
        design = tuned.design
        table.add_row(
            name(level),
            f"{tuned.facts.groups:,}",
            str(design.stability),
            exact(design.budget),
            percent(tuning.share(level)),
            *(parameter_text(design, stage) for stage in (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)),
            shown(design.suppression_threshold),
            " ".join(map(str, design.thresholds.totals)),
            f"{tuned.empty_groups_published:,.2f}" if design.can_be_drawn else NONE,
        )
    table.add_section()
    empty = _empty_groups(tuning)
    table.add_row("all levels", f"{tuning.groups:,}", *[""] * 8, NONE if empty is None else f"{empty:,.2f}")
    return table


def _empty_groups(tuning: Tuning) -> float | None:
    return tuning.empty_groups_published if all(tuned.design.can_be_drawn for tuned in tuning.levels.values()) else None


def _margin_table(by_level: Mapping[PopulationGroupLevel, LevelMargins | None], family: TableFamily) -> TextTable:
    table = text_table("level", *margin_heads(family), "total-only")
    for level, margins in by_level.items():
        table.add_row(name(level), *margin_texts(margins, family))
    return table


def _margins(tuned: TunedLevel, confidence: Fraction) -> LevelMargins | None:
    return tuned.design.margins(confidence) if tuned.design.can_be_drawn else None


def _losses(tuning: Tuning) -> dict[str, PrivacyLoss]:
    losses = {f"{one.value.upper()} pass": tuning.loss_of(one) for one in tuning.config.passes}
    return losses | {"anybody": tuning.loss}


def _level(tuning: Tuning, tuned: TunedLevel) -> JsonObject:
    level, design = tuned.facts.level, tuned.design
    is_zcdp = tuning.config.privacy_definition is PrivacyDefinition.ZCDP
    return {
        "level": name(level),
        "groups": tuned.facts.groups,
        "stability": design.stability,
        "budget": exact(design.budget),
        "share": float(tuning.share(level)),
        "sigma" if is_zcdp else "scale": {stage.name.lower(): parameter_text(design, stage) for stage in design.stages},
        "thresholds": list(design.thresholds.totals),
        "suppression_threshold": design.suppression_threshold,
        "empty_groups_published": tuned.empty_groups_published if design.can_be_drawn else None,
        "margins_of_error": {exact(one): _margins_json(_margins(tuned, one)) for one in CONFIDENCES},
    }


def _margins_json(margins: LevelMargins | None) -> JsonObject | None:
    if margins is None:
        return None
    tables = {
        shape.label: {kind.short: of_shape[kind.name] for kind in shape.kinds}
        for shape, of_shape in margins.shapes.items()
    }
    return {"stage_1_total": margins.stage_1_total, "total_only": margins.total_only, **tables}


def _loss(definition: PrivacyDefinition, loss: PrivacyLoss) -> JsonObject:
    reported = reported_loss(definition, loss)
    values: JsonObject = {"unbounded": exact(reported.unbounded), "bounded": exact(reported.bounded)}
    if definition is PrivacyDefinition.ZCDP:
        epsilons = {"unbounded_epsilon": reported.unbounded_epsilon, "bounded_epsilon": reported.bounded_epsilon}
        values |= {"delta": float(DELTA), **{key: loss_number(epsilon) for key, epsilon in epsilons.items()}}
    return values
