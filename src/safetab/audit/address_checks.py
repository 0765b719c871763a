"""Whether any two numbers share random bits: at all kinds of addresses, and at the edges where an index could wrap."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.audit.verdicts import Verdict, verdict
from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import IterationLevel
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.mechanisms.noisy_count import noisy_count
from safetab.planning.level_design import LevelDesign
from safetab.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import DrawingRight, Ledger
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.privacy.stages import Stage
from safetab.products.all_products import PRODUCTS
from safetab.products.product import Product, Selector, Shape, TableFamily, Thresholds
from safetab.tabulation.empty_groups import EmptyGroups

NO_SHARED_BITS, LAZY = "no two numbers share bits", "empty groups are published as if drawn one by one"
_WIDTH = 2_000  # of the noise: two draws are equal once in 7,000 times
_RUNS = 6  # two numbers agree in all of them once in 6 * 10^22 times; there are 5 * 10^10 pairs
_LAST_OF_A_NATION = 85_000 * 1_600 - 1  # more tracts and Detailed iterations than a nation has
_EDGES = (1 << 14, 1 << 21, 1 << 24, 1 << 32, _LAST_OF_A_NATION)
_NEIGHBOURS = 130
_INDICES = np.unique(
    [*range(_NEIGHBOURS), *(1 << bits for bits in range(7, 41)), *(edge + step for edge in _EDGES for step in (-1, 1))]
)
_STAGES = {
    Selector.NOISY_STAGE_1: (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY),
    Selector.PUBLISHED_TOTALS: (Stage.STAGE_2,),
}
_LAZY_KEYS = 30  # a group may be published with a chance of 0.37: 30 keys miss it once in a million times
_LAZY_REACH = 9_000
_FIRST_THRESHOLD, _SUPPRESSED_UP_TO = 5, 4


@dataclass(frozen=True, slots=True)
class _Column:
    """One cell of a shape at one stage of one level."""

    event: MeasurementEvent
    shape: Shape
    cell: int

    def __str__(self) -> str:
        event = self.event
        return f"{event.product.name} {event.level}, stage {int(event.stage)}, {self.shape.label} cell {self.cell}"


def shared_bits_check() -> Verdict:
    """Wide noise at sampled groups of every cell, stage, level and family, drawn with several keys and sorted."""
    events = [*_events()]
    columns = [
        _Column(event, shape, cell) for event in events for shape in _shapes(event) for cell in range(shape.cells)
    ]
    rights = [_rights(events) for _ in range(_RUNS)]
    runs = [_drawn(of_a_key, _INDICES) for of_a_key in rights]
    faults = [
        f"{columns[one]}: neighbours read as a stream have other noise" for one in _other_streams(rights[0], runs[0])
    ]
    signs = np.where(runs[0] < 0, -1, 1)  # opposite noise is no better than the same
    runs = [signs * run for run in runs]
    numbers = np.stack([_packed(runs[: _RUNS // 2]), _packed(runs[_RUNS // 2 :])])
    order = np.lexsort(numbers)
    is_same = (numbers[:, order[1:]] == numbers[:, order[:-1]]).all(axis=0)
    pairs = zip(order[:-1][is_same].tolist(), order[1:][is_same].tolist(), strict=True)
    faults += [_shared(columns, *sorted(pair)) for pair in pairs]
    seen = f"{numbers.shape[1]:,} numbers of {len(columns):,} cells, at indices up to 2^40, false alarm 1e-12"
    return verdict(NO_SHARED_BITS, faults, seen, "any two of these numbers that share their noise")


def _packed(runs: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Several draws of each number in one integer; wide noise stays far below 2^20."""
    found = np.zeros_like(runs[0])
    for drawn in runs:
        found = (found << 21) + drawn
    return found


def _shared(columns: Sequence[_Column], one: int, other: int) -> str:
    (column, group), (second, other_group) = (divmod(place, len(_INDICES)) for place in (one, other))
    groups = _INDICES[group], _INDICES[other_group]
    if column == second:
        return f"{columns[column]}: groups {groups[0]} and {groups[1]} share their noise"
    return f"{columns[column]} and {columns[second]} share their noise"


def _events() -> Iterator[MeasurementEvent]:
    for product in PRODUCTS:
        for family in product.families:
            for level in POPULATION_GROUP_LEVELS:
                yield from (_event(product, family, level, stage, _WIDTH**2) for stage in _STAGES[product.selector])


def _event(
    product: Product, family: TableFamily, level: PopulationGroupLevel, stage: Stage, sigma_squared: int
) -> MeasurementEvent:
    """An event whose noise has this variance."""
    return MeasurementEvent(product, family, level, stage, PrivacyDefinition.ZCDP, 1, Fraction(1, 2 * sigma_squared))


