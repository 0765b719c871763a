"""SafeTab in the attacked area: one run of the real algorithm, and what its noise tells an attacker.

A published group has its noisy numbers and the noisy total of stage 1, if there is one. A missing
group was suppressed, and the chance of that depends on its true size as well. A release has every
number before negative ones are shown as 0, so the attacker reads those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from safetab.assessment.tally import MeasuredAs
from safetab.assessment.theory import LevelTheory, sum_of_draws
from safetab.comparison.protections.protection import Floats, Publication, Windows
from safetab.comparison.tables.attacked_area import AttackedArea, System, grain_of, lines_of
from safetab.comparison.tables.exact_tables import Int64s, PublishedTables
from safetab.distributions.weighted_sum import FloatTails
from safetab.engines.contract import GroupCounts
from safetab.foundation.arrays import is_in_sorted
from safetab.planning.level_design import LevelDesign
from safetab.planning.run_plan import LevelPlan, RunPlan
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import Noise, Stage
from safetab.privacy.ledger import Ledger
from safetab.products.product import Shape, TableFamily
from safetab.tabulation.tabulate_level import tabulate_level

_Window = tuple[int, Floats]
_Draws = tuple[Noise, int, int]  # a noisy number: its noise, how many draws of it, and the number
_NEGLIGIBLE = 1e-12  # of the largest chance in a window
LEAST_CHANCE = 1e-300
_TELLS_NOTHING: _Window = (0, np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A published group of one area: its table, its noisy cells, and its total of stage 1."""

    level: LevelPlan
    shape: Shape
    cells: Int64s
    stage: Stage
    stage_1_total: int | None

    @property
    def noise(self) -> Noise:
        """The noise of each cell."""
        return self.level.design.noise(self.stage)

    @property
    def draws_of_total(self) -> list[_Draws]:
        """The noisy total, and that of stage 1."""
        stage_1 = (
            [] if self.stage_1_total is None else [(self.level.design.noise(Stage.STAGE_1), 1, self.stage_1_total)]
        )
        return [(self.noise, self.shape.cells, int(self.cells.sum())), *stage_1]


def safetab_publication(area: AttackedArea, plan: RunPlan, counts: GroupCounts, bits: AddressedBits) -> Publication:
    """Run SafeTab once and keep what it publishes of the attacked area.

    The noise of a number depends on its address alone: with the bits of a whole run this is what
    that run publishes.
    """
    ledger = Ledger(plan.config.budgets, bits)
    family = plan.config.product.families[0]
    tables = [_TablesOfSystem(system, family) for system in area.systems]
    for level in plan.levels:
        if level.level.geography.label in area.levels:
            suppressed = _window_of_suppressed(level.design)
            for (place, of_area), group in _groups_of_level(area, level, counts, ledger).items():
                own, total = tables[place], tables[place].total_of_area.get(of_area)
                if total is None:  # the attacked tables have no such group
                    continue
                if group is not None and level.family is family:
                    own.add(of_area, group, allow_negative=plan.config.allow_negative_counts)
                elif group is not None:  # a table of another family tells the same size once more
                    own.draws[total] += group.draws_of_total
                elif level.family is family:
                    own.suppressed[total] = suppressed
    return Publication([each.published for each in tables], [each.windows for each in tables], can_be_proven=False)


def _groups_of_level(
    area: AttackedArea, level: LevelPlan, counts: GroupCounts, ledger: Ledger
) -> Mapping[tuple[int, int], _Group | None]:
    """By system and area, the groups that a level measures; None if they were suppressed."""
    position = {iteration.code: place for place, iteration in enumerate(level.universe.iterations)}
    number = area.levels.index(level.level.geography.label)
    areas = [(place, each.entity) for place, each in enumerate(area.areas) if each.level == number]
    wanted: dict[int, tuple[int, int]] = {}
    for place, system in enumerate(area.systems):
        if system.iteration in position:
            first = position[system.iteration]
            wanted |= {entity * len(position) + first: (place, of_area) for of_area, entity in areas}
    if not wanted:
        return {}
    indices = np.array(sorted(wanted), dtype=np.int64)
    found: dict[tuple[int, int], _Group | None] = {
        wanted[index]: None for index in _that_may_be_suppressed(level, indices).tolist()
    }
    for measurements in tabulate_level(level, counts, ledger):
        stage_1 = measurements.stage_1_totals
        for shape, values in measurements.values.items():
            rows = measurements.groups_of(shape)
            for row in np.flatnonzero(is_in_sorted(indices, measurements.indices[rows])).tolist():
                total = None if stage_1 is None else int(stage_1[rows[row]])
                group = _Group(level, shape, values[row], measurements.stage, total)
                found[wanted[int(measurements.indices[rows[row]])]] = group
    return found


def _that_may_be_suppressed(level: LevelPlan, indices: Int64s) -> Int64s:
    """The groups that are missing only if they were measured and suppressed."""
    if level.design.suppression_threshold is None or Stage.STAGE_2 not in level.design.stages:
        return indices[:0]
    known = level.known_shapes()
    if known is None:
        return indices[~level.universe.is_total_only[level.universe.index.iteration_of(indices)]]
    groups, shapes = known
    return np.intersect1d(indices, groups[shapes == 0])


