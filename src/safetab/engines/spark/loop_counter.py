"""Answers the two questions where Python on the executors counted: from their sums, or by asking them for cells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from safetab.engines.encoding import Encoding, StateAtoms
from safetab.engines.local.array_counter import ArrayCounter, CountedState
from safetab.engines.local.state_persons import SortedPersons
from safetab.engines.spark.broadcasts import sent
from safetab.engines.spark.executor_tasks import FOUND, count_cells
from safetab.engines.spark.sent_cells import SentCells
from safetab.engines.spark.sent_lists import Parts
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts, union_of
from safetab.products.product import Shape

_COUNTS = ("part", "people", "counted_starts", "iterations", "counts", "state_cells", "state_counts")
_RUNS = ("part", "starts", "run_starts", "run_patterns", "run_people", "attributes", "list_starts", "lists")
_NOWHERE, _NO_RUN = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
_NO_PERSONS = SortedPersons((_NOWHERE, _NOWHERE, _NO_RUN, _NO_RUN, np.empty(0, dtype=np.uint8)))
_MOST_CELLS_AHEAD = 1 << 24  # 128 MB


class LoopCounter(ArrayCounter):
    """Has the counts of states, by atom and by attribute, and none of their persons: these stay with the executors.

    Cells below states are asked for a few groups at a time, and each job costs more than its counting. So one job also
    counts the groups that come next and are large enough for tables. That is a guess, and decides nothing but how many
    jobs there are: a group that was not counted ahead is counted when it is asked for.
    """

    def __init__(self, encoding: Encoding, parts: Parts, kept: DataFrame) -> None:
        """`kept` has the rows of `executor_tasks.COUNTED`."""
        super().__init__(encoding, threads=1)
        self._parts, self._kept = parts, kept
        found = kept.where(F.col("people").isNotNull()).select(*_COUNTS).toArrow().to_pylist()
        rows = {row["part"]: row for row in found}
        self.people = dict.fromkeys(encoding.passes, 0)
        for number, row in rows.items():
            self.people[parts[number].tabulation_pass] += row["people"]
        self._states = [self._merged(state, rows) for state in encoding.states]
        self._latest: tuple[LevelPlan, ExactCounts] | None = None
        self._ahead: tuple[LevelPlan, ExactCounts] | None = None

    def _merged(self, state: StateAtoms, rows: Mapping[int, Mapping[str, Any]]) -> CountedState:
        """The counts of a state's parts: by atom one part after the other, by attribute added up."""
        lengths, iterations, counts = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        shape = len(self._encoding.iteration_number), self._encoding.record.attribute_values
        by_attribute = np.zeros(shape, dtype=np.int32)
        for number, part in enumerate(self._parts):
            if not state.first_atom <= part.first_atom < state.end_atom:
                continue
            if number not in rows:
                lengths.append(np.zeros(part.end_atom - part.first_atom, dtype=np.int64))
                continue
            row = rows[number]
            starts = np.frombuffer(row["counted_starts"], dtype=np.int64)
            lengths.append(starts[1:] - starts[:-1])
            iterations.append(np.frombuffer(row["iterations"], dtype=np.int32))
            counts.append(np.frombuffer(row["counts"], dtype=np.int32))
            cells = np.frombuffer(row["state_cells"], dtype=np.int64)
            by_attribute.reshape(-1)[cells] += np.frombuffer(row["state_counts"], dtype=np.int32)
        return CountedState(
            state.tabulation_pass,
            slice(state.first_atom, state.end_atom),
            _NO_PERSONS,
            np.cumsum(np.concatenate(lengths)),
            np.concatenate(iterations),
            np.concatenate(counts),
            by_attribute,
        )

    def totals(self, level: LevelPlan) -> ExactCounts:
        self._latest = level, super().totals(level)
        return self._latest[1]

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        if not level.level.geography.entity_kind.is_substate:
            return super().cells(level, groups_of)
        wanted = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *groups_of.values()]))
        ahead = self._ahead
        if ahead is None or ahead[0] is not level or not np.isin(wanted, ahead[1].indices).all():
            ahead = self._ahead = level, self._by_attribute_value(level, union_of(wanted, self._next(level, wanted)))
        return {shape: _in_cells(shape, ahead[1].of_groups(groups)) for shape, groups in groups_of.items()}

    def _next(self, level: LevelPlan, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Groups after the first that is wanted, which are likely to be wanted too; not more than memory is for."""
        totals = self._latest[1] if self._latest is not None and self._latest[0] is level else super().totals(level)
        is_large = 2 * totals.confidential_counts[:, 0] >= level.design.thresholds.first
        is_large &= ~level.universe.is_total_only[level.universe.index.iteration_of(totals.indices)]
        first = int(wanted[0]) if len(wanted) else 0
        likely = totals.indices[is_large & (totals.indices >= first)]
        return np.asarray(likely[: _MOST_CELLS_AHEAD // self._encoding.record.attribute_values])

    def _by_attribute_value(self, level: LevelPlan, groups: NDArray[np.int64]) -> ExactCounts:
        """A column for each value of the attribute."""
        selected = SentCells(level, groups, self._encoding, self._parts)
        runs = self._kept.where(F.col("part").isin(selected.parts_met)).select(*_RUNS)
        cells_sent = sent(self._kept.sparkSession, selected)
        for row in runs.mapInArrow(partial(count_cells, cells_sent), FOUND).toArrow().to_pylist():
            selected.add(*(np.frombuffer(row[name], dtype=np.int64) for name in ("cells", "counts")))
        cells_sent.destroy()
        (counts,) = selected.counts().values()
        return counts


def _in_cells(shape: Shape, by_value: ExactCounts) -> ExactCounts:
    cell_of_value = np.asarray(shape.cell_of_value)
    order = np.argsort(cell_of_value, kind="stable")
    first_of_cell = np.searchsorted(cell_of_value[order], np.arange(shape.cells))  # every cell has a value
    counts = np.add.reduceat(by_value.confidential_counts[:, order], first_of_cell, axis=1)
    return ExactCounts(by_value.indices, counts)
