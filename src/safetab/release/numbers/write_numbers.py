"""Measurements and the public universe -> the numbers of the tidy release, level by level, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa

from safetab.census.geography_levels import TabulationPass
from safetab.census.group_universe import GroupIndex
from safetab.foundation.closed import closed_at_the_end
from safetab.foundation.in_threads import Alongside
from safetab.privacy.stages import Stage
from safetab.release.after_steps import AfterStepsTables
from safetab.release.coterminous.copies import Copies, PassSets
from safetab.release.numbers.level_numbers import NumbersOfLevel
from safetab.release.numbers.measured_groups import groups_by_level
from safetab.release.numbers.number_columns import NumberColumns
from safetab.release.numbers.number_files import RELEASE_FOLDER, NumberFile, numbers_file
from safetab.release.numbers.number_kinds import NumberKinds
from safetab.release.numbers.published_groups import PublishedGroups, joined, merged, no_groups
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import Universe

_ADAPTIVE, _TOTAL_ONLY = frozenset({Stage.STAGE_1, Stage.STAGE_2}), frozenset({Stage.TOTAL_ONLY})
_STAGES = (_ADAPTIVE, _TOTAL_ONLY)


class NumbersWriter:
    """Writes the numbers of passes into the release of an output, and remembers how many rows each file got.

    Where steps change numbers, the tables are written once more, as they stand after the steps.
    """

    def __init__(self, output: Path, universe: Universe, options: ReleaseOptions) -> None:
        self._output = output
        self._universe = universe
        self._options = options
        self._kinds = NumberKinds(universe, options.confidence)
        self.rows: dict[str, int] = {}  # by the path inside the release
        self.rows_after_steps: dict[str, int] = {}  # by the path inside the output

    def write_pass(self, measurements: Path, tabulation_pass: TabulationPass, sets: PassSets | None) -> None:
        if not self._options.change_numbers:
            self._write_levels(measurements, tabulation_pass, sets, None)
            return
        tables = AfterStepsTables(self._output, tabulation_pass, self._universe, self._kinds)
        with closed_at_the_end(tables) as after_steps:
            self._write_levels(measurements, tabulation_pass, sets, after_steps)
        self.rows_after_steps |= after_steps.rows

    def _write_levels(
        self,
        measurements: Path,
        tabulation_pass: TabulationPass,
        sets: PassSets | None,
        after_steps: AfterStepsTables | None,
    ) -> None:
        """The numbers of every level that has groups: its own, and those that coterminous sets copy to it."""
        copies = None
        if sets is not None and self._options.coterminous is not None:
            published = (groups_by_level(measurements, self._universe, stages) for stages in _STAGES)
            copies = Copies(self._universe, sets, self._options.coterminous, chain.from_iterable(published))
        total_only = _by_level(measurements, self._universe)
        adaptive = groupby(groups_by_level(measurements, self._universe, _ADAPTIVE), itemgetter(0))
        waiting = next(adaptive, None)
        for number, level in enumerate(self._universe.levels):
            if level.geography.tabulation_pass is not tabulation_pass:
                continue
            own: Iterator[PublishedGroups] = iter(())
            if waiting is not None and waiting[0] == number:
                own = (groups for _, groups in waiting[1])
            none = no_groups(level.design.family)
            copied = none if copies is None else copies.to_level(number)
            if level.is_tabulated.any() or len(copied):
                more = merged(total_only.get(number, none), copied)
                self._write_level(number, own, more, after_steps)
            if waiting is not None and waiting[0] == number:
                waiting = next(adaptive, None)

    def _write_level(
        self,
        number: int,
        own: Iterator[PublishedGroups],
        more: PublishedGroups,
        after_steps: AfterStepsTables | None,
    ) -> None:
        level = self._universe.levels[number]
        numbers = NumbersOfLevel(self._universe, level, self._kinds, self._options)
        name = numbers_file(level.design)
        file = NumberFile(self._output / RELEASE_FOLDER / name, NumberColumns(self._universe, level, self._kinds))
        with closed_at_the_end(file), Alongside(pa.cpu_count()) as writing:
            for groups in _with_more(own, more, level.index):
                made = numbers.of(groups)
                writing.do(partial(file.write, made), len(made))
                if after_steps is not None:
                    after_steps.write(level, made)
        self.rows[name] = file.rows


def _by_level(measurements: Path, universe: Universe) -> dict[int, PublishedGroups]:
    """The total-only groups, of which there are few: nation and states alone have them."""
    parts: dict[int, list[PublishedGroups]] = {}
    for number, groups in groups_by_level(measurements, universe, _TOTAL_ONLY):
        parts.setdefault(number, []).append(groups)
    return {number: joined(of_level) for number, of_level in parts.items()}


def _with_more(own: Iterator[PublishedGroups], more: PublishedGroups, index: GroupIndex) -> Iterator[PublishedGroups]:
    """Parts with whole entities; what is added or replaced stands in its order."""
    done = 0
    for part in own:
        end = int(np.searchsorted(index.entity_of(more.indices), index.entity_of(part.indices[-1]), side="right"))
        yield merged(part, more.part(done, end))
        done = end
    if done < len(more):
        yield more.part(done, len(more))
