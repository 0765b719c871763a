"""A whole release, counted level by level and batch by batch, in bounded memory."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import compress
from math import inf, prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.noise.noise_distribution import DEFAULT_BITS, working_precision
from safetab.core.privacy.composition import PrivacyLoss, loss_of_a_pass, loss_of_disjoint_passes
from safetab.foundation.arrays import Integers, find_sorted
from safetab.foundation.in_threads import results_in_threads
from safetab.model.census.area_levels import Pass
from safetab.model.census.groups import GroupKind
from safetab.model.products.product import Selector, Shape, TableFamily
from safetab.model.products.record import RecordLayout
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.documents import ReleaseFacts
from safetab.release.files.numbers.level_numbers import RULES
from safetab.release.files.numbers.number_files import COPIED, PUBLISHED, STATUSES, WITHHELD
from safetab.release.files.numbers.read_numbers import NumberBatch
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import ReleaseLevel, Universe

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class PairAbove:
    """An Alone total above the total of its partner, in one entity."""

    entity: int  # its position
    alone: int  # positions of the iterations
    partner: int
    alone_count: int
    partner_count: int

    @property
    def excess(self) -> int:
        """The number by which the Alone total is above its partner, at least 1."""
        return self.alone_count - self.partner_count


class PairTally:
    """Compares totals that arrive by rising entity, in batches that may end inside an entity.

    Counts the pairs that have both totals, and those in which the Alone one is above. Keeps the
    widest of the latter.
    """

    def __init__(self, universe: Universe, facts: ReleaseLevel) -> None:
        self._partner = universe.partner_positions(facts)
        self._waiting = [np.empty(0, dtype=np.int64) for _ in range(3)]
        self.compared = self.above = 0
        self.widest: list[PairAbove] = []

    def add(self, entity: Integers, iteration: Integers, count: Integers) -> None:
        """Add the next totals. The last entity waits for the next batch, which may continue it."""
        parts = zip(self._waiting, (entity, iteration, count), strict=True)
        joined = [np.concatenate(part) for part in parts]
        end = int(np.searchsorted(joined[0], joined[0][-1])) if len(joined[0]) else 0
        self._compare(*(column[:end] for column in joined))
        self._waiting = [column[end:] for column in joined]

    def finish(self) -> PairTally:
        """The tally with the totals that wait. Call it once, after the last batch."""
        self._compare(*self._waiting)
        return self

    def _compare(self, entity: Integers, iteration: Integers, count: Integers) -> None:
        """Compare the totals of complete entities."""
        if not len(entity) or not len(self._partner):
            return
        width = len(self._partner)
        key = entity * width + iteration
        order = np.argsort(key, kind="stable")
        alone = np.flatnonzero(self._partner[iteration] >= 0)
        wanted = entity[alone] * width + self._partner[iteration[alone]]
        place, has_partner = find_sorted(key[order], wanted)
        alone, partner = alone[has_partner], order[place[has_partner]]
        is_above = count[alone] > count[partner]
        self.compared += len(alone)
        self.above += int(is_above.sum())
        alone, partner = alone[is_above], partner[is_above]
        widest = np.argsort(count[partner] - count[alone], kind="stable")[:_EXAMPLES]
        pairs = np.stack(
            [entity[alone], iteration[alone], iteration[partner], count[alone], count[partner]],
            axis=1,
        )
        known = [*self.widest, *(PairAbove(*pair) for pair in pairs[widest].tolist())]
        # Of equal pairs the first stays.
        self.widest = sorted(known, key=lambda pair: -pair.excess)[:_EXAMPLES]


RELATIVE_MARGINS = (5, 10, 25, 50)
"""Limits of the classes of numbers, in percent.

A number is in the first class whose share of it holds the distance to either end of its interval.
"""
_CLASSES = len(RELATIVE_MARGINS) + 2
MAY_BE_ZERO = _CLASSES - 1
"""The last class: numbers that a true zero does not contradict.

