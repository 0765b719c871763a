"""Turns rows into three numbers, atom, pattern and attribute, and says whether all rows are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import Pass
from safetab.engines.encoding import Encoding
from safetab.engines.local.part_records import N, PartRecords
from safetab.engines.local.records import ValueBatch, ValueColumn, rows_of
from safetab.engines.patterns import CODES, Int16s, Int32s, Int64s, ThreadPatterns
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.products import record as layouts
from safetab.products.record import AttributePart, CheckedColumn, CodeColumns
from safetab.readers.record_rules import text_of_value

_NEAR = 16
_LEFT_OUT, _NOT_DIGITS, _NOT_LISTED = -1, -2, -3
"""Instead of an atom: the part is in no pass, the area is not a number, or the geography lacks it."""


class RecordEncoder:
    """Takes batches of records, one after the other; each thread has an encoder of its own.

    `is_right` is False once a row broke a rule; `rules` finds which rows break which rules.
    `record_count` has the number of rows of each pass, counted on the column of parts alone.
    """

    def __init__(self, encoding: Encoding, stored: PartRecords) -> None:
        self._encoding = encoding
        self._patterns = ThreadPatterns(encoding.patterns)
        self._stored = stored
        self._record = encoding.record
        codes = self._record.several, self._record.single
        self._code_numbers = {each: CodeNumbers(each, encoding.number_of_code) for each in codes}
        self._last: dict[str, tuple[ValueColumn, NDArray[Any]]] = {}
        ruled = self._record.ruled  # a column that is only checked adds 0
        self._factor_of = dict(zip_longest(ruled, self._record.attribute_factors, fillvalue=0))
        self._attribute_type = np.min_scalar_type(-self._record.attribute_values * max(len(ruled), 1))
        self.is_right = True
        self.record_count: dict[Pass, int] = dict.fromkeys(encoding.passes, 0)

    def add(self, batch: ValueBatch) -> None:
        """Check the rows, and store the records of the passes that run."""
        attributes = self._attributes(batch)
        atoms = self._atoms(batch)
        patterns = self._patterns_of(batch)
        if min(int(numbers.min(initial=0)) for numbers in (atoms, patterns, attributes)) < 0:
            is_right = (atoms >= _LEFT_OUT) & (patterns >= 0) & (attributes >= 0)
            self.is_right = self.is_right and bool(is_right.all())
            is_kept = is_right & (atoms >= 0)
            atoms, patterns, attributes = atoms[is_kept], patterns[is_kept], attributes[is_kept]
        self._stored.add(atoms, patterns, attributes.astype(self._stored.attribute_type))

    def _numbers(self, batch: ValueBatch, name: str, numbers_of: Callable[[ValueColumn], NDArray[N]]) -> NDArray[N]:
        """What `numbers_of` returns for the values of a column, which neighbouring batches mostly share."""
        column, last = batch[name], self._last.get(name)
        if last is None or not column.has_values_of(last[0]):
            values = replace(column, position_of_row=column.position_of_row[:0].copy())
            last = self._last[name] = values, numbers_of(column)
        return last[1]

    def _attributes(self, batch: ValueBatch) -> NDArray[np.signedinteger]:
        """The attribute of each row, or a negative number; columns only checked add nothing to it."""
        attributes: NDArray[np.signedinteger] = np.zeros(rows_of(batch), dtype=self._attribute_type)
        for ruled in self._record.ruled:
            numbers = self._numbers(batch, ruled.column, partial(self._addends, ruled))
            if numbers.any():
                add = compiled_if_worthwhile(add_numbers, len(attributes))
                add(batch[ruled.column].position_of_row, numbers, attributes)
        return attributes

    def _addends(self, ruled: AttributePart | CheckedColumn, column: ValueColumn) -> NDArray[np.signedinteger]:
        """What each value adds to the attribute; one that breaks the rule makes the sum negative."""
        factor, wrong = self._factor_of[ruled], -self._record.attribute_values
        numbers = [ruled.number_of(text) for text in column.texts(self._record, ruled.column)]
        return np.array([wrong if n is None else n * factor for n in numbers], dtype=self._attribute_type)

    def _atoms(self, batch: ValueBatch) -> Int32s:
        """The atom of each row, or a negative number; adds to the count of each pass."""
        area = self._record.area
        digits = [partial(ValueColumn.digits, width=width) for width in area.widths]
        numbers = tuple(map(partial(self._numbers, batch), area.columns, digits))
        positions = tuple(batch[column].position_of_row for column in area.columns)
        widths = 10 ** np.array(area.widths)
        atoms = np.empty(rows_of(batch), dtype=np.int32)
        find_atoms = compiled_if_worthwhile(atoms_of_rows, len(atoms))
        find_atoms(positions, numbers, widths, *self._encoding.area_lookup, atoms)
        rows_of_parts = batch[self._record.part_column].rows_of_values()
        for tabulation_pass, is_of_pass in self._encoding.passes_of_parts(numbers[0]).items():
            self.record_count[tabulation_pass] += int(rows_of_parts[is_of_pass].sum())
        return atoms

    def _patterns_of(self, batch: ValueBatch) -> Int32s:
        """The pattern of each row, or -1."""
        columns = self._record.code_columns
        positions = [batch[column].position_of_row for column in columns]
        codes = {name: partial(self._numbers_of_codes, name) for name in columns}
        numbers = [self._numbers(batch, name, codes_of) for name, codes_of in codes.items()]
        if missing := CODES - len(columns):  # the loops take as many columns of any record
            no_answer = np.zeros(rows_of(batch), dtype=np.int32)
            no_answer.flags.writeable = positions[0].flags.writeable
            positions[-1:-1] = [no_answer] * missing
            numbers[-1:-1] = [np.zeros(1, dtype=np.int16)] * missing
        return self._patterns.numbers_of_positions(tuple(positions), tuple(numbers))

    def _numbers_of_codes(self, name: str, column: ValueColumn) -> Int16s:
        """The number of each value's code; 0 for none, where that is allowed, and -1 for what is not a code."""
        codes = self._record.code_columns[name]
        if codes.digits is None:
            numbers = self._code_numbers[codes].of_texts(column.texts(self._record, name))
        else:
            numbers = self._code_numbers[codes].of_digits(column.digits(codes.digits))
        if name in codes.optional:
            for position in np.flatnonzero(numbers < 0).tolist():
                value = column.values[position].as_py() if position < len(column.values) else None
                if text_of_value(self._record, name, value) == layouts.NO_CODE:
                    numbers[position] = 0
        return numbers


