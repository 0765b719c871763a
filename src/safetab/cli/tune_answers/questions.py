"""Questions from the other side: which budget, which threshold, which margins."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.cli.plan_tables import text_table
from safetab.cli.tune_answers.answer import (
    Answer,
    concerns_about,
    confidence_text,
    name,
    percent,
    signed_percent,
)
from safetab.cli.tune_answers.words import Words
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.planning.plan_json import exact
from safetab.privacy.loss_text import loss_number, loss_text
from safetab.privacy.stages import Stage
from safetab.tuning.concerns import ParameterConcern, concerns
from safetab.tuning.questions import BudgetForMargin, best_margins, least_budget, threshold_for
from safetab.tuning.tuning import Tuning


def budget_answer(tuning: Tuning, level: str, margin: str, confidence: str) -> Answer:
    words = Words(tuning)
    tuned, persons, sure = words.level(level), words.margin(margin), words.confidence(confidence)
    words.end()
    found = least_budget(tuned, persons, sure)
    if found is None:
        raise no_answer(f"no noise that can be drawn has a margin of error of {persons:,} at this level.")
    symbol, at = tuning.config.privacy_definition.budget_symbol, confidence_text(sure)
    now = tuning.config.budget_of(tuned.facts.level)
    sentences = [
        f"{name(tuned.facts.level)}: +/- {persons:,} persons at {at} for a cell or a lone total needs {symbol}"
        f" {exact(found.budget)} for the level (stability {tuned.stability}, gamma"
        f" {exact(tuning.config.stage_1_fraction)}).",
        _beside_the_paper(found, symbol),
        f"The configuration has {symbol} {exact(now)} now"
        + (f" ({signed_percent(found.budget / now - 1)} to get there)." if now else ": the level is left out."),
    ]
    if found.margin < persons:
        sentences.insert(1, f"Its margin is smaller than asked: +/- {found.margin:,} at {at}.")
    return Answer(
        for_programs={
            "level": name(tuned.facts.level),
            "asked_margin": persons,
            "confidence": exact(sure),
            "unit": symbol,
            "least_budget": exact(found.budget),
            "margin": found.margin,
            "paper_budget": None if found.paper_budget is None else loss_number(found.paper_budget),
            "saving": None if found.saving is None else float(found.saving),
            "budget_now": exact(now),
        },
        sentences=tuple(sentences),
        concerns=concerns_about(concerns(tuning.with_budgets({tuned.facts.level: found.budget})), tuned.facts.level),
    )


def _beside_the_paper(found: BudgetForMargin, symbol: str) -> str:
    if found.paper_budget is None or found.saving is None:
        return "The paper's formula is about zCDP, 95 % and a margin above 0: there is none for this."
    saved = f"the exact margin saves {percent(found.saving)}" if found.saving > 0 else "the same, in four digits"
    return f"The paper's formula asks for {symbol} {loss_text(found.paper_budget, 5)}: {saved}."


def threshold_answer(tuning: Tuning, level: str, table: str, relative: str, number: str) -> Answer:
    words = Words(tuning)
    tuned, shape = words.adaptive_level(level), words.shape(table)
    kind = words.kind(number, shape)
    part = words.positive(relative, "--relative", "0.1")
    words.end()
    design = tuned.design
    if not design.can_be_drawn:
        raise no_answer("the noise of this level can't be drawn.")
    found = threshold_for(tuned, kind, part)
    assert found is not None
    margin, now = design.margin(kind), design.thresholds.least_total_of(shape, design.family)
    stage_1 = design.noise(Stage.STAGE_1).margin_of_error(Fraction(95, 100))
    what = f"a {kind.name.replace('_', ' ')} of the table with {shape.divisions} {design.family.divided_into}"
    relative_now = tuned.relative_margin(now, kind) if now else None
    return Answer(
        for_programs={
            "level": name(tuned.facts.level),
            "table": shape.label,
            "number": kind.short,
            "confidence": "0.95",
            "margin": margin,
            "relative_margin": exact(part),
            "size": found.size,
            "cautious_threshold": found.cautious_threshold,
            "threshold_now": now,
            "relative_margin_now": None if relative_now is None else float(relative_now),
        },
        sentences=(
            f"{name(tuned.facts.level)}: {what} has a margin of error of +/- {margin:,} at 95 %. That is"
            f" {percent(part)} of its average true size from {found.size:,} persons on.",
            f"Threshold {found.size:,}, or {found.cautious_threshold:,} to be cautious: that is {stage_1:,} more, the"
            " margin of error of stage 1 at 95 %, which decides who gets the table.",
            f"The configuration has {now:,} now"
            + ("." if relative_now is None else f", where the margin is {percent(relative_now)} at 95 %."),
        ),
        concerns=concerns_about(concerns(tuning), tuned.facts.level),
    )


def margins_answer(tuning: Tuning, total: str, proportions: Iterable[str], confidence: str, of_pass: str) -> Answer:
    words = Words(tuning)
    loss, sure, one = words.positive(total, "TOTAL", "5"), words.confidence(confidence), words.tabulation_pass(of_pass)
    wanted = dict(map(words.proportion, proportions))
    words.end()
    now = {
        tuned.facts.level: tuned.design.noise(tuned.main_stage).margin_of_error(sure)
        for tuned in tuning.levels_of(one)
        if tuned.main_stage is not None and tuned.design.can_be_drawn
    }
    strange = [name(level) for level in wanted if level.geography.tabulation_pass is not one]
    if strange:
        raise no_answer(f"{', '.join(strange)}: not of the {one.value.upper()} pass. Give the other --pass.")
    shares = wanted or {level: Fraction(max(margin, 1)) for level, margin in now.items()}
    found = best_margins(tuning, one, loss, shares, sure)
    if found is None:
        raise no_answer(f"no noise that can be drawn has margins in these proportions for {exact(loss)}.")
    symbol, at = tuning.config.privacy_definition.budget_symbol, confidence_text(sure)
    table = text_table("level", "proportion", f"+/- cell\nat {at}", symbol, f"+/- now\nat {at}", f"{symbol} now")
    for level, margin in found.margins.items():
        margin_now = f"{now[level]:,}" if level in now else "-"
        budget_now = exact(tuning.config.budget_of(level))
        table.add_row(
            name(level), exact(shares[level]), f"{margin:,}", exact(found.budgets[level]), margin_now, budget_now
        )
    return Answer(
        for_programs={
            "pass": one.value,
            "confidence": exact(sure),
            "unit": symbol,
            "total": exact(loss),
            "spent": exact(found.spent),
            "left": exact(found.left),
            "levels": [
                {"level": name(level), "margin": margin, "budget": exact(found.budgets[level])}
                for level, margin in found.margins.items()
            ],
        },
        tables=((f"Smallest margins of error in these proportions for {symbol} {exact(loss)}", table),),
        notes=(
            f"They spend {symbol} {exact(found.spent)} and leave {exact(found.left)}. Margins are rounded up to whole"
            f" persons from {'the proportions given' if wanted else f'the proportions of the margins at {at} now'}.",
        ),
        concerns=_of_levels(tuning.with_budgets(found.budgets), found.margins),
    )


def _of_levels(tuning: Tuning, levels: Iterable[PopulationGroupLevel]) -> tuple[ParameterConcern, ...]:
    return tuple(concern for concern in concerns(tuning) if concern.level is None or concern.level in set(levels))


def no_answer(message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, "the question", "", message)])
