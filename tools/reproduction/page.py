"""The page docs/the-paper-reproduced.md, number by number from safetab.tuning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt

from flint import arb

from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.core.guarantees.plan_json import exact
from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.privacy.reference import loss_text
from safetab.inputs.tuning.paper import (
    GAMMA,
    STABILITY,
    THRESHOLD_BUDGETS,
    margin_table,
    threshold_table,
    to_three_decimals,
)
from safetab.inputs.tuning.questions import PAPER_CONSTANT
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.us.us_census import DETAILED, US
from safetab.tuning import Tuning, compare_noises, multiplicities
from tools.reproduction.curves import bias_curve, suppression_curve
from tools.reproduction.figures import continuous_bias, continuous_suppression
from tools.reproduction.noise_comparison import Scope, digits_where

_DELTA_DIGITS = (2, 5, 8, 10, 12, 15, 20, 25)


def page(tuning: Tuning, scopes: Sequence[Scope]) -> str:
    return f"{first_part(tuning)}\n\n{_noises(tuning, scopes)}\n"


def first_part(tuning: Tuning) -> str:
    """All but the comparison of noises, which takes longer."""
    sections = (
        _opening(),
        _thresholds(),
        _formula(),
        _margins(),
        _figure_1(),
        _figure_2(),
        _codes(tuning),
    )
    return "\n\n".join(sections)


def _opening() -> str:
    return """# The paper, reproduced

Haney et al., *SafeTab-P: Disclosure Avoidance for the 2020 Census Detailed DHC-A* (2024), has two tables and two
figures that are computed from formulas, a formula of margins of error that is wrong for whole numbers, and two remarks
about choices that were not made. This page computes them again with `safetab.tuning`, whose numbers are exact, and says
where exact numbers differ. `python -m tools.reproduction` writes the page and its figures; a test fails when they are out of
date. On the terminal: `safetab tune table-moe`, `safetab tune table-thresholds`, `safetab tune curve`, `safetab tune codes`, `safetab tune noise`."""


def _thresholds() -> str:
    rows = [(exact(row.budget), row.threshold) for row in threshold_table()]
    return f"""## Suppression thresholds

T is the least number of persons that the noise of stage 2 exceeds with a chance of at most 0.0001 (gamma 0.1,
stability 9). All three agree with the paper. The budget 0.543 stands in no row of the paper's table of margins, and no
whole target asks for it: ±6 needs {_paper_total(6)}.

{_table(("rho", "T"), rows)}"""


def _formula() -> str:
    rows = [_formula_row(*case) for case in _FORMULA_CASES]
    heads = ("rho of the level", "number", "sigma", "floor(1.96 σ)", "covers", "exact ±")
    covered = ", ".join(
        f"{float(_coverage(_noise_for_margin(margin), margin)):.4f}" for margin in _TARGETS
    )
    return f"""## The formula of margins

The paper (6.1) takes floor(1.96 σ) as the margin of error at 95 % of a number with noise of width σ. Rounding down is wrong for
whole numbers: at the paper's own budgets the margin is then one too small in {_too_small(rows)} of eight cases, and 10 contradicts the
paper's own table, which has 11. This program takes the least margin that covers 95 % ([decision
4](decisions/0004-exact-margins-of-error.md)).

{_table(heads, rows)}

