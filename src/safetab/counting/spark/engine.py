"""The engine for records that stay with Spark's executors; only counts come to the driver.

Executors run the local engine's compiled loops. Spark's messages quote values: only the
confidential log gets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.counting.contract import MiscountedRecords
from safetab.counting.encoding import Encoding
from safetab.counting.fingerprint import RecordFingerprint
from safetab.counting.spark import executor
from safetab.counting.spark.counter import SparkCounter
from safetab.counting.spark.executor import RowsVerdict, results_of, send
from safetab.counting.spark.records import pieces_at, read_records, tasks_read
from safetab.counting.spark.rules import report_broken_rules
from safetab.counting.spark.session import SPARK_ERRORS, Log
from safetab.counting.spark.task_records import Pieces, TaskInputs
from safetab.foundation.failures import RunFailed, raise_if_refused_in_words
from safetab.foundation.findings import Finding, FindingsOf
from safetab.inputs.found_records import RecordLocation
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.planner import PublicFiles
from safetab.inputs.records.record_files import unreadable
from safetab.inputs.records.record_rules import report_passes, report_units
from safetab.model.census.area_levels import Pass
from safetab.model.products.product import Shape
from safetab.model.products.record import RecordLayout

_ERRORS = (*SPARK_ERRORS, pa.ArrowException)
_KEYS_TRIED = 30  # for each partition: the chance that none of them leads there is e to the -30


class SparkEngine:
    """Counts with Spark; keeps to the contract of `CountingEngine`.

    Contract: the records that `prepare` returns are those that are counted, each once.
    Proof: docs/privacy.md#counted-once.
    """

    def __init__(
        self, session: SparkSession, location: RecordLocation, files: PublicFiles, log: Log
    ) -> None:
        """The executors must have passed `session.require_python`."""
        self._session = session
        self._location = location
        self._known = KnownLists.of_files(files)
        self._record = self._known.record
        self._log = log
        self._encoding = Encoding(files)
        self._rows: DataFrame | None = None
        self._inputs: Broadcast[TaskInputs] | None = None
        self._pieces: Pieces = ()
        self._kept: DataFrame | None = None
        self._records: Mapping[Pass, int] = {}
        self._counter: SparkCounter | None = None

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Check, encode, count and keep every row in one scan.

        Another scan finds the broken rules, if any.
        """
        findings = FindingsOf(self._location.label)
        try:
            with self._errors_logged():
                self._rows, of_parts = read_records(self._session, self._location, self._record)
                if self._rows is None:
                    return of_parts
                verdict = self._verdict(self._rows)
                if not verdict.are_right:
                    report_broken_rules(self._rows, self._known, findings)
                    if not findings.has_errors:
                        raise MiscountedRecords(
                            "rows that break a rule were found, and no rule that they break."
                        )
                elif not of_parts:
                    self._compare(verdict.rows)
                    self._records = verdict.records
                    report_passes(verdict.records, verdict.in_no_pass, self._record, findings)
                self._report_units(self._rows, findings)
        except _ERRORS as error:
            raise_if_refused_in_words(error)
            part = self._location.part_named_in(str(error))
            findings.error("", unreadable(part, self._location.form))
            return findings.findings
        rows_done(verdict.rows)
        return of_parts + findings.findings

    def _compare(self, rows: int) -> None:
        """Compare with what the driver counted, if it did: the rows of a specification."""
        if self._location.rows not in {None, rows}:
            raise MiscountedRecords("the number of rows read differs from the number in the files.")

    def _report_units(self, rows: DataFrame, findings: FindingsOf) -> None:
        """Report rows of no unit and units of too many rows.

        Only their numbers come to the driver.
        """
        unit = self._record.unit
        if unit is None:
            return
        counted = rows.mapInArrow(partial(executor.count_units, self._inputs, unit), executor.UNITS)
        of_units = counted.groupBy("unit").sum("rows").toDF("unit", "rows")
        of_nobody = "coalesce(sum(if(unit IS NULL, rows, 0)), 0)"
        above = f"count_if(unit IS NOT NULL AND rows > {unit.most_records})"
        missing, too_many = of_units.selectExpr(of_nobody, above).collect()[0]
        report_units(unit, missing, too_many, findings)

    def _verdict(self, rows: DataFrame) -> RowsVerdict:
        """Encode, count and keep all records on the executors.

        Returns the verdict of all tasks together.
        """
        keys = _keys_of_partitions(self._session)
        inputs = TaskInputs.of_encoding(self._encoding, keys)
        self._pieces = inputs.pieces
        self._inputs = send(self._session, inputs)
        handed_on, read = _handed_to_tasks(rows, self._location, self._record)
        encoded = handed_on.mapInArrow(
            partial(executor.encode_records, self._inputs, read), executor.ENCODED
        )
        counted = encoded.repartition("key").mapInArrow(
            partial(executor.count_pieces, self._inputs), executor.COUNTED
        )
        self._kept = counted.persist(StorageLevel.MEMORY_AND_DISK)
        kept_verdicts = self._kept.where(self._kept["piece"] == executor.NO_PIECE).select("counts")
        verdicts: list[RowsVerdict] = results_of(kept_verdicts)
        return RowsVerdict(
            are_right=all(verdict.are_right for verdict in verdicts),
            rows=sum(verdict.rows for verdict in verdicts),
            records={
                which: sum(verdict.records[which] for verdict in verdicts)
                for which in self._encoding.passes
            },
            in_no_pass=sum(verdict.in_no_pass for verdict in verdicts),
        )

    def prepare(self) -> Mapping[Pass, int]:
        """Fetch the counts.

        Raises MiscountedRecords if another number of records is counted otherwise. Spark itself
        counts the rows that it reads by part. The tasks count those that they read by the column of
        parts or by the pass of each area, without looking at atoms.
        """
        rows, _, kept = self._checked()
        records = self._records
        with self._errors_as_run_failed():
            if executor.MISFIT in rows.columns:
                part_column = self._record.part_column
                rows_of_part = rows.groupBy(part_column).count().collect()
                records = {
                    which: sum(
                        row["count"] for row in rows_of_part if int(row[part_column]) in parts
                    )
                    for which, parts in self._encoding.parts_of_pass.items()
                }
            self._counter = SparkCounter(self._encoding, self._pieces, kept)
        if self._counter.records != records:
            raise MiscountedRecords("the engine did not encode every person once.")
        return records

    def totals(self, level: LevelPlan) -> ExactCounts:
        """The totals of the level's non-empty population groups."""
        with self._errors_as_run_failed():
            return self._prepared().totals(level)

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """The cells of the groups that got each shape, given by their rising indices."""
        with self._errors_as_run_failed():
            return self._prepared().cells(level, groups_of)

    def fingerprint(self, secret: bytes) -> Mapping[str, str]:
        """The fingerprint of each pass; the executors add up the records."""
        rows, inputs, _ = self._checked()
        with self._errors_as_run_failed():
            secret_sent = send(self._session, secret)
            try:
                handed_on, read = _handed_to_tasks(rows, self._location, self._record)
                sum_records = partial(executor.sum_records, inputs, secret_sent, read)
                sums = list(
                    chain.from_iterable(
                        results_of(handed_on.mapInArrow(sum_records, executor.RESULT))
                    )
                )
            finally:
                secret_sent.destroy()
        self._compare(sum(count for _, count, *_ in sums))
        fingerprint = RecordFingerprint(secret, self._record.part_column)
        return fingerprint.of_passes(sums, self._encoding.pass_of_part)

    def require_intact(self) -> None:
        """No record is on the driver's disk."""

    def close(self) -> None:
        """Let the executors forget the records. Does not stop the session; its creator does."""
        with self._errors_logged():
            if self._kept is not None:
                self._kept.unpersist()
            if self._inputs is not None:
                self._inputs.unpersist()
        if self._counter is not None:
            self._counter.close()

    def _checked(self) -> tuple[DataFrame, Broadcast[TaskInputs], DataFrame]:
        if self._rows is None or self._inputs is None or self._kept is None:
            raise RuntimeError("the records were not checked")
        return self._rows, self._inputs, self._kept

    def _prepared(self) -> SparkCounter:
        if self._counter is None:
            raise RuntimeError("the engine was not prepared")
        return self._counter

    @contextmanager
    def _errors_logged(self) -> Iterator[None]:
        try:
            yield
        except _ERRORS as error:
            self._log(f"{'Arrow' if isinstance(error, pa.ArrowException) else 'Spark'}: {error}")
            raise

    @contextmanager
    def _errors_as_run_failed(self) -> Iterator[None]:
        try:
            with self._errors_logged():
                yield
        except _ERRORS:
            message = "Spark failed; the confidential log has the reason. Nothing was written."
            raise RunFailed(message) from None


