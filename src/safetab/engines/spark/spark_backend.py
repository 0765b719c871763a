"""Counting on a cluster: finds files wherever Spark reads them, and fetches what is public."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from safetab.config.run_config import ReaderKind
from safetab.engines.backend import Persons
from safetab.engines.contract import CountingEngine, EngineSettings
from safetab.engines.known_lists import KnownLists
from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.encoded_persons import CodeLists, looked_up, tracts_with_blocks
from safetab.engines.spark.executor_python import executors_have_python
from safetab.engines.spark.options import BY_EXPRESSIONS, BY_LOOPS, TABLE_PREFIX, SparkOptions
from safetab.engines.spark.person_rules import report_broken_rules
from safetab.engines.spark.person_source import files_at, located, read_persons
from safetab.engines.spark.session import SPARK_ERRORS, hadoop_configuration, java, spark_session
from safetab.engines.spark.spark_engine import SparkEngine
from safetab.foundation.failures import raise_if_refused_in_words
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput
from safetab.planning.planner import PublicFiles
from safetab.products.record import RecordLayout
from safetab.readers.geography import GEOGRAPHY_TABLE
from safetab.readers.person_files import person_file_names, unreadable
from safetab.readers.table_files import TableForm

_PUBLIC_FOLDER = "public"


class SparkBackend:
    """Keeps to the protocol `Backend`; Spark is started when it is needed, and stopped at the end."""

    def __init__(self, options: SparkOptions, settings: EngineSettings, log: Callable[[str], None]) -> None:
        self._options = options
        self._settings = settings
        self._log = log
        self._open = ExitStack()

    def persons(self, data: Path, record: RecordLayout) -> Checked[Persons]:
        """The files of the data directory by their names alone, or what --persons names: no record is read here."""
        given = self._options.persons
        if given is None:
            named = person_file_names(data, record)
            return Checked(None if named.value is None else PersonLocation.of_files(named.value), named.findings)
        findings, location = FindingsOf("--persons"), None
        with self._reached(given, findings):
            location = located(self._session, given, findings)
        return Checked(location, findings.findings)

    def cef_persons(self, data: Path, states: Sequence[str]) -> Checked[Persons]:  # noqa: ARG002
        findings = FindingsOf("the command")
        findings.error(
            "--engine",
            f'the engine "spark" reads no CEF. Convert it first, safetab convert {data} FOLDER, which writes'
            ' confidential Parquet files; then give FOLDER as DATA, with "reader": "csv" in config.json.',
        )
        return Checked(None, findings.findings)

    def geography_folder(self, data: Path) -> Checked[Path]:
        """The data directory, or a folder of the run's own with a copy of what --geography names."""
        return Checked(data, ()) if self._options.geography is None else self._copied_geography

    @cached_property
    def _copied_geography(self) -> Checked[Path]:
        given = self._options.geography or ""
        findings, folder = FindingsOf("--geography"), self._settings.temporary_folder / _PUBLIC_FOLDER
        folder.mkdir()
        with self._reached(given, findings):
            if given.startswith(TABLE_PREFIX):
                self._copy_table(given.removeprefix(TABLE_PREFIX), folder, findings)
            else:
                self._copy_files(given, folder, findings)
        return Checked(None if findings.has_errors else folder, findings.findings)

    def number_of_persons(self, persons: Persons) -> int:  # noqa: ARG002 - only the executors could know
        return 0

    def engine(self, persons: Persons, files: PublicFiles) -> CountingEngine:
        if not isinstance(persons, PersonLocation):
            raise TypeError("Spark reads locations")
        return SparkEngine(self._session, persons, files, self._log, has_python=self._has_python)

    @property
    def remark(self) -> str | None:
        return BY_LOOPS if self._has_python else BY_EXPRESSIONS

    def judge(self, data: Path, known: KnownLists, rows_done: Callable[[int], None]) -> tuple[Finding, ...]:  # noqa: ARG002 - the executors do them all at once
        if known.reader is ReaderKind.CEF:
            return ()
        location = self.persons(data, known.record).value
        if not isinstance(location, PersonLocation):
            return ()
        findings, of_parts = FindingsOf(location.label), tuple[Finding, ...]()
        try:
            persons, of_parts = read_persons(self._session, location, known.record)
            if persons is not None:
                nowhere = np.zeros(len(known.blocks), dtype=np.int32)  # nobody is encoded, so any atom will do
                tracts = tracts_with_blocks(self._session, known.blocks, nowhere)
                judged = looked_up(known.record, persons, tracts, CodeLists(known.codes), known.states)
                report_broken_rules(judged.broken_rules.collect(), known.record, findings)
        except SPARK_ERRORS as error:
            self._log(f"Spark: {error}")
            raise_if_refused_in_words(error)
            findings.error("", unreadable(location.part_named_in(str(error)), location.form))
        except InvalidInput as invalid:  # Spark doesn't start: one finding among those that are there already
            return invalid.findings
        return of_parts + findings.findings

    def close(self) -> None:
        self._open.close()

    def _copy_table(self, name: str, folder: Path, findings: FindingsOf) -> None:
        if not self._session.catalog.tableExists(name):
            findings.error("", f"the catalog has no table {name}.")
            return
        pq.write_table(self._session.table(name).toArrow(), folder / f"{GEOGRAPHY_TABLE}{TableForm.PARQUET.value}")

    def _copy_files(self, given: str, folder: Path, findings: FindingsOf) -> None:
        parts = files_at(given, findings)
        is_folder = parts and [part.rpartition("/")[2] for part in parts] != [given.rstrip("/").rpartition("/")[2]]
        for part in parts:
            ending = next((form.value for form in TableForm if part.endswith(form.value)), "")
            target = folder / f"{GEOGRAPHY_TABLE}{ending}"
            if is_folder:
                (folder / GEOGRAPHY_TABLE).mkdir(exist_ok=True)
                target = folder / GEOGRAPHY_TABLE / part.rpartition("/")[2]
            self._copy(part, target)

    def _copy(self, source: str, target: Path) -> None:
        path = java().org.apache.hadoop.fs.Path
        files = path(source).getFileSystem(hadoop_configuration())
        files.copyToLocalFile(False, path(source), path(f"file://{target}"), True)  # no checksum file beside it

    @cached_property
    def _has_python(self) -> bool:
        return executors_have_python(self._session, self._log)

    @cached_property
    def _session(self) -> SparkSession:
        return self._open.enter_context(spark_session(self._options, self._settings, self._log))

    @contextmanager
    def _reached(self, given: str, findings: FindingsOf) -> Iterator[None]:
        try:
            _ = self._session  # started here, if it is not open yet
            yield
        except SPARK_ERRORS as error:
            self._log(f"Spark: {error}")
            findings.error("", f"{given} can't be reached; the confidential log has the reason.")
