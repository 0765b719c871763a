"""The noise of a recorded run, question by question, in arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from safetab.audit.recording import Question, Record
from safetab.privacy.calibration import Noise

_CELLS = 1 << 8  # more than a shape has
_REACH = 12  # widths; beyond lies nothing that a sum of squares would feel
CountClass = tuple[int, int]
COUNT_CLASSES: tuple[CountClass, ...] = ((0, 1), (1, 10), (10, 50), (50, 1 << 62))
"""From a count up to, and without, another."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnNoise:
    """A row for each group by rising index, a column for each cell."""

    question: Question
    indices: NDArray[np.int64]
    counts: NDArray[np.int64]
    noise: NDArray[np.int64]

    @property
    def due(self) -> Noise:
        return self.question[0].noise

    @property
    def name(self) -> str:
        return f"{self.question[0].level}, {self.kind}"

    @property
    def kind(self) -> str:
        """What it is noise of, at whatever level."""
        event, shape = self.question
        family = f"{event.family.name}: " if event.product.has_several_families else ""
        return f"{family}stage {int(event.stage)}, {shape.words}"

    @property
    def places(self) -> NDArray[np.int64]:
        """A number for each group and cell."""
        found: NDArray[np.int64] = (self.indices[:, None] * _CELLS + np.arange(self.noise.shape[1])).reshape(-1)
        return found


def drawn_noise(record: Record) -> list[DrawnNoise]:
    return [_drawn(record, question) for question in record.counts if record.counts[question]]


def _drawn(record: Record, question: Question) -> DrawnNoise:
    indices = sorted(record.counts[question])
    counts, noisy = (np.stack([numbers[question][one] for one in indices]) for numbers in (record.counts, record.noisy))
    return DrawnNoise(question, np.array(indices), counts, noisy - counts)


@dataclass(frozen=True, slots=True)
class Spread:
    """How far squares of noise lie from their mean, in standard deviations, over so many draws."""

    draws: int
    distance: float


def spreads(drawn: list[DrawnNoise]) -> dict[tuple[str, CountClass], Spread]:
    """For each stage and shape, over all levels, and for each class of counts."""
    sums: dict[tuple[str, CountClass], list[float]] = {}
    for one in drawn:
        variance, spread_of_squares = _moments(one.due)
        squares = one.noise.astype(float) ** 2 / variance - 1
        for at_least, below in COUNT_CLASSES:
            chosen = squares[(one.counts >= at_least) & (one.counts < below)]
            found = sums.setdefault((one.kind, (at_least, below)), [0, 0.0, 0.0])
            found[0] += chosen.size
            found[1] += float(chosen.sum())
            found[2] += chosen.size * spread_of_squares**2
    return {key: Spread(int(n), total / sqrt(v) if v else 0.0) for key, (n, total, v) in sums.items()}


@lru_cache(maxsize=256)
def _moments(noise: Noise) -> tuple[float, float]:
    """The variance, and the standard deviation of a square over the variance."""
    most = int(_REACH * 3 * noise.width) + _REACH
    values = np.arange(1, most)
    chances = np.array([float(noise.probability(int(value))) for value in values])
    variance, fourth = (2 * float((chances * values.astype(float) ** power).sum()) for power in (2, 4))
    return variance, sqrt(fourth / variance**2 - 1)


Pairing = tuple[str, NDArray[np.int64], NDArray[np.int64]]


def pairings(drawn: list[DrawnNoise]) -> Iterator[Pairing]:
    """Noise that would be the same if an address were used twice: of two questions, two cells, two groups."""
    flat = [(one.name, one.places, one.noise.reshape(-1)) for one in drawn]
    for (name, places, noise), (other_name, other_places, other_noise) in combinations(flat, 2):
        _, here, there = np.intersect1d(places, other_places, assume_unique=True, return_indices=True)
        yield f"{name} and {other_name}", noise[here], other_noise[there]
    for one in drawn:
        if one.noise.shape[1] > 1:
            yield f"{one.name}: neighbouring cells", one.noise[:, :-1].reshape(-1), one.noise[:, 1:].reshape(-1)
            first = np.repeat(one.noise[:, 0], one.noise.shape[1] - 1)
            yield f"{one.name}: each cell and the first", first, one.noise[:, 1:].reshape(-1)
            half = one.noise.shape[1] // 2
            yield f"{one.name}: the two halves", one.noise[:, :half].reshape(-1), one.noise[:, -half:].reshape(-1)
        yield f"{one.name}: neighbouring groups", one.noise[:-1].reshape(-1), one.noise[1:].reshape(-1)
