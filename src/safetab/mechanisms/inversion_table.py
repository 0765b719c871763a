"""Exact sampling by table inversion: a 64-bit word lies between two certified thresholds, or more bits are read."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.thresholds import lower_thresholds
from safetab.foundation.compiled import compiled, compiling_pays
from safetab.mechanisms.inversion_loop import write_values
from safetab.privacy.calibration import Noise

WORD_BITS = 64
_LEAST_GUIDE_BITS, _MOST_GUIDE_BITS = 12, 16  # 16 KB for narrow noise, 256 KB for wide: what caches hold

MoreBits = Callable[[int], int]
"""Gives 128 further bits: those of the n-th extension block, n = 1, 2, ..."""
Inverter = Callable[[NDArray[np.uint64]], tuple[NDArray[np.int64], NDArray[np.intp]]]
"""Gives the value of the first word in each row, and the positions of the undecided ones, whose value is 0 so far."""


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
        self._shifts = (np.uint64(WORD_BITS - word_bits), np.uint64(word_bits - self._guide_bits))

    @property
    def _guide_bits(self) -> int:
        """So many that few beginnings of a word have more than one threshold."""
        wanted = len(self._thresholds).bit_length() + 3
        return min(max(wanted, _LEAST_GUIDE_BITS), _MOST_GUIDE_BITS, self.word_bits)

    @cached_property
    def _guide(self) -> NDArray[np.uint32]:
        """For each beginning of a word the number of thresholds below all words that begin so."""
        beginnings = np.arange(1 << self._guide_bits, dtype=np.uint64)
        return np.searchsorted(self._thresholds, beginnings << self._shifts[1], side="left").astype(np.uint32)

    @cached_property
    def _ended_thresholds(self) -> NDArray[np.uint64]:
        """With the last one twice: the compiled loop looks one ahead."""
        return np.append(self._thresholds, self._thresholds[-1])

    def inverter(self, draws: int) -> Inverter:
        """The quicker of two ways to the same numbers, for so many draws more."""
        is_compiled = compiling_pays(write_values, draws, instead_of_arrays=True)
        return self._values_compiled if is_compiled else self._values

    def _values(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        used = words[:, 0] >> self._shifts[0]
        below = self._thresholds_below(used)
        is_decided = self._thresholds[below] != used  # the last threshold is the greatest word, so `below` is inside
        return np.where(is_decided, below + self._least, 0), np.flatnonzero(~is_decided)

    def _thresholds_below(self, used: NDArray[np.uint64]) -> NDArray[np.intp]:
        """How many thresholds are below each word: with the guide if there are as many words as it has entries."""
        if len(used) < 1 << self._guide_bits:
            return np.searchsorted(self._thresholds, used, side="left")
        below: NDArray[np.intp] = self._guide[used >> self._shifts[1]].astype(np.intp)
        below += self._thresholds[below] < used
        further = np.flatnonzero(self._thresholds[below] < used)
        below[further] = np.searchsorted(self._thresholds, used[further], side="left")
        return below

    def _values_compiled(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        values, undecided = np.empty((2, len(words)), dtype=np.int64)
        table = (self._ended_thresholds, self._guide, self._shifts, self._least)
        found = compiled(write_values)(words, *table, values, undecided)
        return values, undecided[:found]

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
