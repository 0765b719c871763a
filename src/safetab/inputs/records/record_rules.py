"""The rules for records, on values as text. All engines share them, so all engines say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from safetab.foundation.findings import FindingsOf
from safetab.inputs.readers.forms.table_form import MOST_ROWS_LISTED
from safetab.model.census.area_levels import Pass
from safetab.model.census.groups import MOST_ANSWERS
from safetab.model.products.record import NO_CODE, AreaColumns, CodeColumns, RecordLayout
from safetab.model.products.record_field import RuledColumn
from safetab.model.specification.values import Unit

Rule = tuple[str, str]
"""A column, and what its values must be."""


def rule_of(column: RuledColumn) -> Rule:
    """The rule of a column of the record."""
    return column.column, column.rule


def without_blanks(rule: Rule, record: RecordLayout) -> Rule:
    """The rule, for values that keep it but for the blanks around them."""
    column, sentence = rule
    values = "them" if column in record.separators_of_lists else "it"
    return column, f"{sentence}, without blanks around {values}"


def area_form_rule(record: RecordLayout) -> Rule:
    """The rule about the digits of the columns that spell the smallest area."""
    if not isinstance(record.area, AreaColumns):
        return area_listed_rule(record)
    *widths, last = record.area.widths
    return _from_to(record.area.columns), f"must be {', '.join(map(str, widths))} and {last} digits"


def part_rule(record: RecordLayout, area: AreaColumns) -> Rule:
    """The rule that the part, such as the state, must be one that a pass can have."""
    return record.part_column, f"must be a {area.part_noun} that the census has"


def area_listed_rule(record: RecordLayout) -> Rule:
    """The rule that the smallest area must be one of the public file."""
    if not isinstance(record.area, AreaColumns):
        has_zeros = any(
            text.startswith("0") and text != "0" for texts in record.area.keys for text in texts
        )
        zeros = ", with its leading zeros" if has_zeros else ""
        return _from_to(record.area.columns), f"must be listed in {record.area.listed_in}{zeros}"
    return _from_to(
        record.area.columns
    ), f"the {record.area.noun} must be listed in {record.area.listed_in}"


def code_rule(codes: CodeColumns, column: str) -> Rule:
    """The rule of a column of codes: only the first must have one."""
    nothing = NO_CODE if codes.listed is None else "missing"
    return column, f"must be {codes.codes}" + (
        f", or {nothing}" if column in codes.optional else ""
    )


def after_no_code_rule(codes: CodeColumns) -> Rule:
    """The rule that answers leave no gap."""
    if codes.listed is None:
        return _from_to(codes.optional), f"after the first {NO_CODE} only {NO_CODE} may follow"
    return _from_to(codes.columns), "after the first missing answer none may follow"


def most_answers_rule(column: str) -> Rule:
    """The rule about the number of answers in a list."""
    return column, f"must have at most {MOST_ANSWERS} answers"


def _from_to(columns: Sequence[str]) -> str:
    return columns[0] if len(columns) == 1 else f"{columns[0]}..{columns[-1]}"


class BrokenRules:
    """The number of rows that break each rule, and the places of the first of them."""

    def __init__(self, noun: str = "line") -> None:
        """`noun` is what the numbers count: lines of text files, rows of others."""
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
            findings.broken(column, sentence, rows, self.where(rule))

    def where(self, rule: Rule) -> str:
        """The files and numbers of the first rows that break a rule.

        They are for the confidential log only.
        """
        listed = [
            f"{part}, {self._noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
            for part, numbers in self._numbers[rule].items()
            if numbers
        ]
        more = self._rows[rule] - self._listed[rule]
        return "; ".join(listed) + (f" and {more:,} more" if more else "")


def report_passes(
    people: Mapping[Pass, int], in_no_pass: int, record: RecordLayout, findings: FindingsOf
) -> None:
    """Warn about passes without records and records without a pass.

    The warnings are for the curator's eyes only.

    A release must not depend on whether somebody is there except through noise.

    Proof: docs/privacy.md#nobody.
    """
    if not any(people.values()) and not in_no_pass:
        findings.warning("", "it has no record.")
    is_listed = not isinstance(record.area, AreaColumns)
    for tabulation_pass, number in people.items():
        if not number:
            name = f'"{tabulation_pass.name}"' if is_listed else tabulation_pass.name.upper()
            where = f"in a {record.area.part_noun} of the {name} pass"
            findings.warning(
                record.part_column, f"no record is {where}: its counts are 0 before noise."
            )
    if in_no_pass:
        are_counted = (
            "record is in no pass and is" if in_no_pass == 1 else "records are in no pass and are"
        )
        findings.warning(
            record.part_column, f"{in_no_pass:,} {are_counted} counted nowhere.", count=in_no_pass
        )


def report_units(unit: Unit, missing: int, too_many: int, findings: FindingsOf) -> None:
    """Add an error if records are of no unit, and one if units have too many records."""
    if missing:
        findings.broken(unit.column, "must not be missing", missing)
    if too_many:
        article = "an" if unit.name[:1].casefold() in "aeiou" else "a"
        records = "1 record" if unit.most_records == 1 else f"{unit.most_records} records"
        more = f"1 {unit.name} has" if too_many == 1 else f"{too_many:,} {unit.name}s have"
        findings.error(
            unit.column, f"{article} {unit.name} may have at most {records}. {more} more."
        )


def text_of_value(record: RecordLayout, column: str, value: object) -> str | None:
    """The text of a typed column's value in a delimited file, or None if it can't be spelled."""
    if column in record.fields:
        return record.fields[column].text_of(value)
    if value is None:
        return NO_CODE if record.may_be_absent(column) else None
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int) and value >= 0 and column in record.digits:
        return f"{value:0{record.digits[column]}d}"
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(value)
