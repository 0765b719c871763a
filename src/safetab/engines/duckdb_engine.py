"""The embedded engine: DuckDB reads text, Arrow reads Parquet; checking and counting is integer arithmetic on arrays.

The only module that imports duckdb. Its error messages quote values, so they go to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.engines.array_counter import ArrayCounter
from safetab.engines.counting_engine import EngineSettings, MiscountedPersons
from safetab.engines.encoding import Encoding
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.person_batches import PersonBatch, parquet_batches, person_batch, rows_of
from safetab.engines.person_encoder import PersonEncoder
from safetab.engines.person_source import parquet_files, parquet_source, text_source
from safetab.engines.state_persons import StatePersons
from safetab.failures import RunFailed
from safetab.findings import Finding, FindingsOf
from safetab.interruptible import interruptibly
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.readers.person_files import label_of
from safetab.readers.person_rules import BrokenRules, text_of_value
from safetab.readers.table_files import TableFiles, TableForm
from safetab.spec.geography_levels import TabulationPass
from safetab.spec.tables import Table

Log = Callable[[str], None]

_OUT_OF_MEMORY = "the database ran out of memory, or of room in --temp. Nothing was written. Give more with --memory."
_REJECT_RULES = {"INVALID ENCODING": "must be UTF-8 text"}


class DuckDbEngine:
    """Counts with DuckDB inside the process; keeps to the contract of `CountingEngine`."""

    def __init__(self, persons: TableFiles, files: PublicFiles, settings: EngineSettings, log: Log) -> None:
        self._persons = persons
        self._codes = files.lists.code_names
        self._log = log
        self._encoding = Encoding(files)
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
        self._stored = StatePersons(
            settings.temporary_folder,
            np.array([state.first_atom for state in self._encoding.states], dtype=np.int64),
            self._encoding.atom_count,
        )
        self._people: Mapping[TabulationPass, int] = {}
        self._counter = ArrayCounter(self._encoding, settings.threads)

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """Reads the files once: every row is checked, and its person encoded and stored."""
        findings = FindingsOf(label_of(self._persons))
        encoder = PersonEncoder(self._encoding, self._codes, self._stored, text_of_value)
        try:
            with self._errors_logged():
                for batch in self._batches():
                    encoder.add(batch)
                    rows_done(rows_of(batch))
                self._check_rejects(encoder.broken)
        except (duckdb.Error, pa.ArrowException):
            findings.error(
                "", "it can't be read: damaged, not what its ending says, or lines that end in different ways."
            )
            return findings.findings
        encoder.report_empty_passes(findings)
        encoder.broken.report(findings)
        self._people = encoder.people
        return findings.findings

    def _batches(self) -> Iterator[PersonBatch]:
        if self._persons.form is TableForm.PARQUET:
            yield from parquet_batches(self._persons)
            return
        rows = self._database.sql(f"SELECT * FROM {text_source(self._persons, keep_rejects=True)}")  # noqa: S608
        yield from map(person_batch, pa.RecordBatchReader.from_stream(rows))

    def _check_rejects(self, broken: BrokenRules) -> None:
        if self._persons.form is TableForm.PARQUET:
            return
        rejects = self._database.execute(
            "SELECT file_id, line, min(error_type) FROM reject_errors GROUP BY file_id, line"
        )
        for _, _, error_type in rejects.fetchall():
            broken.add(("", _REJECT_RULES.get(str(error_type), "a row must have 17 fields")), 1)

    def prepare(self) -> Mapping[TabulationPass, int]:
        counted = dict.fromkeys(self._people, 0)
        for state in self._counter.count(self._stored):
            counted[state.tabulation_pass] += state.persons.people
        if counted != self._people:
            raise MiscountedPersons("the engine did not encode every person once.")
        return counted

    # Counting

    def totals(self, level: LevelPlan) -> ExactCounts:
        return self._counter.totals(level)

    def cells(self, level: LevelPlan, places_of: Mapping[Table, NDArray[np.int64]]) -> Mapping[Table, ExactCounts]:
        return self._counter.cells(level, places_of)

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        fingerprint = RecordFingerprint(secret)
        try:
            with self._errors_logged():
                query = fingerprint.state_sums_sql(self._source(keep_rejects=False))
                sums = interruptibly(lambda: self._database.execute(query).fetchall(), self._database.interrupt)
        except duckdb.Error:
            raise RunFailed(
                "the person records could not be read again; the confidential log has the reason."
            ) from None
        return fingerprint.of_passes(sums)

    def close(self) -> None:
        self._counter.close()
        self._database.close()

    def _source(self, *, keep_rejects: bool) -> str:
        if self._persons.form is not TableForm.PARQUET:
            return text_source(self._persons, keep_rejects=keep_rejects)
        described = self._database.execute(f"DESCRIBE SELECT * FROM {parquet_files(self._persons)}").fetchall()  # noqa: S608
        return parquet_source(self._persons, {name: column_type for name, column_type, *_ in described})

    @contextmanager
    def _errors_logged(self) -> Iterator[None]:
        """DuckDB's words go to the confidential log; its answer to Ctrl-C is Ctrl-C, and want of memory is told."""
        try:
            yield
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            self._log(f"DuckDB: {error}")
            if isinstance(error, duckdb.OutOfMemoryException):
                raise RunFailed(_OUT_OF_MEMORY) from None
            raise
        except pa.ArrowException as error:
            self._log(f"Arrow: {error}")
            raise
        except RuntimeError as error:
            if str(error) == "Query interrupted":
                raise KeyboardInterrupt from None
            raise
