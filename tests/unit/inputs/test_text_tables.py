import re

import numpy as np
import pytest

from tests.cases import values_of
from tests.inside import BatchSizes, text_tables_module
from tests.seeds import seeds


@pytest.fixture(params=[1, 2, 3, 5, 7, 1000])
def path(request, tmp_path, monkeypatch):
    """A file that is read in blocks of so many bytes."""
    blocks = text_tables_module._blocks
    monkeypatch.setattr(text_tables_module, "_blocks", lambda path, _=0: blocks(path, request.param))
    return tmp_path / "table.txt"


@pytest.mark.parametrize(
    "case",
    [
        "; 0; 0; False",
        "a|b; 0; 0; False",
        "a|b\n; 0; 0; False",
        "a|b\n\n; 1; 0; False",
        "a|b\n1|2; 0; 1; False",
        "a|b\n1|2\n; 0; 1; False",
        "a|b\n1|2\n\n\n; 2; 1; False",
        "a|b\r\n1|2\r\n\r\n; 1; 1; False",
        "a|b\r\n1|2\r\n3|4; 0; 2; False",
        "a|b\n\n1|2\n; 0; 2; True",
        "a|b\r\n\r\n1|2; 0; 2; True",
        "a|b\n\n\n\n\n\n1|2\n\n; 1; 6; True",
        "a|b\n1|2\n" + "\n" * 50 + "x; 0; 52; True",
    ],
)
def test_blank_lines_are_found_whatever_the_blocks(case, path):
    """Those at the end, the rows, and whether one is inside."""
    text, *expected = case.split("; ")
    path.write_bytes(text.encode())
    lines = text_tables_module.lines_of_text(path)
    found = (text_tables_module.blank_lines_at_the_end(path), lines.rows, lines.has_blank_line_inside)
    assert [*map(str, found)] == expected
    assert not lines.has_overlong_line
    assert not lines.has_stray_return


@pytest.mark.parametrize("text", [b"a|b\n\r1|2\n", b"a|b\r1|2\r", b"a|b\r\r\n1|2\r\n", b"a|b\n1|2\r"])
def test_stray_carriage_returns_are_found_whatever_the_blocks(text, path):
    path.write_bytes(text)
    assert text_tables_module.lines_of_text(path).has_stray_return


@pytest.mark.parametrize(
    "lengths",
    values_of("""
        3 | 9 | 2
        3 | 10 | 2
        3 | 11 | 2
        11 | 1
        1 | 1 | 11
        10 | 10
        0 | 25 | 3
        30
    """),
)
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_overlong_lines_are_found_whatever_the_blocks(lengths, end, path, monkeypatch):
    path.write_bytes(b"\n".join(b"x" * length for length in lengths) + end)
    monkeypatch.setattr(text_tables_module, "LONGEST_LINE", 10)
    assert text_tables_module.lines_of_text(path).has_overlong_line == (max(lengths) > 10)


def test_the_lines_that_are_blank_are_named_whatever_the_blocks(path):
    path.write_bytes(b"a|b\r\n\r\n\n1|2\n3|4\n\n5|6\n\n\n")
    assert text_tables_module.blank_lines_inside(path, 100) == (3, [2, 3, 6])
    assert text_tables_module.blank_lines_inside(path, 1) == (3, [2])


@pytest.mark.parametrize("seed", seeds(1, 4))
@pytest.mark.parametrize("threads", [1, 2])
def test_lines_are_those_of_the_whole_file_however_it_is_cut(threads, seed, tmp_path):
    random, path = np.random.default_rng(seed), tmp_path / "a.txt"
    for number in range(120):
        letters = [b"a\n", b"a\r\n", b"aaaaa\r\n", b"\r\n"][number % 4]
        content = bytes(random.choice(list(letters), int(random.integers(0, 40))).tolist())
        sizes = BatchSizes(text_bytes=int(random.integers(1, 9)))
        path.write_bytes(content)
        found, kept = text_tables_module.lines_of_text(path, threads, sizes), content.rstrip(b"\r\n")
        assert found.rows == kept.count(b"\n"), content
        assert found.has_blank_line_inside == (re.search(rb"\n\r?\n", kept) is not None), content
        assert found.has_stray_return == (re.search(rb"\r(?!\n)", content) is not None), content