The converse (Corollary 2) holds: noise of rho 1.92 / margin² covers the margins {", ".join(map(str, _TARGETS))} with chances of
{covered}."""


_TARGETS = (3, 11, 50)
_FORMULA_CASES = tuple(
    (Fraction(budget), name, share)
    for budget, has_total_only in (("2.134", True), ("0.159", False), ("0.008", True))
    for name, share in (
        ("cell", 1 - GAMMA),
        ("total of stage 1", GAMMA),
        ("TotalOnly group", Fraction(1)),
    )
    if has_total_only or share != 1
)
"""Counties and smaller areas, which have 0.159 for Detailed groups, have no TotalOnly groups."""


def _formula_row(budget: Fraction, name: str, share: Fraction) -> tuple[object, ...]:
    noise = DiscreteGaussian(Fraction(STABILITY) / (2 * share * budget))
    sigma = sqrt(noise.sigma_squared)
    margin = int(1.96 * sigma)
    covers = f"{100 * float(_coverage(noise, margin)):.2f} %"
    return (
        exact(budget),
        name,
        f"{sigma:.3f}",
        f"±{margin}",
        covers,
        f"±{noise.margin_of_error(CONFIDENCE)}",
    )


def _too_small(rows: Sequence[tuple[object, ...]]) -> str:
    return ("none", "one", "two", "three", "four", "five", "six")[
        sum(row[3] != row[5] for row in rows)
    ]


def _coverage(noise: DiscreteGaussian, margin: int) -> arb:
    """The chance that the noise is at most the margin, either way."""
    return 1 - 2 * noise.tail(margin + 1)


def _noise_for_margin(margin: int) -> DiscreteGaussian:
    return DiscreteGaussian(margin**2 / (2 * Fraction("1.92")))


def _paper_total(target: int) -> Decimal:
    """What the paper's formula asks of a level for this margin of a cell."""
    return to_three_decimals(PAPER_CONSTANT * STABILITY / target**2 / (1 - GAMMA))


def _margins() -> str:
    rows = margin_table()
    cells = [
        (
            str(row.level),
            row.target,
            *(row.stage_2, row.total, row.bounded_stage_2, row.bounded_total),
            row.exact_margin,
            exact(row.exact_total),
            _percent(1 - row.exact_total / Fraction(row.total)),
        )
        for row in rows
    ]
    heads = (
        *("level", "target ±", "step 2", "total", "step 2, bounded", "total, bounded"),
        *("exact ± with that total", "least total", "saved"),
    )
    paper, least = sum(Fraction(row.total) for row in rows), sum(row.exact_total for row in rows)
    return f"""## Margins of error

All margins are at 95 %; losses are rho. The first five columns of numbers are the paper's, to the last digit: 1.9208
· 9 / target² (1.9208 is 1.96²/2) rounded to three decimals, the same over 0.9 and rounded, and twice the rounded
numbers for bounded neighbours. The last three are exact: the margin that the paper's total really gives, the least
total of four digits that meets the target, and the saving.

{_table(heads, cells)}

The formula treats the noise as continuous. The discrete Gaussian's margin is a whole number of persons, and
the formula pays for a fraction of a person that nobody sees: 28 % of the budget where the target is 3, and for Regional
levels the budget of 0.008 (rounded up from 0.00768) gives ±49 instead of ±50. With the least budgets all levels of
the US pass would cost rho {exact(Fraction(least))} instead of {exact(Fraction(paper))}: {_percent(1 - least / paper)} less, at the
same targets."""


def _figure_1() -> str:
    rows = [
        (
            exact(budget),
            f"{max(abs(chance - continuous_suppression(ratio)) for ratio, chance in curve):.3f}",
        )
        for budget, curve in ((budget, suppression_curve(budget)) for budget in THRESHOLD_BUDGETS)
    ]
    return f"""## Figure 1: how likely a group is suppressed

![The chance of suppression falls from 99.99 % for an empty group to about one half at T and to almost nothing at twice T.](figures/suppression.svg)

The paper draws one curve for all budgets, over the true size as a part of T. This is right if noise is continuous. With
whole persons a group of exactly T is suppressed more than half of the time (it must be *above* T), and the less
noise there is, the more one person matters. The exact chances differ from the continuous curve by at most:

{_table(("rho", "distance"), rows)}

This is the chance for a group that gets only a total; a larger one that reaches a threshold is always published."""


