"""The engine for clusters: the executors check, encode and count; counts of non-empty groups come to the driver.

Built-in expressions alone, so the executors need no Python. Spark's messages quote values: the confidential log gets
them, and nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.storagelevel import StorageLevel

from safetab.census.geography_levels import TabulationPass
from safetab.engines.contract import MiscountedPersons
from safetab.engines.encoding import Encoding
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.person_location import PersonLocation
from safetab.engines.spark.encoded_persons import (
    CodeLists,
    LookedUp,
    iterations_of_pattern,
    looked_up,
    state_number,
    tracts_with_blocks,
)
from safetab.engines.spark.group_counter import GroupCounter
from safetab.engines.spark.person_rules import report_broken_rules
from safetab.engines.spark.person_source import read_persons
from safetab.engines.spark.session import SPARK_ERRORS
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, FindingsOf
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape
from safetab.readers.person_rules import report_empty_passes

Log = Callable[[str], None]

UNREADABLE = "it can't be read: damaged, or not what its ending says. The confidential log has the reason."
_VIEW = "person_records"


class SparkEngine:
    """Counts with Spark; keeps to the contract of `CountingEngine`."""

    def __init__(self, session: SparkSession, location: PersonLocation, files: PublicFiles, log: Log) -> None:
        self._session = session
        self._location = location
        self._config = files.config
        self._record = files.config.product.record
        self._log = log
        self._encoding = Encoding(files)
        self._codes = CodeLists(files.lists.code_names)
        self._persons: DataFrame | None = None
        self._encoded: DataFrame | None = None
        self._counter: GroupCounter | None = None

    def check(self, rows_done: Callable[[int], None] = lambda _: None) -> tuple[Finding, ...]:
        """One scan: every row is checked, and its person encoded and kept by the executors."""
        findings = FindingsOf(self._location.label)
        try:
            with self._errors_logged():
                self._persons, of_parts = read_persons(self._session, self._location, self._record)
                if self._persons is None:
                    return of_parts
                states = [state for states in self._states.values() for state in states]
                _, _, blocks, atoms = self._encoding.block_lookup
                tracts = tracts_with_blocks(self._session, blocks, atoms)
                persons = looked_up(self._record, self._persons, tracts, self._codes, states)
                self._encoded = persons.encoded(self._config.max_race_codes).persist(StorageLevel.MEMORY_AND_DISK)
                # one row per state and verdict; only where something is wrong, another scan says what
                found = self._encoded.groupBy("state", "is_right").count().collect()
                if any(not row.is_right for row in found):
                    self._report_broken_rules(persons, findings)
        except SPARK_ERRORS:
            findings.error("", UNREADABLE)
            return findings.findings
        if not findings.has_errors and not of_parts:
            report_empty_passes(self._people_of(found), findings)
        rows_done(sum(row["count"] for row in found))
        return of_parts + findings.findings

    def _report_broken_rules(self, persons: LookedUp, findings: FindingsOf) -> None:
        before = len(findings.findings)
        report_broken_rules(persons.broken_rules.collect(), self._record, findings)
        if len(findings.findings) == before:
            raise MiscountedPersons("rows that break a rule were found, and no rule that they break.")

    def prepare(self) -> Mapping[TabulationPass, int]:
        """Counts once for all levels; compares the persons who are counted with the rows of each pass."""
        persons, encoded = self._checked()
        with self._errors_as_run_failed():
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
        with self._errors_as_run_failed():
            return self._ready().totals(level)

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        with self._errors_as_run_failed():
            return self._ready().cells(level, groups_of)

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        persons, _ = self._checked()
        fingerprint = RecordFingerprint(secret)
        with self._errors_as_run_failed():
            persons.createOrReplaceTempView(_VIEW)
            sums = [tuple(row) for row in self._session.sql(fingerprint.state_sums_sql(_VIEW, self._record)).collect()]
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
        return self._people_of(persons.groupBy("state").count().collect())

    def _people_of(self, counts: Sequence[Row]) -> Mapping[TabulationPass, int]:
        """Adds up the counts of states."""
        return {
            which: sum(row["count"] for row in counts if row.state in states) for which, states in self._states.items()
        }

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
    def _errors_as_run_failed(self) -> Iterator[None]:
        try:
            with self._errors_logged():
                yield
        except SPARK_ERRORS:
            raise RunFailed("Spark failed; the confidential log has the reason. Nothing was written.") from None
