"""Exact sampling by table inversion: a 64-bit word lies between two certified thresholds, or more bits are read."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.thresholds import lower_thresholds
from safetab.foundation.compiled import compiled
from safetab.mechanisms.inversion_loop import add_values
from safetab.privacy.calibration import Noise

WORD_BITS = 64
_GUIDE_BITS = 16
_MANY = 1 << 18  # from here on the compiled loop saves more than it costs to load

MoreBits = Callable[[int], int]
"""Gives 128 further bits: those of the n-th extension block, n = 1, 2, ..."""
ValueAdder = Callable[[NDArray[np.uint64], NDArray[np.int64]], NDArray[np.intp]]


class InversionTable:
    """The noise value that a word stands for.

    With U uniform on [0, 1) the value X is the least k with U < F(k), which has exactly the distribution F. The first
    bits of U are the word w. With t[k] = floor(F(k) 2^bits): w < t[k] means U < F(k), w > t[k] means U > F(k), and w
    = t[k] is undecided. Proof: docs/privacy.md#table-inversion.
    """

    def __init__(self, noise: Noise, word_bits: int = WORD_BITS) -> None:
        lower = lower_thresholds(noise, word_bits)
        upper = [2**word_bits - 1 - threshold for threshold in reversed(lower)]
        self.noise = noise
        self.word_bits = word_bits
        self._least = -len(lower)
        self._thresholds = np.array(lower + upper, dtype=np.uint64)
        self._shifts = (np.uint64(WORD_BITS - word_bits), np.uint64(max(word_bits - _GUIDE_BITS, 0)))

    @cached_property
    def _guide(self) -> NDArray[np.int32]:
        """For each beginning of a word the number of thresholds below all words that begin so."""
        beginnings = np.arange(1 << min(_GUIDE_BITS, self.word_bits), dtype=np.uint64)
        return np.searchsorted(self._thresholds, beginnings << self._shifts[1], side="left").astype(np.int32)

    def adder(self, draws: int) -> ValueAdder:
        """The quicker of two ways to the same numbers, for so many draws in all.

        Either adds to each sum the value of the first word in its row, and returns the positions of the undecided
        ones, to which nothing is added.
        """
        return self._add_values_compiled if draws >= _MANY else self._add_values

    def _add_values(self, words: NDArray[np.uint64], sums: NDArray[np.int64]) -> NDArray[np.intp]:
        used = words[:, 0] >> self._shifts[0]
        below = np.searchsorted(self._thresholds, used, side="left")
        is_decided = self._thresholds[below] != used  # the last threshold is the greatest word, so `below` is inside
        sums += np.where(is_decided, below + self._least, 0)
        return np.flatnonzero(~is_decided)

    def _add_values_compiled(self, words: NDArray[np.uint64], sums: NDArray[np.int64]) -> NDArray[np.intp]:
        undecided = np.empty(len(words), dtype=np.int64)
        found = compiled(add_values)(words, self._thresholds, self._guide, self._shifts, self._least, sums, undecided)
        return undecided[:found]

    def least_word_above(self, value: int) -> int:
        """No word below this one gives noise above `value`; the word itself may be undecided."""
        position = value - self._least
        if position < 0:
            return 0
        last = len(self._thresholds) - 1
        return int(self._thresholds[min(position, last)]) << (WORD_BITS - self.word_bits)

    def resolved(self, bits: int, more_bits: MoreBits) -> int:
        """The value of an undecided draw, given its first 128 bits; reads more until it is certain."""
        known, number, extension = 128, bits, 0
        while True:
            if 0 < number < 2**known - 1:
                low = self.noise.quantile(Fraction(number, 2**known))
                high = self.noise.quantile(Fraction(number + 1, 2**known))
                if low == high:
                    return low
            extension += 1
            number, known = (number << 128) | more_bits(extension), known + 128


@lru_cache(maxsize=64)
def inversion_table(noise: Noise) -> InversionTable:
    return InversionTable(noise)
