"""How cells are written and what they look like. Every text is written as text, whatever it begins with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from safetab.explorer.workbook.live import Live, cell

_INK, _INPUT, _QUIET = "#1d2733", "#fff3c4", "#e8eef5"


class Styles:
    """The formats of cells. Cells with the format `input` may be changed."""

    def __init__(self, workbook: Workbook) -> None:
        base: dict[str, object] = {"font_name": "Calibri", "font_size": 11, "font_color": _INK, "valign": "vcenter"}

        def style(**more: object) -> Format:
            return workbook.add_format(base | more)

        filled = {"bg_color": _INPUT, "border": 1, "border_color": "#b58900"}
        self.text = style()
        self.note = style(indent=1)
        self.wrapped = style(text_wrap=True, valign="top")
        self.title = style(bold=True, font_size=16)
        self.section = style(bold=True, font_size=12)
        head = {"bold": True, "bg_color": _QUIET, "text_wrap": True, "valign": "bottom", "border": 1}
        self.head = style(**head, border_color="#c3cedb")
        self.number_head = style(**head, border_color="#c3cedb", align="right")
        self.input = style(**filled)
        self.input_whole = style(**filled, num_format="#,##0")
        self.whole = style(num_format="#,##0")
        self.number = style(num_format="0.0000")
        self.loss = style(align="right")  # as text, because a number format would not round up
        self.budget = style(num_format="0.000000")
        self.precise = style(num_format="0.000000000000")
        self.epsilon = style(num_format="0.0000##")
        code = {"font_name": "Consolas", "font_size": 9}
        self.code = style(**code)
        self.code_framed = style(**code, text_wrap=True, valign="top", border=2, border_color="#b58900")
        self.percent = style(num_format="0.00%")
        self.average = style(num_format="#,##0.00")
        self.alarm = workbook.add_format({"font_color": "#9c1c1c", "bold": True})


class Sheet:
    """One sheet, written cell by cell. `put` returns a reference for formulas elsewhere."""

    def __init__(self, workbook: Workbook, name: str, widths: Sequence[float]) -> None:
        self.name = name
        self.worksheet: Worksheet = workbook.add_worksheet(name)
        for column, width in enumerate(widths):
            self.worksheet.set_column(column, column, width)
        self.worksheet.hide_gridlines(2)
        self.worksheet.set_landscape()
        self.worksheet.set_paper(9)
        self.worksheet.fit_to_pages(1, 0)
        self.worksheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        self.worksheet.set_footer(f"&L{name}&RPage &P of &N")

    def put(self, row: int, column: int, content: Live | float | str, style: Format) -> Live:
        """Write a formula, a number or a text, and return a reference to the cell.

        Raises ArithmeticError if a formula has no value.
        """
        if isinstance(content, Live):
            value = content.value
            if not isinstance(value, str) and isnan(value):
                raise ArithmeticError(f"{self.name} {row}, {column}: the formula {content.text} has no value")
            self.worksheet.write_formula(row, column, "=" + content.text, style, value)
            return cell(self.name, row, column, value)
        write = self.worksheet.write_string if isinstance(content, str) else self.worksheet.write_number
        write(row, column, content, style)
        return cell(self.name, row, column, content)

    def print_two_wide(self) -> None:
        """Print on two sheets of paper side by side, each with the first column, whose texts must fit in it."""
        self.worksheet.fit_to_pages(2, 0)
        self.worksheet.repeat_columns(0)
        self.worksheet.print_across()

    def put_row(self, row: int, first: int, contents: Iterable[Live | float | str], style: Format) -> list[Live]:
        """Write neighbouring cells, from column `first`, and return references to them."""
        return [self.put(row, column, content, style) for column, content in enumerate(contents, start=first)]

    def put_heads(self, row: int, contents: Sequence[str], styles: Styles, column: int = 0) -> None:
        """Write the heads of a table that begins in this column. Heads of numbers are right-aligned."""
        for offset, content in enumerate(contents):
            is_text = offset == column == 0
            self.put(row, column + offset, content, styles.head if is_text else styles.number_head)
        self.worksheet.set_row(row, 66)
