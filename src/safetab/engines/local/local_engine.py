"""The engine of this process: Arrow and compiled loops read the files; the rest is integer arithmetic on arrays.

DuckDB takes the fingerprint of the records, and this is the only module that imports it. Its error messages quote
values, as Arrow's do, so they go to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pyarrow as pa

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import EngineSettings, MiscountedPersons
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.known_lists import KnownLists
from safetab.engines.local.array_engine import ArrayEngine
from safetab.engines.local.person_batches import DamagedPart, PersonBatch, batches_of, rows_of
from safetab.engines.local.person_encoder import PersonEncoder
from safetab.engines.local.person_source import parquet_file, parquet_source, text_source
from safetab.engines.local.text_batches import MisshapenRows, text_batches
from safetab.engines.person_judge import judge_rows
from safetab.foundation.failures import (
    RunFailed,
    is_out_of_memory,
    raise_if_refused_in_words,
    raise_if_the_machine_failed,
)
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity
from safetab.foundation.in_threads import results_in_threads
from safetab.foundation.interruptible import interruptibly
from safetab.foundation.late_module import late_module
from safetab.planning.planner import PublicFiles
from safetab.readers.person_files import label_of, parts_by_header, unreadable
from safetab.readers.person_rules import report_empty_passes
from safetab.readers.table_files import TableFiles, TableForm

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = late_module("duckdb")  # records are read without it

Log = Callable[[str], None]

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OUT_OF_MEMORY = (
    "DuckDB ran out of memory, or of space in --temp, while taking the fingerprint. Nothing was written. Raise"
    " --memory or free space."
)
_NO_ROOM = "the disk of --temp is full. Nothing was written."
_WORDS_FOR_NO_ROOM = ("No space left", "Disk quota exceeded")


def _encoded(batches: Iterable[PersonBatch], free: SimpleQueue[PersonEncoder]) -> tuple[int, bool]:
    """How many rows the batches have, and whether all of them are right; it ends where one is not."""
    encoder, rows = free.get(), 0
    try:
        for batch in batches:
            encoder.add(batch)
            if not encoder.is_right:
                return rows, False
            rows += rows_of(batch)
    except MisshapenRows:
        return rows, False
    finally:
        free.put(encoder)
    return rows, True


def _require_control_groups() -> None:
    """DuckDB ends the whole process if the machine refuses to read these: the run fails before that."""
    for name in ("cpu.max", "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"):
        try:
            (_CONTROL_GROUPS / name).read_bytes()
        except OSError as error:  # most systems have one or the other
            raise_if_the_machine_failed(error)


class LocalEngine(ArrayEngine):
    """Reads tables inside the process; keeps to the contract of `CountingEngine`."""

    def __init__(self, persons: TableFiles, files: PublicFiles, settings: EngineSettings, log: Log) -> None:
        super().__init__(files, settings)
        self._persons = persons
        self._threads = settings.threads
        self._known = KnownLists.of_files(files)
        self._settings = settings
        self._log = log

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        _require_control_groups()
        database = duckdb.connect()
        for setting, value in {
            "memory_limit": self._settings.memory,
            "threads": self._settings.threads,
            "temp_directory": str(self._settings.temporary_folder),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }.items():
            database.execute(f"SET {setting} = ?", [value])
        return database

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Reads the files once: every row is checked, and its person encoded and stored.

        At the first row that breaks a rule it stops, and the files are read again for all rules and line numbers.
        """
        findings = FindingsOf(label_of(self._persons))
        _ = self._encoding.block_lookup  # once, before threads ask for it
        encoders = [PersonEncoder(self._encoding, self._known.codes, self._stored) for _ in range(self._threads)]
        try:
            with self._reading_errors_logged():
                are_right = self._encode(encoders, rows_done)
        except pa.ArrowException as error:
            raise_if_refused_in_words(error)
            part = error.path.name if isinstance(error, DamagedPart) else None
            findings.error("", unreadable(part, self._persons.form))
            with suppress(pa.ArrowException):
                judge_rows(self._persons, self._known, findings, rows_done)
            return findings.findings
        if are_right:
            self._people = {
                which: sum(encoder.people[which] for encoder in encoders) for which in self._encoding.passes
            }
            report_empty_passes(self._people, findings)
            return findings.findings
        judge_rows(self._persons, self._known, findings, rows_done)
        if not findings.has_errors:
            raise MiscountedPersons("rows that break a rule were found, and no rule that they break.")
        return findings.findings

    def _encode(self, encoders: list[PersonEncoder], rows_done: Callable[[int], None]) -> bool:
        """Whether all rows are right; if not, some may be left unread. Each encoder is used by one thread at a time."""
        free, rows = SimpleQueue[PersonEncoder](), 0
        for encoder in encoders:
            free.put(encoder)
        pieces = (partial(_encoded, batches, free) for batches in self._pieces())
        with closing(results_in_threads(pieces, len(encoders))) as encoded:
            for rows_of_piece, are_right in encoded:
                if not are_right:
                    return False
                rows += rows_of_piece
                rows_done(rows_of_piece)
        self._compare(rows)
        return True

    def _compare(self, rows: int) -> None:
        """With what the bytes of the files say, which is found without a database."""
        if rows != self._persons.rows:
            raise MiscountedPersons("the number of rows read differs from the number in the files.")

    def _pieces(self) -> Iterator[Iterable[PersonBatch]]:
        """All records in pieces, whose batches are made by whoever asks for them."""
        pieces_of = batches_of if self._persons.form is TableForm.PARQUET else text_batches
        return pieces_of(self._persons, self._known.record)

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        fingerprint = RecordFingerprint(secret)
        with self._database_errors_logged():
            query = fingerprint.state_sums_sql(self._source(), self._known.record)
            sums = interruptibly(lambda: self._database.execute(query).fetchall(), self._database.interrupt)
            self._compare(sum(rows for _, rows, *_ in sums))
        return fingerprint.of_passes(sums)

    def close(self) -> None:
        super().close()
        if "_database" in vars(self):
            self._database.close()

    def _source(self) -> str:
        if self._persons.form is TableForm.PARQUET:
            return f"({' UNION ALL '.join(self._parquet_source(path) for path in self._persons.parts)})"
        ordered, columns = parts_by_header(self._persons, self._known.record), ", ".join(self._known.record.columns)
        sources = (text_source(files, header) for header, files in ordered)
        return f"({' UNION ALL '.join(f'SELECT {columns} FROM {source}' for source in sources)})"  # noqa: S608

    def _parquet_source(self, path: Path) -> str:
        described = self._database.execute(f"DESCRIBE SELECT * FROM {parquet_file(path)}").fetchall()  # noqa: S608
        return parquet_source(path, self._known.record, {name: column_type for name, column_type, *_ in described})

    @contextmanager
    def _reading_errors_logged(self) -> Iterator[None]:
        """Arrow's words go to the confidential log."""
        try:
            yield
        except pa.ArrowException as error:
            self._log(f"Arrow: {error}")
            raise_if_the_machine_failed(error)
            raise
        except OSError as error:
            if error.errno is not None:
                raise
            self._log(f"Arrow: {error}")
            raise pa.ArrowInvalid(str(error)) from None
        except (ImportError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise MemoryError from None
            raise

    @contextmanager
    def _database_errors_logged(self) -> Iterator[None]:
        """DuckDB's words go to the confidential log; Ctrl-C stays Ctrl-C, and want of memory fails the run."""
        try:
            yield
        except self._database_errors as error:
            if isinstance(error, duckdb.InterruptException):
                raise KeyboardInterrupt from None
            self._log(f"DuckDB: {error}")
            if isinstance(error, duckdb.OutOfMemoryException) or is_out_of_memory(error):
                raise RunFailed(_OUT_OF_MEMORY) from None
            if any(words in str(error) for words in _WORDS_FOR_NO_ROOM):
                raise RunFailed(_NO_ROOM) from None
            raise_if_refused_in_words(error)  # else it is stricter than Arrow, which read the files before
            message = unreadable(None, self._persons.form)
            raise InvalidInput([Finding(Severity.ERROR, label_of(self._persons), "", message)]) from None
        except (MemoryError, ImportError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise RunFailed(_OUT_OF_MEMORY) from None
            if str(error) == "Query interrupted":
                raise KeyboardInterrupt from None
            raise

    @property
    def _database_errors(self) -> tuple[type[Exception], ...]:
        """None while there is no database: to name them would load it, in the middle of another failure."""
        return (duckdb.Error,) if "_database" in vars(self) else ()
