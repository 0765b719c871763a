"""From published groups to the numbers of the tidy release: one row a line, with what the rules say of it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from safetab.privacy.stages import Stage
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import PublishedGroups
from safetab.release.numbers.selection import SelectionAwareIntervals
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_rules import ReleaseRule
from safetab.release.release_universe import ReleaseLevel, Universe
from safetab.tabulation.marginals import line_sums

RULES = tuple(ReleaseRule)
NO_RULE = -1
UNKNOWN_RULE = -2  # withheld by those who published the number, who don't say why
NO_INTERVAL = -1  # no true size is below 0


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """One element per row of the release, by rising index, and within a group in the order of its lines."""

    indices: NDArray[np.int64]
    kinds: NDArray[np.int32]  # numbers of NumberKinds
    counts: NDArray[np.int64]  # as t1 and t2 have them, or as a rule clamps them
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
        self._partner = _partner_positions(universe, level)
        self._meaning = kinds.meanings
        self._intervals: dict[int, SelectionAwareIntervals | None] = {}

    def of(self, groups: PublishedGroups) -> Numbers:
        """The rows of whole entities."""
        shapes = groups.family.shapes
        rows = np.array([len(shape.lines) for shape in shapes], dtype=np.int64)[groups.shapes]
        row_starts = np.cumsum(rows) - rows
        counts, unclamped = np.empty(int(rows.sum()), dtype=np.int64), np.empty(int(rows.sum()), dtype=np.int64)
        kinds = np.empty(len(counts), dtype=np.int32)
        low, high = np.full(len(counts), NO_INTERVAL), np.full(len(counts), NO_INTERVAL)
        likeness = (groups.measured_at.astype(np.int64) * 2 + groups.is_total_only) * len(shapes) + groups.shapes
        for code in np.unique(likeness).tolist():
            stage_of_level, number = divmod(code, len(shapes))
            level, is_total_only, shape = stage_of_level // 2, bool(stage_of_level % 2), shapes[number]
            alike = np.flatnonzero(likeness == code)
            own_rows = row_starts[alike][:, None] + np.arange(len(shape.lines))
            values = groups.matrix_of(alike, shape)
            unclamped[own_rows] = line_sums(values, shape.lines)
            is_kept = self._universe.allow_negative_counts
            counts[own_rows] = line_sums(values, shape.lines, allow_negative=is_kept)
            first_kind = self._kinds.first(level, is_total_only=is_total_only, shape_number=number)
            kinds[own_rows] = first_kind + np.arange(len(shape.lines))
            intervals = None if is_total_only or shape is not groups.family.total else self._intervals_of(level)
            if intervals is not None:
                low[own_rows[:, 0]], high[own_rows[:, 0]] = intervals.of(values[:, 0])
        numbers = Numbers(
            indices=np.repeat(groups.indices, rows),
            kinds=kinds,
            counts=counts,
            unclamped=unclamped,
            stage_1_totals=np.repeat(groups.stage_1_totals, rows),
            low=low,
            high=high,
            rules=np.full(len(counts), NO_RULE, dtype=np.int8),
            donors=np.repeat(groups.donors, rows),
        )
        return self._after_rules(numbers)

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


def _partner_positions(universe: Universe, level: ReleaseLevel) -> NDArray[np.int64]:
    """For each iteration of the level the position of its partner, or -1."""
    partners = universe.partners[level.geography.is_substate]
    return np.array(
        [
            level.position_of_code[int(partners[iteration.code])] if iteration.code in partners else -1
            for iteration in level.iterations
        ],
        dtype=np.int64,
    )
