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
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape


class GroupCounter:
    """Keeps two tables with the executors: iterations by atom, and iterations by state, attribute."""

    def __init__(self, session: SparkSession, persons: DataFrame, encoding: Encoding, iterations: Column) -> None:
        """`persons` has a row for each; `iterations` is the expression for those of a pattern."""
        self._session = session
        self._persons = persons
        self._encoding = encoding
        self._iterations = iterations
        self.kept: tuple[DataFrame, ...] = ()
        self._latest: tuple[GeographyLevel, tuple[NDArray[np.int64], ...]] | None = None

    def count(self) -> None:
        by_atom = self._of_iterations(self._persons.groupBy("atom", *PATTERN), "atom")
        by_state = self._of_iterations(self._persons.groupBy("state", "attribute", *PATTERN), "state", "attribute")
        self.kept = tuple(table.persist(StorageLevel.MEMORY_AND_DISK) for table in (by_atom, by_state))

    def _of_iterations(self, grouped: GroupedData, *keys: str) -> DataFrame:
        """One row per combination of keys and iteration that somebody has, with the number of people."""
        patterns = grouped.agg(F.count("*").alias("people"))
        memberships = patterns.select(*keys, F.explode(self._iterations).alias("iteration"), "people")
        counts: DataFrame = memberships.groupBy(*keys, "iteration").agg(F.sum("people").alias("people"))
        return counts

    def totals(self, level: LevelPlan) -> ExactCounts:
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
            by_atom, by_state = self.kept
            is_whole = not geography.entity_kind.is_substate
            counts = (
                (by_state if is_whole else by_atom)
                .join(F.broadcast(self._entities(level, by_states=is_whole)), "state" if is_whole else "atom")
                .groupBy("entity", "iteration")
                .agg(F.sum("people").alias("people"))
            )
            self._latest = geography, _columns(counts)
        return self._latest[1]

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        _, by_state = self.kept
        is_whole = not level.level.geography.is_substate
        selected = self._selected(groups_of)
        wanted = np.unique(level.universe.index.entity_of(np.concatenate(list(groups_of.values()))))
        entities = F.broadcast(self._entities(level, by_states=is_whole, wanted=wanted))
        position = F.get(_positions(self._encoding.position_at(level)), F.col("iteration"))
        if is_whole:
            people = by_state.join(entities, "state")
        else:
            people = (
                self._persons.join(entities, "atom")
                .groupBy("entity", "attribute", *PATTERN)
                .agg(F.count("*").alias("people"))
                .select("entity", "attribute", F.explode(self._iterations).alias("iteration"), "people")
            )
        cell_of = literal([list(shape.cell_of_value) for shape in groups_of], "array<array<int>>")
        counts = (
            people.where(position >= 0)
            .withColumn("group", _group(level, position))
            .join(F.broadcast(selected), "group")
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

    def _entities(self, level: LevelPlan, *, by_states: bool, wanted: NDArray[np.int64] | None = None) -> DataFrame:
        """One row per atom, or state, that lies in an entity of the level, or in one that is wanted."""
        entity_of = self._encoding.entity_of_atom(level.level.geography, level.universe.entities)
        keys = np.arange(len(entity_of)).astype(np.int32)
        name = "atom"
        if by_states:
            keys, first = np.unique(self._encoding.state_of_atom, return_index=True)
            keys, entity_of, name = keys.astype(np.int16), entity_of[first], "state"
        is_there = entity_of >= 0
        if wanted is not None:
            is_there &= np.isin(entity_of, wanted)
        return self._session.createDataFrame(
            pa.table({name: keys[is_there], "entity": entity_of[is_there].astype(np.int64)})
        )

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
