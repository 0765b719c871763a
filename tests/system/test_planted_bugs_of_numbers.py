"""Bugs that the audit does not look for, planted one by one: a test of every run catches each.

They are wrong counts, intervals and accounts, and inputs that a proof rules out. docs/privacy.md has the list.
"""

import re
from inspect import signature

import pytest

from tests.conftest import PROJECT
from tests.engines import test_bounds_of_units as bounds
from tests.engines import test_crowds as crowds
from tests.planted import assumption_bugs as assumption
from tests.planted import engine_bugs as engine
from tests.planted import estimate_bugs as estimate
from tests.planted import marker_bugs as marker
from tests.statistical import test_steps_of_an_interval as steps
from tests.system import test_combined_totals as combined
from tests.system import test_earlier_noise as earlier
from tests.system import test_noise_by_hand as by_hand
from tests.system import test_statuses_stay as statuses
from tests.system import test_what_proofs_assume as assumed
from tests.unit import test_markers as markers
from tests.unit import test_merged_logs as merged
from tests.unit import test_specified_lists as lists


def words_of(function):
    return function.__name__.replace("_", " ")


def run_by_hand(test):
    """The test of a run that is made once the bug is planted."""

    def of_new_run(folder):
        test(by_hand.written(folder))

    of_new_run.__name__ = test.__name__
    return of_new_run


BUGS = [
    (engine.a_crowd_counted_one_too_many, crowds.small_crowds_are_counted),
    (engine.the_first_area_of_sparse_totals_is_empty, crowds.sparse_and_dense_totals_are_right_in_every_area),
    (engine.the_eighth_answer_is_forgotten_where_gaps_are_skipped, crowds.all_eight_answers_count),
    (engine.units_counted_by_thread, bounds.the_records_of_a_unit_are_added_up),
    (engine.units_of_earlier_batches_forgotten, bounds.the_records_of_a_unit_are_added_up),
    (engine.a_unit_may_have_one_record_more, bounds.a_unit_with_more_records_is_refused),
    (engine.units_are_not_counted, bounds.a_unit_with_more_records_is_refused),
    (engine.units_with_too_many_records_are_a_warning, bounds.a_unit_with_more_records_is_refused),
    (engine.areas_in_two_passes_accepted, lists.areas_of_two_passes_are_refused),
    (engine.a_code_in_two_groups_of_a_kind_accepted, lists.codes_of_two_groups_are_refused),
    (engine.ids_sorted_without_case, lists.ids_are_in_the_order_of_their_bytes),
    (assumption.a_test_key_for_real_people, assumed.a_key_is_chosen_for_made_up_people_alone),
    (assumption.two_ledgers_with_the_same_bits, assumed.bits_have_one_ledger),
    (assumption.whatever_is_asked_is_charged, assumed.a_stage_is_charged_once_and_within_its_budget),
    (assumption.noise_is_read_again_that_was_never_charged, assumed.only_what_was_charged_is_read_again),
    (assumption.files_may_change_during_a_run, assumed.a_file_that_changed_is_seen),
    (assumption.records_encoded_twice_accepted, assumed.a_record_that_is_encoded_twice_is_seen),
    (assumption.statistics_of_all_columns, assumed.searched_columns_alone_have_statistics),
    (marker.a_marker_above_data_counts, markers.a_marker_beside_data_does_not_count),
    (marker.compare_asks_for_the_marker_of_folders_alone, markers.people_of_a_file_of_settings_may_be_real),
    (marker.a_limit_of_the_second_log_lost_in_a_merge, merged.a_limit_of_either_log_holds_in_a_merge),
    (marker.a_release_made_again_forgets_the_status, statuses.a_release_made_again_keeps_the_status),
    (
        estimate.total_only_groups_with_the_noise_of_stage_2,
        run_by_hand(by_hand.every_number_has_the_noise_of_its_budget),
    ),
    (estimate.a_copy_with_the_interval_of_its_receiver, run_by_hand(by_hand.copies_have_the_intervals_of_their_donors)),
    (estimate.what_a_rule_left_of_a_family_is_combined, combined.a_family_with_a_withheld_number_is_not_combined),
    (estimate.totals_combined_with_clamped_numbers, combined.clamped_numbers_are_not_combined),
    (estimate.the_error_of_sizes_not_divided_by_the_draws, steps.intervals_follow_their_steps),
    (estimate.totals_half_as_far_above_are_far_above, steps.totals_are_far_above_where_their_definition_says),
    (estimate.earlier_totals_with_the_noise_of_the_newer, earlier.earlier_noise_is_of_the_earlier_budgets),
    (estimate.earlier_totals_with_the_margins_of_the_newer, earlier.earlier_noise_is_of_the_earlier_budgets),
]
"""Each bug, and the body of the test that fails."""
FIXTURES = {"folder": "tmp_path", "patch": "monkeypatch", "made": "household_run"}
"""What a body takes; by other names it takes fixtures."""


AT_NIGHT = estimate.earlier_totals_with_the_margins_of_the_newer  # by day another is caught by the same test


@pytest.mark.parametrize(
    ("plant", "caught_by"),
    [pytest.param(*bug, marks=pytest.mark.slow if bug[0] is AT_NIGHT else ()) for bug in BUGS],
    ids=[words_of(plant) for plant, _ in BUGS],
)
def test_a_planted_bug_is_caught(plant, caught_by, monkeypatch, request):
    given = [request.getfixturevalue(FIXTURES.get(name, name)) for name in signature(caught_by).parameters]
    plant(monkeypatch)
    refuses = caught_by is lists.ids_are_in_the_order_of_their_bytes
    with pytest.raises(ValueError if refuses else (AssertionError, pytest.fail.Exception)):
        caught_by(*given)


def test_the_list_in_the_documentation_is_this_one():
    text = (PROJECT / "docs" / "privacy.md").read_text()
    section = text[text.index("| planted bug | caught by the test |") : text.index("| planted bug | caught by |")]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([^|]*?) \|$", section, re.MULTILINE)[1:]  # below the header
    assert rows == [(words_of(plant), words_of(caught_by)) for plant, caught_by in BUGS]
