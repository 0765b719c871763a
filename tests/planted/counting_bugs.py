"""Persons who count more than once, groups that are left out, choices that look at the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from safetab.census.sensitivity import Sensitivity
from safetab.dialects.bureau.us_census import US
from safetab.engines.encoding import Encoding
from safetab.engines.local.counter import RecordCounter
from safetab.engines.local.encoder import RecordEncoder
from safetab.engines.patterns import IterationLists
from safetab.planning import planner
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Selector
from safetab.tabulation import tabulate_level as tabulation
from safetab.tabulation.tabulate_level import EmptyGroups
from tests.planted.truth import remembered

Patch = pytest.MonkeyPatch


def stability_forgotten(patch: Patch) -> None:
    patch.setattr(planner, "sensitivity", lambda *_: Sensitivity.of_groups(1))


def stability_without_ethnicity(patch: Patch) -> None:
    original = planner.sensitivity
    patch.setattr(planner, "sensitivity", lambda maps, most: original(maps[:1], most))  # race comes first


def a_cell_counted_twice(patch: Patch) -> None:
    original = RecordCounter.cells

    def twice(self, level, groups_of):
        counted = original(self, level, groups_of)
        both = {table: cells.confidential_counts for table, cells in counted.items()}
        return {
            table: ExactCounts(counted[table].indices, cells + np.roll(cells, 1, axis=1))
            for table, cells in both.items()
        }

    patch.setattr(RecordCounter, "cells", twice)


def infants_counted_twice(patch: Patch) -> None:
    original = RecordCounter._counted

    def counted(self, number, persons):
        state = original(self, number, persons)
        state.by_attribute[:, [0, 116]] *= 2  # boys and girls below one year
        return state

    patch.setattr(RecordCounter, "_counted", counted)


def a_block_joined_twice(patch: Patch) -> None:
    original = RecordEncoder.add

    def twice(self, batch):
        original(self, batch)
        original(self, batch)

    patch.setattr(RecordEncoder, "add", twice)


def repeated_codes_counted_each_time(patch: Patch) -> None:
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


def empty_groups_dropped(patch: Patch) -> None:
    patch.setattr(EmptyGroups, "that_may_be_published", lambda *_: np.empty(0, dtype=np.int64))


def empty_groups_skipped_for_one_level(patch: Patch) -> None:
    original = EmptyGroups.that_may_be_published

    def found(self, first, end):
        indices = original(self, first, end)
        return indices[:0] if self._stage_2.event.level.geography == US.area_level("PR-TRACT") else indices

    patch.setattr(EmptyGroups, "that_may_be_published", found)


def threshold_on_the_true_count(patch: Patch) -> None:
    original = tabulation._stage_2

    def by_truth(level, counts, stage_1, _):
        shapes = tabulation.chosen_shapes(counts.confidential_counts[:, 0], level.plan.design.thresholds)
        return original(level, counts, stage_1, shapes)

    patch.setattr(tabulation, "_stage_2", by_truth)


def a_threshold_off_by_one(patch: Patch) -> None:
    def above(totals, thresholds):
        return np.searchsorted(np.array(thresholds.totals), totals, side="left").astype(np.int8)

    patch.setattr(tabulation, "chosen_shapes", above)


def suppression_off_by_one(patch: Patch) -> None:
    original = tabulation.passes_suppression
    patch.setattr(
        tabulation, "passes_suppression", lambda noisy, limit: original(noisy, None if limit is None else limit - 1)
    )


def suppression_on_the_true_count(patch: Patch) -> None:
    original, truth = tabulation._stage_2, {}

    def remembering(level, counts, stage_1, tables):
        truth["counts"] = counts.confidential_counts[tables == 0, 0]
        return original(level, counts, stage_1, tables)

    patch.setattr(tabulation, "_stage_2", remembering)
    patch.setattr(
        tabulation,
        "passes_suppression",
        lambda noisy, threshold: np.ones(len(noisy), dtype=bool) if threshold is None else truth["counts"] > threshold,
    )


def t_from_the_true_counts(patch: Patch) -> None:
    original, truth = tabulation.tabulate_level, remembered(patch)

    def with_own_t(plan, *rest):
        design = plan.design
        if design.suppression_threshold is not None:
            design = replace(design, suppression_threshold=truth.people - 140)
        return original(replace(plan, design=design), *rest)

    patch.setattr("safetab.tabulation.safetab.tabulate_level", with_own_t)


def universe_from_data(patch: Patch) -> None:
    """Only entities in which somebody lives are looked at."""
    original, found = tabulation._by_noisy_stage_1, EmptyGroups.that_may_be_published
    inhabited: dict[str, np.ndarray] = {}

    def of_inhabited(level, totals, groups_at_once):
        index = level.plan.universe.index
        inhabited["entities"] = np.unique(index.entity_of(totals.indices))
        inhabited["iterations"] = np.array(index.iterations)
        yield from original(level, totals, groups_at_once)

    def some(self, first, end):
        indices = found(self, first, end)
        return indices[np.isin(indices // inhabited["iterations"], inhabited["entities"])]

    patch.setitem(tabulation._ADAPTIVE, Selector.NOISY_STAGE_1, of_inhabited)
    patch.setattr(EmptyGroups, "that_may_be_published", some)


def suppressed_groups_in_the_measurements(patch: Patch) -> None:
    patch.setattr(tabulation, "passes_suppression", lambda noisy, _: np.ones(len(noisy), dtype=bool))
