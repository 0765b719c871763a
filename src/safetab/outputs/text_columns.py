"""Columns of texts as dictionaries, for files that hold them as such."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

TEXT = pa.string()
SHORT_LIST = 64
"""So many texts are a dictionary as they are; a longer list is cut to what is used."""


def as_dictionaries(schema: pa.Schema) -> pa.Schema:
    """The schema of a table in memory whose texts are plain strings in its file."""
    dictionary = pa.dictionary(pa.int32(), TEXT)
    return pa.schema([one.with_type(dictionary) if one.type == TEXT else one for one in schema])


def with_own_dictionaries(table: pa.Table) -> pa.Table:
    """The same rows; dictionaries hold the texts that rows have, rising, whatever they were put together from."""
    table = table.unify_dictionaries().combine_chunks()
    columns = (column.combine_chunks() for column in table.columns)
    own = [_with_own_dictionary(one) if pa.types.is_dictionary(one.type) else one for one in columns]
    return pa.table(own, schema=table.schema)


def _with_own_dictionary(column: pa.DictionaryArray) -> pa.DictionaryArray:
    positions = (column.indices.fill_null(-1) if column.null_count else column.indices).to_numpy()
    used = np.flatnonzero(np.bincount(positions + 1, minlength=1)[1:])
    order = pc.sort_indices(column.dictionary.take(pa.array(used))).to_numpy()
    place = np.full(len(column.dictionary) + 1, -1, dtype=np.int32)  # position -1 stays -1
    place[used[order]] = np.arange(len(used))
    return _dictionary_array(place[positions], column.dictionary.take(pa.array(used[order])))


def _dictionary_array(indices: NDArray[np.int32], dictionary: pa.Array) -> pa.DictionaryArray:
    """With no text where an index is -1."""
    is_null = indices < 0
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=is_null if is_null.any() else None), dictionary)


def texts(values: Sequence[str] | pa.Array, positions: NDArray[np.integer]) -> pa.DictionaryArray:
    """The texts at these positions of a list; null where the position is -1.

    Each text is in the dictionary once: a Parquet file of a dictionary with repetitions would be padded with whatever
    the memory held before, and nothing of that may leave.
    """
    return TextsAt(positions, len(values)).of(values)


class TextsAt:
    """What `texts` gives, for several lists of one length and the same positions in them."""

    def __init__(self, positions: NDArray[np.integer], length: int) -> None:
        self._used: NDArray[np.intp] | None = None  # all of them
        self._indices = positions.astype(np.int32, copy=False)
        if length > SHORT_LIST:
            is_used = np.zeros(length + 1, dtype=np.bool_)  # position -1 is the last, of no text
            is_used[positions] = True
            self._used = np.flatnonzero(is_used[:-1])
            place = np.full(length + 1, -1, dtype=np.int32)  # position -1 stays -1
            place[self._used] = np.arange(len(self._used))
            self._indices = place[positions]

    def of(self, values: Sequence[str] | pa.Array) -> pa.DictionaryArray:
        """Faster for texts that are an Arrow array already."""
        listed = values if isinstance(values, pa.Array) else pa.array(values, TEXT)
        used = listed if self._used is None else listed.take(pa.array(self._used))
        distinct = used.dictionary_encode()
        indices = self._indices
        if len(distinct.dictionary) < len(used):
            indices = np.append(distinct.indices.to_numpy(), np.int32(-1))[indices]
        return _dictionary_array(indices, distinct.dictionary)