def _shapes(event: MeasurementEvent) -> Sequence[Shape]:
    return event.family.shapes if event.stage is Stage.STAGE_2 else (event.family.total,)


def _rights(events: Sequence[MeasurementEvent]) -> list[DrawingRight]:
    """Rights from a ledger with its own key and enough budget."""
    budgets = {event.measured: 2 * event.cost for event in events}
    ledger = Ledger(budgets, AddressedBits(os.urandom(KEY_BYTES)))
    return [ledger.charge(event) for event in events]


def _drawn(rights: Sequence[DrawingRight], indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The noise of every column, one after the other."""
    parts = [_noise(indices, shape, right).T.reshape(-1) for right in rights for shape in _shapes(right.event)]
    return np.concatenate(parts)


def _other_streams(rights: Sequence[DrawingRight], drawn: NDArray[np.int64]) -> list[int]:
    """The columns whose first groups, read as one stream, have other noise than address by address.

    `drawn` has gaps, so it was read address by address. Where both readings agree, a stream shares no bits either.
    """
    first = _INDICES[:_NEIGHBOURS]
    streams = _drawn(rights, first).reshape(-1, len(first))
    is_other = streams != drawn.reshape(-1, len(_INDICES))[:, : len(first)]
    return [int(column) for column in np.flatnonzero(is_other.any(axis=1))]


def _noise(indices: NDArray[np.int64], shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
    nobody = np.zeros((len(indices), shape.cells), dtype=np.int64)
    return noisy_count(ExactCounts(indices, nobody), shape, right)


def empty_groups_check() -> Verdict:
    """Empty groups that are looked up must be those whose noise, drawn one by one, lets them be published.

    Around every edge, in ranges that end there, begin there and go across; more than 2^14 groups are asked for at once.
    """
    faults, looked_at = list[str](), 0
    for _ in range(_LAZY_KEYS):
        rights = _rights([_event_of_tracts(stage, variance) for stage, variance in _TRACTS.items()])
        empty = EmptyGroups(_DESIGN, *rights)
        for edge in _EDGES:
            indices = np.arange(edge - _LAZY_REACH, edge + _LAZY_REACH)
            looked_at += len(indices)
            of_stage_1, of_stage_2 = noise = [_each_by_itself(indices, right) for right in rights]
            if not np.array_equal(noise, [_totals(indices, right) for right in rights]):
                faults.append(f"around {edge:,}: groups drawn together get different noise than groups drawn alone")
            may_be_published = (of_stage_1 >= _FIRST_THRESHOLD) | (of_stage_2 > _SUPPRESSED_UP_TO)
            for part in (slice(_LAZY_REACH), slice(_LAZY_REACH, None), slice(None)):
                first, end, expected = indices[part][0], indices[part][-1] + 1, indices[part][may_be_published[part]]
                different = np.setxor1d(empty.that_may_be_published(int(first), int(end)), expected)
                faults += [f"group {one:,} is not published as its noise requires" for one in different.tolist()[:1]]
    seen = f"{looked_at:,} groups around 2^14, 2^21, 2^24, 2^32 and a nation's last"
    return verdict(LAZY, faults, seen, "an empty group at an edge that the program skips")


_PRODUCT = next(product for product in PRODUCTS if product.selector is Selector.NOISY_STAGE_1)
_TRACTS = {Stage.STAGE_1: 90, Stage.STAGE_2: 10}
_LEVEL = PopulationGroupLevel(GeographyLevel.TRACT, IterationLevel.DETAILED)
_DESIGN = LevelDesign(
    product=_PRODUCT,
    family=_PRODUCT.families[0],
    level=_LEVEL,
    definition=PrivacyDefinition.ZCDP,
    stability=1,
    budget=Fraction(1),
    thresholds=Thresholds((_FIRST_THRESHOLD, 8, 12)),
    stages={},
    suppression_threshold=_SUPPRESSED_UP_TO,
)


def _event_of_tracts(stage: Stage, sigma_squared: int) -> MeasurementEvent:
    return _event(_PRODUCT, _PRODUCT.families[0], _LEVEL, stage, sigma_squared)


def _totals(indices: NDArray[np.int64], right: DrawingRight) -> NDArray[np.int64]:
    return _noise(indices, right.event.family.total, right)[:, 0]


def _each_by_itself(indices: NDArray[np.int64], right: DrawingRight) -> NDArray[np.int64]:
    """Every second group and then the others: never two neighbours at once, which are read as one stream."""
    found = np.empty_like(indices)
    for first in (0, 1):
        found[first::2] = _totals(indices[first::2], right)
    return found
