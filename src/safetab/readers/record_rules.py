"""The rules for records, on values as text. All engines share them, so all engines say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from safetab.census.area_levels import Pass
from safetab.dialects.bureau.us_census import RACE
from safetab.foundation.findings import FindingsOf
from safetab.products.record import RACE_COLUMNS, AttributePart, CheckedColumn, RecordLayout
from safetab.readers.record_files import MOST_ROWS_LISTED

NO_CODE = "Null"

Rule = tuple[str, str]
"""A column, and what its values must be."""

UTF8_RULE: Rule = ("", "a row must be UTF-8 text")
HEADER_RULE: Rule = ("", "the header may stand only in line 1")
BLOCK_RULE: Rule = ("TABBLKST..TABBLK", "the block must be listed in GRF-C")
NOT_DIGITS_RULE: Rule = ("TABBLKST..TABBLK", "must be 2, 3, 6 and 4 digits")
ETHNICITY_RULE: Rule = ("QSPAN", "must be a code of the list")
AFTER_NO_CODE_RULE: Rule = ("QRACE2..QRACE8", "after the first Null only Null may follow")


def shape_rule(record: RecordLayout) -> Rule:
    """The rule about the number of fields in a row."""
    return "", f"a row must have {len(record.columns)} fields"


def rule_of(column: AttributePart | CheckedColumn) -> Rule:
    """The rule of a column of the record."""
    return column.column, column.rule


def broken_code_rules(races: Sequence[str | None], ethnicity: str | None, codes: Collection[str]) -> Iterator[Rule]:
    """The rules that the codes of a record break: QRACE1 to QRACE8, and QSPAN as `ethnicity`."""
    has_ended = False
    broken: dict[Rule, None] = {}
    for column, code in zip(RACE_COLUMNS, races, strict=True):
        if code == NO_CODE and column != RACE_COLUMNS[0]:
            has_ended = True
        elif code is None or code not in codes or not RACE.may_hold(code):
            broken[race_rule(column)] = None
        elif has_ended:
            broken[AFTER_NO_CODE_RULE] = None
    if ethnicity is None or ethnicity not in codes:
        broken[ETHNICITY_RULE] = None
    return iter(broken)


def race_rule(column: str) -> Rule:
    """The rule of a race column: only QRACE1 must have a code."""
    return column, "must be a code of the list from 1000 to 8999" + ("" if column == RACE_COLUMNS[0] else ", or Null")


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


def report_empty_passes(people: Mapping[Pass, int], findings: FindingsOf) -> None:
    """Warn about passes without records, for the curator's eyes only.

    A release must not depend on whether somebody is there except through noise.

    Proof: docs/privacy.md#nobody.
    """
    for tabulation_pass, number in people.items():
        if not number:
            name = tabulation_pass.name.upper()
            findings.warning("TABBLKST", f"no record is in a state of the {name} pass: its counts are 0 before noise.")


def text_of_value(record: RecordLayout, column: str, value: object) -> str | None:
    """How a delimited file would spell a value of a typed column, or None if it can't."""
    if value is None:
        return NO_CODE if column in RACE_COLUMNS[1:] else None
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int) and value >= 0 and column in record.digits:
        return f"{value:0{record.digits[column]}d}"
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(value)
