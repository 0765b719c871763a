"""Spreadsheet formulas that know their value.

The noise in such formulas, and the sheets that hold them, are here too. The cached number of a cell
can't differ from its formula. One geometric draw is exact. The discrete Gaussian and sums of
geometric draws are approximated by a normal distribution rounded to whole persons, whose variance
is smaller by 1/12 (Sheppard's correction). The sheet "What is exact" says how far off this is.
Every text is written as text, whatever it begins with.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import partial
from math import exp, floor, isnan, log, nan, pi, sqrt
from statistics import NormalDist
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

_Value = float | str | bool
_KEPT_DECIMALS = 12
_PLAIN = re.compile("[A-Za-z0-9 .:]*")


def _operators(
    sign: str, value_of: Callable[[Any, Any], _Value]
) -> tuple[Callable[[Live, Live | float], Live], Callable[[Live, float], Live]]:
    """An operator between two formulas, in parentheses.

    The second function takes a number before the formula.
    """

    def joined(left: Live, right: Live | float) -> Live:
        other = of(right)
        return Live(f"({left.text}{sign}{other.text})", _value(value_of, left, other))

    return joined, lambda right, left: joined(of(left), right)


@dataclass(frozen=True, slots=True)
class Live:
    """A formula or a part of one, with its value in this workbook.

    The value is nan for an error.
    """

    text: str
    value: _Value

    __add__, __radd__ = _operators("+", operator.add)
    __sub__, __rsub__ = _operators("-", operator.sub)
    __mul__, __rmul__ = _operators("*", operator.mul)
    __truediv__, __rtruediv__ = _operators("/", operator.truediv)
    to_the = _operators("^", operator.pow)[0]
    is_above = _operators(">", operator.gt)[0]

    def __neg__(self) -> Live:
        return of(0) - self

    def is_word(self, word: str) -> Live:
        """Whether the cell holds this word."""
        return Live(f"({self.text}={of(word).text})", self.value == word)


def of(constant: Live | float | str) -> Live:
    """A constant: a number or a plain word of this program.

    Raises ValueError for any other text, so that no text of a user becomes part of a formula.
    """
    if isinstance(constant, Live):
        return constant
    if isinstance(constant, str):
        if not _PLAIN.fullmatch(constant):
            raise ValueError("only plain words are part of a formula")
        return Live(f'"{constant}"', constant)
    return Live(f"{constant!r}".upper(), constant)


def _called(name: str, value_of: Callable[..., _Value], *arguments: Live) -> Live:
    """A call of a spreadsheet function."""
    texts = ",".join(argument.text for argument in arguments)
    return Live(f"{name}({texts})", _value(value_of, *arguments))


def _value(value_of: Callable[..., _Value], *arguments: Live) -> _Value:
    """The value of an operation, or nan where a spreadsheet shows an error."""
    values = [argument.value for argument in arguments]
    if any(isinstance(value, str) or isnan(value) for value in values):
        return nan
    try:
        return value_of(*values)
    except (ArithmeticError, ValueError):
        return nan


_Function = Callable[[Live], Live]

root: _Function = partial(_called, "SQRT", sqrt)
logarithm: _Function = partial(_called, "LN", log)
_exponential: _Function = partial(_called, "EXP", exp)
_whole_below: _Function = partial(_called, "INT", floor)
_normal_cdf: _Function = partial(_called, "NORMSDIST", NormalDist().cdf)
_normal_quantile: _Function = partial(_called, "NORMSINV", NormalDist().inv_cdf)


def _whole_above(number: Live) -> Live:
    """The number rounded up.

    It uses INT, because programs disagree about CEILING of negative numbers.
    """
    return -_whole_below(-number)


def rounded(number: Live) -> Live:
    """The nearest integer, with halves rounded up."""
    return _whole_below(number + 0.5)


def rounded_up(number: Live, decimals: int) -> Live:
    """The number rounded up to these places.

    Digits beyond the 15 of a spreadsheet don't count.
    """

    def nearest(number: float, decimals: float) -> float:
        return float(round(Decimal(repr(number)), int(decimals)))

    def above(number: float, decimals: float) -> float:
        return float(
            Decimal(repr(number)).quantize(Decimal(1).scaleb(-int(decimals)), ROUND_CEILING)
        )

    kept = _called("ROUND", nearest, number, of(_KEPT_DECIMALS))
    return _called("ROUNDUP", above, kept, of(decimals))


def greater(one: Live | float, other: Live | float) -> Live:
    """The larger of two numbers."""
    return _called("MAX", max, of(one), of(other))


def _normal_density(number: Live) -> Live:
    """The density of the standard normal distribution."""
    return _exponential(-(number * number) / 2) / sqrt(2 * pi)


def when(condition: Live, then: Live | float | str, otherwise: Live | float | str) -> Live:
    """One of two values, depending on a condition."""
    chosen, other = of(then), of(otherwise)
    return Live(
        f"IF({condition.text},{chosen.text},{other.text})",
        chosen.value if condition.value else other.value,
    )


def or_nothing(formula: Live) -> Live:
    """The formula, with an empty cell instead of an error."""
    is_error = not isinstance(formula.value, str) and isnan(formula.value)
    return Live(f'IFERROR({formula.text},"")', "" if is_error else formula.value)


def both(one: Live, other: Live) -> Live:
    """Whether two conditions hold."""
    return Live(f"AND({one.text},{other.text})", bool(one.value and other.value))


def are_zero_or_above(cells: Sequence[Live]) -> Live:
    """Whether all of these neighbouring cells have numbers of at least 0.

    An empty cell has no number.
    """
    where = range_of(cells)
    text = f"AND(COUNT({where})={len(cells)},MIN({where})>=0)"
    return Live(text, all(not isinstance(cell.value, str) and cell.value >= 0 for cell in cells))


def as_number(cell: Live) -> Live:
    """The number of a cell, or 0 for words."""
    return Live(f"N({cell.text})", 0 if isinstance(cell.value, str) else cell.value)


def if_number(cell: Live, formula: Live) -> Live:
    """The formula if the cell has a number, otherwise the words of the cell."""
    has_words = isinstance(cell.value, str)
    return Live(
        f"IF(ISNUMBER({cell.text}),{formula.text},{cell.text})",
        cell.value if has_words else formula.value,
    )


def total_of(cells: Sequence[Live]) -> Live:
    """The sum of neighbouring cells. Words count as 0."""
    values = [cell.value for cell in cells if not isinstance(cell.value, str)]
    return Live(f"SUM({range_of(cells)})", sum(values))


def squares_of(cells: Sequence[Live]) -> Live:
    """The sum of the squares of neighbouring cells. Words count as 0."""
    values = [cell.value for cell in cells if not isinstance(cell.value, str)]
    return Live(f"SUMSQ({range_of(cells)})", sum(value * value for value in values))


def one_of(cells: Sequence[Live], position: Live) -> Live:
    """The cell at a position among neighbouring cells, counted from 1."""
    assert isinstance(position.value, int)
    return Live(f"INDEX({range_of(cells)},{position.text})", cells[position.value - 1].value)


def position_of(word: Live, cells: Sequence[Live]) -> Live:
    """The position of a text among neighbouring cells, counted from 1."""
    found = [cell.value for cell in cells].index(word.value) + 1
    return Live(f"MATCH({word.text},{range_of(cells)},0)", found)


def range_of(cells: Sequence[Live]) -> str:
    """Neighbouring cells as a range for formulas."""
    return f"{cells[0].text}:{cells[-1].text.rpartition('!')[2]}"


def number_text(number: Live) -> Live:
    """The number as config.json spells it, with a decimal point in every locale."""
    assert not isinstance(number.value, str)
    text = f'SUBSTITUTE({number.text}&"",",",".")'
    return Live(text, f"{Decimal(repr(number.value)).normalize():f}")


def listed_with_commas(numbers: Sequence[Live]) -> Live:
    """The numbers as config.json spells them, separated by commas."""
    texts = [number_text(number) for number in numbers]
    return Live(
        "(" + '&", "&'.join(text.text for text in texts) + ")",
        ", ".join(str(text.value) for text in texts),
    )


def joined_texts(*texts: Live) -> Live:
    """The texts one after another."""
    return Live(
        "(" + "&".join(text.text for text in texts) + ")",
        "".join(str(text.value) for text in texts),
    )


_ROUNDING_VARIANCE = of(1) / 12
_LEAST_VARIANCE = 1e-9
_SHORTFALL_AT_1 = 0.0021


@dataclass(frozen=True, slots=True)
class LiveNoise:
    """One draw. `parameter` is sigma under zCDP, and the scale under pure DP."""

    is_zcdp: Live
    parameter: Live

    def margin(self, confidence: Live, draws: int = 1) -> Live:
        """The margin of error of a sum of `draws` draws."""
        spread = _normal_quantile((1 + confidence) / 2)
        gaussian = _whole_above(spread * _before_rounding(draws * self._squared) - 0.5)
        if draws == 1:
            tail = (1 - confidence) / 2
            geometric = _whole_below(-self.parameter * logarithm(tail * (1 + self._failure)))
        else:
            success = 1 - self._failure
            variance = 2 * self._failure / (success * success)
            geometric = _whole_above(spread * _before_rounding(draws * variance) - 0.5)
        return greater(0, when(self.is_zcdp, gaussian, geometric))

    def quantile(self, chance: Live) -> Live:
        """The smallest k with P[X <= k] >= chance."""
        gaussian = _whole_above(_normal_quantile(chance) * self._deviation - 0.5)
        upper = _whole_above(-self.parameter * logarithm((1 - chance) * (1 + self._failure))) - 1
        lower = -_whole_below(-self.parameter * logarithm(chance * (1 + self._failure)))
        is_upper = chance.is_above(self._failure / (1 + self._failure))
        return when(self.is_zcdp, gaussian, when(is_upper, upper, lower))

    def at_least(self, least: Live) -> Live:
        """P[X >= least]."""
        gaussian = _normal_cdf(-(least - 0.5) / self._deviation)
        return when(self.is_zcdp, gaussian, self._geometric_tail(least))

    def mean_given_at_least(self, least: Live) -> Live:
        """E[X | X >= least]."""
        cut = (least - 0.5) / self._deviation
        gaussian = self._squared / self._deviation * _normal_density(cut) / _normal_cdf(-cut)
        outside = greater(least, 1 - least)
        beyond = self._failure / (1 - self._failure)
        geometric = (
            self._geometric_upper_tail(outside) * (outside + beyond) / self._geometric_tail(least)
        )
        return when(self.is_zcdp, gaussian, geometric)

    def _geometric_tail(self, least: Live) -> Live:
        upper, lower = self._geometric_upper_tail(least), 1 - self._geometric_upper_tail(1 - least)
        return when(least.is_above(0), upper, lower)

    def _geometric_upper_tail(self, least: Live) -> Live:
        return _exponential(-least / self.parameter) / (1 + self._failure)

    @property
    def _squared(self) -> Live:
        return self.parameter * self.parameter

    @property
    def _deviation(self) -> Live:
        return _before_rounding(self._squared)

    @property
    def _failure(self) -> Live:
        return _exponential(-1 / self.parameter)


def _before_rounding(variance: Live) -> Live:
    """The standard deviation of a normal distribution that has this variance after rounding."""
    return root(greater(variance - _ROUNDING_VARIANCE, _LEAST_VARIANCE))


def least_rho(margin: Live, confidence: Live, stability: Live, share: Live) -> Live:
    """A rho of a level that achieves the margin at 95 %, at most 0.1 % above the smallest one.

    The rounded normal distribution alone asks for too little: 0.204 % at a margin of 1, and less
    than 0.0021 over the cube of any margin. Another millionth covers the rounding of a spreadsheet.
    """
    spread = _normal_quantile((1 + confidence) / 2)
    sigma_squared = ((margin + 0.5) / spread).to_the(2) + _ROUNDING_VARIANCE
    enough = of(1.000001) + of(_SHORTFALL_AT_1) / margin.to_the(3)
    return stability / (2 * share * sigma_squared) * enough


_INK, _INPUT, _QUIET = "#1d2733", "#fff3c4", "#e8eef5"


class Styles:
    """The formats of cells. Cells with the format `input` may be changed."""

    def __init__(self, workbook: Workbook) -> None:
        base: dict[str, object] = {
            "font_name": "Calibri",
            "font_size": 11,
            "font_color": _INK,
            "valign": "vcenter",
        }

        def style(**more: object) -> Format:
            return workbook.add_format(base | more)

        filled = {"bg_color": _INPUT, "border": 1, "border_color": "#b58900"}
        self.text = style()
        self.note = style(indent=1)
        self.wrapped = style(text_wrap=True, valign="top")
        self.title = style(bold=True, font_size=16)
        self.section = style(bold=True, font_size=12)
        self.answer = style(bold=True, font_size=13, font_color="#0b5394")
        self.link = style(font_color="#0b5394", underline=1)
        head = {
            "bold": True,
            "bg_color": _QUIET,
            "text_wrap": True,
            "valign": "bottom",
            "border": 1,
        }
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
        self.code_framed = style(
            **code, text_wrap=True, valign="top", border=2, border_color="#b58900"
        )
        self.percent = style(num_format="0.00%")
        self.average = style(num_format="#,##0.00")
        self.times = style(num_format="0.00")
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
        value = content.value if isinstance(content, Live) else content
        if isinstance(content, Live):
            if not isinstance(value, str) and isnan(value):
                raise ArithmeticError(
                    f"{self.name} {row}, {column}: the formula {content.text} has no value"
                )
            self.worksheet.write_formula(row, column, "=" + content.text, style, value)
        else:
            write = (
                self.worksheet.write_string
                if isinstance(content, str)
                else self.worksheet.write_number
            )
            write(row, column, content, style)
        # the names of sheets need no quotes
        return Live(
            f"{self.name}!{xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True)}", value
        )

    def print_two_wide(self) -> None:
        """Print on two sheets of paper side by side.

        Each has the first column, whose texts must fit in it.
        """
        self.worksheet.fit_to_pages(2, 0)
        self.worksheet.repeat_columns(0)
        self.worksheet.print_across()

    def put_row(
        self, row: int, first: int, contents: Iterable[Live | float | str], style: Format
    ) -> list[Live]:
        """Write neighbouring cells, from column `first`, and return references to them."""
        return [
            self.put(row, column, content, style)
            for column, content in enumerate(contents, start=first)
        ]

    def put_heads(self, row: int, contents: Sequence[str], styles: Styles, column: int = 0) -> None:
        """Write the heads of a table that begins in this column.

        Heads of numbers are right-aligned.
        """
        for offset, content in enumerate(contents):
            is_text = offset == column == 0
            self.put(row, column + offset, content, styles.head if is_text else styles.number_head)
        self.worksheet.set_row(row, 66)
