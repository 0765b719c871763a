"""Tables that fit the terminal; no number or word is cut short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as TextTable

from safetab.cli.messages import terminal_width, wrapped

_WIDEST_LABEL = 0.5  # of the terminal; a longer label continues on the next line


def text_table(*columns: str) -> TextTable:
    """An empty table with these column heads; all columns but the first are aligned right."""
    table = TextTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for position, column in enumerate(columns):
        table.add_column(column, no_wrap=True, justify="right" if position else "left")
    return table


def terminal_console() -> Console:
    """A console as wide as the terminal, without colours of its own."""
    return Console(width=terminal_width(), highlight=False, markup=False)


def show_text(text: str, console: Console, style: str | None = None) -> None:
    """Print sentences, wrapped to the console's width."""
    console.print(wrapped(text, console.width), style=style, soft_wrap=True)


def show_table(title: str, table: TextTable, console: Console) -> None:
    """Print a title and the table; a table too wide is split, each part with the first column."""
    show_text(title, console, "bold")
    for part in tables_that_fit(table, console):
        console.print(part)


def tables_that_fit(table: TextTable, console: Console) -> Iterator[TextTable]:
    """The table, or parts of it with as many columns as the console has room for."""
    label, *others = range(len(table.columns))
    if _width(table, [label, *others], console.width) <= console.width:
        yield table
        return
    most = int(console.width * _WIDEST_LABEL)
    chosen = [label]
    for column in others:
        if len(chosen) > 1 and _width(table, [*chosen, column], most) > console.width:
            yield _with_columns(table, chosen, most)
            chosen = [label]
        chosen.append(column)
    yield _with_columns(table, chosen, most)


def _width(table: TextTable, columns: Sequence[int], most: int) -> int:
    label, *others = (_widest(table, column) for column in columns)
    return 2 + min(label, most) + sum(2 + width for width in others)


def _widest(table: TextTable, column: int) -> int:
    texts = [str(table.columns[column].header), *map(str, table.columns[column].cells)]
    return max(len(line) for text in texts for line in text.split("\n"))


def _with_columns(table: TextTable, columns: Sequence[int], most: int) -> TextTable:
    """A table of some columns; a long first column is at most `most` wide."""
    part = text_table(*(str(table.columns[column].header) for column in columns))
    if _widest(table, columns[0]) > most:
        part.columns[0].no_wrap = False
        part.columns[0].width = most
    cells = [list(table.columns[column].cells) for column in columns]
    for row, texts in zip(table.rows, zip(*cells, strict=True), strict=True):
        part.add_row(*texts, end_section=row.end_section)
    return part
