"""The numbers that records get: atoms for their blocks and patterns for their codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise, product

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import AreaLevel, Pass
from safetab.census.geography import Atoms, atoms_of
from safetab.census.groups import IterationMap, iteration_map_of
from safetab.dialects.bureau.us_census import US
from safetab.engines.patterns import IterationLists, PatternTable, iteration_lists
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan

_STATE_CODES_END = 100
_BLOCKS_OF_A_STATE = 10**13


@dataclass(frozen=True, slots=True)
class StateAtoms:
    """The atoms of one state, which follow each other in the numbering of all passes together."""

    tabulation_pass: Pass
    first_atom: int
    end_atom: int


BlockLookup = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]
"""Whether each state is in a pass; where its blocks begin; the blocks of all passes, rising; their atoms."""


class Encoding:
    """Numbers for blocks, code combinations and iterations, over all passes of a run."""

    def __init__(self, files: PublicFiles) -> None:
        self._files = files
        self.record = files.config.product.record
        geographies = files.geography_of_pass
        self._atoms: Mapping[Pass, Atoms] = {which: atoms_of(geographies[which]) for which in geographies}
        self._first_atom: dict[Pass, int] = {}
        self.atom_count = 0
        for which, atoms in self._atoms.items():
            self._first_atom[which] = self.atom_count
            self.atom_count += atoms.count
        states_of = files.config.states_of
        self.states_of_pass = {which: [int(state) for state in states_of(which)] for which in geographies}
        self.patterns = PatternTable(files.config.max_race_codes)
        self.iteration_number: dict[str, int] = {}
        for level, kind in product(US.tabulated_group_levels, US.grains):
            for iteration in files.lists.tabulated_iterations(level, kind):
                self.iteration_number.setdefault(iteration.code, len(self.iteration_number))

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes that run."""
        return tuple(self.states_of_pass)

    @cached_property
    def states(self) -> list[StateAtoms]:
        """The states of all passes, in the order of their atoms."""
        found = []
        for tabulation_pass, atoms in self._atoms.items():
            first_atom = self._first_atom[tabulation_pass]
            _, firsts = np.unique(atoms.state_of_atom, return_index=True)
            bounds = [*(first_atom + firsts).tolist(), first_atom + atoms.count]
            found += [StateAtoms(tabulation_pass, first, end) for first, end in pairwise(bounds)]
        return found

    @cached_property
    def block_lookup(self) -> BlockLookup:
        """The arrays by which a block's atom is found."""
        is_of_pass = np.zeros(_STATE_CODES_END, dtype=np.bool_)
        is_of_pass[list(chain.from_iterable(self.states_of_pass.values()))] = True
        blocks = np.concatenate([atoms.blocks for atoms in self._atoms.values()])
        firsts = [np.int32(first) for first in self._first_atom.values()]
        numbered = zip(firsts, self._atoms.values(), strict=True)
        atom_of_block = np.concatenate([first + atoms.atom_of_block for first, atoms in numbered])
        if not (blocks[1:] > blocks[:-1]).all():  # the passes' states lie between each other's
            order = np.argsort(blocks, kind="stable")
            blocks, atom_of_block = blocks[order], atom_of_block[order]
        first_of_state = np.searchsorted(blocks, np.arange(_STATE_CODES_END + 1) * _BLOCKS_OF_A_STATE)
        return is_of_pass, first_of_state, blocks, atom_of_block

    def passes_of_states(self, states: NDArray[np.int32]) -> Mapping[Pass, NDArray[np.bool_]]:
        """For each pass, which of these states belong to it."""
        return {which: np.isin(states, of_pass) for which, of_pass in self.states_of_pass.items()}

    def entity_of_atom(self, geography: AreaLevel, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """For every atom of every pass the position of its entity among those of a level, or -1."""
        positions = np.full(self.atom_count, -1, dtype=np.int64)
        first = self._first_atom[geography.tabulation_pass]
        of_pass = self._atoms[geography.tabulation_pass].entity_positions(geography.kind, entities)
        positions[first : first + len(of_pass)] = of_pass
        return positions

    @cached_property
    def iteration_maps(self) -> list[IterationMap]:
        """One map from codes to iterations for each iteration level and grain of geography."""
        most_codes = self._files.config.max_race_codes
        map_of = partial(iteration_map_of, self._files.lists, max_race_codes=most_codes)
        grains = product(US.tabulated_group_levels, US.grains)
        return [map_of(level, kind) for level, kind in grains]

    def iteration_lists(self) -> IterationLists:
        """The iterations of each pattern, of all levels and grains together."""
        return self.lists_of(slice(None))

    def lists_of(self, patterns: NDArray[np.int64] | slice) -> IterationLists:
        """The iterations of some patterns, which are numbered anew in their order."""
        return iteration_lists(self.patterns.codes[patterns], self.iteration_maps, self.iteration_number)

    def number_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """The numbers of a level's iterations, in the level's order."""
        iterations = level.universe.iterations
        return np.array([self.iteration_number[iteration.code] for iteration in iterations], dtype=np.int64)

    def position_at(self, level: LevelPlan) -> NDArray[np.int64]:
        """For every iteration its position among those of a level, or -1."""
        positions = np.full(len(self.iteration_number), -1, dtype=np.int64)
        positions[self.number_at(level)] = np.arange(len(level.universe.iterations))
        return positions
