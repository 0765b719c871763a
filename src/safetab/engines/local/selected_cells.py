"""The cells of the groups that were selected, all shapes of a level together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.census.group_universe import GroupIndex
from safetab.engines.local import person_arrays
from safetab.engines.local.counting_loops import add_cells
from safetab.engines.local.state_persons import SortedPersons
from safetab.engines.pattern_table import IterationLists
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape

_PARTS = 4


class SelectedCells:
    """A row for each selected group, by rising index; the cells of all rows lie one after the other."""

    def __init__(
        self,
        index: GroupIndex,
        groups_of: Mapping[Shape, NDArray[np.int64]],
        number_at: NDArray[np.int64],
        iterations: int,
    ) -> None:
        """`number_at` has the numbers of the level's iterations, out of so many of all levels."""
        self._groups_of = groups_of
        shapes = list(groups_of)
        indices = np.concatenate([np.empty(0, dtype=np.int64), *groups_of.values()])
        shape_of_row = np.repeat(np.arange(len(shapes)), [len(of_shape) for of_shape in groups_of.values()])
        order = np.argsort(indices, kind="stable")
        self._shape_of_row = shape_of_row[order]
        self._entity = index.entity_of(indices[order])
        self._iteration = number_at[index.iteration_of(indices[order])]
        self._cell_of_shape = np.stack([shape.cell_of_value for shape in shapes]).astype(np.int32)
        sizes = np.array([shape.cells for shape in shapes], dtype=np.int64)[self._shape_of_row]
        self._first_cell = np.cumsum(sizes) - sizes
        self._cells = np.zeros(int(sizes.sum()), dtype=np.int64)
        self._iterations = iterations

    def rows_of_entities(self, first: int, end: int) -> slice:
        return slice(*np.searchsorted(self._entity, [first, end]).tolist())

    def add_whole_state(self, rows: slice, by_attribute: NDArray[np.int32]) -> None:
        """For groups that hold everybody of a state, who are counted by iteration and attribute already."""
        for number, shape in enumerate(self._groups_of):
            chosen = np.flatnonzero(self._shape_of_row[rows] == number) + rows.start
            by_cell = np.argsort(self._cell_of_shape[number], kind="stable")
            first_of_cell = np.searchsorted(self._cell_of_shape[number][by_cell], np.arange(shape.cells))
            counted = by_attribute[self._iteration[chosen]][:, by_cell]
            cells = np.add.reduceat(counted, first_of_cell, axis=1, dtype=np.int64)
            self._cells[self._first_cell[chosen][:, None] + np.arange(shape.cells)] += cells

    def parts_of_state(
        self, rows: slice, entity_of_atom: NDArray[np.int64], persons: SortedPersons, lists: IterationLists
    ) -> Iterator[Callable[[], None]]:
        """For groups that hold some atoms of a state, whose persons alone are looked at.

        Parts add to different cells, since these are of different entities: threads may do them at once.
        """
        atoms = np.argsort(entity_of_atom, kind="stable")
        entities, first_rows = np.unique(self._entity[rows], return_index=True)
        row_starts = np.append(first_rows + rows.start, rows.stop)
        sorted_entities = entity_of_atom[atoms]
        begins, ends = (np.searchsorted(sorted_entities, entities, side=side) for side in ("left", "right"))
        loop = compiled_if_worthwhile(add_cells, persons.people, person_arrays.add_cells)
        for part in np.array_split(np.arange(len(entities)), _PARTS):
            if len(part):
                rows_of_part = row_starts[part[0] : part[-1] + 2]
                yield partial(
                    loop, rows_of_part, self._iteration, begins[part], ends[part], atoms, persons.runs, lists.starts,
                    lists.iterations, self._first_cell, self._shape_of_row, self._cell_of_shape,
                    np.full(self._iterations, -1, dtype=np.int64), self._cells,
                )  # fmt: skip

    def counts(self) -> Mapping[Shape, ExactCounts]:
        found = {}
        for number, (shape, indices) in enumerate(self._groups_of.items()):
            rows = np.flatnonzero(self._shape_of_row == number)
            cells = self._cells[self._first_cell[rows][:, None] + np.arange(shape.cells)]
            found[shape] = ExactCounts(indices, cells)
        return found
