"""Turns rows into three numbers, atom, pattern and attribute, and says whether all rows are right."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.census.area_levels import Pass
from safetab.dialects.bureau.us_census import RACE
from safetab.engines.encoding import Encoding
from safetab.engines.local.records import ValueBatch, ValueColumn, rows_of
from safetab.engines.local.state_records import N, StateRecords
from safetab.engines.patterns import CODE_END, Int32s, Int64s, ThreadPatterns
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.products import record as layouts
from safetab.readers.record_rules import NO_CODE, text_of_value

_NEAR = 16
_LEFT_OUT, _NOT_DIGITS, _NOT_LISTED = -1, -2, -3
"""Instead of an atom: the state is in no pass, the block is not a number, or the geography lacks it."""


class RecordEncoder:
    """Takes batches of records, one after the other; each thread has an encoder of its own.

    `is_right` is False once a row broke a rule; `rules` finds which rows break which rules.
    `record_count` has the number of rows of each pass, counted on the column of states alone.
    """

    def __init__(self, encoding: Encoding, codes: Collection[str], stored: StateRecords) -> None:
        self._encoding = encoding
        self._patterns = ThreadPatterns(encoding.patterns)
        self._stored = stored
        self._record = encoding.record
        self._is_code = _marked(codes)
        self._is_race_code = _marked([code for code in codes if RACE.may_hold(code)])
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

    def _addends(
        self, ruled: layouts.AttributePart | layouts.CheckedColumn, column: ValueColumn
    ) -> NDArray[np.signedinteger]:
        """What each value adds to the attribute; one that breaks the rule makes the sum negative."""
        factor, wrong = self._factor_of[ruled], -self._record.attribute_values
        numbers = [ruled.number_of(text) for text in column.texts(self._record, ruled.column)]
        return np.array([wrong if n is None else n * factor for n in numbers], dtype=self._attribute_type)

    def _atoms(self, batch: ValueBatch) -> Int32s:
        """The atom of each row, or a negative number; adds to the count of each pass."""
        digits = {name: partial(ValueColumn.digits, width=width) for name, width in layouts.BLOCK_DIGITS.items()}
        numbers = tuple(self._numbers(batch, name, digits_of) for name, digits_of in digits.items())
        positions = tuple(batch[column].position_of_row for column in layouts.BLOCK_DIGITS)
        widths = 10 ** np.array(list(layouts.BLOCK_DIGITS.values()))
        atoms = np.empty(rows_of(batch), dtype=np.int32)
        find_atoms = compiled_if_worthwhile(atoms_of_rows, len(atoms))
        find_atoms(positions, numbers, widths, *self._encoding.block_lookup, atoms)
        rows_of_states = batch["TABBLKST"].rows_of_values()
        for tabulation_pass, is_of_pass in self._encoding.passes_of_states(numbers[0]).items():
            self.record_count[tabulation_pass] += int(rows_of_states[is_of_pass].sum())
        return atoms

    def _patterns_of(self, batch: ValueBatch) -> Int32s:
        """The pattern of each row, or -1."""
        positions = tuple(batch[column].position_of_row for column in layouts.CODE_COLUMNS)
        codes = {name: partial(self._code_numbers, name) for name in layouts.CODE_COLUMNS}
        numbers = tuple(self._numbers(batch, name, codes_of) for name, codes_of in codes.items())
        return self._patterns.numbers_of_positions(positions, numbers)

    def _code_numbers(self, name: str, column: ValueColumn) -> NDArray[np.int16]:
        """The code of each value; 0 for none, where that is allowed, and -1 for anything that is not a code."""
        numbers = column.digits(4).astype(np.int16)
        is_code = self._is_code if name == layouts.ETHNICITY_COLUMN else self._is_race_code
        numbers[(numbers >= 0) & ~is_code[numbers]] = -1
        if name in layouts.RACE_COLUMNS[1:]:
            for position in np.flatnonzero(numbers < 0).tolist():
                value = column.values[position].as_py() if position < len(column.values) else None
                if text_of_value(self._record, name, value) == NO_CODE:
                    numbers[position] = 0
        return numbers


def _marked(codes: Collection[str]) -> NDArray[np.bool_]:
    is_marked = np.zeros(CODE_END, dtype=np.bool_)
    is_marked[[int(code) for code in codes]] = True
    return is_marked


def add_numbers(positions: Int32s, numbers: NDArray[np.signedinteger], sums: NDArray[np.signedinteger]) -> None:
    """Add to each row's sum the number at its position. Compiled."""
    for row in range(len(sums)):
        sums[row] += numbers[positions[row]]


def atoms_of_rows(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    positions: tuple[Int32s, ...], numbers: tuple[Int32s, ...], widths: Int64s, is_of_pass: NDArray[np.bool_],
    first_of_state: Int64s, blocks: Int64s, atom_of_block: Int32s, atoms: Int32s,
) -> None:  # fmt: skip
    """Write each row's atom; its state, county, tract and block are numbers[n][positions[n][row]]."""
    at_state, at_county, at_tract, at_block = positions
    last_block, last_atom, low = np.int64(-1), np.int32(_NOT_LISTED), np.int64(0)
    for row in range(len(atoms)):
        if row > 0 and (
            at_block[row] == at_block[row - 1] and at_tract[row] == at_tract[row - 1]
            and at_county[row] == at_county[row - 1] and at_state[row] == at_state[row - 1]
        ):  # fmt: skip
            atoms[row] = atoms[row - 1]
            continue
        state, county = np.int64(numbers[0][at_state[row]]), numbers[1][at_county[row]]
        tract, number = numbers[2][at_tract[row]], numbers[3][at_block[row]]
        if min(state, county, tract, number) < 0:
            atoms[row] = _NOT_DIGITS
            continue
        block = ((state * widths[1] + county) * widths[2] + tract) * widths[3] + number
        if block == last_block:
            atoms[row] = last_atom
            continue
        found, end = np.int32(_LEFT_OUT), first_of_state[state + 1]
        if not is_of_pass[state]:
            low = first_of_state[state]
        else:
            # in a file in the order of blocks it is one of the next blocks
            if last_block < block and low < end:
                high = min(low + _NEAR, end)
                if blocks[high - 1] < block:
                    low, high = high, end
            else:
                low, high = first_of_state[state], end
            while low < high:
                middle = (low + high) // 2
                if blocks[middle] < block:
                    low = middle + 1
                else:
                    high = middle
            found = atom_of_block[low] if low < end and blocks[low] == block else np.int32(_NOT_LISTED)
        atoms[row] = found
        last_block, last_atom = block, found
