"""Persons whom Spark's own expressions check, encode and count: the executors need no Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.storagelevel import StorageLevel

from safetab.census.geography_levels import TabulationPass
from safetab.engines.encoding import Encoding
from safetab.engines.spark.encoded_persons import CodeLists, LookedUp, iterations_of_pattern
from safetab.engines.spark.executor_persons import PeopleOfPasses, Verdict
from safetab.engines.spark.group_counter import GroupCounter

StatesOfPass = Mapping[TabulationPass, Sequence[int]]


class ExpressionPersons:
    """Keeps to the protocol `ExecutorPersons`."""

    def __init__(self, persons: LookedUp, encoding: Encoding, codes: CodeLists, states_of_pass: StatesOfPass) -> None:
        self._encoding, self._codes, self._states = encoding, codes, states_of_pass
        self._encoded = persons.encoded(encoding.patterns.max_race_codes).persist(StorageLevel.MEMORY_AND_DISK)
        self._counter: GroupCounter | None = None

    def verdict(self) -> Verdict:
        found = self._encoded.groupBy("state", "is_right").count().collect()  # one row per state and verdict
        are_right = all(row.is_right for row in found)
        return Verdict(sum(row["count"] for row in found), people_of_states(found, self._states), are_right)

    def people(self) -> PeopleOfPasses:
        return people_by_pass(self._counted, self._states)

    def counts(self) -> GroupCounter:
        iterations = iterations_of_pattern(self._encoding.iteration_maps, self._codes, self._encoding.iteration_number)
        self._counter = GroupCounter(self._encoded.sparkSession, self._counted, self._encoding, iterations)
        self._counter.count()
        return self._counter

    @property
    def _counted(self) -> DataFrame:
        return self._encoded.where(F.col("atom").isNotNull() & F.col("is_right"))

    def close(self) -> None:
        for kept in (self._encoded, *(self._counter.kept if self._counter else ())):
            kept.unpersist()


def people_by_pass(persons: DataFrame, states_of_pass: StatesOfPass) -> PeopleOfPasses:
    """`persons` has the column state."""
    return people_of_states(persons.groupBy("state").count().collect(), states_of_pass)


def people_of_states(counts: Sequence[Row], states_of_pass: StatesOfPass) -> PeopleOfPasses:
    """Adds up the counts of states."""
    return {which: sum(row["count"] for row in counts if row.state in of) for which, of in states_of_pass.items()}
