"""One pass over the files of a state: units, then persons joined to them, with every rule on every line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.foundation.findings import Finding, FindingsOf
from safetab.products.record import RecordLayout
from safetab.readers.cef.fields import CODE_FIELDS, FieldNumbers, FieldReader, long_numbers
from safetab.readers.cef.layout import HOUSEHOLDER, HOUSING_UNIT, PERSON, PERSON_IN_HOUSING_UNIT, UNIT, Ranges
from safetab.readers.cef.line_loops import Int32s, Int64s
from safetab.readers.cef.lines import Lines
from safetab.readers.cef.reader_file import StateFiles
from safetab.readers.cef.state_rules import (
    BLOCK_RULE,
    HOUSEHOLD_RACE_RULE,
    HOUSEHOLDER_RULE,
    INHABITED_RULE,
    NO_HOUSEHOLDER_RULE,
    NO_UNIT_RULE,
    OID_RULE,
    PAIR_RULE,
    TENURE_RULE,
    TWICE_RULE,
    CefRules,
    FileRules,
    count_findings,
    has_code_after_none,
    warn_of_units,
)
from safetab.readers.cef.unit_table import Units, UnitTable, joined_units
from safetab.readers.person_rules import AFTER_NO_CODE_RULE

_KEPT_OF_PERSON = ("RTYPE", "MAFID", "QSEX", "QAGE", "CENRACE", "RELSHIP", *CODE_FIELDS)
_KEPT_OF_UNIT = ("RTYPE", "MAFID", "FINAL_POP", "HHRACE", "TEN", "HHT")
TYPE_OF_HHT = np.array([0, 1, 2, 3, 4, 5, 4, 5])
"""HOUSEHOLD_TYPE by HHT, which tells men and women apart who live alone or with others."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CefRecords:
    """Records as numbers by column, 0 for no code, and where the block of each is in the list of OIDs."""

    columns: Mapping[str, NDArray[np.integer]]
    places: Int32s

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JoinedPersons:
    """Persons that break no rule, each with a unit whose block is known."""

    numbers: Mapping[str, Int64s]
    units: Int32s
    table: UnitTable

    def persons(self) -> CefRecords:
        columns = {name: self.numbers[name] for name in ("QAGE", "QSEX", "CENRACE", *CODE_FIELDS)}
        is_householder = self.numbers["RELSHIP"] == HOUSEHOLDER
        return CefRecords(columns | {"HOUSEHOLDER": is_householder}, self.table.units.places[self.units])

    def households(self) -> CefRecords:
        """One for each householder of an occupied housing unit; the codes are the householder's."""
        rows = np.flatnonzero((self.numbers["RELSHIP"] == HOUSEHOLDER) & self.table.is_household[self.units])
        units = self.table.units.chosen(self.units[rows])
        columns: dict[str, NDArray[np.integer]] = {"HHRACE": units.races}
        columns |= {name: self.numbers[name][rows] for name in CODE_FIELDS}
        columns |= {"HOUSEHOLD_TYPE": TYPE_OF_HHT[units.household_types], "TEN": units.tenures}
        return CefRecords(columns, units.places)


def records_of(joined: JoinedPersons, record: RecordLayout) -> CefRecords:
    """The records of one kind: each person is one, or each household."""
    return joined.households() if record.holds_people else joined.persons()


