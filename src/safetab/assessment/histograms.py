"""Distributions of errors in bounded memory: exact for small whole numbers, within 1.1 % for large ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_EXACT = 256  # numbers below have a bin of their own
_BINS_OF_AN_OCTAVE = 64
_OCTAVES = 32
BINS = _EXACT + _OCTAVES * _BINS_OF_AN_OCTAVE


class Histograms:
    """One for each key, made when it is first needed."""

    def __init__(self, keys: int) -> None:
        self._row = np.full(keys, -1, dtype=np.int64)
        self._counts = np.zeros((0, BINS), dtype=np.int64)

    def add(self, keys: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Values from 0 on."""
        new = np.unique(keys[self._row[keys] < 0])
        if len(new):
            self._row[new] = len(self._counts) + np.arange(len(new))
            self._counts = np.concatenate([self._counts, np.zeros((len(new), BINS), dtype=np.int64)])
        np.add.at(self._counts.reshape(-1), self._row[keys] * BINS + _bins_of(values), 1)

    def counts(self) -> NDArray[np.int64]:
        """A row for each key."""
        none = np.zeros((1, BINS), dtype=np.int64)
        return np.concatenate([self._counts, none])[self._row]


def quantiles(counts: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """For each histogram, along the last axis, a number that at least this share does not exceed; NaN if it's empty."""
    sums = np.cumsum(counts, axis=-1)
    whole = sums[..., -1]
    bins = np.argmax(sums >= np.maximum(share * whole, 1)[..., None], axis=-1)
    return np.where(whole > 0, _UPPER_ENDS[bins], np.nan)


def without_empty_end(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bins up to the last one that holds anything; at least one."""
    used = np.flatnonzero(counts.reshape(-1, counts.shape[-1]).any(axis=0))
    return counts[..., : int(used[-1]) + 1 if len(used) else 1]


def _bins_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
    octave = np.log2(np.maximum(values, _EXACT) / _EXACT)
    large = _EXACT + np.minimum(octave * _BINS_OF_AN_OCTAVE, _OCTAVES * _BINS_OF_AN_OCTAVE - 1).astype(np.int64)
    return np.where(values < _EXACT - 0.5, np.rint(values).astype(np.int64), large)


_UPPER_ENDS = np.concatenate(
    [
        np.arange(_EXACT, dtype=np.float64),
        _EXACT * 2.0 ** ((np.arange(_OCTAVES * _BINS_OF_AN_OCTAVE) + 1) / _BINS_OF_AN_OCTAVE),
    ]
)
