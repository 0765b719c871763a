"""Atoms: distinct (tract, place, AIANNH area) combinations. People of one atom are in the same entities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.spec.geography import NO_ENTITY, Geography
from safetab.spec.geography_levels import EntityKind

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
    tracts = geography.entity_of_block(EntityKind.TRACT)
    combinations = np.stack([tracts, geography.place, geography.aiannh])
    _, representatives, atom_of_block = np.unique(combinations, axis=1, return_index=True, return_inverse=True)
    places = Geography(
        geography.block[representatives], geography.place[representatives], geography.aiannh[representatives]
    )
    return Atoms(geography.block, atom_of_block.reshape(-1).astype(np.int32), places)
