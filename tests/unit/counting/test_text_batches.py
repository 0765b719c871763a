"""Records in delimited text: what the compiled loop reads is what Arrow reads, and the rest is left to Arrow."""

import gzip
from itertools import product

import numpy as np
import pytest

from tests.cases import values_of
from tests.inside import (
    GZIPPED_TEXT,
    PERSON_RECORD,
    TEXT,
    DamagedPart,
    MisshapenRows,
    TableFiles,
    batch_by_arrow,
    batch_of_lines,
    batches_of,
    rows_of,
    text_lines_module,
    text_tables_module,
    value_batch,
)

COLUMNS = PERSON_RECORD.columns
BACKWARDS = COLUMNS[::-1]


@pytest.fixture(autouse=True, params=["interpreted", "compiled"])
def loops(request, monkeypatch):
    monkeypatch.setattr(text_lines_module, "compiling_pays", lambda *_, **__: True)  # for a single row too
    if request.param == "interpreted":
        monkeypatch.setattr(text_lines_module, "compiled", lambda loop: loop)
    with np.errstate(over="ignore"):  # products of keys, of which only some bits are wanted
        yield


def rows(number, value):
    return [tuple(value(row, column) for column in range(len(COLUMNS))) for row in range(number)]


def lines(of):
    return b"".join(b"|".join(row) + b"\n" for row in of)


def rows_in(batch):
    texts = [[*column.values.to_pylist(), None] for column in batch.values()]
    positions = [column.position_of_row.tolist() for column in batch.values()]
    assert all(len(column.values) == len(column.values.unique()) for column in batch.values())
    return [tuple(text[at] for text, at in zip(texts, of_row, strict=True)) for of_row in zip(*positions, strict=True)]


def read_by(read, text, header):
    return value_batch(read(text, header, PERSON_RECORD), PERSON_RECORD)


BLOCKS = {
    "one row": rows(1, lambda _, column: b"%d" % column),
    "nothing in any field": rows(3, lambda *_: b""),
    "nothing, then something": rows(4, lambda row, _: b"x" * row),
    "other lengths": rows(20, lambda row, column: b"12345678"[: (row + column) % 9]),
    "zeros in front": rows(10, lambda row, _: b"0" * (row % 8) + b"1"),
    "as many values as rows": rows(300, lambda row, column: b"%d" % (row * 17 + column)),
    "other bytes": [*rows(2, lambda *_: "é".encode()), *rows(2, lambda *_: b"\xff\t'\"\\")],
    "too long": [*rows(2, lambda *_: b"1"), *rows(1, lambda *_: b"000000030"), *rows(1, lambda *_: b"30")],
    "a byte 0": [*rows(2, lambda *_: b"1"), *rows(1, lambda *_: b"\x001"), *rows(1, lambda *_: b"\0")],
}


@pytest.mark.parametrize("of", BLOCKS.values(), ids=BLOCKS)
def test_both_readers_read_the_same(of):
    for read in batch_by_arrow, batch_of_lines:
        assert rows_in(read_by(read, lines(of), COLUMNS)) == of
        assert rows_in(read_by(read, lines(of), BACKWARDS)) == [row[::-1] for row in of]


def test_the_loop_reads_what_is_short_and_arrow_the_rest(monkeypatch):
    asked = []
    monkeypatch.setattr(text_lines_module, "batch_by_arrow", lambda text, *_: asked.append(text))
    for of in BLOCKS.values():
        batch_of_lines(lines(of), COLUMNS, PERSON_RECORD)
    assert asked == [lines(BLOCKS["too long"]), lines(BLOCKS["a byte 0"])]


def test_a_column_may_have_many_values(monkeypatch):
    monkeypatch.setattr(text_lines_module, "_FEW_VALUES", 4)
    for name in "as many values as rows", "other lengths":
        assert rows_in(read_by(batch_of_lines, lines(BLOCKS[name]), COLUMNS)) == BLOCKS[name]


@pytest.mark.parametrize("read", [batch_by_arrow, batch_of_lines])
def test_other_numbers_of_fields_are_no_rows(read):
    block = lines(BLOCKS["one row"])
    for line in b"1\n", b"|" * 15 + b"\n", b"|" * 17 + b"\n", b"|" * 33 + b"\n", b"|" * 15 + b"\n|\n":
        for text in line, block + line, line + block, block + line + block:
            with pytest.raises(MisshapenRows) as told:
                read(text, COLUMNS, PERSON_RECORD)
            assert told.value.__cause__ is None
            assert not str(told.value)


def batches(path, form):
    return [batch for piece in batches_of(TableFiles(form, (path,)), PERSON_RECORD) for batch in piece]


@pytest.fixture(params=[50, 500])
def small_blocks(request, monkeypatch):
    """The header, and lines, lie in one or in several."""
    blocks = text_tables_module._blocks
    monkeypatch.setattr(text_tables_module, "_beginning", lambda path: next(blocks(path, 1000), b""))
    monkeypatch.setattr(text_tables_module, "_blocks", lambda path, _: blocks(path, request.param))


FORMS = [*product((b"\n", b"\r\n"), (0, 900), (b"", b"\xef\xbb\xbf"))]
BY_DAY = (FORMS[0], FORMS[3], FORMS[5], FORMS[6])  # each pair of choices once


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("end", "more", "mark"), [pytest.param(*form, marks=() if form in BY_DAY else pytest.mark.slow) for form in FORMS]
)
def test_a_file_is_read_in_blocks(end, more, mark, tmp_path):
    of = BLOCKS["as many values as rows"][:16]
    text = mark + ("|".join(COLUMNS).encode() + b"\n" + lines(of)).replace(b"\n", end) + end * more
    for content in text, text.removesuffix(end):
        (tmp_path / "a.txt").write_bytes(content)
        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(content))
        for form in TEXT, GZIPPED_TEXT:
            found = batches(tmp_path / f"a{form.ending}", form)
            assert len(found) > 2
            assert [row for batch in found for row in rows_in(batch)] == of
            assert all(rows_of(batch) for batch in found)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("end", "other"),
    values_of(r"""
        b"\n" | b"\r\n"
        b"\r\n" | b"\n"
    """),
)
def test_lines_that_end_in_different_ways_are_damage(end, other, tmp_path):
    of = lines(BLOCKS["as many values as rows"])
    (tmp_path / "a.txt").write_bytes("|".join(COLUMNS).encode() + other + of.replace(b"\n", end))
    with pytest.raises(DamagedPart, match=r"a\.txt: lines end in different ways"):
        batches(tmp_path / "a.txt", TEXT)


def test_a_file_of_a_header_alone_has_no_rows(tmp_path):
    for end in b"", b"\n", b"\n\n\n":
        (tmp_path / "a.txt").write_bytes("|".join(COLUMNS).encode() + end)
        assert batches(tmp_path / "a.txt", TEXT) == []
