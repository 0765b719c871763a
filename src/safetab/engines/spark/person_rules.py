"""The rules for person records as expressions over text columns. None of them can fail, whatever a value is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, Row
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from safetab.engines.spark.executor_tasks import MISFIT
from safetab.engines.spark.person_source import FILE, NOT_UTF8, WRONG_SHAPE, file_name
from safetab.foundation.findings import FindingsOf, shortened
from safetab.products.record import (
    BLOCK_COLUMNS,
    BLOCK_DIGITS,
    MOST_DIGITS,
    RACE_COLUMNS,
    AttributePart,
    RecordLayout,
)
from safetab.readers.person_files import MOST_ROWS_LISTED
from safetab.readers.person_rules import (
    AFTER_NO_CODE_RULE,
    BLOCK_RULE,
    ETHNICITY_RULE,
    NO_CODE,
    NOT_DIGITS_RULE,
    UTF8_RULE,
    Rule,
    race_rule,
    rule_and_rows,
    rule_of,
    shape_rule,
)

_BLOCK_DIGITS = 15
_ALL_DIGITS = 10 ** (_BLOCK_DIGITS + 1)


def rules_of(record: RecordLayout) -> tuple[Rule, ...]:
    """A row's broken rules are one number: bit n stands for rule n."""
    return (
        shape_rule(record),
        UTF8_RULE,
        *(rule_of(column) for column in record.ruled),
        NOT_DIGITS_RULE,
        BLOCK_RULE,
        *(race_rule(column) for column in RACE_COLUMNS),
        AFTER_NO_CODE_RULE,
        ETHNICITY_RULE,
    )


def digits(text: Column, width: int) -> Column:
    """The number that exactly `width` digits spell, or null. Spark's own cast would accept signs and blanks."""
    is_right = (F.octet_length(text) == width) & _begins_and_ends_with_digits(text)
    return F.when(is_right, text.try_cast("int"))


def block_number() -> Column:
    """The block of a person as a number of 15 digits, or null.

    A one before and after it makes blanks and signs of the parts stand inside, where no number has them.
    """
    parts = [F.col(column) for column in BLOCK_COLUMNS]
    is_right = F.lit(True)
    for column in BLOCK_COLUMNS:
        is_right &= F.octet_length(column) == BLOCK_DIGITS[column]
    number = F.concat(F.lit("1"), *parts, F.lit("1")).try_cast("bigint")
    return F.when(is_right & number.between(_ALL_DIGITS, 2 * _ALL_DIGITS), divided(number - _ALL_DIGITS, 10))


def attribute_number(record: RecordLayout) -> Column:
    """The attribute of a row, or null."""
    attribute = F.lit(0)
    for part, factor in zip(record.attribute, record.attribute_factors, strict=True):
        attribute += _number_of(part) * factor
    return attribute


def _number_of(part: AttributePart) -> Column:
    text = F.col(part.column)
    number = F.when((F.octet_length(text) <= MOST_DIGITS) & _begins_and_ends_with_digits(text), text.try_cast("int"))
    if not part.leading_zeros:
        number = F.when(text == number.cast("string"), number)
    return F.when(number.between(part.low, part.high), number - part.low)


def is_right(
    record: RecordLayout, is_broken_block: Mapping[Rule, Column], codes: Sequence[Column], ethnicity: Column
) -> Column:
    """Whether a row breaks no rule: `broken_rules` is 0, in fewer steps, since nearly every row is right."""
    right = F.coalesce(F.col(MISFIT).isin(WRONG_SHAPE, NOT_UTF8), F.lit(False)) == F.lit(False)
    for is_broken in is_broken_block.values():
        right &= ~is_broken
    for claim in (*_ruled_columns_are_right(record).values(), ethnicity > 0, codes[0] > 0):
        right &= F.coalesce(claim, F.lit(False))
    for column, before, code in zip(RACE_COLUMNS[1:], codes, codes[1:], strict=False):
        right &= ((code > 0) & (before > 0)) | F.coalesce((code <= 0) & (F.col(column) == NO_CODE), F.lit(False))
    return right


def _ruled_columns_are_right(record: RecordLayout) -> dict[Rule, Column]:
    counted = {rule_of(part): _number_of(part).isNotNull() for part in record.attribute}
    return counted | {rule_of(column): F.col(column.column).isin(*column.texts) for column in record.checked}


def broken_rules(
    record: RecordLayout, is_broken_block: Mapping[Rule, Column], codes: Sequence[Column], ethnicity: Column
) -> Column:
    """The number of a row's broken rules. `codes` and `ethnicity` are positive if they are in the list, else not."""
    rules = rules_of(record)
    are_right = _ruled_columns_are_right(record) | {ETHNICITY_RULE: ethnicity > 0}
    is_broken = {rule: ~F.coalesce(right, F.lit(False)) for rule, right in are_right.items()} | dict(is_broken_block)
    known = _bits(code > 0 for code in codes)
    none = _bits([F.lit(False), *(F.col(column) == NO_CODE for column in RACE_COLUMNS[1:])])
    first_none = none.bitwiseAND(-none)
    is_broken[AFTER_NO_CODE_RULE] = (none != 0) & (known > first_none)  # some bit of a code lies above it
    neither = F.bitwise_not(known.bitwiseOR(none)).bitwiseAND((1 << len(RACE_COLUMNS)) - 1)
    number = F.shiftleft(neither, rules.index(race_rule(RACE_COLUMNS[0])))  # their rules follow each other
    for rule, broken in is_broken.items():
        number += F.when(broken, 1 << rules.index(rule)).otherwise(0)
    return (
        F.when(F.col(MISFIT) == WRONG_SHAPE, 1 << rules.index(shape_rule(record)))
        .when(F.col(MISFIT) == NOT_UTF8, 1 << rules.index(UTF8_RULE))
        .otherwise(number)
    )


def report_broken_rules(faults: Iterable[Row], record: RecordLayout, findings: FindingsOf) -> None:
    """`faults` are those of `LookedUp.broken_rules`. Spark knows a row's file, and not its line."""
    rows_of_files: dict[Rule, Counter[str]] = {}
    for fault in faults:
        for number, rule in enumerate(rules_of(record)):
            if fault.broken >> number & 1:
                rows_of_files.setdefault(rule, Counter())[file_name(fault[FILE])] += fault["count"]
    for rule, rows_of_file in sorted(rows_of_files.items()):
        column, sentence = rule
        files = [f"{rows:,} in {file}" for file, rows in sorted(rows_of_file.items())]
        listed = shortened(files, MOST_ROWS_LISTED)
        findings.error(column, rule_and_rows(sentence, rows_of_file.total()), listed)


def _bits(claims: Iterable[Column]) -> Column:
    """Bit n is set where claim n is true."""
    bits = F.lit(0)
    for position, claim in enumerate(claims):
        bits += F.when(claim, 1 << position).otherwise(0)
    return bits


def _begins_and_ends_with_digits(text: Column) -> Column:
    """Texts are compared byte by byte, and ":" follows "9"."""
    return (text >= "0") & (text < ":") & F.right(text, F.lit(1)).between("0", "9")


def divided(number: Column, by: int) -> Column:
    """Without the rest; `/` would go through floating point."""
    return F.call_function("div", number, F.lit(by))
