"""The theory beside which measured errors are set, against sums over exact probabilities; and small statistics."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from tests.conftest import SMALL_EXAMPLE

from safetab.accuracy.classes import NUMBERS, Measured, Number, size_class_name, size_class_of
from safetab.accuracy.histograms import Histograms, quantiles
from safetab.accuracy.statistics import wilson_interval
from safetab.accuracy.theory import LevelTheory, SumOfDraws
from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import PopulationGroupLevel
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.distributions.discrete_laplace import DiscreteLaplace
from safetab.planning.expectations import publication_chance, table_chances
from safetab.planning.planner import plan_of_files
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.tables import Table
from safetab.release.numbers.selection import SelectionAwareIntervals

NOISES = [DiscreteGaussian(Fraction(25)), DiscreteGaussian(Fraction(9, 4)), DiscreteLaplace(Fraction(7, 2))]


@pytest.fixture(scope="module")
def county() -> LevelPlan:
    plan = plan_of_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    wanted = PopulationGroupLevel(GeographyLevel.COUNTY, IterationLevel.DETAILED)
    return next(level for level in plan.levels if level.level == wanted)


def chances(noise, reach: int) -> dict[int, float]:
    return {value: float(noise.probability(value).mid()) for value in range(-reach, reach + 1)}


@pytest.mark.parametrize("noise", NOISES)
def test_moments_above_a_limit_are_sums_over_exact_probabilities(noise) -> None:
    of, limits = chances(noise, 120), np.array([-30, -3, 0, 4, 11])
    theory = SumOfDraws(noise, 1).above(limits)
    margin = noise.margin_of_error(Fraction(95, 100))
    for place, limit in enumerate(limits.tolist()):
        above = {value: chance for value, chance in of.items() if value > limit}
        whole = sum(above.values())
        assert theory.mean[place] == pytest.approx(sum(v * p for v, p in above.items()) / whole, abs=1e-9)
        assert theory.absolute[place] == pytest.approx(sum(abs(v) * p for v, p in above.items()) / whole, rel=1e-9)
        assert theory.square[place] == pytest.approx(sum(v * v * p for v, p in above.items()) / whole, rel=1e-9)
        inside = sum(p for v, p in above.items() if abs(v) <= margin) / whole
        assert theory.covered[1][place] == pytest.approx(inside, abs=1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("draws", [8, 46])
def test_the_noise_of_a_sum_of_cells_covers_as_often_as_its_certified_tails_say(noise, draws: int) -> None:
    summed, theory = noise.sum_of(draws), SumOfDraws(noise, draws)
    for margin, covered in zip(theory.margins, theory.covered, strict=True):
        assert covered == pytest.approx(1 - 2 * float(summed.tail(margin + 1).mid()), abs=1e-9)
    everywhere = theory.above(np.array([-theory.reach - 1]))
    assert everywhere.square[0] == pytest.approx(theory.variance, rel=1e-9)


def test_moments_between_two_limits_are_sums_over_exact_probabilities() -> None:
    noise = NOISES[0]
    inside = {value: chance for value, chance in chances(noise, 100).items() if -2 <= value < 9}
    mean, square = SumOfDraws(noise, 1).between(np.array([-2]), np.array([9]))
    assert mean[0] == pytest.approx(sum(v * p for v, p in inside.items()) / sum(inside.values()), rel=1e-9)
    assert square[0] == pytest.approx(sum(v * v * p for v, p in inside.items()) / sum(inside.values()), rel=1e-9)


def test_tables_are_chosen_and_lone_totals_suppressed_as_certified_tails_say(county: LevelPlan) -> None:
    theory, sizes = LevelTheory(county, Measured.ADAPTIVE), np.array([0, 15, 990, 1_010, 21_000])
    first, second = (county.stages[stage].noise for stage in (Stage.STAGE_1, Stage.STAGE_2))
    chosen, shown = theory.table_chances(sizes), theory.shown_chances(sizes)
    assert chosen.sum(axis=0) == pytest.approx(1)
    for place, size in enumerate(sizes.tolist()):
        reaching = [float(first.tail(threshold - size).mid()) for threshold in county.thresholds.as_tuple]
        assert chosen[:, place] == pytest.approx(-np.diff([1, *reaching, 0]), abs=1e-9)
        passing = float(second.tail(county.suppression_threshold + 1 - size).mid())
        assert shown[0, place] == pytest.approx(chosen[0, place] * passing, rel=1e-6, abs=1e-12)
        assert shown[1:, place] == pytest.approx(chosen[1:, place])


def test_theory_for_many_sizes_is_the_exact_theory_of_each(county: LevelPlan) -> None:
    """Which the explorer tells: chances by true size, and the paper's bias."""
    theory, sizes = LevelTheory(county, Measured.ADAPTIVE), np.array([0, 5, 19, 40, 960, 1_000, 5_030])
    noise_of = {stage: plan.noise for stage, plan in county.stages.items()}
    shown, bias = theory.shown_chances(sizes), theory.error(Number.TOTAL, Table.TOTAL, sizes).mean
    for place, size in enumerate(sizes.tolist()):
        exact = table_chances(noise_of[Stage.STAGE_1], county.thresholds, size)
        assert theory.table_chances(sizes)[:, place] == pytest.approx([float(one.mid()) for one in exact.values()])
        chance = publication_chance(noise_of, county.thresholds, county.suppression_threshold, size)
        assert shown[:, place].sum() == pytest.approx(float(chance.mid()), rel=1e-7)
        mean = noise_of[Stage.STAGE_2].mean_given_at_least(county.suppression_threshold + 1 - size)
        assert bias[place] == pytest.approx(float(mean.mid()), rel=1e-7, abs=1e-9)


