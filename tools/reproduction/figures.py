"""The paper's two figures, and two about the noises."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, pi, sqrt
from statistics import NormalDist

from safetab.core.guarantees.plan_json import exact
from safetab.inputs.tuning.paper import (
    SUPPRESSION_CHANCE,
    THRESHOLD_BUDGETS,
    suppression_threshold,
)
from tools.reproduction.curves import bias_curve, suppression_curve
from tools.reproduction.line_chart import Axis, Chart, Line
from tools.reproduction.noise_comparison import Scope

_NORMAL = NormalDist()
_SPREAD = _NORMAL.inv_cdf(float(SUPPRESSION_CHANCE))
"""T over sigma, if noise were continuous."""
_COLOURS = ("#1f5f99", "#c05a00", "#2e7d32", "#7b3fa0")
_BLACK = "#1d2733"
_SIZES = Axis("true size of the group / T", 0, 2, {k / 4: f"{k / 4:g}" for k in range(9)})
_DIGITS = tuple(k / 2 for k in range(2, 61))


def continuous_suppression(ratio: float) -> float:
    """Of a group of `ratio` times T, if noise were continuous."""
    return _NORMAL.cdf(_SPREAD * (1 - ratio))


def continuous_bias(ratio: float) -> float:
    """Over T: the paper's formula with the continuous distribution."""
    cut = _SPREAD * (1 - ratio)
    return exp(-(cut**2) / 2) / sqrt(2 * pi) / _NORMAL.cdf(-cut) / _SPREAD


def figures(scopes: Sequence[Scope]) -> dict[str, str]:
    """By name of the file."""
    return {
        **paper_figures(),
        "noises-by-way.svg": _by_way(scopes[0], scopes[1]).svg(),
        "noises-by-scope.svg": _by_scope(scopes).svg(),
    }


def paper_figures() -> dict[str, str]:
    return {"suppression.svg": _suppression().svg(), "bias.svg": _bias().svg()}


def _suppression() -> Chart:
    lines = [
        Line(_budget_name(budget), suppression_curve(budget), colour)
        for budget, colour in zip(THRESHOLD_BUDGETS, _COLOURS, strict=False)
    ]
    continuous = [(k / 100, continuous_suppression(k / 100)) for k in range(201)]
    chances = Axis("chance of suppression", 0, 1, {k / 5: f"{20 * k} %" for k in range(6)})
    title = "Figure 1: how likely a group is suppressed"
    return Chart(
        title, _SIZES, chances, [*lines, Line("continuous noise", continuous, _BLACK, "5 4")]
    )


def _bias() -> Chart:
    lines = [
        Line(_budget_name(budget), bias_curve(budget), colour)
        for budget, colour in zip(THRESHOLD_BUDGETS, _COLOURS, strict=False)
    ]
    continuous = [(k / 100, continuous_bias(k / 100)) for k in range(201)]
    biases = Axis(
        "bias of a published total / T", 0, 1.2, {k / 5: f"{k / 5:.1f}" for k in range(7)}
    )
    title = "Figure 2: how much too high a published total is on average"
    return Chart(
        title,
        _SIZES,
        biases,
        [*lines, Line("the paper's formula, continuous", continuous, _BLACK, "5 4")],
    )


def _budget_name(budget: Fraction) -> str:
    return f"exact, rho {exact(budget)}, T = {suppression_threshold(budget)}"


def _by_way(whole: Scope, without_total_only: Scope) -> Chart:
    ways = whole.savings | {
        "both by loss distributions, no TotalOnly": without_total_only.savings[
            "both by loss distributions"
        ]
    }
    lines = [
        Line(way, [(digits, saving(digits)) for digits in _DIGITS], colour)
        for (way, saving), colour in zip(ways.items(), _COLOURS, strict=True)
    ]
    title = "The US pass: how much less epsilon Gaussian noise has at equal margins"
    return Chart(title, _deltas(), _savings(-0.2, 0.8), lines, (0.33, 0.02))


def _by_scope(scopes: Sequence[Scope]) -> Chart:
    lines = []
    for scope, colour in zip((scopes[0], *scopes[2:]), _COLOURS, strict=False):
        saving = scope.savings["both by loss distributions"]
        lines.append(Line(scope.name, [(digits, saving(digits)) for digits in _DIGITS], colour))
    title = "Both by loss distributions: the fewer counts, the sooner it reverses"
    return Chart(title, _deltas(), _savings(-1.0, 1.0), lines, (0.6, 0.02))


def _deltas() -> Axis:
    return Axis("delta", 1, 30, {k: f"1e-{k}" for k in (1, 5, 10, 15, 20, 25, 30)})


def _savings(first: float, last: float) -> Axis:
    marks = {k / 5: f"{20 * k} %" for k in range(round(5 * first), round(5 * last) + 1)}
    return Axis(
        "Gaussian has less epsilon by", first, last, {**marks, 0.07: "7 %"} if last < 1 else marks
    )
