"""The numbers that records get: atoms for their blocks and patterns for their codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import Atoms, atoms_of
from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, IterationMap, iteration_map_of
from safetab.engines.patterns import IterationLists, PatternTable, iteration_lists
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.products.record import RecordLayout

_STATE_CODES_END = 100
_BLOCKS_OF_A_STATE = 10**13


@dataclass(frozen=True, slots=True)
class StateAtoms:
    """The atoms of one state, which follow each other in the numbering of all passes together."""

    tabulation_pass: TabulationPass
    first_atom: int
    end_atom: int


BlockLookup = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""The arrays by which a block's atom is found.

Whether each state is in a pass; where each state's blocks begin; the blocks of all passes, rising;
their atoms.
"""


class Encoding:
    """Numbers for blocks, code combinations and iterations, over all passes of a run."""

    def __init__(self, files: PublicFiles) -> None:
        self._files = files
        geographies = files.geography_of_pass
        self._atoms: Mapping[TabulationPass, Atoms] = {which: atoms_of(geographies[which]) for which in geographies}
        self.patterns = PatternTable(files.config.max_race_codes)
        self.iteration_number: dict[str, int] = {}
        for level in TABULATED_ITERATION_LEVELS:
            for is_substate in (False, True):
                for iteration in files.lists.tabulated_iterations(level, is_substate=is_substate):
                    self.iteration_number.setdefault(iteration.code, len(self.iteration_number))

    @property
    def passes(self) -> tuple[TabulationPass, ...]:
        """The passes that run."""
        return tuple(self._atoms)

    @property
    def record(self) -> RecordLayout:
        """The layout of the product's records."""
        return self._files.config.product.record

    @property
    def atom_count(self) -> int:
        """The number of atoms of all passes."""
        return sum(atoms.count for atoms in self._atoms.values())

    @cached_property
    def states(self) -> list[StateAtoms]:
        """The states of all passes, in the order of their atoms."""
        found = []
        for tabulation_pass, atoms in self._atoms.items():
            before = self._atoms_before(tabulation_pass)
            _, firsts = np.unique(atoms.state_of_atom, return_index=True)
            bounds = [*(before + firsts).tolist(), before + atoms.count]
            found += [StateAtoms(tabulation_pass, first, end) for first, end in pairwise(bounds)]
        return found

    @cached_property
    def block_lookup(self) -> BlockLookup:
        """The arrays by which a block's atom is found."""
        is_of_pass = np.zeros(_STATE_CODES_END, dtype=np.bool_)
        is_of_pass[[int(state) for which in self._atoms for state in self._files.config.states_of(which)]] = True
        blocks = np.concatenate([atoms.blocks for atoms in self._atoms.values()])
        before = {which: np.int32(self._atoms_before(which)) for which in self._atoms}
        atom_of_block = np.concatenate([atoms.atom_of_block + before[which] for which, atoms in self._atoms.items()])
        if not (blocks[1:] > blocks[:-1]).all():  # the passes' states lie between each other's
            order = np.argsort(blocks, kind="stable")
            blocks, atom_of_block = blocks[order], atom_of_block[order]
        first_of_state = np.searchsorted(blocks, np.arange(_STATE_CODES_END + 1) * _BLOCKS_OF_A_STATE)
        return is_of_pass, first_of_state, blocks, atom_of_block

    def passes_of_states(self, states: NDArray[np.int32]) -> Mapping[TabulationPass, NDArray[np.bool_]]:
        """For each pass, which of these states belong to it."""
        states_of = self._files.config.states_of
        return {which: np.isin(states, [int(state) for state in states_of(which)]) for which in self._atoms}

    def entity_of_atom(self, geography: GeographyLevel, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """For every atom of every pass the position of its entity among those of a level, or -1."""
        positions = np.full(self.atom_count, -1, dtype=np.int64)
        first = self._atoms_before(geography.tabulation_pass)
        of_pass = self._atoms[geography.tabulation_pass].entity_positions(geography.entity_kind, entities)
        positions[first : first + len(of_pass)] = of_pass
        return positions

    @property
    def state_of_atom(self) -> NDArray[np.int64]:
        """The state of every atom of all passes."""
        return np.concatenate([atoms.state_of_atom for atoms in self._atoms.values()])

    @property
    def iteration_maps(self) -> list[IterationMap]:
        """One map from codes to iterations for each iteration level and grain of geography."""
        lists, most = self._files.lists, self._files.config.max_race_codes
        return [
            iteration_map_of(lists, level, is_substate=is_substate, max_race_codes=most)
            for level in TABULATED_ITERATION_LEVELS
            for is_substate in (False, True)
        ]

    def iteration_lists(self) -> IterationLists:
        """The iterations of each pattern, of all levels and grains together."""
        return iteration_lists(self.patterns.codes, self.iteration_maps, self.iteration_number)

    def number_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """The numbers of a level's iterations, in the level's order."""
        iterations = level.universe.iterations
        return np.array([self.iteration_number[iteration.code] for iteration in iterations], dtype=np.int64)

    def position_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """For every iteration its position among those of a level, or -1."""
        positions = np.full(len(self.iteration_number), -1, dtype=np.int64)
        positions[self.number_at(level)] = np.arange(len(level.universe.iterations))
        return positions

    def _atoms_before(self, tabulation_pass: TabulationPass) -> int:
        number = list(self._atoms).index(tabulation_pass)
        return sum(atoms.count for atoms in list(self._atoms.values())[:number])
