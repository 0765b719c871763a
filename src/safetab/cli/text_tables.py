"""Tables that fit the terminal; no number or word is cut short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as TextTable

from safetab.cli.messages import terminal_width, wrapped

_WIDEST_LABEL = 0.5  # of the terminal; a longer label continues on the next line
_WIDEST_TABLE = 10_000  # wider than any


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


def show_table(title: str, table: TextTable, console: Console, keys: int = 1) -> None:
    """Print a title and the table.

    A table too wide is split, each part with the key columns, the first ones.
    """
    show_text(title, console, "bold")
    for part in tables_that_fit(table, console, keys):
        console.print(part)


def tables_that_fit(table: TextTable, console: Console, keys: int = 1) -> Iterator[TextTable]:
    """The table, or parts of it if it is too wide for the console.

    Each part has the key columns and as many others as there is room for.
    """
    if _width(table, console) <= console.width:
        yield table
        return
    chosen = [*range(keys)]
    for column in range(keys, len(table.columns)):
        wider = _with_columns(table, [*chosen, column], console, keys)
        if len(chosen) > keys and _width(wider, console) > console.width:
            yield _with_columns(table, chosen, console, keys)
            chosen = [*range(keys)]
        chosen.append(column)
    yield _with_columns(table, chosen, console, keys)


def _width(table: TextTable, console: Console) -> int:
    return console.measure(table, options=console.options.update(max_width=_WIDEST_TABLE)).maximum


def _with_columns(
    table: TextTable, columns: Sequence[int], console: Console, keys: int
) -> TextTable:
    """A table of some columns; long key columns are broken."""
    part = text_table(*(str(table.columns[column].header) for column in columns))
    for key in part.columns[:keys]:
        key.no_wrap = False
        key.max_width = int(console.width * _WIDEST_LABEL / keys)
    cells = [list(table.columns[column].cells) for column in columns]
    for row, texts in zip(table.rows, zip(*cells, strict=True), strict=True):
        part.add_row(*texts, end_section=row.end_section)
    return part
