"""Bytes of lines -> numbers: as Python would read them, compiled or not, wherever blocks end."""

import csv
import random

import numpy as np
import pytest

from tests.inside import (
    COUNTS,
    OID_DIGITS,
    PERSON,
    UNIT,
    FieldReader,
    compiled,
    compiled_module,
    find_oids,
    find_units,
    lines_lines_of,
    lines_module,
    read_fields,
    read_long_numbers,
    spread_fields,
)

CHARACTERS = b"  001123456789  x|"


def random_lines(width, count, seed):
    rng = random.Random(seed)
    return np.uint8([[rng.choice(CHARACTERS) for _ in range(width)] for _ in range(count)])


@pytest.mark.parametrize(("layout", "width"), [(PERSON, 91), (UNIT, 76), (COUNTS, 67)])
def test_the_fields_of_a_layout_follow_each_other_to_its_end(layout, width):
    assert layout.width == width
    assert len(layout.fields) == (8 if layout is COUNTS else 28)
    assert [field.first for field in layout.fields[1:]] == [field.end for field in layout.fields[:-1]]


def both_ways(loop):
    """As Python runs it and as machine code."""
    return pytest.mark.parametrize("loop", [loop, compiled(loop)], ids=["as it stands", "compiled"])


@pytest.mark.needs_2020_files
def test_the_layout_is_that_of_the_specification(cases):
    with (cases.parent / "cef/cef20-layout.csv").open() as file:
        _, *rows = csv.reader(file)
    listed = {(record, name): (int(first), int(end)) for record, _, name, first, end, *_ in rows}
    assert listed == {
        (f"CEF20_{kind}", field.name): (field.first, field.end)
        for kind, layout in (("UNIT", UNIT), ("PER", PERSON), ("CNT", COUNTS))
        for field in layout.fields
    }


@both_ways(read_fields)
def test_a_field_is_what_its_stripped_text_is(loop, monkeypatch):
    monkeypatch.setattr(compiled_module, "compiled_if_worthwhile", lambda *_: loop)
    names = [field.name for field in UNIT.fields if field.name != "OIDTB"]
    reader = FieldReader(UNIT, names, {})
    lines = random_lines(UNIT.width + 1, 400, seed=1)
    read, rights = reader.read(lines), 0
    for row, line in enumerate(lines):
        for name in names:
            field = UNIT.field(name)
            text = line[field.first : field.end].tobytes().decode().strip(" ")
            number = int(text) if text.isdigit() else None
            is_in_range = number is not None and any(low <= number <= high for low, high in field.ranges)
            is_right = is_in_range if text else field.may_be_blank
            assert bool(read.broken[row] & reader.bit(name)) != is_right
            if is_right:
                rights += 1
                assert read[name][row] == (number or 0)
    assert rights > 1000


@both_ways(read_long_numbers)
def test_a_number_of_22_digits_is_read_exactly(loop):
    right = ["1", "0" * 21 + "1", "9" * 22, "1" + "0" * 21, "  27659836000000", "27659836000000  "]
    texts = [*right, "", "1 2", "-1", "1x"]
    lines = np.frombuffer("".join(text.rjust(OID_DIGITS) for text in texts).encode(), "uint8")
    highs, lows = np.empty(len(texts), "int32"), np.empty(len(texts), int)
    loop(lines.reshape(-1, OID_DIGITS), 0, OID_DIGITS, highs, lows)
    numbers = [int(high) * 10**18 + int(low) for high, low in zip(highs, lows, strict=True)]
    assert numbers == [*map(int, right), *[-(10**18) - 1] * 4]


@both_ways(spread_fields)
def test_separated_fields_are_put_to_their_positions(loop):
    texts = [b"1|23| 4 ", b"||", b"1|2", b"1|2|3|4", b"1|234|5"]
    text = np.frombuffer(b"\n".join(texts), "uint8").copy()
    stops = np.cumsum([len(one) + 1 for one in texts]) - 1
    lines, is_shaped = np.empty((len(texts), 5), "uint8"), np.empty(len(texts), bool)
    loop(text, np.append(0, stops[:-1] + 1), stops, np.array([0, 1, 3]), np.array([1, 3, 5]), lines, is_shaped)
    assert is_shaped.tolist() == [True, True, False, False, True]
    assert lines[is_shaped].tobytes() == b"123 4     1?? 5"


@both_ways(find_oids)
def test_an_oid_is_found_by_all_its_digits(loop):
    highs, lows = np.int32([0, 0, 1, 3]), np.array([5, 9, 5, 2])
    found = np.empty(6, "int32")
    loop(np.append(highs, [2, 3]).astype("int32"), np.append(lows, [5, 9]), highs, lows, found)
    assert found.tolist() == [0, 1, 2, 3, -1, -1]


@both_ways(find_units)
@pytest.mark.parametrize("shift", [0, 2, 6])
def test_persons_find_their_unit_and_are_counted_there(loop, shift):
    units, mafids = np.int32([3, 4, 17, 18, 40]), np.array([40, 3, 5, 17, 40, 63])
    starts = np.searchsorted(units, np.arange((64 >> shift) + 2) << shift)
    found, persons, householders = (np.zeros(size, np.int32) for size in (6, 5, 5))
    loop(mafids, mafids != 3, shift, starts, units, found, persons, householders)
    assert found.tolist() == [4, 0, -1, 2, 4, -1]
    assert persons.tolist() == [1, 0, 1, 0, 2]
    assert householders.tolist() == [0, 0, 1, 0, 2]


@pytest.mark.parametrize("block", [7, 92, 93, 200, 10_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_have_their_numbers_wherever_blocks_end(block, end, tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block)
    texts = [bytes([48 + n]) * 91 for n in range(10)]
    texts[4:4] = [b"", b"short"]  # lines 5 and 6
    (tmp_path / "lines").write_bytes(end.join(texts) + end * 5)
    numbers, misshapen, characters = [], [], []
    for lines in lines_lines_of(tmp_path / "lines", PERSON):
        numbers += lines.numbers.tolist()
        misshapen += lines.misshapen.tolist()
        characters += [line[:91].tobytes() for line in lines.characters]
    assert numbers == [1, 2, 3, 4, 7, 8, 9, 10, 11, 12]
    assert misshapen == [5, 6]
    assert characters == [text for text in texts if len(text) == 91]


def test_a_file_without_a_line_end_is_one_line_however_long(tmp_path):
    (tmp_path / "lines").write_bytes(b"7" * (20 << 20))
    (only,) = lines_lines_of(tmp_path / "lines", PERSON)
    assert only.misshapen.tolist() == [1]
