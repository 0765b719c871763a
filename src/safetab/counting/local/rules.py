"""Which rows break which rule, and where they are.

Asked only if a row is known to break a rule, or may. The rows come in the order of their files,
with line or row numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.counting.local.code_numbers import CodeNumbers
from safetab.counting.local.listed_areas import area_numbers_of
from safetab.counting.local.records import ValueBatch, rows_of, value_batch
from safetab.counting.local.units import UnitCounts
from safetab.foundation.arrays import is_in_sorted
from safetab.foundation.batch_sizes import BatchSizes
from safetab.foundation.findings import FindingsOf
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.readers.digit_columns import NOT_DIGITS
from safetab.inputs.readers.table_files import TableFiles
from safetab.inputs.records import record_rules as rules
from safetab.inputs.records.record_rules import BrokenRules, Rule, rule_of
from safetab.model.products.record import WRONG, AreaColumns, CodeColumns, RecordLayout

_Rows = NDArray[np.bool_]


def judge_rows(
    files: TableFiles,
    known: KnownLists,
    findings: FindingsOf,
    rows_done: Callable[[int], None],
    sizes: BatchSizes,
) -> None:
    """Report every rule that the known lists show broken.

    Raises ArrowException for a damaged file.
    """
    broken = BrokenRules(files.form.noun)
    units = UnitCounts(known.record, sizes.rows_of_units)
    try:
        for path in files.parts:
            for numbers, rows, misfits in files.form.numbered_rows(path, known.record, sizes):
                for rule, lines in misfits.items():
                    broken.add(rule, path.name, lines)
                if rows is not None:
                    batch = value_batch(rows, known.record)
                    for rule, is_broken in broken_rules(batch, known):
                        broken.add(rule, path.name, numbers[is_broken].tolist())
                    units.add(batch)
                rows_done(len(numbers))
    finally:
        broken.report(findings)
        units.report(findings)


def broken_rules(batch: ValueBatch, known: KnownLists) -> Iterator[tuple[Rule, _Rows]]:
    """Each rule with the rows that break it. Rows that break it only by blanks come separately."""
    broken = [*_broken_rules(batch, known)]
    if not known.record.fields or not any(rows.any() for _, rows in broken):
        yield from broken
        return
    separators = known.record.separators_of_lists
    trimmed = {name: column.without_blanks(separators.get(name)) for name, column in batch.items()}
    for (rule, rows), (_, still_broken) in zip(broken, _broken_rules(trimmed, known), strict=True):
        yield rule, rows & still_broken
        yield rules.without_blanks(rule, known.record), rows & ~still_broken


def _broken_rules(batch: ValueBatch, known: KnownLists) -> Iterator[tuple[Rule, _Rows]]:
    """Each rule with the rows that break it."""
    for column in known.record.ruled:
        numbers = map(column.number_of, batch[column.column].texts(known.record, column.column))
        is_broken = np.array([number is None for number in numbers], dtype=np.bool_)
        yield rule_of(column), is_broken[batch[column.column].position_of_row]
    if isinstance(known.record.area, AreaColumns):
        yield from _broken_areas(batch, known, known.record.area)
    else:
        yield rules.area_listed_rule(known.record), area_numbers_of(known.record).of_rows(batch) < 0
    for codes in (known.record.several, known.record.single):
        valid = known.codes if codes.listed is None else codes.listed
        broken = _broken_answers if codes.separator is None else _broken_lists
        yield from broken(batch, known.record, codes, dict.fromkeys(valid, 1))


def _broken_answers(
    batch: ValueBatch, record: RecordLayout, codes: CodeColumns, valid: Mapping[str, int]
) -> Iterator[tuple[Rule, _Rows]]:
    """The rules that the answers in some columns break."""
    numbers_of = CodeNumbers(codes, valid)
    has_ended = np.zeros(rows_of(batch), dtype=np.bool_)
    follows = has_ended.copy()
    for name in codes.columns:
        numbers = numbers_of.of_column(record, name, batch[name])[batch[name].position_of_row]
        yield rules.code_rule(codes, name), numbers == WRONG
        follows |= has_ended & (numbers != 0) & (numbers != WRONG)
        has_ended |= numbers == 0
    if len(codes.columns) > 1 and not codes.skips_gaps:
        yield rules.after_no_code_rule(codes), follows


def _broken_lists(
    batch: ValueBatch, record: RecordLayout, codes: CodeColumns, valid: Mapping[str, int]
) -> Iterator[tuple[Rule, _Rows]]:
    """The rules that the lists of answers in a column break."""
    (name,) = codes.columns
    answers = [codes.answers_in(text) for text in batch[name].texts(record, name)]
    numbers = [{codes.number_of(answer, valid) for answer in of_list} for of_list in answers]
    are_wrong = [WRONG in of_list or (codes.required and not of_list) for of_list in numbers]
    verdicts = {
        rules.code_rule(codes, name): are_wrong,
        rules.after_no_code_rule(codes): [0 in of_list for of_list in numbers],
        rules.most_answers_rule(name): [len(of_list) > codes.most_listed for of_list in answers],
    }
    for rule, is_broken in verdicts.items():
        yield rule, np.array(is_broken, dtype=np.bool_)[batch[name].position_of_row]


def _broken_areas(
    batch: ValueBatch, known: KnownLists, area: AreaColumns
) -> Iterator[tuple[Rule, _Rows]]:
    columns = [batch[column] for column in area.columns]
    of_columns = zip(columns, area.widths, strict=True)
    parts = [column.digits(width)[column.position_of_row] for column, width in of_columns]
    is_no_number = np.logical_or.reduce([part == NOT_DIGITS for part in parts])
    whole = np.zeros(len(is_no_number), dtype=np.int64)
    for width, part in zip(area.widths, parts, strict=True):
        whole = whole * 10**width + part
    yield rules.area_form_rule(known.record), is_no_number
    is_there = np.isin(parts[0], list(known.parts_there))
    yield rules.part_rule(known.record, area), ~is_no_number & ~is_there
    is_known = ~np.isin(parts[0], list(known.parts)) | is_in_sorted(known.areas, whole)
    yield rules.area_listed_rule(known.record), ~is_no_number & ~is_known
