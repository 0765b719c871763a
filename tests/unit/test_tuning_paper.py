"""The paper's numbers, to the last digit."""

from __future__ import annotations

from fractions import Fraction
from math import exp, pi, sqrt
from statistics import NormalDist

import pytest

from reproduction.curves import bias_curve, suppression_curve
from safetab.tuning import tuning_of
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

NORMAL = NormalDist()
DETAILED_3 = (3, "1.921", "2.134", "3.842", "4.268")
DETAILED_11 = (11, "0.143", "0.159", "0.286", "0.318")
REGIONAL_50 = (50, "0.007", "0.008", "0.014", "0.016")


def test_the_table_of_margins_is_the_papers():
    rows = {
        str(row.level): (
            row.target,
            *map(str, (row.stage_2, row.total, row.bounded_stage_2, row.bounded_total)),
        )
        for row in margin_table()
    }
    assert rows == {
        "(USA, Detailed)": DETAILED_3,
        "(STATE, Detailed)": DETAILED_3,
        "(COUNTY, Detailed)": DETAILED_11,
        "(TRACT, Detailed)": DETAILED_11,
        "(PLACE, Detailed)": DETAILED_11,
        "(AIANNH, Detailed)": DETAILED_11,
        "(USA, Regional)": REGIONAL_50,
        "(STATE, Regional)": REGIONAL_50,
        "(COUNTY, Regional)": REGIONAL_50,
        "(TRACT, Regional)": REGIONAL_50,
        "(PLACE, Regional)": REGIONAL_50,
    }


def test_exact_margins_differ_where_the_paper_rounds_up():
    assert {(row.target, row.exact_margin) for row in margin_table()} == {(3, 3), (11, 11), (50, 49)}


def test_no_smaller_budget_of_four_digits_meets_a_target():
    for row in margin_table():
        last_digit = Fraction(1, 10_000) if row.exact_total < 1 else Fraction(1, 1000)
        last_digit = Fraction(1, 10**6) if row.exact_total < Fraction(1, 100) else last_digit
        confidence = Fraction(95, 100)
        assert stage_2_noise(row.exact_total).margin_of_error(confidence) == row.target
        assert stage_2_noise(row.exact_total - last_digit).margin_of_error(confidence) == row.target + 1


def test_the_thresholds_are_the_papers():
    assert {(row.budget, row.threshold) for row in threshold_table()} == {
        (Fraction("0.008"), 93),
        (Fraction("0.159"), 21),
        (Fraction("0.543"), 11),
    }


@pytest.mark.parametrize(("budget", "distance"), [("0.008", 0.009), ("0.159", 0.04), ("0.543", 0.07)])
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
    for text in presets(product).values():
        assert parse_config(text).findings == ()
        assert parse_config(text).require().product is product


@pytest.mark.needs_2020_files
def test_the_preset_of_households_is_what_the_2020_production_had(spec_2020):
    real = read_config_at(spec_2020.parent / "households" / "config-2020.json").require()
    assert production_of_2020(SAFETAB_H).families == real.families


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
    assert preset.families == real.families
    assert preset.privacy_definition is real.privacy_definition
    assert (preset.stage_1_fraction, preset.most_answers, preset.zero_suppression_chance) == (
        real.stage_1_fraction,
        real.most_answers,
        real.zero_suppression_chance,
    )


@pytest.mark.needs_2020_files
def test_the_facts_of_2020_are_those_of_its_lists(spec_2020):
    assert tuning_of(None, spec_2020).require().facts == tuning_of().require().facts
