"""The encoder of rows as three numbers: atom, pattern and attribute.

It also says whether all rows are right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.counting.encoding import LEFT_OUT, NOT_DIGITS, NOT_LISTED, Encoding
from safetab.counting.local.code_numbers import CodeNumbers
from safetab.counting.local.listed_areas import AreaNumbers, area_numbers_of
from safetab.counting.local.numbers_file import N
from safetab.counting.local.part_records import PartRecords
from safetab.counting.local.records import ValueBatch, ValueColumn, rows_of
from safetab.counting.local.units import UnitCounts
from safetab.counting.patterns import CODES, Int16s, Int32s, Int64s, ThreadPatterns
from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.model.census.area_levels import Pass
from safetab.model.products.record import AreaColumns
from safetab.model.products.record_field import RuledColumn

_NEAR = 16


class RecordEncoder:
    """Takes batches of records, one after the other; each thread has an encoder of its own.

    `is_right` is False once a row broke a rule; `rules` finds which rows break which rules.
    `record_count` has the number of rows of each pass, counted on the column of parts alone or by
    the pass of each area; `in_no_pass` has the number of rows in parts or areas that no pass has.
    """

    def __init__(
        self,
        encoding: Encoding,
        stored: PartRecords,
        sizes: BatchSizes = USUAL_SIZES,
    ) -> None:
        self._encoding = encoding
        self._patterns = ThreadPatterns(encoding.patterns)
        self._stored = stored
        self._record = encoding.record
        self._areas = (
            None if isinstance(self._record.area, AreaColumns) else area_numbers_of(self._record)
        )
        if self._areas is not None:
            _ = (
                encoding.listed_lookup,
                self._record.needs_no_check,
            )  # computed before threads ask for them
        of_several, of_single = encoding.numbers_of_codes
        self._several = CodeNumbers(self._record.several, of_several)
        self._single = CodeNumbers(self._record.single, of_single, is_single=True)
        self._last: dict[tuple[object, str], tuple[ValueColumn, NDArray[Any]]] = {}
        ruled = self._record.ruled  # a column that is only checked adds 0
        names = [column.column for column in ruled]
        self._factor_of = dict(zip_longest(names, self._record.attribute_factors, fillvalue=0))
        self._attribute_type = np.min_scalar_type(
            -self._record.attribute_values * max(len(ruled), 1)
        )
        self.is_right = True
        self.record_count: dict[Pass, int] = dict.fromkeys(encoding.passes, 0)
        self.in_no_pass = 0
        self.units = UnitCounts(self._record, sizes.rows_of_units)

    def add(self, batch: ValueBatch) -> None:
        """Check the rows, and store the records of the passes that run."""
        attributes = self._attributes(batch)
        atoms = (
            self._atoms(batch) if self._areas is None else self._listed_atoms(batch, self._areas)
        )
        patterns = self._patterns_of(batch)
        if min(int(numbers.min(initial=0)) for numbers in (atoms, patterns, attributes)) < 0:
            is_right = (atoms >= LEFT_OUT) & (patterns >= 0) & (attributes >= 0)
            self.is_right = self.is_right and bool(is_right.all())
            is_kept = is_right & (atoms >= 0)
            atoms, patterns, attributes = atoms[is_kept], patterns[is_kept], attributes[is_kept]
        self._stored.add(atoms, patterns, attributes.astype(self._stored.attribute_type))

    def _numbers(
        self,
        batch: ValueBatch,
        name: str,
        numbers_of: Callable[[ValueColumn], NDArray[N]],
        purpose: object = "",
    ) -> NDArray[N]:
        """The result of `numbers_of` for the values of a column.

        Neighbouring batches mostly share it.
        """
        column, last = batch[name], self._last.get((purpose, name))
        if last is None or not column.has_values_of(last[0]):
            values = replace(column, position_of_row=column.position_of_row[:0].copy())
            last = self._last[purpose, name] = values, numbers_of(column)
        return last[1]

    def _attributes(self, batch: ValueBatch) -> NDArray[np.signedinteger]:
        """The attribute of each row, or a negative number.

        Columns that are only checked add nothing to it.
        """
        attributes: NDArray[np.signedinteger] = np.zeros(rows_of(batch), dtype=self._attribute_type)
        for ruled in self._record.ruled:
            if ruled.column in self._record.needs_no_check:
                continue
            numbers = self._numbers(batch, ruled.column, partial(self._addends, ruled))
            if numbers.any():
                add = compiled_if_worthwhile(_add_numbers, len(attributes))
                add(batch[ruled.column].position_of_row, numbers, attributes)
        return attributes

    def _addends(self, ruled: RuledColumn, column: ValueColumn) -> NDArray[np.signedinteger]:
        """The addend of each value to the attribute.

        One that breaks the rule makes the sum negative.
        """
        factor, wrong = self._factor_of[ruled.column], -self._record.attribute_values
        numbers = [ruled.number_of(text) for text in column.texts(self._record, ruled.column)]
        return np.array(
            [wrong if n is None else n * factor for n in numbers], dtype=self._attribute_type
        )

    def _atoms(self, batch: ValueBatch) -> Int32s:
        """The atom of each row, or a negative number; adds to the count of each pass."""
        area = self._record.area
        assert isinstance(area, AreaColumns)
        digits = [partial(ValueColumn.digits, width=width) for width in area.widths]
        numbers = tuple(map(partial(self._numbers, batch), area.columns, digits))
        positions = tuple(batch[column].position_of_row for column in area.columns)
        widths = 10 ** np.array(area.widths)
        atoms = np.empty(rows_of(batch), dtype=np.int32)
        find_atoms = compiled_if_worthwhile(atoms_of_rows, len(atoms))
        find_atoms(positions, numbers, widths, *self._encoding.area_lookup, atoms)
        rows_of_parts = batch[self._record.part_column].rows_of_values()
        is_there = np.isin(numbers[0], list(self._encoding.parts_there))
        self.is_right = self.is_right and not rows_of_parts[~is_there].any()
        self.in_no_pass += int(rows_of_parts[is_there].sum())
        for tabulation_pass, parts in self._encoding.parts_of_pass.items():
            rows_of_pass = int(rows_of_parts[np.isin(numbers[0], parts)].sum())
            self.record_count[tabulation_pass] += rows_of_pass
            self.in_no_pass -= rows_of_pass
        return atoms

    def _listed_atoms(self, batch: ValueBatch, areas: AreaNumbers) -> Int32s:
        """The atom of each row, or a negative number; adds to the count of each pass.

        Rows that are not to be counted have none: every rule is applied to them all the same.
        """
        lookup, is_counted = self._encoding.listed_lookup, self._is_counted(batch)
        if len(areas.columns) == 1:
            (name,) = areas.columns
            numbers, positions = (
                self._numbers(batch, name, areas.of_values, "area"),
                batch[name].position_of_row,
            )
            atoms = lookup.atom_of_area[numbers][positions]
            rows = np.bincount(
                positions if is_counted is None else positions[is_counted], minlength=len(numbers)
            )
        else:
            numbers = areas.of_rows(batch)
            atoms = lookup.atom_of_area[numbers]
            rows = (
                np.ones(len(numbers), dtype=np.int64)
                if is_counted is None
                else is_counted.astype(np.int64)
            )
        passes = lookup.pass_of_area[numbers]
        for number, tabulation_pass in enumerate(self._encoding.passes):
            self.record_count[tabulation_pass] += int(rows[passes == number].sum())
        self.in_no_pass += int(rows[passes < 0].sum())
        return (
            atoms
            if is_counted is None
            else np.where(is_counted | (atoms < LEFT_OUT), atoms, np.int32(LEFT_OUT))
        )

    def _is_counted(self, batch: ValueBatch) -> NDArray[np.bool_] | None:
        """Which rows are counted, or None if all are."""
        is_counted: NDArray[np.bool_] | None = None
        for name, values in self._record.where.items():
            are_wanted = self._numbers(
                batch, name, partial(self._are_wanted, name, values), "where"
            )
            of_rows = are_wanted[batch[name].position_of_row].astype(np.bool_)
            is_counted = of_rows if is_counted is None else is_counted & of_rows
        return is_counted

    def _are_wanted(
        self, name: str, values: frozenset[int | str | None], column: ValueColumn
    ) -> NDArray[np.int8]:
        value_of = self._record.fields[name].value_of
        return np.array(
            [value_of(text) in values for text in column.texts(self._record, name)], dtype=np.int8
        )

    def _patterns_of(self, batch: ValueBatch) -> Int32s:
        """The pattern of each row, or -1.

        It is looked up once for each value if one column has all codes.
        """
        names = {name for name, _ in self._record.code_columns}
        if len(names) > 1:
            return self._patterns_of_rows(batch)
        (name,) = names
        patterns = self._numbers(batch, name, partial(self._patterns_of_values, name), "pattern")
        return patterns[batch[name].position_of_row]

    def _patterns_of_values(self, name: str, column: ValueColumn) -> Int32s:
        each = np.arange(len(column.values) + column.has_absent, dtype=np.int32)
        each.flags.writeable = False  # of the type that Arrow's have
        return self._patterns_of_rows({name: replace(column, position_of_row=each)})

    def _patterns_of_rows(self, batch: ValueBatch) -> Int32s:
        no_answer = np.zeros(rows_of(batch), dtype=np.int32)
        no_answer.flags.writeable = next(iter(batch.values())).position_of_row.flags.writeable
        absent = [(no_answer, np.zeros(1, dtype=np.int16))]
        columns = self._answers(batch, self._several)
        columns += absent * (
            CODES - len(columns) - 1
        )  # the loops take as many columns of any record
        columns += self._answers(batch, self._single) or absent
        positions, numbers = zip(*columns, strict=True)
        return self._patterns.numbers_of_positions(positions, numbers)

    def _answers(self, batch: ValueBatch, of_codes: CodeNumbers) -> list[tuple[Int32s, Int16s]]:
        """The answers to a question.

        For each answer, the position of every row, and the numbers at these positions.
        """
        found = list[tuple[Int32s, Int16s]]()
        for name in of_codes.codes.columns:
            numbers = self._numbers(
                batch, name, partial(of_codes.of_column, self._record, name), of_codes
            )
            found += [
                (batch[name].position_of_row, of_answer) for of_answer in np.atleast_2d(numbers)
            ]
        return found


def _add_numbers(
    positions: Int32s, numbers: NDArray[np.signedinteger], sums: NDArray[np.signedinteger]
) -> None:
    """Add to each row's sum the number at its position. Compiled."""
    for row in range(len(sums)):
        sums[row] += numbers[positions[row]]


def atoms_of_rows(  # noqa: PLR0913, PLR0917 - a compiled loop takes plain arrays
    positions: tuple[Int32s, ...], numbers: tuple[Int32s, ...], widths: Int64s,
    is_of_pass: NDArray[np.bool_], first_of_part: Int64s, blocks: Int64s, atom_of_block: Int32s,
    atoms: Int32s,
) -> None:  # fmt: skip
    """Write each row's atom.

    The four numbers that spell its area are numbers[n][positions[n][row]].
    """
    at_first, at_second, at_third, at_fourth = positions
    last_block, last_atom, low = np.int64(-1), np.int32(NOT_LISTED), np.int64(0)
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
            atoms[row] = NOT_DIGITS
            continue
        block = ((part * widths[1] + second) * widths[2] + third) * widths[3] + fourth
        if block == last_block:
            atoms[row] = last_atom
            continue
        found, end = np.int32(LEFT_OUT), first_of_part[part + 1]
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
            found = (
                atom_of_block[low] if low < end and blocks[low] == block else np.int32(NOT_LISTED)
            )
        atoms[row] = found
        last_block, last_atom = block, found
