"""The engines of this process.

They read and encode records once, store them, and count them part by part. Arrow's error messages
quote values, so they go to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from threading import Lock

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.core.algorithm.run_plan import LevelPlan
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.counting.contract import EngineSettings, MiscountedRecords
from safetab.counting.encoding import Encoding
from safetab.counting.fingerprint import PartSums, RecordFingerprint
from safetab.counting.local.counter import RecordCounter
from safetab.counting.local.encoder import RecordEncoder
from safetab.counting.local.listed_areas import area_numbers_of
from safetab.counting.local.part_records import PartRecords
from safetab.counting.local.records import ValueBatch, batches_of, numbers_of, rows_of
from safetab.counting.local.rules import judge_rows
from safetab.foundation import failures
from safetab.foundation.compiled import load_compiler
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity
from safetab.foundation.in_threads import results_in_threads
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.planner import PublicFiles
from safetab.inputs.readers.forms.table_form import DamagedPart, MisshapenRows
from safetab.inputs.readers.table_files import TableFiles
from safetab.inputs.records.record_files import unreadable
from safetab.inputs.records.record_rules import report_passes
from safetab.model.census.area_levels import Pass
from safetab.model.products.product import Shape
from safetab.model.products.record import ListedAreas
from safetab.model.products.record_integers import AREA_DIGITS_END, RecordIntegers

Log = Callable[[str], None]


class ArrayEngine(RecordCounter):
    """Counts the records that `check` of a subclass stored, and whose number it set by pass."""

    def __init__(self, files: PublicFiles, settings: EngineSettings) -> None:
        super().__init__(Encoding(files), settings.threads)
        values = self._encoding.record.attribute_values
        self._stored = PartRecords(settings.temporary_folder, self._encoding.parts, values)
        self._record_count: Mapping[Pass, int] = {}

    def prepare(self) -> Mapping[Pass, int]:
        """Count every part; return each pass's number of records. Raises MiscountedRecords."""
        counted = dict.fromkeys(self._record_count, 0)
        for part in self.count(self._stored):
            counted[part.tabulation_pass] += len(part.records.attributes)
        if counted != self._record_count:
            raise MiscountedRecords("the engine did not encode every record once.")
        return counted

    def cells(
        self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]
    ) -> Mapping[Shape, ExactCounts]:
        """As `GroupCounts.cells`.

        Raises RunFailed if a file of records was cut short: its end can't be read.
        """
        self._stored.require_lengths()
        return super().cells(level, groups_of)

    def require_intact(self) -> None:
        """As `CountingEngine.require_intact`."""
        self._stored.require_intact()


