"""The theory beside which measured errors are set, against sums over exact probabilities; and small statistics."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.cases import values_of
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    COMBINED,
    DETAILED,
    PERSONS,
    SEX_BY_AGE_4,
    SEX_BY_AGE_23,
    TALLY_TOTAL,
    TOTAL,
    US,
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
from tests.noises import gaussian, laplace

NOISES = [gaussian(25), gaussian("9/4"), laplace("7/2")]


@pytest.fixture(scope="module")
def county():
    plan = plan_of_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    wanted = PopulationGroupLevel(US.area_level("COUNTY"), DETAILED)
    return next(level.design for level in plan.levels if level.level == wanted)


@pytest.fixture(scope="module")
def theory(county):
    return LevelTheory(county, MeasuredAs.ADAPTIVE)


@pytest.fixture(scope="module")
def everywhere(county):
    """The theory if no total is suppressed."""
    return LevelTheory(dataclasses.replace(county, suppression_threshold=None), MeasuredAs.ADAPTIVE)


def chances(noise, reach):
    return {value: float(noise.probability(value).mid()) for value in range(-reach, reach + 1)}


def mean_of(figure, of):
    """Over some values with their chances."""
    return sum(figure(value) * chance for value, chance in of.items()) / sum(of.values())


@pytest.mark.parametrize("noise", NOISES)
def test_moments_above_a_limit_are_sums_over_exact_probabilities(noise):
    of, limits = chances(noise, 120), np.array([-30, -3, 0, 4, 11])
    theory = SumOfDraws(noise, 1).above(limits)
    margin = noise.margin_of_error(Fraction(95, 100))
    for position, limit in enumerate(limits.tolist()):
        above = {value: chance for value, chance in of.items() if value > limit}
        for found, figure in (
            (theory.mean, int),
            (theory.absolute, abs),
            (theory.square, lambda value: value**2),
            (theory.covered[1], lambda value: abs(value) <= margin),
        ):
            assert found[position] == pytest.approx(mean_of(figure, above), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("draws", [8, 46])
def test_the_noise_of_a_sum_of_cells_covers_as_often_as_its_certified_tails_say(noise, draws):
    summed, theory = noise.sum_of(draws), SumOfDraws(noise, draws)
    for margin, covered in zip(theory.margins, theory.covered, strict=True):
        assert covered == pytest.approx(1 - 2 * float(summed.tail(margin + 1).mid()), abs=1e-9)
    assert theory.above(np.array([-theory.reach - 1])).square[0] == pytest.approx(theory.variance, rel=1e-9)


def test_moments_between_two_limits_are_sums_over_exact_probabilities():
    inside = {value: chance for value, chance in chances(NOISES[0], 100).items() if -2 <= value < 9}
    mean, square = SumOfDraws(NOISES[0], 1).between(np.array([-2]), np.array([9]))
    assert mean[0] == pytest.approx(mean_of(int, inside), rel=1e-9)
    assert square[0] == pytest.approx(mean_of(lambda value: value**2, inside), rel=1e-9)


def test_tables_are_chosen_and_lone_totals_suppressed_as_certified_tails_say(county, theory):
    sizes = np.array([0, 15, 990, 1_010, 21_000])
    first, second = (county.noise(stage) for stage in (Stage.STAGE_1, Stage.STAGE_2))
    chosen, shown = theory.shape_chances(sizes), theory.shown_chances(sizes)
    assert chosen.sum(axis=0) == pytest.approx(1)
    for position, size in enumerate(sizes.tolist()):
        reaching = [float(first.tail(threshold - size).mid()) for threshold in county.thresholds.totals]
        assert chosen[:, position] == pytest.approx(-np.diff([1, *reaching, 0]), abs=1e-9)
        passing = float(second.tail(county.suppression_threshold + 1 - size).mid())
        assert shown[0, position] == pytest.approx(chosen[0, position] * passing, rel=1e-6, abs=1e-12)
        assert shown[1:, position] == pytest.approx(chosen[1:, position])


def test_theory_for_many_sizes_is_the_exact_theory_of_each(county, theory):
    """Which the explorer tells: chances by true size, and the paper's bias."""
    sizes = np.array([0, 5, 19, 40, 960, 1_000, 5_030])
    shown, bias = theory.shown_chances(sizes), theory.error(TALLY_TOTAL, TOTAL, sizes).mean
    for position, size in enumerate(sizes.tolist()):
        exact = [float(one.mid()) for one in county.shape_chances(size).values()]
        assert theory.shape_chances(sizes)[:, position] == pytest.approx(exact)
        assert shown[:, position].sum() == pytest.approx(float(county.publication_chance(size).mid()), rel=1e-7)
        mean = county.noise(Stage.STAGE_2).mean_given_at_least(county.suppression_threshold + 1 - size)
        assert bias[position] == pytest.approx(float(mean.mid()), rel=1e-7, abs=1e-9)