The one before has the others that are wider.
"""

TOTALS, CELLS = 0, 1
"""Which numbers of a table are looked at: its total, or its single cells."""
_NEITHER = 2

_SHOWN = [STATUSES.index(PUBLISHED), STATUSES.index(COPIED)]
_READ = (
    "region_id", "iteration_code", "table", "table_id", "line", "status", "rule", "count",
    "unclamped_count", "unclamped_margin_of_error", "interval_low", "interval_high", "noise_draws",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LevelSummary:
    """One level of a release, counted. Groups go by the status of their total."""

    facts: ReleaseLevel
    entities: int
    rows: int
    groups: Integers  # by iteration, STATUSES and shape
    precision: Integers  # numbers that are shown, by TOTALS or CELLS, shape and class of precision
    negative: Integers  # numbers below 0, by TOTALS or CELLS
    ruled: Integers  # numbers that a rule acted on, by RULES
    pairs: PairTally

    @property
    def design(self) -> LevelDesign:
        """The level's noise, budget and thresholds."""
        return self.facts.design

    @property
    def possible_groups(self) -> int:
        """The number of groups that the level could publish."""
        return self.entities * int(self.facts.is_tabulated.sum())

    @cached_property
    def _tabulated(self) -> Integers:
        """By STATUSES and shape, of the iterations that are tabulated at this level."""
        return np.asarray(self.groups[self.facts.is_tabulated].sum(axis=0))

    @property
    def copied_beyond(self) -> int:
        """Groups that this level doesn't tabulate and that were copied to it."""
        return int(self.groups[~self.facts.is_tabulated].sum())

    def with_status(self, status: str) -> int:
        """Groups that are tabulated here and whose total has this status."""
        return int(self._tabulated[STATUSES.index(status)].sum())

    def own_with_shape(self, shape: Shape) -> int:
        """Groups that were measured here and published with this table."""
        return int(self._tabulated[STATUSES.index(PUBLISHED), self.design.family.number_of(shape)])

    @property
    def suppressed(self) -> int:
        """Groups that are tabulated here and absent from the release."""
        return self.possible_groups - int(self._tabulated.sum())

    @property
    def shown_groups(self) -> int:
        """Groups tabulated here with a total that everybody can read, wherever it was measured."""
        return int(self._tabulated[_SHOWN].sum())

    @property
    def shown_totals(self) -> int:
        """The number of totals that everybody can read."""
        return int(self.precision[TOTALS].sum())

    @property
    def totals_that_may_be_zero(self) -> int:
        """Totals whose interval includes zero."""
        return int(self.precision[TOTALS, :, MAY_BE_ZERO].sum())

    def of_kind(self, kind: GroupKind) -> tuple[int, int, int]:
        """The numbers of a kind's groups that are possible, have a total, and have more."""
        is_kind = np.array([one.kind == kind for one in self.facts.iterations], dtype=np.bool_)
        shown = self.groups[is_kind & self.facts.is_tabulated][:, _SHOWN]
        possible = self.entities * int((is_kind & self.facts.is_tabulated).sum())
        return possible, int(shown.sum()), int(shown[:, :, 1:].sum())

    @cached_property
    def empty_groups_published(self) -> float:
        """Expected number of published groups if all of them were empty.

        On average, no more published groups than this are really empty.
        """
        if not self.design.product.has_total_only:
            return 0.0  # no noise decides which groups are published
        if self.publishes_every_group or not self.possible_groups:
            return float(self.possible_groups)
        tabulated = list(compress(self.facts.iterations, self.facts.is_tabulated))
        total_only = sum(one.is_total_only for one in tabulated)
        if len(tabulated) == total_only:
            return float(self.entities * total_only)
        chance = self.design.publication_chance()
        with working_precision(DEFAULT_BITS):
            bound = (chance * self.entities * (len(tabulated) - total_only)).upper()
        return float(np.nextafter(float(bound), inf)) + self.entities * total_only

    @property
    def publishes_every_group(self) -> bool:
        """Whether nothing is suppressed at the level, empty groups included."""
        selects = self.design.product.selector is Selector.NOISY_STAGE_1
        return selects and bool(self.design.stages) and self.design.suppression_threshold is None


def _level_summary(release: ReleaseFolder, facts: ReleaseLevel) -> LevelSummary:
    """Raises InvalidInput if the level's file is damaged."""
    entities, shapes = len(release.universe.entities[facts.geography]), len(facts.family.shapes)
    groups = np.zeros((len(facts.iterations), len(STATUSES), shapes), dtype=np.int64)
    precision = np.zeros((_NEITHER + 1, shapes, _CLASSES), dtype=np.int64)
    negative, ruled = np.zeros(_NEITHER + 1, dtype=np.int64), np.zeros(len(RULES), dtype=np.int64)
    rows, pairs = 0, PairTally(release.universe, facts)
    file = release.open_numbers(facts)
    with nullcontext() if file is None else damage_as_invalid_input(file.path):
        for batch in () if file is None else file.batches(_READ):
            sort, count, total = _sorts(batch), batch.integers("count"), batch.is_total
            rows += len(batch)
            groups += _times(
                groups.shape, batch.iteration[total], batch.status[total], batch.shape[total]
            )
            ruled += _times(ruled.shape, batch.rule[batch.rule >= 0])
            precision += _times(precision.shape, sort, batch.shape, precision_classes(batch))
            negative += _times(negative.shape, sort[count < 0])
            chosen = np.flatnonzero(sort == TOTALS)
            pairs.add(batch.entity[chosen], batch.iteration[chosen], count[chosen])
    counts = (groups, precision[:_NEITHER], negative[:_NEITHER], ruled)
    return LevelSummary(facts, entities, rows, *counts, pairs.finish())


