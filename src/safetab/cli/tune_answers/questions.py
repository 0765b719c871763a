"""Questions from the other side: which budget, which threshold, which margins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from safetab.census.population_group_levels import PopulationGroupLevel, levels_of_passes
from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers.answer import (
    Answer,
    concerns_about,
    confidence_text,
    keys_of,
    name,
    named_family,
    percent,
    signed_percent,
    title_of,
    unit_of,
)
from safetab.cli.tune_answers.published_totals import threshold_in_people
from safetab.cli.tune_answers.words import Words
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.planning.plan_json import exact
from safetab.privacy.loss_text import loss_number, loss_text
from safetab.privacy.stages import Stage
from safetab.products.product import TableFamily
from safetab.tuning.concerns import ParameterConcern, concerns
from safetab.tuning.questions import BudgetForMargin, least_budget, smallest_margins, threshold_for
from safetab.tuning.tuning import Tuning


def budget_answer(tuning: Tuning, level: str, margin: str, confidence: str, family: str | None) -> Answer:
    words = Words(tuning)
    tuning = words.of_family(family, level)
    tuned, persons, sure = words.level(level), words.margin(margin), words.confidence(confidence)
    words.end()
    found = least_budget(tuned, persons, sure)
    if found is None:
        raise no_answer(f"no noise that can be drawn has a margin of error of {persons:,} at this level.")
    symbol, at = tuning.config.privacy_definition.budget_symbol, confidence_text(sure)
    now, unit = tuned.budget, unit_of(tuning.config)
    gamma = f", gamma {exact(tuning.config.stage_1_fraction)}" if tuning.config.product.stage_1_key else ""
    sentences = [
        f"{title_of(tuned)}: +/- {persons:,} {unit} at {at} for a cell or a lone total needs {symbol}"
        f" {exact(found.budget)} for the level (stability {tuned.stability}{gamma}).",
        _beside_the_paper(found, symbol),
        f"The configuration has {symbol} {exact(now)} now"
        + (f" ({signed_percent(found.budget / now - 1)} to get there)." if now else ": the level is left out."),
    ]
    if found.margin < persons:
        sentences.insert(1, f"Its margin is smaller than asked: +/- {found.margin:,} at {at}.")
    return Answer(
        for_programs={
            **keys_of(tuned),
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
        concerns=concerns_about(concerns(tuning.with_budgets({tuned.facts.level: found.budget})), tuned),
    )


def _beside_the_paper(found: BudgetForMargin, symbol: str) -> str:
    if found.paper_budget is None or found.saving is None:
        return "The paper's formula is about zCDP, 95 % and a margin above 0: there is none for this."
    saved = f"the exact margin saves {percent(found.saving)}" if found.saving > 0 else "the same, in four digits"
    return f"The paper's formula asks for {symbol} {loss_text(found.paper_budget, 5)}: {saved}."


def threshold_answer(tuning: Tuning, level: str, table: str, relative: str, number: str, family: str | None) -> Answer:
    words = Words(tuning)
    tuning = words.of_family(family, level, table)
    tuned, shape = words.adaptive_level(level), words.shape(table)
    kind = words.kind(number, shape)
    part = words.positive(relative, "--relative", "0.1")
    words.end()
    design = tuned.design
    if not design.can_be_drawn:
        raise no_answer("the noise of this level can't be drawn.")
    found = threshold_for(tuned, kind, part)
    assert found is not None
    if found.cautious_threshold is None:
        return threshold_in_people(tuning, tuned, shape, kind, part, found)
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
        concerns=concerns_about(concerns(tuning), tuned),
    )


def margins_answer(
    tuning: Tuning, total: str, proportions: Iterable[str], confidence: str, of_pass: str, family: str | None
) -> Answer:
    """Of one table family, or of all of them together."""
    words = Words(tuning)
    tunings = tuning.by_family() if family is None else (words.of_family(family),)
    loss, sure, one = words.positive(total, "TOTAL", "5"), words.confidence(confidence), words.tabulation_pass(of_pass)
    wanted = dict(map(words.proportion, proportions))
    words.end()
    now = {
        (tuned.family, tuned.facts.level): tuned.design.noise(tuned.main_stage).margin_of_error(sure)
        for of_family in tunings
        for tuned in of_family.levels_of(one)
        if tuned.main_stage is not None and tuned.design.can_be_drawn
    }
    strange = [name(level) for level in wanted if level.geography.tabulation_pass is not one]
    if strange:
        raise no_answer(f"{', '.join(strange)}: not of the {one.value.upper()} pass. Give the other --pass.")
    shares = {(of_family.family, level): share for of_family in tunings for level, share in wanted.items()}
    shares = shares or {which: Fraction(max(margin, 1)) for which, margin in now.items()}
    levels = {
        (of_family.family, level): of_family.level(level)
        for of_family in tunings
        for level in levels_of_passes([one])
        if shares.get((of_family.family, level), 0) > 0
    }
    found = smallest_margins(levels, loss, shares, sure)
    if found is None:
        raise no_answer(f"no noise that can be drawn has margins in these proportions for {exact(loss)}.")
    symbol, at = tuning.config.privacy_definition.budget_symbol, confidence_text(sure)
    alone = f", for {tunings[0].family.name} alone" if len(tunings) < len(tuning.by_family()) else ""
    table = text_table("level", "proportion", f"+/- cell\nat {at}", symbol, f"+/- now\nat {at}", f"{symbol} now")
    for which, margin in found.margins.items():
        margin_now = f"{now[which]:,}" if which in now else "-"
        numbers = (exact(shares[which]), f"{margin:,}", exact(found.budgets[which]), margin_now)
        table.add_row(title_of(levels[which]), *numbers, exact(levels[which].budget))
    return Answer(
        for_programs={
            "pass": one.value,
            "confidence": exact(sure),
            "unit": symbol,
            "total": exact(loss),
            "spent": exact(found.spent),
            "left": exact(found.left),
            "levels": [
                {**keys_of(levels[which]), "margin": margin, "budget": exact(found.budgets[which])}
                for which, margin in found.margins.items()
            ],
        },
        tables=((f"Smallest margins of error in these proportions for {symbol} {exact(loss)}{alone}", table),),
        notes=(
            f"They spend {symbol} {exact(found.spent)} and leave {exact(found.left)}. Margins are rounded up to whole"
            f" {unit_of(tuning.config)} from"
            f" {'the proportions given' if wanted else f'the proportions of the margins at {at} now'}.",
        ),
        concerns=_of_levels(tunings, found.budgets),
    )


def _of_levels(
    tunings: Iterable[Tuning], budgets: Mapping[tuple[TableFamily, PopulationGroupLevel], Fraction]
) -> tuple[ParameterConcern, ...]:
    """Concerns about these levels if they had these budgets, and those about all levels."""
    first, *_ = tunings
    config = first.config
    for one in tunings:
        given = {level: budget for (family, level), budget in budgets.items() if family is one.family}
        config = replace(one, config=config).with_budgets(given).config
    about = {(named_family(config, family), level) for family, level in budgets}
    found = concerns(replace(first, config=config))
    return tuple(one for one in found if one.level is None or (one.family, one.level) in about)


def no_answer(message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, "the question", "", message)])
