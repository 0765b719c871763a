"""The executors' tasks in Python: the local engine's loops on some of the records.

Imports no Spark. Results cross between Python and Java as pickled bytes, since single numbers would
cost more than counting them. Tasks write no record to disk, and Spark's message about a task that
failed goes to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.counting.fingerprint import RecordFingerprint
from safetab.counting.local.counter import CountedPart, RecordCounter
from safetab.counting.local.encoder import RecordEncoder
from safetab.counting.local.engine import sums_of_records
from safetab.counting.local.part_records import SortedRecords
from safetab.counting.local.records import ValueBatch, rows_of, value_batch, value_batches
from safetab.counting.local.units import rows_of_units
from safetab.counting.patterns import IterationLists
from safetab.counting.spark.task_records import (
    TaskEncoding,
    TaskInputs,
    TaskRecords,
    packed,
    renumbered,
    unpacked,
)
from safetab.foundation.batch_sizes import USUAL_SIZES
from safetab.foundation.findings import VERSION
from safetab.inputs.readers.forms.all_forms import form_of
from safetab.model.census.area_levels import Pass
from safetab.model.products.record import RecordLayout
from safetab.model.products.record_integers import RecordIntegers
from safetab.model.specification.values import Unit

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

NEEDED_PACKAGES = ("numba", "numpy", "pandas", "pyarrow")
"""The packages of an executor's Python besides safetab and PySpark, which asks for pandas."""

MISFIT = "misfit"
"""A column that is 0 for a row with its fields of text, else `WRONG_SHAPE` or `NOT_UTF8`."""
WRONG_SHAPE = 1
NOT_UTF8 = 2

RESULT = "result binary"
"""The one column of a task's results; `results_of` unpickles them."""
ENCODED = "key int, piece int, result binary"
"""A row for each piece with records of a task, and a row of `NO_PIECE` with the task's verdict."""
UNITS = "unit binary, rows long"
"""A row for each unit of a batch, with its number of rows; null stands for no unit."""
COUNTED = "piece int, counts binary, runs binary"
"""A row for each piece, with its counts and records.

The verdicts are rows, too, as `counts` of `NO_PIECE`.
"""
NO_PIECE = -1

_MOST_RECORDS = 1 << 21  # of one row of ENCODED
_ARROW_TYPES = {"int": pa.int32(), "binary": pa.binary()}

_T = TypeVar("_T")
Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class RowsVerdict:
    """Whether all rows are right, and how many they are.

    It also says how many records each pass and no pass has.
    """

    are_right: bool
    rows: int
    records: Mapping[Pass, int]
    in_no_pass: int


@dataclass(frozen=True, slots=True, eq=False)
class PieceCounts:
    """A piece's counts: of iterations by atom, and of (iteration, attribute) cells.

    Those of iterations are as in `CountedPart`.
    """

    records: int
    starts: NDArray[np.int64]
    iterations: NDArray[np.int32]
    counts: NDArray[np.int32]
    attribute_cells: NDArray[np.int64]
    attribute_counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Packed:
    """Unpickles to `held`. PySpark's encrypted stream takes bytes, and no buffers of arrays."""

    held: object

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return unpacked, (packed(self.held),)


def send(session: SparkSession, value: _T) -> Broadcast[_T]:
    """Broadcast a value to all executors, once for all tasks."""
    packed: Broadcast[Any] = session.sparkContext.broadcast(_Packed(value))
    return packed


def results_of(results: DataFrame) -> list[Any]:
    """Fetch the results of all tasks, which are the only column."""
    return [unpacked(result) for result in results.toArrow().column(0).to_pylist()]


