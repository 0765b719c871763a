"""What a configuration means, level by level: like a plan, without data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from rich.table import Table as TextTable

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.cli.plan_tables import NONE, loss_table, margin_heads, margin_texts, parameter_text, shown
from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers.answer import Answer, confidence_text, keys_of, name, named_family, percent, unit_of
from safetab.planning.level_design import LevelMargins, margin_of
from safetab.planning.losses import DELTA, reference_words, reported_loss
from safetab.planning.plan_json import JsonObject, exact
from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_number
from safetab.privacy.stages import Stage
from safetab.products.product import Selector, TableFamily
from safetab.tuning.concerns import concerns
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning

CONFIDENCES = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))


def levels_answer(tuning: Tuning) -> Answer:
    definition, tunings = tuning.config.privacy_definition, tuning.by_family()
    is_staged = tuning.config.product.selector is Selector.NOISY_STAGE_1
    return Answer(
        for_programs={
            **_setting(tuning),
            "levels": [_level(one, tuned) for one in tunings for tuned in one.levels.values()],
            "groups": tuning.groups,
            **({"empty_groups_published": _empty_groups(tuning)} if is_staged else {}),
            "loss": {people: _loss(definition, loss) for people, loss in _losses(tuning).items()},
        },
        sentences=(_sentence(tuning),),
        tables=(
            *(table for one in tunings for table in _tables(one)),
            ("Total privacy loss", loss_table(tuning.config.product, definition, _losses(tuning))),
        ),
        notes=(
            _EMPTY_GROUPS if is_staged else _IN_PEOPLE.format(tuning.config.product.record.nouns),
            f"Unbounded: a {tuning.config.product.record.noun}'s record is added or removed; bounded: it is changed."
            " Losses are rounded up.",
            *([reference_words(tuning.config.product, definition)] if definition is PrivacyDefinition.PURE_DP else []),
        ),
        concerns=concerns(tuning),
    )


_EMPTY_GROUPS = (
    "Empty groups: how many would be published, on average, if nobody were in any. T: below state level, a"
    " group that gets only a total is published only if it is above T."
)
_IN_PEOPLE = (
    "Groups: as many as there can be; those with a published total of people are measured, and all of these are"
    " published. Thresholds are compared with that total, so they are in people; margins are in {}."
)


def _setting(tuning: Tuning) -> JsonObject:
    config = tuning.config
    setting: JsonObject = {
        "privacy_definition": config.privacy_definition.spelling,
        "max_race_codes": config.max_race_codes,
    }
    if config.product.selector is Selector.PUBLISHED_TOTALS:
        setting |= {"product": config.product.name, "unit": unit_of(config), "threshold_unit": "people"}
    return setting


def _sentence(tuning: Tuning) -> str:
    config = tuning.config
    gamma = f", gamma {exact(config.stage_1_fraction)}" if config.product.stage_1_key else ""
    levels = dict.fromkeys(level for one in tuning.by_family() for level in one.levels)
    return (
        f"{tuning.groups:,} population groups at {len(levels)} levels, {config.privacy_definition.full_name}{gamma}."
        f" No {config.product.record.noun} record was opened."
    )


def _tables(tuning: Tuning) -> Iterator[tuple[str, TextTable]]:
    """Of one table family."""
    family = named_family(tuning.config, tuning.family)
    which = "" if family is None else f": {family.name}"
    yield f"Levels and their noise{which}", _noise_table(tuning)
    for confidence in CONFIDENCES:
        by_level = {level: _margins(tuned, confidence) for level, tuned in tuning.levels.items()}
        heading = f"Margins of error (+/-) at {confidence_text(confidence)}, in {unit_of(tuning.config)}{which}"
        is_staged = tuning.config.product.selector is Selector.NOISY_STAGE_1
        yield heading, _margin_table(by_level, tuning.family) if is_staged else _sums_table(tuning, confidence)


def _noise_table(tuning: Tuning) -> TextTable:
    config = tuning.config
    is_staged = config.product.selector is Selector.NOISY_STAGE_1
    parameter = "sigma" if config.privacy_definition is PrivacyDefinition.ZCDP else "scale"
    stages = (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY) if is_staged else (Stage.STAGE_2,)
    table = text_table(
        *("level", "groups", "stability", config.privacy_definition.budget_symbol, "share\nof its pass"),
        *((f"{parameter}\n{what}" for what in ("stage 1", "stage 2", "total-only")) if is_staged else (parameter,)),
        *(("T", "thresholds", "empty groups\npublished") if is_staged else ("thresholds\n(people)",)),
    )
    for level, tuned in tuning.levels.items():
        design = tuned.design
        thresholds = " ".join(map(str, design.thresholds.totals))
        empty = f"{tuned.empty_groups_published:,.2f}" if is_staged and design.can_be_drawn else NONE
        table.add_row(
            name(level),
            f"{tuned.facts.groups:,}",
            str(design.stability),
            exact(design.budget),
            percent(tuning.share(level)),
            *(parameter_text(design, stage) for stage in stages),
            *((shown(design.suppression_threshold), thresholds, empty) if is_staged else (thresholds,)),
        )
    if is_staged:
        table.add_section()
        empty_groups = _empty_groups(tuning)
        all_empty = NONE if empty_groups is None else f"{empty_groups:,.2f}"
        table.add_row("all levels", f"{tuning.groups:,}", *[""] * 8, all_empty)
    return table


def _empty_groups(tuning: Tuning) -> float | None:
    return tuning.empty_groups_published if all(tuned.design.can_be_drawn for tuned in tuning.levels.values()) else None


def _margin_table(by_level: Mapping[PopulationGroupLevel, LevelMargins | None], family: TableFamily) -> TextTable:
    table = text_table("level", *margin_heads(family), "total-only")
    for level, margins in by_level.items():
        table.add_row(name(level), *margin_texts(margins, family))
    return table


def _sums_table(tuning: Tuning, confidence: Fraction) -> TextTable:
    """Of one noisy number, and of sums of several, as the lines of the family's tables are."""
    all_draws = sorted({kind.draws for shape in tuning.family.shapes for kind in shape.kinds})
    table = text_table("level", *("cell,\nlone total" if draws == 1 else f"sum of\n{draws}" for draws in all_draws))
    for level, tuned in tuning.levels.items():
        design = tuned.design
        margins = (
            f"{margin_of(design.noise(Stage.STAGE_2), draws, confidence):,}" if design.can_be_drawn else NONE
            for draws in all_draws
        )
        table.add_row(name(level), *margins)
    return table


