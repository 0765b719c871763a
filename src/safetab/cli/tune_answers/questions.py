"""Answers to which budget, which threshold or which margins give what you want."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers import answer as words
from safetab.cli.tune_answers.answer import Answer, concerns_about, keys_of, name, title_of, unit_of
from safetab.cli.tune_answers.reading import QuestionReader, no_answer
from safetab.core.guarantees.plan_json import JsonObject, exact
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.reference import loss_number, loss_text
from safetab.inputs.tuning.questions import least_budget, smallest_margins, threshold_for
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.products.product import Shape, TableFamily

_FamilyOfLevel = tuple[TableFamily, PopulationGroupLevel]


def budget_answer(
    tuning: Tuning, level: str, margin: str, confidence: str, family: str | None
) -> Answer:
    """The least budget that gives a cell or lone total of the level this margin of error.

    Raises InvalidInput if an argument is wrong or no noise has such a margin.
    """
    reader = QuestionReader(tuning)
    tuning = reader.of_family(family, level)
    tuned = reader.level(level)
    asked = reader.margin(margin)
    sure = reader.confidence(confidence)
    reader.end()
    found = least_budget(tuned, asked, sure)
    if found is None:
        raise no_answer(
            f"no noise that can be drawn has a margin of error of {asked:,} at this level."
        )
    symbol = tuning.config.privacy_definition.budget_symbol
    at = words.confidence_text(sure)
    now = tuned.budget
    gamma = (
        f", gamma {exact(tuning.config.stage_1_fraction)}"
        if tuning.config.product.has_stage_1
        else ""
    )
    beside_the_paper = ["The paper's formula holds only for zCDP, 95 % and a margin above 0."]
    if found.paper_budget is not None and found.saving is not None:
        saved = f"the exact margin saves {words.percent(found.saving)}"
        saved = saved if found.saving > 0 else "the same, in four digits"
        paper_budget = loss_text(found.paper_budget, 5)
        beside_the_paper = [f"The paper's formula asks for {symbol} {paper_budget}: {saved}."]
    sentences = [
        f"{title_of(tuned)}: +/- {asked:,} {unit_of(tuning.config)} at {at} for a cell or a lone"
        f" total needs {symbol} {exact(found.budget)} for the level"
        f" (stability {tuned.stability}{gamma}).",
        *(beside_the_paper if tuning.config.specification is None else []),
        f"The configuration has {symbol} {exact(now)} now"
        + (
            f" ({words.signed_percent(found.budget / now - 1)} to get there)."
            if now
            else ": the level is left out."
        ),
    ]
    if found.margin < asked:
        sentences.insert(1, f"Its margin is smaller than asked: +/- {found.margin:,} at {at}.")
    changed = tuning.with_budgets({tuned.facts.level: found.budget})
    return Answer(
        for_programs={
            **keys_of(tuned),
            "asked_margin": asked,
            "confidence": exact(sure),
            "unit": symbol,
            "least_budget": exact(found.budget),
            "margin": found.margin,
            "paper_budget": None if found.paper_budget is None else loss_number(found.paper_budget),
            "saving": None if found.saving is None else float(found.saving),
            "budget_now": exact(now),
        },
        sentences=tuple(sentences),
        concerns=concerns_about(changed, tuned),
        config=changed.config,
    )


def threshold_answer(
    tuning: Tuning, level: str, table: str, relative: str, number: str, family: str | None
) -> Answer:
    """The size of groups from which the table's numbers have this relative margin of error.

    The size is in records; a threshold that is compared with published totals is in people.
    Raises InvalidInput if an argument is wrong or the level's noise can't be drawn.
    """
    reader = QuestionReader(tuning)
    tuning = reader.of_family(family, level, table)
    tuned = reader.adaptive_level(level)
    shape = reader.shape(table)
    kind = reader.kind(number, shape)
    part = reader.positive(relative, "--relative", "0.1")
    reader.end(tuned)
    design = tuned.design
    found = threshold_for(tuned, kind, part)
    assert found is not None
    margin = design.margin(kind)
    unit = unit_of(tuning.config)
    if not shape.divisions:
        return _size_for_total(tuning, tuned, shape, found.size, part)
    now = design.thresholds.least_total_of(shape, design.family)
    is_in_people = found.cautious_threshold is None
    facts: JsonObject = {
        **keys_of(tuned),
        "table": shape.label,
        "number": kind.short,
        "confidence": "0.95",
    }
    facts |= {"unit": unit} if is_in_people else {}
    facts |= {"margin": margin, "relative_margin": exact(part), "size": found.size}
    line = (
        f"one {kind.name.replace('_', ' ')} of the table with {shape.divisions}"
        f" {design.family.divided_into}"
    )
    sentence = (
        f"{title_of(tuned)}: {line} has a margin of error of"
        f" +/- {margin:,}{f' {unit}' if is_in_people else ''} at 95 %."
        f" That is {words.percent(part)} of its average true size from {found.size:,} {unit} on."
    )
    if is_in_people:
        per_record = max(now, 0) / found.size if found.size else None
        facts |= {
            "threshold_unit": "people",
            "threshold_now": now,
            "people_per_record_at_threshold_now": per_record,
        }
        noun = tuning.config.product.record.noun
        enough = (
            "."
            if per_record is None
            else f": precise enough if there are at most {per_record:,.3g} per {noun}."
        )
        about_threshold = (
            "The threshold is compared with the published total of the group's people,"
            f" of which there are as many as {unit} or more.",
            f"The configuration has {now:,} people now{enough}",
        )
    else:
        relative_now = tuned.relative_margin(now, kind) if now else None
        facts |= {"cautious_threshold": found.cautious_threshold, "threshold_now": now}
        facts |= {"relative_margin_now": None if relative_now is None else float(relative_now)}
        stage_1 = design.noise(Stage.STAGE_1).margin_of_error(Fraction(95, 100))
        precision = (
            "."
            if relative_now is None
            else f", where the margin is {words.percent(relative_now)} at 95 %."
        )
        about_threshold = (
            f"Threshold {found.size:,}, or {found.cautious_threshold:,} to be cautious:"
            f" that is {stage_1:,} more, the margin of error of stage 1 at 95 %,"
            " which decides who gets the table.",
            f"The configuration has {now:,} now{precision}",
        )
    return Answer(
        facts, sentences=(sentence, *about_threshold), concerns=concerns_about(tuning, tuned)
    )


def _size_for_total(
    tuning: Tuning, tuned: TunedLevel, shape: Shape, size: int, part: Fraction
) -> Answer:
    """The size from which a lone total has this relative margin of error.

    No threshold gives a group its total.
    """
    design, unit = tuned.design, unit_of(tuning.config)
    margin, above = design.margin(shape.kinds[0]), design.suppression_threshold
    facts: JsonObject = {
        **keys_of(tuned),
        "table": shape.label,
        "number": shape.kinds[0].short,
        "confidence": "0.95",
    }
    facts |= {"margin": margin, "relative_margin": exact(part), "size": size, "threshold_now": None}
    facts["suppression_threshold"] = above
    is_shown = "" if above is None else f" It is shown only above T = {above:,}."
    sentence = (
        f"{title_of(tuned)}: a total alone has a margin of error of +/- {margin:,} {unit} at 95 %."
        f" That is {words.percent(part)} of it from {size:,} {unit} on.{is_shown}"
    )
    return Answer(facts, sentences=(sentence,), concerns=concerns_about(tuning, tuned))


def margins_answer(
    tuning: Tuning,
    total: str,
    proportions: Iterable[str],
    confidence: str,
    of_pass: str | None,
    family: str | None,
) -> Answer:
    """The smallest margins in these proportions that a pass can have for a total loss.

    For one table family, or for all of them together. Raises InvalidInput if an argument is wrong
    or no noise has such margins.
    """
    reader = QuestionReader(tuning)
    tunings = tuning.by_family() if family is None else (reader.of_family(family),)
    loss = reader.positive(total, "TOTAL", "5")
    sure = reader.confidence(confidence)
    which_pass = reader.tabulation_pass(of_pass)
    wanted = dict(map(reader.proportion, proportions))
    reader.end()
    now = _margins_now(tunings, which_pass, sure)
    elsewhere = [name(level) for level in wanted if level.geography.tabulation_pass != which_pass]
    if elsewhere:
        raise no_answer(
            f"{', '.join(elsewhere)}: not in the {which_pass.name.upper()} pass."
            " Give the other --pass."
        )
    shares = {
        (of_family.family, level): share for of_family in tunings for level, share in wanted.items()
    }
    shares = shares or {which: Fraction(max(margin, 1)) for which, margin in now.items()}
    levels = {
        (of_family.family, level): of_family.level(level)
        for of_family in tunings
        for level in tuning.config.census.levels_of([which_pass])
        if shares.get((of_family.family, level), 0) > 0
    }
    found = smallest_margins(levels, loss, shares, sure)
    if found is None:
        raise no_answer(
            f"no noise that can be drawn has margins in these proportions for {exact(loss)}."
        )
    symbol = tuning.config.privacy_definition.budget_symbol
    at = words.confidence_text(sure)
    alone = (
        f", for {tunings[0].family.name} alone" if len(tunings) < len(tuning.by_family()) else ""
    )
    table = text_table(
        "level", "proportion", f"+/- cell\nat {at}", symbol, f"+/- now\nat {at}", f"{symbol} now"
    )
    for which, margin in found.margins.items():
        margin_now = f"{now[which]:,}" if which in now else "-"
        numbers = (exact(shares[which]), f"{margin:,}", exact(found.budgets[which]), margin_now)
        table.add_row(title_of(levels[which]), *numbers, exact(levels[which].budget))
    changed = _with_budgets(tunings, found.budgets)
    unused = f" The other {exact(found.left)} would make no margin smaller." if found.left else ""
    by_level = [
        {**keys_of(levels[which]), "margin": margin, "budget": exact(found.budgets[which])}
        for which, margin in found.margins.items()
    ]
    amounts = {
        "unit": symbol,
        "total": exact(loss),
        "spent": exact(found.spent),
        "left": exact(found.left),
    }
    return Answer(
        for_programs={
            "pass": which_pass.name,
            "confidence": exact(sure),
            **amounts,
            "levels": by_level,
        },
        tables=(
            (
                f"Smallest margins of error in these proportions for {symbol} {exact(loss)}{alone}",
                table,
            ),
        ),
        notes=(
            f"They spend {symbol} {exact(found.spent)}.{unused} Margins are whole"
            f" {unit_of(tuning.config)}, about in the proportions"
            f" {'given' if wanted else f'of the margins at {at} now'}.",
        ),
        concerns=concerns_about(changed, *levels.values()),
        config=changed.config,
    )


def _margins_now(
    tunings: Iterable[Tuning], which_pass: Pass, confidence: Fraction
) -> dict[_FamilyOfLevel, int]:
    """The margins of a pass that the configurations have now, where their noise can be drawn."""
    return {
        (tuned.family, tuned.facts.level): tuned.design.noise(tuned.main_stage).margin_of_error(
            confidence
        )
        for of_family in tunings
        for tuned in of_family.levels_of(which_pass)
        if tuned.main_stage is not None and tuned.design.can_be_drawn
    }


def _with_budgets(tunings: Iterable[Tuning], budgets: Mapping[_FamilyOfLevel, Fraction]) -> Tuning:
    """The first tuning with these budgets of all table families."""
    first, *_ = tunings
    config = first.config
    for tuning in tunings:
        given = {
            level: budget for (family, level), budget in budgets.items() if family is tuning.family
        }
        config = replace(tuning, config=config).with_budgets(given).config
    return replace(first, config=config)
