"""Small public lists: pipe-delimited text with a header and without quoting, read as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import FindingsOf, shortened

SEPARATOR = "|"
_NO_HEADER = "it names none of the columns. Is the header missing? "
_NOT_UTF_8 = (
    "it is not UTF-8 text. Save the file as UTF-8, or end its name in .gz if it is gzipped. "
)
_SEPARATORS = {SEPARATOR: SEPARATOR, ",": "commas", "\t": "tabs", ";": "semicolons"}
NAME_RULE = "must be text with only printable characters and plain spaces"
"""The rule for names. It also forbids marks that turn the direction of reading."""


class Row(NamedTuple):
    """A row below the header: the number of its line, and its fields."""

    line: int
    fields: tuple[str, ...]


class RowProblems:
    """Gathers the rows that break a rule.

    So a rule that is broken a thousand times is one finding.
    """

    def __init__(self, findings: FindingsOf, before_places: str = "") -> None:
        self._findings = findings
        self._before_places = before_places
        self._places: dict[tuple[str, str], list[object]] = {}
        self._unnamed: Counter[tuple[str, str]] = Counter()

    def add(self, line: int, column: str, rule: str, value: str) -> None:
        """Note that a value breaks a rule. The value is shown: only for public files."""
        self.add_places(column, rule, [f'line {line} ("{cut(value)}")'])

    def add_places(
        self, column: str, rule: str, places: Sequence[object], unnamed: int = 0
    ) -> None:
        """Note the places where the values of a column break a rule.

        There may be none, or more than are named.
        """
        if places:
            self._places.setdefault((column, rule), []).extend(places)
            self._unnamed[column, rule] += unnamed

    def report(self) -> None:
        """Add one error for each rule that is broken."""
        for (column, rule), places in self._places.items():
            self._findings.error(
                column,
                f"{rule}: {self._before_places}"
                f"{shortened(places, unnamed=self._unnamed[column, rule])}.",
            )


def read_rows(
    path: Path,
    header: tuple[str, ...],
    findings: FindingsOf,
    others: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    *,
    may_be_empty: bool = False,
) -> list[Row]:
    """The rows below the header, with their fields in the order of `header`.

    The columns of the file may stand in any order. Problems with the shape of the file go to the
    findings. If the header is wrong, there are no rows. `others` has the headers of files that may
    have been taken for this one.
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
        strange = [f'"{cut(name)}"' for name in found if name not in header]
        wrong = wrong_columns(found, header) + (
            f"; unknown: {shortened(strange)}" if strange else ""
        )
        of_other = next(
            (name for name, columns in others.items() if sorted(columns) == sorted(found)), None
        )
        if of_other is not None:
            findings.error(
                "line 1", f"these are the columns of {of_other}. The header must be {expected}."
            )
            return []
        cause = header_mistake(lines[0], header)
        given = f'{"Line 1" if cause else "the header"} is "{cut(lines[0], 200)}"'
        must = (
            f"{'The header' if cause else 'It'} must be {expected},"
            f" in any order{'' if cause else wrong}."
        )
        findings.error("line 1", f"{cause}{given}. {must}")
        return []
    if len(lines) == 1 and not may_be_empty:
        findings.error("", "it has a header but no rows.")
    return _rows_below_header(lines, header, findings)


def header_mistake(
    line: str,
    columns: Sequence[str],
    separator: str = SEPARATOR,
    if_none_is_named: str = _NO_HEADER,
) -> str:
    """The likely faults of a header, or "" if nothing is likely.

    The sentences quote nothing of the header.
    """
    known = {column.casefold() for column in columns}

    def known_by(other: str) -> set[str]:
        return known & {name.strip(" \"'").casefold() for name in line.split(other)}

    found = max(_SEPARATORS, key=lambda other: (len(known_by(other)), other == separator))
    if not line.strip():
        return "the file is empty, or begins with an empty line. "
    if not known_by(found):
        return _NOT_UTF_8 if "\N{REPLACEMENT CHARACTER}" in line else if_none_is_named
    names = [name for name in line.split(found) if name.strip(" \"'").casefold() in known]
    are_capitals = all(column.isupper() for column in columns)
    must_case = (
        "column names must be in capitals"
        if are_capitals
        else "upper and lower case differ in the names"
    )
    mistakes = {
        f"the columns are separated by {_SEPARATORS[found]}, not by {_SEPARATORS[separator]}": found
        != separator,
        "the names are in quotes": any(name.strip(" ").startswith(('"', "'")) for name in names),
        "the names have blanks around them": any(name != name.strip(" ") for name in names),
        must_case: any(name.strip(" \"'") not in columns for name in names),
    }
    made = [mistake for mistake, is_made in mistakes.items() if is_made]
    return f"{'; '.join(made)}. " if made else ""


def wrong_columns(found: Sequence[str], header: Sequence[str], shown: int = 5) -> str:
    """The columns that are missing or repeated, as the end of a sentence, or nothing."""
    missing = [column for column in header if column not in found]
    repeated = [column for column in header if found.count(column) > 1]
    problems = {"missing": missing, "more than once": repeated}
    return "".join(
        f"; {problem}: {shortened(names, shown)}" for problem, names in problems.items() if names
    )


def _rows_below_header(
    lines: list[str], header: tuple[str, ...], findings: FindingsOf
) -> list[Row]:
    """The rows of a small delimited file. Rows of a wrong shape are findings."""
    width = len(header)
    found = lines[0].split(SEPARATOR)
    positions = [found.index(column) for column in header]
    split = [tuple(line.split(SEPARATOR)) for line in lines[1:]]
    is_in_order = positions == [*range(width)]
    if (
        is_in_order and "" not in lines and {len(fields) for fields in split} <= {width}
    ):  # the usual case
        return [*map(Row, range(2, len(lines) + 1), split)]
    rows: list[Row] = []
    problems = RowProblems(findings)
    for number, (line, fields) in enumerate(zip(lines[1:], split, strict=True), start=2):
        if not line:
            problems.add(number, "", "blank lines are only allowed at the end", line)
        elif len(fields) != width:
            problems.add(
                number, "", f"a row must have {width} fields separated by {SEPARATOR}", line
            )
        else:
            rows.append(Row(number, tuple(fields[position] for position in positions)))
    problems.report()
    return rows


def cut(text: str, most: int = 40) -> str:
    """The text, or its beginning and three dots if it is longer than `most` characters."""
    return text if len(text) <= most else text[:most] + "..."