class _TablesOfSystem:
    """Collects the published numbers and the windows of one system."""

    def __init__(self, system: System, family: TableFamily) -> None:
        self._system, self._grain = system, grain_of(family)
        self._lines = lines_of(self._grain)
        self.total_of_area = dict(zip(system.areas[system.totals].tolist(), system.totals.tolist(), strict=True))
        self._values = np.zeros(len(system.lines), dtype=np.int64)
        self._is_shown = np.zeros(len(system.lines), dtype=np.bool_)
        self.draws: list[list[_Draws]] = [[] for _ in system.lines]
        self.suppressed: dict[int, _Window] = {}  # by number

    def add(self, of_area: int, group: _Group, *, allow_negative: bool) -> None:
        """Take a published group of one area."""
        cells = cells_of(group.shape, self._grain)
        is_told_by_cells = False
        for number in np.flatnonzero((self._system.areas == of_area) & (self._system.lines > 0)).tolist():
            line = self._lines[self._system.lines[number] - 1]
            if cells is not None:
                members = [place for cell in line.run for place in cells[cell]]
                self._show(number, group.cells[members], allow_negative=allow_negative)
                if line.cells == 1:
                    self.draws[number].append((group.noise, len(members), int(group.cells[members].sum())))
                    is_told_by_cells = True
        total = self.total_of_area[of_area]
        self._show(total, group.cells, allow_negative=allow_negative)
        self.draws[total] += group.draws_of_total[is_told_by_cells:]

    def _show(self, number: int, cells: Int64s, *, allow_negative: bool) -> None:
        self._values[number] = (cells if allow_negative else np.maximum(cells, 0)).sum()
        self._is_shown[number] = True

    @property
    def published(self) -> PublishedTables:
        """The numbers; what is suppressed or never measured is withheld."""
        return PublishedTables.of(self._values, ~self._is_shown)

    @property
    def windows(self) -> Windows:
        """What each number tells; sums of numbers tell nothing more."""
        found = [
            _window_of(tuple(draws)) if draws else self.suppressed.get(number, _TELLS_NOTHING)
            for number, draws in enumerate(self.draws)
        ]
        starts = np.cumsum([0, *(len(logs) for _, logs in found)], dtype=np.int64)
        firsts = np.array([first for first, _ in found], dtype=np.int64)
        return Windows(firsts, starts, np.concatenate([logs for _, logs in found] or [np.empty(0)]))


@lru_cache(maxsize=256)
def cells_of(shape: Shape, grain: Shape) -> tuple[tuple[int, ...], ...] | None:
    """For each cell of the grain, the shape's cells that it sums; None if the shape does not divide it."""
    pairs = sorted(set(zip(grain.cell_of_value, shape.cell_of_value, strict=True)))
    if len(pairs) != shape.cells:
        return None
    return tuple(tuple(cell for of, cell in pairs if of == coarse) for coarse in range(grain.cells))


@lru_cache(maxsize=1 << 16)
def _window_of(draws: tuple[_Draws, ...]) -> _Window:
    """The true counts that independent noisy numbers of one count leave possible."""
    known = [(number, sum_of_draws(noise, summed)) for noise, summed, number in draws]
    low = min(number - own.reach for number, own in known)
    high = max(number + own.reach for number, own in known)
    sizes = np.arange(max(low, 0), max(high, 0) + 1)
    logs = np.zeros(len(sizes))
    for number, own in known:
        away = number - sizes + own.reach
        is_near = (away >= 0) & (away < len(own.chances))
        chances = np.where(is_near, own.chances[np.clip(away, 0, len(own.chances) - 1)], 0.0)
        logs += np.log(np.maximum(chances, LEAST_CHANCE))
    return _cut(sizes, logs)


def _window_of_suppressed(design: LevelDesign) -> _Window:
    """The true counts of a group whose lone total did not pass suppression."""
    if design.suppression_threshold is None or Stage.STAGE_2 not in design.stages:
        return _TELLS_NOTHING
    reach = sum_of_draws(design.noise(Stage.STAGE_2), 1).reach
    sizes = np.arange(max(design.suppression_threshold, 0) + 2 * reach + 2)
    return _cut(sizes, logs_of_suppressed(design, sizes))


def logs_of_suppressed(design: LevelDesign, sizes: Int64s) -> Floats:
    """The logarithm of the chance that groups of these sizes get a lone total and are suppressed."""
    tails = FloatTails(design.noise(Stage.STAGE_2))
    chances = tails.at_least(sizes - (design.suppression_threshold or 0))  # noise is symmetric
    if Stage.STAGE_1 in design.stages:
        chances *= LevelTheory(design, MeasuredAs.ADAPTIVE).shape_chances(sizes)[0]
    return np.asarray(np.log(np.maximum(chances, LEAST_CHANCE)))


def _cut(sizes: Int64s, logs: Floats) -> _Window:
    """The run of true counts whose chance is not negligible beside the largest."""
    possible = np.flatnonzero(logs >= logs.max() + np.log(_NEGLIGIBLE))
    return int(sizes[possible[0]]), logs[possible[0] : possible[-1] + 1]
