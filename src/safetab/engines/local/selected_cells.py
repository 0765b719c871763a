"""The sex-by-age cells of the groups that were selected, all tables of a level together."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from safetab.engines.contract import cell_of_sex_age
from safetab.engines.local.person_loops import add_cells
from safetab.engines.local.state_persons import SortedPersons
from safetab.engines.pattern_table import IterationLists
from safetab.foundation.compiled import quick
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.safetab_p.tables import Table

_PARTS = 4


class SelectedCells:
    """A row for each selected group, by rising place; the cells of all rows lie one after the other."""

    def __init__(
        self, places_of: Mapping[Table, NDArray[np.int64]], number_at: NDArray[np.int64], iterations: int
    ) -> None:
        """`number_at` has the numbers of the level's iterations, out of so many of all levels."""
        self._places_of = places_of
        tables = list(places_of)
        places = np.concatenate([np.empty(0, dtype=np.int64), *places_of.values()])
        table_of_row = np.repeat(np.arange(len(tables)), [len(of_table) for of_table in places_of.values()])
        order = np.argsort(places, kind="stable")
        self._table_of_row = table_of_row[order]
        self._entity, position = np.divmod(places[order], len(number_at))
        self._iteration = number_at[position]
        self._cell_of_table = np.stack([cell_of_sex_age(table) for table in tables]).astype(np.int32)
        sizes = np.array([table.cells for table in tables], dtype=np.int64)[self._table_of_row]
        self._first_cell = np.cumsum(sizes) - sizes
        self._cells = np.zeros(int(sizes.sum()), dtype=np.int64)
        self._iterations = iterations

    def rows_of_entities(self, first: int, end: int) -> slice:
        return slice(*np.searchsorted(self._entity, [first, end]).tolist())

    def add_whole_state(self, rows: slice, by_sex_age: NDArray[np.int32]) -> None:
        """For groups that hold everybody of a state, who are counted by iteration, sex and age already."""
        for number, table in enumerate(self._places_of):
            chosen = np.flatnonzero(self._table_of_row[rows] == number) + rows.start
            first_of_cell = np.searchsorted(self._cell_of_table[number], np.arange(table.cells))  # cells follow ages
            cells = np.add.reduceat(by_sex_age[self._iteration[chosen]], first_of_cell, axis=1, dtype=np.int64)
            self._cells[self._first_cell[chosen][:, None] + np.arange(table.cells)] += cells

    def add_persons(
        self,
        rows: slice,
        entity_of_atom: NDArray[np.int64],
        persons: SortedPersons,
        lists: IterationLists,
        pool: ThreadPoolExecutor,
    ) -> None:
        """For groups that hold some atoms of a state: only the persons of these atoms are looked at."""
        atoms = np.argsort(entity_of_atom, kind="stable")
        entities, first_rows = np.unique(self._entity[rows], return_index=True)
        row_starts = np.append(first_rows + rows.start, rows.stop)
        sorted_entities = entity_of_atom[atoms]
        begins, ends = (np.searchsorted(sorted_entities, entities, side=side) for side in ("left", "right"))
        loop = quick(add_cells, persons.people)

        def add_part(part: NDArray[np.intp]) -> None:
            if not len(part):
                return
            loop(
                row_starts[part[0] : part[-1] + 2], self._iteration, begins[part], ends[part], atoms, persons.starts,
                persons.patterns, persons.sex_ages, lists.starts, lists.iterations, self._first_cell,
                self._table_of_row, self._cell_of_table, np.full(self._iterations, -1, dtype=np.int64), self._cells,
            )  # fmt: skip

        parts = np.array_split(np.arange(len(entities)), _PARTS)  # the rows of different entities have different cells
        list(pool.map(add_part, parts))

    def counts(self) -> Mapping[Table, ExactCounts]:
        found = {}
        for number, (table, places) in enumerate(self._places_of.items()):
            rows = np.flatnonzero(self._table_of_row == number)
            cells = self._cells[self._first_cell[rows][:, None] + np.arange(table.cells)]
            found[table] = ExactCounts(places, cells)
        return found