def _times(shape: tuple[int, ...], *positions: NDArray[np.integer]) -> Integers:
    """The number of times that each place of an array is among the positions."""
    places = np.ravel_multi_index(positions, shape)
    return np.bincount(places, minlength=prod(shape)).reshape(shape)


def _sorts(batch: NumberBatch) -> Integers:
    """Whether each number is one of TOTALS or CELLS, or _NEITHER: a sum, or withheld."""
    is_cell = batch.integers("noise_draws") == 1
    sort = np.where(batch.is_total, TOTALS, np.where(is_cell, CELLS, _NEITHER))
    return np.where(batch.status == STATUSES.index(WITHHELD), _NEITHER, sort)


def precision_classes(batch: NumberBatch) -> NDArray[np.int8]:
    """The class of each number by the nearness of the truth, at the release's confidence.

    The number's interval decides. It allows for suppression: smaller totals than those that passed
    it are not shown.
    """
    number = batch.integers("unclamped_count")
    low, high = batch.interval
    hundredfold = 100 * np.maximum(number - low, high - number)
    classes = np.zeros(len(batch), dtype=np.int8)
    for limit in RELATIVE_MARGINS:
        classes += hundredfold > limit * number
    return np.where(low <= 0, np.int8(MAY_BE_ZERO), classes)


@dataclass(frozen=True, eq=False)
class ReleaseSummary:
    """Everything that the page shows."""

    facts: ReleaseFacts
    universe: Universe
    levels: tuple[LevelSummary, ...]

    @property
    def family(self) -> TableFamily:
        """The table family of the levels, or the first one if there are several."""
        return self.levels[0].facts.family

    def by_family(self) -> tuple[ReleaseSummary, ...]:
        """One summary for each table family, with only the levels of that family."""
        families = self.universe.product.families
        levels = [
            [level for level in self.levels if level.facts.family is family] for family in families
        ]
        return tuple(replace(self, levels=tuple(of_family)) for of_family in levels)

    @property
    def detail(self) -> str:
        """Words for all that the tables show beyond totals."""
        return " and ".join(family.detail for family in self.universe.product.families)

    @property
    def record(self) -> RecordLayout:
        """The record that the product counts: persons or households."""
        return self.universe.product.record

    @property
    def confidence(self) -> Fraction:
        """The confidence of the release's margins, between 0 and 1."""
        return self.facts.options.confidence

    @property
    def confidence_text(self) -> str:
        """The confidence in percent, such as "95%"."""
        return f"{float(100 * self.confidence):.10g}%"

    @property
    def measured_levels(self) -> tuple[LevelSummary, ...]:
        """The levels that spent budget on at least one stage."""
        return tuple(level for level in self.levels if level.design.stages)

    def levels_of(self, tabulation_pass: Pass) -> tuple[LevelSummary, ...]:
        """The levels of one pass."""
        return tuple(
            level
            for level in self.levels
            if level.facts.geography.tabulation_pass == tabulation_pass
        )

    def loss_of(self, tabulation_pass: Pass) -> PrivacyLoss:
        """The privacy loss of a record in one pass, over all table families."""
        return loss_of_a_pass(
            level.design.budget for level in self.universe.levels_of(tabulation_pass)
        )

    @property
    def loss(self) -> PrivacyLoss:
        """The largest privacy loss of any record: each record is in one pass."""
        return loss_of_disjoint_passes(
            self.loss_of(tabulation_pass) for tabulation_pass in self.universe.passes
        )


def release_summary(release: ReleaseFolder) -> ReleaseSummary:
    """Count a release, its levels in parallel.

    Raises InvalidInput if a file of the release is damaged.
    """
    summaries = (partial(_level_summary, release, facts) for facts in release.universe.levels)
    levels = tuple(results_in_threads(summaries, pa.cpu_count()))
    return ReleaseSummary(release.facts, release.universe, levels)
