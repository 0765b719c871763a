"""Noise values from random words, by table inversion."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.foundation.compiled import compiled, compiling_pays


def _write_values(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    words: NDArray[np.uint64], thresholds: NDArray[np.uint64], guide: NDArray[np.uint32],
    shifts: tuple[np.uint64, np.uint64], least: int, values: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:  # fmt: skip
    """Write the value of each word, or 0 and its position if the word is undecided.

    A loop to be compiled. Returns the number of undecided words. For each prefix of a word, `guide`
    has the number of thresholds below all words with that prefix, and the loop counts on from
    there. The largest word ends `thresholds`, twice, so the loop ends. `shifts` drop the unused
    bits, and then all bits after the prefix.
    """
    one = np.uint64(1)  # unsigned positions: an index that could be negative takes twice as long
    found = 0
    for position in range(len(values)):
        word = words[position, 0] >> shifts[0]
        below = np.uint64(guide[word >> shifts[1]])
        while (
            thresholds[below + one] < word
        ):  # rare: the last step is taken without a branch to guess
            below += one
        here, ahead = thresholds[below], thresholds[below + one]
        if here == word or ahead == word:  # noqa: PLR1714 - compiled as written
            values[position] = 0
            undecided[found] = position
            found += 1
        else:
            values[position] = np.int64(below) + least + np.int64(here < word)
    return found


def write_indices_from(
    words: NDArray[np.uint64], least: np.uint64, first: int, indices: NDArray[np.int64]
) -> int:
    """Write the indices of the words that are at least `least`.

    The first word has index `first`.
    """
    found = 0
    for position in range(len(words)):
        if words[position] >= least:
            indices[found] = first + position
            found += 1
    return found


_WORD_BITS = 64
_LEAST_GUIDE_BITS, _MOST_GUIDE_BITS = (
    12,
    16,
)  # 16 KB for narrow noise, 256 KB for wide: what caches hold

_MoreBits = Callable[[int], int]
"""Gives 128 further bits: those of the n-th extension block, n = 1, 2, ..."""
_Inverter = Callable[[NDArray[np.uint64]], tuple[NDArray[np.int64], NDArray[np.intp]]]
"""The type of an inverter.

It gives the value of the first word in each row, and the positions of the undecided ones, whose
value is 0 so far.
"""


class InversionTable:
    """The noise value of a word.

    With U uniform on [0, 1), the value X is the smallest k with U < F(k), which has exactly the
    distribution F. The first bits of U are the word w. With t[k] = floor(F(k) 2^bits), w < t[k]
    means U < F(k), w > t[k] means U > F(k), and w = t[k] is undecided. Proof:
    docs/privacy.md#table-inversion.
    """

    def __init__(self, noise: NoiseDistribution, word_bits: int = _WORD_BITS) -> None:
        lower = noise.lower_thresholds(word_bits)
        upper = [2**word_bits - 1 - threshold for threshold in reversed(lower)]
        self.noise = noise
        self.word_bits = word_bits
        self._least = -len(lower)
        self._thresholds = np.array(lower + upper, dtype=np.uint64)
        self._shifts = (np.uint64(_WORD_BITS - word_bits), np.uint64(word_bits - self._guide_bits))

    @property
    def _guide_bits(self) -> int:
        """The length of a prefix, such that few prefixes have more than one threshold."""
        wanted = len(self._thresholds).bit_length() + 3
        return min(max(wanted, _LEAST_GUIDE_BITS), _MOST_GUIDE_BITS, self.word_bits)

    @cached_property
    def _guide(self) -> NDArray[np.uint32]:
        """For each prefix, the number of thresholds below all words with that prefix."""
        beginnings = np.arange(1 << self._guide_bits, dtype=np.uint64)
        return np.searchsorted(self._thresholds, beginnings << self._shifts[1], side="left").astype(
            np.uint32
        )

    @cached_property
    def _ended_thresholds(self) -> NDArray[np.uint64]:
        """The thresholds with the last one twice, because the compiled loop looks one ahead."""
        return np.append(self._thresholds, self._thresholds[-1])

    def inverter(self, draws: int) -> _Inverter:
        """The faster of two ways to the same numbers, for this many more draws."""
        is_compiled = compiling_pays(_write_values, draws, instead_of_arrays=True)
        return self._values_compiled if is_compiled else self._values

    def _values(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        used = words[:, 0] >> self._shifts[0]
        below = self._thresholds_below(used)
        is_decided = (
            self._thresholds[below] != used
        )  # the last threshold is the greatest word, so `below` is inside
        return np.where(is_decided, below + self._least, 0), np.flatnonzero(~is_decided)

    def _thresholds_below(self, used: NDArray[np.uint64]) -> NDArray[np.intp]:
        """The number of thresholds below each word.

        It is found with the guide if there are as many words as the guide has entries.
        """
        if len(used) < 1 << self._guide_bits:
            return np.searchsorted(self._thresholds, used, side="left")
        below: NDArray[np.intp] = self._guide[used >> self._shifts[1]].astype(np.intp)
        below += self._thresholds[below] < used
        further = np.flatnonzero(self._thresholds[below] < used)
        below[further] = np.searchsorted(self._thresholds, used[further], side="left")
        return below

    def _values_compiled(
        self, words: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        values, undecided = np.empty((2, len(words)), dtype=np.int64)
        table = (self._ended_thresholds, self._guide, self._shifts, self._least)
        found = compiled(_write_values)(words, *table, values, undecided)
        return values, undecided[:found]

    def least_word_above(self, value: int) -> int:
        """The word below which no word gives noise above `value`.

        The word itself may be undecided.
        """
        position = value - self._least
        if position < 0:
            return 0
        last = len(self._thresholds) - 1
        return int(self._thresholds[min(position, last)]) << (_WORD_BITS - self.word_bits)

    def resolved(self, bits: int, more_bits: _MoreBits) -> int:
        """The value of an undecided draw, given its first 128 bits.

        Reads more bits until it is certain.
        """
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
def inversion_table(noise: NoiseDistribution) -> InversionTable:
    """The inversion table of a noise, made once."""
    return InversionTable(noise)
