"""What a level's numbers come to: counted once, batch by batch, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.census.iterations import IterationKind
from safetab.distributions.noise_distribution import DEFAULT_BITS
from safetab.distributions.precision import working_precision
from safetab.planning.level_design import LevelDesign
from safetab.privacy.stages import Stage
from safetab.products.product import TOTAL_LINE, Selector, Shape
from safetab.release.damage import damage_told
from safetab.release.numbers.level_numbers import RULES
from safetab.release.numbers.number_columns import COPIED, PUBLISHED, STATUSES, WITHHELD
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import ReleaseLevel
from safetab.reports.pairs import Pairs, PairTally

RELATIVE_MARGINS = (5, 10, 25, 50)
"""In percent: a number is in the first class whose share of it holds the distance to either end of its interval."""
CLASSES = len(RELATIVE_MARGINS) + 2
MAY_BE_ZERO = CLASSES - 1
"""The last class: numbers that a true zero does not contradict. The one before has the others that are wider."""

TOTALS, CELLS = 0, 1
"""Which numbers of a table are looked at: its total, or its single cells."""
_NEITHER = 2

_SHOWN = [STATUSES.index(PUBLISHED), STATUSES.index(COPIED)]
_ROWS_AT_ONCE = 1 << 17
_TEXTS = ("region_id", "iteration_code", "table", "table_id", "status", "rule")
_NUMBERS = (
    "line", "count", "unclamped_count", "unclamped_margin_of_error", "interval_low", "interval_high", "noise_draws",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LevelSummary:
    """One level of a release, counted. Groups go by the status of their total."""

    facts: ReleaseLevel
    entities: int
    rows: int
    groups: NDArray[np.int64]  # by iteration, STATUSES and shape
    precision: NDArray[np.int64]  # numbers that are shown, by TOTALS or CELLS, shape and class of precision
    negative: NDArray[np.int64]  # numbers below 0, by TOTALS or CELLS
    ruled: NDArray[np.int64]  # numbers that a rule acted on, by RULES
    pairs: Pairs

    @property
    def design(self) -> LevelDesign:
        return self.facts.design

    @property
    def possible_groups(self) -> int:
        return self.entities * int(self.facts.is_tabulated.sum())

    @cached_property
    def _tabulated(self) -> NDArray[np.int64]:
        """By STATUSES and shape, of the iterations that are tabulated at this level."""
        return np.asarray(self.groups[self.facts.is_tabulated].sum(axis=0))

    @property
    def copied_beyond(self) -> int:
        """Groups that this level doesn't tabulate and that were copied to it."""
        return int(self.groups[~self.facts.is_tabulated].sum())

    def with_status(self, status: str) -> int:
        return int(self._tabulated[STATUSES.index(status)].sum())

    def own_with_shape(self, shape: Shape) -> int:
        return int(self._tabulated[STATUSES.index(PUBLISHED), self.design.family.number_of(shape)])

    @property
    def own_groups(self) -> int:
        return self.with_status(PUBLISHED)

    @property
    def suppressed(self) -> int:
        return self.possible_groups - int(self._tabulated.sum())

    @property
    def shown_groups(self) -> int:
        """Groups with a total that everybody can read, wherever it was measured, of those that are tabulated here."""
        return int(self._tabulated[_SHOWN].sum())

    @property
    def shown_totals(self) -> int:
        return int(self.precision[TOTALS].sum())

    @property
    def totals_that_may_be_zero(self) -> int:
        return int(self.precision[TOTALS, :, MAY_BE_ZERO].sum())

    def of_kind(self, kind: IterationKind) -> KindSummary:
        is_kind = np.array([one.kind is kind for one in self.facts.iterations], dtype=np.bool_)
        shown = self.groups[is_kind & self.facts.is_tabulated][:, _SHOWN]
        possible = self.entities * int((is_kind & self.facts.is_tabulated).sum())
        return KindSummary(possible, int(shown.sum()), int(shown[:, :, 1:].sum()))

    @cached_property
    def empty_groups_published(self) -> float:
        """At most so many published groups are in truth empty, on average: so many if every group were empty."""
        if not self.design.product.has_total_only:
            return 0.0  # published totals select: nothing is published about other groups
        if self.publishes_every_group or not self.possible_groups:
            return float(self.possible_groups)
        tabulated = [one for one, is_in in zip(self.facts.iterations, self.facts.is_tabulated, strict=True) if is_in]
        total_only = sum(one.is_total_only for one in tabulated)
        if len(tabulated) == total_only:
            return float(self.entities * total_only)
        chance = self.design.publication_chance()
        with working_precision(DEFAULT_BITS):
            bound = (chance * self.entities * (len(tabulated) - total_only)).upper()
        return float(np.nextafter(float(bound), inf)) + self.entities * total_only

    @property
    def publishes_every_group(self) -> bool:
        selects = self.design.product.selector is Selector.NOISY_STAGE_1
        return selects and bool(self.design.stages) and self.design.suppression_threshold is None


@dataclass(frozen=True, slots=True)
class KindSummary:
    """Groups of one kind: how many there could be, have a total, and have more than it."""

    possible: int
    shown: int
    detailed: int


