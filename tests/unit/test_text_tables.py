from __future__ import annotations

from pathlib import Path

import pytest

from safetab.readers import text_tables


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize(
    ("text", "at_the_end", "is_inside"),
    [
        (b"", 0, False),
        (b"a|b\n1|2", 0, False),
        (b"a|b\n1|2\n", 0, False),
        (b"a|b\n1|2\n\n\n", 2, False),
        (b"a|b\r\n1|2\r\n\r\n", 1, False),
        (b"a|b\n\n1|2\n", 0, True),
        (b"a|b\r\n\r\n1|2", 0, True),
        (b"a|b\n\n\n\n\n\n1|2\n\n", 1, True),
        (b"a|b\n1|2\n" + b"\n" * 50 + b"x", 0, True),
    ],
)
def test_blank_lines_are_found_whatever_the_blocks(
    text: bytes, at_the_end: int, is_inside: bool, block_bytes: int, tmp_path: Path, monkeypatch
) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(text)
    monkeypatch.setattr(text_tables._blocks, "__defaults__", (block_bytes,))
    assert text_tables.blank_lines_at_the_end(path) == at_the_end
    assert text_tables.has_blank_line_inside(path) == is_inside


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 5, 1000])
def test_the_lines_that_are_blank_are_named_whatever_the_blocks(block_bytes: int, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "table.txt"
    path.write_bytes(b"a|b\r\n\r\n\n1|2\n3|4\n\n5|6\n\n\n")
    monkeypatch.setattr(text_tables._blocks, "__defaults__", (block_bytes,))
    assert text_tables.blank_lines_inside(path, 100) == (3, [2, 3, 6])
    assert text_tables.blank_lines_inside(path, 1) == (3, [2])
