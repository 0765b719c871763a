"""Which numbers persons get: atoms of their blocks, patterns of their codes, state by state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.population_groups.atoms import Atoms, atoms_of
from safetab.population_groups.iteration_map import iteration_map_of
from safetab.population_groups.patterns import IterationLists, Patterns
from safetab.spec.geography_levels import EntityKind, TabulationPass

NO_ATOM = -1


@dataclass(frozen=True, slots=True, eq=False)
class StateAtoms:
    """The atoms of one state: neighbours in the numbering of all passes together."""

    tabulation_pass: TabulationPass
    first_atom: int


class Encoding:
    """Numbers for blocks and code combinations, over all passes of a run."""

    def __init__(self, files: PublicFiles) -> None:
        self._files = files
        self._atoms: Mapping[TabulationPass, Atoms] = {
            tabulation_pass: atoms_of(geography) for tabulation_pass, geography in files.geography_of_pass.items()
        }
        self.patterns = Patterns(files.config.max_race_codes)
        self._iteration_lists: dict[tuple[object, bool], IterationLists] = {}

    @property
    def atom_count(self) -> int:
        return sum(atoms.count for atoms in self._atoms.values())

    @property
    def states(self) -> list[StateAtoms]:
        """The states of all passes, in the order of their atoms."""
        found, before = [], 0
        for tabulation_pass, atoms in self._atoms.items():
            _, firsts = np.unique(atoms.state_of_atom, return_index=True)
            found += [StateAtoms(tabulation_pass, before + int(first)) for first in firsts]
            before += atoms.count
        return found

    def passes_of_states(self, states: NDArray[np.int64]) -> Mapping[TabulationPass, NDArray[np.bool_]]:
        """For each pass, which of these states belong to it."""
        config = self._files.config
        return {
            tabulation_pass: np.isin(states, [int(state) for state in config.states_of(tabulation_pass)])
            for tabulation_pass in self._atoms
        }

    def atoms_of_blocks(self, tabulation_pass: TabulationPass, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The atom of each block of a pass, or NO_ATOM if the geography doesn't list it."""
        atoms = self._atoms[tabulation_pass]
        position = np.minimum(np.searchsorted(atoms.blocks, blocks), len(atoms.blocks) - 1)
        found = atoms.atom_of_block[position].astype(np.int64) + self._atoms_before(tabulation_pass)
        return np.where(atoms.blocks[position] == blocks, found, NO_ATOM)

    def entity_of_atom(self, level: LevelPlan) -> NDArray[np.int64]:
        """For every atom of every pass the position of its entity at a level, or a negative number."""
        positions = np.full(self.atom_count, -1, dtype=np.int64)
        geography = level.level.geography
        first = self._atoms_before(geography.tabulation_pass)
        of_pass = self._atoms[geography.tabulation_pass].entity_positions(
            geography.entity_kind, level.universe.entities
        )
        positions[first : first + len(of_pass)] = of_pass
        return positions

    def iteration_lists(self, level: LevelPlan) -> IterationLists:
        """The iterations of each pattern at a level."""
        key = (level.level.iterations, level.level.geography.is_substate)
        if key not in self._iteration_lists:
            iteration_map = iteration_map_of(
                self._files.lists,
                level.level.iterations,
                is_substate=level.level.geography.is_substate,
                max_race_codes=self._files.config.max_race_codes,
            )
            self._iteration_lists[key] = self.patterns.iterations(iteration_map, level.universe.iterations)
        return self._iteration_lists[key]

    def _atoms_before(self, tabulation_pass: TabulationPass) -> int:
        before = 0
        for other, atoms in self._atoms.items():
            if other is tabulation_pass:
                return before
            before += atoms.count
        raise KeyError(tabulation_pass)


def crosses_states(kind: EntityKind) -> bool:
    """Whether an entity of this kind can hold people of several states."""
    return kind in {EntityKind.NATION, EntityKind.AIANNH}