def _handed_to_tasks(
    rows: DataFrame, location: RecordLocation, record: RecordLayout
) -> tuple[DataFrame, executor.ReadBatches]:
    """The input of tasks, and the function by which they read it.

    The input is the rows that Spark reads, or the numbers of pieces. Arrow reads files with types
    that every executor sees, in the tasks: handing on rows would cost several times more.
    """
    form = location.form
    if form is not None and tasks_read(form, record):
        return rows, executor.read_pieces
    is_here = len(location.parts_of_this_machine) == len(location.parts)
    if form is None or not form.has_types or not is_here:
        return rows.select(*record.columns, executor.MISFIT), executor.read_rows
    return pieces_at(rows.sparkSession, location, record), executor.read_pieces


def _keys_of_partitions(session: SparkSession) -> list[int]:
    """A number for each partition that Spark's hash sends there.

    They spread parts evenly over tasks.
    """
    partitions = int(session.conf.get("spark.sql.shuffle.partitions"))
    partition = f"pmod(hash(CAST(id AS INT)), {partitions}) AS partition"
    hashed = session.range(_KEYS_TRIED * partitions).selectExpr("CAST(id AS INT) AS key", partition)
    key_of = {row.partition: row.key for row in hashed.collect()}
    return [key for _, key in sorted(key_of.items())]
