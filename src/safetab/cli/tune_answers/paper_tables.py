"""The paper's tables, to the last digit, beside what is exact."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from safetab.cli.text_tables import text_table
from safetab.cli.tune_answers.answer import Answer, name, percent, signed_percent
from safetab.planning.plan_json import exact
from safetab.tuning.paper import (
    GAMMA,
    STABILITY,
    SUPPRESSION_CHANCE,
    MarginRow,
    margin_table,
    threshold_table,
)


def margin_answer() -> Answer:
    rows = margin_table()
    table = text_table(
        *("level", "target\n+/- at 95 %"),
        *(f"{kind} rho\n{part}" for kind in ("unbounded", "bounded") for part in ("step 2", "total")),
        *("exact +/- at 95 %\nwith that total", "least total rho\nfor the target", "saved by\nthe exact margin"),
    )
    for row in rows:
        paper = (row.stage_2, row.total, row.bounded_stage_2, row.bounded_total)
        saving = percent(_saving(row))
        table.add_row(
            name(row.level), str(row.target), *map(str, paper), str(row.exact_margin), exact(row.exact_total), saving
        )
    paper_sum, exact_sum = sum(Fraction(row.total) for row in rows), sum(row.exact_total for row in rows)
    return Answer(
        for_programs={
            "confidence": "0.95",
            "stability": STABILITY,
            "stage_1_fraction": exact(GAMMA),
            "rows": [_row(row) for row in rows],
        },
        tables=(("The paper's margin-of-error targets, beside the exact distribution", table),),
        notes=(
            f"The paper's columns are 1.9208 x {STABILITY} / target^2 rounded to three decimals, and that over"
            f" {exact(1 - GAMMA)} rounded; bounded is twice the rounded number. The exact columns are the discrete"
            " Gaussian's own, with no rounding but to 4 digits, upward.",
            *(
                f"Where the target is {target}, rho {total} gives +/- {margin} at 95 % already: {names}."
                for (target, total, margin), names in _differing(rows).items()
            ),
            f"All levels: rho {exact(Fraction(paper_sum))} in the paper, {exact(Fraction(exact_sum))} by the exact"
            f" margins ({signed_percent(exact_sum / paper_sum - 1)}).",
        ),
    )


def _differing(rows: Iterable[MarginRow]) -> dict[tuple[int, Decimal, int], str]:
    """Names of the levels whose margin is not the target, by target, budget and margin."""
    found: dict[tuple[int, Decimal, int], str] = {}
    for row in rows:
        if row.exact_margin != row.target:
            key = (row.target, row.total, row.exact_margin)
            found[key] = f"{found[key]}, {name(row.level)}" if key in found else name(row.level)
    return found


def _saving(row: MarginRow) -> Fraction:
    """The part of the paper's budget that is saved by the least one that meets the target."""
    return 1 - row.exact_total / Fraction(row.total)


def _row(row: MarginRow) -> dict[str, object]:
    return {
        "level": name(row.level),
        "target_margin": row.target,
        "unbounded_step_2_rho": str(row.stage_2),
        "unbounded_total_rho": str(row.total),
        "bounded_step_2_rho": str(row.bounded_stage_2),
        "bounded_total_rho": str(row.bounded_total),
        "exact_margin": row.exact_margin,
        "least_total_rho": exact(row.exact_total),
        "saving": float(_saving(row)),
    }


def threshold_answer() -> Answer:
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
            f"T is the least number of persons that the noise of stage 2 exceeds with a chance of at most"
            f" {exact(1 - SUPPRESSION_CHANCE)}; gamma {exact(GAMMA)}, stability {STABILITY}. Exact, and equal to the"
            " paper's.",
        ),
    )
