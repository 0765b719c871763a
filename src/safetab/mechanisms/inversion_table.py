"""Exact sampling by table inversion: a 64-bit word lies between two certified thresholds, or more bits are read."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.thresholds import lower_thresholds
from safetab.privacy.calibration import Noise

WORD_BITS = 64
_GUIDE_BITS = 16
_UNSURE = np.iinfo(np.int32).min

MoreBits = Callable[[int], int]
"""Of the n-th extension block, n = 1, 2, ...: 128 further bits."""


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
        self._guide_shift = np.uint64(max(word_bits - _GUIDE_BITS, 0))
        self._guide = self._guide_table()

    def _guide_table(self) -> NDArray[np.int32]:
        """For each beginning of a word its value, or _UNSURE if a threshold lies among the words that begin so."""
        beginnings = np.arange(1 << min(_GUIDE_BITS, self.word_bits), dtype=np.uint64)
        first = beginnings << self._guide_shift
        last = first + ((np.uint64(1) << self._guide_shift) - np.uint64(1))
        at_first = np.searchsorted(self._thresholds, first, side="left")
        at_last = np.searchsorted(self._thresholds, last, side="right")
        return np.where(at_first == at_last, at_last + self._least, _UNSURE).astype(np.int32)

    def values(self, first_words: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The values, and the positions of those that are undecided; quickest for as many words as a cache holds."""
        unused_bits = WORD_BITS - self.word_bits
        words = first_words >> np.uint64(unused_bits) if unused_bits else first_words
        values = self._guide.take((words >> self._guide_shift).view(np.int64))
        unsure = np.flatnonzero(values == _UNSURE)
        above = np.searchsorted(self._thresholds, words[unsure], side="right")
        values[unsure] = above + self._least
        is_undecided = self._thresholds[np.maximum(above, 1) - 1] == words[unsure]
        return values, unsure[is_undecided]

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
