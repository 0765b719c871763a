"""The rules for the files of a state, and its units by MAFID, which persons are joined to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.dialects.bureau.cef.geography import BlockOids
from safetab.dialects.bureau.cef.layout import COUNTS, GROUP_QUARTERS, HOUSING_UNIT, LineLayout, Ranges
from safetab.dialects.bureau.cef.lines import (
    FieldNumbers,
    FieldReader,
    Flags,
    Int32s,
    Int64s,
    Lines,
    find_units,
    lines_of,
)
from safetab.dialects.bureau.cef.reader_file import StateFiles
from safetab.foundation.arrays import Columns
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, FindingsOf, shortened
from safetab.products.bureau_columns import RACE_COLUMNS
from safetab.readers.record_files import MOST_ROWS_LISTED
from safetab.readers.record_rules import BrokenRules, Rule
from safetab.readers.table_files import why_damaged

_MAFID_BITS = 30  # nine digits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Units(Columns):
    """Units, with one element per unit."""

    mafids: Int32s
    places: Int32s  # the positions of their blocks in the list of OIDs
    lines: Int32s  # line numbers in the file
    populations: Int32s
    types: NDArray[np.uint8]  # RTYPE
    household_types: NDArray[np.uint8]  # HHT
    races: NDArray[np.uint8]  # HHRACE, 0 for none
    tenures: NDArray[np.uint8]


_NO_NUMBER = np.empty(0, dtype=np.int32)
_NO_CODE = np.empty(0, dtype=np.uint8)
NO_UNITS = Units(_NO_NUMBER, _NO_NUMBER, _NO_NUMBER, _NO_NUMBER, _NO_CODE, _NO_CODE, _NO_CODE, _NO_CODE)


class UnitTable:
    """Units in rising order of MAFID, and how many persons and householders were found in each."""

    def __init__(self, units: Units) -> None:
        self.units = units.take(np.argsort(units.mafids, kind="stable"))
        self.persons = np.zeros(len(units.mafids), dtype=np.int32)
        self.householders = np.zeros(len(units.mafids), dtype=np.int32)
        self._shift = max(0, _MAFID_BITS - max(1, len(units.mafids)).bit_length())
        bounds = np.arange((1 << (_MAFID_BITS - self._shift)) + 1, dtype=np.int64) << self._shift
        self._bucket_starts = np.searchsorted(self.units.mafids, bounds)

    def find(self, mafids: Int64s, is_householder: Flags) -> Int32s:
        """The unit of each person, or a negative number.

        Counts the persons that are found. MAFIDs must have nine digits.
        """
        found = np.empty(len(mafids), dtype=np.int32)
        units = (self._shift, self._bucket_starts, self.units.mafids)
        loop = compiled_if_worthwhile(find_units, len(mafids))
        loop(mafids, is_householder, *units, found, self.persons, self.householders)
        return found

    @property
    def is_household(self) -> Flags:
        """Occupied housing units."""
        return np.asarray((self.units.types == HOUSING_UNIT) & (self.units.household_types > 0))

    def lines_where(self, which: Flags) -> Int32s:
        """The line numbers of these units, in rising order."""
        return np.sort(self.units.lines[which])

    def counts(self) -> dict[str, int]:
        """The six counts of the state, by their names in the file of counts."""
        found = {"COUNT_UNIT": len(self.units.mafids), "COUNT_PER": int(self.persons.sum())}
        for ending, unit_type in (("HU", HOUSING_UNIT), ("GQ", GROUP_QUARTERS)):
            is_of_type = self.units.types == unit_type
            found[f"COUNT_UNIT_{ending}"] = int(np.count_nonzero(is_of_type))
            found[f"COUNT_PER_{ending}"] = int(self.persons[is_of_type].sum())
        return found


class CefRules:
    """The public lists that lines are checked against, as far as they could be read."""

    def __init__(self, codes: Collection[str] | None, oids: BlockOids | None, *, for_households: bool = False) -> None:
        """Without a list of codes, every code is allowed. Households need a tenure and a race."""
        self.oids = oids
        self.for_households = for_households
        self.is_code = np.full(10_000, codes is None)
        self.is_code[[int(code) for code in codes or ()]] = True


class FileRules:
    """One file of a state: its lines, and which of them break which rule."""

    def __init__(self, path: Path, layout: LineLayout) -> None:
        self._path = path
        self._layout = layout
        self._broken = BrokenRules("line")
        self._unreadable = FindingsOf(path.name)
        self.is_broken = False

    def lines(self) -> Iterator[Lines]:
        """All lines of the file. If it can't be read to its end, this becomes a finding."""
        try:
            yield from lines_of(self._path, self._layout)
        except (pa.ArrowException, OSError) as error:
            raise_if_the_machine_failed(error)
            self._unreadable.error("", why_damaged(self._path, error, "it"))
            self.is_broken = True

    def judge(self, lines: Lines, read: FieldNumbers, reader: FieldReader) -> Flags:
        """Whether each line by itself is right. Lines that are wrong are noted."""
        shape = f"a line must have {self._layout.width} characters, or {len(self._layout.fields)} fields separated by |"
        self.add(("", shape), lines.misshapen)
        for rule, is_broken in reader.broken_rules(read):
            self.add(rule, lines.numbers[is_broken])
        return np.asarray(read.broken == 0)

    def add(self, rule: Rule, numbers: NDArray[np.integer]) -> None:
        """Note the numbers of the lines that break a rule. There may be none."""
        shown = numbers[:MOST_ROWS_LISTED].tolist()
        self._broken.add(rule, self._path.name, shown, len(numbers))
        self.is_broken = self.is_broken or len(numbers) > 0

    def reported(self) -> tuple[Finding, ...]:
        """Every finding about the file."""
        findings = FindingsOf(self._path.name)
        self._broken.report(findings)
        return self._unreadable.findings + findings.findings


