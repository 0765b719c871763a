"""The theory beside which measured errors are set, against sums over exact probabilities; and small statistics."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    COMBINED,
    DETAILED,
    PERSONS,
    SEX_BY_AGE_4,
    SEX_BY_AGE_9,
    SEX_BY_AGE_23,
    TALLY_TOTAL,
    TOTAL,
    US,
    DiscreteGaussian,
    DiscreteLaplace,
    Histograms,
    LevelTheory,
    MeasuredAs,
    PopulationGroupLevel,
    SelectionAwareIntervals,
    Stage,
    SumOfDraws,
    plan_of_files,
    quantiles,
    size_class_name,
    size_class_of,
    sorts_of,
    wilson_interval,
)

NOISES = [DiscreteGaussian(Fraction(25)), DiscreteGaussian(Fraction(9, 4)), DiscreteLaplace(Fraction(7, 2))]


@pytest.fixture(scope="module")
def county():
    plan = plan_of_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    wanted = PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)
    return next(level.design for level in plan.levels if level.level == wanted)


def chances(noise, reach):
    return {value: float(noise.probability(value).mid()) for value in range(-reach, reach + 1)}


@pytest.mark.parametrize("noise", NOISES)
def test_moments_above_a_limit_are_sums_over_exact_probabilities(noise):
    of, limits = chances(noise, 120), np.array([-30, -3, 0, 4, 11])
    theory = SumOfDraws(noise, 1).above(limits)
    margin = noise.margin_of_error(Fraction(95, 100))
    for position, limit in enumerate(limits.tolist()):
        above = {value: chance for value, chance in of.items() if value > limit}
        whole = sum(above.values())
        assert theory.mean[position] == pytest.approx(sum(v * p for v, p in above.items()) / whole, abs=1e-9)
        assert theory.absolute[position] == pytest.approx(sum(abs(v) * p for v, p in above.items()) / whole, rel=1e-9)
        assert theory.square[position] == pytest.approx(sum(v * v * p for v, p in above.items()) / whole, rel=1e-9)
        inside = sum(p for v, p in above.items() if abs(v) <= margin) / whole
        assert theory.covered[1][position] == pytest.approx(inside, abs=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("draws", [8, 46])
def test_the_noise_of_a_sum_of_cells_covers_as_often_as_its_certified_tails_say(noise, draws):
    summed, theory = noise.sum_of(draws), SumOfDraws(noise, draws)
    for margin, covered in zip(theory.margins, theory.covered, strict=True):
        assert covered == pytest.approx(1 - 2 * float(summed.tail(margin + 1).mid()), abs=1e-9)
    everywhere = theory.above(np.array([-theory.reach - 1]))
    assert everywhere.square[0] == pytest.approx(theory.variance, rel=1e-9)


def test_moments_between_two_limits_are_sums_over_exact_probabilities():
    noise = NOISES[0]
    inside = {value: chance for value, chance in chances(noise, 100).items() if -2 <= value < 9}
    mean, square = SumOfDraws(noise, 1).between(np.array([-2]), np.array([9]))
    assert mean[0] == pytest.approx(sum(v * p for v, p in inside.items()) / sum(inside.values()), rel=1e-9)
    assert square[0] == pytest.approx(sum(v * v * p for v, p in inside.items()) / sum(inside.values()), rel=1e-9)


def test_tables_are_chosen_and_lone_totals_suppressed_as_certified_tails_say(county):
    theory, sizes = LevelTheory(county, MeasuredAs.ADAPTIVE), np.array([0, 15, 990, 1_010, 21_000])
    first, second = (county.noise(stage) for stage in (Stage.STAGE_1, Stage.STAGE_2))
    chosen, shown = theory.shape_chances(sizes), theory.shown_chances(sizes)
    assert chosen.sum(axis=0) == pytest.approx(1)
    for position, size in enumerate(sizes.tolist()):
        reaching = [float(first.tail(threshold - size).mid()) for threshold in county.thresholds.totals]
        assert chosen[:, position] == pytest.approx(-np.diff([1, *reaching, 0]), abs=1e-9)
        passing = float(second.tail(county.suppression_threshold + 1 - size).mid())
        assert shown[0, position] == pytest.approx(chosen[0, position] * passing, rel=1e-6, abs=1e-12)
        assert shown[1:, position] == pytest.approx(chosen[1:, position])


def test_theory_for_many_sizes_is_the_exact_theory_of_each(county):
    """Which the explorer tells: chances by true size, and the paper's bias."""
    theory, sizes = LevelTheory(county, MeasuredAs.ADAPTIVE), np.array([0, 5, 19, 40, 960, 1_000, 5_030])
    shown, bias = theory.shown_chances(sizes), theory.error(TALLY_TOTAL, TOTAL, sizes).mean
    for position, size in enumerate(sizes.tolist()):
        exact = county.shape_chances(size)
        assert theory.shape_chances(sizes)[:, position] == pytest.approx([float(one.mid()) for one in exact.values()])
        chance = county.publication_chance(size)
        assert shown[:, position].sum() == pytest.approx(float(chance.mid()), rel=1e-7)
        mean = county.noise(Stage.STAGE_2).mean_given_at_least(county.suppression_threshold + 1 - size)
        assert bias[position] == pytest.approx(float(mean.mid()), rel=1e-7, abs=1e-9)


