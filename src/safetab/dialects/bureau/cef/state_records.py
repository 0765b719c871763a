"""Reads the files of a state in one pass: units, then persons joined to them, with every rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.dialects.bureau.cef import layout, state_rules
from safetab.dialects.bureau.cef.lines import (
    FieldNumbers,
    FieldReader,
    Int32s,
    Int64s,
    Lines,
    long_numbers,
)
from safetab.dialects.bureau.cef.reader_file import StateFiles
from safetab.dialects.bureau.cef.state_rules import CefRules, FileRules, Units, UnitTable
from safetab.foundation.arrays import begins_run
from safetab.foundation.findings import Finding, FindingsOf
from safetab.products.bureau_columns import CODE_COLUMNS, RACE_CODES
from safetab.products.record import RecordLayout
from safetab.readers.record_rules import after_no_code_rule

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
class JoinedPersons:
    """Persons that break no rule, each with a unit whose block is known."""

    numbers: Mapping[str, Int64s]
    units: Int32s
    table: UnitTable


def records_of(joined: JoinedPersons, record: RecordLayout) -> CefRecords:
    """The records of one kind.

    Each person is one, or each householder of an occupied housing unit with the householder's codes.
    """
    numbers = joined.numbers
    is_householder = numbers["RELSHIP"] == layout.HOUSEHOLDER
    if not record.holds_people:
        columns = {name: numbers[name] for name in ("QAGE", "QSEX", "CENRACE", *CODE_COLUMNS)}
        return CefRecords(columns | {"HOUSEHOLDER": is_householder}, joined.table.units.places[joined.units])
    rows = np.flatnonzero(is_householder & joined.table.is_household[joined.units])
    units = joined.table.units.take(joined.units[rows])
    of_unit = {"HHRACE": units.races, "HOUSEHOLD_TYPE": TYPE_OF_HHT[units.household_types], "TEN": units.tenures}
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
        self._units = FileRules(files.units, layout.UNIT)
        self._persons = FileRules(files.persons, layout.PERSON)
        self._others: list[Finding] = []
        self.persons_read = 0
        self.persons_joined = 0
        self._households = 0

    def records(self, record: RecordLayout) -> int:
        """How many records of a kind the files hold. It is known when all persons were read."""
        return self._households if record.holds_people else self.persons_read

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding about the files so far."""
        return (*self._units.reported(), *self._persons.reported(), *self._others)

    def unit_table(self) -> UnitTable:
        """The units that are right by themselves. Units with a repeated MAFID break a rule too."""
        reader = FieldReader(layout.UNIT, _KEPT_OF_UNIT, self._state)
        parts = (self._judged_units(lines, reader) for lines in self._units.lines())
        table = UnitTable(Units.concat([state_rules.NO_UNITS, *parts]))
        repeated = table.lines_where(~begins_run(table.units.mafids))
        if not self._units.is_broken:
            self._units.add(("MAFID", "must belong to only one unit"), repeated)
        return table

    def joined_persons(self, rows_done: Callable[[int], None] = lambda _: None) -> Iterator[JoinedPersons]:
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

    def _judged_units(self, lines: Lines, reader: FieldReader) -> Units:
        """The units of these lines that break no rule."""
        read = reader.read(lines.characters)
        is_right = self._units.judge(lines, read, reader)
        oid = layout.UNIT.field("OIDTB")
        highs, lows = long_numbers(lines.characters, oid.first, oid.end)
        places = np.zeros(len(lows), dtype=np.int32)
        self._units.add(("OIDTB", "must be a number of up to 22 digits"), lines.numbers[is_right & (lows < 0)])
        if self._rules.oids is not None:
            places = self._rules.oids.positions_of(highs, lows)
            has_no_block = is_right & (lows >= 0) & (places < 0)
            self._units.add(("OIDTB", "must be an OIDTABBLK of the GRF-C"), lines.numbers[has_no_block])
        is_right &= (lows >= 0) & (places >= 0)
        is_household = (read["RTYPE"] == layout.HOUSING_UNIT) & (read["HHT"] > 0)
        if self._rules.for_households:
            has_no_tenure = is_right & is_household & (read["TEN"] == 0)
            self._units.add(("TEN", "must be 1 to 4 in an occupied housing unit"), lines.numbers[has_no_tenure])
            has_no_race = is_right & is_household & (read["HHRACE"] == 0)
            self._units.add(("HHRACE", "must be 1 to 63 in an occupied housing unit"), lines.numbers[has_no_race])
        small = {name: read[name].astype(np.uint8) for name in ("RTYPE", "HHT", "HHRACE", "TEN")}
        units = Units(
            read["MAFID"].astype(np.int32), places, lines.numbers.astype(np.int32),
            read["FINAL_POP"].astype(np.int32), small["RTYPE"], small["HHT"], small["HHRACE"], small["TEN"],
        )  # fmt: skip
        return units if is_right.all() else units.take(is_right)

    def _judge_codes(self, read: FieldNumbers, reader: FieldReader) -> None:
        """Mark codes that are not in the list as breaking the rule of their field."""
        for name in CODE_COLUMNS:
            numbers = read[name]
            is_wrong = ~self._rules.is_code[numbers] & (numbers != 0)
            if is_wrong.any():
                read.broken[is_wrong] |= reader.bit(name)

    def _joined(self, numbers: Mapping[str, Int64s], lines: Int64s, table: UnitTable) -> JoinedPersons:
        """These persons with their units, without persons that break a rule about both."""
        units = table.find(numbers["MAFID"], numbers["RELSHIP"] == layout.HOUSEHOLDER)
        is_found = units >= 0
        is_paired = is_found.copy()
        if len(table.units.types):
            in_housing_unit = table.units.types[np.maximum(units, 0)] == layout.HOUSING_UNIT
            is_paired &= (numbers["RTYPE"] == layout.PERSON_IN_HOUSING_UNIT) == in_housing_unit
        follows = state_rules.has_code_after_none(numbers)
        self._persons.add(after_no_code_rule(RACE_CODES), lines[follows])
        if not self._units.is_broken:
            self._persons.add(("MAFID", "must be the MAFID of a unit of the state"), lines[~is_found])
            unpaired = lines[is_found & ~is_paired]
            self._persons.add(("RTYPE", "must be 3 in a housing unit and 5 in group quarters"), unpaired)
        is_kept = is_paired & ~follows
        if is_kept.all():
            return JoinedPersons(numbers, units, table)
        return JoinedPersons({name: column[is_kept] for name, column in numbers.items()}, units[is_kept], table)

    def _judge_state(self, table: UnitTable) -> None:
        """Check the rules about whole units and the counts, if no line alone is wrong."""
        if self._units.is_broken or self._persons.is_broken:
            return
        units = table.units
        has_wrong_householders = table.is_household & (table.householders != 1)
        rule = ("HHT", "an occupied housing unit must have exactly one householder")
        self._units.add(rule, table.lines_where(has_wrong_householders))
        is_vacant = (units.types == layout.HOUSING_UNIT) & (units.household_types == 0)
        rule = ("HHT", "must not be 0 (vacant) in a housing unit where somebody lives")  # it would be lost
        self._units.add(rule, table.lines_where(is_vacant & (table.persons > 0)))
        is_quarters = units.types == layout.GROUP_QUARTERS
        rule = ("QGQTYP", "group quarters must have no householder (RELSHIP 20)")
        self._units.add(rule, table.lines_where(is_quarters & (table.householders > 0)))
        warnings = FindingsOf(self._files.units.name)
        is_other = np.asarray(units.populations != table.persons)
        state_rules.warn_of_units(warnings, "FINAL_POP", "is not the number of its persons", table, is_other)
        if self._rules.oids is not None:
            elsewhere = self._rules.oids.blocks[units.places] // 10**13 != int(self._files.state)
            problem = "its block is in a state other than BCUSTATEFP"
            state_rules.warn_of_units(warnings, "OIDTB", problem, table, elsewhere)
        self._others += warnings.findings
        self._others += state_rules.count_findings(self._files, table, self._state)
