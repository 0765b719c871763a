"""What a configuration means for a level."""

from fractions import Fraction

import pytest

import safetab
from safetab.tuning import concerns, tuning_of
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    CELL,
    DETAILED,
    PR_PASS,
    SEX_BY_AGE,
    SEX_BY_AGE_4,
    SEX_BY_AGE_23,
    SEX_MARGINAL,
    TOTAL,
    US,
    US_PASS,
    DiscreteGaussian,
    InvalidInput,
    PopulationGroupLevel,
    PrivacyDefinition,
    Stage,
    Thresholds,
    concern_of_suppression,
    concerns_of_thresholds,
    output_if_all_groups_are_empty,
)

COUNTY = PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)
STATE = PopulationGroupLevel(US.area_level("STATE"), DETAILED)


@pytest.fixture(scope="module")
def production():
    return tuning_of().require()


def test_the_2020_production_costs_what_the_paper_says(production):
    assert production.loss.unbounded == Fraction("4.944")
    assert production.loss_of(PR_PASS).unbounded == Fraction("2.643")
    assert sum(production.share(tuned.facts.level) for tuned in production.levels_of(US_PASS)) == 1
    assert len(production.levels) == 19  # (AIANNH, Regional) has no budget
    assert production.groups == 266_586_338


def test_a_level_of_the_2020_production(production):
    county = production.levels[COUNTY]
    assert county.stability == 9
    assert county.design.suppression_threshold == 21
    assert county.main_stage == Stage.STAGE_2
    assert county.design.noise(Stage.STAGE_2).sigma_squared == Fraction(9, 2) / (Fraction("0.159") * Fraction(9, 10))
    assert [county.design.margin(kind) for kind in SEX_BY_AGE_23.kinds] == [11, 53, 75]
    assert county.design.margin(SEX_BY_AGE_4.kind(CELL), Fraction(99, 100)) == 14
    assert county.relative_margin(4600, SEX_BY_AGE_23.kind(CELL)) == Fraction(11, 100)
    assert county.relative_margin(4600, SEX_BY_AGE_23.kind(SEX_MARGINAL)) == Fraction(53, 2300)
    assert production.levels[STATE].design.suppression_threshold is None


def test_the_bias_is_the_mean_of_what_is_published(production):
    county = production.levels[COUNTY]
    noise = county.design.noise(Stage.STAGE_2)
    assert isinstance(noise, DiscreteGaussian)
    for size in 0, 7, 21, 22, 40:
        published = {x: float(noise.probability(x).mid()) for x in range(-80, 81) if size + x > 21}
        mean = sum(x * chance for x, chance in published.items()) / sum(published.values())
        assert float(county.design.bias(size).mid()) == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert float(production.levels[STATE].design.bias(3).mid()) == 0


def test_chances_of_a_size_add_up_to_one(production):
    county = production.levels[COUNTY]
    for size in 0, 21, 960, 4971, 19_980:
        chances = county.design.shape_chances(size)
        assert float(sum(chances.values()).mid()) == pytest.approx(1)
        assert 0 <= float(county.design.suppression_chance(size).mid()) <= float(chances[TOTAL].mid())
    below = sum(float(county.design.noise(Stage.STAGE_2).probability(x).mid()) for x in range(-90, 21 - 15 + 1))
    assert float(county.design.suppression_chance(15).mid()) == pytest.approx(below, rel=1e-9)
    assert float(production.levels[STATE].design.suppression_chance(0).mid()) == 0


def test_tuning_without_data_says_what_the_plan_says():
    parameters, data = SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data"
    plan = safetab.plan(parameters, data)
    tuning = tuning_of(None, parameters, data / "GRF-C.txt").require()
    assert set(tuning.levels) == {one.level for one in plan.levels}
    for one in plan.levels:
        tuned = tuning.levels[one.level]
        assert tuned.design == one.design
        assert tuned.facts.groups == one.universe.size
        assert tuned.empty_groups_published == pytest.approx(output_if_all_groups_are_empty(one).published_groups)
    assert tuning.loss == plan.loss
    without = tuning_of(None, parameters).require()
    assert without.facts[COUNTY].entities == 3143  # those of 2020, where no geography is given
    assert without.facts[COUNTY].lists == tuning.facts[COUNTY].lists
    by_codes = tuning.facts[COUNTY].lists.stability_by_codes
    assert len(by_codes) == 8
    assert [*by_codes] == sorted(by_codes)