def _figure_2() -> str:
    rows = [
        (exact(budget), f"{max(abs(bias - continuous_bias(ratio)) for ratio, bias in curve):.3f}")
        for budget, curve in ((budget, bias_curve(budget)) for budget in THRESHOLD_BUDGETS)
    ]
    return f"""## Figure 2: the bias of published totals

![The bias falls from a little over T for an empty group to almost nothing at twice T.](figures/bias.svg)

The bias is the mean of the noise, given that the noisy total is above T, as a part of T. The paper's formula is σ φ((T - n)/σ) /
(1 - Φ((T - n)/σ)). Its text takes φ and Φ of "the standard discrete Gaussian". That can't be meant: a discrete Gaussian
of width σ is not σ times one of width 1, so there is no such formula. With φ and Φ of the continuous distribution it is
the dashed curve. The exact means lie above it, by at most, as a part of T:

{_table(("rho", "distance"), rows)}"""


def _codes(tuning: Tuning) -> str:
    counties = tuning.levels[PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)]
    rows = [
        (
            row.codes,
            row.stability,
            f"±{row.margin}",
            _signed(row.change),
            _signed(row.deviation_change),
        )
        for row in multiplicities(counties)
    ]
    return f"""## Race multiplicity: from 8 codes to 3

The paper: with 3 race codes instead of 8 the stability drops from 9 to 4, "resulting in a 33 % decrease in MOE". The
noise's width is proportional to the root of the stability, and √(4/9) = 2/3: exactly a third less. Margins are whole
persons, so at the budget of counties (rho {exact(counties.design.budget)}) the margin at 95 % goes from ±11 to ±7, which is 36 % less:

{_table(("race codes", "stability", "margin of a cell at 95 %", "margin against 8", "noise's width against 8"), rows)}

With 1 code and with 2 the stability is 3: one code can be in a group alone and in the same group in combination, and
an ethnicity is added. No margin shows the price of fewer codes: people with more codes go missing from groups."""


def _noises(tuning: Tuning, scopes: Sequence[Scope]) -> str:
    return "\n\n".join(
        (
            _noises_question(scopes[0]),
            _noises_table(scopes[0]),
            "![Three of the four lines fall with delta and cross 7 % and 0; the line of zCDP for both stays near 40 %.]"
            "(figures/noises-by-way.svg)",
            _noises_crossings(scopes),
            "![The line of the pass crosses 0 near 1e-20, that of one level near 1e-6, that of one count near 1e-2.]"
            "(figures/noises-by-scope.svg)",
            _noises_confidences(tuning),
            _noises_conclusions(),
        )
    )


def _noises_question(whole: Scope) -> str:
    return f"""## Gaussian or geometric: the "7 %"

The paper: under approximate differential privacy the discrete Gaussian "displayed roughly 7 % less privacy loss,
compared to the geometric mechanism at the same accuracy targets". The analysis that it cites is not available to us,
and the paper states neither the delta nor how the losses were added up. So this section computes both noises
with the margins of error of the 2020 production (cells: ±3, ±11, ±49 at 95 %), each with the least budget that
gives them, and the epsilon of each at the same delta, for unbounded neighbours.

Several epsilons are true, since losses can be added up in several ways:

- **Adding pure epsilons.** Geometric noise is pure: the epsilons of the levels add up to
  {exact(whole.geometric_epsilon)}, at delta 0 and so at every delta.
- **By zCDP.** Gaussian noise costs rho {exact(whole.gaussian_rho)}; geometric noise costs rho
  {loss_text(whole.geometric_rho, 4)} ([proof](privacy.md#geometric-noise-under-zcdp)); either is converted to an epsilon at
  delta as in [privacy.md](privacy.md#epsilon-and-delta).
- **By loss distributions.** This uses the distribution of the privacy loss of all counts together, for a person in 9
  groups of every level, who is in TotalOnly groups where there are any. It is tight: no smaller epsilon holds
  for such a person, up to 0.006 by rounding upward. A test compares it with Google's dp-accounting."""