def _margins(tuned: TunedLevel, confidence: Fraction) -> LevelMargins | None:
    return tuned.design.margins(confidence) if tuned.design.can_be_drawn else None


def _losses(tuning: Tuning) -> dict[str, PrivacyLoss]:
    losses = {f"{one.value.upper()} pass": tuning.loss_of(one) for one in tuning.config.passes}
    return losses | {"anybody": tuning.loss}


def _level(tuning: Tuning, tuned: TunedLevel) -> JsonObject:
    level, design = tuned.facts.level, tuned.design
    is_zcdp = tuning.config.privacy_definition is PrivacyDefinition.ZCDP
    is_staged = tuning.config.product.selector is Selector.NOISY_STAGE_1
    about_empty_groups = {
        "suppression_threshold": design.suppression_threshold,
        "empty_groups_published": tuned.empty_groups_published if is_staged and design.can_be_drawn else None,
    }
    return {
        **keys_of(tuned),
        "groups": tuned.facts.groups,
        "stability": design.stability,
        "budget": exact(design.budget),
        "share": float(tuning.share(level)),
        "sigma" if is_zcdp else "scale": {stage.name.lower(): parameter_text(design, stage) for stage in design.stages},
        "thresholds": list(design.thresholds.totals),
        **(about_empty_groups if is_staged else {}),
        "margins_of_error": {exact(one): _margins_json(_margins(tuned, one)) for one in CONFIDENCES},
    }


def _margins_json(margins: LevelMargins | None) -> JsonObject | None:
    if margins is None:
        return None
    tables: JsonObject = {
        shape.label: {kind.short: of[kind.name] for kind in shape.kinds if of.get("cell") or kind.name == "total"}
        for shape, of in margins.shapes.items()
    }
    if margins.stage_1_total is None and margins.total_only is None:
        return tables
    return {"stage_1_total": margins.stage_1_total, "total_only": margins.total_only, **tables}


def _loss(definition: PrivacyDefinition, loss: PrivacyLoss) -> JsonObject:
    reported = reported_loss(definition, loss)
    values: JsonObject = {"unbounded": exact(reported.unbounded), "bounded": exact(reported.bounded)}
    if definition is PrivacyDefinition.ZCDP:
        epsilons = {"unbounded_epsilon": reported.unbounded_epsilon, "bounded_epsilon": reported.bounded_epsilon}
        values |= {"delta": float(DELTA), **{key: loss_number(epsilon) for key, epsilon in epsilons.items()}}
    return values
