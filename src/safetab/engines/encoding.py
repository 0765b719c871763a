"""Which numbers persons get: atoms of their blocks, patterns of their codes, state by state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.census.atoms import Atoms, atoms_of
from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.iteration_map import IterationMap, iteration_map_of
from safetab.census.iterations import TABULATED_ITERATION_LEVELS
from safetab.engines.pattern_table import IterationLists, PatternTable, iteration_lists
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.products.record import RecordLayout

_STATE_CODES_END = 100
_BLOCKS_OF_A_STATE = 10**13


@dataclass(frozen=True, slots=True)
class StateAtoms:
    """The atoms of one state: neighbours in the numbering of all passes together."""

    tabulation_pass: TabulationPass
    first_atom: int
    end_atom: int


BlockLookup = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""Which states are in a pass; where each state's blocks begin; the blocks of all passes, rising; their atoms."""


class Encoding:
    """Numbers for blocks, code combinations and iterations, over all passes of a run."""

    def __init__(self, files: PublicFiles) -> None:
        self._files = files
        self._atoms: Mapping[TabulationPass, Atoms] = {
            tabulation_pass: atoms_of(geography) for tabulation_pass, geography in files.geography_of_pass.items()
        }
        self.patterns = PatternTable(files.config.max_race_codes)
        self.iteration_number = {
            code: number
            for number, code in enumerate(
                dict.fromkeys(
                    iteration.code
                    for level in TABULATED_ITERATION_LEVELS
                    for is_substate in (False, True)
                    for iteration in files.lists.tabulated_iterations(level, is_substate=is_substate)
                )
            )
        }

    @property
    def passes(self) -> tuple[TabulationPass, ...]:
        return tuple(self._atoms)

    @property
    def record(self) -> RecordLayout:
        return self._files.config.product.record

    @property
    def atom_count(self) -> int:
        return sum(atoms.count for atoms in self._atoms.values())

    @cached_property
    def states(self) -> list[StateAtoms]:
        """The states of all passes, in the order of their atoms."""
        found, before = [], 0
        for tabulation_pass, atoms in self._atoms.items():
            _, firsts = np.unique(atoms.state_of_atom, return_index=True)
            bounds = [*(before + firsts).tolist(), before + atoms.count]
            found += [StateAtoms(tabulation_pass, *bounds[n : n + 2]) for n in range(len(firsts))]
            before += atoms.count
        return found

    @cached_property
    def block_lookup(self) -> BlockLookup:
        config = self._files.config
        is_of_pass = np.zeros(_STATE_CODES_END, dtype=np.bool_)
        for tabulation_pass in self._atoms:
            is_of_pass[[int(state) for state in config.states_of(tabulation_pass)]] = True
        blocks = np.concatenate([atoms.blocks for atoms in self._atoms.values()])
        atom_of_block = np.concatenate(
            [atoms.atom_of_block + np.int32(self._atoms_before(which)) for which, atoms in self._atoms.items()]
        )
        if not (blocks[1:] > blocks[:-1]).all():  # the passes' states lie between each other's
            order = np.argsort(blocks, kind="stable")
            blocks, atom_of_block = blocks[order], atom_of_block[order]
        first_of_state = np.searchsorted(blocks, np.arange(_STATE_CODES_END + 1) * _BLOCKS_OF_A_STATE)
        return is_of_pass, first_of_state, blocks, atom_of_block

    def passes_of_states(self, states: NDArray[np.int32]) -> Mapping[TabulationPass, NDArray[np.bool_]]:
        """For each pass, which of these states belong to it."""
        config = self._files.config
        return {
            tabulation_pass: np.isin(states, [int(state) for state in config.states_of(tabulation_pass)])
            for tabulation_pass in self._atoms
        }

    def entity_of_atom(self, geography: GeographyLevel, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """For every atom of every pass the position of its entity at a level, or -1."""
        positions = np.full(self.atom_count, -1, dtype=np.int64)
        first = self._atoms_before(geography.tabulation_pass)
        of_pass = self._atoms[geography.tabulation_pass].entity_positions(geography.entity_kind, entities)
        positions[first : first + len(of_pass)] = np.maximum(of_pass, -1)
        return positions

    @property
    def state_of_atom(self) -> NDArray[np.int64]:
        """For the atoms of all passes."""
        return np.concatenate([atoms.state_of_atom for atoms in self._atoms.values()])

    @property
    def iteration_maps(self) -> list[IterationMap]:
        return [
            iteration_map_of(
                self._files.lists,
                level,
                is_substate=is_substate,
                max_race_codes=self._files.config.max_race_codes,
            )
            for level in TABULATED_ITERATION_LEVELS
            for is_substate in (False, True)
        ]

    def iteration_lists(self) -> IterationLists:
        """The iterations of each pattern, of all levels and grains together: whoever is in one is in it at each."""
        return iteration_lists(self.patterns.codes, self.iteration_maps, self.iteration_number)

    def number_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """The numbers of a level's iterations, in the level's order."""
        return np.array([self.iteration_number[one.code] for one in level.universe.iterations], dtype=np.int64)

    def position_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """For every iteration its position among those of a level, or -1 if the level doesn't have it."""
        positions = np.full(len(self.iteration_number), -1, dtype=np.int64)
        positions[self.number_at(level)] = np.arange(len(level.universe.iterations))
        return positions

    def _atoms_before(self, tabulation_pass: TabulationPass) -> int:
        before = 0
        for other, atoms in self._atoms.items():
            if other is tabulation_pass:
                return before
            before += atoms.count
        raise KeyError(tabulation_pass)
