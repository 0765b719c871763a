"""The integers that stand for a record's values in a fingerprint.

They are small enough for exact sums: a specification's compiler checks that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from zlib import crc32

from safetab.model.products.record import NO_CODE, ListedAreas, RecordLayout

_INTEGERS = {"True": 1, "False": 0, NO_CODE: 0}
_SUM_END = 2**21  # the fingerprint multiplies by less than 2^40, and stays below 2^61
_HASH_END = 2**16  # of a text that is in no public list
AREA_DIGITS_END = 2**15
"""An area's number is two digits of this base."""


class RecordIntegers:
    """The integers of the values of a layout. Raises ValueError if they may be too large."""

    def __init__(self, record: RecordLayout) -> None:
        self._record = record
        if record.fields:
            total = 2 * AREA_DIGITS_END + sum(map(self._places, record.columns))
        else:
            spelled = sum(one.bounds[1] for one in record.ruled if one.digits is None)
            total = spelled + sum(10**width - 1 for width in record.digits.values())
        if total >= _SUM_END:
            raise ValueError(
                f"{record.table}: the integers of a record's columns may add up to {total:,},"
                f" and a fingerprint needs less than {_SUM_END:,}."
                " Give the columns fewer digits, or divide a list among two columns."
            )

    def of(self, column: str, text: str | None) -> int:
        """A value's integer in a fingerprint.

        It is the number that its digits spell, or its place in a list. Raises ValueError, which
        quotes the value, if no checked record may have it.
        """
        if column in self._record.fields:
            return self._of_field(column, text)
        return _INTEGERS[text] if text in _INTEGERS else int(text or "")

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The columns that a fingerprint knows by the number of the area alone."""
        if not isinstance(self._record.area, ListedAreas):
            return frozenset()
        counted = {part.column for part in self._record.attribute}
        counted |= {name for name, _ in self._record.code_columns}
        return frozenset(self._record.area.columns) - counted

    @cached_property
    def _places_of_codes(self) -> Mapping[str, Mapping[str, int]]:
        """The place of each code, and of answers that are not stated, by column.

        Lists of answers have none.
        """
        lists = {
            name: codes
            for name, codes in reversed(self._record.code_columns)
            if codes.separator is None
        }
        texts = {
            name: sorted({*(codes.listed or ()), *codes.residual}) for name, codes in lists.items()
        }
        return {
            name: {text: place for place, text in enumerate(listed, start=1)}
            for name, listed in texts.items()
        }

    def _places(self, column: str) -> int:
        """The number of integers that a field's values have in a fingerprint.

        It is 0 if the field's texts are hashed.
        """
        if column not in self._record.fields or column in self.left_out:
            return 0
        if column in self._places_of_codes:
            return len(self._places_of_codes[column]) + 1
        values = self._record.fields[column].values
        return values if values <= _HASH_END else 0

    @cached_property
    def _hash_end(self) -> int:
        """The end of the hashes of texts that are in no list: they leave the others room."""
        known = sum(map(self._places, self._record.columns)) + 2 * AREA_DIGITS_END
        hashed = sum(not self._places(column) for column in self._record.columns)
        return min(_HASH_END, max(1, (_SUM_END - known - 1) // max(hashed, 1)))

    def _of_field(self, column: str, text: str | None) -> int:
        number: int | None
        if column in self._places_of_codes:
            codes = dict(reversed(self._record.code_columns))[column]
            is_missing = text is None or text in codes.missing
            number = (
                0 if is_missing else self._places_of_codes[column].get(str(text)[: codes.first])
            )
        elif self._places(column):
            number = self._record.fields[column].number_of(text)
        else:
            number = crc32((text or "").encode("utf-8", errors="replace")) % self._hash_end
        if number is None:
            raise ValueError(f"{text!r} is absent or not in the list")
        return number
