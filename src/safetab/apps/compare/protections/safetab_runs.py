"""SafeTab in the attacked area: one run of the real algorithm, and what its noise tells.

A published group has its noisy numbers and the noisy total of stage 1, if there is one. A missing
group was suppressed, and the chance of that depends on its true size as well. A release has every
number before negative ones are shown as 0, so the attacker reads those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from safetab.apps.compare.protections.protection import Floats, PublishedArea, Windows
from safetab.apps.compare.tables.attacked_area import AttackedArea, System, grain_of, lines_of
from safetab.apps.compare.tables.exact_tables import Int64s, PublishedTables
from safetab.core.algorithm.group_counts import GroupCounts
from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan
from safetab.core.algorithm.tabulate_level import tabulate_level
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.core.noise.weighted_sum import FloatTails
from safetab.core.privacy.addressed_bits import AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.ledger import Ledger
from safetab.model.products.product import Shape
from safetab.runs.observed.tally import MeasuredAs
from safetab.runs.observed.theory import LevelTheory, sum_of_draws

_Window = tuple[int, Floats]
# a noisy number: its noise, how many draws of it, and the number
_Draws = tuple[NoiseDistribution, int, int]
_NEGLIGIBLE = 1e-12  # of the largest chance in a window


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredGroup:
    """An attacked group that a level measures."""

    index: int  # in the level's universe
    system: System
    total: int  # the place of its total among the system's numbers
    is_total_only: bool
    shape: int | None  # None: the noisy total of stage 1 chooses


def measured_groups(area: AttackedArea, level: LevelPlan) -> list[MeasuredGroup]:
    """The groups of the attacked systems that a level measures."""
    place_of = {iteration.code: place for place, iteration in enumerate(level.universe.iterations)}
    known, groups = level.known_shapes(), list[MeasuredGroup]()
    for system in area.systems:
        for number in system.totals.tolist() if system.iteration in place_of else ():
            of_area, iteration = area.areas[system.areas[number]], place_of[system.iteration]
            if area.levels[of_area.level] == level.level.geography.label:
                index = of_area.entity * len(place_of) + iteration
                is_total_only, shapes = bool(level.universe.is_total_only[iteration]), [None]
                if known is not None:  # no shape if the group is not measured
                    shapes = known[1][
                        slice(*np.searchsorted(known[0], (index, index + 1)))
                    ].tolist()
                groups += [
                    MeasuredGroup(index, system, number, is_total_only, shape) for shape in shapes
                ]
    return groups


def safetab_publication(
    area: AttackedArea, plan: RunPlan, counts: GroupCounts, bits: AddressedBits
) -> PublishedArea:
    """Run SafeTab once and keep what it publishes of the attacked area.

    The noise of a number depends on its address alone: with the bits of a whole run this is what
    that run publishes.
    """
    ledger, family = Ledger(plan.config.budgets, bits), plan.config.product.families[0]
    tables = {
        system: _PublishedSystem(system, plan.config.allow_negative_counts)
        for system in area.systems
    }
    for level in plan.levels:
        groups = {group.index: group for group in measured_groups(area, level)}
        if level.family is family and level.design.suppression_threshold is not None:
            reach = sum_of_draws(level.design.noise(Stage.STAGE_2), 1).reach
            sizes = np.arange(max(level.design.suppression_threshold, 0) + 2 * reach + 2)
            window = _cut(sizes, logs_of_suppressed(level.design, sizes))
            for group in groups.values():
                if not group.is_total_only and not group.shape:
                    tables[group.system].otherwise[group.total] = window
        for measurements in tabulate_level(level, counts, ledger) if groups else ():
            noise, stage_1 = level.design.noise(measurements.stage), measurements.stage_1_totals
            for shape, values in measurements.values.items():
                rows = measurements.groups_of(shape)
                for row in np.flatnonzero(
                    np.isin(measurements.indices[rows], list(groups))
                ).tolist():
                    group, cells = groups[int(measurements.indices[rows[row]])], values[row]
                    own = tables[group.system]
                    # a table of another family tells the same size once more
                    is_told = level.family is family and own.add(
                        group.total, cells, noise, shape, grain_of(family)
                    )
                    if not is_told:
                        own.draws[group.total].append((noise, shape.cells, int(cells.sum())))
                    if stage_1 is not None:
                        own.draws[group.total].append(
                            (level.design.noise(Stage.STAGE_1), 1, int(stage_1[rows[row]]))
                        )
    published = [
        PublishedTables.of(each.numbers.filled(0), each.numbers.mask) for each in tables.values()
    ]
    return PublishedArea(published, [each.windows for each in tables.values()], can_be_proven=False)


class _PublishedSystem:
    """Collects the published numbers of one system, and the noisy numbers behind each.

    A noisy number belongs to each published number that it tells about.
    """

    def __init__(self, system: System, allow_negative: bool) -> None:
        self._system, self._allow_negative = system, allow_negative
        self.numbers: Any = np.ma.MaskedArray(
            np.zeros(len(system.lines), dtype=np.int64), mask=True
        )
        self.draws: list[list[_Draws]] = [[] for _ in system.lines]
        # what the lack of draws tells
        self.otherwise: list[_Window] = [(0, np.empty(0))] * len(system.lines)

    def add(
        self, total: int, cells: Int64s, noise: NoiseDistribution, shape: Shape, grain: Shape
    ) -> bool:
        """Show a group's noisy table.

        Returns whether its cells tell the attacker all that their sum does.
        """
        shown, of_grain = (
            cells if self._allow_negative else np.maximum(cells, 0),
            cells_of(shape, grain),
        )
        self.numbers[total] = shown.sum()
        is_told = False
        numbers = np.flatnonzero(
            (self._system.areas == self._system.areas[total]) & (self._system.lines > 0)
        )
        for number in numbers.tolist() if of_grain else ():
            line = lines_of(grain)[self._system.lines[number] - 1]
            members = [place for cell in line.run for place in of_grain[cell]]
            self.numbers[number] = shown[members].sum()
            if line.cells == 1:
                self.draws[number].append((noise, len(members), int(cells[members].sum())))
                is_told = True
        return is_told

    @property
    def windows(self) -> Windows:
        """The windows of all numbers; sums of numbers tell nothing more."""
        both = zip(self.draws, self.otherwise, strict=True)
        found = [_window_of(tuple(draws)) if draws else otherwise for draws, otherwise in both]
        starts = np.cumsum([0, *(len(logs) for _, logs in found)], dtype=np.int64)
        firsts = np.array([first for first, _ in found], dtype=np.int64)
        return Windows(firsts, starts, np.concatenate([logs for _, logs in found] or [np.empty(0)]))


@lru_cache(maxsize=256)
def cells_of(shape: Shape, grain: Shape) -> tuple[tuple[int, ...], ...]:
    """The shape's cells that each cell of the grain sums.

    There are none if the shape does not divide the grain.
    """
    pairs = sorted(set(zip(grain.cell_of_value, shape.cell_of_value, strict=True)))
    if len(pairs) != shape.cells:
        return ()
    return tuple(tuple(cell for of, cell in pairs if of == coarse) for coarse in range(grain.cells))


@lru_cache(maxsize=1 << 16)
def _window_of(draws: tuple[_Draws, ...]) -> _Window:
    """The true counts that independent noisy numbers of one count leave possible."""
    known = [(number, sum_of_draws(noise, summed)) for noise, summed, number in draws]
    low = min(number - own.reach for number, own in known)
    high = max(number + own.reach for number, own in known)
    sizes = np.arange(max(low, 0), max(high, 0) + 1)
    return _cut(sizes, np.sum([own.log_chances(number - sizes) for number, own in known], axis=0))


def logs_of_suppressed(design: LevelDesign, sizes: Int64s) -> Floats:
    """The log-chance that groups of these sizes get a lone total and are suppressed."""
    tails = FloatTails(design.noise(Stage.STAGE_2))
    chances = tails.at_least(sizes - (design.suppression_threshold or 0))  # noise is symmetric
    if Stage.STAGE_1 in design.stages:
        chances *= LevelTheory(design, MeasuredAs.ADAPTIVE).shape_chances(sizes)[0]
    return np.asarray(np.log(np.maximum(chances, 1e-300)))


def _cut(sizes: Int64s, logs: Floats) -> _Window:
    """The run of true counts whose chance is not negligible beside the largest."""
    possible = np.flatnonzero(logs >= logs.max() + np.log(_NEGLIGIBLE))
    return int(sizes[possible[0]]), logs[possible[0] : possible[-1] + 1]
