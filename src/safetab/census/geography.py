"""The public geography: the blocks, the entities that they form, and how ids are spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import PUERTO_RICO_STATE, EntityKind, GeographyLevel, TabulationPass
from safetab.foundation.arrays import Columns, run_starts

NO_ENTITY = -1
NATION_ID = 1

_BLOCK_DIGITS = 15
"""State 2, county 3, tract 6, block 4: the id of a coarser entity is a prefix."""

_BLOCKS_OF_STATE = 10**13
"""How many ids begin with the same state."""


@dataclass(frozen=True, eq=False)
class Geography(Columns):
    """One element per block, in the order of block ids; ids are the integers that their digits spell."""

    block: NDArray[np.int64]
    place: NDArray[np.int64]  # state and place, or NO_ENTITY
    aiannh: NDArray[np.int64]  # or NO_ENTITY

    def of_states(self, states: Iterable[str]) -> Geography:
        """Only the blocks of these states. Copies nothing if the states are neighbours in the list."""
        first_blocks = np.array(sorted({int(state) for state in states}), dtype=np.int64) * _BLOCKS_OF_STATE
        begins = np.searchsorted(self.block, first_blocks)
        ends = np.searchsorted(self.block, first_blocks + _BLOCKS_OF_STATE)
        if (begins[1:] == ends[:-1]).all():
            return self.take(slice(begins[0], ends[-1]) if len(begins) else slice(0))
        return self.take(np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)]))

    def entity_of_block(self, kind: EntityKind) -> NDArray[np.int64]:
        """The entity of this kind that contains each block, or NO_ENTITY."""
        if kind is EntityKind.NATION:
            return np.full(len(self.block), NATION_ID, dtype=np.int64)
        if kind is EntityKind.PLACE:
            return self.place
        if kind is EntityKind.AIANNH:
            return self.aiannh
        prefix: NDArray[np.int64] = self.block // 10 ** (_BLOCK_DIGITS - kind.id_digits)
        return prefix

    def entities(self, kind: EntityKind) -> NDArray[np.int64]:
        """The distinct entities of a kind, sorted by id."""
        of_run = self.first_of_runs.entity_of_block(kind)
        return np.unique(of_run[of_run != NO_ENTITY])

    @cached_property
    def first_of_runs(self) -> Geography:
        """The first block of each run of neighbours that lie in the same entities of every kind."""
        return self.take(self.begins_of_runs)

    @cached_property
    def begins_of_runs(self) -> NDArray[np.int64]:
        """The positions where such runs begin. Neighbours mostly share their entities, so there are few."""
        tract = self.entity_of_block(EntityKind.TRACT)  # a tract is in one county, one state and the nation
        return run_starts(tract, self.place, self.aiannh)


NOWHERE = Geography(*(np.empty(0, dtype=np.int64) for _ in range(3)))


def region_id(entity: int, kind: EntityKind) -> str:
    """The id as files spell it, with leading zeros."""
    return f"{entity:0{kind.id_digits}d}"


SUMMARY_LEVELS = dict(zip(EntityKind, ("010", "040", "050", "140", "160", "250"), strict=True))
_KIND_OF = {number: kind for kind, number in SUMMARY_LEVELS.items()}
_LEVEL_OF = {(level.tabulation_pass, level.entity_kind): level for level in GeographyLevel}
_WHOLE_AREA = "00"  # the component: others are parts of an area, such as its urban part
_GEO_ID = re.compile(r"(\d{3})(\w\w)(\w\w)US(\w*)", re.ASCII)

Area = tuple[GeographyLevel, int]
"""A geography level and the id of one of its entities."""


def geo_id(level: GeographyLevel, region_id: str) -> str:
    """The Census Bureau's GEO_ID of an area, such as 0500000US44007."""
    kind = level.entity_kind
    return f"{SUMMARY_LEVELS[kind]}0000US{'' if kind is EntityKind.NATION else region_id}"


def is_geo_id(text: str) -> bool:
    """Whether the text has the form of a GEO_ID of any summary level."""
    return _GEO_ID.fullmatch(text) is not None


def area_of_geo_id(text: str) -> Area | None:
    """The area with this GEO_ID, also as data.census.gov spells it (050XX00US44007), or None."""
    found = _GEO_ID.fullmatch(text)
    if found is None or found[3] != _WHOLE_AREA or found[1] not in _KIND_OF:
        return None
    return area_of(_KIND_OF[found[1]], found[4])


def area_of(kind: EntityKind, region_id: str) -> Area | None:
    """The area of a kind with this id, or None if malformed. Puerto Rico has levels of its own."""
    if kind is EntityKind.NATION:
        return GeographyLevel.USA, NATION_ID
    if not re.fullmatch(rf"[0-9]{{{kind.id_digits}}}", region_id):
        return None
    in_puerto_rico = not kind.crosses_states and region_id.startswith(PUERTO_RICO_STATE)
    level = _LEVEL_OF[TabulationPass.PUERTO_RICO if in_puerto_rico else TabulationPass.US, kind]
    return level, int(region_id)


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Sets of blocks that share all entities; numbered by tract, so those of a state are neighbours."""

    blocks: NDArray[np.int64]  # ascending
    atom_of_block: NDArray[np.int32]
    _representatives: Geography  # one block of each atom

    @property
    def count(self) -> int:
        """How many atoms there are."""
        return len(self._representatives.block)

    @property
    def state_of_atom(self) -> NDArray[np.int64]:
        """The state id of each atom."""
        return self._representatives.entity_of_block(EntityKind.STATE)

    def entity_positions(self, kind: EntityKind, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        """The position of each atom's entity in the sorted list `entities`, or NO_ENTITY."""
        of_atom = self._representatives.entity_of_block(kind)
        positions = np.searchsorted(entities, of_atom)
        return np.where(of_atom == NO_ENTITY, NO_ENTITY, positions)


def atoms_of(geography: Geography) -> Atoms:
    """The atoms of a geography. Records are counted by atom and then added up to entities."""
    first_of_runs = geography.first_of_runs
    tract = first_of_runs.entity_of_block(EntityKind.TRACT)
    runs = np.stack([tract, first_of_runs.place, first_of_runs.aiannh])
    _, representatives, atom_of_run = np.unique(runs, axis=1, return_index=True, return_inverse=True)
    columns = (first_of_runs.block, *runs[1:])
    blocks_of_runs = np.diff(np.append(geography.begins_of_runs, len(geography.block)))
    atom_of_block = np.repeat(atom_of_run.reshape(-1).astype(np.int32), blocks_of_runs)
    return Atoms(geography.block, atom_of_block, Geography(*(column[representatives] for column in columns)))
