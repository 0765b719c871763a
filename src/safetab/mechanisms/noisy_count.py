"""NoisyCount: the one place where exact counts become numbers that may leave."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.mechanisms.inversion_table import inversion_table
from safetab.mechanisms.random_bits import AddressedBits
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import DrawingRight
from safetab.spec.tables import Table

_PLACES_AT_ONCE = 1 << 16
_TABLES = tuple(Table)


def noisy_count(counts: ExactCounts, table: Table, right: DrawingRight, bits: AddressedBits) -> NDArray[np.int64]:
    """Counts plus independent noise of the event that was paid for: a row for each place, a column for each cell.

    Neighbours: add or remove one person, who changes at most `stability` cells of the level, by one each.
    Spends: what `right` was charged for, before this is called.
    Proof: docs/privacy.md#noisy-count (sigma squared = stability / (2 rho); scale = stability / epsilon).
    """
    if counts.confidential_counts.shape[1] != table.cells:
        raise ValueError("the counts are of another table")
    noisy = counts.confidential_counts.copy()
    for cell in range(table.cells):
        noisy[:, cell] += _noise(counts.places, table, cell, right, bits)  # both are far below 2^62
    return noisy


def places_whose_noise_may_exceed(
    value: int, first: int, end: int, right: DrawingRight, bits: AddressedBits
) -> NDArray[np.int64]:
    """The places from `first` up to `end` whose noise of a total is above `value`, and perhaps a few undecided ones.

    Neighbours and cost: as `noisy_count`, whose draws these are; nothing is drawn a second time.
    Proof: docs/privacy.md#lazy-empty-groups.
    """
    least_word = np.uint64(inversion_table(right.event.noise).least_word_above(value))
    prefix = _prefix(right, Table.TOTAL, cell=0)
    found: list[NDArray[np.int64]] = []
    for start in range(first, end, _PLACES_AT_ONCE):
        words = bits.first_words_of_range(prefix, start, min(start + _PLACES_AT_ONCE, end))
        found.append(np.flatnonzero(words >= least_word) + start)
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _noise(
    places: NDArray[np.int64], table: Table, cell: int, right: DrawingRight, bits: AddressedBits
) -> NDArray[np.int64]:
    inversion = inversion_table(right.event.noise)
    noise = np.empty(len(places), dtype=np.int64)
    for part, words in bits.batches(_prefix(right, table, cell), places):
        noise[part], undecided = inversion.values(words[:, 0])
        for position in undecided.tolist():
            first, second = (int(word) for word in words[position])
            extension = _Extension(int(places[part][position]), table, cell, right, bits)
            noise[part.start + position] = inversion.resolved((first << 64) | second, extension.block)
    return noise


class _Extension:
    """Further bits of one draw, from addresses that no first block has."""

    def __init__(self, place: int, table: Table, cell: int, right: DrawingRight, bits: AddressedBits) -> None:
        self._place = np.array([place], dtype=np.int64)
        self._address = (right, table, cell)
        self._bits = bits

    def block(self, number: int) -> int:
        first, second = self._bits.words(_prefix(*self._address, extension=number), self._place)[0]
        return (int(first) << 64) | int(second)


def _prefix(right: DrawingRight, table: Table, cell: int, extension: int = 0) -> int:
    """64 bits: 24 of the event, 8 of the table, 8 of the cell, 24 of the extension."""
    if not 0 <= extension < 1 << 24:
        raise OverflowError("a draw ran out of extension blocks")
    event = right.address_prefix
    return (event << 40) | (_TABLES.index(table) << 32) | (cell << 24) | extension
