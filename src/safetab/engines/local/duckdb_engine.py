"""The embedded engine: DuckDB reads text, Arrow reads Parquet; checking and counting is integer arithmetic on arrays.

The only module that imports duckdb. Its error messages quote values, so they go to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import EngineSettings, MiscountedPersons
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.known_lists import KnownLists
from safetab.engines.local.array_engine import ArrayEngine
from safetab.engines.local.person_batches import DamagedPart, PersonBatch, parquet_batches, person_batch, rows_of
from safetab.engines.local.person_encoder import PersonEncoder
from safetab.engines.local.person_source import parquet_file, parquet_source, text_source
from safetab.engines.person_judge import judge_rows
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, FindingsOf
from safetab.foundation.interruptible import interruptibly
from safetab.planning.planner import PublicFiles
from safetab.readers.person_files import label_of, parts_by_header
from safetab.readers.person_rules import report_empty_passes
from safetab.readers.table_files import TableFiles, TableForm

Log = Callable[[str], None]

_OUT_OF_MEMORY = "the database ran out of memory, or of room in --temp. Nothing was written. Give more with --memory."
_UNREADABLE = "it can't be read: damaged, not what its ending says, or lines that end in different ways."


class DuckDbEngine(ArrayEngine):
    """Reads tables with DuckDB inside the process; keeps to the contract of `CountingEngine`."""

    def __init__(self, persons: TableFiles, files: PublicFiles, settings: EngineSettings, log: Log) -> None:
        super().__init__(files, settings)
        self._persons = persons
        self._known = KnownLists.of_files(files)
        self._log = log
        self._database = duckdb.connect()
        for setting, value in {
            "memory_limit": settings.memory,
            "threads": settings.threads,
            "temp_directory": str(settings.temporary_folder),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }.items():
            self._database.execute(f"SET {setting} = ?", [value])

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Reads the files once: every row is checked, and its person encoded and stored.

        At the first row that breaks a rule it stops, and the files are read again for all rules and line numbers.
        """
        findings = FindingsOf(label_of(self._persons))
        encoder = PersonEncoder(self._encoding, self._known.codes, self._stored)
        try:
            with self._errors_logged():
                are_right = self._encode(encoder, rows_done)
        except (duckdb.Error, pa.ArrowException) as error:
            of_part = f"{error.path.name}: " if isinstance(error, DamagedPart) else ""
            findings.error("", f"{of_part}{_UNREADABLE}")
            with suppress(pa.ArrowException):
                judge_rows(self._persons, self._known, findings, rows_done)
            return findings.findings
        if are_right:
            report_empty_passes(encoder.people, findings)
            self._people = encoder.people
            return findings.findings
        judge_rows(self._persons, self._known, findings, rows_done)
        if not findings.has_errors:
            raise MiscountedPersons("rows that break a rule were found, and no rule that they break.")
        return findings.findings

    def _encode(self, encoder: PersonEncoder, rows_done: Callable[[int], None]) -> bool:
        """Whether all rows are right; if not, some may be left unread."""
        rows = 0
        with closing(self._batches()) as batches:
            for batch in batches:
                encoder.add(batch)
                if not encoder.is_right:
                    return False
                rows += rows_of(batch)
                rows_done(rows_of(batch))
        if self._persons.form is not TableForm.PARQUET and self._has_rejects():
            return False
        self._compare(rows)
        return True

    def _compare(self, rows: int) -> None:
        """With what the bytes of the files say, which is found without a database."""
        if rows != self._persons.rows:
            raise MiscountedPersons("the rows that were read are not as many as the files hold.")

    def _batches(self) -> Generator[PersonBatch]:
        if self._persons.form is TableForm.PARQUET:
            yield from parquet_batches(self._persons, self._known.record)
            return
        for header, files in parts_by_header(self._persons, self._known.record):
            rows = self._database.sql(f"SELECT * FROM {text_source(files, header, keep_rejects=True)}")  # noqa: S608
            with pa.RecordBatchReader.from_stream(rows) as reader:
                yield from (person_batch(batch, self._known.record) for batch in reader)

    def _has_rejects(self) -> bool:
        return bool(self._database.execute("SELECT 1 FROM reject_errors LIMIT 1").fetchall())

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        fingerprint = RecordFingerprint(secret)
        try:
            with self._errors_logged():
                query = fingerprint.state_sums_sql(self._source(), self._known.record)
                sums = interruptibly(lambda: self._database.execute(query).fetchall(), self._database.interrupt)
                self._compare(sum(rows for _, rows, *_ in sums))
        except duckdb.Error:
            raise RunFailed(
                "the person records could not be read again; the confidential log has the reason."
            ) from None
        return fingerprint.of_passes(sums)

    def close(self) -> None:
        super().close()
        self._database.close()

    def _source(self) -> str:
        if self._persons.form is TableForm.PARQUET:
            return f"({' UNION ALL '.join(self._parquet_source(path) for path in self._persons.parts)})"
        ordered, columns = parts_by_header(self._persons, self._known.record), ", ".join(self._known.record.columns)
        sources = (text_source(files, header, keep_rejects=False) for header, files in ordered)
        return f"({' UNION ALL '.join(f'SELECT {columns} FROM {source}' for source in sources)})"  # noqa: S608

    def _parquet_source(self, path: Path) -> str:
        described = self._database.execute(f"DESCRIBE SELECT * FROM {parquet_file(path)}").fetchall()  # noqa: S608
        return parquet_source(path, self._known.record, {name: column_type for name, column_type, *_ in described})

    @contextmanager
    def _errors_logged(self) -> Iterator[None]:
        """DuckDB's words go to the confidential log; Ctrl-C stays Ctrl-C, and want of memory fails the run."""
        try:
            yield
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            self._log(f"DuckDB: {error}")
            if isinstance(error, duckdb.OutOfMemoryException):
                raise RunFailed(_OUT_OF_MEMORY) from None
            raise
        except MemoryError:
            raise RunFailed(_OUT_OF_MEMORY) from None
        except pa.ArrowException as error:
            self._log(f"Arrow: {error}")
            raise
        except RuntimeError as error:
            if str(error) == "Query interrupted":
                raise KeyboardInterrupt from None
            raise