def level_summary(release: ReleaseFolder, facts: ReleaseLevel) -> LevelSummary:
    """Raises InvalidInput if the level's file is damaged."""
    tally = _Tally(release, facts)
    path = release.numbers_of(facts)
    if path is not None:
        with damage_told(path), pa.parquet.ParquetFile(path, read_dictionary=list(_TEXTS)) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=[*_TEXTS, *_NUMBERS]):
                tally.add(batch)
    return tally.summary()


class _Tally:
    """Adds up batches of one level's numbers."""

    def __init__(self, release: ReleaseFolder, facts: ReleaseLevel) -> None:
        self._facts = facts
        self._entities = len(release.universe.entities[facts.geography].ids)
        self._positions = {one.code: position for position, one in enumerate(facts.iterations)}
        self._family = facts.design.family
        self._shapes = len(self._family.shapes)
        totals = release.universe.product.total_table_ids
        self._is_total_table = {one: int(one in totals) for one in release.universe.product.table_ids}
        self._groups = np.zeros(len(facts.iterations) * len(STATUSES) * self._shapes, dtype=np.int64)
        self._precision = np.zeros((_NEITHER + 1) * self._shapes * CLASSES, dtype=np.int64)
        self._negative = np.zeros(_NEITHER + 1, dtype=np.int64)
        self._ruled = np.zeros(len(RULES), dtype=np.int64)
        self._rows = 0
        self._pairs = PairTally(release.universe, facts)

    def add(self, batch: pa.RecordBatch) -> None:
        iteration = _looked_up(batch, "iteration_code", self._positions)
        shape = _looked_up(batch, "table", self._facts.design.product.number_of_label)
        status = _looked_up(batch, "status", {one: number for number, one in enumerate(STATUSES)})
        rule = _looked_up(batch, "rule", {one.value: number for number, one in enumerate(RULES)})
        is_total = (_looked_up(batch, "table_id", self._is_total_table) == 1) & (batch["line"].to_numpy() == TOTAL_LINE)
        sort = np.where(is_total, TOTALS, np.where(batch["noise_draws"].to_numpy() == 1, CELLS, _NEITHER))
        sort[status == STATUSES.index(WITHHELD)] = _NEITHER
        count = _numbers(batch, "count")
        self._rows += len(batch)
        code = (iteration * len(STATUSES) + status) * self._shapes + shape
        self._groups += np.bincount(code[is_total], minlength=len(self._groups))
        self._ruled += np.bincount(rule[rule >= 0], minlength=len(self._ruled))
        position = (sort * self._shapes + shape) * CLASSES + precision_classes(batch)
        self._precision += np.bincount(position, minlength=len(self._precision))
        self._negative += np.bincount(sort[count < 0], minlength=_NEITHER + 1)
        ids, chosen = batch["region_id"], np.flatnonzero(sort == TOTALS)
        region = ids.dictionary.cast(pa.int64()).to_numpy()[_indices(ids)[chosen]]
        self._pairs.add(region, iteration[chosen], count[chosen])

    def summary(self) -> LevelSummary:
        return LevelSummary(
            facts=self._facts,
            entities=self._entities,
            rows=self._rows,
            groups=self._groups.reshape(-1, len(STATUSES), self._shapes),
            precision=self._precision.reshape(-1, self._shapes, CLASSES)[:_NEITHER],
            negative=self._negative[:_NEITHER],
            ruled=self._ruled,
            pairs=self._pairs.pairs(),
        )


def precision_classes(batch: pa.RecordBatch) -> NDArray[np.int8]:
    """How near to each number the truth is, at the release's confidence.

    By the selection-aware interval of a total that passed suppression, since smaller ones are not shown; any other
    number has its margin of error on both sides.
    """
    number, margin = (_numbers(batch, column) for column in ("unclamped_count", "unclamped_margin_of_error"))
    low, farthest = number - margin, margin
    if batch["interval_low"].null_count < len(batch):
        is_selected = np.asarray(batch["interval_low"].is_valid())
        low = np.where(is_selected, _numbers(batch, "interval_low"), low)
        above = _numbers(batch, "interval_high") - number
        farthest = np.where(is_selected, np.maximum(number - low, above), margin)
    hundredfold = 100 * farthest
    classes = np.zeros(len(batch), dtype=np.int8)
    for limit in RELATIVE_MARGINS:
        classes += hundredfold > limit * number
    return np.where(low <= 0, np.int8(MAY_BE_ZERO), classes)


def _looked_up(batch: pa.RecordBatch, column: str, positions: Mapping[str, int]) -> NDArray[np.int64]:
    """For each row the position of its text; -1 where there is none."""
    values = [positions[text] for text in batch[column].dictionary.to_pylist()]
    return np.asarray(np.array([*values, -1], dtype=np.int64)[_indices(batch[column])])


def _indices(column: pa.DictionaryArray) -> NDArray[np.integer]:
    return np.asarray(column.indices.fill_null(-1) if column.null_count else column.indices)


def _numbers(batch: pa.RecordBatch, column: str) -> NDArray[np.int64]:
    return np.asarray(batch[column].fill_null(0))


def margin_of(design: LevelDesign, stage: Stage, draws: int, confidence: Fraction) -> int | None:
    """The margin of error of a sum of so many numbers of a stage; None if the level doesn't have the stage."""
    return design.noise(stage).sum_of(draws).margin_of_error(confidence) if stage in design.stages else None
