"""The groups that published totals select, and the table that a total chooses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import Geography, region_id
from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.iterations import IterationLevel, PublicLists
from safetab.census.population_groups import GroupUniverse, PublishedTotals, TotalsOfLevel
from safetab.foundation.arrays import find_sorted
from safetab.foundation.findings import FindingsOf, shortened
from safetab.products.product import Thresholds


def chosen_shapes(totals: NDArray[np.int64], thresholds: Thresholds) -> NDArray[np.int8]:
    """Each group's position in its family's ladder: reaching a threshold moves it up."""
    return np.searchsorted(np.array(thresholds.totals), totals, side="right").astype(np.int8)


_CODES = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class SelectedGroups:
    """The groups that have a published total, sorted by index, with those totals. A public fact."""

    indices: NDArray[np.int64]
    totals: NDArray[np.int64]


def selected_groups(universe: GroupUniverse, totals: PublishedTotals) -> SelectedGroups:
    """The groups of the universe that have a published total. No other group is measured."""
    of_level = totals.of_level.get(universe.level.geography)
    if of_level is None or not len(universe.entities):
        none = np.empty(0, dtype=np.int64)
        return SelectedGroups(none, none)
    positions = np.full(_CODES, -1, dtype=np.int64)
    positions[[int(iteration.code) for iteration in universe.iterations]] = np.arange(len(universe.iterations))
    entity, is_known = find_sorted(universe.entities, of_level.entity)
    iteration = positions[of_level.code]
    rows = np.flatnonzero(is_known & (iteration >= 0))
    indices = universe.index.index_of(entity[rows], iteration[rows])
    order = np.argsort(indices, kind="stable")
    return SelectedGroups(indices[order], of_level.count[rows][order])


def check_totals(
    totals: PublishedTotals,
    lists: PublicLists,
    whole: Geography,
    of_pass: Mapping[TabulationPass, Geography],
    findings: FindingsOf,
) -> None:
    """Report totals of unknown regions or iterations as errors; count ignored ones in warnings."""
    known = {int(iteration.code): iteration for iteration in lists.iterations}
    ignored: Counter[str] = Counter()
    for geography, of_level in totals.of_level.items():
        kind = geography.entity_kind
        is_known = np.isin(of_level.entity, whole.entities(kind))
        _refuse_unknown(geography, of_level, is_known, known.keys(), findings)
        _refuse_repeated(geography, of_level, findings)
        if geography.tabulation_pass not in of_pass:
            ignored["of a pass that doesn't run"] += len(of_level.entity)
            continue
        is_inside = np.isin(of_level.entity, of_pass[geography.tabulation_pass].entities(kind))
        ignored["of regions outside state_filter_us"] += int(np.count_nonzero(is_known & ~is_inside))
        present, times = np.unique(of_level.code[is_inside], return_counts=True)
        for code, rows in zip(present.tolist(), times.tolist(), strict=True):
            if code in known and known[code].level is IterationLevel.MAJOR:
                ignored["of major groups, which are never tabulated"] += rows
            elif code in known and not known[code].is_tabulated(is_substate=kind.is_substate):
                ignored["of iterations that are not tabulated at their level (coterminous copies)"] += rows
    for why, rows in ignored.items():
        if rows:
            findings.warning("", f"{rows:,} {'total is' if rows == 1 else 'totals are'} {why}: ignored.")


def _refuse_unknown(
    geography: GeographyLevel,
    of_level: TotalsOfLevel,
    is_known: NDArray[np.bool_],
    codes: Set[int],
    findings: FindingsOf,
) -> None:
    """Report totals of regions and iterations that the public files do not have."""
    strange = np.unique(of_level.entity[~is_known]).tolist()
    if strange:
        ids = shortened(region_id(entity, geography.entity_kind) for entity in strange)
        findings.error("REGION_ID", f"{geography.label} {ids}: not in the geography. Give the GRF-C of the totals.")
    unknown = sorted(set(np.unique(of_level.code).tolist()) - codes)
    if unknown:
        listed = shortened(f"{code:04d}" for code in unknown)
        findings.error("ITERATION_CODE", f"{listed} at {geography.label}: no iteration of the lists.")


def _refuse_repeated(geography: GeographyLevel, of_level: TotalsOfLevel, findings: FindingsOf) -> None:
    """Report groups with two totals: they would be measured twice and count their records twice."""
    groups = np.sort(of_level.entity * _CODES + of_level.code)
    again = groups[1:][np.diff(groups) == 0]
    if len(again):
        regions = (divmod(group, _CODES) for group in again.tolist())
        names = [f"{region_id(entity, geography.entity_kind)} {code:04d}" for entity, code in regions]
        findings.error("", f"a group has more than one total: {geography.label} {shortened(names)}. Keep one.")
