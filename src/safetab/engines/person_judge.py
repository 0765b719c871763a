"""Which rows break which rule, and where they are: asked only once it is known that some row does, or might."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.census.public_lists import is_race_code
from safetab.engines.known_lists import KnownLists
from safetab.engines.local.person_batches import PersonBatch
from safetab.engines.numbered_rows import numbered_rows
from safetab.foundation.findings import FindingsOf
from safetab.products.record import BLOCK_COLUMNS, BLOCK_DIGITS, RACE_COLUMNS, RecordLayout
from safetab.readers.digit_columns import NOT_DIGITS
from safetab.readers.person_rules import (
    AFTER_NO_CODE_RULE,
    BLOCK_RULE,
    ETHNICITY_RULE,
    NO_CODE,
    NOT_DIGITS_RULE,
    BrokenRules,
    Rule,
    race_rule,
    rule_of,
    text_of_value,
)
from safetab.readers.table_files import TableFiles, TableForm

Rows = NDArray[np.bool_]


def judge_rows(files: TableFiles, known: KnownLists, findings: FindingsOf, rows_done: Callable[[int], None]) -> None:
    """Every rule that can be judged, on every row. Raises an ArrowException if a file is damaged."""
    broken = BrokenRules("row" if files.form is TableForm.PARQUET else "line")
    try:
        for path in files.parts:
            for rows in numbered_rows(files, path, known.record):
                for rule, numbers in rows.misfits.items():
                    broken.add(rule, path.name, numbers)
                for rule, is_broken in broken_rules(rows.batch, known) if rows.batch else ():
                    broken.add(rule, path.name, rows.numbers[is_broken].tolist())
                rows_done(len(rows.numbers))
    finally:
        broken.report(findings)


def broken_rules(batch: PersonBatch, known: KnownLists) -> Iterator[tuple[Rule, Rows]]:
    """For each rule the rows that break it."""
    for column in known.record.ruled:
        yield rule_of(column), ~_rows_where(batch, column.column, column.accepts, known.record)
    yield from _broken_blocks(batch, known)
    yield from _broken_codes(batch, known)


def _broken_blocks(batch: PersonBatch, known: KnownLists) -> Iterator[tuple[Rule, Rows]]:
    parts = [batch[column].digits(BLOCK_DIGITS[column])[batch[column].position_of_row] for column in BLOCK_COLUMNS]
    is_no_number = np.logical_or.reduce([part == NOT_DIGITS for part in parts])
    block = np.zeros(len(is_no_number), dtype=np.int64)
    for column, part in zip(BLOCK_COLUMNS, parts, strict=True):
        block = block * 10 ** BLOCK_DIGITS[column] + part
    yield NOT_DIGITS_RULE, is_no_number
    yield BLOCK_RULE, ~is_no_number & np.isin(parts[0], known.states) & ~_is_listed(block, known.blocks)


def _is_listed(block: NDArray[np.int64], listed: NDArray[np.int64]) -> Rows:
    if not len(listed):
        return np.zeros(len(block), dtype=np.bool_)
    return np.asarray(listed[np.minimum(np.searchsorted(listed, block), len(listed) - 1)] == block)


def _broken_codes(batch: PersonBatch, known: KnownLists) -> Iterator[tuple[Rule, Rows]]:
    """As `broken_code_rules` says of one person."""
    has_ended = np.zeros(len(batch["QSPAN"].position_of_row), dtype=np.bool_)
    follows = has_ended.copy()
    record = known.record
    for column in RACE_COLUMNS:
        is_none = _rows_where(batch, column, lambda text: text == NO_CODE, record)
        if column == RACE_COLUMNS[0]:
            is_none[:] = False
        is_code = _rows_where(batch, column, lambda text: text in known.codes and is_race_code(text or ""), record)
        yield race_rule(column), ~is_none & ~is_code
        follows |= has_ended & is_code
        has_ended |= is_none
    yield AFTER_NO_CODE_RULE, follows
    yield ETHNICITY_RULE, _rows_where(batch, "QSPAN", lambda text: text not in known.codes, record)


def _rows_where(batch: PersonBatch, name: str, holds: Callable[[str | None], bool], record: RecordLayout) -> Rows:
    """The rows for whose value a claim holds; it is judged once for each distinct value."""
    column = batch[name]
    verdicts = np.array([holds(text) for text in column.texts(partial(text_of_value, record, name))], dtype=np.bool_)
    return np.asarray(verdicts[column.position_of_row])