class LocalEngine(ArrayEngine):
    """Reads tables inside the process; keeps to the contract of `CountingEngine`."""

    def __init__(
        self, records: TableFiles, files: PublicFiles, settings: EngineSettings, log: Log
    ) -> None:
        super().__init__(files, settings)
        self._files = records
        self._threads = settings.threads
        self._sizes = settings.sizes
        self._known = KnownLists.of_files(files)
        self._log = log

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Read, check, encode and store every row; once one is wrong, read again for all rules."""
        findings = FindingsOf(self._files.label)
        load_compiler(self._files.rows or 0)
        if not isinstance(self._encoding.record.area, ListedAreas):
            _ = self._encoding.area_lookup  # computed before threads ask for it
        of_thread = (self._encoding, self._stored, self._sizes)
        encoders = [RecordEncoder(*of_thread) for _ in range(self._threads)]
        try:
            with self._damage_as_invalid_input():
                are_right = self._encode(encoders, rows_done)
        except InvalidInput as invalid:
            with suppress(pa.ArrowException):
                judge_rows(self._files, self._known, findings, rows_done, self._sizes)
            return invalid.findings + findings.findings
        if are_right:
            counts = [encoder.record_count for encoder in encoders]
            self._record_count = {
                which: sum(count[which] for count in counts) for which in self._encoding.passes
            }
            in_no_pass = sum(encoder.in_no_pass for encoder in encoders)
            report_passes(self._record_count, in_no_pass, self._encoding.record, findings)
            encoders[0].units.report(findings, [encoder.units for encoder in encoders[1:]])
            return findings.findings
        judge_rows(self._files, self._known, findings, rows_done, self._sizes)
        if not findings.has_errors:
            raise MiscountedRecords(
                "rows that break a rule were found, and no rule that they break."
            )
        return findings.findings

    def _encode(self, encoders: list[RecordEncoder], rows_done: Callable[[int], None]) -> bool:
        """Whether all rows are right; if not, some may be unread.

        One thread at a time uses an encoder.
        """
        free, rows, one_at_a_time = SimpleQueue[RecordEncoder](), 0, Lock()
        for encoder in encoders:
            free.put(encoder)

        def batch_done(rows_of_batch: int) -> None:
            with (
                one_at_a_time
            ):  # a piece may be a whole file: progress is shown by batch, from any thread
                rows_done(rows_of_batch)

        records = batches_of(self._files, self._known.record, self._sizes)
        pieces = (partial(_encoded, batches, free, batch_done) for batches in records)
        with closing(results_in_threads(pieces, len(encoders))) as encoded:
            for rows_of_piece, are_right in encoded:
                if not are_right:
                    return False
                rows += rows_of_piece
        self._compare(rows)
        return True

    def _compare(self, rows: int) -> None:
        """Compare with what the bytes of the files say, which is found without this reader."""
        if rows != self._files.rows:
            raise MiscountedRecords("the number of rows read differs from the number in the files.")

    def fingerprint(self, secret: bytes) -> Mapping[str, str]:
        """Each pass's fingerprint. Raises InvalidInput or RunFailed if files or records changed."""
        record, sums = self._known.record, list[PartSums]()
        fingerprint = RecordFingerprint(secret, record.part_column)
        summed = partial(sums_of_records, fingerprint, self._encoding, RecordIntegers(record))
        pieces = (
            partial(summed, batches) for batches in batches_of(self._files, record, self._sizes)
        )
        try:
            with (
                self._damage_as_invalid_input(),
                closing(results_in_threads(pieces, self._threads)) as results,
            ):
                for sums_of_piece in results:
                    sums += sums_of_piece
        except (MisshapenRows, KeyError, ValueError):  # whose text quotes a value
            raise failures.RunFailed(
                "the records changed while they were read. Nothing was written."
            ) from None
        self._compare(sum(rows for _, rows, *_ in sums))
        return fingerprint.of_passes(sums, self._encoding.pass_of_part)

    @contextmanager
    def _damage_as_invalid_input(self) -> Iterator[None]:
        """Log Arrow's words.

        Raises InvalidInput if a file is damaged, MemoryError if memory ran out.
        """
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            self._log(f"Arrow: {error}")
            if isinstance(error, pa.ArrowException):
                failures.raise_if_the_machine_failed(error)
            failures.raise_if_refused_in_words(error)
            part = error.path.name if isinstance(error, DamagedPart) else None
            finding = Finding(
                Severity.ERROR, self._files.label, "", unreadable(part, self._files.form)
            )
            raise InvalidInput([finding]) from None
        except (ImportError, RuntimeError) as error:
            if failures.is_out_of_memory(error):
                raise MemoryError from None
            raise


def _encoded(
    batches: Iterable[ValueBatch],
    free: SimpleQueue[RecordEncoder],
    rows_done: Callable[[int], None],
) -> tuple[int, bool]:
    """The number of rows of the batches up to the first that is wrong.

    It comes with whether all rows are right.
    """
    encoder, rows = free.get(), 0
    try:
        for batch in batches:
            encoder.add(batch)
            encoder.units.add(batch)
            if not encoder.is_right:
                return rows, False
            rows += rows_of(batch)
            rows_done(rows_of(batch))
    except MisshapenRows:
        return rows, False
    finally:
        free.put(encoder)
    return rows, True


def sums_of_records(
    fingerprint: RecordFingerprint,
    encoding: Encoding,
    integers: RecordIntegers,
    batches: Iterable[ValueBatch],
) -> list[PartSums]:
    """The addends of these batches' records to the fingerprint, whether or not they are counted."""
    record, found = encoding.record, list[PartSums]()
    for batch in batches:
        columns, passes = numbers_of(batch, record, integers), None
        if isinstance(record.area, ListedAreas):
            areas = area_numbers_of(record).of_rows(batch)
            if int(areas.min(initial=0)) < 0:
                raise ValueError("an area is not listed")
            quotient, remainder = divmod(areas, AREA_DIGITS_END)
            columns |= {"area, upper digit": quotient, "area, lower digit": remainder}
            passes = encoding.listed_lookup.pass_of_area[areas]
        found += fingerprint.sums_of_columns(columns, passes)
    return found
