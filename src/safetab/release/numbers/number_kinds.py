"""What all numbers of one kind share: their line, their noise, their variance and their margin of error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage
from safetab.products.safetab_p.published_lines import Line, lines_of
from safetab.products.safetab_p.tables import Table
from safetab.release.release_universe import Universe
from safetab.tabulation.measurements import TABLES


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A line of a table as one level and stage measured it."""

    level: int
    stage: Stage
    table: Table
    line: Line
    noise: Noise

    @property
    def draws(self) -> int:
        """How many independent noisy numbers the line sums."""
        return self.line.cells


class NumberKinds:
    """The kinds of numbers that a universe can have, numbered; a group's lines are neighbours."""

    def __init__(self, universe: Universe, confidence: Fraction) -> None:
        self.kinds: list[NumberKind] = []
        self._first: dict[tuple[int, bool, int], int] = {}
        self._confidence = confidence
        for level, facts in enumerate(universe.levels):
            for stage, noise in facts.noise.items():
                tables = {Stage.STAGE_1: (), Stage.TOTAL_ONLY: (Table.TOTAL,), Stage.STAGE_2: TABLES}[stage]
                for table in tables:
                    self._first[level, stage is Stage.TOTAL_ONLY, TABLES.index(table)] = len(self.kinds)
                    self.kinds += [NumberKind(level, stage, table, line, noise) for line in lines_of(table)]

    def first(self, level: int, *, is_total_only: bool, table_number: int) -> int:
        """The number of the kind of a group's first line."""
        return self._first[level, is_total_only, table_number]

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        return np.array([variance_of(kind.noise, kind.draws) for kind in self.kinds], dtype=np.float64)

    @cached_property
    def margins(self) -> NDArray[np.int64]:
        """Exact, at the confidence that was asked for."""
        return np.array([_margin(kind.noise, kind.draws, self._confidence) for kind in self.kinds], dtype=np.int64)

    @cached_property
    def draws(self) -> NDArray[np.int8]:
        return np.array([kind.draws for kind in self.kinds], dtype=np.int8)


def parameter_of(noise: Noise) -> Fraction:
    """Sigma squared of a discrete Gaussian, the scale of a discrete Laplace."""
    return noise.sigma_squared if isinstance(noise, DiscreteGaussian) else noise.scale


@lru_cache(maxsize=4096)
def variance_of(noise: Noise, draws: int) -> float:
    return float(noise.sum_of(draws).variance().mid())


@lru_cache(maxsize=4096)
def _margin(noise: Noise, draws: int, confidence: Fraction) -> int:
    return noise.sum_of(draws).margin_of_error(confidence)
