"""Bugs that break the guarantee, planted one by one: each must be caught by the check that docs/privacy.md names.

Nothing in the package plants them: `tests/planted` has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

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
    AuditedProduct,
    LossWorld,
    NoiseWorld,
    OutputChecks,
    Result,
    Route,
    Verdict,
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

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]
Checks = Callable[[Path], Iterable[Verdict]]
KEY = bytes(range(32))
SMALL_NOISE_WORLD = gaussian_persons(tracts=100)


def neighbours(*names: str, audited: AuditedProduct = AUDITED_PERSONS) -> Checks:
    return lambda folder: neighbour_checks(
        audited, folder, [one for one in audited.neighbours if one.name in names], KEY
    )


def neighbouring_households(*names: str) -> Checks:
    return neighbours(*names, audited=AUDITED_HOUSEHOLDS)


def by(route: Route) -> Checks:
    return lambda folder: route_checks(AUDITED_PERSONS, folder, (route,), KEY)


def loss_of(world: LossWorld, share: int = 1) -> Checks:
    return lambda folder: [loss_check(world, folder, world.runs // share, lambda: None)]


def draws(_: Path) -> Iterable[Verdict]:
    return noise_checks_module.draw_checks()


def noise_of_runs(folder: Path) -> Iterable[Verdict]:
    return noise_checks_module.noise_world_checks(SMALL_NOISE_WORLD, folder)


def noise_of(world: NoiseWorld) -> Checks:
    return lambda folder: noise_checks_module.noise_world_checks(world, folder)


def keys(_: Path) -> Iterable[Verdict]:
    return [key_check(), key_bits_check()]


def addresses(_: Path) -> Iterable[Verdict]:
    return [shared_bits_check(), empty_groups_check()]


def large_level(folder: Path) -> Iterable[Verdict]:
    return [large_level_check(AUDITED_PERSONS, folder, KEY)]


def totals_of_a_release(folder: Path) -> Iterable[Verdict]:
    return release_checks(AUDITED_PERSONS, AUDITED_HOUSEHOLDS, folder)


def accounts(audited: AuditedProduct) -> Checks:
    return lambda folder: spending_checks(audited, folder)


def units(folder: Path) -> Iterable[Verdict]:
    return [unit_check(AUDITED_STAYS, folder, is_quick=True)]


def forms(folder: Path) -> Iterable[Verdict]:
    return form_checks(AUDITED_STAYS, folder, with_nobody=False)


FILLS, INFANT, REPEATED = (
    neighbours("eight codes and an ethnicity"),
    neighbours("an infant"),
    neighbours("one code eight times"),
)
EMPTY_BLOCK, NO_NEIGHBOUR = neighbours("one person more"), neighbours()
STAYS = neighbours(audited=AUDITED_STAYS)
HOUSEHOLD_FILLS = neighbouring_households("eight codes and an ethnicity")


@dataclass(frozen=True)
class PlantedBug:
    plant: Plant
    caught_by: str
    checks: Checks
    is_quick: bool = False  # takes less than two seconds, so every test run has it

    @property
    def name(self) -> str:
        return self.plant.__name__.replace("_", " ")


BUGS = [
    PlantedBug(config.puerto_rico_read_with_us_budgets, CONFIG, NO_NEIGHBOUR),
    PlantedBug(config.a_level_read_with_the_budget_key_of_another_level, CONFIG, NO_NEIGHBOUR),
    PlantedBug(config.thresholds_of_another_iteration_level, CONFIG, NO_NEIGHBOUR),
    PlantedBug(config.tenure_read_with_the_budgets_of_household_type, CONFIG, neighbouring_households()),
    PlantedBug(counting.stability_forgotten, ONE_RECORD, FILLS),
    PlantedBug(counting.stability_without_ethnicity, PAID, noise_of_runs),
    PlantedBug(counting.a_cell_counted_twice, ONE_RECORD, FILLS),
    PlantedBug(counting.infants_counted_twice, ONE_RECORD, INFANT),
    PlantedBug(counting.a_block_joined_twice, ONE_RECORD, FILLS),
    PlantedBug(counting.repeated_codes_counted_each_time, ONE_RECORD, REPEATED),
    PlantedBug(counting.empty_groups_dropped, PUBLISHED, NO_NEIGHBOUR),
    PlantedBug(counting.empty_groups_skipped_for_one_level, PUBLISHED, NO_NEIGHBOUR),
    PlantedBug(counting.a_threshold_off_by_one, PUBLISHED, NO_NEIGHBOUR),
    PlantedBug(counting.suppression_off_by_one, PUBLISHED, NO_NEIGHBOUR),
    PlantedBug(counting.threshold_on_the_true_count, REPLAY, FILLS),
    PlantedBug(counting.suppression_on_the_true_count, REPLAY, FILLS),
    PlantedBug(counting.t_from_the_true_counts, REPLAY, FILLS),
    PlantedBug(counting.universe_from_data, REPLAY, EMPTY_BLOCK),
    PlantedBug(counting.suppressed_groups_in_the_measurements, NO_TRACE, NO_NEIGHBOUR),
    PlantedBug(noise.noise_of_one_group, LOSS, loss_of(products_module.NINE_TOTALS, 50)),
    PlantedBug(noise.overspent_by_5_percent, LOSS, loss_of(products_module.ONE_GROUP)),
    PlantedBug(noise.overspent_by_10_percent, LOSS, loss_of(products_module.NINE_TOTALS)),
    PlantedBug(noise.overspent_by_25_percent, LOSS, loss_of(products_module.NINE_GROUPS_GEOMETRIC, 4)),
    PlantedBug(noise.noise_too_narrow, DISTRIBUTION, draws),
    PlantedBug(noise.noise_cut_at_three_sigma, DISTRIBUTION, draws),
    PlantedBug(noise.noise_rounded_to_even_numbers, DISTRIBUTION, draws),
    PlantedBug(noise.a_float_between_count_and_noise, EXACT, draws),
    PlantedBug(noise.no_noise_above_50, WIDE, noise_of_runs),
    PlantedBug(noise.no_noise_for_counts_from_10_to_49, WIDE, noise_of_runs),
    PlantedBug(noise.no_noise_for_total_only_groups, WIDE, noise_of_runs),
    PlantedBug(noise.no_noise_in_empty_cells, WIDE, noise_of_runs),
    PlantedBug(noise.cells_for_stability_8_where_it_is_9, WIDE, noise_of_runs),
    PlantedBug(noise.stage_1_with_the_noise_of_stage_2, WIDE, noise_of_runs),
    PlantedBug(noise.noise_reused_between_stages, UNRELATED, noise_of_runs),
    PlantedBug(noise.noise_reused_between_passes, UNRELATED, noise_of_runs),
    PlantedBug(noise.all_cells_share_one_draw, UNRELATED, noise_of_runs),
    PlantedBug(noise.men_and_women_share_draws, UNRELATED, noise_of_runs),
    PlantedBug(noise.the_first_cell_reuses_stage_1, UNRELATED, noise_of_runs),
    PlantedBug(noise.puerto_ricos_cells_at_us_addresses, UNRELATED, noise_of_runs),
    PlantedBug(noise.neighbouring_groups_share_noise, UNRELATED, noise_of_runs),
    PlantedBug(noise.key_fixed, FRESH, noise_of_runs),
    PlantedBug(noise.key_of_16_bits, KEYS, keys, is_quick=True),
    PlantedBug(noise.half_a_key, KEYS, keys, is_quick=True),
    PlantedBug(noise.key_from_the_clock, KEYS, keys, is_quick=True),
    PlantedBug(address.the_aes_key_cut_to_4_bytes, EVERY_BIT, keys, is_quick=True),
    PlantedBug(address.cell_5_reuses_the_noise_of_cell_3, NO_SHARED_BITS, addresses),
    PlantedBug(address.the_group_index_wraps_at_2_to_the_24, NO_SHARED_BITS, addresses),
    PlantedBug(address.groups_i_and_i_plus_64_share_all_noise, NO_SHARED_BITS, addresses),
    PlantedBug(address.a_stream_drops_the_lowest_bit_of_the_cell, NO_SHARED_BITS, addresses),
    PlantedBug(address.the_empty_group_2_to_the_21_never_published, LAZY, addresses),
    PlantedBug(address.lazy_words_repeat_after_16384_groups, PUBLISHED, large_level),
    PlantedBug(address.an_empty_group_at_a_batch_boundary_never_published, PUBLISHED, by(SMALL_BATCHES)),
    PlantedBug(address.no_noise_above_5000, PUBLISHED, large_level),
    PlantedBug(noise.a_level_charged_half, PAID, noise_of_runs),
    PlantedBug(noise.noise_for_twice_the_charge, PAID, noise_of_runs),
    PlantedBug(noise.a_float_budget, PAID, noise_of_runs),
    PlantedBug(spending.the_spend_log_charged_after_the_noise, SPENT, accounts(AUDITED_PERSONS)),
    PlantedBug(spending.households_charged_unbounded, SPENT, accounts(AUDITED_HOUSEHOLDS)),
    PlantedBug(spending.the_floor_looks_at_stage_2_alone, FLOOR, accounts(AUDITED_PERSONS)),
    PlantedBug(spending.a_run_forgets_the_floor, FLOOR, accounts(AUDITED_PERSONS)),
    PlantedBug(release.a_hash_of_the_person_file_in_the_manifest, REPLAY, FILLS),
    PlantedBug(release.the_number_of_persons_in_the_releasable_log, REPLAY, FILLS),
    PlantedBug(release.the_number_of_persons_in_the_report, REPLAY, FILLS),
    PlantedBug(release.a_word_about_an_empty_pass, REPLAY, lambda folder: nobody_checks(AUDITED_PERSONS, folder, KEY)),
    PlantedBug(release.how_long_the_numbers_took_on_the_files, REPLAY, FILLS),
    PlantedBug(
        release.a_file_with_a_true_sum_in_thousands, SCALE, lambda folder: scale_checks(AUDITED_PERSONS, folder, KEY)
    ),
    PlantedBug(release.a_row_group_for_each_internal_batch, ALL_ROUTES, by(SMALL_BATCHES)),
    PlantedBug(release.parquet_statistics_of_a_true_count, REPLAY, FILLS),
    PlantedBug(release.margins_from_the_true_count, REPLAY, FILLS),
    PlantedBug(release.a_rule_applied_to_true_counts, ALL_ROUTES, by(COTERMINOUS)),
    PlantedBug(release.a_coterminous_donor_chosen_by_true_size, ALL_ROUTES, by(COTERMINOUS)),
    PlantedBug(release.a_suppressed_group_whose_status_says_it_is_empty, ALL_ROUTES, by(RELEASED_AGAIN)),
    PlantedBug(release.true_sums_in_the_exported_files, ALL_ROUTES, by(RELEASED_AGAIN)),
    PlantedBug(release.a_release_made_again_that_remembers_the_persons, ALL_ROUTES, by(RELEASED_AGAIN)),
    PlantedBug(household.both_families_share_an_address, UNRELATED, noise_of(gaussian_households(20))),
    PlantedBug(household.groups_with_households_and_without_a_total_measured, PUBLISHED, neighbouring_households()),
    PlantedBug(household.a_shape_chosen_by_the_true_number_of_households, REPLAY, HOUSEHOLD_FILLS),
    PlantedBug(household.no_fewer_people_than_households, REPLAY, HOUSEHOLD_FILLS),
    PlantedBug(
        household.households_without_rent_counted_twice, ONE_RECORD, neighbouring_households("alone, without rent")
    ),
    PlantedBug(household.tenure_for_stability_8_where_it_is_9, WIDE, noise_of(gaussian_households())),
    PlantedBug(household.tenure_overspent_by_10_percent, LOSS, loss_of(products_module.TENURE_OF_ONE_GROUP)),
    PlantedBug(household.totals_that_ignore_copied_rows, TOTALS, totals_of_a_release),
    PlantedBug(household.adjusted_cells_with_the_other_tables_variance, ADJUSTED, totals_of_a_release),
    PlantedBug(
        household.the_number_of_groups_with_households_in_the_releasable_log,
        REPLAY,
        neighbouring_households("one household more"),
    ),
    PlantedBug(specified.sensitivity_without_only, PAID, noise_of(GAUSSIAN_STAYS)),
    PlantedBug(specified.suppression_at_the_wrong_kind, PUBLISHED, STAYS),
    PlantedBug(specified.use_ignored, PAID, noise_of(GAUSSIAN_STAYS)),
    PlantedBug(specified.answers_beyond_use_counted, COUNTED, STAYS),
    PlantedBug(specified.classes_of_codes_merged_too_far, COUNTED, STAYS),
    PlantedBug(specified.nowhere_counted, COUNTED, STAYS),
    PlantedBug(specified.a_pass_charged_with_the_budget_of_another_pass, SPENT, accounts(AUDITED_STAYS)),
    PlantedBug(specified.a_pass_measured_with_the_budget_of_another_pass, SPECIFIED, STAYS),
    PlantedBug(specified.k_one_too_small, LOSS, loss_of(LOSS_OF_A_GUEST, 10)),
    PlantedBug(engine.units_counted_by_thread, BOUND, units),
    PlantedBug(engine.units_of_earlier_batches_forgotten, BOUND, units),
    PlantedBug(engine.a_unit_may_have_one_record_more, BOUND, units),
    PlantedBug(engine.units_are_not_counted, BOUND, units),
    PlantedBug(engine.units_with_too_many_records_are_a_warning, BOUND, units),
    PlantedBug(specified.groups_of_nobody_left_out_where_nothing_chooses, PUBLISHED, forms),
    PlantedBug(specified.areas_of_a_list_ignored, COUNTED, forms),
    PlantedBug(specified.lone_totals_measured_in_two_stages, COUNTED, forms),
    PlantedBug(marker.a_limit_of_the_second_log_lost_in_a_merge, SUMS, accounts(AUDITED_STAYS)),
    PlantedBug(marker.runs_of_the_second_log_lost_in_a_merge, SUMS, accounts(AUDITED_STAYS)),
    PlantedBug(marker.larger_units_charged_like_the_units_of_a_run, SUMS, accounts(AUDITED_STAYS)),
    PlantedBug(marker.larger_units_charged_by_their_size_and_not_its_square, SUMS, accounts(AUDITED_STAYS)),
]


def caught(bug: PlantedBug, folder: Path, patch: Patch) -> bool:
    patch.setattr(OutputChecks, "of_remaining_files", lambda _: None)  # it would stop some of these runs by itself
    for beside in ("of_tables_beside", "of_numbers_beside"):
        patch.setattr(OutputChecks, beside, lambda _: nullcontext())
    bug.plant(patch)
    failed = (verdict.check for verdict in bug.checks(folder) if verdict.faults)
    return any(check.startswith(bug.caught_by) for check in failed)


@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.is_quick], ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught_quickly(bug, tmp_path, monkeypatch):
    assert caught(bug, tmp_path / "audit", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [bug for bug in BUGS if not bug.is_quick], ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught(bug, tmp_path, monkeypatch):
    assert caught(bug, tmp_path / "audit", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "checks"),
    [
        (KEYS, keys),
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


def test_there_are_enough_bugs():
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 40


def test_the_table_in_the_documentation_is_this_one():
    text = (PROJECT / "docs" / "privacy.md").read_text()
    section = text[text.index("| planted bug | caught by |") :]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([^|]*?) \|$", section, re.MULTILINE)[1:]  # below the header
    assert rows == [(bug.name, bug.caught_by) for bug in BUGS]
