"""Makes every row three numbers: its atom, its pattern and its attribute; and says whether all rows are right."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.census.public_lists import is_race_code
from safetab.engines.encoding import Encoding
from safetab.engines.local import person_arrays
from safetab.engines.local.person_batches import PersonBatch, ValueColumn, rows_of
from safetab.engines.local.person_loops import LEFT_OUT, add_numbers, atoms_of_rows
from safetab.engines.local.state_persons import StatePersons
from safetab.engines.pattern_table import CODE_END, ThreadPatterns
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.products.record import BLOCK_DIGITS, ETHNICITY_COLUMN, RACE_COLUMNS, AttributePart, CheckedColumn
from safetab.readers.person_rules import NO_CODE, text_of_value

N = TypeVar("N", bound=np.generic)
CODE_COLUMNS = (*RACE_COLUMNS, ETHNICITY_COLUMN)


class PersonEncoder:
    """Takes batches of the person records, one after the other; several of them in threads, with others' encoders.

    `is_right` tells whether no row so far broke a rule; which rows do, and which rules, is for `person_judge` to say.
    """

    def __init__(self, encoding: Encoding, codes: Collection[str], persons: StatePersons) -> None:
        self._encoding = encoding
        self._patterns = ThreadPatterns(encoding.patterns)
        self._persons = persons
        self._record = encoding.record
        self._is_code = _marked(codes)
        self._is_race_code = _marked([code for code in codes if is_race_code(code)])
        self._of_values = _NumbersOfValues()
        parts = zip(self._record.attribute, self._record.attribute_factors, strict=True)
        self._attribute_numbers = {part.column: partial(self._part_numbers, part, factor) for part, factor in parts}
        self._attribute_numbers |= {one.column: partial(self._checked_numbers, one) for one in self._record.checked}
        self.is_right = True
        self.people: dict[TabulationPass, int] = dict.fromkeys(encoding.passes, 0)

    def add(self, batch: PersonBatch) -> None:
        """Checks the rows, and keeps the persons of the passes that run."""
        attributes, atoms, patterns = self._attributes(batch), self._atoms(batch), self._patterns_of(batch)
        if min(int(numbers.min(initial=0)) for numbers in (atoms, patterns, attributes)) < 0:
            is_right = (atoms >= LEFT_OUT) & (patterns >= 0) & (attributes >= 0)
            self.is_right = self.is_right and bool(is_right.all())
            is_kept = is_right & (atoms >= 0)
            atoms, patterns, attributes = atoms[is_kept], patterns[is_kept], attributes[is_kept]
        self._persons.add(atoms, patterns, attributes.astype(self._persons.attribute_type))

    def _attributes(self, batch: PersonBatch) -> NDArray[np.signedinteger]:
        """The attribute of each row, or something negative; columns that nothing is counted by add nothing to it."""
        attributes: NDArray[np.signedinteger] = np.zeros(rows_of(batch), dtype=self._attribute_type)
        for column, numbers_of in self._attribute_numbers.items():
            numbers = self._of_values.those(batch, column, numbers_of)
            if numbers.any():
                loop = compiled_if_worthwhile(add_numbers, len(attributes), person_arrays.add_numbers)
                loop(batch[column].position_of_row, numbers, attributes)
        return attributes

    @property
    def _attribute_type(self) -> np.dtype[np.signedinteger]:
        columns = len(self._record.attribute) + len(self._record.checked)
        return np.min_scalar_type(-self._record.attribute_values * max(columns, 1))

    def _part_numbers(self, part: AttributePart, factor: int, column: ValueColumn) -> NDArray[np.signedinteger]:
        """What each value adds to the attribute; one that breaks the rule makes it negative, whatever is added."""
        numbers = [part.number_of(text) for text in self._texts(column, part.column)]
        return np.array([self._wrong if n is None else n * factor for n in numbers], dtype=self._attribute_type)

    def _checked_numbers(self, one: CheckedColumn, column: ValueColumn) -> NDArray[np.signedinteger]:
        texts = self._texts(column, one.column)
        return np.array([0 if one.accepts(text) else self._wrong for text in texts], dtype=self._attribute_type)

    @property
    def _wrong(self) -> int:
        return -self._record.attribute_values

    def _texts(self, column: ValueColumn, name: str) -> list[str | None]:
        return column.texts(partial(text_of_value, self._record, name))

    def _atoms(self, batch: PersonBatch) -> NDArray[np.int32]:
        """The atom of each row, or a negative number; counts who is in which pass."""
        numbers = {
            column: self._of_values.those(batch, column, partial(_digits, width))
            for column, width in BLOCK_DIGITS.items()
        }
        positions = tuple(batch[column].position_of_row for column in BLOCK_DIGITS)
        widths, atoms = 10 ** np.array(list(BLOCK_DIGITS.values())), np.empty(rows_of(batch), dtype=np.int32)
        loop = compiled_if_worthwhile(atoms_of_rows, len(atoms), person_arrays.atoms_of_rows)
        loop(positions, tuple(numbers.values()), widths, *self._encoding.block_lookup, atoms)
        rows_of_states = batch["TABBLKST"].rows_of_values()
        for tabulation_pass, is_of_pass in self._encoding.passes_of_states(numbers["TABBLKST"]).items():
            self.people[tabulation_pass] += int(rows_of_states[is_of_pass].sum())
        return atoms

    def _patterns_of(self, batch: PersonBatch) -> NDArray[np.int32]:
        """The pattern of each row, or -1."""
        positions = tuple(batch[column].position_of_row for column in CODE_COLUMNS)
        numbers = tuple(
            self._of_values.those(batch, column, partial(self._code_numbers, column)) for column in CODE_COLUMNS
        )
        return self._patterns.numbers_of_positions(positions, numbers)

    def _code_numbers(self, name: str, column: ValueColumn) -> NDArray[np.int16]:
        """The code of each value; 0 for none, where that is allowed, and -1 for what is no code."""
        numbers = column.digits(4).astype(np.int16)
        is_code = self._is_code if name == ETHNICITY_COLUMN else self._is_race_code
        numbers[(numbers >= 0) & ~is_code[numbers]] = -1
        if name in RACE_COLUMNS[1:]:
            for position in np.flatnonzero(numbers < 0).tolist():
                value = column.values[position].as_py() if position < len(column.values) else None
                if text_of_value(self._record, name, value) == NO_CODE:
                    numbers[position] = 0
        return numbers


class _NumbersOfValues:
    """Of the last batch, for each column: neighbouring batches mostly have the same values in the same order."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[ValueColumn, NDArray[Any]]] = {}

    def those(self, batch: PersonBatch, name: str, numbers_of: Callable[[ValueColumn], NDArray[N]]) -> NDArray[N]:
        """What `numbers_of` gives for the values of a column; it must depend on nothing else."""
        column, last = batch[name], self._last.get(name)
        if last is None or not column.has_values_of(last[0]):
            last = self._last[name] = column.without_rows(), numbers_of(column)
        return last[1]


def _digits(width: int, column: ValueColumn) -> NDArray[np.int32]:
    return column.digits(width).astype(np.int32)


def _marked(codes: Collection[str]) -> NDArray[np.bool_]:
    is_marked = np.zeros(CODE_END, dtype=np.bool_)
    is_marked[[int(code) for code in codes]] = True
    return is_marked
