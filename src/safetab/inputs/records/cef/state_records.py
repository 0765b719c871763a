"""Reads the files of a state in one pass: units, then persons joined to them, with every rule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.arrays import Columns, begins_run
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, FindingsOf, shortened
from safetab.inputs.bureau.cef import layout
from safetab.inputs.bureau.cef.layout import (
    COUNTS,
    GROUP_QUARTERS,
    HOUSING_UNIT,
    LineLayout,
    Ranges,
)
from safetab.inputs.bureau.cef.reader_file import StateFiles
from safetab.inputs.readers.forms.table_form import MOST_ROWS_LISTED
from safetab.inputs.readers.table_files import why_damaged
from safetab.inputs.records.cef.geography import BlockOids
from safetab.inputs.records.cef.lines import (
    FieldNumbers,
    FieldReader,
    Flags,
    Int32s,
    Int64s,
    Lines,
    find_units,
    lines_of,
    long_numbers,
)
from safetab.inputs.records.record_rules import BrokenRules, Rule, after_no_code_rule
from safetab.model.products.bureau_columns import CODE_COLUMNS, RACE_CODES, RACE_COLUMNS
from safetab.model.products.record import RecordLayout

_MAFID_BITS = 30  # nine digits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Units(Columns):
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
_NO_UNITS = _Units(
    _NO_NUMBER, _NO_NUMBER, _NO_NUMBER, _NO_NUMBER, _NO_CODE, _NO_CODE, _NO_CODE, _NO_CODE
)


class _UnitTable:
    """Units in rising order of MAFID, and how many persons and householders were found in each."""

    def __init__(self, units: _Units) -> None:
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

    def __init__(
        self, codes: Collection[str] | None, oids: BlockOids | None, *, for_households: bool = False
    ) -> None:
        """Without a list of codes, every code is allowed. Households need a tenure and a race."""
        self.oids = oids
        self.for_households = for_households
        self.is_code = np.full(10_000, codes is None)
        self.is_code[[int(code) for code in codes or ()]] = True


class _FileRules:
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
        shape = (
            f"a line must have {self._layout.width} characters,"
            f" or {len(self._layout.fields)} fields separated by |"
        )
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


def _has_code_after_none(numbers: Mapping[str, Int64s]) -> Flags:
    """Whether a race code follows an empty race field."""
    has_ended = np.zeros(len(numbers[RACE_COLUMNS[0]]), dtype=np.bool_)
    follows = has_ended.copy()
    for name in RACE_COLUMNS[1:]:
        is_none = numbers[name] == 0
        follows |= has_ended & ~is_none
        has_ended |= is_none
    return follows


def _warn_of_units(
    findings: FindingsOf, column: str, what: str, table: _UnitTable, which: Flags
) -> None:
    """Warn how many units are chosen. Their line numbers are for the confidential log only."""
    lines = table.lines_where(which).tolist()
    if lines:
        broken = BrokenRules()
        broken.add((column, what), findings.file, lines)
        count = f"{len(lines):,} {'unit' if len(lines) == 1 else 'units'}"
        findings.warning(column, f"{what}: {count}.", broken.where((column, what)))


def _count_findings(
    files: StateFiles, table: _UnitTable, state: Mapping[str, Ranges]
) -> tuple[Finding, ...]:
    """Findings about the file of counts.

    The six counts must be those of the units and of the persons joined to them.
    """
    if files.counts is None:
        findings = FindingsOf(files.units.name)
        findings.warning(
            "", "there is no file of counts (CNT) beside it, so lost lines would not be noticed."
        )
        return findings.findings
    rules = _FileRules(files.counts, COUNTS)
    true_counts = table.counts()
    reader = FieldReader(COUNTS, tuple(true_counts), state)
    findings = FindingsOf(files.counts.name)
    found: list[dict[str, int]] = []
    for lines in rules.lines():
        read = reader.read(lines.characters)
        is_right = rules.judge(lines, read, reader)
        found += [
            {name: int(read[name][row]) for name in true_counts} for row in np.flatnonzero(is_right)
        ]
    if not rules.is_broken and len(found) != 1:
        findings.error("", "it must have exactly one line.")
    elif not rules.is_broken:
        other = [name for name, count in true_counts.items() if found[0][name] != count]
        if other:
            names = shortened(other, len(other))
            findings.error(names, "does not match the number of lines. Lines were lost or added.")
    return rules.reported() + findings.findings


_KEPT_OF_PERSON = ("RTYPE", "MAFID", "QSEX", "QAGE", "CENRACE", "RELSHIP", *CODE_COLUMNS)
_KEPT_OF_UNIT = ("RTYPE", "MAFID", "FINAL_POP", "HHRACE", "TEN", "HHT")
TYPE_OF_HHT = np.array([0, 1, 2, 3, 4, 5, 4, 5])
"""HOUSEHOLD_TYPE by HHT, which also distinguishes men and women who live without relatives."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CefRecords:
    """Records as numbers by column, 0 for no code."""

    columns: Mapping[str, NDArray[np.integer]]
    places: Int32s  # the positions of their blocks in the list of OIDs

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _JoinedPersons:
    """Persons that break no rule, each with a unit whose block is known."""

    numbers: Mapping[str, Int64s]
    units: Int32s
    table: _UnitTable


