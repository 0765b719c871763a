"""Atoms: distinct (tract, place, AIANNH area) combinations. People of one atom are in the same entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import NO_ENTITY, Geography
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
    first_of_runs = geography.first_of_runs
    tract = first_of_runs.entity_of_block(EntityKind.TRACT)
    runs = np.stack([tract, first_of_runs.place, first_of_runs.aiannh])
    _, representatives, atom_of_run = np.unique(runs, axis=1, return_index=True, return_inverse=True)
    places = Geography(*(column[representatives] for column in (first_of_runs.block, *runs[1:])))
    blocks_of_runs = np.diff(np.append(geography.begins_of_runs, len(geography.block)))
    atom_of_block = np.repeat(atom_of_run.reshape(-1).astype(np.int32), blocks_of_runs)
    return Atoms(geography.block, atom_of_block, places)