def _noises_table(whole: Scope) -> str:
    rows = []
    for digits in _DELTA_DIGITS:
        savings = [f"{100 * saving(digits):.1f} %" for saving in whole.savings.values()]
        rows.append(
            (
                f"1e-{digits}",
                *(_up(whole.gaussian_by_zcdp(digits)), _up(whole.geometric_by_zcdp(digits))),
                *(_up(whole.gaussian_tight(digits)), _up(whole.geometric_tight(digits))),
                *savings,
            )
        )
    heads = (
        *("delta", "Gaussian, zCDP", "geometric, zCDP", "Gaussian, tight", "geometric, tight"),
        *("less than pure", "less, both zCDP", "less, both tight"),
    )
    return f"""Epsilons of the US pass, and how much less the Gaussian has (pure epsilons: {exact(whole.geometric_epsilon)} throughout; all are rounded up):

{_table(heads, rows)}"""


def _up(epsilon: float) -> str:
    return f"{ceil(100 * epsilon) / 100:.2f}"


def _noises_crossings(scopes: Iterable[Scope]) -> str:
    rows = []
    for scope in scopes:
        for way, saving in scope.savings.items():
            rows.append(
                (scope.name, way, *(_delta(digits_where(saving, wanted)) for wanted in (0.07, 0.0)))
            )
    return f"""The delta at which the Gaussian has 7 % less, and the delta below which it has more (among deltas from 0.1 to 1e-40):

{_table(("what is compared", "how it is added up", "7 % less at", "reverses below"), rows)}"""


def _delta(digits: float | None) -> str:
    return "none" if digits is None else f"{10**-digits:.0e}".replace("e-0", "e-")


def _noises_confidences(tuning: Tuning) -> str:
    delta, rows = Fraction(1, 10**10), []
    for confidence in (
        Fraction(50, 100),
        Fraction(80, 100),
        Fraction(90, 100),
        Fraction(95, 100),
        Fraction(99, 100),
    ):
        found = compare_noises(tuning, delta, confidence)
        assert found is not None
        pure, zcdp = (
            _percent(1 - found.gaussian_epsilon / epsilon)
            for epsilon in (found.geometric_epsilon_pure, found.geometric_epsilon_by_zcdp)
        )
        rows.append(
            (
                _percent(confidence),
                exact(found.gaussian_epsilon),
                exact(found.geometric_epsilon_pure),
                pure,
                zcdp,
            )
        )
    return f"""The result also depends on the meaning of "the same accuracy". Geometric noise has heavier tails, so the higher the
confidence at which margins are equal, the better the Gaussian looks. At delta 1e-10:

{_table(("equal margin at", "Gaussian, zCDP", "geometric, pure", "less than pure", "less, both zCDP"), rows)}"""


def _noises_conclusions() -> str:
    return """Conclusions:

- At the deltas that are usually reported (1e-10 and about), the Gaussian of the 2020 production has clearly less epsilon
  than geometric noise with the same margins at 95 %, however it is added up: by more than the paper says.
- With another meaning of the same accuracy it is less clear: if the margins at 50 % are equal, which is the typical error
  rather than a large one, the difference from pure epsilons at delta 1e-10 almost vanishes.
- "7 %" is true at one delta for each way of adding up, and that delta differs by many powers of ten from way to way. For
  the whole pass it lies between 1e-14 and 1e-19; for one level alone it is near 1e-5. If both are added up by zCDP, the
  saving is never as small as 7 %.
- The order reverses. At delta 0 only geometric noise gives a guarantee; for the pass it is better below about 1e-20, for
  one level below about 1e-6, for one count already below about 1e-2. Gaussian noise is better because a person is in many
  counts at many levels: losses of many counts partly cancel, and zCDP and loss distributions account for that.
- Adding up geometric noise by zCDP is wasteful: its tight epsilon is far smaller. A comparison by zCDP alone flatters the
  Gaussian.

We can't say which of these, if any, is the paper's 7 %, since we don't have its analysis."""


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [
        _line(heads),
        "|" + "|".join("---" if number == 0 else "--:" for number in range(len(heads))) + "|",
    ]
    return "\n".join([*lines, *(_line(row) for row in rows)])


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _percent(share: Fraction | float) -> str:
    return f"{100 * float(share):.3g} %"


def _signed(share: Fraction | float) -> str:
    return f"{100 * float(share):+.1f} %" if share else "0"
