"""The paper's numbers, to the last digit."""

from fractions import Fraction
from math import exp, pi, sqrt
from statistics import NormalDist

import pytest

from safetab.tuning import tuning_of
from tests.cases import values_of
from tests.inside import (
    PRODUCTS,
    SAFETAB_H,
    margin_table,
    parse_config,
    presets,
    production_of_2020,
    read_config,
    read_config_at,
    stage_2_noise,
    threshold_table,
)
from tools.reproduction.curves import bias_curve, suppression_curve

NORMAL = NormalDist()
DETAILED_3 = [3, "1.921", "2.134", "3.842", "4.268"]
DETAILED_11 = [11, "0.143", "0.159", "0.286", "0.318"]
REGIONAL_50 = [50, "0.007", "0.008", "0.014", "0.016"]


def test_the_table_of_margins_is_the_papers():
    fine = "(USA, Detailed)", "(STATE, Detailed)"
    for row in margin_table():
        level = str(row.level)
        expected = DETAILED_3 if level in fine else DETAILED_11 if "Detailed" in level else REGIONAL_50
        assert [row.target, *map(str, (row.stage_2, row.total, row.bounded_stage_2, row.bounded_total))] == expected
    assert len(margin_table()) == 11


def test_exact_margins_differ_where_the_paper_rounds_up():
    assert {(row.target, row.exact_margin) for row in margin_table()} == {(3, 3), (11, 11), (50, 49)}


def test_no_smaller_budget_of_four_digits_meets_a_target():
    for row in margin_table():
        last_digit = {3: Fraction(1, 1000), 11: Fraction(1, 10_000), 50: Fraction(1, 10**6)}[row.target]
        margins = [
            stage_2_noise(budget).margin_of_error(Fraction(95, 100))
            for budget in (row.exact_total, row.exact_total - last_digit)
        ]
        assert margins == [row.target, row.target + 1]


def test_the_thresholds_are_the_papers():
    thresholds = {str(row.budget): row.threshold for row in threshold_table()}
    assert thresholds == {str(Fraction(rho)): size for rho, size in (("0.008", 93), ("0.159", 21), ("0.543", 11))}


@pytest.mark.parametrize(
    ("budget", "distance"),
    values_of("""
        "0.008" | 0.009
        "0.159" | 0.04
        "0.543" | 0.07
    """),
)
def test_the_curves_are_the_papers_but_for_whole_persons(budget, distance):
    spread = NORMAL.inv_cdf(0.9999)
    for ratio, chance in suppression_curve(Fraction(budget)):
        assert chance == pytest.approx(NORMAL.cdf(spread * (1 - ratio)), abs=distance)
    for ratio, bias in bias_curve(Fraction(budget)):
        cut = spread * (1 - ratio)
        paper = exp(-(cut**2) / 2) / sqrt(2 * pi) / NORMAL.cdf(-cut) / spread
        assert 0 < bias - paper < distance
    assert suppression_curve(Fraction(budget))[0][1] >= 0.9999


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_the_presets_are_configurations(product):
    for checked in map(parse_config, presets(product).values()):
        assert checked.findings == ()
        assert checked.require().product == product


def test_the_first_preset_is_what_is_tuned_if_nothing_is_given():
    production = production_of_2020()
    assert tuning_of().require().config == production
    round_numbers = parse_config(presets()["2020 with round-number thresholds"]).require()
    assert round_numbers.budgets == production.budgets
    for level, thresholds in round_numbers.families[0].thresholds.items():
        production_totals = production.families[0].thresholds[level].totals
        assert all(one - 29 == other for one, other in zip(thresholds.totals, production_totals, strict=True))


@pytest.mark.needs_2020_files
def test_the_preset_is_what_the_2020_production_had(spec_2020):
    real, preset = read_config(spec_2020).require(), production_of_2020()
    for name in "families", "privacy_definition", "stage_1_fraction", "most_answers", "zero_suppression_chance":
        assert getattr(preset, name) == getattr(real, name)
    households = read_config_at(spec_2020.parent / "households" / "config-2020.json").require()
    assert production_of_2020(SAFETAB_H).families == households.families


@pytest.mark.slow
@pytest.mark.needs_2020_files
def test_the_facts_of_2020_are_those_of_its_lists(spec_2020):
    assert tuning_of(None, spec_2020).require().facts == tuning_of().require().facts
