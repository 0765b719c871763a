"""Which budget, which threshold, which margins; one choice beside another."""

from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log10

import pytest

from safetab.tuning import (
    TunedLevel,
    best_margins,
    compare_noises,
    least_budget,
    multiplicities,
    threshold_for,
    tuning_of,
)
from tests.cases import cases_of
from tests.inside import (
    DETAILED,
    REGIONAL,
    SEX_BY_AGE_4,
    SEX_BY_AGE_23,
    US,
    US_PASS,
    IterationsMeasured,
    PopulationGroupLevel,
    PrivacyDefinition,
    Sensitivity,
    Stage,
    calibrated_noise,
    epsilon_of_rho,
    least_decimal,
)

COUNTY = PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)
AIANNH_REGIONAL = PopulationGroupLevel(US.area_level("AIANNH"), REGIONAL)
PERCENT_95 = Fraction(95, 100)


@pytest.fixture(scope="module")
def production():
    return tuning_of().require()


def one_digit_less(number):
    """The next smaller decimal of four significant digits."""
    return number - Fraction(10) ** (floor(log10(number * (1 - Fraction(1, 10**9)))) - 3)


MARGINS = """
0 | 0.95
1 | 0.9
3 | 0.95
11 | 0.95
50 | 0.99
"""


@pytest.mark.parametrize("definition", PrivacyDefinition)
@pytest.mark.parametrize(("margin", "confidence"), cases_of(MARGINS))
def test_the_least_budget_is_least(production, definition, margin, confidence):
    tuned, margin, confidence = (
        production.but(privacy_definition=definition).levels[COUNTY],
        int(margin),
        Fraction(confidence),
    )
    found = least_budget(tuned, margin, confidence)

    def margin_at(budget):
        noise = calibrated_noise(definition, Sensitivity.of_groups(9), budget * Fraction(9, 10))
        return noise.margin_of_error(confidence)

    assert margin_at(found.budget) == found.margin <= margin
    assert margin_at(one_digit_less(found.budget)) > margin
    assert len(str(found.budget.numerator * 10**9 // found.budget.denominator).rstrip("0")) <= 4


def test_the_exact_margin_is_cheaper_than_the_papers_formula(production):
    found = least_budget(production.levels[COUNTY], 11)
    assert found.budget == Fraction("0.1449")
    assert found.paper_budget == Fraction("1.9208") * 9 / 121 / Fraction(9, 10)
    assert float(found.saving) == pytest.approx(0.0872, abs=1e-4)
    other = least_budget(production.levels[COUNTY], 11, Fraction(9, 10))
    assert other.paper_budget is other.saving is None  # the formula is about 95 %


def test_a_level_without_a_budget_can_be_asked_about_and_noise_that_cannot_be_drawn_has_none(production):
    assert least_budget(production.level(AIANNH_REGIONAL), 50).budget == Fraction("0.007531")
    assert least_budget(production.levels[COUNTY], 10**9) is least_budget(production.levels[COUNTY], -1) is None


def test_a_level_of_totals_alone_has_no_second_stage(production):
    facts = production.facts[COUNTY]

    def tuned(lists):
        return TunedLevel(replace(facts, lists=lists), production.config, production.family)

    lists = replace(facts.lists, iterations=IterationsMeasured(adaptive=0, total_only=5))
    totals = tuned(lists)
    assert totals.main_stage is Stage.TOTAL_ONLY
    assert least_budget(totals, 11).budget == pytest.approx(Fraction("0.1449") * Fraction(9, 10), rel=1e-3)
    assert threshold_for(totals, SEX_BY_AGE_4.kind("cell"), Fraction(1, 10)) is None
    nobody = tuned(replace(lists, sensitivity_by_codes=(Sensitivity.of_groups(0),) * 8))
    assert nobody.main_stage is None
    assert least_budget(nobody, 11) is None
    assert multiplicities(nobody) == ()


@pytest.mark.parametrize(("name", "size"), [("cell", 11 * 46), ("sex_marginal", 53 * 2), ("total", 75)])
def test_a_threshold_is_the_least_size_that_is_precise_enough(production, name, size):
    county, kind, tenth = production.levels[COUNTY], SEX_BY_AGE_23.kind(name), Fraction(1, 10)
    found = threshold_for(county, kind, tenth)
    assert found.size == 10 * size
    assert found.cautious_threshold == 10 * size + 33
    assert county.relative_margin(found.size, kind) <= tenth < county.relative_margin(found.size - 1, kind)


@pytest.mark.parametrize(
    "total", [3, 40, *(pytest.param(total, marks=pytest.mark.slow) for total in (Fraction(1, 2), 5))]
)
def test_the_best_margins_spend_the_whole_total(production, total):
    proportions = dict(zip(production.levels, map(Fraction, (49, 3) * 5 + (11,)), strict=False))
    found = best_margins(production, US_PASS, Fraction(total), proportions)
    assert (found.spent, found.left, sum(found.budgets.values())) == (total, 0, total)
    tuned, cell = production.with_budgets(found.budgets).levels, SEX_BY_AGE_4.kind("cell")
    assert {level: tuned[level].design.margin(cell) for level in found.budgets} == found.margins

    def least_budgets(steps):
        return {
            level: least_budget(production.levels[level], ceil(steps * proportions[level] / 1000)).budget
            for level in found.margins
        }

    # the first thousandths of the proportions that the total pays for; the rest raises all budgets alike
    steps = bisect_left(range(10**6), True, lo=1, key=lambda one: sum(least_budgets(one).values()) <= total)
    least = least_budgets(steps)
    factor = total / sum(least.values())
    largest = max(found.budgets, key=found.budgets.__getitem__)
    for level, budget in found.budgets.items():
        lost = 1 - budget / (least[level] * factor)
        assert -Fraction(1, 500) < lost <= 0 if level == largest else 0 <= lost < Fraction(1, 1000)


def test_what_makes_no_margin_smaller_is_not_spent(production):
    found = best_margins(production, US_PASS, Fraction(1000), {COUNTY: Fraction(1)})
    assert found.margins[COUNTY] == 0
    assert found.spent + found.left == 1000
    assert found.left > 900


def test_levels_without_a_proportion_are_left_out_of_the_best_margins(production):
    proportions = {COUNTY: Fraction(1), AIANNH_REGIONAL: Fraction(5)}
    assert set(best_margins(production, US_PASS, Fraction(1), proportions).margins) == {*proportions}
    assert best_margins(production, US_PASS, Fraction(1), {}) is None
    assert best_margins(production, US_PASS, Fraction(1, 10**12), proportions) is None


def test_the_least_decimal_is_found_across_powers_of_ten():
    for limit in map(Fraction, ("0.001", "0.9999", "1", "1.0001", "123456", "0.00765432")):
        assert limit <= least_decimal(limit.__le__) <= limit * Fraction(1001, 1000)
    assert least_decimal(lambda number: number >= 10**20) is None
    assert least_decimal(lambda number: number >= Fraction(1, 10**20)) is None


def test_three_codes_instead_of_eight_are_a_third_less_noise(production):
    county = multiplicities(production.levels[COUNTY])
    assert [(one.codes, one.stability) for one in county] == [*zip(range(1, 9), (3, 3, 4, 5, 6, 7, 8, 9), strict=True)]
    three, eight = county[2], county[7]
    assert (three.margin, three.change) == (7, Fraction(-4, 11))
    assert three.deviation_change == pytest.approx(-1 / 3)
    assert (eight.margin, eight.change, eight.deviation_change) == (11, 0, 0)
    pure = production.but(privacy_definition=PrivacyDefinition.PURE_DP).levels[COUNTY]
    assert multiplicities(pure)[2].deviation_change == pytest.approx(-5 / 9)


def test_noises_are_compared_at_the_margins_of_the_configuration(production):
    delta = Fraction(1, 10**10)
    found = compare_noises(production, delta)
    assert {one.margin for one in found.levels} == {3, 11, 49}
    us = {one.level: one for one in found.levels if one.level.geography.tabulation_pass == US_PASS}
    rho, geometric_rho, epsilon = (
        sum(getattr(one, name) for one in us.values())
        for name in ("gaussian_rho", "geometric_rho", "geometric_epsilon")
    )
    assert found.gaussian_rho == rho == Fraction("3.67679")
    assert found.gaussian_epsilon == epsilon_of_rho(rho, delta)
    assert found.geometric_epsilon_pure == epsilon == Fraction("30.056")
    assert found.geometric_epsilon_by_zcdp == epsilon_of_rho(geometric_rho, delta)
    county, nation = us[COUNTY], us[PopulationGroupLevel(US.area_level("USA"), DETAILED)]
    assert county.geometric_rho == (county.geometric_epsilon / 9) ** 2 * 9 / 2 * Fraction(82, 100)
    assert nation.geometric_rho == nation.geometric_epsilon**2 / 18  # TotalOnly groups are the costlier


def test_noise_that_cannot_be_drawn_is_not_compared(production):
    wide = {level: Fraction(1, 10**10) for level, budget in production.config.families[0].budgets.items() if budget}
    assert compare_noises(production.with_budgets(wide), Fraction(1, 10**10)) is None
