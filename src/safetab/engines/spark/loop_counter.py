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
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape

_COUNTS = ("part", "people", "counted_starts", "iterations", "counts", "state_cells", "state_counts")
_RUNS = ("part", "starts", "run_starts", "run_patterns", "run_people", "attributes", "list_starts", "lists")
_NOWHERE, _NO_RUN = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
_NO_PERSONS = SortedPersons((_NOWHERE, _NOWHERE, _NO_RUN, _NO_RUN, np.empty(0, dtype=np.uint8)))


class LoopCounter(ArrayCounter):
    """Has the counts of states, by atom and by attribute, and none of their persons: these stay with the executors."""

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

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        if not level.level.geography.entity_kind.is_substate:
            return super().cells(level, groups_of)
        selected = SentCells(level, groups_of, self._encoding, self._parts)
        runs = self._kept.where(F.col("part").isin(selected.parts_met)).select(*_RUNS)
        cells_sent = sent(self._kept.sparkSession, selected)
        for row in runs.mapInArrow(partial(count_cells, cells_sent), FOUND).toArrow().to_pylist():
            selected.add(*(np.frombuffer(row[name], dtype=np.int64) for name in ("cells", "counts")))
        cells_sent.destroy()
        return selected.counts()
