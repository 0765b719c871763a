"""Markers, limits and statuses that are lost, or taken from elsewhere."""

import sys
from dataclasses import replace
from fractions import Fraction

from tests.inside import (
    SYNTHETIC_MARKER,
    Account,
    LineState,
    OutputStatus,
    merged_logs_module,
    own_records_module,
    rerelease_module,
    world_module,
)


def a_marker_above_data_counts(patch):
    original = own_records_module.is_synthetic

    def above(data):
        return original(data) or (data.parent / SYNTHETIC_MARKER).exists()

    for module in [module for name, module in sys.modules.items() if name.startswith("safetab.")]:
        if getattr(module, "is_synthetic", None) is original:
            patch.setattr(module, "is_synthetic", above)


def compare_asks_for_the_marker_of_folders_alone(patch):
    original = world_module.is_synthetic
    patch.setattr(world_module, "is_synthetic", lambda data: data.is_file() or original(data))


def a_limit_of_the_second_log_lost_in_a_merge(patch):
    original = merged_logs_module._lines_of

    def without_limits(content, known):
        kept = [line for line in content.lines if not known or line.state is not LineState.LIMIT]
        return original(replace(content, lines=kept), known)

    patch.setattr(merged_logs_module, "_lines_of", without_limits)


def runs_of_the_second_log_lost_in_a_merge(patch):
    original = merged_logs_module._lines_of

    def without_runs(content, known):
        kept = [line for line in content.lines if not known or "run" not in line.values]
        return original(replace(content, lines=kept), known)

    patch.setattr(merged_logs_module, "_lines_of", without_runs)


def larger_units_charged_like_the_units_of_a_run(patch):
    patch.setattr(Account, "_cost", lambda _, spend: spend.budget)


def larger_units_charged_by_their_size_and_not_its_square(patch):
    def cost(self, spend):
        return spend.budget * Fraction(max(each.most_records for each in self.spends), spend.most_records)

    patch.setattr(Account, "_cost", cost)


def a_release_made_again_forgets_the_status(patch):
    """The documents of the release say that it may be released; the manifest and the log are right."""
    original = rerelease_module.write_documents

    def forgetful(output, universe, facts):
        original(output, universe, replace(facts, status=OutputStatus.FOR_RELEASE))

    patch.setattr(rerelease_module, "write_documents", forgetful)
