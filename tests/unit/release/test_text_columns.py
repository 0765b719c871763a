"""Texts as dictionaries: what is in them, and that rows keep their texts."""

import numpy as np
import pyarrow as pa
import pytest

from tests.inside import TextsAt, pass_files_module, texts, with_own_dictionaries


@pytest.mark.parametrize("short_list", [0, 64])
def test_texts_at_positions(short_list, monkeypatch):
    monkeypatch.setattr(pass_files_module, "SHORT_LIST", short_list)
    positions = np.array([3, -1, 0, 3, 1])
    column = texts(["b", "a", "never", "b"], positions)
    assert column.to_pylist() == ["b", None, "b", "b", "a"]
    assert column.dictionary.to_pylist() == (["b", "a"] if not short_list else ["b", "a", "never"])
    several = TextsAt(positions, 4)
    assert several.of(["p", "q", "r", "s"]).to_pylist() == ["s", None, "p", "s", "q"]
    assert several.of(["x"] * 4).dictionary.to_pylist() == ["x"]
    assert texts([], np.array([-1, -1])).to_pylist() == [None, None]


def test_a_table_has_the_dictionaries_of_its_own_rows():
    rows = ["d", None, "b", "b", "a", "d"]
    ways = [
        pa.chunked_array([pa.array(rows[:at]).dictionary_encode(), pa.array(rows[at:]).dictionary_encode()])
        for at in range(1, 6)
    ]
    ways.append(pa.chunked_array([pa.array(["z", *rows, "y"]).dictionary_encode().slice(1, 6)]))
    for way in ways:
        table = with_own_dictionaries(pa.table({"text": way, "number": list(range(6))}))
        column = table["text"].combine_chunks()
        assert column.to_pylist() == rows
        assert column.dictionary.to_pylist() == ["a", "b", "d"]
        assert table["number"].to_pylist() == list(range(6))
    empty = with_own_dictionaries(pa.table({"text": pa.array([None, None], pa.string()).dictionary_encode()}))
    assert empty["text"].to_pylist() == [None, None]
