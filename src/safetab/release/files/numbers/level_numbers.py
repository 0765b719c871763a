"""The numbers of a level's groups, with intervals that account for suppression.

All numbers of one kind share their line, noise, variance and margin of error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.core.algorithm.level_design import margin_of
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.noise.weighted_sum import FloatTails
from safetab.core.privacy.calibration import Stage
from safetab.foundation.arrays import Columns, Integers, Truths, find_sorted
from safetab.model.products.product import Line, Shape
from safetab.release.files.numbers.published_groups import PublishedGroups
from safetab.release.files.release_options import ReleaseOptions, ReleaseRule
from safetab.release.files.release_universe import ReleaseLevel, Universe


class SelectionAwareIntervals:
    """For a published total x > T: the true sizes n >= 0 that x does not contradict.

    An n is inside if, among publications of groups of that size, totals of x or more and totals of
    x or less are each more likely than (1 - confidence) / 2. So among published totals of groups of
    any one size n >= 0, the interval holds n at least as often as `confidence` says. Far above T it
    is the total plus and minus its margin of error.

    Proof: docs/noise.md#selection-aware-interval.
    """

    def __init__(self, noise: NoiseDistribution, threshold: int, confidence: Fraction) -> None:
        self._tails = FloatTails(noise)
        self._threshold = threshold
        self._each_side = float((1 - confidence) / 2)
        self._reach = noise.least_with_tail_below((1 - confidence) / 2)

    def of(self, totals: Integers) -> tuple[Integers, Integers]:
        """The first and the last n inside, for each total."""
        distinct, position = np.unique(totals, return_inverse=True)
        low, high = self._first_inside(distinct), self._last_inside(distinct)
        return low[position], np.maximum(high, low)[position]

    def _first_inside(self, totals: Integers) -> Integers:
        """P[n + X >= x | n + X > T] rises with n, and is at least one half at n = x."""

        def is_inside(sizes: Integers) -> Truths:
            published = self._share_from(self._threshold + 1, sizes)
            return self._share_from(totals, sizes) > self._each_side * published

        return _boundary(is_inside, outside=np.full(len(totals), -1), inside=np.maximum(totals, 0))

    def _last_inside(self, totals: Integers) -> Integers:
        """P[n + X <= x | n + X > T] falls with n.

        A margin of error past x it is too small for any T.

        If even n = 0 is too large for the total, nothing is inside, and this returns 0: a wider
        interval is still true.
        """

        def is_inside(sizes: Integers) -> Truths:
            published = self._share_from(self._threshold + 1, sizes)
            return published - self._share_from(totals + 1, sizes) > self._each_side * published

        return _boundary(
            is_inside, outside=np.maximum(totals, 0) + self._reach, inside=np.zeros_like(totals)
        )

    def _share_from(self, at_least: Integers | int, size: Integers) -> NDArray[np.float64]:
        """P[size + X >= at_least]."""
        return self._tails.at_least(np.asarray(at_least - size))


def _boundary(
    is_inside: Callable[[Integers], Truths], outside: Integers, inside: Integers
) -> Integers:
    """For each total, the size inside that is next to one outside, by bisection."""
    while bool((is_open := np.abs(inside - outside) > 1).any()):
        middle = (outside + inside) // 2
        goes_inside = is_inside(middle)
        inside = np.where(is_open & goes_inside, middle, inside)
        outside = np.where(is_open & ~goes_inside, middle, outside)
    return inside


selection_aware_intervals = lru_cache(maxsize=256)(SelectionAwareIntervals)


def intervals_of(
    universe: Universe,
    confidence: Fraction,
    totals: Integers,
    measured_at: NDArray[np.integer],
    is_selected: Truths,
) -> tuple[Integers, Integers]:
    """Both ends of each total's selection-aware interval.

    Noise and threshold are those of the level that measured the total. The ends are NO_INTERVAL if
    the total was not selected, or its level suppresses nothing.
    """
    low, high = np.full((2, len(totals)), NO_INTERVAL, dtype=np.int64)
    for number in np.flatnonzero(np.bincount(measured_at[is_selected])).tolist():
        design = universe.levels[number].design
        if design.suppression_threshold is not None:
            noise = design.noise(Stage.STAGE_2)
            intervals = selection_aware_intervals(noise, design.suppression_threshold, confidence)
            alike = np.flatnonzero(is_selected & (measured_at == number))
            low[alike], high[alike] = intervals.of(totals[alike])
    return low, high


def interval_around(numbers: Integers, margins: Integers | int) -> tuple[Integers, Integers]:
    """Both ends of the interval of numbers that were not selected.

    They are a margin of error away, and never below 0.
    """
    return np.maximum(numbers - margins, 0), np.maximum(numbers + margins, 0)


RULES = tuple(ReleaseRule)
NO_RULE = -1
UNKNOWN_RULE = -2  # withheld by those who published the number, who don't say why
NO_INTERVAL = -1  # no true size is below 0


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Columns):
    """One element per row of the release, by ascending index and, within a group, in line order."""

    indices: Integers
    kinds: NDArray[np.int32]  # numbers of NumberKinds
    counts: Integers  # as the tables have them, or as a rule clamps them
    unclamped: Integers  # the same with no noisy number clamped
    stage_1_totals: Integers
    low: Integers  # of the selection-aware interval, or NO_INTERVAL
    high: Integers
    rules: NDArray[np.int8]  # the rule that acted on the number, a position in RULES, or NO_RULE
    donors: Integers

    @property
    def is_withheld(self) -> Truths:
        """Whether a rule, or those who published the number, withheld it."""
        is_clamp = self.rules == RULES.index(ReleaseRule.CLAMP_NEGATIVES)
        return np.asarray((self.rules != NO_RULE) & ~is_clamp)


class NumbersOfLevel:
    """Makes the numbers of one level's groups."""

    def __init__(
        self, universe: Universe, level: ReleaseLevel, kinds: NumberKinds, options: ReleaseOptions
    ) -> None:
        self._universe = universe
        self._kinds = kinds
        self._options = options
        self._level = level

    def of(self, groups: PublishedGroups) -> Numbers:
        """The rows of whole entities."""
        rows = np.array([len(shape.lines) for shape in groups.family.shapes], dtype=np.int64)[
            groups.shapes
        ]
        ends, starts = np.cumsum(rows), groups.starts
        begins, size = ends - rows, int(rows.sum())
        first_kinds = self._kinds.first_of_groups(
            groups.measured_at, groups.is_total_only, groups.shapes
        )
        kinds = np.repeat(first_kinds - begins, rows) + np.arange(size)  # a group's are neighbours
        first_cells = np.repeat(starts, rows) + self._kinds.first_cells[kinds]
        end_cells = first_cells + self._kinds.draws[kinds]
        unclamped = counts = _sums(groups.values, first_cells, end_cells)
        if not self._universe.allow_negative_counts and bool((groups.values < 0).any()):
            counts = _sums(np.maximum(groups.values, 0), first_cells, end_cells)
        total = groups.family.number_of(groups.family.total)
        is_selected = (groups.shapes == total) & ~groups.is_total_only
        low, high = np.full((2, size), NO_INTERVAL, dtype=np.int64)
        totals = groups.values[starts], groups.measured_at, is_selected
        low[begins], high[begins] = intervals_of(self._universe, self._options.confidence, *totals)
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

    @cached_property
    def _partner(self) -> Integers:
        return self._universe.partner_positions(self._level)

    def _after_rules(self, numbers: Numbers) -> Numbers:
        """Apply the rules.

        Each looks at the numbers without rules; if several act, the last is named.
        """
        if not self._options.rules:
            return numbers
        rules, counts = numbers.rules.copy(), numbers.counts.copy()
        is_negative = numbers.counts < 0
        for rule in self._options.rules:
            if rule is ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER:
                rules[self.is_above_partner(numbers)] = RULES.index(rule)
            else:
                rules[is_negative] = RULES.index(rule)
            if rule is ReleaseRule.CLAMP_NEGATIVES:
                counts[is_negative] = 0
        return replace(numbers, rules=rules, counts=counts)

    def is_above_partner(self, numbers: Numbers) -> Truths:
        """Whether a number exceeds the partner's for the same attribute values, if it has one."""
        meaning = self._kinds.meanings[numbers.kinds]
        index = self._level.index
        key = numbers.indices * 256 + meaning
        order = np.argsort(key, kind="stable")
        partner = self._partner[index.iteration_of(numbers.indices)]
        wanted = index.index_of(index.entity_of(numbers.indices), partner) * 256 + meaning
        position, is_found = find_sorted(key[order], wanted)
        is_above = numbers.counts > numbers.counts[order[position]]
        return np.asarray((partner >= 0) & is_found & is_above)


