"""The rules for records, on values as text. All engines share them, so all engines say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from safetab.census.area_levels import Pass
from safetab.foundation.findings import FindingsOf
from safetab.products.record import NO_CODE, AttributePart, CheckedColumn, CodeColumns, RecordLayout
from safetab.readers.record_files import MOST_ROWS_LISTED

Rule = tuple[str, str]
"""A column, and what its values must be."""

UTF8_RULE: Rule = ("", "a row must be UTF-8 text")
HEADER_RULE: Rule = ("", "the header may stand only in line 1")


def shape_rule(record: RecordLayout) -> Rule:
    """The rule about the number of fields in a row."""
    return "", f"a row must have {len(record.columns)} fields"


def rule_of(column: AttributePart | CheckedColumn) -> Rule:
    """The rule of a column of the record."""
    return column.column, column.rule


def area_form_rule(record: RecordLayout) -> Rule:
    """The rule about the digits of the columns that spell the smallest area."""
    *widths, last = record.area.widths
    return _from_to(record.area.columns), f"must be {', '.join(map(str, widths))} and {last} digits"


def area_listed_rule(record: RecordLayout) -> Rule:
    """The rule that the smallest area must be one of the public file."""
    return _from_to(record.area.columns), f"the {record.area.noun} must be listed in {record.area.listed_in}"


def code_rule(codes: CodeColumns, column: str) -> Rule:
    """The rule of a column of codes: only the first must have one."""
    return column, f"must be {codes.codes}" + (f", or {NO_CODE}" if column in codes.optional else "")


def after_no_code_rule(codes: CodeColumns) -> Rule:
    """The rule that answers leave no gap."""
    return _from_to(codes.optional), f"after the first {NO_CODE} only {NO_CODE} may follow"


def _from_to(columns: Sequence[str]) -> str:
    return f"{columns[0]}..{columns[-1]}"


def broken_code_rules(record: RecordLayout, row: Mapping[str, str | None], codes: Collection[str]) -> Iterator[Rule]:
    """The rules that the codes of a record break."""
    has_ended = False
    broken: dict[Rule, None] = {}
    for column, of_column in record.code_columns.items():
        code = row[column]
        if code == NO_CODE and record.may_be_absent(column):
            has_ended = True
        elif code is None or code not in codes or not of_column.classification.may_hold(code):
            broken[code_rule(of_column, column)] = None
        elif has_ended and record.may_be_absent(column):
            broken[after_no_code_rule(of_column)] = None
    return iter(broken)


class BrokenRules:
    """How many rows break which rule, and where the first of them are."""

    def __init__(self, noun: str = "line") -> None:
        """`noun` is what the numbers count: lines of text files, rows of Parquet files."""
        self._noun = noun
        self._rows: Counter[Rule] = Counter()
        self._numbers: dict[Rule, dict[str, list[int]]] = {}
        self._listed: Counter[Rule] = Counter()

    def add(self, rule: Rule, part: str, numbers: Sequence[int], count: int | None = None) -> None:
        """Note the rows of one file that break a rule, by their line or row numbers.

        `count` is how many there are, if not all numbers are given.
        """
        if not len(numbers):
            return
        shown = numbers[: MOST_ROWS_LISTED - self._listed[rule]]
        self._rows[rule] += len(numbers) if count is None else count
        self._listed[rule] += len(shown)
        self._numbers.setdefault(rule, {}).setdefault(part, []).extend(shown)

    def report(self, findings: FindingsOf) -> None:
        """Add one error for each broken rule, with its number of rows.

        The line or row numbers are for the confidential log only.
        """
        for rule, rows in sorted(self._rows.items()):
            column, sentence = rule
            findings.error(column, rule_and_rows(sentence, rows), self.where(rule))

    def where(self, rule: Rule) -> str:
        """The files and numbers of the first rows that break a rule, for the confidential log only."""
        listed = [
            f"{part}, {self._noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
            for part, numbers in self._numbers[rule].items()
            if numbers
        ]
        more = self._rows[rule] - self._listed[rule]
        return "; ".join(listed) + (f" and {more:,} more" if more else "")


def rule_and_rows(rule: str, rows: int) -> str:
    """A rule, and how many rows break it, in two sentences."""
    return f"{rule}. {rows:,} {'row breaks' if rows == 1 else 'rows break'} this rule."


def report_empty_passes(people: Mapping[Pass, int], record: RecordLayout, findings: FindingsOf) -> None:
    """Warn about passes without records, for the curator's eyes only.

    A release must not depend on whether somebody is there except through noise.

    Proof: docs/privacy.md#nobody.
    """
    for tabulation_pass, number in people.items():
        if not number:
            name = tabulation_pass.name.upper()
            where = f"in a {record.area.part_noun} of the {name} pass"
            findings.warning(record.part_column, f"no record is {where}: its counts are 0 before noise.")


def text_of_value(record: RecordLayout, column: str, value: object) -> str | None:
    """How a delimited file would spell a value of a typed column, or None if it can't."""
    if value is None:
        return NO_CODE if record.may_be_absent(column) else None
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int) and value >= 0 and column in record.digits:
        return f"{value:0{record.digits[column]}d}"
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(value)
