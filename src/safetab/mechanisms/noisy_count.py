"""NoisyCount: the one place where exact counts become numbers that may leave."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.mechanisms.inversion_table import inversion_table
from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import DrawingRight
from safetab.products.product import Shape

_INDICES_AT_ONCE = 1 << 16


def noisy_count(counts: ExactCounts, shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
    """Counts plus independent noise of the event that was paid for: a row for each group, a column for each cell.

    Neighbours: add or remove one person, who changes at most `stability` cells of the level, by one each.
    Spends: what `right` was charged for, before this is called.
    Proof: docs/privacy.md#noisy-count (sigma squared = stability / (2 rho); scale = stability / epsilon).
    """
    if counts.confidential_counts.shape[1] != shape.cells:
        raise ValueError("the counts are of another shape")
    noisy = np.asfortranarray(counts.confidential_counts.copy())
    for cell in range(shape.cells):
        _add_noise(noisy[:, cell], _Draws(counts.indices, shape, cell, right), noisy.size)
    return noisy


def indices_whose_noise_may_exceed(value: int, first: int, end: int, right: DrawingRight) -> NDArray[np.int64]:
    """The indices in [first, end) whose noise of a total is above `value`, and perhaps a few undecided ones.

    Neighbours and cost: as `noisy_count`, whose draws these are; nothing is drawn a second time.
    Proof: docs/privacy.md#lazy-empty-groups.
    """
    least_word = np.uint64(inversion_table(right.event.noise).least_word_above(value))
    prefix = _prefix(right, right.event.family.total, cell=0)
    found: list[NDArray[np.int64]] = []
    for start in range(first, end, _INDICES_AT_ONCE):
        words = right.bits.first_words_of_range(prefix, start, min(start + _INDICES_AT_ONCE, end))
        found.append(np.flatnonzero(words >= least_word) + start)
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Draws:
    """One cell of a shape at rising indices: a draw for each."""

    indices: NDArray[np.int64]
    shape: Shape
    cell: int
    right: DrawingRight

    def extension_block(self, position: int, number: int) -> int:
        """Further bits of one draw, from addresses that no first block has."""
        prefix = _prefix(self.right, self.shape, self.cell, extension=number)
        first, second = self.right.bits.words(prefix, self.indices[position : position + 1])[0]
        return (int(first) << 64) | int(second)


def _add_noise(sums: NDArray[np.int64], draws: _Draws, draws_in_all: int) -> None:
    """Adds to each sum its draw; both are far below 2^62."""
    inversion = inversion_table(draws.right.event.noise)
    add_values = inversion.adder(draws_in_all)
    for part, words in draws.right.bits.batches(_prefix(draws.right, draws.shape, draws.cell), draws.indices):
        for undecided in add_values(words, sums[part]).tolist():
            first, second = (int(word) for word in words[undecided])
            extension = partial(draws.extension_block, part.start + undecided)
            sums[part.start + undecided] += inversion.resolved((first << 64) | second, extension)


def _prefix(right: DrawingRight, shape: Shape, cell: int, extension: int = 0) -> int:
    """64 bits: 24 of the event, 8 of the shape, 8 of the cell, 24 of the extension."""
    number = right.event.family.number_of(shape)
    if not (0 <= number < 1 << 8 and 0 <= cell < 1 << 8 and 0 <= extension < 1 << 24):
        raise OverflowError("an address has no room for this shape, cell or extension block")
    return (right.address_prefix << 40) | (number << 32) | (cell << 24) | extension
