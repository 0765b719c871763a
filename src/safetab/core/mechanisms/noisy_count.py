"""NoisyCount: the only place where exact counts become numbers that may be released."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.core.mechanisms.inversion_table import inversion_table, write_indices_from
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import DrawingRight
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.model.products.product import Shape


def noisy_count(counts: ExactCounts, shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
    """Counts plus independent noise of the event that was paid for.

    Returns a row for each group and a column for each cell.

    Neighbours: add or remove one record, or all records of one unit. The level's counts move by at
    most its `Sensitivity`: `l2_squared` in squared L2 norm and `l1` in L1 norm.
    Spends: what `right` was charged for, before this is called.
    Proof: docs/privacy.md#noisy-count (sigma squared = l2_squared / (2 rho); scale = l1 / epsilon).
    """
    if counts.confidential_counts.shape[1] != shape.cells:
        raise ValueError("the counts are of another shape")
    noisy = np.empty(counts.confidential_counts.shape, dtype=np.int64, order="F")
    for cell in range(shape.cells):
        draws = _Draws(counts.indices, shape, cell, right)
        _add_noise(counts.confidential_counts[:, cell], draws, noisy[:, cell])
    return noisy


def indices_whose_noise_may_exceed(
    value: int, first: int, end: int, right: DrawingRight
) -> NDArray[np.int64]:
    """The indices in [first, end) whose noise for a total exceeds `value`.

    A few undecided ones may be among them.
    Neighbours and cost: as `noisy_count`, whose draws these are; nothing is drawn a second time.
    Proof: docs/privacy.md#lazy-empty-groups.
    """
    least_word = np.uint64(inversion_table(right.event.noise).least_word_above(value))
    prefix = _prefix(right, right.event.family.total, cell=0)
    work = (
        end - first
    ) // 64  # compiled, a word takes a nanosecond less: it pays for many millions
    write = compiled_if_worthwhile(write_indices_from, work, _write_indices_from)
    indices, found = np.empty(end - first, dtype=np.int64), 0  # mostly never touched
    for start, words in right.bits.first_words_of_range(prefix, first, end):
        found += write(words, least_word, start, indices[found:])
    return indices[:found].copy()


def _write_indices_from(
    words: NDArray[np.uint64], least: np.uint64, first: int, indices: NDArray[np.int64]
) -> int:
    """The numpy form of the loop, on whole arrays."""
    positions = np.flatnonzero(words >= least)
    np.add(positions, first, out=indices[: len(positions)])
    return len(positions)


@dataclass(frozen=True, slots=True)
class _Draws:
    """The draws of one cell of a shape: one at each of the ascending indices."""

    indices: NDArray[np.int64]
    shape: Shape
    cell: int
    right: DrawingRight

    def values(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """The noise, part by part."""
        table = inversion_table(self.right.event.noise)
        values_of = table.inverter(len(self.indices))
        for part, words in self.right.bits.batches(
            _prefix(self.right, self.shape, self.cell), self.indices
        ):
            values, undecided = values_of(words)
            if len(undecided):
                self._resolve(values, undecided, words, part.start)
            yield part, values

    def _resolve(
        self,
        values: NDArray[np.int64],
        undecided: NDArray[np.intp],
        words: NDArray[np.uint64],
        start: int,
    ) -> None:
        """Write the values of a part's undecided words.

        As many more of their bits are read as needed.
        """
        table = inversion_table(self.right.event.noise)
        for position, (first, second) in zip(
            undecided.tolist(), words[undecided].tolist(), strict=True
        ):
            extension = partial(self._extension_block, start + position)
            values[position] = table.resolved((first << 64) | second, extension)

    def _extension_block(self, position: int, number: int) -> int:
        """More bits of one draw, from addresses that no first block has."""
        prefix = _prefix(self.right, self.shape, self.cell, extension=number)
        first, second = self.right.bits.words(prefix, self.indices[position : position + 1])[0]
        return (int(first) << 64) | int(second)


def _add_noise(counts: NDArray[np.int64], draws: _Draws, noisy: NDArray[np.int64]) -> None:
    """Write each count plus its draw. Both are far below 2^62."""
    for part, noise in draws.values():
        np.add(counts[part], noise, out=noisy[part])


def _prefix(right: DrawingRight, shape: Shape, cell: int, extension: int = 0) -> int:
    """The 64-bit address prefix: event 24 bits, shape 8, cell 8, extension 24."""
    number = right.event.family.number_of(shape)
    if not (0 <= number < 1 << 8 and 0 <= cell < 1 << 8 and 0 <= extension < 1 << 24):
        raise OverflowError("an address has no room for this shape, cell or extension block")
    return (right.address_prefix << 40) | (number << 32) | (cell << 24) | extension
