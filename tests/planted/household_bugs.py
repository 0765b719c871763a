"""Bugs that only a product with published totals and two table families can have."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.inside import (
    TENURE,
    TENURES,
    RecordCounter,
    SelectedGroups,
    Selector,
    inputs_module,
    ledger_module,
    noise_module,
    noisy_count_module,
    tabulate_level_module,
    union_of,
)
from tests.planted.noise_bugs import narrower
from tests.planted.release_bugs import after, appended
from tests.planted.truth import remembered

_BITS_OF_THE_FAMILY = 0xF000


def both_families_share_an_address(patch):
    original = ledger_module.DrawingRight.address_prefix.fget
    without = property(lambda right: original(right) & ~_BITS_OF_THE_FAMILY)
    patch.setattr(ledger_module.DrawingRight, "address_prefix", without)


def _other_selection(patch, select):
    """`select` takes the groups with their published totals, and the true counts; gives other groups and totals."""
    original = tabulate_level_module._ADAPTIVE[Selector.PUBLISHED_TOTALS]

    def selecting(level, totals):
        plan = replace(level.plan, selected=select(level.plan.selected, totals))
        return original(replace(level, plan=plan), totals)

    patch.setitem(tabulate_level_module._ADAPTIVE, Selector.PUBLISHED_TOTALS, selecting)


def groups_with_households_and_without_a_total_measured(patch):
    def all_that_have_some(selected, counts):
        indices = union_of(selected.indices, counts.indices)
        totals = np.zeros(len(indices), dtype=np.int64)
        totals[np.searchsorted(indices, selected.indices)] = selected.totals
        return SelectedGroups(indices, totals)

    _other_selection(patch, all_that_have_some)


def a_shape_chosen_by_the_true_number_of_households(patch):
    def by_truth(selected, counts):
        return SelectedGroups(selected.indices, counts.of_groups(selected.indices).confidential_counts[:, 0])

    _other_selection(patch, by_truth)


def no_fewer_people_than_households(patch):
    """A published total below the true number of households is taken for a mistake and raised."""

    def raised(selected, counts):
        households = counts.of_groups(selected.indices).confidential_counts[:, 0]
        return SelectedGroups(selected.indices, np.maximum(selected.totals, households))

    _other_selection(patch, raised)


def households_without_rent_counted_twice(patch):
    original = RecordCounter._counted

    def counted(self, number, persons):
        state = original(self, number, persons)
        state.by_attribute[:, TENURES - 1 :: TENURES] *= 2
        return state

    patch.setattr(RecordCounter, "_counted", counted)


def _narrow_tenure(patch, of_variance):
    original = noisy_count_module._add_noise

    def add(*given):
        draws = given[1]
        with pytest.MonkeyPatch.context() as inner:
            if draws.right.event.family is TENURE:
                inner.setattr(
                    noisy_count_module, "inversion_table", lambda noise_module: narrower(noise_module, of_variance)
                )
            original(*given)

    patch.setattr(noisy_count_module, "_add_noise", add)


def tenure_for_stability_8_where_it_is_9(patch):
    _narrow_tenure(patch, Fraction(8, 9))


def tenure_overspent_by_10_percent(patch):
    _narrow_tenure(patch, Fraction(100, 110))


def totals_that_ignore_copied_rows(patch):
    """`--totals` takes what was published of a group itself, and not what the coterminous step copied."""
    original = inputs_module._totals_by_geography

    def without_copies(release, path):
        found = original(release, path)
        position_of = {group.code: position for position, group in enumerate(release.universe.lists.iterations)}
        for level in release.universe.levels:
            rows = pq.read_table(
                release.numbers_of(level), columns=["region_id", "iteration_code", "status"]
            ).to_pylist()
            copied = {
                (int(row["region_id"]), position_of[row["iteration_code"]]) for row in rows if row["status"] == "copied"
            }
            totals = found[level.geography]
            pairs = zip(totals.entity.tolist(), totals.code.tolist(), strict=True)
            is_own = np.array([pair not in copied for pair in pairs], dtype=bool)
            columns = (getattr(totals, name)[is_own] for name in type(totals).__slots__)
            found[level.geography] = type(totals)(*columns)
        return found

    patch.setattr(inputs_module, "_totals_by_geography", without_copies)


def adjusted_cells_with_the_other_tables_variance(patch):
    def share(first, second):
        both = first.cells * first.variance + second.cells * second.variance
        return Fraction(second.variance / both).limit_denominator(10_000)

    patch.setattr(noise_module, "_share_of_a_cell", share)


def the_number_of_groups_with_households_in_the_releasable_log(patch):
    truth = remembered(patch)
    after(patch, "write_release_log", lambda output: appended(output / "log.txt", f"{len(truth.nonempty)} groups\n"))
