"""Answers the two questions about encoded persons by grouping on the executors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.storagelevel import StorageLevel

from safetab.census.geography_levels import GeographyLevel
from safetab.engines.encoding import Encoding
from safetab.engines.spark.encoded_persons import PATTERN, literal
from safetab.engines.spark.state_counts import StateCounts
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape


class GroupCounter:
    """Keeps iterations by atom with the executors; those by state and attribute, which are few, come to the driver."""

    def __init__(self, session: SparkSession, persons: DataFrame, encoding: Encoding, iterations: Column) -> None:
        """`persons` has a row for each; `iterations` is the expression for those of a pattern."""
        self._session = session
        self._persons = persons
        self._encoding = encoding
        self._iterations = iterations
        self.kept: tuple[DataFrame, ...] = ()
        self._states = StateCounts(encoding, *[np.empty(0, dtype=np.int64)] * 4)
        self._latest: tuple[GeographyLevel, tuple[NDArray[np.int64], ...]] | None = None

    def count(self) -> None:
        by_atom = self._of_iterations(self._persons.groupBy("atom", *PATTERN), "atom")
        by_state = self._of_iterations(self._persons.groupBy("state", "attribute", *PATTERN), "state", "attribute")
        self.kept = (by_atom.persist(StorageLevel.MEMORY_AND_DISK),)
        self._states = StateCounts(self._encoding, *_columns(by_state))

    def _of_iterations(self, grouped: GroupedData, *keys: str) -> DataFrame:
        """One row per combination of keys and iteration that somebody has, with the number of people."""
        patterns = grouped.agg(F.count("*").alias("people"))
        memberships = patterns.select(*keys, F.explode(self._iterations).alias("iteration"), "people")
        counts: DataFrame = memberships.groupBy(*keys, "iteration").agg(F.sum("people").alias("people"))
        return counts

    def totals(self, level: LevelPlan) -> ExactCounts:
        if not level.level.geography.entity_kind.is_substate:
            return self._states.totals(level)
        entities, iterations, people = self._geography_totals(level)
        position = self._encoding.position_at(level)[iterations]
        is_there = position >= 0
        indices = level.universe.index.index_of(entities[is_there], position[is_there])
        order = np.argsort(indices, kind="stable")
        return ExactCounts(indices[order], people[is_there][order].reshape(-1, 1))

    def _geography_totals(self, level: LevelPlan) -> tuple[NDArray[np.int64], ...]:
        """Entity, iteration and number of people, of all iteration levels: they are asked for one after the other."""
        geography = level.level.geography
        if self._latest is None or self._latest[0] is not geography:
            (by_atom,) = self.kept
            counts = (
                by_atom.join(F.broadcast(self._entities(level)), "atom")
                .groupBy("entity", "iteration")
                .agg(F.sum("people").alias("people"))
            )
            self._latest = geography, _columns(counts)
        return self._latest[1]

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        if not level.level.geography.entity_kind.is_substate:
            return {shape: self._states.cells(level, shape, indices) for shape, indices in groups_of.items()}
        wanted = np.unique(level.universe.index.entity_of(np.concatenate(list(groups_of.values()))))
        position = F.get(_positions(self._encoding.position_at(level)), F.col("iteration"))
        cell_of = literal([list(shape.cell_of_value) for shape in groups_of], "array<array<int>>")
        counts = (
            self._persons.join(F.broadcast(self._entities(level, wanted)), "atom")
            .groupBy("entity", "attribute", *PATTERN)
            .agg(F.count("*").alias("people"))
            .select("entity", "attribute", F.explode(self._iterations).alias("iteration"), "people")
            .where(position >= 0)
            .withColumn("group", _group(level, position))
            .join(F.broadcast(self._selected(groups_of)), "group")
            .groupBy(
                "group", "shape", F.get(F.get(cell_of, F.col("shape")), F.col("attribute").cast("int")).alias("cell")
            )
            .agg(F.sum("people").alias("people"))
        )
        indices, shapes, cells, numbers = _columns(counts)
        return {
            shape: _counts_of(groups_of[shape], shape, shapes == number, indices, cells, numbers)
            for number, shape in enumerate(groups_of)
        }

    def _entities(self, level: LevelPlan, wanted: NDArray[np.int64] | None = None) -> DataFrame:
        """One row per atom that lies in an entity of the level, or in one that is wanted."""
        entity_of = self._encoding.entity_of_atom(level.level.geography, level.universe.entities)
        is_there = entity_of >= 0
        if wanted is not None:
            is_there &= np.isin(entity_of, wanted)
        atoms = np.flatnonzero(is_there).astype(np.int32)
        return self._session.createDataFrame(pa.table({"atom": atoms, "entity": entity_of[is_there].astype(np.int64)}))

    def _selected(self, groups_of: Mapping[Shape, NDArray[np.int64]]) -> DataFrame:
        indices = np.concatenate(list(groups_of.values()))
        shapes = np.repeat(
            np.arange(len(groups_of), dtype=np.int32), [len(of_shape) for of_shape in groups_of.values()]
        )
        return self._session.createDataFrame(pa.table({"group": indices, "shape": shapes}))


def _positions(positions: NDArray[np.int64]) -> Column:
    return literal(positions.tolist(), "array<int>")


def _group(level: LevelPlan, position: Column) -> Column:
    return F.col("entity") * level.universe.index.iterations + position


def _columns(counts: DataFrame) -> tuple[NDArray[np.int64], ...]:
    """The columns of a table of counts; it comes to the driver in batches."""
    table = counts.toArrow()
    return tuple(column.to_numpy().astype(np.int64) for column in table.columns)


def _counts_of(
    wanted: NDArray[np.int64],
    shape: Shape,
    is_of_shape: NDArray[np.bool_],
    indices: NDArray[np.int64],
    cells: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> ExactCounts:
    found = np.zeros((len(wanted), shape.cells), dtype=np.int64)
    found[np.searchsorted(wanted, indices[is_of_shape]), cells[is_of_shape]] = numbers[is_of_shape]
    return ExactCounts(wanted, found)
