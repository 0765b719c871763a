"""Bugs that break the guarantee, planted one by one: each must be caught by the check that docs/privacy.md names.

Nothing in the package plants them: `tests/planted` has them.
"""

import re
from contextlib import nullcontext
from functools import partial

import pytest

from tests.conftest import PROJECT
from tests.inside import (
    ADJUSTED,
    ALL_ROUTES,
    AUDITED_HOUSEHOLDS,
    AUDITED_PERSONS,
    AUDITED_PRODUCTS,
    AUDITED_STAYS,
    BOUND,
    CONFIG,
    COTERMINOUS,
    COUNTED,
    DISTRIBUTION,
    EVERY_BIT,
    EXACT,
    FLOOR,
    FRESH,
    GAUSSIAN_STAYS,
    KEYS,
    LAZY,
    LOSS,
    LOSS_OF_A_GUEST,
    NO_SHARED_BITS,
    NO_TRACE,
    ONE_RECORD,
    PAID,
    PUBLISHED,
    RELEASED_AGAIN,
    REPLAY,
    SCALE,
    SMALL_BATCHES,
    SPECIFIED,
    SPENT,
    SUMS,
    TOTALS,
    UNRELATED,
    WIDE,
    OutputChecks,
    Result,
    empty_groups_check,
    form_checks,
    gaussian_households,
    gaussian_persons,
    key_bits_check,
    key_check,
    large_level_check,
    loss_check,
    neighbour_checks,
    nobody_checks,
    noise_checks_module,
    products_module,
    release_checks,
    route_checks,
    scale_checks,
    shared_bits_check,
    spending_checks,
    unit_check,
)
from tests.planted import address_bugs as address
from tests.planted import config_bugs as config
from tests.planted import counting_bugs as counting
from tests.planted import engine_bugs as engine
from tests.planted import household_bugs as household
from tests.planted import marker_bugs as marker
from tests.planted import noise_bugs as noise
from tests.planted import release_bugs as release
from tests.planted import spending_bugs as spending
from tests.specified import planted as specified

KEY = bytes(range(32))


def neighbours(*names, audited=AUDITED_PERSONS):
    return lambda folder: neighbour_checks(
        audited, folder, [one for one in audited.neighbours if one.name in names], KEY
    )


neighbouring_households = partial(neighbours, audited=AUDITED_HOUSEHOLDS)


def by(route):
    return lambda folder: route_checks(AUDITED_PERSONS, folder, (route,), KEY)


