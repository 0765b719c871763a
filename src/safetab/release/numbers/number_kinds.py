"""What all numbers of one kind share: their line, their noise, their variance and their margin of error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from safetab.planning.level_design import margin_of
from safetab.privacy.calibration import Noise
from safetab.privacy.stages import Stage
from safetab.products.product import Line, Shape
from safetab.release.release_universe import Universe


@dataclass(frozen=True, slots=True)
class NumberKind:
    """A line of a shape as one level and stage measured it."""

    level: int
    stage: Stage
    shape: Shape
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
        self._levels = universe.levels
        for number, level in enumerate(universe.levels):
            family = level.design.family
            shapes_of = {Stage.STAGE_1: (), Stage.TOTAL_ONLY: (family.total,), Stage.STAGE_2: family.shapes}
            for stage, measured in level.design.stages.items():
                for shape in shapes_of[stage]:
                    self._first[number, stage is Stage.TOTAL_ONLY, family.number_of(shape)] = len(self.kinds)
                    self.kinds += [NumberKind(number, stage, shape, line, measured.noise) for line in shape.lines]

    def first(self, level: int, *, is_total_only: bool, shape_number: int) -> int:
        """The number of the kind of a group's first line."""
        return self._first[level, is_total_only, shape_number]

    @cached_property
    def variances(self) -> NDArray[np.float64]:
        return np.array([variance_of(kind.noise, kind.draws) for kind in self.kinds], dtype=np.float64)

    @cached_property
    def margins(self) -> NDArray[np.int64]:
        """Exact, at the confidence that was asked for."""
        return np.array([margin_of(kind.noise, kind.draws, self._confidence) for kind in self.kinds], dtype=np.int64)

    @cached_property
    def meanings(self) -> NDArray[np.int64]:
        """A number below 256 for each set of labels, whatever the shape."""
        known: dict[tuple[object, ...], int] = {}
        return np.array([known.setdefault(kind.line.labels, len(known)) for kind in self.kinds], dtype=np.int64)

    @cached_property
    def have_stage_1(self) -> NDArray[np.bool_]:
        """Whether they are totals of groups that have another, noisy one by which their table was chosen."""
        has_stage_1 = [Stage.STAGE_1 in level.design.stages for level in self._levels]
        return np.array(
            [kind.line.is_total and kind.stage is Stage.STAGE_2 and has_stage_1[kind.level] for kind in self.kinds],
            dtype=np.bool_,
        )

    @cached_property
    def first_cells(self) -> NDArray[np.int64]:
        """Where the cells that a line sums begin, in those of its group."""
        return np.array([kind.line.first_cell for kind in self.kinds], dtype=np.int64)

    @cached_property
    def draws(self) -> NDArray[np.int8]:
        return np.array([kind.draws for kind in self.kinds], dtype=np.int8)


@lru_cache(maxsize=4096)
def variance_of(noise: Noise, draws: int) -> float:
    return float(noise.sum_of(draws).variance().mid())
