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
    """Noise that would be the same if an address were used twice: of two questions, and of groups one after another."""
    flat = [(one.name, one.places, one.noise.reshape(-1)) for one in drawn]
    for (name, places, noise), (other_name, other_places, other_noise) in combinations(flat, 2):
        _, here, there = np.intersect1d(places, other_places, assume_unique=True, return_indices=True)
        yield f"{name} and {other_name}", noise[here], other_noise[there]
    for one in drawn:
        yield f"{one.name}: neighbouring groups", one.noise[:-1].reshape(-1), one.noise[1:].reshape(-1)


@dataclass(frozen=True, slots=True)
class Relation:
    """The strongest of many relations: between what, how many were looked at, and its standard deviations from none."""

    name: str
    looked_at: int
    distance: float


def relations_of_cells(drawn: list[DrawnNoise], fewest: int) -> Iterator[Relation]:
    """The correlation of any two cells of a table, over the groups of a level and over those of all levels."""
    by_kind: dict[str, list[NDArray[np.float64]]] = {}
    for one in drawn:
        by_kind.setdefault(one.kind, []).append(one.noise / sqrt(_moments(one.due)[0]))
    tables = [(one.name, one.noise) for one in drawn]
    for name, noise in (*tables, *((kind, np.concatenate(parts)) for kind, parts in by_kind.items())):
        groups, cells = noise.shape
        if cells > 1 and groups >= fewest and np.ptp(noise, axis=0).all():
            matrix = np.corrcoef(noise, rowvar=False) - np.eye(cells)
            first, second = np.unravel_index(np.abs(matrix).argmax(), matrix.shape)
            between = f"{name}: cells {first} and {second}"
            yield Relation(between, cells * (cells - 1) // 2, float(matrix[first, second]) * sqrt(groups))


def relations_of_groups(drawn: list[DrawnNoise], fewest: int) -> Iterator[Relation]:
    """The correlation of groups whose indices differ by any number that enough groups differ by."""
    for one in drawn:
        span, cells = int(one.indices[-1] - one.indices[0]) + 1, one.noise.shape[1]
        scaled, is_drawn = np.zeros((span, cells)), np.zeros((span, 1))
        scaled[one.indices - one.indices[0]] = one.noise / sqrt(_moments(one.due)[0])
        is_drawn[one.indices - one.indices[0]] = 1
        sums, pairs = _autocorrelation(scaled), cells * np.rint(_autocorrelation(is_drawn))
        apart = np.flatnonzero(pairs >= fewest)
        apart = apart[apart > 0]
        if len(apart):
            distances = sums[apart] / np.sqrt(pairs[apart])
            worst = int(np.abs(distances).argmax())
            yield Relation(f"{one.name}: groups {apart[worst]} apart", len(apart), float(distances[worst]))


def _autocorrelation(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each distance the sum over all pairs of rows so far apart of their products, cell by cell."""
    size = 1 << (2 * len(rows) - 1).bit_length()
    power = (np.abs(np.fft.rfft(rows, size, axis=0)) ** 2).sum(axis=1)
    found: NDArray[np.float64] = np.fft.irfft(power, size)[: len(rows)]
    return found
