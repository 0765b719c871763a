"""Which of some known texts each row has: each text of a dictionary is looked up once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def looked_up(texts: pa.DictionaryArray, positions: Mapping[str, int] | Mapping[str | None, int]) -> NDArray[np.int16]:
    """The position of each text, or -1."""
    found = np.array([positions.get(text, -1) for text in (*texts.dictionary.to_pylist(), None)], dtype=np.int16)
    if (found == found[0]).all():
        return np.full(len(texts), found[0])
    indices = texts.indices.fill_null(len(found) - 1) if texts.null_count else texts.indices
    return np.asarray(found[np.asarray(indices)])


def positions_in(rising: Sequence[str], texts: pa.DictionaryArray) -> NDArray[np.int64]:
    """The position of each text in a long list, or -1; only the part of the list that they can be in is searched.

    The list rises as texts do: ids of one level have one width.
    """
    ends = pc.min_max(texts.dictionary).as_py()
    if ends["min"] is None:
        return np.full(len(texts), -1, dtype=np.int64)
    begin, end = bisect_left(rising, ends["min"]), bisect_right(rising, ends["max"])
    found = pc.index_in(texts.dictionary, value_set=pa.array(rising[begin:end], pa.string())).cast(pa.int64())
    positions = np.append(pc.add(found, begin).fill_null(-1).to_numpy(), -1)
    return np.asarray(positions[texts.indices.fill_null(len(found)).to_numpy()])
