"""Answers that compare choices, and show what happens to groups of different sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from safetab.cli.plan_tables import NONE
from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers import answer as words
from safetab.cli.tune_answers.answer import Answer, concerns_about, keys_of, title_of, unit_of
from safetab.cli.tune_answers.reading import QuestionReader, no_answer
from safetab.core.algorithm.level_design import CONFIDENCE, LevelDesign
from safetab.core.guarantees.plan_json import JsonObject, exact
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.reference import loss_number, loss_text
from safetab.inputs.tuning.concerns import concerns
from safetab.inputs.tuning.questions import compare_noises, multiplicities
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.products.product import Selector, Shape


def noise_answer(tuning: Tuning, delta: str, confidence: str) -> Answer:
    """The loss with discrete Gaussian and with geometric noise at equal margins of error.

    Raises InvalidInput if an argument is wrong or the noise of a level can't be drawn.
    """
    reader = QuestionReader(tuning)
    small = reader.positive(delta, "--delta", "1e-10", below=1)
    sure = reader.confidence(confidence)
    reader.end()
    tuned_levels = [
        tuned for of_family in tuning.by_family() for tuned in of_family.levels.values()
    ]
    if not all(tuned.design.can_be_drawn for tuned in tuned_levels):
        raise no_answer("the noise of a level can't be drawn; `safetab tune levels` shows which.")
    found = compare_noises(tuning, small, sure)
    if found is None:
        raise no_answer(
            "a level has no noise of the other kind with its margin of error that can be drawn."
        )
    at = words.confidence_text(sure)
    levels = text_table(
        "level",
        f"+/- cell\nat {at}",
        "Gaussian:\nrho",
        "geometric:\npure epsilon",
        "geometric:\nrho",
    )
    levels_as_json = []
    for compared in found.levels:
        tuned = TunedLevel(tuning.facts[compared.level], tuning.config, compared.family)
        losses = {
            "gaussian_rho": compared.gaussian_rho,
            "geometric_epsilon": compared.geometric_epsilon,
        }
        texts = {name: exact(loss) for name, loss in losses.items()}
        geometric_rho = loss_text(compared.geometric_rho, 4)
        levels.add_row(title_of(tuned), f"{compared.margin:,}", *texts.values(), geometric_rho)
        rho = {"geometric_rho": loss_number(compared.geometric_rho)}
        levels_as_json.append({**keys_of(tuned), "margin": compared.margin, **texts, **rho})
    table = text_table("noise, and how its loss is added up", "epsilon", "Gaussian has")
    ways = {
        "discrete Gaussian, by zCDP": found.gaussian_epsilon,
        "geometric, pure epsilons added (holds at delta 0)": found.geometric_epsilon_pure,
        "geometric, by zCDP": found.geometric_epsilon_by_zcdp,
    }
    for what, epsilon in ways.items():
        change = found.gaussian_epsilon / epsilon - 1
        less_or_more = (
            f"{words.percent(abs(change))} {'less' if change < 0 else 'more'}" if change else NONE
        )
        table.add_row(what, exact(epsilon), less_or_more)
    lost = (
        f"What one {tuning.config.product.record.protected} loses,"
        f" as (epsilon, delta) at delta {float(small):g}"
    )
    return Answer(
        for_programs={
            "delta": exact(small),
            "confidence": exact(sure),
            "gaussian_rho": exact(found.gaussian_rho),
            "gaussian_epsilon": exact(found.gaussian_epsilon),
            "geometric_epsilon_pure": exact(found.geometric_epsilon_pure),
            "geometric_epsilon_by_zcdp": exact(found.geometric_epsilon_by_zcdp),
            "levels": levels_as_json,
        },
        tables=(("The same margins of error with both kinds of noise", levels), (lost, table)),
        notes=(
            "Unbounded neighbours, in the costlier pass. Epsilons are upper bounds,"
            " and only as good as the way they are added up: `safetab docs the-paper-reproduced`"
            " has tighter ones.",
        ),
        concerns=concerns(tuning),
    )


def codes_answer(tuning: Tuning, level: str, confidence: str, family: str | None) -> Answer:
    """The margins of a level by how many codes of each record are used.

    Raises InvalidInput if an argument is wrong or the level's noise can't be drawn.
    """
    reader = QuestionReader(tuning)
    tuning = reader.of_family(family, level)
    tuned = reader.tabulated_level(level)
    sure = reader.confidence(confidence)
    reader.end(tuned)
    most = tuning.config.census.most_answers
    if most == 1:
        raise no_answer(
            f"each {tuning.config.product.record.noun} has one answer,"
            " so there is nothing to compare."
        )
    rows = multiplicities(tuned, sure)
    if not rows:
        raise no_answer("nobody can be in a group of this level.")
    at = words.confidence_text(sure)
    budget = exact(tuned.design.budget)
    record = tuning.config.product.record
    codes_word = tuning.config.census.words.answers
    against = (f"margin\nagainst {most}", f"noise's width\nagainst {most}")
    table = text_table(codes_word, "stability", f"+/- cell\nat {at}", *against)
    codes = []
    for row in rows:
        numbers = {
            tuning.config.spelling.most_answers: row.codes,
            "stability": row.stability,
            "margin": row.margin,
        }
        changes = {"margin_change": float(row.change), "deviation_change": row.deviation_change}
        table.add_row(
            *(f"{number:,}" for number in numbers.values()),
            *map(words.signed_percent, changes.values()),
        )
        codes.append({**numbers, **changes})
    at_budget = f"at {tuning.config.privacy_definition.budget_symbol} {budget}"
    return Answer(
        for_programs={
            **keys_of(tuned),
            "budget": budget,
            "confidence": exact(sure),
            "codes": codes,
        },
        tables=(
            (f"{title_of(tuned)}: {codes_word} used of each {record.noun}, {at_budget}", table),
        ),
        notes=(
            f"Margins are whole {record.counted}, so they move in steps;"
            " the noise's width moves smoothly. With fewer codes,"
            f" {record.nouns} with more are missing from some of their groups:"
            " an error that no margin shows.",
        ),
        concerns=concerns_about(tuning, tuned),
    )


def curve_answer(tuning: Tuning, level: str, sizes: Iterable[int], family: str | None) -> Answer:
    """The fate of groups of these true sizes: suppressed, which table, how biased.

    Raises InvalidInput if an argument is wrong or the level's noise can't be drawn.
    """
    reader = QuestionReader(tuning)
    tuning = reader.of_family(family, level)
    tuned = reader.adaptive_level(level)
    wanted = reader.sizes(sizes)
    reader.end(tuned)
    if tuning.config.product.selector is Selector.NONE:
        raise no_answer("every group gets the finest table, whatever its size.")
    if Stage.STAGE_1 not in tuned.design.stages:
        return _curve_in_people(tuning, tuned, wanted)
    design = tuned.design
    tables = (f"{shape.divisions} {tuned.family.divided_into}" for shape in tuned.family.finer)
    table = text_table(
        "true size", "suppressed", "total alone", *tables, "bias of a\npublished total"
    )
    rows: list[JsonObject] = []
    for size in wanted or _sizes_near_thresholds(design):
        chances = {
            shape.label: float(chance.mid()) for shape, chance in design.shape_chances(size).items()
        }
        suppressed = float(design.suppression_chance(size).mid())
        bias = float(design.bias(size).mid())
        table.add_row(
            f"{size:,}", *map(words.chance_text, (suppressed, *chances.values())), f"{bias:+.2f}"
        )
        rows.append({"size": size, "suppressed": suppressed, "tables": chances, "bias": bias})
    threshold = design.suppression_threshold
    return Answer(
        for_programs={**keys_of(tuned), "suppression_threshold": threshold, "sizes": rows},
        tables=((f"{title_of(tuned)}: what happens to a group, by its true size", table),),
        notes=(
            "Nothing is suppressed at this level."
            if threshold is None
            else f"Suppressed: the group gets only a total, which is not above T = {threshold:,}."
            f" Bias: how many {unit_of(tuning.config)} a published total is too high on"
            " average.",
        ),
        concerns=concerns_about(tuning, tuned),
    )


def _sizes_near_thresholds(design: LevelDesign) -> tuple[int, ...]:
    """Sizes around T, and around each threshold as far as the noise of stage 1 blurs it."""
    blur = design.noise(Stage.STAGE_1).margin_of_error(CONFIDENCE)
    threshold = design.suppression_threshold or 0
    sizes = {threshold * quarters // 4 for quarters in range(9)}
    for least in design.thresholds.totals:
        sizes |= {least - blur, least, least + blur}
    return tuple(sorted(size for size in sizes if size >= 0))


def _curve_in_people(tuning: Tuning, tuned: TunedLevel, totals: Iterable[int]) -> Answer:
    """The table that a published total chooses, and how precise it is."""
    unit = unit_of(tuning.config)
    design = tuned.design
    table = text_table(
        "published total\n(people)", "table", "cells", "+/- cell\nat 95 %", "+/- total\nat 95 %"
    )
    reached = {total: sum(total >= least for least in design.thresholds.totals) for total in totals}
    chosen = [(design.family.shapes[position], total, total) for total, position in reached.items()]
    rows: list[JsonObject] = []
    for shape, first, last in chosen or _ranges(design):
        margins = {kind.short: design.margin(kind) for kind in shape.kinds}
        cell, total = (design.margin(kind) for kind in (shape.kinds[0], shape.kinds[-1]))
        table.add_row(
            _people(first, last), shape.label, str(shape.cells), f"{cell:,}", f"{total:,}"
        )
        rows.append(
            {"first": first, "last": last, "table": shape.label, "margins_of_error": margins}
        )
    return Answer(
        for_programs={**keys_of(tuned), "unit": unit, "threshold_unit": "people", "totals": rows},
        tables=(
            (
                f"{title_of(tuned)}: what happens to a group, by its published total of people",
                table,
            ),
        ),
        notes=(
            f"Margins are in {unit}. The published total chooses and leaves nothing to chance:"
            " no group that has one is suppressed, a group that has none is not measured,"
            f" and every number of {tuned.family.name} is unbiased.",
        ),
        concerns=concerns_about(tuning, tuned),
    )


def _people(first: int | None, last: int | None) -> str:
    """Published totals from first to last, such as 5, up to 5, 5 to 9 or from 5."""
    if first == last is not None:
        return f"{first:,}"
    if first is None:
        return f"up to {last:,}"
    return f"from {first:,}" if last is None else f"{first:,} to {last:,}"


def _ranges(design: LevelDesign) -> Iterator[tuple[Shape, int | None, int | None]]:
    """Each shape with the first and last total that choose it, None where there is no end.

    A shape with the threshold of a finer one is never chosen.
    """
    thresholds = design.thresholds.totals
    firsts = (None, *thresholds)
    lasts = (*(threshold - 1 for threshold in thresholds), None)
    for shape, first, last in zip(design.family.shapes, firsts, lasts, strict=True):
        if first is None or last is None or first <= last:
            yield shape, first, last
