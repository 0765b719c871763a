"""Makes every row three numbers: its atom, its pattern, and its sex and age; and says whether all rows are right."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography_levels import TabulationPass
from safetab.census.public_lists import is_race_code
from safetab.engines.contract import AGES
from safetab.engines.encoding import Encoding
from safetab.engines.local.person_batches import PersonBatch, ValueColumn, rows_of
from safetab.engines.local.person_loops import LEFT_OUT, atoms_of_rows
from safetab.engines.local.state_persons import StatePersons
from safetab.engines.pattern_table import CODE_END
from safetab.foundation.compiled import compiled_if_worthwhile
from safetab.readers.person_files import BLOCK_COLUMNS, RACE_COLUMNS
from safetab.readers.person_rules import NO_CODE, broken_small_rule

CODE_COLUMNS = (*RACE_COLUMNS, "QSPAN")
BLOCK_DIGITS = dict(zip(BLOCK_COLUMNS, (2, 3, 6, 4), strict=True))

TextOf = Callable[[str, object], str | None]
"""Of a column and a value: how the delimited file would spell it."""


class PersonEncoder:
    """Takes all batches of the person records, one after the other.

    `is_right` tells whether no row so far broke a rule; which rows do, and which rules, is for `person_judge` to say.
    """

    def __init__(self, encoding: Encoding, codes: Collection[str], persons: StatePersons, text_of: TextOf) -> None:
        self._encoding = encoding
        self._persons = persons
        self._text_of = text_of
        self._is_code = _marked(codes)
        self._is_race_code = _marked([code for code in codes if is_race_code(code)])
        self.is_right = True
        self.people: dict[TabulationPass, int] = dict.fromkeys(encoding.passes, 0)

    def add(self, batch: PersonBatch) -> None:
        """Checks the rows, and keeps the persons of the passes that run."""
        attributes, atoms = self._sexes_and_ages(batch), self._atoms(batch)
        codes = np.stack([self._code_numbers(batch[column], column) for column in CODE_COLUMNS])
        patterns = self._encoding.patterns.numbers_of(codes)
        is_right = (atoms >= LEFT_OUT) & (patterns >= 0) & (attributes >= 0)
        self.is_right = self.is_right and bool(is_right.all() and self._others_are_right(batch))
        is_kept = is_right & (atoms >= 0)
        if not is_kept.all():
            atoms, patterns, attributes = atoms[is_kept], patterns[is_kept], attributes[is_kept]
        self._persons.add(atoms, patterns, attributes.astype(np.uint8))

    def _others_are_right(self, batch: PersonBatch) -> bool:
        """The columns that nothing is counted by."""
        for name in ("HOUSEHOLDER", "CENRACE"):
            is_wrong = [text is None for text in self._right_texts(batch[name], name)]
            if any(is_wrong) and np.array(is_wrong)[batch[name].position_of_row].any():
                return False
        return True

    def _sexes_and_ages(self, batch: PersonBatch) -> NDArray[np.int16]:
        """(sex - 1) * AGES + age of each row, or something negative."""
        age_texts, sex_texts = (self._right_texts(batch[name], name) for name in ("QAGE", "QSEX"))
        ages = [-AGES * 2 if text is None else int(text) for text in age_texts]
        sexes = [-AGES * 2 if text is None else (int(text) - 1) * AGES for text in sex_texts]
        of_age, of_sex = (np.array(numbers, dtype=np.int16) for numbers in (ages, sexes))
        return of_age[batch["QAGE"].position_of_row] + of_sex[batch["QSEX"].position_of_row]

    def _right_texts(self, column: ValueColumn, name: str) -> list[str | None]:
        """The text of each value, or nothing if it breaks the column's rule."""
        texts = column.texts(partial(self._text_of, name))
        return [None if broken_small_rule(name, text) else text for text in texts]

    def _atoms(self, batch: PersonBatch) -> NDArray[np.int32]:
        """The atom of each row, or a negative number; counts who is in which pass."""
        numbers = {column: batch[column].digits(width).astype(np.int32) for column, width in BLOCK_DIGITS.items()}
        parts = np.stack([numbers[column][batch[column].position_of_row] for column in BLOCK_DIGITS])
        atoms = np.empty(rows_of(batch), dtype=np.int32)
        loop = compiled_if_worthwhile(atoms_of_rows, len(atoms))
        loop(parts, 10 ** np.array(list(BLOCK_DIGITS.values())), *self._encoding.block_lookup, atoms)
        rows_of_states = batch["TABBLKST"].rows_of_values()
        for tabulation_pass, is_of_pass in self._encoding.passes_of_states(numbers["TABBLKST"]).items():
            self.people[tabulation_pass] += int(rows_of_states[is_of_pass].sum())
        return atoms

    def _code_numbers(self, column: ValueColumn, name: str) -> NDArray[np.int16]:
        """The code of each row; 0 for none, where that is allowed, and -1 for what is no code."""
        numbers = column.digits(4).astype(np.int16)
        is_code = self._is_code if name == "QSPAN" else self._is_race_code
        numbers[(numbers >= 0) & ~is_code[numbers]] = -1
        if name in RACE_COLUMNS[1:]:
            for position in np.flatnonzero(numbers < 0).tolist():
                value = column.values[position].as_py() if position < len(column.values) else None
                if self._text_of(name, value) == NO_CODE:
                    numbers[position] = 0
        return numbers[column.position_of_row]


def _marked(codes: Collection[str]) -> NDArray[np.bool_]:
    is_marked = np.zeros(CODE_END, dtype=np.bool_)
    is_marked[[int(code) for code in codes]] = True
    return is_marked
