"""Which published groups are copies of another area's: areas with the same blocks share one set of noisy numbers.

A copy has the noise of the area that was measured. The sets of such areas are known from the blocks, or from areas of
two kinds that have the same numbers throughout, in so many numbers that chance can't be the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import COTERMINOUS_ORDER, EntityKind, TabulationPass
from safetab.census.iterations import IterationLevel, TabulationList
from safetab.census.official_tables import CODES, LEVELS, Cell
from safetab.privacy.stages import Stage
from safetab.release.coterminous.copies import PassSets
from safetab.release.coterminous.coterminous_sets import CoterminousSet
from safetab.release.official.groups import OfficialGroups
from safetab.release.release_universe import Universe

NO_DONOR = -1
_GREATEST_CHANCE = 1e-15
"""Of areas that are not the same: how likely, at most, numbers are equal that are taken for copies."""


@dataclass(frozen=True, slots=True, eq=False)
class Donors:
    """For each of some groups the geography level, a position in LEVELS, and the entity that gave it, or NO_DONOR."""

    level: NDArray[np.int64]
    entity: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _Areas:
    """Areas of several kinds: level, entity, a number made of all their numbers, and log chance that they are alike."""

    level: NDArray[np.int64]
    entity: NDArray[np.int64]
    signature: NDArray[np.uint64]
    log_chance: NDArray[np.float64]


def sets_by_numbers(universe: Universe, groups: Sequence[OfficialGroups]) -> tuple[PassSets, ...]:
    """Areas of different kinds that have the same numbers for every Detailed group that all kinds tabulate.

    The chance that noise of two areas is equal in a number is at most that of its likeliest value.
    Proof: docs/noise.md#copies-by-numbers.
    """
    areas = _areas(universe, groups)
    found: dict[TabulationPass, list[CoterminousSet]] = {one: [] for one in universe.passes}
    order = np.argsort(areas.signature, kind="stable")
    _, first, sizes = np.unique(areas.signature[order], return_index=True, return_counts=True)
    for start, size in zip(first[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        members = order[start : start + size]
        if areas.log_chance[members].max() > log(_GREATEST_CHANCE):
            continue
        levels = [LEVELS[number] for number in areas.level[members].tolist()]
        kinds = [level.entity_kind for level in levels]
        if len(set(kinds)) == len(kinds):
            pairs = sorted(
                zip(kinds, areas.entity[members].tolist(), strict=True), key=lambda one: COTERMINOUS_ORDER.index(one[0])
            )
            found[levels[0].tabulation_pass].append(CoterminousSet(tuple(pairs)))
    return tuple(PassSets(one, tuple(sorted(sets, key=_first_member))) for one, sets in found.items())


def _first_member(one: CoterminousSet) -> tuple[int, int]:
    kind, entity = one.members[0]
    return COTERMINOUS_ORDER.index(kind), entity


def _areas(universe: Universe, groups: Sequence[OfficialGroups]) -> _Areas:
    compared = np.zeros(CODES, dtype=np.bool_)
    for iteration in universe.lists.iterations:
        is_everywhere = iteration.listed is TabulationList.COMMON
        compared[int(iteration.code)] = is_everywhere and iteration.level is IterationLevel.DETAILED
    parts = []
    for one in groups:
        if one.geography.entity_kind in COTERMINOUS_ORDER:
            rows = compared[one.code]
            chance = _log_chance_of_a_number(universe, one)
            numbers = _independent_numbers(one)
            level = np.full(int(rows.sum()), LEVELS.index(one.geography))
            signature = signatures(one)[rows]
            parts.append((level, one.entity[rows], signature, (numbers * chance)[rows]))
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return _Areas(none, none, none.astype(np.uint64), none.astype(np.float64))
    level, entity, signature, log_chance = (np.concatenate(column) for column in zip(*parts, strict=True))
    _, first, area = np.unique(entity * len(LEVELS) + level, return_index=True, return_inverse=True)
    sums, logs = np.zeros(len(first), dtype=np.uint64), np.zeros(len(first))
    np.add.at(sums, area, signature)
    np.add.at(logs, area, log_chance)
    return _Areas(level[first], entity[first], sums, logs)


def _independent_numbers(groups: OfficialGroups) -> NDArray[np.int64]:
    """How many numbers of each group have noise of their own: its cells that are shown, or its total."""
    is_shown = groups.cells == Cell.NUMBER
    cells = [number for number, line in enumerate(groups.lines) if line.cells == 1]
    return np.asarray(np.maximum(is_shown[:, cells].sum(axis=1), is_shown.any(axis=1)), dtype=np.int64)


def _log_chance_of_a_number(universe: Universe, groups: OfficialGroups) -> float:
    """The logarithm of the chance of the likeliest value of one draw of noise; 0 if nothing is measured."""
    level = universe.level_of(groups.geography, IterationLevel.DETAILED, groups.family)
    if Stage.STAGE_2 not in level.design.stages:
        return 0.0
    return log(float(level.design.noise(Stage.STAGE_2).chance_between(0, 1).mid()))


def signatures(groups: OfficialGroups) -> NDArray[np.uint64]:
    """For each group a number that two groups share if they have the same code, table and numbers."""
    family = groups.family.number * 16 + groups.family.number_of(groups.shape)
    mixed = _mixed(groups.code.astype(np.uint64) * np.uint64(256) + np.uint64(family * 2 + groups.is_known))
    for column in range(groups.counts.shape[1]):
        number = groups.counts[:, column].astype(np.uint64) * np.uint64(4) + groups.cells[:, column]
        mixed = _mixed(mixed ^ number)
    return mixed


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64: spreads every bit over all bits."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def donors_of(groups: Sequence[OfficialGroups], sets: Sequence[PassSets]) -> tuple[list[Donors], int]:
    """Whose numbers each group has, and how many groups of areas with the same blocks have numbers of their own.

    For each set and group the first kind that has it gave it to the others, if their numbers are the same.
    """
    set_of = {member: number for number, member in _numbered_members(sets)}
    keys, ranks = [], []
    for one in groups:
        number, family = _set_numbers(one, set_of), one.family.number
        keys.append(np.where(number < 0, NO_DONOR, (number * CODES + one.code) * 16 + family))
        ranks.append(np.full(len(one), _rank(one.geography.entity_kind)))
    if not groups:
        return [], 0
    key, rank = np.concatenate(keys), np.concatenate(ranks)
    level = np.concatenate([np.full(len(one), LEVELS.index(one.geography)) for one in groups])
    entity, signature = np.concatenate([one.entity for one in groups]), np.concatenate([*map(signatures, groups)])
    in_set = np.flatnonzero(key != NO_DONOR)
    order = in_set[np.lexsort((rank[in_set], key[in_set]))]
    _, first, which = np.unique(key[order], return_index=True, return_inverse=True)
    donor = order[first][which]
    is_copy = (signature[order] == signature[donor]) & (order != donor)
    differing = int((signature[order] != signature[donor]).sum())
    of_level, of_entity = np.full(len(key), NO_DONOR), np.full(len(key), NO_DONOR)
    of_level[order[is_copy]], of_entity[order[is_copy]] = level[donor[is_copy]], entity[donor[is_copy]]
    ends = np.cumsum([len(one) for one in groups])
    parts = zip(np.split(of_level, ends[:-1]), np.split(of_entity, ends[:-1]), strict=True)
    return [Donors(*part) for part in parts], differing


def _set_numbers(
    groups: OfficialGroups, set_of: Mapping[tuple[TabulationPass, EntityKind, int], int]
) -> NDArray[np.int64]:
    """For each group the number of the set that its area is in, or -1."""
    where = groups.geography.tabulation_pass, groups.geography.entity_kind
    distinct, position = np.unique(groups.entity, return_inverse=True)
    numbers = [set_of.get((*where, entity), -1) for entity in distinct.tolist()]
    return np.array(numbers, dtype=np.int64)[position]


def _rank(kind: EntityKind) -> int:
    return COTERMINOUS_ORDER.index(kind) if kind in COTERMINOUS_ORDER else len(COTERMINOUS_ORDER)


def _numbered_members(sets: Sequence[PassSets]) -> Iterator[tuple[int, tuple[TabulationPass, EntityKind, int]]]:
    numbered = enumerate((of_pass.tabulation_pass, one) for of_pass in sets for one in of_pass.sets)
    return ((number, (which, *member)) for number, (which, one) in numbered for member in one.members)
