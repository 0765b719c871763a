"""The numbers of codes, by the texts or digits that columns hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from safetab.counting.local.records import ValueColumn
from safetab.counting.patterns import Int16s
from safetab.model.census.groups import MOST_ANSWERS
from safetab.model.products.record import RESIDUAL, WRONG, CodeColumns, RecordLayout


class CodeNumbers:
    """The numbers of the answers that some columns hold.

    A number is that of a code, 0 for a missing answer, RESIDUAL for one that is not stated, and
    WRONG also for the first answer if it is missing and required.
    """

    def __init__(
        self, codes: CodeColumns, number_of_code: Mapping[str, int], *, is_single: bool = False
    ) -> None:
        self.codes = codes
        self._number_of_code = number_of_code
        if codes.listed is None:
            may_hold = codes.classification.may_hold
            self._number_of_code = {
                code: number for code, number in number_of_code.items() if may_hold(code)
            }
        self._is_single = is_single
        self._of_digits = np.full(
            10 ** (codes.digits or 0) + 1, WRONG, dtype=np.int16
        )  # the last: no digits
        if codes.digits is not None:
            self._of_digits[[int(code) for code in self._number_of_code]] = list(
                self._number_of_code.values()
            )

    def of_column(self, record: RecordLayout, name: str, column: ValueColumn) -> Int16s:
        """The numbers of a column's values; those of lists have a row for each place."""
        if self.codes.separator is not None:
            return self.of_lists(column.texts(record, name))
        may_be_missing = name in self.codes.optional
        if self.codes.digits is None:
            return self.of_texts(column.texts(record, name), may_be_missing=may_be_missing)
        numbers = self.of_digits(column.digits(self.codes.digits))
        if may_be_missing:
            others = np.flatnonzero(numbers == WRONG)
            texts = [column.text_at(position, record, name) for position in others.tolist()]
            numbers[others] = self.of_texts(texts, may_be_missing=True)
        return numbers

    def of_digits(self, numbers: NDArray[np.integer]) -> Int16s:
        """The numbers of codes that are spelled as the digits of these numbers.

        WRONG stands for no digits.
        """
        of_codes: Int16s = self._of_digits[numbers]
        return of_codes

    def of_texts(self, texts: Iterable[str | None], *, may_be_missing: bool = False) -> Int16s:
        """The numbers of answers that are texts.

        A single answer that is not stated counts as missing.
        """
        numbers = np.array(
            [self.codes.number_of(text, self._number_of_code) for text in texts], dtype=np.int16
        )
        if not may_be_missing:
            numbers[numbers == 0] = WRONG
        if self._is_single:
            numbers[numbers == RESIDUAL] = 0
        return numbers

    def of_lists(self, texts: Iterable[str | None]) -> Int16s:
        """The numbers of the answers in each text, a row for each place.

        The first is WRONG if any of them is.
        """
        rows = [self._of_list(self.codes.answers_in(text)) for text in texts]
        return np.array(rows, dtype=np.int16).reshape(-1, MOST_ANSWERS).T.copy()

    def _of_list(self, answers: list[str | None]) -> list[int]:
        numbers = [self.codes.number_of(answer, self._number_of_code) for answer in answers]
        if WRONG in numbers or 0 in numbers or len(answers) > self.codes.most_listed:
            return [WRONG] + [0] * (MOST_ANSWERS - 1)
        if not answers and self.codes.required:
            numbers = [WRONG]
        return (numbers + [0] * MOST_ANSWERS)[:MOST_ANSWERS]