def records_of(joined: _JoinedPersons, record: RecordLayout) -> CefRecords:
    """The records of one kind.

    Each person is one, or each householder of an occupied housing unit with the householder's
    codes.
    """
    numbers = joined.numbers
    is_householder = numbers["RELSHIP"] == layout.HOUSEHOLDER
    if not record.holds_people:
        columns = {name: numbers[name] for name in ("QAGE", "QSEX", "CENRACE", *CODE_COLUMNS)}
        return CefRecords(
            columns | {"HOUSEHOLDER": is_householder}, joined.table.units.places[joined.units]
        )
    rows = np.flatnonzero(is_householder & joined.table.is_household[joined.units])
    units = joined.table.units.take(joined.units[rows])
    of_unit = {
        "HHRACE": units.races,
        "HOUSEHOLD_TYPE": TYPE_OF_HHT[units.household_types],
        "TEN": units.tenures,
    }
    return CefRecords({name: numbers[name][rows] for name in CODE_COLUMNS} | of_unit, units.places)


class StateReader:
    """Reads the files of one state once.

    Findings are complete when all persons were read. A rule about several lines is checked only
    where each line alone is right. So a wrong unit is one finding, without another for every person
    in it.
    """

    def __init__(self, files: StateFiles, rules: CefRules) -> None:
        self._files = files
        self._rules = rules
        self._state = {"BCUSTATEFP": ((int(files.state), int(files.state)),)}
        self._units = _FileRules(files.units, layout.UNIT)
        self._persons = _FileRules(files.persons, layout.PERSON)
        self._others: list[Finding] = []
        self.persons_read = 0
        self.persons_joined = 0
        self._households = 0

    def records(self, record: RecordLayout) -> int:
        """The number of records of a kind in the files. It is known when all persons were read."""
        return self._households if record.holds_people else self.persons_read

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding about the files so far."""
        return (*self._units.reported(), *self._persons.reported(), *self._others)

    def unit_table(self) -> _UnitTable:
        """The units that are right by themselves. Units with a repeated MAFID break a rule too."""
        reader = FieldReader(layout.UNIT, _KEPT_OF_UNIT, self._state)
        parts = (self._judged_units(lines, reader) for lines in self._units.lines())
        table = _UnitTable(_Units.concat([_NO_UNITS, *parts]))
        repeated = table.lines_where(~begins_run(table.units.mafids))
        if not self._units.is_broken:
            self._units.add(("MAFID", "must belong to only one unit"), repeated)
        return table

    def joined_persons(
        self, rows_done: Callable[[int], None] = lambda _: None
    ) -> Iterator[_JoinedPersons]:
        """Read units, then persons in the order of the file, without those that break a rule."""
        table = self.unit_table()
        self._households = int(np.count_nonzero(table.is_household))
        reader = FieldReader(layout.PERSON, _KEPT_OF_PERSON, self._state)
        for lines in self._persons.lines():
            read = reader.read(lines.characters)
            self._judge_codes(read, reader)
            is_right = self._persons.judge(lines, read, reader)
            self.persons_read += len(lines.numbers) + len(lines.misshapen)
            joined = self._joined(read.of_lines(is_right), lines.numbers[is_right], table)
            self.persons_joined += len(joined.units)
            rows_done(len(lines.numbers))
            yield joined
        self._judge_state(table)

    def _judged_units(self, lines: Lines, reader: FieldReader) -> _Units:
        """The units of these lines that break no rule."""
        read = reader.read(lines.characters)
        is_right = self._units.judge(lines, read, reader)
        oid = layout.UNIT.field("OIDTB")
        highs, lows = long_numbers(lines.characters, oid.first, oid.end)
        places = np.zeros(len(lows), dtype=np.int32)
        self._units.add(
            ("OIDTB", "must be a number of up to 22 digits"), lines.numbers[is_right & (lows < 0)]
        )
        if self._rules.oids is not None:
            places = self._rules.oids.positions_of(highs, lows)
            has_no_block = is_right & (lows >= 0) & (places < 0)
            self._units.add(
                ("OIDTB", "must be an OIDTABBLK of the GRF-C"), lines.numbers[has_no_block]
            )
        is_right &= (lows >= 0) & (places >= 0)
        is_household = (read["RTYPE"] == layout.HOUSING_UNIT) & (read["HHT"] > 0)
        if self._rules.for_households:
            has_no_tenure = is_right & is_household & (read["TEN"] == 0)
            self._units.add(
                ("TEN", "must be 1 to 4 in an occupied housing unit"), lines.numbers[has_no_tenure]
            )
            has_no_race = is_right & is_household & (read["HHRACE"] == 0)
            self._units.add(
                ("HHRACE", "must be 1 to 63 in an occupied housing unit"),
                lines.numbers[has_no_race],
            )
        small = {name: read[name].astype(np.uint8) for name in ("RTYPE", "HHT", "HHRACE", "TEN")}
        units = _Units(
            read["MAFID"].astype(np.int32), places, lines.numbers.astype(np.int32),
            read["FINAL_POP"].astype(np.int32), small["RTYPE"], small["HHT"], small["HHRACE"],
            small["TEN"],
        )  # fmt: skip
        return units if is_right.all() else units.take(is_right)

    def _judge_codes(self, read: FieldNumbers, reader: FieldReader) -> None:
        """Mark codes that are not in the list as breaking the rule of their field."""
        for name in CODE_COLUMNS:
            numbers = read[name]
            is_wrong = ~self._rules.is_code[numbers] & (numbers != 0)
            if is_wrong.any():
                read.broken[is_wrong] |= reader.bit(name)

    def _joined(
        self, numbers: Mapping[str, Int64s], lines: Int64s, table: _UnitTable
    ) -> _JoinedPersons:
        """These persons with their units, without persons that break a rule about both."""
        units = table.find(numbers["MAFID"], numbers["RELSHIP"] == layout.HOUSEHOLDER)
        is_found = units >= 0
        is_paired = is_found.copy()
        if len(table.units.types):
            in_housing_unit = table.units.types[np.maximum(units, 0)] == layout.HOUSING_UNIT
            is_paired &= (numbers["RTYPE"] == layout.PERSON_IN_HOUSING_UNIT) == in_housing_unit
        follows = _has_code_after_none(numbers)
        self._persons.add(after_no_code_rule(RACE_CODES), lines[follows])
        if not self._units.is_broken:
            self._persons.add(
                ("MAFID", "must be the MAFID of a unit of the state"), lines[~is_found]
            )
            unpaired = lines[is_found & ~is_paired]
            self._persons.add(
                ("RTYPE", "must be 3 in a housing unit and 5 in group quarters"), unpaired
            )
        is_kept = is_paired & ~follows
        if is_kept.all():
            return _JoinedPersons(numbers, units, table)
        return _JoinedPersons(
            {name: column[is_kept] for name, column in numbers.items()}, units[is_kept], table
        )

    def _judge_state(self, table: _UnitTable) -> None:
        """Check the rules about whole units and the counts, if no line alone is wrong."""
        if self._units.is_broken or self._persons.is_broken:
            return
        units = table.units
        has_wrong_householders = table.is_household & (table.householders != 1)
        rule = ("HHT", "an occupied housing unit must have exactly one householder")
        self._units.add(rule, table.lines_where(has_wrong_householders))
        is_vacant = (units.types == layout.HOUSING_UNIT) & (units.household_types == 0)
        rule = (
            "HHT",
            "must not be 0 (vacant) in a housing unit where somebody lives",
        )  # it would be lost
        self._units.add(rule, table.lines_where(is_vacant & (table.persons > 0)))
        is_quarters = units.types == layout.GROUP_QUARTERS
        rule = ("QGQTYP", "group quarters must have no householder (RELSHIP 20)")
        self._units.add(rule, table.lines_where(is_quarters & (table.householders > 0)))
        warnings = FindingsOf(self._files.units.name)
        is_other = np.asarray(units.populations != table.persons)
        _warn_of_units(warnings, "FINAL_POP", "is not the number of its persons", table, is_other)
        if self._rules.oids is not None:
            elsewhere = self._rules.oids.blocks[units.places] // 10**13 != int(self._files.state)
            problem = "its block is in a state other than BCUSTATEFP"
            _warn_of_units(warnings, "OIDTB", problem, table, elsewhere)
        self._others += warnings.findings
        self._others += _count_findings(self._files, table, self._state)