def test_every_mistake_in_the_files_is_told_at_once(tmp_path):
    (tmp_path / "config.json").write_text('{"privacy_defn": "zcdp"}')
    with pytest.raises(InvalidInput) as refused:
        tuning_of(tmp_path / "config.json", None, tmp_path / "no-geography").require()
    assert "config.json" in {finding.file for finding in refused.value.findings}
    assert "no-geography" in str(refused.value)


def sentences(tuning):
    return [concern.text for concern in concerns(tuning) if concern.level in {None, COUNTY}]


def test_the_2020_production_raises_no_concern(production):
    assert concerns(production) == ()
    assert concern_of_suppression(production.config) is None
    assert [text for tuned in production.levels.values() for text in concerns_of_thresholds(tuned.design)] == []


def test_settings_that_make_no_sense_are_told(production):
    def with_thresholds(*values):
        return sentences(production.with_thresholds({COUNTY: Thresholds(values)}))

    def with_chance(chance):
        return sentences(production.but(zero_suppression_chance=Fraction(chance)))[0]

    assert "first 3 of 8 race codes" in sentences(production.but(most_answers=3))[0]
    assert production.but(max_race_codes=3).config == production.but(most_answers=3).config
    assert "one half or less" in with_chance("0.5")
    assert "chance of 0 publishes every empty group" in with_chance(0)
    within, not_above = with_thresholds(20, 4971, 19_971)[:2]
    assert within.startswith("The lowest threshold, 20, lies within the noise of stage 1 (±33 at 95 %)")
    assert not_above.endswith("is not above the suppression threshold T = 21.")
    (cells,) = with_thresholds(80, 4971, 19_971)
    assert "a cell of the table with 4 ages holds 10 on average" in cells
    assert "less than its margin of error: ±11 at 95 %" in cells
    larger = "the total of the table with 9 ages has a larger margin of error: ±47 at 95 %"
    assert larger in " ".join(with_thresholds(34, 40, 999))
    (told,) = sentences(production.with_budgets({COUNTY: Fraction(10**14)}))[2:]
    assert "sigma must lie between 1e-06 and 100000. A run would refuse it." in told


def test_a_loss_far_above_2020_and_noise_that_protects_nobody_are_told(production):
    def with_county(budget, **changes):
        return sentences(production.with_budgets({COUNTY: Fraction(budget)}).but(**changes))

    assert with_county("4.268") == []
    (level,) = with_county("4.269")
    assert "rho 4.269, is more than 2 times that of the costliest level of the 2020 Detailed DHC-A (rho 2.134)" in level
    total, _, no_protection = with_county("900000")
    assert "rho 900,004.785, is more than 182,039 times that of the 2020 Detailed DHC-A (rho 4.944)." in total
    assert no_protection.startswith("This setting protects nobody at this level")
    assert no_protection.endswith("`safetab run` refuses it for real people.")
    (pure,) = with_county("3", privacy_definition=PrivacyDefinition.PURE_DP)[1:]
    assert "epsilon 3, counts as rho 4.5 at most (epsilon squared / 2): more than 2 times that of" in pure


def test_one_stage_without_noise_is_enough_to_protect_nobody(production):
    """Stage 2 with sigma 0.5 is 0 with a chance of 79 %, stage 1 with sigma 1.5 with 27 %."""
    tuned = production.with_budgets({COUNTY: Fraction(20)})
    noises = [tuned.levels[COUNTY].design.noise(stage) for stage in (Stage.STAGE_1, Stage.STAGE_2)]
    assert [noise.is_mostly_zero for noise in noises] == [False, True]
    assert any("protects nobody" in sentence for sentence in sentences(tuned))


def test_pure_dp_has_scales(production):
    county = production.but(privacy_definition=PrivacyDefinition.PURE_DP).levels[COUNTY]
    assert county.design.noise(Stage.STAGE_2).scale == 9 / (Fraction("0.159") * Fraction(9, 10))
    assert len({county.design.margin(shape.kind(CELL)) for shape in SEX_BY_AGE}) == 1
