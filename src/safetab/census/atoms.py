"""Atoms: distinct (tract, place, AIANNH area) combinations. People of one atom are in the same entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import NO_ENTITY, Geography, changes_in
from safetab.census.geography_levels import EntityKind

NOT_IN_ANY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """The atoms of one pass, numbered in the order of their tracts, so that a state's atoms are neighbours."""

    blocks: NDArray[np.int64]  # rising
    atom_of_block: NDArray[np.int32]
    _places: Geography  # one representative block for each atom

    @property
    def count(self) -> int:
        return len(self._places.block)

    @property
    def state_of_atom(self) -> NDArray[np.int64]:
        return self._places.entity_of_block(EntityKind.STATE)

    def entity_positions(self, kind: EntityKind, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each atom the position of its entity in the rising list `entities`, or NOT_IN_ANY."""
        of_atom = self._places.entity_of_block(kind)
        positions = np.searchsorted(entities, of_atom)
        return np.where(of_atom == NO_ENTITY, NOT_IN_ANY, positions)


def atoms_of(geography: Geography) -> Atoms:
    columns = (geography.entity_of_block(EntityKind.TRACT), geography.place, geography.aiannh)
    is_change = changes_in(*columns)
    runs = np.stack([column[is_change] for column in columns])  # neighbouring blocks of one combination
    _, representatives, atom_of_run = np.unique(runs, axis=1, return_index=True, return_inverse=True)
    block_of_run = np.flatnonzero(is_change)
    blocks = block_of_run[representatives]
    places = Geography(geography.block[blocks], geography.place[blocks], geography.aiannh[blocks])
    blocks_of_runs = np.diff(np.append(block_of_run, len(is_change)))
    atom_of_block = np.repeat(atom_of_run.reshape(-1).astype(np.int32), blocks_of_runs)
    return Atoms(geography.block, atom_of_block, places)
