"""Small public lists: pipe-delimited text, a header, no quoting; read whole."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from safetab.foundation.findings import FindingsOf, shortened
from safetab.foundation.text_files import UnreadableFile, read_text

SEPARATOR = "|"
NAME_RULE = "must be a text of printable characters and plain spaces"
"""Nor marks that turn the direction of reading: neither is printable."""


class Row(NamedTuple):
    line: int
    fields: tuple[str, ...]


class RowProblems:
    """Gathers rows that break a rule, so that a rule broken a thousand times is still one finding."""

    def __init__(self, findings: FindingsOf) -> None:
        self._findings = findings
        self._places: dict[tuple[str, str], list[str]] = {}

    def add(self, line: int, column: str, rule: str, value: str) -> None:
        self._places.setdefault((column, rule), []).append(f'line {line} ("{_cut(value)}")')

    def report(self) -> None:
        for (column, rule), places in self._places.items():
            self._findings.error(column, f"{rule}: {shortened(places)}.")


def read_rows(path: Path, header: tuple[str, ...], findings: FindingsOf, *, may_be_empty: bool = False) -> list[Row]:
    """The rows below the header, their fields in this order, whatever order the file has.

    Whatever is wrong with the shape of the file goes to the findings.
    """
    try:
        text = read_text(path)
    except UnreadableFile as problem:
        findings.error("", str(problem))
        return []
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    expected = SEPARATOR.join(header)
    if not lines:
        findings.error("", f"it is empty. Its first line must be {expected}")
        return []
    found = lines[0].split(SEPARATOR)
    if sorted(found) != sorted(header):
        told = (
            f'the header is "{_cut(lines[0], 200)}". It must be {expected}, in any order{_wrong_names(found, header)}'
        )
        findings.error("line 1", told)
        return []
    if len(lines) == 1 and not may_be_empty:
        findings.error("", "it has a header and no rows.")
    return _rows_below_header(lines, header, findings)


def _wrong_names(found: list[str], header: tuple[str, ...]) -> str:
    names = {
        "missing": [column for column in header if column not in found],
        "more than once": [column for column in header if found.count(column) > 1],
        "unknown": [f'"{_cut(name)}"' for name in found if name not in header],
    }
    return "".join(f"; {problem}: {shortened(of_it)}" for problem, of_it in names.items() if of_it) + "."


def _rows_below_header(lines: list[str], header: tuple[str, ...], findings: FindingsOf) -> list[Row]:
    width, found = len(header), lines[0].split(SEPARATOR)
    positions = [found.index(column) for column in header]
    split = [tuple(line.split(SEPARATOR)) for line in lines[1:]]
    is_in_order = positions == [*range(width)]
    if is_in_order and "" not in lines and {len(fields) for fields in split} <= {width}:  # as files mostly are
        return [*map(Row, range(2, len(lines) + 1), split)]
    rows: list[Row] = []
    problems = RowProblems(findings)
    for number, (line, fields) in enumerate(zip(lines[1:], split, strict=True), start=2):
        if not line:
            problems.add(number, "", "blank lines are only allowed at the end", line)
        elif len(fields) != width:
            problems.add(number, "", f"a row must have {width} fields separated by {SEPARATOR}", line)
        else:
            rows.append(Row(number, tuple(fields[position] for position in positions)))
    problems.report()
    return rows


def _cut(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[:most] + "..."