def _sums(cells: Integers, first: Integers, end: Integers) -> Integers:
    """The sum of each line's run of cells."""
    before = np.zeros(len(cells) + 1, dtype=np.int64)
    np.cumsum(cells, out=before[1:])
    return np.asarray(before[end] - before[first])


@dataclass(frozen=True, slots=True)
class _NumberKind:
    """A line of a shape as one level and stage measured it."""

    level: int
    stage: Stage
    shape: Shape
    line: Line
    noise: NoiseDistribution


class NumberKinds:
    """The kinds of numbers that a universe can have, numbered.

    The lines of a group are consecutive.
    """

    def __init__(self, universe: Universe, confidence: Fraction) -> None:
        self.kinds: list[_NumberKind] = []
        self._confidence = confidence
        most_shapes = max(len(family.shapes) for family in universe.product.families)
        self._first = np.full((len(universe.levels), 2, most_shapes), -1, dtype=np.int64)
        for number, level in enumerate(universe.levels):
            family = level.design.family
            shapes_of = {
                Stage.STAGE_1: (),
                Stage.TOTAL_ONLY: (family.total,),
                Stage.STAGE_2: family.shapes,
            }
            for stage, measured in level.design.stages.items():
                for shape in shapes_of[stage]:
                    self._first[number, int(stage is Stage.TOTAL_ONLY), family.number_of(shape)] = (
                        len(self.kinds)
                    )
                    self.kinds += [
                        _NumberKind(number, stage, shape, line, measured.noise)
                        for line in shape.lines
                    ]
        lines = [kind.line for kind in self.kinds]
        # where the cells that a line sums begin among those of its group, and how many there are
        self.first_cells = np.array([line.first_cell for line in lines], dtype=np.int64)
        self.draws = np.array([line.cells for line in lines], dtype=np.int8)
        # a number below 256 for each set of labels, the same in every shape
        known: dict[tuple[object, ...], int] = {}
        self.meanings = np.array(
            [known.setdefault(line.labels, len(known)) for line in lines], dtype=np.int64
        )
        # whether they are totals of groups with another noisy total, which chose their table
        has_stage_1 = [Stage.STAGE_1 in level.design.stages for level in universe.levels]
        chosen = [
            kind.line.is_total and kind.stage is Stage.STAGE_2 and has_stage_1[kind.level]
            for kind in self.kinds
        ]
        self.have_stage_1 = np.array(chosen, dtype=np.bool_)

    def first_of_groups(
        self, levels: NDArray[np.integer], is_total_only: Truths, shapes: NDArray[np.integer] | int
    ) -> Integers:
        """The number of the kind of each group's first line.

        Raises KeyError if its level measures no such table.
        """
        first = self.firsts(levels, is_total_only, shapes)
        if (first < 0).any():
            raise KeyError("a table that its level does not measure")
        return first

    def firsts(
        self, levels: NDArray[np.integer], is_total_only: Truths, shapes: NDArray[np.integer] | int
    ) -> Integers:
        """The number of the kind of each group's first line.

        It is -1 for a table that its level does not measure.
        """
        first: Integers = self._first[levels, is_total_only.astype(np.intp), shapes]
        return first

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        """The variance of the noise in each kind of number."""
        return np.array(
            [variance_of(kind.noise, kind.line.cells) for kind in self.kinds], dtype=np.float64
        )

    @cached_property
    def margins(self) -> Integers:
        """The margins of error, exact at the release's confidence."""
        margins = [margin_of(kind.noise, kind.line.cells, self._confidence) for kind in self.kinds]
        return np.array(margins, dtype=np.int64)


@lru_cache(maxsize=4096)
def variance_of(noise: NoiseDistribution, draws: int) -> float:
    """The variance of a sum of independent draws of noise, to the nearest float."""
    return float(noise.sum_of(draws).variance().mid())