def has_code_after_none(numbers: Mapping[str, Int64s]) -> Flags:
    """Whether a race code follows an empty race field."""
    has_ended = np.zeros(len(numbers[RACE_COLUMNS[0]]), dtype=np.bool_)
    follows = has_ended.copy()
    for name in RACE_COLUMNS[1:]:
        is_none = numbers[name] == 0
        follows |= has_ended & ~is_none
        has_ended |= is_none
    return follows


def warn_of_units(findings: FindingsOf, column: str, what: str, table: UnitTable, which: Flags) -> None:
    """Warn how many units are chosen. Their line numbers are for the confidential log only."""
    lines = table.lines_where(which).tolist()
    if lines:
        broken = BrokenRules()
        broken.add((column, what), findings.file, lines)
        count = f"{len(lines):,} {'unit' if len(lines) == 1 else 'units'}"
        findings.warning(column, f"{what}: {count}.", broken.where((column, what)))


def count_findings(files: StateFiles, table: UnitTable, state: Mapping[str, Ranges]) -> tuple[Finding, ...]:
    """Findings about the file of counts.

    The six counts must be those of the units and of the persons joined to them.
    """
    if files.counts is None:
        findings = FindingsOf(files.units.name)
        findings.warning("", "there is no file of counts (CNT) beside it, so lost lines would not be noticed.")
        return findings.findings
    rules = FileRules(files.counts, COUNTS)
    true_counts = table.counts()
    reader = FieldReader(COUNTS, tuple(true_counts), state)
    findings = FindingsOf(files.counts.name)
    found: list[dict[str, int]] = []
    for lines in rules.lines():
        read = reader.read(lines.characters)
        is_right = rules.judge(lines, read, reader)
        found += [{name: int(read[name][row]) for name in true_counts} for row in np.flatnonzero(is_right)]
    if not rules.is_broken and len(found) != 1:
        findings.error("", "it must have exactly one line.")
    elif not rules.is_broken:
        other = [name for name, count in true_counts.items() if found[0][name] != count]
        if other:
            names = shortened(other, len(other))
            findings.error(names, "does not match the number of lines. Lines were lost or added.")
    return rules.reported() + findings.findings