class CodeNumbers:
    """The numbers of the codes that some columns may hold, and -1 for anything else."""

    def __init__(self, codes: CodeColumns, number_of_code: Mapping[str, int]) -> None:
        may_hold = codes.classification.may_hold
        self._of_text = {code: number for code, number in number_of_code.items() if may_hold(code)}
        self._of_digits = np.full(10 ** (codes.digits or 0) + 1, -1, dtype=np.int16)  # -1 ends it: no digits
        if codes.digits is not None:
            self._of_digits[[int(code) for code in self._of_text]] = list(self._of_text.values())

    def of_digits(self, numbers: NDArray[np.integer]) -> Int16s:
        """The numbers of codes that are spelled as the digits of these numbers, -1 for no digits."""
        of_codes: Int16s = self._of_digits[numbers]
        return of_codes

    def of_texts(self, texts: Iterable[str | None]) -> Int16s:
        """The numbers of codes that are texts."""
        return np.array([self._of_text.get(text or "", -1) for text in texts], dtype=np.int16)


def add_numbers(positions: Int32s, numbers: NDArray[np.signedinteger], sums: NDArray[np.signedinteger]) -> None:
    """Add to each row's sum the number at its position. Compiled."""
    for row in range(len(sums)):
        sums[row] += numbers[positions[row]]


def atoms_of_rows(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    positions: tuple[Int32s, ...], numbers: tuple[Int32s, ...], widths: Int64s, is_of_pass: NDArray[np.bool_],
    first_of_part: Int64s, blocks: Int64s, atom_of_block: Int32s, atoms: Int32s,
) -> None:  # fmt: skip
    """Write each row's atom; the four numbers that spell its area are numbers[n][positions[n][row]]."""
    at_first, at_second, at_third, at_fourth = positions
    last_block, last_atom, low = np.int64(-1), np.int32(_NOT_LISTED), np.int64(0)
    for row in range(len(atoms)):
        if row > 0 and (
            at_fourth[row] == at_fourth[row - 1] and at_third[row] == at_third[row - 1]
            and at_second[row] == at_second[row - 1] and at_first[row] == at_first[row - 1]
        ):  # fmt: skip
            atoms[row] = atoms[row - 1]
            continue
        part, second = np.int64(numbers[0][at_first[row]]), numbers[1][at_second[row]]
        third, fourth = numbers[2][at_third[row]], numbers[3][at_fourth[row]]
        if min(part, second, third, fourth) < 0:
            atoms[row] = _NOT_DIGITS
            continue
        block = ((part * widths[1] + second) * widths[2] + third) * widths[3] + fourth
        if block == last_block:
            atoms[row] = last_atom
            continue
        found, end = np.int32(_LEFT_OUT), first_of_part[part + 1]
        if not is_of_pass[part]:
            low = first_of_part[part]
        else:
            # in a file in the order of blocks it is one of the next blocks
            if last_block < block and low < end:
                high = min(low + _NEAR, end)
                if blocks[high - 1] < block:
                    low, high = high, end
            else:
                low, high = first_of_part[part], end
            while low < high:
                middle = (low + high) // 2
                if blocks[middle] < block:
                    low = middle + 1
                else:
                    high = middle
            found = atom_of_block[low] if low < end and blocks[low] == block else np.int32(_NOT_LISTED)
        atoms[row] = found
        last_block, last_atom = block, found
