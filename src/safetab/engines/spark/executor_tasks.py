"""What Python on the executors does with persons: the local engine's own loops, task by task. Imports no Spark.

A column of bytes holds an array of integers, so that whole arrays and no single numbers cross between Python and Java.
Nothing of a person is written to disk here, and what a task raises goes to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.engines.local.array_counter import ArrayCounter, CountedState
from safetab.engines.local.person_batches import PersonBatch, person_batch, row_groups_of_part, rows_of
from safetab.engines.local.person_encoder import PersonEncoder
from safetab.engines.local.state_persons import SortedPersons
from safetab.engines.pattern_table import IterationLists
from safetab.engines.spark.sent_cells import SentCells
from safetab.engines.spark.sent_lists import SentEncoding, SentLists
from safetab.engines.spark.task_persons import EncodedPart, TaskPersons, renumbered
from safetab.foundation.version import VERSION

MISFIT = "misfit"
"""The column that `person_source` marks lines with that are no rows."""

ENCODED = "key int, part int, verdict binary, atoms binary, patterns binary, attributes binary, codes binary"
"""For each part that a task met people of a row; and a row with a verdict, and no part, for each task."""

COUNTED = (
    "part int, verdict binary, people bigint, counted_starts binary, iterations binary, counts binary,"
    " state_cells binary, state_counts binary, starts binary, run_starts binary, run_patterns binary,"
    " run_people binary, attributes binary, list_starts binary, lists binary"
)
"""The verdicts, and a row for each part with people: its counts, and its persons as runs."""

FOUND = "cells binary, counts binary"

_MOST_PERSONS = 1 << 21  # of one row of ENCODED
_NOBODY = -1

T_co = TypeVar("T_co", covariant=True)
Batches = Iterable[pa.RecordBatch]


class Sent(Protocol[T_co]):
    """A broadcast of Spark's."""

    @property
    def value(self) -> T_co: ...


