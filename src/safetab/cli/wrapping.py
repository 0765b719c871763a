"""Text as wide as the terminal: lines end between words."""

from __future__ import annotations

import re
import shutil
import textwrap

_USUAL = (80, 24)
_LEAST_WIDTH = 40
_HANGING = 2
_BETWEEN = "(?<=\\d){0}(?=%)|(?<=±){0}(?=\\d)"  # in 95 % and ± 3
_NO_BREAK = "\N{NO-BREAK SPACE}"


def terminal_width() -> int:
    """That of the terminal, or what COLUMNS says; 80 if neither is known, as in a pipe."""
    return max(shutil.get_terminal_size(_USUAL).columns, _LEAST_WIDTH)


def wrapped(text: str, width: int | None = None) -> str:
    """Lines that are too long go on below, indented; 95 % stays whole, and so does a word longer than a line."""
    return "\n".join(_wrapped_line(line, width or terminal_width()) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")))
    filled = textwrap.fill(
        re.sub(_BETWEEN.format(" "), _NO_BREAK, line.strip()),
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * _HANGING,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return re.sub(_BETWEEN.format(_NO_BREAK), " ", filled)
