"""Patterns: what matters of a person's codes. People of one pattern are in the same iterations at every level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from safetab.population_groups.iteration_map import IterationMap
from safetab.spec.iterations import CharacteristicIteration

CodeCombination = tuple[Sequence[str], str]
"""The race codes in the order of their positions, and the ethnicity code."""


@dataclass(slots=True)
class Patterns:
    """Numbers the patterns as they are met; code combinations that mean the same share a number."""

    max_race_codes: int
    _numbers: dict[tuple[frozenset[str], str], int] = field(default_factory=dict)

    def number_of(self, race_codes: Sequence[str], ethnicity_code: str) -> int:
        pattern = (frozenset(race_codes[: self.max_race_codes]), ethnicity_code)
        return self._numbers.setdefault(pattern, len(self._numbers))

    @property
    def count(self) -> int:
        return len(self._numbers)

    def iterations(self, iteration_map: IterationMap, listed: Iterable[CharacteristicIteration]) -> IterationLists:
        """For each pattern its iterations, as positions in the list of a level's iterations."""
        position = {iteration.code: number for number, iteration in enumerate(listed)}
        starts, found = [0], []
        for race_codes, ethnicity_code in self._numbers:
            codes = iteration_map.iterations_of(list(race_codes), ethnicity_code)
            found += sorted(position[code] for code in codes)
            starts.append(len(found))
        return IterationLists(np.array(starts, dtype=np.int64), np.array(found, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class IterationLists:
    """Iterations of pattern p: positions[starts[p] : starts[p + 1]]."""

    starts: NDArray[np.int64]
    positions: NDArray[np.int64]
