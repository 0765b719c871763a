"""The embedded engine: DuckDB reads, checks and encodes the persons; counting is integer arithmetic on arrays.

The only module that imports duckdb. Its error messages quote values, so they go to the confidential log alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.engines.array_counter import ArrayCounter
from safetab.engines.counting_engine import AGES, SEX_AGES, EngineSettings, MiscountedPersons
from safetab.engines.encoding import NO_ATOM, Encoding
from safetab.engines.fingerprint import RecordFingerprint
from safetab.engines.person_source import parquet_files, parquet_source, text_source
from safetab.engines.person_types import KeyFiles, PersonKeys, person_types_of
from safetab.failures import RunFailed
from safetab.findings import Finding, FindingsOf
from safetab.planning.planner import PublicFiles
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.readers.digit_columns import NOT_DIGITS, digits_of
from safetab.readers.person_files import BLOCK_COLUMNS, RACE_COLUMNS, label_of
from safetab.readers.person_rules import (
    BLOCK_RULE,
    NOT_DIGITS_RULE,
    SMALL_COLUMNS,
    BrokenRules,
    broken_code_rules,
    broken_small_rule,
    race_codes_of,
)
from safetab.readers.table_files import TableFiles, TableForm
from safetab.spec.geography_levels import TabulationPass
from safetab.spec.tables import Table

Log = Callable[[str], None]

_CODE_COLUMNS = (*RACE_COLUMNS, "QSPAN")
_BLOCK_DIGITS = dict(zip(BLOCK_COLUMNS, (2, 3, 6, 4), strict=True))
_DISTINCT_SETS = [*((column,) for column in SMALL_COLUMNS), _CODE_COLUMNS, BLOCK_COLUMNS]
_MARKERS = [columns[-1] for columns in _DISTINCT_SETS]  # a column that is in one set alone
_OUT_OF_MEMORY = "the database ran out of memory, or of room in --temp. Nothing was written. Give more with --memory."
_REJECT_RULES = {"INVALID ENCODING": "must be UTF-8 text"}


class DuckDbEngine:
    """Counts with DuckDB inside the process; keeps to the contract of `CountingEngine`."""

    def __init__(self, persons: TableFiles, files: PublicFiles, settings: EngineSettings, log: Log) -> None:
        self._persons = persons
        self._codes = files.lists.code_names
        self._settings = settings
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
        self._distinct_codes = pa.table({})
        self._distinct_blocks = pa.table({})
        self._counter = ArrayCounter(self._encoding)

    # Checking: a value is judged once, however many rows have it

    def check(self) -> tuple[Finding, ...]:
        label = label_of(self._persons)
        findings, broken = FindingsOf(label), BrokenRules()
        try:
            with self._errors_logged():
                distinct = self._distinct_values()
                self._check_rejects(broken)
        except duckdb.Error:
            findings.error(
                "", "it can't be read: damaged, not what its ending says, or lines that end in different ways."
            )
            return findings.findings
        for column, of_set in zip(SMALL_COLUMNS, distinct, strict=False):
            _check_small_column(of_set, column, broken)
        self._distinct_codes, self._distinct_blocks = distinct[-2], distinct[-1]
        self._check_codes(broken)
        self._check_blocks(broken, findings)
        broken.report(findings)
        return findings.findings

    def _distinct_values(self) -> list[pa.Table]:
        """For each set of columns its distinct combinations and their numbers of rows; one pass over the files."""
        sets = ", ".join(f"({', '.join(columns)})" for columns in _DISTINCT_SETS)
        columns = ", ".join(column for one_set in _DISTINCT_SETS for column in one_set)
        combined = self._query(
            f"SELECT {columns}, count(*) AS persons, grouping_id({', '.join(_MARKERS)}) AS which_set"  # noqa: S608
            f" FROM {self._source(keep_rejects=True)} GROUP BY GROUPING SETS ({sets})"
        )
        every_bit = 2 ** len(_MARKERS) - 1
        return [
            combined.filter(pc.equal(combined["which_set"], every_bit - 2 ** (len(_MARKERS) - 1 - position)))
            .select([*one_set, "persons"])
            .combine_chunks()
            for position, one_set in enumerate(_DISTINCT_SETS)
        ]

    def _check_rejects(self, broken: BrokenRules) -> None:
        if self._persons.form is TableForm.PARQUET:
            return
        rejects = self._database.execute(
            "SELECT file_id, line, min(error_type) FROM reject_errors GROUP BY file_id, line"
        )
        for _, _, error_type in rejects.fetchall():
            broken.add(("", _REJECT_RULES.get(str(error_type), "a row must have 17 fields")), 1)

    def _check_codes(self, broken: BrokenRules) -> None:
        table = self._distinct_codes
        combinations = zip(*(table[column].to_pylist() for column in _CODE_COLUMNS), strict=True)
        for (*races, ethnicity), persons in zip(combinations, table["persons"].to_pylist(), strict=True):
            for rule in broken_code_rules(races, ethnicity, self._codes):
                broken.add(rule, persons)

    def _check_blocks(self, broken: BrokenRules, findings: FindingsOf) -> None:
        blocks, states, is_digits = self._blocks()
        persons = self._distinct_blocks["persons"].to_numpy()
        broken.add(NOT_DIGITS_RULE, int(persons[~is_digits].sum()))
        for tabulation_pass, is_of_pass in self._encoding.passes_of_states(states).items():
            is_listed = self._encoding.atoms_of_blocks(tabulation_pass, blocks) != NO_ATOM
            broken.add(BLOCK_RULE, int(persons[is_digits & is_of_pass & ~is_listed].sum()))
            if not (is_digits & is_of_pass).any():
                findings.error("TABBLKST", f"nobody is in a state of the {tabulation_pass.value.upper()} pass.")

    def _blocks(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """The distinct blocks as numbers, their states, and whether they are digits at all."""
        columns = {
            column: digits_of(self._distinct_blocks[column].combine_chunks(), width)
            for column, width in _BLOCK_DIGITS.items()
        }
        is_digits = np.logical_and.reduce([numbers != NOT_DIGITS for numbers in columns.values()])
        blocks = np.zeros(len(is_digits), dtype=np.int64)
        for column, width in _BLOCK_DIGITS.items():
            blocks = blocks * 10**width + columns[column]
        return blocks, columns["TABBLKST"], is_digits

    # Encoding: every person becomes one integer

    def prepare(self) -> Mapping[TabulationPass, int]:
        expected = self._register_numbers()
        keys = PersonKeys(self._encoding.atom_count, self._encoding.patterns.count)
        states = self._encoding.states
        first_keys = keys.first_key_of_atoms(np.array([state.first_atom for state in states], dtype=np.int64))
        key_files = KeyFiles(self._settings.temporary_folder, first_keys)
        try:
            with self._errors_logged():
                for batch in self._encoded_persons(keys.patterns):
                    key_files.add(batch)
        except duckdb.Error:
            raise RunFailed("the person records could not be encoded; the confidential log has the reason.") from None
        encoded = dict.fromkeys(expected, 0)
        for number, state in enumerate(states):
            types = person_types_of(key_files.keys(number), keys.patterns)
            key_files.remove(number)
            self._counter.add_state(types)
            encoded[state.tabulation_pass] += types.total
        if encoded != expected:
            raise MiscountedPersons("the engine did not encode every person once.")
        return encoded

    def _register_numbers(self) -> dict[TabulationPass, int]:
        """Tables of blocks with their atoms and codes with their patterns; tells how many persons each pass has."""
        blocks, states, _ = self._blocks()
        atoms, expected = np.full(len(blocks), NO_ATOM, dtype=np.int64), {}
        persons = self._distinct_blocks["persons"].to_numpy()
        for tabulation_pass, is_of_pass in self._encoding.passes_of_states(states).items():
            atoms[is_of_pass] = self._encoding.atoms_of_blocks(tabulation_pass, blocks[is_of_pass])
            expected[tabulation_pass] = int(persons[is_of_pass].sum())
        is_wanted = pa.array(atoms != NO_ATOM)
        numbered = self._distinct_blocks.select(list(BLOCK_COLUMNS)).append_column("atom", pa.array(atoms))
        self._database.register("block_numbers", numbered.filter(is_wanted))
        codes = self._distinct_codes.select(list(_CODE_COLUMNS))
        combinations = zip(*(codes[column].to_pylist() for column in _CODE_COLUMNS), strict=True)
        patterns = [
            self._encoding.patterns.number_of(race_codes_of(races), ethnicity) for *races, ethnicity in combinations
        ]
        self._database.register("code_numbers", codes.append_column("pattern", pa.array(patterns, pa.int64())))
        return expected

    def _encoded_persons(self, patterns: int) -> Iterator[NDArray[np.int64]]:
        key = (
            f"((atom * {patterns} + pattern) * {SEX_AGES} + (CAST(QSEX AS BIGINT) - 1) * {AGES} + CAST(QAGE AS BIGINT))"
        )
        relation = self._database.sql(
            f"SELECT {key} AS key FROM {self._source(keep_rejects=False)} AS persons"  # noqa: S608
            f" JOIN block_numbers USING ({', '.join(BLOCK_COLUMNS)})"
            f" JOIN code_numbers USING ({', '.join(_CODE_COLUMNS)})"
        )
        for batch in pa.RecordBatchReader.from_stream(relation):
            yield batch.column(0).to_numpy(zero_copy_only=False)

    # Counting

    def totals(self, level: LevelPlan) -> ExactCounts:
        return self._counter.totals(level)

    def cells(self, level: LevelPlan, table: Table, places: NDArray[np.int64]) -> ExactCounts:
        return self._counter.cells(level, table, places)

    def fingerprint(self, secret: bytes) -> Mapping[TabulationPass, str]:
        fingerprint = RecordFingerprint(secret)
        try:
            with self._errors_logged():
                sums = self._database.execute(fingerprint.state_sums_sql(self._source(keep_rejects=False))).fetchall()
        except duckdb.Error:
            raise RunFailed(
                "the person records could not be read again; the confidential log has the reason."
            ) from None
        return fingerprint.of_passes(sums)

    def close(self) -> None:
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
        except RuntimeError as error:
            if str(error) == "Query interrupted":
                raise KeyboardInterrupt from None
            raise

    def _query(self, sql: str) -> pa.Table:
        return pa.RecordBatchReader.from_stream(self._database.sql(sql)).read_all()


def _check_small_column(of_set: pa.Table, column: str, broken: BrokenRules) -> None:
    for value, persons in zip(of_set[column].to_pylist(), of_set["persons"].to_pylist(), strict=True):
        rule = broken_small_rule(column, value)
        if rule is not None:
            broken.add(rule, persons)