def test_a_lone_total_is_biased_upwards_near_the_threshold_and_a_table_never_is(theory):
    sizes = np.array([0, 19, 200])
    bias = theory.error(TALLY_TOTAL, TOTAL, sizes).mean
    assert bias[0] > 19  # who is shown although nobody is there has noise above T = 19
    assert 3 < bias[1] < 5  # about 0.8 sigma
    assert abs(bias[2]) < 1e-9
    assert theory.error(TALLY_TOTAL, SEX_BY_AGE_4, sizes).mean == pytest.approx(0, abs=1e-9)


SIZES = np.array([0, 1, 7, 15, 19, 20, 26, 45, 90, 400, 5_000])


def test_selection_aware_coverage_is_a_sum_over_exact_probabilities_and_at_least_what_is_promised(county, theory):
    noise, threshold = county.noise(Stage.STAGE_2), county.suppression_threshold
    of, covered = chances(noise, 80), theory.interval_covered(TOTAL, SIZES)
    for position, size in enumerate(SIZES.tolist()):
        shown = {size + value: chance for value, chance in of.items() if size + value > threshold}
        ends = SelectionAwareIntervals(noise, threshold, Fraction(95, 100)).of(np.array(list(shown)))
        holds = {value: low <= size <= high for value, low, high in zip(shown, *ends, strict=True)}
        assert covered[position] == pytest.approx(mean_of(holds.get, shown), rel=1e-9)
    assert (covered >= 0.95).all()


def test_a_total_that_is_always_shown_has_the_interval_of_its_margin(theory, everywhere):
    assert theory.is_selected(TOTAL)
    for shape in SEX_BY_AGE_4, SEX_BY_AGE_23:
        assert not theory.is_selected(shape)
        plain, covered = theory.error(TALLY_TOTAL, shape, SIZES).covered[1], theory.interval_covered(shape, SIZES)
        assert covered[1:] == pytest.approx(plain[1:])
        assert covered[0] == pytest.approx((1 + plain[0]) / 2)  # of nobody: an interval below 0 ends at 0
    assert not everywhere.is_selected(TOTAL)
    assert everywhere.margin_fails_up_to is None


def test_the_plain_margin_fails_for_published_totals_of_exactly_the_sizes_up_to_one(county, theory):
    noise, threshold = county.noise(Stage.STAGE_2), county.suppression_threshold
    of, margin, failing = chances(noise, 80), noise.margin_of_error(Fraction(95, 100)), []
    for size in range(3 * threshold):
        shown = {value: chance for value, chance in of.items() if size + value > threshold}
        if mean_of(lambda value: abs(value) <= margin, shown) < 0.95:
            failing.append(size)
    assert failing == list(range(theory.margin_fails_up_to + 1))
    assert 10 < theory.margin_fails_up_to <= threshold


def test_combined_totals_have_less_noise_and_none_is_made_of_a_total_that_was_selected(theory, everywhere):
    far_from_thresholds = np.array([2_500])
    plain, combined = (theory.error(sort, SEX_BY_AGE_4, far_from_thresholds) for sort in (TALLY_TOTAL, COMBINED))
    assert combined.square[0] < 0.6 * plain.square[0]
    assert combined.mean[0] == pytest.approx(0, abs=1e-6)
    assert [each.has_combined(TOTAL) for each in (theory, everywhere)] == [False, True]


def test_every_line_of_a_table_is_a_total_a_sex_marginal_or_a_cell_and_the_total_counts_once():
    sorts = sorts_of(PERSONS)
    assert [sort.label for sort in sorts] == ["total", "sex marginal", "cell", "combined total"]
    seen = [[sort.in_a_group(shape) for sort in sorts] for shape in PERSONS.shapes]
    assert seen == values_of(
        """
        1 | 0 | 0 | 1
        1 | 2 | 8 | 1
        1 | 2 | 18 | 1
        1 | 2 | 46 | 1
        """
    )


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