def describe_python(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The version of safetab that the task finds, and the packages that it lacks."""
    for _ in batches:
        pass
    missing = []
    for name in NEEDED_PACKAGES:
        try:
            import_module(name)
        except ImportError:
            missing.append(name)
    yield result_row((VERSION, missing))


ReadBatches = Callable[[TaskInputs, Batches], Iterator[ValueBatch | None]]
"""The function by which a task gets records from Spark's rows: `read_rows` or `read_pieces`."""


def read_rows(inputs: TaskInputs, batches: Batches) -> Iterator[ValueBatch | None]:
    """The records of rows of text columns and MISFIT; None for a batch with a misfit."""
    for batch in batches:
        if batch.num_rows:
            has_misfits = bool(np.any(batch.column(MISFIT).to_numpy()))
            yield None if has_misfits else batch_of_rows(batch, inputs.record)


def batch_of_rows(batch: pa.RecordBatch, record: RecordLayout) -> ValueBatch:
    """The records of rows of text columns, as bytes: no value is too strange to be judged."""
    columns = [batch.column(name).cast(pa.binary()) for name in record.columns]
    return value_batch(pa.RecordBatch.from_arrays(columns, names=list(record.columns)), record)


def read_pieces(inputs: TaskInputs, batches: Batches) -> Iterator[ValueBatch]:
    """The records of files that every executor sees; a row has a path and the number of a piece."""
    for _, batch in pieces_in(batches, inputs.record):
        yield batch


def pieces_in(batches: Batches, record: RecordLayout) -> Iterator[tuple[Path, ValueBatch]]:
    """The records of `read_pieces`, each batch with the path of its file."""
    wanted: dict[Path, set[int]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            wanted.setdefault(Path(row["path"]), set()).add(row["piece"])
    for path, numbers in wanted.items():
        for number, piece in enumerate(form_of(path).pieces(path, record, USUAL_SIZES)):
            for records in value_batches(path, piece, record) if number in numbers else ():
                yield path, records


def encode_records(
    sent: Broadcast[TaskInputs], read: ReadBatches, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Check and encode a task's records: rows of ENCODED, the verdict at the end."""
    inputs = sent.value
    encoding = TaskEncoding(inputs)
    records = TaskRecords(inputs)
    encoder = RecordEncoder(encoding, records)
    rows = 0
    are_right = True
    for batch in read(inputs, batches):
        rows += 0 if batch is None else rows_of(batch)
        are_right = are_right and batch is not None and _is_added(encoder, batch)
        if records.count >= _MOST_RECORDS:
            yield from _encoded_pieces(records, encoding, inputs)
    yield from _encoded_pieces(records, encoding, inputs)
    verdict = RowsVerdict(are_right, rows, dict(encoder.record_count), encoder.in_no_pass)
    yield _row(ENCODED, inputs.keys[0], NO_PIECE, packed(verdict))


def _is_added(encoder: RecordEncoder, batch: ValueBatch) -> bool:
    """Whether all rows so far are right; text of a Parquet file that is not UTF-8 never is."""
    try:
        encoder.add(batch)
    except UnicodeDecodeError:
        return False
    return encoder.is_right


def _encoded_pieces(
    records: TaskRecords, encoding: TaskEncoding, inputs: TaskInputs
) -> Iterator[pa.RecordBatch]:
    for piece, encoded in records.take_pieces(encoding.patterns.codes):
        yield _row(ENCODED, inputs.keys[piece], piece, encoded)


def count_pieces(sent: Broadcast[TaskInputs], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Count whole pieces, all of whose rows of ENCODED come to this task: rows of COUNTED."""
    inputs = sent.value
    encoding = TaskEncoding(inputs)
    records = TaskRecords(inputs)
    for batch in batches:
        for row in batch.to_pylist():
            if row["piece"] == NO_PIECE:
                yield _row(COUNTED, NO_PIECE, row["result"], None)
            else:
                records.add_piece(row["piece"], row["result"], encoding.patterns)
    encoding.parts = [inputs.pieces[number] for number in records.numbers]
    counter = RecordCounter(encoding, 1)
    for number, counted in zip(records.numbers, counter.count(records), strict=True):
        yield _row(COUNTED, number, packed(_counts(counted)), packed(_runs(counted, encoding)))
    counter.close()


def _counts(counted: CountedPart) -> PieceCounts:
    cells, records = np.flatnonzero(counted.by_attribute), len(counted.records.attributes)
    by_cell = counted.by_attribute.reshape(-1)[cells]
    return PieceCounts(records, counted.starts, counted.iterations, counted.counts, cells, by_cell)


def _runs(counted: CountedPart, encoding: TaskEncoding) -> tuple[SortedRecords, IterationLists]:
    """The records of a piece, and the iterations of the patterns that occur in it."""
    starts, run_starts, run_patterns, run_sizes, attributes = counted.records
    patterns, pattern_of_run = renumbered(run_patterns, encoding.patterns.count)
    pattern_of_run.flags.writeable = False  # like the local engine's
    runs = SortedRecords(starts, run_starts, pattern_of_run, run_sizes, attributes)
    return runs, encoding.lists_of(patterns)


def sum_records(
    sent: Broadcast[TaskInputs], secret: Broadcast[bytes], read: ReadBatches, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """The addends of a task's records to the fingerprint, as lists of `PartSums`.

    The records break no rule.
    """
    inputs = sent.value
    fingerprint = RecordFingerprint(secret.value, inputs.record.part_column)
    integers = RecordIntegers(inputs.record)
    summed = partial(sums_of_records, fingerprint, TaskEncoding(inputs), integers)
    for batch in read(inputs, batches):
        try:
            sums = None if batch is None else summed([batch])
        except ValueError:  # which quotes a value
            sums = None
        if sums is None:
            raise ValueError("a row that was right before is wrong now")
        yield result_row(sums)


def count_units(
    sent: Broadcast[TaskInputs], unit: Unit, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """A task: how many rows of its pieces each unit has, as rows of UNITS.

    Reads no other column.
    """
    record = replace(sent.value.record, columns=(unit.column,))
    for _, batch in pieces_in(batches, record):
        yield from rows_of_units(batch, record, unit).combine_chunks().to_batches()


def result_row(result: object) -> pa.RecordBatch:
    """One row of RESULT."""
    return _row(RESULT, packed(result))


def _row(columns: str, *values: int | bytes | None) -> pa.RecordBatch:
    """One row of columns that are spelled as Spark spells them."""
    names_and_kinds = (column.split() for column in columns.split(","))
    schema = pa.schema([(name, _ARROW_TYPES[kind]) for name, kind in names_and_kinds])
    return pa.RecordBatch.from_pylist([dict(zip(schema.names, values, strict=True))], schema)