def loss_of(world, share=1):
    return lambda folder: [loss_check(world, folder, world.runs // share, lambda: None)]


def draws(_):
    return noise_checks_module.draw_checks()


def noise_of(world):
    return partial(noise_checks_module.noise_world_checks, world)


noise_of_runs = noise_of(gaussian_persons(tracts=100))


def keys(_):
    return [key_check()]


def key_bits(_):
    return [key_bits_check()]


def addresses(_):
    return [shared_bits_check(), empty_groups_check()]


def large_level(folder):
    return [large_level_check(AUDITED_PERSONS, folder, KEY)]


totals_of_a_release = partial(release_checks, AUDITED_PERSONS, AUDITED_HOUSEHOLDS)


def accounts(audited):
    return partial(spending_checks, audited)


def units(folder):
    return [unit_check(AUDITED_STAYS, folder, is_quick=True)]


forms = partial(form_checks, AUDITED_STAYS, with_nobody=False)


FILLS, INFANT, REPEATED = (
    neighbours("eight codes and an ethnicity"),
    neighbours("an infant"),
    neighbours("one code eight times"),
)
EMPTY_BLOCK, NO_NEIGHBOUR = neighbours("one person more"), neighbours()
STAYS = neighbours(audited=AUDITED_STAYS)
HOUSEHOLD_FILLS = neighbouring_households("eight codes and an ethnicity")


GROUPS = [
    (
        CONFIG,
        NO_NEIGHBOUR,
        [
            config.puerto_rico_read_with_us_budgets,
            config.a_level_read_with_the_budget_key_of_another_level,
            config.thresholds_of_another_iteration_level,
        ],
    ),
    (CONFIG, neighbouring_households(), [config.tenure_read_with_the_budgets_of_household_type]),
    (ONE_RECORD, FILLS, [counting.stability_forgotten, counting.a_cell_counted_twice, counting.a_block_joined_twice]),
    (
        PAID,
        noise_of_runs,
        [
            counting.stability_without_ethnicity,
            noise.a_level_charged_half,
            noise.noise_for_twice_the_charge,
            noise.a_float_budget,
        ],
    ),
    (ONE_RECORD, INFANT, [counting.infants_counted_twice]),
    (ONE_RECORD, REPEATED, [counting.repeated_codes_counted_each_time]),
    (
        PUBLISHED,
        NO_NEIGHBOUR,
        [
            counting.empty_groups_dropped,
            counting.empty_groups_skipped_for_one_level,
            counting.a_threshold_off_by_one,
            counting.suppression_off_by_one,
        ],
    ),
    (
        REPLAY,
        FILLS,
        [
            counting.threshold_on_the_true_count,
            counting.suppression_on_the_true_count,
            counting.t_from_the_true_counts,
            release.a_hash_of_the_person_file_in_the_manifest,
            release.the_number_of_persons_in_the_releasable_log,
            release.the_number_of_persons_in_the_report,
            release.how_long_the_numbers_took_on_the_files,
            release.parquet_statistics_of_a_true_count,
            release.margins_from_the_true_count,
        ],
    ),
    (REPLAY, EMPTY_BLOCK, [counting.universe_from_data]),
    (NO_TRACE, NO_NEIGHBOUR, [counting.suppressed_groups_in_the_measurements]),
    (LOSS, loss_of(products_module.NINE_TOTALS, 50), [noise.noise_of_one_group]),
    (LOSS, loss_of(products_module.ONE_GROUP), [noise.overspent_by_5_percent]),
    (LOSS, loss_of(products_module.NINE_TOTALS), [noise.overspent_by_10_percent]),
    (LOSS, loss_of(products_module.NINE_GROUPS_GEOMETRIC, 4), [noise.overspent_by_25_percent]),
    (
        DISTRIBUTION,
        draws,
        [noise.noise_too_narrow, noise.noise_cut_at_three_sigma, noise.noise_rounded_to_even_numbers],
    ),
    (EXACT, draws, [noise.a_float_between_count_and_noise]),
    (
        WIDE,
        noise_of_runs,
        [
            noise.no_noise_above_50,
            noise.no_noise_for_counts_from_10_to_49,
            noise.no_noise_for_total_only_groups,
            noise.no_noise_in_empty_cells,
            noise.cells_for_stability_8_where_it_is_9,
            noise.stage_1_with_the_noise_of_stage_2,
        ],
    ),
    (
        UNRELATED,
        noise_of_runs,
        [
            noise.noise_reused_between_stages,
            noise.noise_reused_between_passes,
            noise.all_cells_share_one_draw,
            noise.men_and_women_share_draws,
            noise.the_first_cell_reuses_stage_1,
            noise.puerto_ricos_cells_at_us_addresses,
            noise.neighbouring_groups_share_noise,
        ],
    ),
    (FRESH, noise_of_runs, [noise.key_fixed]),
    (KEYS, keys, [noise.key_of_16_bits, noise.half_a_key, noise.key_from_the_clock]),
    (EVERY_BIT, key_bits, [address.the_aes_key_cut_to_4_bytes]),
    (
        NO_SHARED_BITS,
        addresses,
        [
            address.cell_5_reuses_the_noise_of_cell_3,
            address.the_group_index_wraps_at_2_to_the_24,
            address.groups_i_and_i_plus_64_share_all_noise,
            address.a_stream_drops_the_lowest_bit_of_the_cell,
        ],
    ),
    (LAZY, addresses, [address.the_empty_group_2_to_the_21_never_published]),
    (PUBLISHED, large_level, [address.lazy_words_repeat_after_16384_groups, address.no_noise_above_5000]),
    (PUBLISHED, by(SMALL_BATCHES), [address.an_empty_group_at_a_batch_boundary_never_published]),
    (SPENT, accounts(AUDITED_PERSONS), [spending.the_spend_log_charged_after_the_noise]),
    (SPENT, accounts(AUDITED_HOUSEHOLDS), [spending.households_charged_unbounded]),
    (FLOOR, accounts(AUDITED_PERSONS), [spending.the_floor_looks_at_stage_2_alone, spending.a_run_forgets_the_floor]),
    (REPLAY, lambda folder: nobody_checks(AUDITED_PERSONS, folder, KEY), [release.a_word_about_an_empty_pass]),
    (SCALE, lambda folder: scale_checks(AUDITED_PERSONS, folder, KEY), [release.a_file_with_a_true_sum_in_thousands]),
    (ALL_ROUTES, by(SMALL_BATCHES), [release.a_row_group_for_each_internal_batch]),
    (
        ALL_ROUTES,
        by(COTERMINOUS),
        [release.a_rule_applied_to_true_counts, release.a_coterminous_donor_chosen_by_true_size],
    ),
    (
        ALL_ROUTES,
        by(RELEASED_AGAIN),
        [
            release.a_suppressed_group_whose_status_says_it_is_empty,
            release.true_sums_in_the_exported_files,
            release.a_release_made_again_that_remembers_the_persons,
        ],
    ),
    (UNRELATED, noise_of(gaussian_households(20)), [household.both_families_share_an_address]),
    (PUBLISHED, neighbouring_households(), [household.groups_with_households_and_without_a_total_measured]),
    (
        REPLAY,
        HOUSEHOLD_FILLS,
        [household.a_shape_chosen_by_the_true_number_of_households, household.no_fewer_people_than_households],
    ),
    (ONE_RECORD, neighbouring_households("alone, without rent"), [household.households_without_rent_counted_twice]),
    (WIDE, noise_of(gaussian_households()), [household.tenure_for_stability_8_where_it_is_9]),
    (LOSS, loss_of(products_module.TENURE_OF_ONE_GROUP), [household.tenure_overspent_by_10_percent]),
    (TOTALS, totals_of_a_release, [household.totals_that_ignore_copied_rows]),
    (ADJUSTED, totals_of_a_release, [household.adjusted_cells_with_the_other_tables_variance]),
    (
        REPLAY,
        neighbouring_households("one household more"),
        [household.the_number_of_groups_with_households_in_the_releasable_log],
    ),
    (PAID, noise_of(GAUSSIAN_STAYS), [specified.sensitivity_without_only, specified.use_ignored]),
    (PUBLISHED, STAYS, [specified.suppression_at_the_wrong_kind]),
    (
        COUNTED,
        STAYS,
        [specified.answers_beyond_use_counted, specified.classes_of_codes_merged_too_far, specified.nowhere_counted],
    ),
    (SPENT, accounts(AUDITED_STAYS), [specified.a_pass_charged_with_the_budget_of_another_pass]),
    (SPECIFIED, STAYS, [specified.a_pass_measured_with_the_budget_of_another_pass]),
    (LOSS, loss_of(LOSS_OF_A_GUEST, 10), [specified.k_one_too_small]),
    (
        BOUND,
        units,
        [
            engine.units_counted_by_thread,
            engine.units_of_earlier_batches_forgotten,
            engine.a_unit_may_have_one_record_more,
            engine.units_are_not_counted,
            engine.units_with_too_many_records_are_a_warning,
        ],
    ),
    (PUBLISHED, forms, [specified.groups_of_nobody_left_out_where_nothing_chooses]),
    (COUNTED, forms, [specified.areas_of_a_list_ignored, specified.lone_totals_measured_in_two_stages]),
    (
        SUMS,
        accounts(AUDITED_STAYS),
        [
            marker.a_limit_of_the_second_log_lost_in_a_merge,
            marker.runs_of_the_second_log_lost_in_a_merge,
            marker.larger_units_charged_like_the_units_of_a_run,
            marker.larger_units_charged_by_their_size_and_not_its_square,
        ],
    ),
]
"""By check: what looks, and the bugs that it must catch."""
BUGS = {
    plant.__name__.replace("_", " "): (plant, caught_by, checks)
    for caught_by, checks, plants in GROUPS
    for plant in plants
}
QUICK = (keys, key_bits)


@pytest.mark.parametrize(
    ("plant", "caught_by", "checks"),
    [pytest.param(*bug, marks=() if bug[2] in QUICK else pytest.mark.slow) for bug in BUGS.values()],
    ids=BUGS,
)
def test_a_planted_bug_is_caught(plant, caught_by, checks, tmp_path, monkeypatch):
    monkeypatch.setattr(
        OutputChecks, "of_remaining_files", lambda _: None
    )  # it would stop some of these runs by itself
    for beside in ("of_tables_beside", "of_numbers_beside"):
        monkeypatch.setattr(OutputChecks, beside, lambda _: nullcontext())
    plant(monkeypatch)
    failed = (verdict.check for verdict in checks(tmp_path / "audit") if verdict.faults)
    assert any(check.startswith(caught_by) for check in failed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "checks"),
    [
        (KEYS, keys),
        (EVERY_BIT, key_bits),
        (NO_SHARED_BITS, addresses),
        (LOSS, loss_of(products_module.ONE_GROUP)),
        (LOSS, loss_of(LOSS_OF_A_GUEST)),
        (COUNTED, neighbours("two equal stays of a guest", audited=AUDITED_STAYS)),
        (PUBLISHED, lambda folder: [large_level_check(AUDITED_STAYS, folder, KEY)]),
        (BOUND, lambda folder: [unit_check(AUDITED_STAYS, folder)]),
        (REPLAY, FILLS),
        (ONE_RECORD, lambda folder: form_checks(AUDITED_STAYS, folder, with_nobody=True)),
        (PUBLISHED, large_level),
        (SPENT, accounts(AUDITED_HOUSEHOLDS)),
        (SUMS, accounts(AUDITED_STAYS)),
        (TOTALS, totals_of_a_release),
        *(
            (WIDE, noise_of(world))
            for one in AUDITED_PRODUCTS
            for world in (*one.noise_worlds, *one.quick_noise_worlds)
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_program_as_it_is_passes(check, checks, tmp_path):
    verdicts = list(checks(tmp_path / "audit"))
    assert any(verdict.check.startswith(check) for verdict in verdicts)
    assert [verdict for verdict in verdicts if verdict.result is not Result.PASSED] == []


def test_the_table_in_the_documentation_is_this_one():
    text = (PROJECT / "docs" / "privacy.md").read_text()
    section = text[text.index("| planted bug | caught by |") :]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([^|]*?) \|$", section, re.MULTILINE)[1:]  # below the header
    assert sorted(rows) == sorted((name, caught_by) for name, (_, caught_by, _) in BUGS.items())
    assert len(BUGS) == sum(len(plants) for _, _, plants in GROUPS) >= 40
