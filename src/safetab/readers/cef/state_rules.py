"""The rules for the files of a state, and what is found about each file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, FindingsOf, shortened
from safetab.foundation.text_files import why_unreadable
from safetab.products.record import RACE_COLUMNS
from safetab.readers.cef.fields import FieldNumbers, FieldReader
from safetab.readers.cef.geography import BlockOids
from safetab.readers.cef.layout import COUNTS, LineLayout, Ranges
from safetab.readers.cef.line_loops import Flags, Int64s
from safetab.readers.cef.lines import Lines, lines_of
from safetab.readers.cef.reader_file import StateFiles
from safetab.readers.cef.unit_table import UnitTable
from safetab.readers.person_files import MOST_ROWS_LISTED
from safetab.readers.person_rules import BrokenRules, Rule

NO_UNIT_RULE: Rule = ("MAFID", "must be that of a unit of the state")
TWICE_RULE: Rule = ("MAFID", "must be that of one unit alone")
PAIR_RULE: Rule = ("RTYPE", "must be 3 in a housing unit and 5 in group quarters")
OID_RULE: Rule = ("OIDTB", "must be a number of up to 22 digits")
BLOCK_RULE: Rule = ("OIDTB", "must be an OIDTABBLK of the GRF-C")
HOUSEHOLDER_RULE: Rule = ("HHT", "an occupied housing unit must have exactly one householder")
INHABITED_RULE: Rule = ("HHT", "a housing unit where somebody lives must not be 0, which is vacant")
NO_HOUSEHOLDER_RULE: Rule = ("QGQTYP", "group quarters must have no householder (RELSHIP 20)")
TENURE_RULE: Rule = ("TEN", "must be 1 to 4 in an occupied housing unit")
HOUSEHOLD_RACE_RULE: Rule = ("HHRACE", "must be 1 to 63 in an occupied housing unit")

_CODES_END = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class CefRules:
    """What lines are judged by: as much of the public lists as there is."""

    codes: Collection[str] | None  # of the list; every code that the layout allows if there is no list
    oids: BlockOids | None
    for_households: bool = False  # households need a tenure and a race
    is_code: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        marks = np.full(_CODES_END, self.codes is None)
        marks[[int(code) for code in self.codes or ()]] = True
        object.__setattr__(self, "is_code", marks)


class FileRules:
    """One file of a state: its lines, and which of them break which rule."""

    def __init__(self, path: Path, layout: LineLayout) -> None:
        self._path = path
        self._layout = layout
        self._broken = BrokenRules("line")
        self._unreadable = FindingsOf(path.name)
        self.is_broken = False

    def lines(self) -> Iterator[Lines]:
        """All lines; a file that can't be read to its end is a finding."""
        try:
            yield from lines_of(self._path, self._layout)
        except (pa.ArrowException, OSError) as error:
            raise_if_the_machine_failed(error)
            is_damaged = not isinstance(error, OSError) or error.errno is None
            damaged = "it is damaged, or not what its ending says. Write it again."
            self._unreadable.error("", damaged if is_damaged else why_unreadable(self._path, error))
            self.is_broken = True

    def judge(self, lines: Lines, read: FieldNumbers, reader: FieldReader) -> Flags:
        """Which lines are right, each by itself."""
        shape = f"a line must have {self._layout.width} characters, or {len(self._layout.fields)} fields separated by |"
        self.add(("", shape), lines.misshapen)
        for rule, is_broken in reader.broken_rules(read):
            self.add(rule, lines.numbers[is_broken])
        return np.asarray(read.broken == 0)

    def add(self, rule: Rule, numbers: NDArray[np.integer]) -> None:
        """The numbers of lines that break a rule; none is no breach."""
        shown = numbers[:MOST_ROWS_LISTED].tolist()
        self._broken.add(rule, self._path.name, shown, len(numbers))
        self.is_broken = self.is_broken or len(numbers) > 0

    def reported(self) -> tuple[Finding, ...]:
        findings = FindingsOf(self._path.name)
        self._broken.report(findings)
        return self._unreadable.findings + findings.findings


def has_code_after_none(numbers: Mapping[str, Int64s]) -> Flags:
    has_ended = np.zeros(len(numbers[RACE_COLUMNS[0]]), dtype=np.bool_)
    follows = has_ended.copy()
    for name in RACE_COLUMNS[1:]:
        is_none = numbers[name] == 0
        follows |= has_ended & ~is_none
        has_ended |= is_none
    return follows


def warn_of_units(findings: FindingsOf, column: str, what: str, table: UnitTable, which: Flags) -> None:
    count = int(np.count_nonzero(which))
    if count:
        shown = ", ".join(map(str, table.lines_where(which)[:MOST_ROWS_LISTED].tolist()))
        more = f" and {count - MOST_ROWS_LISTED:,} more" if count > MOST_ROWS_LISTED else ""
        rows = f"{findings.file}, line{'s' if count > 1 else ''} {shown}{more}"
        findings.warning(column, f"{what}: {count:,} {'unit' if count == 1 else 'units'}.", rows)


def count_findings(files: StateFiles, table: UnitTable, state: Mapping[str, Ranges]) -> tuple[Finding, ...]:
    """The six counts, which must be those of the units, and of the persons that were joined to them."""
    if files.counts is None:
        findings = FindingsOf(files.units.name)
        findings.warning("", "there is no file of counts (CNT) beside it, so nothing proves that no line was lost.")
        return findings.findings
    rules, true_counts = FileRules(files.counts, COUNTS), table.counts()
    reader, findings = FieldReader(COUNTS, tuple(true_counts), state), FindingsOf(files.counts.name)
    found: list[dict[str, int]] = []
    for lines in rules.lines():
        read = reader.read(lines.characters)
        is_right = rules.judge(lines, read, reader)
        found += [{name: int(read[name][row]) for name in true_counts} for row in np.flatnonzero(is_right)]
    if not rules.is_broken and len(found) != 1:
        findings.error("", "it must have one line.")
    for counted in found if len(found) == 1 and not rules.is_broken else ():
        other = [name for name, count in true_counts.items() if counted[name] != count]
        if other:
            names = shortened(other, len(other))
            findings.error(names, "not the number of lines that there are. Lines were lost, or added.")
    return rules.reported() + findings.findings
