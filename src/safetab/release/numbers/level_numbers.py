"""From published groups to the numbers of the tidy release: one row a line, with what the rules say of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.privacy.stages import Stage
from safetab.products.safetab_p.published_lines import lines_of
from safetab.products.safetab_p.tables import Table
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import PublishedGroups
from safetab.release.numbers.selection import SelectionAwareIntervals
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_rules import ReleaseRule, partner_codes
from safetab.release.release_universe import LevelFacts, Universe
from safetab.tabulation.measurements import TABLES

RULES = tuple(ReleaseRule)
NO_RULE = -1
NO_INTERVAL = -1  # no true size is below 0

_LINES = np.array([len(lines_of(table)) for table in TABLES], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """One element per row of the release, by rising place, and within a group in the order of its lines."""

    places: NDArray[np.int64]
    kinds: NDArray[np.int32]  # numbers of NumberKinds
    counts: NDArray[np.int64]  # as t1 and t2 have them, or as a rule clamps them
    unclamped: NDArray[np.int64]  # the same with no noisy number clamped
    stage_1_totals: NDArray[np.int64]
    low: NDArray[np.int64]  # of the selection-aware interval, or NO_INTERVAL
    high: NDArray[np.int64]
    rules: NDArray[np.int8]  # the rule that acted on the number, a position in RULES, or NO_RULE
    donors: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def is_withheld(self) -> NDArray[np.bool_]:
        is_clamp = self.rules == RULES.index(ReleaseRule.CLAMP_NEGATIVES)
        return np.asarray((self.rules != NO_RULE) & ~is_clamp)

    def part(self, first: int, end: int) -> Numbers:
        return Numbers(*(getattr(self, field.name)[first:end] for field in fields(self)))


def joined_numbers(parts: list[Numbers]) -> Numbers:
    if len(parts) == 1:
        return parts[0]
    return Numbers(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Numbers)))


class NumbersOfLevel:
    """Makes the numbers of one level's groups."""

    def __init__(self, universe: Universe, facts: LevelFacts, kinds: NumberKinds, options: ReleaseOptions) -> None:
        self._universe = universe
        self._kinds = kinds
        self._options = options
        self._width = len(facts.iterations)
        self._partner = _partner_positions(universe, facts)
        self._meaning = _meanings(kinds)
        self._intervals: dict[int, SelectionAwareIntervals | None] = {}

    def of(self, groups: PublishedGroups) -> Numbers:
        """The rows of whole entities."""
        rows = _LINES[groups.tables]
        row_starts = np.cumsum(rows) - rows
        counts, unclamped = np.empty(int(rows.sum()), dtype=np.int64), np.empty(int(rows.sum()), dtype=np.int64)
        kinds = np.empty(len(counts), dtype=np.int32)
        low, high = np.full(len(counts), NO_INTERVAL), np.full(len(counts), NO_INTERVAL)
        likeness = (groups.measured_at.astype(np.int64) * 2 + groups.is_total_only) * len(TABLES) + groups.tables
        for code in np.unique(likeness).tolist():
            level, is_total_only, table_number = code // 8, bool(code // 4 % 2), code % 4
            table, alike = TABLES[table_number], np.flatnonzero(likeness == code)
            own_rows = row_starts[alike][:, None] + np.arange(len(lines_of(table)))
            values = groups.matrix_of(alike, table)
            unclamped[own_rows] = line_sums(values, table)
            is_kept = self._universe.allow_negative_counts
            counts[own_rows] = unclamped[own_rows] if is_kept else line_sums(np.maximum(values, 0), table)
            first_kind = self._kinds.first(level, is_total_only=is_total_only, table_number=table_number)
            kinds[own_rows] = first_kind + np.arange(len(lines_of(table)))
            intervals = None if is_total_only or table is not Table.TOTAL else self._intervals_of(level)
            if intervals is not None:
                low[own_rows[:, 0]], high[own_rows[:, 0]] = intervals.of(values[:, 0])
        numbers = Numbers(
            places=np.repeat(groups.places, rows),
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
            facts = self._universe.levels[level]
            self._intervals[level] = (
                None
                if facts.suppression_threshold is None
                else _selection_aware(facts, facts.suppression_threshold, self._options.confidence)
            )
        return self._intervals[level]

    def _after_rules(self, numbers: Numbers) -> Numbers:
        """Every rule looks at the numbers as they are without rules; of several that act, the last one is told."""
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
        """Compared with the partner's number of the same sex and ages, if the partner has one."""
        meaning = self._meaning[numbers.kinds]
        key = numbers.places * 256 + meaning
        order = np.argsort(key, kind="stable")
        partner = self._partner[numbers.places % self._width]
        wanted = (numbers.places - numbers.places % self._width + partner) * 256 + meaning
        found = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)] if len(key) else order
        has_partner = (partner >= 0) & (key[found] == wanted)
        return np.asarray(has_partner & (numbers.counts > numbers.counts[found]))


def _selection_aware(facts: LevelFacts, threshold: int, confidence: Fraction) -> SelectionAwareIntervals:
    return SelectionAwareIntervals(facts.noise[Stage.STAGE_2], threshold, confidence)


def line_sums(values: NDArray[np.int64], table: Table) -> NDArray[np.int64]:
    """A column for each line of the table: the sum of its neighbouring cells."""
    sums = np.zeros((len(values), table.cells + 1), dtype=np.int64)
    np.cumsum(values, axis=1, out=sums[:, 1:])
    first = np.array([line.first_cell for line in lines_of(table)])
    end = first + np.array([line.cells for line in lines_of(table)])
    return sums[:, end] - sums[:, first]


def _meanings(kinds: NumberKinds) -> NDArray[np.int64]:
    """A number below 256 for each combination of sex and ages, whatever the table."""
    known: dict[tuple[str, int, int], int] = {}
    return np.array(
        [
            known.setdefault((kind.line.sex.value, kind.line.age_start, kind.line.age_end), len(known))
            for kind in kinds.kinds
        ],
        dtype=np.int64,
    )


def _partner_positions(universe: Universe, facts: LevelFacts) -> NDArray[np.int64]:
    """For each iteration of the level the position of its partner, or -1."""
    partners = partner_codes(universe.lists, is_substate=facts.geography.is_substate)
    return np.array(
        [
            facts.position_of_code[int(partners[iteration.code])] if iteration.code in partners else -1
            for iteration in facts.iterations
        ],
        dtype=np.int64,
    )
