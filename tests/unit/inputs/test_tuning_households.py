"""Tuning a product with several table families and published totals: the numbers of the 2020 Detailed DHC-B."""

import json
from fractions import Fraction
from math import sqrt

import pytest

from safetab.tuning import best_margins, compare_noises, concerns, least_budget, threshold_for, tuning_of
from tests.cases import values_of
from tests.inside import (
    DETAILED,
    US,
    US_PASS,
    IterationsMeasured,
    PopulationGroupLevel,
    Stage,
    Thresholds,
    concern_of_suppression,
    concerns_of_thresholds,
    margin_of,
)
from tests.worlds.households import config_of_2020

NATION = PopulationGroupLevel(US.area_level("USA"), DETAILED)
COUNTY = PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)


@pytest.fixture(scope="module")
def households(tmp_path_factory):
    path = tmp_path_factory.mktemp("households") / "config.json"
    path.write_text(json.dumps(config_of_2020()))
    return tuning_of(path).require()


def test_the_2020_households_raise_no_warning(households):
    assert concern_of_suppression(households.config) is None
    designs = [tuned.design for one in households.by_family() for tuned in one.levels.values()]
    assert [text for design in designs for text in concerns_of_thresholds(design)] == []
    assert concerns(households) == ()


def test_losses_add_up_both_families(households):
    us, pr = (households.loss_of(one) for one in US.passes)
    assert us.unbounded == Fraction("8.895302")
    assert us.bounded == Fraction("17.790604")
    assert pr.unbounded == Fraction("4.754134")
    assert pr.bounded == Fraction("9.508268")
    assert households.loss.unbounded == us.unbounded
    assert sum(one.share(level) for one in households.by_family() for level in one.levels) == len(US.passes)


@pytest.mark.parametrize(
    ("areas", "groups", "sigma", "margins"),
    values_of("""
        "USA" | "Detailed" | 1.53061224 | [3, 4, 5, 6, 7]
        "COUNTY" | "Detailed" | 5.612253 | [11, 16, 19, 22, 25]
        "PR-TRACT" | "Regional" | 25.509983 | [50, 71, 87, 100, 112]
    """),
)
def test_noise_and_margins_are_those_of_2020(households, areas, groups, sigma, margins):
    for one in households.by_family():
        tuned = one.levels[PopulationGroupLevel(US.area_level(areas), US.group_level(groups))]
        assert tuned.stability == 9
        assert list(tuned.design.stages) == [Stage.STAGE_2]
        noise = tuned.design.noise(Stage.STAGE_2)
        assert noise.width == pytest.approx(sigma, abs=5e-7)
        assert [margin_of(noise, draws, Fraction(95, 100)) for draws in range(1, 6)] == margins
        assert tuned.design.suppression_threshold is None


def test_each_family_has_its_own_budgets_and_thresholds(households):
    types, tenure = (one.levels[COUNTY] for one in households.by_family())
    _, changed = households.by_family()
    changed = changed.with_budgets({COUNTY: Fraction(1, 2)}).with_thresholds({COUNTY: Thresholds((5,))})
    assert changed.levels[COUNTY].design.thresholds == Thresholds((5,))
    of_types, of_tenure = (one.levels[COUNTY] for one in changed.by_family())
    assert changed.levels[COUNTY].budget == of_tenure.budget == Fraction(1, 2)
    assert of_types.budget == types.budget
    assert of_types.design.thresholds == Thresholds((971, 4971, 19971))
    assert changed.loss.unbounded - households.loss.unbounded == Fraction(1, 2) - tenure.budget


def test_a_family_may_leave_a_level_out(households):
    changed = households.by_family()[1].with_budgets({COUNTY: Fraction(0)})
    assert [COUNTY in one.levels for one in (changed, changed.by_family()[0])] == [False, True]


def test_published_totals_choose_for_total_only_iterations_too(households):
    tuned = households.levels[NATION]
    assert tuned.facts.lists.iterations == IterationsMeasured(adaptive=2150, total_only=794)
    assert tuned.iterations == IterationsMeasured(adaptive=2944, total_only=0)


def test_the_whole_budget_buys_the_margin(households):
    found = least_budget(households.levels[COUNTY], 11)
    assert found.budget == Fraction("0.1304")
    assert found.margin == 11
    assert found.paper_budget == Fraction("1.9208") * 9 / 121


def test_a_size_has_no_cautious_threshold(households):
    found = threshold_for(households.levels[COUNTY], households.family.finest.kind("cell"), Fraction(1, 10))
    assert found.size == 11 * 5 * 10
    assert found.cautious_threshold is None


def test_margins_of_a_family_spend_what_is_given(households):
    found = best_margins(households, US_PASS, Fraction(1), dict.fromkeys((COUNTY, NATION), Fraction(1)))
    assert found.margins[COUNTY] == found.margins[NATION]
    assert found.spent == sum(found.budgets.values()) <= 1


def test_both_noises_cost_what_both_families_cost(households):
    found = compare_noises(households, Fraction(1, 10**10))
    assert len(found.levels) == 2 * 19
    us = [one for one in found.levels if one.level.geography.tabulation_pass == US_PASS]
    assert found.gaussian_rho == sum(one.gaussian_rho for one in us)
    county = next(one for one in us if one.level == COUNTY)
    assert county.geometric_rho == pytest.approx(county.geometric_epsilon**2 / 18)  # 9 counts, each a ninth of it


def test_concerns_name_the_family_and_speak_of_people_and_households(households):
    _, tenure = households.by_family()
    (low,), (higher,) = (concerns(tenure.with_thresholds({COUNTY: Thresholds((one,))})) for one in (12, 30))
    assert low.level == COUNTY
    assert low.family == tenure.family
    assert "threshold of 12 people a group has at most as many households" in low.text
    assert low.text.endswith("the total of the table with 3 cells has a larger margin of error: ±19 at 95 %.")
    assert "a cell of the table with 3 cells holds at most 10 on average" in higher.text


def test_fewer_codes_are_a_concern_about_households(households):
    changed = households.but(most_answers=3)
    (concern,), tuned = concerns(changed), changed.levels[COUNTY]
    assert "households with more codes" in concern.text
    assert tuned.stability == 4
    assert tuned.design.noise(Stage.STAGE_2).width == pytest.approx(sqrt(4 / (2 * 0.142869)))


def test_a_configuration_of_both_products_is_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config_of_2020() | {"privacy_budget_p_level_1_usa": 1}))
    assert tuning_of(path).errors
