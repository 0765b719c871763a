"""Answers the two questions of a level from the executors' counts, or asks them for cells.

Imports no Spark. The driver has the counts by atom and iteration. The records themselves stay with
the executors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.exact_counts import ExactCounts, union_of
from safetab.counting.encoding import Encoding, PartAtoms
from safetab.counting.local.counter import CountedPart, RecordCounter, SelectedCells, sums_of_cells
from safetab.counting.local.part_records import SortedRecords
from safetab.counting.patterns import Int64s, IterationLists
from safetab.counting.spark.executor import (
    NO_PIECE,
    RESULT,
    Batches,
    PieceCounts,
    result_row,
    results_of,
    send,
)
from safetab.counting.spark.task_records import Pieces, unpacked
from safetab.model.products.product import Shape

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame

_NO_STARTS = np.empty(0, dtype=np.int64)
_NO_RUNS = np.empty(0, dtype=np.int32)
_NO_RECORDS = SortedRecords(_NO_STARTS, _NO_STARTS, _NO_RUNS, _NO_RUNS, np.empty(0, dtype=np.uint8))
_MOST_CELLS_AHEAD = 1 << 24  # 128 MB


class PieceCells(SelectedCells):
    """Groups of a level by attribute value, counted piece by piece.

    Confidential: large groups are in it.
    """

    def __init__(
        self, level: LevelPlan, groups: NDArray[np.int64], encoding: Encoding, pieces: Pieces
    ) -> None:
        values = encoding.record.attribute_values
        shape = Shape("", "", "", tuple(range(values)), ((None,),) * values, (), ())
        super().__init__(encoding, level, {shape: groups})
        self._entity_of_atom = encoding.entity_of_atom(level.level.geography)
        self._pieces = pieces

    @property
    def pieces_met(self) -> list[int]:
        """The pieces with an atom of a selected entity."""
        is_selected = np.isin(self._entity_of_atom, np.unique(self._entity))
        atoms_of_pieces = [slice(piece.first_atom, piece.end_atom) for piece in self._pieces]
        return [number for number, atoms in enumerate(atoms_of_pieces) if is_selected[atoms].any()]

    def counted(
        self, number: int, records: SortedRecords, lists: IterationLists
    ) -> tuple[Int64s, Int64s]:
        """The cells that a piece's records are in, and how many records each of them has."""
        piece = self._pieces[number]
        entities = self._entity_of_atom[piece.first_atom : piece.end_atom]
        first = entities.min(where=entities >= 0, initial=entities.max())  # -1 stands for no entity
        rows = self.rows_of_entities(int(first), int(entities.max()) + 1)
        for count in self.pieces_of_part(rows, entities, records, lists):
            count()
        bounds = np.append(self._first_cell, len(self._cells))
        first_cell = bounds[rows.start]
        cells = self._cells[first_cell : bounds[rows.stop]]
        found = np.flatnonzero(cells)
        counts = cells[found]
        cells[found] = 0
        return first_cell + found, counts

    def add(self, cells: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Add what `counted` returned for one piece."""
        self._cells[cells] += counts

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the shapes, which can't be pickled, and the counts, which are all 0."""
        return vars(self) | {"_groups_of": {}, "_sums": {}, "_cells": len(self._cells)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _cells=np.zeros(state["_cells"], dtype=np.int64))


def count_cells(sent: Broadcast[PieceCells], batches: Batches) -> Iterator[pa.RecordBatch]:
    """A task: the result of `PieceCells.counted` for each piece, given by rows of COUNTED."""
    selected = sent.value
    for batch in batches:
        for row in batch.to_pylist():
            yield result_row(selected.counted(row["piece"], *unpacked(row["runs"])))


class SparkCounter(RecordCounter):
    """Has the counts of parts, by atom and by attribute, and none of their records.

    Cells of areas inside parts are asked for a few groups at a time, and each job costs more than
    its counting. So a job also counts groups that come next and are large enough for tables. That
    guess decides nothing but the number of jobs: a group that was not counted ahead is counted when
    it is asked for.
    """

    def __init__(self, encoding: Encoding, pieces: Pieces, kept: DataFrame) -> None:
        """`kept` has the rows of `executor.COUNTED`."""
        super().__init__(encoding, threads=1)
        self._pieces = pieces
        self._kept = kept
        found = (
            kept.where(kept["piece"] != NO_PIECE).select("piece", "counts").toArrow().to_pylist()
        )
        counts_of_piece: dict[int, PieceCounts] = {
            row["piece"]: unpacked(row["counts"]) for row in found
        }
        self.records = dict.fromkeys(encoding.passes, 0)
        for number, counts in counts_of_piece.items():
            self.records[pieces[number].tabulation_pass] += counts.records
        self._counted_parts = [self._merged(part, counts_of_piece) for part in encoding.parts]
        self._latest: tuple[LevelPlan, ExactCounts] | None = None
        self._ahead: tuple[LevelPlan, ExactCounts] | None = None

    def _merged(self, part: PartAtoms, counts_of_piece: Mapping[int, PieceCounts]) -> CountedPart:
        """A part's counts: by atom, its pieces' one after the other; by attribute, added up."""
        lengths = [np.zeros(1, dtype=np.int64)]
        iterations = [np.empty(0, dtype=np.int32)]
        counts = [np.empty(0, dtype=np.int32)]
        shape = len(self._encoding.iteration_number), self._encoding.record.attribute_values
        by_attribute = np.zeros(shape, dtype=np.int32)
        for number, piece in enumerate(self._pieces):
            if not part.first_atom <= piece.first_atom < part.end_atom:
                continue
            if number not in counts_of_piece:
                lengths.append(np.zeros(piece.end_atom - piece.first_atom, dtype=np.int64))
                continue
            of_piece = counts_of_piece[number]
            lengths.append(of_piece.starts[1:] - of_piece.starts[:-1])
            iterations.append(of_piece.iterations)
            counts.append(of_piece.counts)
            by_attribute.reshape(-1)[of_piece.attribute_cells] += of_piece.attribute_counts
        by_atom = (
            np.cumsum(np.concatenate(lengths)),
            np.concatenate(iterations),
            np.concatenate(counts),
        )
        atoms = slice(part.first_atom, part.end_atom)
        return CountedPart(part.tabulation_pass, atoms, _NO_RECORDS, *by_atom, by_attribute)

    def totals(self, level: LevelPlan) -> ExactCounts:
        """The totals of the level's non-empty groups."""
        totals = super().totals(level)
        self._latest = level, totals
        return totals

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """The cells of the groups that got each shape, given by their rising indices."""
        if all(of.holds_whole_parts for of in self._ranges(level)):
            return super().cells(level, groups_of)
        wanted = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *groups_of.values()]))
        ahead = self._ahead
        if ahead is None or ahead[0] is not level or not np.isin(wanted, ahead[1].indices).all():
            groups = union_of(wanted, self._likely_next(level, wanted))
            ahead = level, self._by_attribute_value(level, groups)
            self._ahead = ahead
        found = {}
        for shape, groups in groups_of.items():
            by_value = ahead[1].of_groups(groups).confidential_counts
            found[shape] = ExactCounts(groups, sums_of_cells(shape)(by_value))
        return found

    def _likely_next(self, level: LevelPlan, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Large groups after the first wanted one, at most as many as memory is set aside for."""
        latest = self._latest
        totals = latest[1] if latest is not None and latest[0] is level else super().totals(level)
        least = level.design.thresholds.first or 0  # without thresholds, every group has cells
        is_large = 2 * totals.confidential_counts[:, 0] >= least
        is_large &= ~level.universe.is_total_only[level.universe.index.iteration_of(totals.indices)]
        first = int(wanted[0]) if len(wanted) else 0
        likely = totals.indices[is_large & (totals.indices >= first)]
        return np.asarray(likely[: _MOST_CELLS_AHEAD // self._encoding.record.attribute_values])

    def _by_attribute_value(self, level: LevelPlan, groups: NDArray[np.int64]) -> ExactCounts:
        """The counts of some groups, with a column for each value of the attribute."""
        selected = PieceCells(level, groups, self._encoding, self._pieces)
        met = self._kept["piece"].isin(selected.pieces_met)
        sent = send(self._kept.sparkSession, selected)
        runs = self._kept.where(met).select("piece", "runs")
        found = results_of(runs.mapInArrow(partial(count_cells, sent), RESULT))
        for cells, counts_of_cells in found:
            selected.add(cells, counts_of_cells)
        sent.destroy()
        (counts,) = selected.counts().values()
        return counts
