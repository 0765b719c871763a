"""Checks every row and makes it three numbers: its atom, its pattern, and its sex and age."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial

import numpy as np
from numpy.typing import NDArray

from safetab.compiled import quick
from safetab.engines.counting_engine import AGES
from safetab.engines.encoding import Encoding
from safetab.engines.pattern_table import CODE_END
from safetab.engines.person_batches import PersonBatch, ValueColumn, rows_of
from safetab.engines.person_loops import NOT_DIGITS, NOT_LISTED, atoms_of_rows
from safetab.engines.state_persons import StatePersons
from safetab.findings import FindingsOf
from safetab.readers.person_files import BLOCK_COLUMNS, RACE_COLUMNS
from safetab.readers.person_rules import (
    BLOCK_RULE,
    NO_CODE,
    NOT_DIGITS_RULE,
    BrokenRules,
    broken_code_rules,
    broken_small_rule,
)
from safetab.spec.geography_levels import TabulationPass
from safetab.spec.public_lists import is_race_code

CODE_COLUMNS = (*RACE_COLUMNS, "QSPAN")
BLOCK_DIGITS = dict(zip(BLOCK_COLUMNS, (2, 3, 6, 4), strict=True))

TextOf = Callable[[str, object], str | None]
"""Of a column and a value: how the delimited file would spell it."""


class PersonEncoder:
    """Takes all batches of the person records, one after the other."""

    def __init__(self, encoding: Encoding, codes: Collection[str], persons: StatePersons, text_of: TextOf) -> None:
        self._encoding = encoding
        self._codes = codes
        self._persons = persons
        self._text_of = text_of
        self._is_code = _marked(codes)
        self._is_race_code = _marked([code for code in codes if is_race_code(code)])
        self.broken = BrokenRules()
        self.people: dict[TabulationPass, int] = dict.fromkeys(encoding.passes, 0)

    def add(self, batch: PersonBatch) -> None:
        """Checks the rows, and keeps the persons of the passes that run."""
        sex_ages = self._sexes_and_ages(batch)
        for column in ("HOUSEHOLDER", "CENRACE"):
            self._judged(batch[column], column)
        atoms = self._atoms(batch)
        codes = np.stack([self._code_numbers(batch[column], column) for column in CODE_COLUMNS])
        patterns = self._encoding.patterns.numbers_of(codes)
        self._add_broken_codes(batch, np.flatnonzero(patterns < 0))
        is_kept = (atoms >= 0) & (patterns >= 0) & (sex_ages >= 0)
        if not is_kept.all():
            atoms, patterns, sex_ages = atoms[is_kept], patterns[is_kept], sex_ages[is_kept]
        self._persons.add(atoms, patterns, sex_ages.astype(np.uint8))

    def report_empty_passes(self, findings: FindingsOf) -> None:
        for tabulation_pass, people in self.people.items():
            if not people:
                findings.error("TABBLKST", f"nobody is in a state of the {tabulation_pass.value.upper()} pass.")

    def _sexes_and_ages(self, batch: PersonBatch) -> NDArray[np.int16]:
        """(sex - 1) * AGES + age of each row, or something negative."""
        ages = [-AGES * 2 if text is None else int(text) for text in self._judged(batch["QAGE"], "QAGE")]
        sexes = [-AGES * 2 if text is None else (int(text) - 1) * AGES for text in self._judged(batch["QSEX"], "QSEX")]
        of_age, of_sex = (np.array(numbers, dtype=np.int16) for numbers in (ages, sexes))
        return of_age[batch["QAGE"].position_of_row] + of_sex[batch["QSEX"].position_of_row]

    def _judged(self, column: ValueColumn, name: str) -> list[str | None]:
        """The text of each value, or nothing if it breaks the column's rule."""
        texts = column.texts(partial(self._text_of, name))
        rules = [broken_small_rule(name, text) for text in texts]
        if any(rules):
            rows_of_values = column.rows_of_values().tolist()
            for rule, rows in zip(rules, rows_of_values[: len(rules)], strict=True):
                if rule is not None:
                    self.broken.add(rule, rows)
        return [text if rule is None else None for text, rule in zip(texts, rules, strict=True)]

    def _atoms(self, batch: PersonBatch) -> NDArray[np.int32]:
        """The atom of each row, or a negative number; counts who breaks a rule, and who is in which pass."""
        numbers = {column: batch[column].digits(width).astype(np.int32) for column, width in BLOCK_DIGITS.items()}
        parts = np.stack([numbers[column][batch[column].position_of_row] for column in BLOCK_DIGITS])
        atoms = np.empty(rows_of(batch), dtype=np.int32)
        loop = quick(atoms_of_rows, len(atoms))
        loop(parts, 10 ** np.array(list(BLOCK_DIGITS.values())), *self._encoding.block_lookup, atoms)
        self.broken.add(NOT_DIGITS_RULE, int(np.count_nonzero(atoms == NOT_DIGITS)))
        self.broken.add(BLOCK_RULE, int(np.count_nonzero(atoms == NOT_LISTED)))
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

    def _add_broken_codes(self, batch: PersonBatch, rows: NDArray[np.intp]) -> None:
        if not len(rows):
            return
        texts = {column: batch[column].texts(partial(self._text_of, column)) for column in CODE_COLUMNS}
        combinations = zip(*(batch[column].position_of_row[rows].tolist() for column in CODE_COLUMNS), strict=True)
        for positions, persons in Counter(combinations).items():
            *races, ethnicity = (texts[column][at] for column, at in zip(CODE_COLUMNS, positions, strict=True))
            for rule in broken_code_rules(races, ethnicity, self._codes):
                self.broken.add(rule, persons)


def _marked(codes: Collection[str]) -> NDArray[np.bool_]:
    is_marked = np.zeros(CODE_END, dtype=np.bool_)
    is_marked[[int(code) for code in codes]] = True
    return is_marked