class StateReader:
    """Reads the files of one state once. Findings are complete when all persons were read.

    A rule about several lines is judged only where each line alone is right: a wrong unit is one finding, and not one
    more for every person in it.
    """

    def __init__(self, files: StateFiles, rules: CefRules) -> None:
        self._files = files
        self._rules = rules
        self._state: Mapping[str, Ranges] = {"BCUSTATEFP": ((int(files.state), int(files.state)),)}
        self._units = FileRules(files.units, UNIT)
        self._persons = FileRules(files.persons, PERSON)
        self._others: list[Finding] = []
        self.persons_read = 0
        self.persons_joined = 0
        self._households = 0

    def records(self, record: RecordLayout) -> int:
        """How many records of a kind the files hold, once all persons were read."""
        return self._households if record.holds_people else self.persons_read

    @property
    def findings(self) -> tuple[Finding, ...]:
        return (*self._units.reported(), *self._persons.reported(), *self._others)

    def unit_table(self) -> UnitTable:
        """The units that are right by themselves; those whose MAFID is there already break a rule too."""
        parts: list[Units] = []
        reader = FieldReader(UNIT, _KEPT_OF_UNIT, self._state)
        for lines in self._units.lines():
            parts.append(self._judged_units(lines, reader))
        table = UnitTable(joined_units(parts))
        if not self._units.is_broken:
            self._units.add(TWICE_RULE, table.lines_where(table.repeated))
        return table

    def joined_persons(self, rows_done: Callable[[int], None] = lambda _: None) -> Iterator[JoinedPersons]:
        """Reads units and persons; the persons come as they stand in the file, those that break a rule left out."""
        table = self.unit_table()
        self._households = int(np.count_nonzero(table.is_household))
        reader = FieldReader(PERSON, _KEPT_OF_PERSON, self._state)
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
        read = reader.read(lines.characters)
        is_right = self._units.judge(lines, read, reader)
        oid = UNIT.field("OIDTB")
        highs, lows = long_numbers(lines.characters, oid.first, oid.end)
        places = np.zeros(len(lows), dtype=np.int32)
        self._units.add(OID_RULE, lines.numbers[is_right & (lows < 0)])
        if self._rules.oids is not None:
            places = self._rules.oids.positions_of(highs, lows)
            self._units.add(BLOCK_RULE, lines.numbers[is_right & (lows >= 0) & (places < 0)])
        is_right &= (lows >= 0) & (places >= 0)
        is_household = (read["RTYPE"] == HOUSING_UNIT) & (read["HHT"] > 0)
        if self._rules.for_households:
            self._units.add(TENURE_RULE, lines.numbers[is_right & is_household & (read["TEN"] == 0)])
            self._units.add(HOUSEHOLD_RACE_RULE, lines.numbers[is_right & is_household & (read["HHRACE"] == 0)])
        small = {name: read[name].astype(np.uint8) for name in ("RTYPE", "HHT", "HHRACE", "TEN")}
        units = Units(
            read["MAFID"].astype(np.int32), places, lines.numbers.astype(np.int32),
            read["FINAL_POP"].astype(np.int32), small["RTYPE"], small["HHT"], small["HHRACE"], small["TEN"],
        )  # fmt: skip
        return units if is_right.all() else units.chosen(is_right)

    def _judge_codes(self, read: FieldNumbers, reader: FieldReader) -> None:
        """A code that the list doesn't have breaks its field's rule."""
        for name in CODE_FIELDS:
            numbers = read[name]
            is_wrong = ~self._rules.is_code[numbers] & (numbers != 0)
            if is_wrong.any():
                read.broken[is_wrong] |= reader.bit(name)

    def _joined(self, numbers: Mapping[str, Int64s], lines: Int64s, table: UnitTable) -> JoinedPersons:
        units = table.find(numbers["MAFID"], numbers["RELSHIP"] == HOUSEHOLDER)
        is_found = units >= 0
        is_paired = is_found.copy()
        if len(table.units.types):
            in_housing_unit = table.units.types[np.maximum(units, 0)] == HOUSING_UNIT
            is_paired &= (numbers["RTYPE"] == PERSON_IN_HOUSING_UNIT) == in_housing_unit
        follows = has_code_after_none(numbers)
        self._persons.add(AFTER_NO_CODE_RULE, lines[follows])
        if not self._units.is_broken:
            self._persons.add(NO_UNIT_RULE, lines[~is_found])
            self._persons.add(PAIR_RULE, lines[is_found & ~is_paired])
        is_kept = is_paired & ~follows
        if is_kept.all():
            return JoinedPersons(numbers, units, table)
        return JoinedPersons({name: column[is_kept] for name, column in numbers.items()}, units[is_kept], table)

    def _judge_state(self, table: UnitTable) -> None:
        if self._units.is_broken or self._persons.is_broken:
            return
        self._units.add(HOUSEHOLDER_RULE, table.lines_where(table.without_one_householder))
        self._units.add(INHABITED_RULE, table.lines_where(table.inhabited_without_a_type))
        self._units.add(NO_HOUSEHOLDER_RULE, table.lines_where(table.group_quarters_with_householders))
        warnings = FindingsOf(self._files.units.name)
        warn_of_units(warnings, "FINAL_POP", "is not the number of its persons", table, table.with_other_population)
        if self._rules.oids is not None:
            states = self._rules.oids.blocks[table.units.places] // 10**13
            elsewhere = states != int(self._files.state)
            warn_of_units(warnings, "OIDTB", "its block lies in another state than BCUSTATEFP", table, elsewhere)
        self._others += warnings.findings
        self._others += count_findings(self._files, table, self._state)