def test_a_lone_total_is_biased_upwards_near_the_threshold_and_a_table_never_is(county):
    theory, sizes = LevelTheory(county, MeasuredAs.ADAPTIVE), np.array([0, 19, 200])
    bias = theory.error(TALLY_TOTAL, TOTAL, sizes).mean
    assert bias[0] > 19  # who is shown although nobody is there has noise above T = 19
    assert 3 < bias[1] < 5  # about 0.8 sigma
    assert abs(bias[2]) < 1e-9
    assert theory.error(TALLY_TOTAL, SEX_BY_AGE_4, sizes).mean == pytest.approx(0, abs=1e-9)


SIZES = np.array([0, 1, 7, 15, 19, 20, 26, 45, 90, 400, 5_000])


def test_selection_aware_coverage_is_a_sum_over_exact_probabilities_and_at_least_what_is_promised(
    county,
):
    noise, threshold = county.noise(Stage.STAGE_2), county.suppression_threshold
    theory, of = LevelTheory(county, MeasuredAs.ADAPTIVE), chances(noise, 80)
    covered = theory.interval_covered(TOTAL, SIZES)
    for position, size in enumerate(SIZES.tolist()):
        shown = {size + value: chance for value, chance in of.items() if size + value > threshold}
        low, high = SelectionAwareIntervals(noise, threshold, Fraction(95, 100)).of(np.array(list(shown)))
        holding = sum(
            chance for chance, *ends in zip(shown.values(), low, high, strict=True) if ends[0] <= size <= ends[1]
        )
        assert covered[position] == pytest.approx(holding / sum(shown.values()), rel=1e-9)
    assert (covered >= 0.95).all()


def test_a_total_that_is_always_shown_has_the_interval_of_its_margin(county):
    theory = LevelTheory(county, MeasuredAs.ADAPTIVE)
    assert theory.is_selected(TOTAL)
    for shape in (SEX_BY_AGE_4, SEX_BY_AGE_23):
        assert not theory.is_selected(shape)
        plain = theory.error(TALLY_TOTAL, shape, SIZES).covered[1]
        assert theory.interval_covered(shape, SIZES) == pytest.approx(plain)
    everywhere = LevelTheory(dataclasses.replace(county, suppression_threshold=None), MeasuredAs.ADAPTIVE)
    assert not everywhere.is_selected(TOTAL)
    assert everywhere.margin_fails_up_to is None


def test_the_plain_margin_fails_for_published_totals_of_exactly_the_sizes_up_to_one(county):
    theory, noise = LevelTheory(county, MeasuredAs.ADAPTIVE), county.noise(Stage.STAGE_2)
    of, margin, failing = chances(noise, 80), noise.margin_of_error(Fraction(95, 100)), []
    for size in range(3 * county.suppression_threshold):
        shown = {value: chance for value, chance in of.items() if size + value > county.suppression_threshold}
        if sum(chance for value, chance in shown.items() if abs(value) <= margin) < 0.95 * sum(shown.values()):
            failing.append(size)
    assert failing == list(range(theory.margin_fails_up_to + 1))
    assert 10 < theory.margin_fails_up_to <= county.suppression_threshold


def test_combined_totals_have_less_noise_and_none_is_made_of_a_total_that_was_selected(county):
    theory, far_from_thresholds = LevelTheory(county, MeasuredAs.ADAPTIVE), np.array([2_500])
    plain = theory.error(TALLY_TOTAL, SEX_BY_AGE_4, far_from_thresholds)
    combined = theory.error(COMBINED, SEX_BY_AGE_4, far_from_thresholds)
    assert combined.square[0] < 0.6 * plain.square[0]
    assert combined.mean[0] == pytest.approx(0, abs=1e-6)
    assert not theory.has_combined(TOTAL)
    assert LevelTheory(dataclasses.replace(county, suppression_threshold=None), MeasuredAs.ADAPTIVE).has_combined(TOTAL)


def test_every_line_of_a_table_is_a_total_a_sex_marginal_or_a_cell_and_the_total_counts_once():
    sorts = sorts_of(PERSONS)
    assert [sort.label for sort in sorts] == ["total", "sex marginal", "cell", "combined total"]
    seen = {shape: [sort.in_a_group(shape) for sort in sorts] for shape in PERSONS.shapes}
    assert seen == {
        TOTAL: [1, 0, 0, 1],
        SEX_BY_AGE_4: [1, 2, 8, 1],
        SEX_BY_AGE_9: [1, 2, 18, 1],
        SEX_BY_AGE_23: [1, 2, 46, 1],
    }


def test_size_classes_begin_where_they_say():
    assert size_class_of(np.array([0, 1, 9, 10, 99_999, 100_000, 10**9])).tolist() == [0, 1, 1, 2, 13, 14, 14]
    assert [size_class_name(number) for number in (0, 1, 14)] == ["0", "1 to 9", "100,000 or more"]


def test_quantiles_are_exact_below_256_and_close_above():
    histograms = Histograms(3)
    histograms.add(np.array([0] * 5), np.array([1.0, 2, 3, 4, 250]))
    histograms.add(np.array([2, 2]), np.array([100_000.0, 5_000_000]))
    counts = histograms.counts()
    assert quantiles(counts, 0.5)[0] == 3
    assert quantiles(counts, 0.99)[0] == 250
    assert np.isnan(quantiles(counts, 0.5)[1])
    assert 100_000 <= quantiles(counts, 0.5)[2] <= 101_100


def test_wilson_intervals_are_those_of_the_textbook():
    low, high = wilson_interval(np.array([8.0, 0, 3]), np.array([10.0, 10, 0]))
    assert (low[0], high[0]) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert (low[1], high[1]) == pytest.approx((0, 0.2775), abs=1e-4)
    assert np.isnan(low[2])
