"""From published groups to the numbers of the tidy release: one row a line, with what the rules say of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.privacy.stages import Stage
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import PublishedGroups
from safetab.release.numbers.selection import SelectionAwareIntervals
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_rules import ReleaseRule
from safetab.release.release_universe import ReleaseLevel, Universe

RULES = tuple(ReleaseRule)
NO_RULE = -1
UNKNOWN_RULE = -2  # withheld by those who published the number, who don't say why
NO_INTERVAL = -1  # no true size is below 0


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """One element per row of the release, by rising index, and within a group in the order of its lines."""

    indices: NDArray[np.int64]
    kinds: NDArray[np.int32]  # numbers of NumberKinds
    counts: NDArray[np.int64]  # as the tables have them, or as a rule clamps them
    unclamped: NDArray[np.int64]  # the same with no noisy number clamped
    stage_1_totals: NDArray[np.int64]
    low: NDArray[np.int64]  # of the selection-aware interval, or NO_INTERVAL
    high: NDArray[np.int64]
    rules: NDArray[np.int8]  # the rule that acted on the number, a position in RULES, or NO_RULE
    donors: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def is_withheld(self) -> NDArray[np.bool_]:
        is_clamp = self.rules == RULES.index(ReleaseRule.CLAMP_NEGATIVES)
        return np.asarray((self.rules != NO_RULE) & ~is_clamp)

    def part(self, first: int, end: int) -> Numbers:
        return self.chosen(slice(first, end))

    def chosen(self, rows: NDArray[np.intp] | slice) -> Numbers:
        return Numbers(*(getattr(self, field.name)[rows] for field in fields(self)))


def joined_numbers(parts: list[Numbers]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    return Numbers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Numbers)))


class NumbersOfLevel:
    """Makes the numbers of one level's groups."""

    def __init__(self, universe: Universe, level: ReleaseLevel, kinds: NumberKinds, options: ReleaseOptions) -> None:
        self._universe = universe
        self._kinds = kinds
        self._options = options
        self._index = level.index
        self._level = level
        self._meaning = kinds.meanings
        self._intervals: dict[int, SelectionAwareIntervals | None] = {}

    def of(self, groups: PublishedGroups) -> Numbers:
        """The rows of whole entities."""
        rows = np.array([len(shape.lines) for shape in groups.family.shapes], dtype=np.int64)[groups.shapes]
        ends, starts = np.cumsum(rows), groups.starts
        begins, size = ends - rows, int(rows.sum())
        kinds = np.repeat(self._first_kinds(groups) - begins, rows) + np.arange(size)  # a group's are neighbours
        first_cells = np.repeat(starts, rows) + self._kinds.first_cells[kinds]
        end_cells = first_cells + self._kinds.draws[kinds]
        unclamped = counts = _sums(groups.values, first_cells, end_cells)
        if not self._universe.allow_negative_counts and bool((groups.values < 0).any()):
            counts = _sums(np.maximum(groups.values, 0), first_cells, end_cells)
        low, high = np.full(size, NO_INTERVAL), np.full(size, NO_INTERVAL)
        total = groups.family.number_of(groups.family.total)
        is_selected = (groups.shapes == total) & ~groups.is_total_only
        for level in np.flatnonzero(np.bincount(groups.measured_at[is_selected])).tolist():
            intervals = self._intervals_of(level)
            if intervals is not None:
                alike = np.flatnonzero(is_selected & (groups.measured_at == level))
                low[begins[alike]], high[begins[alike]] = intervals.of(groups.values[starts[alike]])
        numbers = Numbers(
            indices=np.repeat(groups.indices, rows),
            kinds=kinds.astype(np.int32),
            counts=counts,
            unclamped=unclamped,
            stage_1_totals=np.repeat(groups.stage_1_totals, rows),
            low=low,
            high=high,
            rules=np.full(size, NO_RULE, dtype=np.int8),
            donors=np.repeat(groups.donors, rows),
        )
        return self._after_rules(numbers)

    def _first_kinds(self, groups: PublishedGroups) -> NDArray[np.int64]:
        """The kind of the first line of each group."""
        shapes = len(groups.family.shapes)
        likeness = (groups.measured_at.astype(np.int64) * 2 + groups.is_total_only) * shapes + groups.shapes
        how_many = np.bincount(likeness)
        first_kinds = np.zeros(len(how_many), dtype=np.int64)
        for code in np.flatnonzero(how_many).tolist():
            measured, number = divmod(code, shapes)
            level, is_total_only = measured // 2, bool(measured % 2)
            first_kinds[code] = self._kinds.first(level, is_total_only=is_total_only, shape_number=number)
        return np.asarray(first_kinds[likeness])

    @cached_property
    def _partner(self) -> NDArray[np.int64]:
        return self._universe.partner_positions(self._level)

    def _intervals_of(self, level: int) -> SelectionAwareIntervals | None:
        if level not in self._intervals:
            design = self._universe.levels[level].design
            threshold = design.suppression_threshold
            self._intervals[level] = (
                None
                if threshold is None
                else SelectionAwareIntervals(design.noise(Stage.STAGE_2), threshold, self._options.confidence)
            )
        return self._intervals[level]

    def _after_rules(self, numbers: Numbers) -> Numbers:
        """Every rule looks at the numbers as they are without rules; of several that act, the last one is named."""
        if not self._options.rules:
            return numbers
        rules, counts = numbers.rules.copy(), numbers.counts.copy()
        is_negative = numbers.counts < 0
        for rule in self._options.rules:
            if rule is ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER:
                rules[self._is_above_partner(numbers)] = RULES.index(rule)
            else:
                rules[is_negative] = RULES.index(rule)
            if rule is ReleaseRule.CLAMP_NEGATIVES:
                counts[is_negative] = 0
        rest = {field.name: getattr(numbers, field.name) for field in fields(numbers)}
        return Numbers(**rest | {"rules": rules, "counts": counts})

    def _is_above_partner(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Compared with the partner's number of the same attribute values, if the partner has one."""
        meaning = self._meaning[numbers.kinds]
        key = numbers.indices * 256 + meaning
        order = np.argsort(key, kind="stable")
        partner = self._partner[self._index.iteration_of(numbers.indices)]
        wanted = self._index.index_of(self._index.entity_of(numbers.indices), partner) * 256 + meaning
        found = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)] if len(key) else order
        has_partner = (partner >= 0) & (key[found] == wanted)
        return np.asarray(has_partner & (numbers.counts > numbers.counts[found]))


def _sums(cells: NDArray[np.int64], first: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each line the sum of its run of cells."""
    before = np.zeros(len(cells) + 1, dtype=np.int64)
    np.cumsum(cells, out=before[1:])
    return np.asarray(before[end] - before[first])
