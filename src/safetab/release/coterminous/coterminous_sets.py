"""Coterminous geographies: entities of different levels that are made of the same blocks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import NO_ENTITY, Geography
from safetab.census.geography_levels import EntityKind


@dataclass(frozen=True, slots=True)
class CoterminousSet:
    """Entities with the same blocks, in the order in which they are asked for a donor."""

    members: tuple[tuple[EntityKind, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Entities:
    """The entities of one kind, and their blocks one entity after the other."""

    ids: NDArray[np.int64]
    block_order: NDArray[np.int64]
    starts: NDArray[np.int64]
    blocks: NDArray[np.int64]  # how many


def without_blocks(geography: Geography, empty_blocks: NDArray[np.int64]) -> Geography:
    """The geography of the blocks that may hold people."""
    kept = ~np.isin(geography.block, empty_blocks)
    return Geography(geography.block[kept], geography.place[kept], geography.aiannh[kept])


def coterminous_sets(geography: Geography, order: tuple[EntityKind, ...]) -> tuple[CoterminousSet, ...]:
    """The sets of two or more entities of these kinds with exactly the same blocks; kinds not in `order` take no part.

    Entities of one kind are disjoint, so A and B have the same blocks exactly if all blocks of A are in B and B has as
    many as A.
    """
    entities = {kind: _entities(geography.entity_of_block(kind)) for kind in order}
    first_of: dict[tuple[EntityKind, int], tuple[EntityKind, int]] = {}
    for earlier, later in combinations(order, 2):
        others, ids = entities[earlier], entities[later].ids
        same = _same_blocks(entities[later], geography.entity_of_block(earlier), others)
        for position in np.flatnonzero(same != NO_ENTITY).tolist():
            # the earliest kind is met first, and "same blocks" is transitive
            first_of.setdefault((later, int(ids[position])), (earlier, int(same[position])))
    members: dict[tuple[EntityKind, int], list[tuple[EntityKind, int]]] = {}
    for one, first in first_of.items():
        members.setdefault(first, [first]).append(one)
    ranked = sorted(members.items(), key=lambda pair: (order.index(pair[0][0]), pair[0][1]))
    return tuple(CoterminousSet(tuple(sorted(of, key=lambda one: order.index(one[0])))) for _, of in ranked)


def _entities(of_block: NDArray[np.int64]) -> _Entities:
    block_order = np.argsort(of_block, kind="stable")
    block_order = block_order[np.searchsorted(of_block[block_order], NO_ENTITY, side="right") :]
    ids, starts, blocks = np.unique(of_block[block_order], return_index=True, return_counts=True)
    return _Entities(ids, block_order, starts, blocks)


def _same_blocks(entities: _Entities, other_of_block: NDArray[np.int64], others: _Entities) -> NDArray[np.int64]:
    """For each entity the other one with the same blocks, or NO_ENTITY."""
    if not len(entities.ids) or not len(others.ids):
        return np.full(len(entities.ids), NO_ENTITY, dtype=np.int64)
    of_block = other_of_block[entities.block_order]
    least, most = (np.asarray(ufunc.reduceat(of_block, entities.starts)) for ufunc in (np.minimum, np.maximum))
    position = np.minimum(np.searchsorted(others.ids, least), len(others.ids) - 1)
    is_same = (least == most) & (least != NO_ENTITY) & (others.blocks[position] == entities.blocks)
    return np.where(is_same, least, NO_ENTITY)
