"""Finds records wherever Spark reads them, and copies the public geography to the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from safetab.counting.contract import CountingEngine, EngineSettings
from safetab.counting.spark.engine import SparkEngine
from safetab.counting.spark.options import TABLE_PREFIX, SparkOptions
from safetab.counting.spark.records import files_at, located, read_records, tasks_read
from safetab.counting.spark.rules import report_broken_rules
from safetab.counting.spark.session import (
    SPARK_ERRORS,
    Log,
    hadoop_configuration,
    java,
    require_python,
    spark_session,
)
from safetab.foundation.failures import raise_if_refused_in_words
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput, Severity
from safetab.foundation.progress import Progress
from safetab.inputs.area_files import AREAS_TABLE
from safetab.inputs.found_records import RecordLocation, Records
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.planner import PublicFiles
from safetab.inputs.readers.forms.all_forms import PARQUET, TABLE_FORMS
from safetab.inputs.records.record_files import find_record_files, record_file_names, unreadable
from safetab.model.config.run_config import ReaderKind
from safetab.model.products.record import RecordLayout

_ONLY_PARQUET = (
    'with a specification, the engine "spark" reads Parquet files in DATA alone,'
    " which every executor must see, and"
    " takes no --persons or --geography: its tasks read them with the code of the local engine."
    " Write the records as Parquet, or run without --engine spark."
)


class SparkBackend:
    """Keeps to the protocol `Backend`; starts Spark when first needed and stops it at the end."""

    def __init__(self, options: SparkOptions, settings: EngineSettings, log: Log) -> None:
        self._options = options
        self._settings = settings
        self._log = log
        self._open = ExitStack()

    def start(self, progress: Progress) -> None:
        """Start Spark, as a step of its own, unless it was started before."""
        if "_session" not in self.__dict__:
            progress.step("Starting Spark", 1)
            _ = self._session
            progress.advance()

    def records(self, data: Path, record: RecordLayout) -> Checked[Records]:
        """The files in the data directory, found by their names, or those that --persons names.

        Those of a specification must be Parquet files in DATA; of text, the driver would read every
        line.
        """
        given = self._options.persons
        if given is None or record.fields:
            named = record_file_names(data, record)
            if named.value is not None and tasks_read(named.value.form, record):
                is_elsewhere = given is not None or self._options.geography is not None
                if not named.value.form.has_types or (record.fields and is_elsewhere):
                    return Checked(
                        None,
                        (
                            Finding(
                                Severity.ERROR,
                                "the command",
                                "--engine",
                                _ONLY_PARQUET,
                                is_of_files=True,
                            ),
                        ),
                    )
                named = find_record_files(data, record)  # columns with types: it reads no row
            location = None if named.value is None else RecordLocation.of_files(named.value)
            return Checked(location, named.findings)
        findings = FindingsOf("--persons")
        location = None
        with self._reached(given, findings):
            location = located(self._session, given, findings)
        return Checked(location, findings.findings)

    def cef_records(self, data: Path, states: Sequence[str]) -> Checked[Records]:  # noqa: ARG002
        """Nothing, and a finding that says how to convert a CEF."""
        message = (
            f'the engine "spark" reads no CEF. Convert it first, safetab cef convert {data} FOLDER,'
            ' which writes confidential Parquet files; then give FOLDER as DATA, with "reader":'
            ' "csv" in config.json.'
        )
        return Checked(
            None, (Finding(Severity.ERROR, "the command", "--engine", message, is_of_files=True),)
        )

    def geography_folder(self, data: Path) -> Checked[Path]:
        """The data directory, or a temporary folder with a copy of what --geography names."""
        return Checked(data, ()) if self._options.geography is None else self._copied_geography

    @cached_property
    def _copied_geography(self) -> Checked[Path]:
        """A local copy of the public geography."""
        given = self._options.geography or ""
        findings = FindingsOf("--geography")
        folder = self._settings.temporary_folder / "public"
        folder.mkdir()
        with self._reached(given, findings):
            name = given.removeprefix(TABLE_PREFIX)
            if name == given:
                self._copy_files(given, folder, findings)
            elif self._session.catalog.tableExists(name):
                target = folder / f"{AREAS_TABLE}{PARQUET.ending}"
                pq.write_table(self._session.table(name).toArrow(), target)
            else:
                findings.error("", f"the catalog has no table {name}.")
        return Checked(None if findings.has_errors else folder, findings.findings)

    # The records are not needed: only the executors could know.
    def number_of_records(self, records: Records) -> int:  # noqa: ARG002
        """0: no record is stored here.

        Their number is not known before the executors read them.
        """
        return 0

    def engine(self, records: Records, files: PublicFiles) -> CountingEngine:
        """The engine.

        Raises InvalidInput if Spark does not start or an executor lacks something.
        """
        if not isinstance(records, RecordLocation):
            raise TypeError("Spark reads locations")
        return SparkEngine(self._session, records, files, self._log)

    def judge(
        self,
        data: Path,
        known: KnownLists,
        rows_done: Callable[[int], None],  # noqa: ARG002
    ) -> tuple[Finding, ...]:
        """The rules that rows break, as far as the known lists tell; executors finish together."""
        if known.reader is ReaderKind.CEF:
            return ()
        location = self.records(data, known.record).value
        if not isinstance(location, RecordLocation):
            return ()
        findings = FindingsOf(location.label)
        of_parts: tuple[Finding, ...] = ()
        try:
            rows, of_parts = read_records(self._session, location, known.record)
            if rows is not None:
                report_broken_rules(rows, known, findings)
        except SPARK_ERRORS as error:
            self._log(f"Spark: {error}")
            raise_if_refused_in_words(error)
            findings.error("", unreadable(location.part_named_in(str(error)), location.form))
        except InvalidInput as invalid:  # Spark does not start: one finding beside those of the run
            return invalid.findings
        return of_parts + findings.findings

    def close(self) -> None:
        """Stop Spark, if it was started."""
        self._open.close()

    def _copy_files(self, given: str, folder: Path, findings: FindingsOf) -> None:
        """Copy public files from the cluster's file system to a local folder."""
        parts = files_at(given, findings)
        names = [part.rpartition("/")[2] for part in parts]
        is_folder = names != [given.rstrip("/").rpartition("/")[2]]
        for part in parts:
            ending = next((form.ending for form in TABLE_FORMS if part.endswith(form.ending)), "")
            target = folder / f"{AREAS_TABLE}{ending}"
            if is_folder:
                (folder / AREAS_TABLE).mkdir(exist_ok=True)
                target = folder / AREAS_TABLE / part.rpartition("/")[2]
            path = java().org.apache.hadoop.fs.Path
            files = path(part).getFileSystem(hadoop_configuration())
            files.copyToLocalFile(
                False, path(part), path(f"file://{target}"), True
            )  # no checksum file beside it

    @cached_property
    def _session(self) -> SparkSession:
        session = self._open.enter_context(spark_session(self._options, self._settings, self._log))
        require_python(session, self._log)
        return session

    @contextmanager
    def _reached(self, given: str, findings: FindingsOf) -> Iterator[None]:
        """Report a path or table that Spark can't reach."""
        try:
            _ = self._session  # starts Spark, if it is not open yet
            yield
        except SPARK_ERRORS as error:
            self._log(f"Spark: {error}")
            findings.error("", f"{given} can't be reached; the confidential log has the reason.")
