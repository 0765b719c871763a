"""One choice beside another, and what a level does to groups of different sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from safetab.cli.plan_tables import NONE
from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers.answer import (
    Answer,
    chance_text,
    concerns_about,
    confidence_text,
    keys_of,
    named_family,
    percent,
    signed_percent,
    title,
    title_of,
)
from safetab.cli.tune_answers.published_totals import curve_in_people
from safetab.cli.tune_answers.questions import no_answer
from safetab.cli.tune_answers.words import Words
from safetab.planning.level_design import LevelDesign
from safetab.planning.plan_json import JsonObject, exact
from safetab.privacy.loss_text import loss_number, loss_text
from safetab.privacy.stages import Stage
from safetab.products.product import Shape
from safetab.tuning.comparisons import NoiseComparison, compare_noises, multiplicities
from safetab.tuning.concerns import concerns
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning

_STAGE_1_CONFIDENCE = Fraction(95, 100)


def noise_answer(tuning: Tuning, delta: str, confidence: str) -> Answer:
    words = Words(tuning)
    small, sure = words.positive(delta, "--delta", "1e-10", below=1), words.confidence(confidence)
    words.end()
    if not all(tuned.design.can_be_drawn for one in tuning.by_family() for tuned in one.levels.values()):
        raise no_answer("the noise of a level can't be drawn; `safetab tune levels` tells which.")
    found = compare_noises(tuning, small, sure)
    if found is None:
        raise no_answer("a level has no noise of the other kind with its margin of error that can be drawn.")
    at = confidence_text(sure)
    levels = text_table("level", f"+/- cell\nat {at}", "Gaussian:\nrho", "geometric:\npure epsilon", "geometric:\nrho")
    for one in found.levels:
        levels.add_row(
            title(one.level, named_family(tuning.config, one.family)),
            f"{one.margin:,}",
            *(exact(one.gaussian_rho), exact(one.geometric_epsilon), loss_text(one.geometric_rho, 4)),
        )
    table = text_table("noise, and how its loss is added up", "epsilon", "Gaussian has")
    for what, epsilon in _ways(found).items():
        change = found.gaussian_epsilon / epsilon - 1
        less_or_more = f"{percent(abs(change))} {'less' if change < 0 else 'more'}" if change else NONE
        table.add_row(what, exact(epsilon), less_or_more)
    return Answer(
        for_programs={
            "delta": exact(small),
            "confidence": exact(sure),
            "gaussian_rho": exact(found.gaussian_rho),
            "gaussian_epsilon": exact(found.gaussian_epsilon),
            "geometric_epsilon_pure": exact(found.geometric_epsilon_pure),
            "geometric_epsilon_by_zcdp": exact(found.geometric_epsilon_by_zcdp),
            "levels": [
                {
                    **keys_of(TunedLevel(tuning.facts[one.level], tuning.config, one.family)),
                    "margin": one.margin,
                    "gaussian_rho": exact(one.gaussian_rho),
                    "geometric_epsilon": exact(one.geometric_epsilon),
                    "geometric_rho": loss_number(one.geometric_rho),
                }
                for one in found.levels
            ],
        },
        tables=(
            ("The same margins of error with both kinds of noise", levels),
            (f"What a {tuning.config.product.record.noun} loses, as (epsilon, delta) at delta {float(small):g}", table),
        ),
        notes=(
            "Unbounded neighbours; of the costlier pass. Epsilons are upper bounds, and only as good as the way they"
            " are added up: docs/the-paper-reproduced.md has tighter ones.",
        ),
        concerns=concerns(tuning),
    )


def _ways(found: NoiseComparison) -> dict[str, Fraction]:
    return {
        "discrete Gaussian, by zCDP": found.gaussian_epsilon,
        "geometric, pure epsilons added (holds at delta 0)": found.geometric_epsilon_pure,
        "geometric, by zCDP": found.geometric_epsilon_by_zcdp,
    }


def codes_answer(tuning: Tuning, level: str, confidence: str, family: str | None) -> Answer:
    words = Words(tuning)
    tuning = words.of_family(family, level)
    tuned, sure = words.tabulated_level(level), words.confidence(confidence)
    words.end()
    if not tuned.design.can_be_drawn:
        raise no_answer("the noise of this level can't be drawn.")
    rows = multiplicities(tuned, sure)
    if not rows:
        raise no_answer("nobody can be in a group of this level.")
    at, symbol = confidence_text(sure), tuning.config.privacy_definition.budget_symbol
    record = tuning.config.product.record
    table = text_table("race codes", "stability", f"+/- cell\nat {at}", "margin\nagainst 8", "noise's width\nagainst 8")
    for row in rows:
        changes = (signed_percent(row.change), signed_percent(row.deviation_change))
        table.add_row(str(row.codes), str(row.stability), f"{row.margin:,}", *changes)
    return Answer(
        for_programs={
            **keys_of(tuned),
            "budget": exact(tuned.design.budget),
            "confidence": exact(sure),
            "codes": [
                {
                    "max_race_codes": row.codes,
                    "stability": row.stability,
                    "margin": row.margin,
                    "margin_change": float(row.change),
                    "deviation_change": row.deviation_change,
                }
                for row in rows
            ],
        },
        tables=(
            (
                f"{title_of(tuned)}: race codes used of a {record.noun}, at {symbol} {exact(tuned.design.budget)}",
                table,
            ),
        ),
        notes=(
            f"Margins are whole {record.noun}s, so they move in steps; the noise's width moves smoothly. With fewer"
            f" codes, {record.nouns} with more are missing from some of their groups: an error that no margin shows.",
        ),
        concerns=concerns_about(concerns(tuning), tuned),
    )


def curve_answer(tuning: Tuning, level: str, sizes: Iterable[int], family: str | None) -> Answer:
    words = Words(tuning)
    tuning = words.of_family(family, level)
    tuned, wanted = words.adaptive_level(level), words.sizes(sizes)
    words.end()
    if not tuned.design.can_be_drawn:
        raise no_answer("the noise of this level can't be drawn.")
    if Stage.STAGE_1 not in tuned.design.stages:
        return curve_in_people(tuning, tuned, wanted)
    design, ladder = tuned.design, tuned.family
    rows = [_at_size(design, size) for size in wanted or telling_sizes(design)]
    table = text_table(
        *("true size", "suppressed", "total alone"),
        *(f"{shape.divisions} {ladder.divided_into}" for shape in ladder.finer),
        "bias of a\npublished total",
    )
    for row in rows:
        chances = [chance_text(chance) for chance in (row.suppressed, *row.shapes.values())]
        table.add_row(f"{row.size:,}", *chances, f"{row.bias:+.2f}")
    threshold = design.suppression_threshold
    return Answer(
        for_programs={
            **keys_of(tuned),
            "suppression_threshold": threshold,
            "sizes": [row.as_json for row in rows],
        },
        tables=((f"{title_of(tuned)}: what becomes of a group of some true size", table),),
        notes=(
            "Nothing is suppressed at this level."
            if threshold is None
            else f"Suppressed: gets only a total, and that is not above T = {threshold:,}. Bias: how many persons a"
            " published total is too high on average.",
        ),
        concerns=concerns_about(concerns(tuning), tuned),
    )


def telling_sizes(design: LevelDesign) -> tuple[int, ...]:
    """Around T, and around each threshold as far as the noise of stage 1 blurs it."""
    blur = design.noise(Stage.STAGE_1).margin_of_error(_STAGE_1_CONFIDENCE)
    threshold = design.suppression_threshold or 0
    sizes = {threshold * quarters // 4 for quarters in range(9)}
    for least in design.thresholds.totals:
        sizes |= {least - blur, least, least + blur}
    return tuple(sorted(size for size in sizes if size >= 0))


@dataclass(frozen=True, slots=True)
class _AtSize:
    """A group of one true size: chances, and the bias of its total."""

    size: int
    suppressed: float
    shapes: Mapping[Shape, float]
    bias: float

    @property
    def as_json(self) -> JsonObject:
        tables = {shape.label: chance for shape, chance in self.shapes.items()}
        return {"size": self.size, "suppressed": self.suppressed, "tables": tables, "bias": self.bias}


def _at_size(design: LevelDesign, size: int) -> _AtSize:
    chances = {shape: float(chance.mid()) for shape, chance in design.shape_chances(size).items()}
    suppressed, bias = design.suppression_chance(size), design.bias(size)
    return _AtSize(size, float(suppressed.mid()), chances, float(bias.mid()))
