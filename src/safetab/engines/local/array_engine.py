"""What local engines share: encoded persons on disk, counted state by state. How they are read differs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import EngineSettings, MiscountedPersons
from safetab.engines.encoding import Encoding
from safetab.engines.local.array_counter import ArrayCounter
from safetab.engines.local.state_persons import StatePersons
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape


class ArrayEngine:
    """Counts what `check` of an engine that reads has stored, in the numbers of `_people`."""

    def __init__(self, files: PublicFiles, settings: EngineSettings) -> None:
        self._encoding = Encoding(files)
        self._stored = StatePersons(
            settings.temporary_folder,
            np.array([state.first_atom for state in self._encoding.states], dtype=np.int64),
            self._encoding.atom_count,
            self._encoding.record.attribute_values,
        )
        self._people: Mapping[TabulationPass, int] = {}
        self._counter = ArrayCounter(self._encoding, settings.threads)

    def prepare(self) -> Mapping[TabulationPass, int]:
        counted = dict.fromkeys(self._people, 0)
        for state in self._counter.count(self._stored):
            counted[state.tabulation_pass] += state.persons.people
        if counted != self._people:
            raise MiscountedPersons("the engine did not encode every person once.")
        return counted

    def totals(self, level: LevelPlan) -> ExactCounts:
        return self._counter.totals(level)

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        return self._counter.cells(level, groups_of)

    def close(self) -> None:
        self._counter.close()