def test_a_lone_total_is_biased_upwards_near_the_threshold_and_a_table_never_is(county: LevelPlan) -> None:
    theory, sizes = LevelTheory(county, Measured.ADAPTIVE), np.array([0, 19, 200])
    bias = theory.error(Number.TOTAL, Table.TOTAL, sizes).mean
    assert bias[0] > 19  # who is shown although nobody is there has noise above T = 19
    assert 3 < bias[1] < 5  # about 0.8 sigma
    assert abs(bias[2]) < 1e-9
    assert theory.error(Number.TOTAL, Table.SEX_BY_AGE_4, sizes).mean == pytest.approx(0, abs=1e-9)


SIZES = np.array([0, 1, 7, 15, 19, 20, 26, 45, 90, 400, 5_000])


def test_selection_aware_coverage_is_a_sum_over_exact_probabilities_and_at_least_what_is_promised(
    county: LevelPlan,
) -> None:
    noise, threshold = county.stages[Stage.STAGE_2].noise, county.suppression_threshold
    theory, of = LevelTheory(county, Measured.ADAPTIVE), chances(noise, 80)
    covered = theory.interval_covered(Table.TOTAL, SIZES)
    for place, size in enumerate(SIZES.tolist()):
        shown = {size + value: chance for value, chance in of.items() if size + value > threshold}
        low, high = SelectionAwareIntervals(noise, threshold, Fraction(95, 100)).of(np.array(list(shown)))
        holding = sum(
            chance for chance, *ends in zip(shown.values(), low, high, strict=True) if ends[0] <= size <= ends[1]
        )
        assert covered[place] == pytest.approx(holding / sum(shown.values()), rel=1e-9)
    assert (covered >= 0.95).all()


def test_a_total_that_is_always_shown_has_the_interval_of_its_margin(county: LevelPlan) -> None:
    theory = LevelTheory(county, Measured.ADAPTIVE)
    assert theory.is_selected(Table.TOTAL)
    for table in (Table.SEX_BY_AGE_4, Table.SEX_BY_AGE_23):
        assert not theory.is_selected(table)
        plain = theory.error(Number.TOTAL, table, SIZES).covered[1]
        assert theory.interval_covered(table, SIZES) == pytest.approx(plain)
    everywhere = LevelTheory(dataclasses.replace(county, suppression_threshold=None), Measured.ADAPTIVE)
    assert not everywhere.is_selected(Table.TOTAL)
    assert everywhere.margin_fails_up_to is None


def test_the_plain_margin_fails_for_published_totals_of_exactly_the_sizes_up_to_one(county: LevelPlan) -> None:
    theory, noise = LevelTheory(county, Measured.ADAPTIVE), county.stages[Stage.STAGE_2].noise
    of, margin, failing = chances(noise, 80), noise.margin_of_error(Fraction(95, 100)), []
    for size in range(3 * county.suppression_threshold):
        shown = {value: chance for value, chance in of.items() if size + value > county.suppression_threshold}
        if sum(chance for value, chance in shown.items() if abs(value) <= margin) < 0.95 * sum(shown.values()):
            failing.append(size)
    assert failing == list(range(theory.margin_fails_up_to + 1))
    assert 10 < theory.margin_fails_up_to <= county.suppression_threshold


def test_combined_totals_have_less_noise_and_none_is_made_of_a_total_that_was_selected(county: LevelPlan) -> None:
    theory, far_from_thresholds = LevelTheory(county, Measured.ADAPTIVE), np.array([2_500])
    plain = theory.error(Number.TOTAL, Table.SEX_BY_AGE_4, far_from_thresholds)
    combined = theory.error(Number.COMBINED, Table.SEX_BY_AGE_4, far_from_thresholds)
    assert combined.square[0] < 0.6 * plain.square[0]
    assert combined.mean[0] == pytest.approx(0, abs=1e-6)
    assert not theory.has_combined(Table.TOTAL)
    assert LevelTheory(dataclasses.replace(county, suppression_threshold=None), Measured.ADAPTIVE).has_combined(
        Table.TOTAL
    )


def test_every_line_of_a_table_is_a_total_a_sex_marginal_or_a_cell_and_the_total_counts_once() -> None:
    seen = {table: [number.in_a_group(table) for number in NUMBERS] for table in Table}
    assert seen == {
        Table.TOTAL: [1, 0, 0, 1],
        Table.SEX_BY_AGE_4: [1, 2, 8, 1],
        Table.SEX_BY_AGE_9: [1, 2, 18, 1],
        Table.SEX_BY_AGE_23: [1, 2, 46, 1],
    }


def test_size_classes_begin_where_they_say() -> None:
    assert size_class_of(np.array([0, 1, 9, 10, 99_999, 100_000, 10**9])).tolist() == [0, 1, 1, 2, 13, 14, 14]
    assert [size_class_name(number) for number in (0, 1, 14)] == ["0", "1 to 9", "100,000 or more"]


def test_quantiles_are_exact_below_256_and_close_above() -> None:
    histograms = Histograms(3)
    histograms.add(np.array([0] * 5), np.array([1.0, 2, 3, 4, 250]))
    histograms.add(np.array([2, 2]), np.array([100_000.0, 5_000_000]))
    counts = histograms.counts()
    assert quantiles(counts, 0.5)[0] == 3
    assert quantiles(counts, 0.99)[0] == 250
    assert np.isnan(quantiles(counts, 0.5)[1])
    assert 100_000 <= quantiles(counts, 0.5)[2] <= 101_100


def test_wilson_intervals_are_those_of_the_textbook() -> None:
    low, high = wilson_interval(np.array([8.0, 0, 3]), np.array([10.0, 10, 0]))
    assert (low[0], high[0]) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert (low[1], high[1]) == pytest.approx((0, 0.2775), abs=1e-4)
    assert np.isnan(low[2])
