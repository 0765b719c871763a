"""The table of areas: the smallest areas, and the area of each kind that they lie in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.arrays import begins_run, run_starts
from safetab.model.census.area_levels import AreaKind
from safetab.model.census.census import Census

NO_ENTITY = -1
_Int64s = NDArray[np.int64]
_Positions = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Areas:
    """The smallest areas by rising number, and the entities that they lie in.

    Each lies in one entity of a kind, or in none.

    An entity has a number, which its id spells, and a position among the entities of its kind that
    this table has. Neighbours mostly share their entities, so positions are kept for runs of them.
    """

    smallest: _Int64s
    part: AreaKind  # its areas are held in memory one at a time, and filters name them
    _begins: _Int64s  # where the runs begin
    _positions: Mapping[AreaKind, _Positions]  # by run
    _ids: Mapping[AreaKind, _Int64s]  # rising

    @classmethod
    def of_numbers(
        cls, smallest: _Int64s, number_of: Mapping[AreaKind, _Int64s], part: AreaKind
    ) -> Self:
        """The table of smallest areas, which rise.

        Each comes with the number of its entity of each kind, or NO_ENTITY.
        """
        begins = run_starts(*number_of.values())
        return cls.of_runs(
            smallest, begins, {kind: numbers[begins] for kind, numbers in number_of.items()}, part
        )

    @classmethod
    def of_runs(
        cls,
        smallest: _Int64s,
        begins: _Int64s,
        number_of: Mapping[AreaKind, _Int64s],
        part: AreaKind,
    ) -> Self:
        """The table with entities' numbers by run.

        Raises ValueError if one lies in no area of its parent's kind.
        """
        positions, ids = dict[AreaKind, _Positions](), dict[AreaKind, _Int64s]()
        for kind, numbers in number_of.items():
            found, position = _distinct(numbers)
            are_outside = int(np.searchsorted(found, NO_ENTITY, side="right"))
            ids[kind], positions[kind] = (
                found[are_outside:],
                (position - are_outside).astype(np.int32),
            )
        areas = cls(smallest, part, begins, positions, ids)
        for kind in ids:
            if kind.parent in ids and (areas.parents(kind, kind.parent) == NO_ENTITY).any():
                raise ValueError(f"not every {kind.noun} lies in one {kind.parent.noun}")
        return areas

    @classmethod
    def none(cls, census: Census) -> Self:
        """The table without any area."""
        nothing = np.empty(0, dtype=np.int64)
        return cls.of_numbers(nothing, dict.fromkeys(census.kinds, nothing), census.part)

    def entities(self, kind: AreaKind) -> _Int64s:
        """The numbers of the entities of a kind, rising."""
        return self._ids[kind]

    def number_of_run(self, kind: AreaKind) -> _Int64s:
        """The number of the entity of this kind that each run lies in, or NO_ENTITY."""
        return np.append(self._ids[kind], NO_ENTITY)[self._positions[kind]]

    def number_of_area(self, kind: AreaKind) -> _Int64s:
        """The number of the entity of this kind that each smallest area lies in, or NO_ENTITY."""
        return np.repeat(self.number_of_run(kind), self._sizes)

    def parents(self, kind: AreaKind, coarser: AreaKind) -> _Positions:
        """The position of the one entity of another kind that holds each entity of a kind.

        NO_ENTITY if no one entity holds it.
        """
        inner, outer = self._positions[kind], self._positions[coarser]
        is_inside = inner != NO_ENTITY
        least = np.full(len(self._ids[kind]), len(self._ids[coarser]), dtype=np.int32)
        most = np.full(len(self._ids[kind]), NO_ENTITY, dtype=np.int32)
        np.minimum.at(least, inner[is_inside], outer[is_inside])
        np.maximum.at(most, inner[is_inside], outer[is_inside])
        return np.where(least == most, least, np.int32(NO_ENTITY))

    def of_parts(self, numbers: Iterable[int]) -> Self:
        """The areas of these parts. Copies no area if they are neighbours."""
        is_wanted = np.append(np.isin(self._ids[self.part], list(numbers)), [False])[
            self._positions[self.part]
        ]
        runs, sizes = np.flatnonzero(is_wanted), np.where(is_wanted, self._sizes, 0)
        if len(runs) and is_wanted[runs[0] : runs[-1] + 1].all():
            begin = int(self._begins[runs[0]])
            return self._with_runs(self.smallest[begin : begin + int(sizes.sum())], sizes)
        return self._with_runs(self.smallest[np.repeat(is_wanted, self._sizes)], sizes)

    def chosen(self, is_chosen: NDArray[np.bool_]) -> Self:
        """The smallest areas that are chosen."""
        sizes = (
            np.add.reduceat(is_chosen, self._begins, dtype=np.int64)
            if len(self._begins)
            else self._begins
        )
        return self._with_runs(self.smallest[is_chosen], sizes)

    @property
    def _sizes(self) -> _Int64s:
        """The number of smallest areas of each run."""
        return np.diff(self._begins, append=len(self.smallest))

    def _with_runs(self, smallest: _Int64s, sizes: _Int64s) -> Self:
        """The table of the areas that are left of each run.

        Positions are among the entities that are left.
        """
        runs = np.flatnonzero(sizes)
        positions, ids = dict[AreaKind, _Positions](), dict[AreaKind, _Int64s]()
        for kind, before in self._ids.items():
            kept = self._positions[kind][runs]
            is_left = np.zeros(len(before) + 1, dtype=np.bool_)
            is_left[kept] = True
            is_left[NO_ENTITY] = False
            after = np.where(is_left, np.cumsum(is_left, dtype=np.int32) - 1, NO_ENTITY).astype(
                np.int32
            )
            ids[kind], positions[kind] = before[is_left[:-1]], after[kept]
        return type(self)(smallest, self.part, np.cumsum(sizes[runs]) - sizes[runs], positions, ids)

    def atoms(self) -> Atoms:
        """The atoms: records are counted by atom and then added up to entities."""
        finest = max(self._ids, key=lambda kind: len(kind.around))
        columns = [self._positions[kind] for kind in dict.fromkeys((self.part, finest, *self._ids))]
        runs = np.lexsort(columns[::-1])
        is_new = begins_run(*(column[runs] for column in columns))
        atom_of_run = np.empty(len(runs), dtype=np.int32)
        atom_of_run[runs] = np.cumsum(is_new, dtype=np.int32) - 1
        of_atom = {kind: positions[runs[is_new]] for kind, positions in self._positions.items()}
        return Atoms(self.smallest, np.repeat(atom_of_run, self._sizes), self.part, of_atom)


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Sets of smallest areas that share all entities; those of a part are neighbours."""

    smallest: _Int64s  # rising
    atom_of_area: _Positions
    _part: AreaKind
    _positions: Mapping[AreaKind, _Positions]

    @property
    def count(self) -> int:
        """The number of atoms."""
        return len(self.part_of_atom)

    @property
    def part_of_atom(self) -> _Positions:
        """The position of the part of each atom."""
        return self._positions[self._part]

    def positions(self, kind: AreaKind) -> _Positions:
        """The position of the entity of a kind that each atom lies in, or NO_ENTITY."""
        return self._positions[kind]


def _distinct(numbers: _Int64s) -> tuple[_Int64s, NDArray[np.intp]]:
    """The distinct numbers, rising, and the position of each number among them."""
    if (numbers[1:] >= numbers[:-1]).all():  # the usual case, and the fastest
        is_new = begins_run(numbers)
        return numbers[is_new], np.cumsum(is_new) - 1
    return np.unique(numbers, return_inverse=True)
