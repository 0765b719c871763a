"""The engine for clusters: the executors check, encode and count; counts of non-empty groups come to the driver.

Executors that have Python with this package count with its compiled loops, and others with Spark's own expressions.
Spark's messages quote values: the confidential log gets them, and nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import GroupCounts, MiscountedPersons
from safetab.engines.encoding import Encoding
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.encoded_persons import CodeLists, LookedUp, looked_up, state_number, tracts_with_blocks
from safetab.engines.spark.executor_persons import ExecutorPersons
from safetab.engines.spark.expression_persons import ExpressionPersons, people_by_pass
from safetab.engines.spark.loop_persons import LoopPersons
from safetab.engines.spark.person_rules import report_broken_rules
from safetab.engines.spark.person_source import read_persons
from safetab.engines.spark.session import SPARK_ERRORS
from safetab.foundation.failures import RunFailed, raise_if_refused_in_words
from safetab.foundation.findings import Finding, FindingsOf
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape
from safetab.readers.person_files import unreadable
from safetab.readers.person_rules import report_empty_passes

Log = Callable[[str], None]

_VIEW = "person_records"
_ERRORS = (*SPARK_ERRORS, pa.ArrowException)


class SparkEngine:
    """Counts with Spark; keeps to the contract of `CountingEngine`."""

    def __init__(
        self, session: SparkSession, location: PersonLocation, files: PublicFiles, log: Log, *, has_python: bool
    ) -> None:
        """`has_python` is whether the executors can run the compiled loops."""
        self._session = session
        self._location = location
        self._config = files.config
        self._record = files.config.product.record
        self._code_names = files.lists.code_names
        self._log = log
        self._has_python = has_python
        self._encoding = Encoding(files)
        self._rows: DataFrame | None = None
        self._persons: ExecutorPersons | None = None
        self._counts: GroupCounts | None = None

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """One scan: every row is checked, and its person encoded and kept by the executors."""
        findings = FindingsOf(self._location.label)
        try:
            with self._errors_logged():
                self._rows, of_parts = read_persons(self._session, self._location, self._record)
                if self._rows is None:
                    return of_parts
                self._persons = self._executor_persons(self._rows)
                verdict = self._persons.verdict()
                if not verdict.are_right:  # another scan says what is wrong
                    self._report_broken_rules(self._rows, findings)
        except _ERRORS as error:
            raise_if_refused_in_words(error)
            findings.error("", unreadable(self._location.part_named_in(str(error)), self._location.form))
            return findings.findings
        if not findings.has_errors and not of_parts:
            report_empty_passes(verdict.people, findings)
        rows_done(verdict.rows)
        return of_parts + findings.findings

    def _executor_persons(self, rows: DataFrame) -> ExecutorPersons:
        if self._has_python:
            return LoopPersons(rows, self._location, self._encoding, self._code_names, self._states)
        codes = CodeLists(self._code_names)
        return ExpressionPersons(self._looked_up(rows, codes), self._encoding, codes, self._states)

    def _looked_up(self, rows: DataFrame, codes: CodeLists) -> LookedUp:
        states = [state for states in self._states.values() for state in states]
        _, _, blocks, atoms = self._encoding.block_lookup
        tracts = tracts_with_blocks(self._session, blocks, atoms)
        return looked_up(self._record, rows, tracts, codes, states)

    def _report_broken_rules(self, rows: DataFrame, findings: FindingsOf) -> None:
        before, persons = len(findings.findings), self._looked_up(rows, CodeLists(self._code_names))
        report_broken_rules(persons.broken_rules.collect(), self._record, findings)
        if len(findings.findings) == before:
            raise MiscountedPersons("rows that break a rule were found, and no rule that they break.")

    def prepare(self) -> Mapping[TabulationPass, int]:
        """Counts once for all levels; compares the persons who are counted with the rows of each pass."""
        rows, persons = self._checked()
        with self._errors_as_run_failed():
            people = people_by_pass(rows.select(state_number().alias("state")), self._states)
            if persons.people() != people:
                raise MiscountedPersons("the engine did not encode every person once.")
            self._counts = persons.counts()
        return people

    def totals(self, level: LevelPlan) -> ExactCounts:
        with self._errors_as_run_failed():
            return self._ready().totals(level)

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        with self._errors_as_run_failed():
            return self._ready().cells(level, groups_of)

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        rows, _ = self._checked()
        fingerprint = RecordFingerprint(secret)
        with self._errors_as_run_failed():
            rows.createOrReplaceTempView(_VIEW)
            sums = [tuple(row) for row in self._session.sql(fingerprint.state_sums_sql(_VIEW, self._record)).collect()]
            self._session.catalog.dropTempView(_VIEW)
        return fingerprint.of_passes(sums)

    def close(self) -> None:
        """The session is whoever's started it."""
        with self._errors_logged():
            if self._persons is not None:
                self._persons.close()

    @property
    def _states(self) -> Mapping[TabulationPass, list[int]]:
        return {which: [int(state) for state in self._config.states_of(which)] for which in self._encoding.passes}

    def _checked(self) -> tuple[DataFrame, ExecutorPersons]:
        if self._rows is None or self._persons is None:
            raise RuntimeError("the persons were not checked")
        return self._rows, self._persons

    def _ready(self) -> GroupCounts:
        if self._counts is None:
            raise RuntimeError("the engine was not prepared")
        return self._counts

    @contextmanager
    def _errors_logged(self) -> Iterator[None]:
        try:
            yield
        except SPARK_ERRORS as error:
            self._log(f"Spark: {error}")
            raise
        except pa.ArrowException as error:
            self._log(f"Arrow: {error}")
            raise

    @contextmanager
    def _errors_as_run_failed(self) -> Iterator[None]:
        try:
            with self._errors_logged():
                yield
        except _ERRORS:
            raise RunFailed("Spark failed; the confidential log has the reason. Nothing was written.") from None
