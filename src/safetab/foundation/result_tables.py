"""Results as people see them.

A line at the prompt, a table in print and in a notebook, and one for Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

import pyarrow as pa

from safetab.foundation.findings import Finding, described

_LEFT, _RIGHT = "text-align:left", "text-align:right;white-space:nowrap"


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """The table of a notebook: rows of texts, a name and then numbers, and sentences below."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    sentences: Sequence[str] = ()
    are_numbers: bool = True

    def __str__(self) -> str:
        """The table as HTML. Names come from files, so all markup in them is escaped."""
        head = "".join(self._cell("th", text, column) for column, text in enumerate(self.head))
        body = ""
        for row in self.rows:
            cells = [
                self._cell("td" if column else "th", text, column)
                for column, text in enumerate(row)
            ]
            body += f"<tr>{''.join(cells)}</tr>"
        table = (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            if self.rows
            else ""
        )
        notes = "".join(f"<p>{escape(one)}</p>" for one in self.sentences)
        return (
            f'<div class="safetab"><p><strong>{escape(self.title)}</strong></p>{table}{notes}</div>'
        )

    def _cell(self, tag: str, text: str, column: int) -> str:
        style = _RIGHT if column and self.are_numbers else _LEFT
        return f'<{tag} style="{style}">{escape(text)}</{tag}>'


MOST_SHOWN = 20
"""The number of items of a list that are shown."""


def more_than_shown(count: int) -> list[str]:
    """A line that says how many items of a list are not shown, or nothing if all are."""
    return [f"and {count - MOST_SHOWN:,} more"] if count > MOST_SHOWN else []


def listed(
    title: str, names: Sequence[str], rows: Sequence[dict[str, Any]], count: int
) -> HtmlTable:
    """The first rows of a list of `count` items, as a table."""
    shown = [
        ["" if row[name] is None else str(row[name]) for name in names] for row in rows[:MOST_SHOWN]
    ]
    return HtmlTable(title, names, shown, more_than_shown(count), are_numbers=False)


class Result:
    """A result, which people see in several forms.

    A line at the prompt, a table in print and in a notebook, and one for Arrow, pandas and Polars.
    """

    @property
    def _title(self) -> str:
        """A description of it, in a line."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The table for Arrow."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The table for pandas, if that is installed."""
        library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The table for Polars, if that is installed."""
        return library("polars").from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table for any library that takes Arrow, as in `pyarrow.table(result)`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def html_table(self) -> HtmlTable:
        """The table that a notebook shows."""
        table = self.to_arrow()
        rows = [
            [_shown(value) for value in row.values()]
            for row in table.slice(0, MOST_SHOWN).to_pylist()
        ]
        return HtmlTable(
            self._title, table.column_names, rows, more_than_shown(len(table)), are_numbers=False
        )

    def _repr_html_(self) -> str:
        return str(self.html_table())

    def __str__(self) -> str:
        shown = self.html_table()
        widths = [max(map(len, column)) for column in zip(shown.head, *shown.rows, strict=True)]
        rows = (zip(row, widths, strict=True) for row in (shown.head, *shown.rows))
        lines = ("  ".join(f"{text:{width}}" for text, width in row).rstrip() for row in rows)
        return "\n".join([self._title, *lines, *shown.sentences])

    def __repr__(self) -> str:
        text = str(self)
        if len(text) <= _LONGEST_REPR:
            return text
        first = text.split("\n", maxsplit=1)[0]
        return f"{first[: _LONGEST_REPR - len(_MORE)]}{_MORE}"


def _shown(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


class Tabular(Result):
    """A result with a row for each number, area or group."""

    @property
    def schema(self) -> pa.Schema | None:
        """The columns and their types, if they do not depend on the numbers."""
        return None

    def rows(self) -> list[dict[str, object]]:
        """A dictionary for each row of the table."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The table for Arrow."""
        return pa.Table.from_pylist(self.rows(), schema=self.schema)

    def html_table(self) -> HtmlTable:
        """The table that a notebook shows."""
        first, *rest = str(self).splitlines()
        return HtmlTable(first, (), (), [line.strip() for line in rest])


class WrittenFiles(Result):
    """The written files: the number of rows of each, and whether they may be released."""

    rows: Mapping[str, int]
    status: Any  # an OutputStatus

    @property
    def _title(self) -> str:
        return f"{sum(self.rows.values()):,} rows in {len(self.rows):,} files. {self.status.line}"

    def to_arrow(self) -> pa.Table:
        """A row for each file: its name and its number of rows."""
        return pa.table({"file": [*self.rows], "rows": [*self.rows.values()]})

    def __repr__(self) -> str:
        of = type(self).__name__.removesuffix("Summary").lower()
        return (
            f"<{of}: {sum(self.rows.values()):,} rows in {len(self.rows):,} files,"
            f" {self.status.value}>"
        )


class Findings(Result, tuple[Finding, ...]):
    """A tuple of findings, which prints as sentences."""

    @property
    def _title(self) -> str:
        return f"{len(self):,} finding{'' if len(self) == 1 else 's'}"

    def __str__(self) -> str:
        return described(self) or "Nothing was found."

    def to_arrow(self) -> pa.Table:
        """A row for each finding: its severity, file, place and message."""
        columns = ("severity", "file", "where", "message")
        rows = [(each.severity.value, each.file, each.where, each.message) for each in self]
        schema = pa.schema([(name, pa.string()) for name in columns])
        return pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)


_LONGEST_REPR = 200
_MORE = " ... (print it to see all)"


def library(name: str, how: str | None = None) -> Any:
    """The module of an optional library. Raises ModuleNotFoundError that says how to do without."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        how = how or f": `pip install {name}`, or use to_arrow(), which needs nothing more."
        raise ModuleNotFoundError(f"{name} is not installed{how}", name=name) from None
