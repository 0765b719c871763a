"""Noise, margins and intervals of another level, stage or number of draws, and totals combined from what was selected."""

from dataclasses import replace

import numpy as np
import pytest

from tests.inside import (
    WITHHELD,
    EarlierRelease,
    GroupNumbers,
    NumberKinds,
    NumberRows,
    Stage,
    level_numbers_module,
    noise_module,
    noise_of_level,
)


def total_only_groups_with_the_noise_of_stage_2(patch):
    original = NumberKinds.__init__

    def begun(self, universe, confidence):
        original(self, universe, confidence)
        self.kinds = [
            replace(kind, noise=universe.levels[kind.level].design.noise(Stage.STAGE_2))
            if kind.stage is Stage.TOTAL_ONLY
            else kind
            for kind in self.kinds
        ]

    patch.setattr(NumberKinds, "__init__", begun)


def a_copy_with_the_interval_of_its_receiver(patch):
    original = level_numbers_module.NumbersOfLevel.of

    def of_receiver(self, groups):
        own = np.full_like(groups.measured_at, self._universe.levels.index(self._level))
        wrong = original(self, replace(groups, measured_at=own))
        return replace(original(self, groups), low=wrong.low, high=wrong.high)

    patch.setattr(level_numbers_module.NumbersOfLevel, "of", of_receiver)


def what_a_rule_left_of_a_family_is_combined(patch):
    _change_totals_of_other_families(patch, lambda rows: [row for row in rows if row["status"] != WITHHELD])


def totals_combined_with_clamped_numbers(patch):
    _change_totals_of_other_families(patch, lambda rows: [row | {"unclamped_count": row["count"]} for row in rows])


def _change_totals_of_other_families(patch, changed):
    original = GroupNumbers._of_other_families

    def combined(self, row, counted):
        totals = NumberRows.totals
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(NumberRows, "totals", lambda rows, *given: changed(totals(rows, *given)))
            return original(self, row, counted)

    patch.setattr(GroupNumbers, "_of_other_families", combined)


def the_error_of_sizes_not_divided_by_the_draws(patch):
    original = noise_module._given_publication

    def undivided(value, form, confidence):
        draws = len(form.selected_draws)
        with pytest.MonkeyPatch.context() as inner:
            sizes = noise_module._sizes
            inner.setattr(
                noise_module, "_sizes", lambda one, selected, sure: sizes(one, selected, 1 - draws * (1 - sure))
            )
            return original(value, form, confidence)

    patch.setattr(noise_module, "_given_publication", undivided)


def totals_half_as_far_above_are_far_above(patch):
    original = noise_module.far_threshold

    def nearer(of_noise, threshold, draws, confidence):
        return threshold + (original(of_noise, threshold, draws, confidence) - threshold) // 2

    patch.setattr(noise_module, "far_threshold", nearer)


def earlier_totals_with_the_noise_of_the_newer(patch):
    original = EarlierRelease._facts

    def facts(self):
        universe = self._newer.universe
        noises = [noise_of_level(number, universe, self._confidence) for number in range(len(universe.levels))]
        return original(self) | {"noises": noises}

    patch.setattr(EarlierRelease, "_facts", facts)


def earlier_totals_with_the_margins_of_the_newer(patch):
    original = EarlierRelease.__init__

    def begun(self, opened, newer):
        original(self, opened, newer)
        self._tables._universe = newer.universe

    patch.setattr(EarlierRelease, "__init__", begun)
