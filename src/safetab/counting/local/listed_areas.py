"""Finds the numbers of listed areas: once for each distinct value, whatever the number of rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from safetab.counting.local.records import ValueBatch, ValueColumn
from safetab.counting.patterns import Int64s
from safetab.foundation.arrays import begins_run, find_sorted
from safetab.model.products.record import ListedAreas, RecordLayout

_UNKNOWN = -1
_MANY = 1 << 12  # values for which making Arrow's table of all areas again pays


class AreaNumbers:
    """The number of each area by its texts, or -1 for one that is unlisted and breaks a rule.

    Texts have numbers by column. Those of neighbouring columns together have numbers again, and the
    last of these are the areas', because the areas are sorted column by column.
    """

    def __init__(self, record: RecordLayout) -> None:
        area = record.area
        if not isinstance(area, ListedAreas):
            raise TypeError("the areas of this record are spelled in digits")
        self._record = record
        self.columns = area.columns
        self._others = area.number_of_others
        self._number_of: list[dict[bytes, int]] = []
        self._texts: list[pa.Array] = []
        self._together: list[Int64s] = []
        before = np.zeros(len(area.keys), dtype=np.int64)
        for texts in area.texts_of.values():
            encoded = [text.encode() for text in texts]
            ranked = sorted(
                dict.fromkeys(encoded)
            )  # in the order that they have, which is mostly the one wanted
            number_of = {text: number for number, text in enumerate(ranked)}
            self._number_of.append(number_of)
            self._texts.append(pa.array(ranked, pa.binary()))
            numbers = np.array([number_of[text] for text in encoded], dtype=np.int64)
            together, before = np.unique(before * len(number_of) + numbers, return_inverse=True)
            self._together.append(together)

    def of_values(self, column: ValueColumn) -> Int64s:
        """The number of each value of the only column, and at the end that of a missing one."""
        numbers = self._of_texts(0, column)
        return np.where(numbers == _UNKNOWN, self._others, numbers)

    def of_rows(self, batch: ValueBatch) -> Int64s:
        """The number of each row's area."""
        columns = [batch[name] for name in self.columns]
        begins = begins_run(*(column.position_of_row for column in columns))
        found = np.zeros(int(begins.sum()), dtype=np.int64)
        for place, (column, together) in enumerate(zip(columns, self._together, strict=True)):
            numbers = self._of_texts(place, column)[column.position_of_row[begins]]
            positions, is_listed = find_sorted(
                together, found * len(self._number_of[place]) + numbers
            )
            found = np.where(is_listed & (numbers != _UNKNOWN), positions, _UNKNOWN)
        found = np.where(found == _UNKNOWN, self._others, found)
        of_rows: Int64s = found[np.cumsum(begins) - 1]
        return of_rows

    def _of_texts(self, place: int, column: ValueColumn) -> Int64s:
        """The number of each text of a column, and at the end that of a missing one."""
        name = self.columns[place]
        if self._record.fields[name].field.other is None:
            texts = column.as_bytes()
        else:
            texts = pa.array(
                [text and text.encode() for text in column.texts(self._record, name)], pa.binary()
            )
        if len(texts) > _MANY:
            found = (
                pc.index_in(texts, self._texts[place])
                .fill_null(_UNKNOWN)
                .to_numpy(zero_copy_only=False)
            )
        else:
            found = np.array(
                [self._number_of[place].get(text, _UNKNOWN) for text in texts.to_pylist()],
                dtype=np.int64,
            )
        return np.append(found, _UNKNOWN).astype(np.int64)


@lru_cache(maxsize=2)
def area_numbers_of(record: RecordLayout) -> AreaNumbers:
    """The numbers of a record's areas, which all threads share."""
    return AreaNumbers(record)