def versions(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Whether this Python can do all of the below: its version of this package, from a task that has what it needs."""
    import numba  # noqa: F401, PLC0415 - loaded late elsewhere

    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"version": [VERSION]})


def encode_rows(sent: Sent[SentLists], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Of rows that Spark read: columns of text and MISFIT."""
    lists = sent.value
    read = (_batch_of_rows(batch, lists) for batch in batches if batch.num_rows)
    yield from _encoded(lists, read)


def encode_row_groups(sent: Sent[SentLists], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Of Parquet files that every executor sees; rows name a file and the first of its row groups to read together."""
    lists = sent.value
    firsts: dict[str, set[int]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            firsts.setdefault(row["path"], set()).add(row["first"])
    yield from _encoded(lists, _batches_of_files(firsts, lists))


def _batch_of_rows(batch: pa.RecordBatch, lists: SentLists) -> PersonBatch | None:
    """Nothing, if a line is no row."""
    return None if np.any(batch.column(MISFIT).to_numpy()) else person_batch(batch, lists.record)


def _batches_of_files(firsts: Mapping[str, set[int]], lists: SentLists) -> Iterator[PersonBatch]:
    for path, wanted in firsts.items():
        for row_groups in row_groups_of_part(Path(path)):
            if row_groups.numbers.start in wanted:
                yield from row_groups.batches(lists.record)


def _encoded(lists: SentLists, read: Iterable[PersonBatch | None]) -> Iterator[pa.RecordBatch]:
    """The persons by part, and at the end a verdict: whether all rows are right, how many, and how many by pass."""
    encoding, persons = SentEncoding(lists), TaskPersons(lists)
    encoder, rows, are_right = PersonEncoder(encoding, lists.codes, persons), 0, True
    for batch in read:
        rows += 0 if batch is None else rows_of(batch)
        are_right = are_right and batch is not None and _is_added(encoder, batch)
        if persons.people >= _MOST_PERSONS:
            yield from _part_rows(persons, encoding, lists)
    yield from _part_rows(persons, encoding, lists)
    verdict = np.array([are_right, rows, *(encoder.people[which] for which in encoding.passes)], dtype=np.int64)
    yield _row({"key": lists.keys[0], "part": _NOBODY, "verdict": verdict})


def _is_added(encoder: PersonEncoder, batch: PersonBatch) -> bool:
    """Whether all rows are right; text that is no UTF-8 is never right."""
    try:
        encoder.add(batch)
    except UnicodeDecodeError:
        return False
    return encoder.is_right


def _part_rows(persons: TaskPersons, encoding: SentEncoding, lists: SentLists) -> Iterator[pa.RecordBatch]:
    for number, part in persons.taken(encoding.patterns.codes):
        yield _row({"key": lists.keys[number], "part": number, **part.columns})


def count_parts(sent: Sent[SentLists], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Of rows of ENCODED: all rows of a part come to one task."""
    lists = sent.value
    persons = TaskPersons(lists)
    encoding = SentEncoding(lists)
    for batch in batches:
        for row in batch.to_pylist():
            if row["verdict"] is not None:
                yield _row({"part": _NOBODY, "verdict": row["verdict"]})
            else:
                persons.add_part(row["part"], EncodedPart.of_columns(row, persons.attribute_type), encoding.patterns)
    encoding.states = [lists.parts[number] for number in persons.numbers]
    counter = ArrayCounter(encoding, 1)
    for number, counted in zip(persons.numbers, counter.count(persons), strict=True):
        yield _row({"part": number, **_columns_of(counted), **_columns_of_runs(counted, encoding)})
    counter.close()


def _columns_of(counted: CountedState) -> dict[str, Any]:
    cells = np.flatnonzero(counted.by_attribute)
    return {
        "people": counted.persons.people,
        "counted_starts": counted.starts,
        "iterations": counted.iterations,
        "counts": counted.counts,
        "state_cells": cells,
        "state_counts": counted.by_attribute.reshape(-1)[cells],
    }


def _columns_of_runs(counted: CountedState, encoding: SentEncoding) -> dict[str, Any]:
    """The persons of a part, with the iterations of the patterns that it has."""
    starts, run_starts, run_patterns, run_people, attributes = counted.persons.runs
    patterns, pattern_of_run = renumbered(run_patterns, encoding.patterns.count)
    lists = encoding.lists_of(patterns)
    return {
        "starts": starts,
        "run_starts": run_starts,
        "run_patterns": pattern_of_run,
        "run_people": run_people,
        "attributes": attributes,
        "list_starts": lists.starts,
        "lists": lists.iterations,
    }


def count_cells(sent: Sent[SentCells], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Of rows of COUNTED: the selected cells that persons of a part are in, and how many of them."""
    selected = sent.value
    for batch in batches:
        for row in batch.to_pylist():
            cells, counts = selected.counted(row["part"], *_runs_of(row, selected.attribute_type))
            yield _row({"cells": cells, "counts": counts})


def _runs_of(row: Mapping[str, Any], attribute_type: np.dtype[Any]) -> tuple[SortedPersons, IterationLists]:
    """Of the same types, and as unwritable, as the local engine has them, so that one compiled loop serves both."""
    runs = (
        np.frombuffer(row["starts"], dtype=np.int64).copy(),
        np.frombuffer(row["run_starts"], dtype=np.int64).copy(),
        np.frombuffer(row["run_patterns"], dtype=np.int32),
        np.frombuffer(row["run_people"], dtype=np.int32),
        np.frombuffer(row["attributes"], dtype=attribute_type),
    )
    starts, lists = np.frombuffer(row["list_starts"], dtype=np.int64), np.frombuffer(row["lists"], dtype=np.int32)
    return SortedPersons(runs), IterationLists(starts.copy(), lists.copy())


def _row(columns: Mapping[str, int | bytes | NDArray[Any]]) -> pa.RecordBatch:
    """One row of ENCODED, COUNTED or FOUND, which begin with different columns; what isn't given is absent."""
    schema = _SCHEMAS[next(iter(columns))]
    values = {name: one.tobytes() if isinstance(one, np.ndarray) else one for name, one in columns.items()}
    return pa.RecordBatch.from_pylist([values], schema)


_ARROW_TYPES = {"int": pa.int32(), "bigint": pa.int64(), "binary": pa.binary()}


def _schema_of(columns: str) -> pa.Schema:
    """As Arrow writes what Spark's own spelling of columns says."""
    return pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in (one.split() for one in columns.split(","))])


_SCHEMAS = {schema.names[0]: schema for schema in map(_schema_of, (ENCODED, COUNTED, FOUND))}
