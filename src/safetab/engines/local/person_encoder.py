"""Makes every row three numbers: its atom, its pattern and its attribute; and says whether all rows are right."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.census.public_lists import is_race_code
from safetab.engines.encoding import Encoding
from safetab.engines.local import person_arrays
from safetab.engines.local.person_batches import PersonBatch, ValueColumn, rows_of
from safetab.engines.local.person_loops import LEFT_OUT, atoms_of_rows
from safetab.engines.local.state_persons import StatePersons
from safetab.engines.pattern_table import CODE_END
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.products.record import BLOCK_DIGITS, ETHNICITY_COLUMN, RACE_COLUMNS
from safetab.readers.person_rules import NO_CODE, text_of_value

CODE_COLUMNS = (*RACE_COLUMNS, ETHNICITY_COLUMN)


class PersonEncoder:
    """Takes all batches of the person records, one after the other.

    `is_right` tells whether no row so far broke a rule; which rows do, and which rules, is for `person_judge` to say.
    """

    def __init__(self, encoding: Encoding, codes: Collection[str], persons: StatePersons) -> None:
        self._encoding = encoding
        self._persons = persons
        self._record = encoding.record
        self._is_code = _marked(codes)
        self._is_race_code = _marked([code for code in codes if is_race_code(code)])
        self.is_right = True
        self.people: dict[TabulationPass, int] = dict.fromkeys(encoding.passes, 0)

    def add(self, batch: PersonBatch) -> None:
        """Checks the rows, and keeps the persons of the passes that run."""
        attributes, atoms = self._attributes(batch), self._atoms(batch)
        codes = np.stack([self._code_numbers(batch[column], column) for column in CODE_COLUMNS])
        patterns = self._encoding.patterns.numbers_of(codes)
        is_right = (atoms >= LEFT_OUT) & (patterns >= 0) & (attributes >= 0)
        self.is_right = self.is_right and bool(is_right.all() and self._others_are_right(batch))
        is_kept = is_right & (atoms >= 0)
        if not is_kept.all():
            atoms, patterns, attributes = atoms[is_kept], patterns[is_kept], attributes[is_kept]
        self._persons.add(atoms, patterns, attributes.astype(self._persons.attribute_type))

    def _others_are_right(self, batch: PersonBatch) -> bool:
        """The columns that nothing is counted by."""
        for one in self._record.checked:
            column = batch[one.column]
            is_wrong = [not one.accepts(text) for text in self._texts(column, one.column)]
            if any(is_wrong) and np.array(is_wrong)[column.position_of_row].any():
                return False
        return True

    def _attributes(self, batch: PersonBatch) -> NDArray[np.signedinteger]:
        """The attribute of each row, or something negative."""
        wrong = -self._record.attribute_values
        attributes = np.zeros(rows_of(batch), dtype=np.min_scalar_type(wrong * max(len(self._record.attribute), 1)))
        for part, factor in zip(self._record.attribute, self._record.attribute_factors, strict=True):
            numbers = [part.number_of(text) for text in self._texts(batch[part.column], part.column)]
            of_value = [wrong if number is None else number * factor for number in numbers]
            attributes += np.array(of_value, dtype=attributes.dtype)[batch[part.column].position_of_row]
        return attributes

    def _texts(self, column: ValueColumn, name: str) -> list[str | None]:
        return column.texts(partial(text_of_value, self._record, name))

    def _atoms(self, batch: PersonBatch) -> NDArray[np.int32]:
        """The atom of each row, or a negative number; counts who is in which pass."""
        numbers = {column: batch[column].digits(width).astype(np.int32) for column, width in BLOCK_DIGITS.items()}
        parts = np.stack([numbers[column][batch[column].position_of_row] for column in BLOCK_DIGITS])
        atoms = np.empty(rows_of(batch), dtype=np.int32)
        loop = compiled_if_worthwhile(atoms_of_rows, len(atoms), person_arrays.atoms_of_rows)
        loop(parts, 10 ** np.array(list(BLOCK_DIGITS.values())), *self._encoding.block_lookup, atoms)
        rows_of_states = batch["TABBLKST"].rows_of_values()
        for tabulation_pass, is_of_pass in self._encoding.passes_of_states(numbers["TABBLKST"]).items():
            self.people[tabulation_pass] += int(rows_of_states[is_of_pass].sum())
        return atoms

    def _code_numbers(self, column: ValueColumn, name: str) -> NDArray[np.int16]:
        """The code of each row; 0 for none, where that is allowed, and -1 for what is no code."""
        numbers = column.digits(4).astype(np.int16)
        is_code = self._is_code if name == ETHNICITY_COLUMN else self._is_race_code
        numbers[(numbers >= 0) & ~is_code[numbers]] = -1
        if name in RACE_COLUMNS[1:]:
            for position in np.flatnonzero(numbers < 0).tolist():
                value = column.values[position].as_py() if position < len(column.values) else None
                if text_of_value(self._record, name, value) == NO_CODE:
                    numbers[position] = 0
        return numbers[column.position_of_row]


def _marked(codes: Collection[str]) -> NDArray[np.bool_]:
    is_marked = np.zeros(CODE_END, dtype=np.bool_)
    is_marked[[int(code) for code in codes]] = True
    return is_marked
