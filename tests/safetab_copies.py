"""Many draws of SafeTab for a few groups: each group is copied, and the real algorithm measures the copies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.inside import (
    AreaOfLevel,
    AttackedArea,
    ExactCounts,
    GroupUniverse,
    RunPlan,
    SelectedGroups,
    Target,
    grain_of,
    lines_of,
    safetab_publication,
)


@dataclass(frozen=True, slots=True, eq=False)
class SafeTabCopies:
    """A world in which the group of every target has copies, each in areas of its own.

    The targets' iterations are all total-only, or none is: one of them stands for all. Follows
    `GroupCounts`.
    """

    area: AttackedArea
    plan: RunPlan
    targets: Sequence[Target]
    draws: int
    is_absent: bool  # the targets are missing from the counts

    def windows(self, bits):
        """What one run tells about the targets' numbers: by target, number and draw."""
        copied = replace(self.area, areas=self._areas, systems=[self._system])
        levels = tuple(self._copied(level) for level in self._plans.values())
        return safetab_publication(copied, replace(self.plan, levels=levels), self, bits).windows[0]

    def totals(self, level):
        """The totals of all copies at a level."""
        sizes = np.repeat(self._sizes(level)[:, 0], self.draws)
        return ExactCounts(np.arange(len(sizes)), sizes[:, None])

    def cells(self, level, groups_of):
        """The cells of copies: the targets' cells of the grain have their counts, and another one the rest."""
        grain = grain_of(level.family)
        counts = {}
        for shape, groups in groups_of.items():
            first = np.array([shape.cell_of_value[grain.cell_of_value.index(cell)] for cell in range(grain.cells)])
            total, cell, inside = self._sizes(level)[groups // self.draws].T
            counts[shape] = ExactCounts(groups, np.zeros((len(groups), shape.cells), dtype=np.int64))
            rows = np.arange(len(groups))
            counts[shape].confidential_counts[rows, first[cell]] = inside
            counts[shape].confidential_counts[rows, first[cell - 1]] += total - inside
        return counts

    @property
    def _iteration(self):
        code = self.targets[0].system.iteration
        return next(each for each in self.plan.lists.iterations if each.code == code)

    @property
    def _plans(self):
        """The level plans of the targets' groups, by position among the area's levels."""
        return {
            self.area.levels.index(plan.level.geography.label): plan
            for plan in self.plan.levels
            if plan.family is self.plan.config.product.families[0]
            and plan.level.iterations == self._iteration.level
            and plan.level.geography.label in self.area.levels
        }

    def _copied(self, level):
        """A level whose entities are the copies."""
        own, draws = level.universe, self.draws
        entities = np.arange(len(self.targets) * draws)
        universe = GroupUniverse(own.level, entities, (self._iteration,), own.has_total_only)
        if level.selected is None:
            return replace(level, universe=universe)
        position = {each.code: place for place, each in enumerate(own.iterations)}
        public = dict(zip(level.selected.indices.tolist(), level.selected.totals.tolist(), strict=True))
        chosen = []
        for place, target in enumerate(self.targets):
            for number in self._numbers_at(target, level):
                entity = self.area.areas[target.system.areas[number]].entity
                total = public.get(entity * len(position) + position[target.system.iteration])
                if total is not None and not target.system.lines[number]:
                    chosen += [(place * draws + draw, total) for draw in range(draws)]
        selected = np.array(chosen, dtype=np.int64).reshape(-1, 2)
        return replace(level, universe=universe, selected=SelectedGroups(selected[:, 0], selected[:, 1]))

    def _numbers_at(self, target, level):
        """The target's numbers at a level."""
        position = self.area.levels.index(level.level.geography.label)
        areas = target.system.areas
        return [number for number in target.numbers.tolist() if self.area.areas[areas[number]].level == position]

    def _sizes(self, level):
        """For each target, at a level: the group's total, the target's cell of the grain, and its count."""
        lines = lines_of(grain_of(level.family))
        sizes = np.zeros((len(self.targets), 3), dtype=np.int64)
        for place, target in enumerate(self.targets):
            for number in self._numbers_at(target, level):
                line, count = target.system.lines[number], target.system.exact.counts[number] - self.is_absent
                if not line:
                    sizes[place, 0] = count
                elif lines[line - 1].cells == 1:
                    sizes[place, 1:] = lines[line - 1].first_cell, count
        return sizes

    @property
    def _areas(self):
        entities = range(len(self.targets) * self.draws)
        return tuple(AreaOfLevel(level, entity, "", 0) for level in range(len(self.area.levels)) for entity in entities)

    @property
    def _system(self):
        """One system with the numbers of all copies."""
        entities = len(self.targets) * self.draws
        areas, lines = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for place, target in enumerate(self.targets):
            levels = np.array([self.area.areas[own].level for own in target.system.areas[target.numbers].tolist()])
            copies = place * self.draws + np.arange(self.draws)
            areas.append((levels[:, None] * entities + copies).ravel())
            lines.append(np.repeat(target.system.lines[target.numbers], self.draws))
        first = self.targets[0].system
        return replace(first, areas=np.concatenate(areas), lines=np.concatenate(lines))
