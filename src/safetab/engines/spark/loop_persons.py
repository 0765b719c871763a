"""Persons whom Python on the executors checks, encodes and counts with the local engine's loops; Spark moves arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.storagelevel import StorageLevel

from safetab.census.geography_levels import TabulationPass
from safetab.engines.encoding import Encoding
from safetab.engines.local.person_batches import row_groups_of_part
from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.broadcasts import sent
from safetab.engines.spark.executor_persons import PeopleOfPasses, Verdict
from safetab.engines.spark.executor_tasks import COUNTED, ENCODED, MISFIT, count_parts, encode_row_groups, encode_rows
from safetab.engines.spark.loop_counter import LoopCounter
from safetab.engines.spark.sent_lists import SentLists
from safetab.readers.table_files import TableForm

_KEYS_TRIED = 30  # for each partition: that none of them leads there has a chance of e to the -30


class LoopPersons:
    """Keeps to the protocol `ExecutorPersons`."""

    def __init__(
        self,
        rows: DataFrame,
        location: PersonLocation,
        encoding: Encoding,
        codes: Collection[str],
        states_of_pass: Mapping[TabulationPass, Sequence[int]],
    ) -> None:
        """`rows` are those of `read_persons`."""
        session = rows.sparkSession
        self._encoding = encoding
        self._lists = SentLists.of_encoding(encoding, codes, states_of_pass, _keys(session))
        self._sent = sent(session, self._lists)
        encoded = _encoded(rows, location, self._lists, self._sent)
        counted = encoded.repartition("key").mapInArrow(partial(count_parts, self._sent), COUNTED)
        self._kept = counted.persist(StorageLevel.MEMORY_AND_DISK)

    def verdict(self) -> Verdict:
        found = self._kept.where(F.col("verdict").isNotNull()).select("verdict").toArrow()
        of_tasks = [np.frombuffer(one, dtype=np.int64) for one in found.column(0).to_pylist()]
        verdicts = np.stack([np.array([True, 0, *[0] * len(self._encoding.passes)]), *of_tasks])  # there may be no task
        rows, *people = verdicts[:, 1:].sum(axis=0).tolist()
        return Verdict(rows, dict(zip(self._encoding.passes, people, strict=True)), bool(verdicts[:, 0].all()))

    def people(self) -> PeopleOfPasses:
        return self._counter.people

    def counts(self) -> LoopCounter:
        return self._counter

    @cached_property
    def _counter(self) -> LoopCounter:
        return LoopCounter(self._encoding, self._lists.parts, self._kept)

    def close(self) -> None:
        self._kept.unpersist()
        self._sent.unpersist()
        if "_counter" in vars(self):
            self._counter.close()


def _encoded(
    rows: DataFrame, location: PersonLocation, lists: SentLists, lists_sent: Broadcast[SentLists]
) -> DataFrame:
    """Of rows that Spark reads; but a Parquet file that every executor sees is read there, by row groups."""
    paths = location.parts_of_this_machine
    if location.form is TableForm.PARQUET and len(paths) == len(location.parts):
        row_groups = rows.sparkSession.createDataFrame(_row_groups(paths))
        return row_groups.mapInArrow(partial(encode_row_groups, lists_sent), ENCODED)
    return rows.select(*lists.record.columns, MISFIT).mapInArrow(partial(encode_rows, lists_sent), ENCODED)


def _row_groups(paths: Iterable[Path]) -> pa.Table:
    """A row for each that is read at once."""
    found = [(str(path), one.numbers.start) for path in paths for one in row_groups_of_part(path)]
    names = ("path", "first")
    return pa.Table.from_pylist([dict(zip(names, one, strict=True)) for one in found], _ROW_GROUPS)


_ROW_GROUPS = pa.schema([("path", pa.string()), ("first", pa.int64())])


def _keys(session: SparkSession) -> list[int]:
    """For each partition of a shuffle a number that Spark sends there, so that parts are spread evenly."""
    partitions = int(session.conf.get("spark.sql.shuffle.partitions"))
    tried = f"sequence(0, {_KEYS_TRIED * partitions})"
    (row,) = session.sql(f"SELECT transform({tried}, key -> pmod(hash(key), {partitions})) AS found").collect()
    key_of = {partition: key for key, partition in reversed(list(enumerate(row.found)))}
    return [key for _, key in sorted(key_of.items())]
