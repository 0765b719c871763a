"""The engine for clusters: the executors check, encode and count; counts of non-empty groups come to the driver.

Built-in expressions alone, so the executors need no Python. Spark's messages quote values: the confidential log gets
them, and nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.storagelevel import StorageLevel

from safetab.engines.counting_engine import MiscountedPersons
from safetab.engines.encoding import Encoding
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.encoded_persons import (
    CodeLists,
    iterations_of_pattern,
    looked_up,
    state_number,
    tracts_with_blocks,
)
from safetab.engines.spark.group_counter import GroupCounter
from safetab.engines.spark.person_rules import RULES
from safetab.engines.spark.person_source import (
    check_lines,
    lines_of,
    parquet_table,
    persons_of_lines,
    typed_persons,
)
from safetab.engines.spark.session import SPARK_ERRORS
from safetab.failures import RunFailed
from safetab.findings import Finding, FindingsOf
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.readers.person_rules import BrokenRules
from safetab.readers.table_files import TableForm
from safetab.spec.geography_levels import TabulationPass
from safetab.spec.tables import Table

Log = Callable[[str], None]

_UNREADABLE = "it can't be read: damaged, or not what its ending says. The confidential log has the reason."
_VIEW = "person_records"


class SparkEngine:
    """Counts with Spark; keeps to the contract of `CountingEngine`."""

    def __init__(self, session: SparkSession, location: PersonLocation, files: PublicFiles, log: Log) -> None:
        self._session = session
        self._location = location
        self._config = files.config
        self._log = log
        self._encoding = Encoding(files)
        self._codes = CodeLists(files.lists.code_names)
        self._persons: DataFrame | None = None
        self._encoded: DataFrame | None = None
        self._counter: GroupCounter | None = None

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """One scan: every row is checked, and its person encoded and kept by the executors."""
        findings, broken = FindingsOf(self._location.label), BrokenRules()
        try:
            with self._errors_logged():
                self._persons = self._read(findings)
                if self._persons is None or findings.has_errors:
                    return findings.findings
                persons = looked_up(
                    self._persons,
                    tracts_with_blocks(self._session, self._encoding),
                    self._codes,
                    [state for states in self._states.values() for state in states],
                )
                self._encoded = persons.encoded(self._config.max_race_codes).persist(StorageLevel.MEMORY_AND_DISK)
                # one row per state and verdict; only where something is wrong, another scan says what
                found = self._encoded.groupBy("state", "is_right").count().collect()
                faults = persons.broken_rules.collect() if any(not row.is_right for row in found) else []
        except SPARK_ERRORS:
            findings.error("", _UNREADABLE)
            return findings.findings
        for row in faults:
            for number, rule in enumerate(RULES):
                if row.broken >> number & 1:
                    broken.add(rule, row["count"])
        for tabulation_pass, states in self._states.items():
            if not any(row.state in states for row in found):
                findings.error("TABBLKST", f"nobody is in a state of the {tabulation_pass.value.upper()} pass.")
        broken.report(findings)
        if any(not row.is_right for row in found) and not findings.has_errors:
            raise MiscountedPersons("rows that break a rule were found, and no rule that they break.")
        rows_done(sum(row["count"] for row in found))
        return findings.findings

    def _read(self, findings: FindingsOf) -> DataFrame | None:
        if self._location.form is None:
            return typed_persons(self._session.table(self._location.parts[0]), findings)
        if self._location.form is TableForm.PARQUET:
            try:
                table = parquet_table(self._session, self._location.parts)
            except AnalysisException as error:
                if "CANNOT_MERGE" not in (error.getCondition() or ""):
                    raise
                findings.error("", "a column has several types in its parts. Write all parts alike.")
                return None
            return typed_persons(table, findings)
        lines = lines_of(self._session, self._location)
        check_lines(lines, self._location, findings)
        return persons_of_lines(lines)

    def prepare(self) -> Mapping[TabulationPass, int]:
        """Counts once for all levels; compares the persons who are counted with the rows of each pass."""
        persons, encoded = self._checked()
        with self._failures_told():
            rows = self._by_pass(persons.select(state_number().alias("state")))
            counted = encoded.where(F.col("atom").isNotNull() & F.col("is_right"))
            if self._by_pass(counted) != rows:
                raise MiscountedPersons("the engine did not encode every person once.")
            iterations = iterations_of_pattern(
                self._encoding.iteration_maps, self._codes, self._encoding.iteration_number
            )
            self._counter = GroupCounter(self._session, counted, self._encoding, iterations)
            self._counter.count()
        return rows

    def totals(self, level: LevelPlan) -> ExactCounts:
        with self._failures_told():
            return self._ready().totals(level)

    def cells(self, level: LevelPlan, places_of: Mapping[Table, NDArray[np.int64]]) -> Mapping[Table, ExactCounts]:
        with self._failures_told():
            return self._ready().cells(level, places_of)

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        persons, _ = self._checked()
        fingerprint = RecordFingerprint(secret)
        with self._failures_told():
            persons.createOrReplaceTempView(_VIEW)
            sums = [tuple(row) for row in self._session.sql(fingerprint.state_sums_sql(_VIEW)).collect()]
            self._session.catalog.dropTempView(_VIEW)
        return fingerprint.of_passes(sums)

    def close(self) -> None:
        """The session is whoever's started it."""
        with self._errors_logged():
            for kept in (self._encoded, *(self._counter.kept if self._counter else ())):
                if kept is not None:
                    kept.unpersist()

    @property
    def _states(self) -> Mapping[TabulationPass, list[int]]:
        return {which: [int(state) for state in self._config.states_of(which)] for which in self._encoding.passes}

    def _by_pass(self, persons: DataFrame) -> Mapping[TabulationPass, int]:
        of_state = {row.state: row["count"] for row in persons.groupBy("state").count().collect()}
        return {which: sum(of_state.get(state, 0) for state in states) for which, states in self._states.items()}

    def _checked(self) -> tuple[DataFrame, DataFrame]:
        if self._persons is None or self._encoded is None:
            raise RuntimeError("the persons were not checked")
        return self._persons, self._encoded

    def _ready(self) -> GroupCounter:
        if self._counter is None:
            raise RuntimeError("the engine was not prepared")
        return self._counter

    @contextmanager
    def _errors_logged(self) -> Iterator[None]:
        try:
            yield
        except SPARK_ERRORS as error:
            self._log(f"Spark: {error}")
            raise

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        try:
            with self._errors_logged():
                yield
        except SPARK_ERRORS:
            raise RunFailed("Spark failed; the confidential log has the reason. Nothing was written.") from None
