"""Persons who count more than once, groups that are left out, choices that look at the truth."""

from dataclasses import replace

import numpy as np

from tests.inside import (
    US,
    EmptyGroups,
    Encoding,
    ExactCounts,
    IterationLists,
    RecordCounter,
    RecordEncoder,
    Selector,
    Sensitivity,
    planner_module,
    safetab_module,
    tabulate_level_module,
)
from tests.planted.truth import remembered


def stability_forgotten(patch):
    patch.setattr(planner_module, "sensitivity", lambda *_: Sensitivity.of_groups(1))


def stability_without_ethnicity(patch):
    original = planner_module.sensitivity
    patch.setattr(planner_module, "sensitivity", lambda maps, most: original(maps[:1], most))  # race comes first


def a_cell_counted_twice(patch):
    original = RecordCounter.cells

    def twice(self, level, groups_of):
        counted = original(self, level, groups_of)
        both = {table: cells.confidential_counts for table, cells in counted.items()}
        return {
            table: ExactCounts(counted[table].indices, cells + np.roll(cells, 1, axis=1))
            for table, cells in both.items()
        }

    patch.setattr(RecordCounter, "cells", twice)


def infants_counted_twice(patch):
    original = RecordCounter._counted

    def counted(self, number, persons):
        state = original(self, number, persons)
        state.by_attribute[:, [0, 116]] *= 2  # boys and girls below one year
        return state

    patch.setattr(RecordCounter, "_counted", counted)


def a_block_joined_twice(patch):
    original = RecordEncoder.add

    def twice(self, batch):
        original(self, batch)
        original(self, batch)

    patch.setattr(RecordEncoder, "add", twice)


def repeated_codes_counted_each_time(patch):
    """Nobody sorts out the codes that a person has twice."""
    original = Encoding.iteration_lists

    def repeated(self):
        lists = original(self)
        counts = np.diff(lists.starts)
        parts = np.split(lists.iterations, np.cumsum(counts)[:-1])
        return IterationLists(
            np.concatenate([[0], np.cumsum(2 * counts)]), np.concatenate([np.tile(part, 2) for part in parts])
        )

    patch.setattr(Encoding, "iteration_lists", repeated)


def empty_groups_dropped(patch):
    patch.setattr(EmptyGroups, "that_may_be_published", lambda *_: np.empty(0, dtype=np.int64))


def empty_groups_skipped_for_one_level(patch):
    original = EmptyGroups.that_may_be_published

    def found(self, first, end):
        indices = original(self, first, end)
        return indices[:0] if self._stage_2.event.level.geography == US.area_level("PR-TRACT") else indices

    patch.setattr(EmptyGroups, "that_may_be_published", found)


def threshold_on_the_true_count(patch):
    original = tabulate_level_module._stage_2

    def by_truth(level, counts, stage_1, _):
        shapes = tabulate_level_module.chosen_shapes(counts.confidential_counts[:, 0], level.plan.design.thresholds)
        return original(level, counts, stage_1, shapes)

    patch.setattr(tabulate_level_module, "_stage_2", by_truth)


def a_threshold_off_by_one(patch):
    def above(totals, thresholds):
        return np.searchsorted(np.array(thresholds.totals), totals, side="left").astype(np.int8)

    patch.setattr(tabulate_level_module, "chosen_shapes", above)


def suppression_off_by_one(patch):
    original = tabulate_level_module.passes_suppression
    patch.setattr(
        tabulate_level_module,
        "passes_suppression",
        lambda noisy, limit: original(noisy, None if limit is None else limit - 1),
    )


def suppression_on_the_true_count(patch):
    original, truth = tabulate_level_module._stage_2, {}

    def remembering(level, counts, stage_1, tables):
        truth["counts"] = counts.confidential_counts[tables == 0, 0]
        return original(level, counts, stage_1, tables)

    patch.setattr(tabulate_level_module, "_stage_2", remembering)
    patch.setattr(
        tabulate_level_module,
        "passes_suppression",
        lambda noisy, threshold: np.ones(len(noisy), dtype=bool) if threshold is None else truth["counts"] > threshold,
    )


def t_from_the_true_counts(patch):
    original, truth = tabulate_level_module.tabulate_level, remembered(patch)

    def with_own_t(plan, *rest):
        design = plan.design
        if design.suppression_threshold is not None:
            design = replace(design, suppression_threshold=truth.people - 140)
        return original(replace(plan, design=design), *rest)

    patch.setattr(safetab_module, "tabulate_level", with_own_t)


def universe_from_data(patch):
    """Only entities in which somebody lives are looked at."""
    original, found = tabulate_level_module._by_noisy_stage_1, EmptyGroups.that_may_be_published
    inhabited = {}

    def of_inhabited(level, totals):
        index = level.plan.universe.index
        inhabited["entities"] = np.unique(index.entity_of(totals.indices))
        inhabited["iterations"] = np.array(index.iterations)
        yield from original(level, totals)

    def some(self, first, end):
        indices = found(self, first, end)
        return indices[np.isin(indices // inhabited["iterations"], inhabited["entities"])]

    patch.setitem(tabulate_level_module._ADAPTIVE, Selector.NOISY_STAGE_1, of_inhabited)
    patch.setattr(EmptyGroups, "that_may_be_published", some)


def suppressed_groups_in_the_measurements(patch):
    patch.setattr(tabulate_level_module, "passes_suppression", lambda noisy, _: np.ones(len(noisy), dtype=bool))
