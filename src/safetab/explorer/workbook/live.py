"""Formulas of a spreadsheet that know their value: spelled once, so the cached number can't drift from the formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from math import exp, floor, isnan, log, nan, pi, sqrt
from statistics import NormalDist

from xlsxwriter.utility import xl_rowcol_to_cell

Value = float | str | bool
_NORMAL = NormalDist()
_KEPT_DECIMALS = 12
_PLAIN = re.compile("[A-Za-z0-9 .:]*")


@dataclass(frozen=True, slots=True)
class Live:
    """A formula, or a part of one, and what it comes to in this workbook; nan for what a spreadsheet calls an error."""

    text: str
    value: Value

    def __add__(self, other: Live | float) -> Live:
        return _joined(self, "+", other, lambda a, b: a + b)

    def __radd__(self, other: float) -> Live:
        return of(other) + self

    def __sub__(self, other: Live | float) -> Live:
        return _joined(self, "-", other, lambda a, b: a - b)

    def __rsub__(self, other: float) -> Live:
        return of(other) - self

    def __mul__(self, other: Live | float) -> Live:
        return _joined(self, "*", other, lambda a, b: a * b)

    def __rmul__(self, other: float) -> Live:
        return of(other) * self

    def __truediv__(self, other: Live | float) -> Live:
        return _joined(self, "/", other, lambda a, b: a / b)

    def __rtruediv__(self, other: float) -> Live:
        return of(other) / self

    def __neg__(self) -> Live:
        return of(0) - self

    def to_the(self, power: Live | float) -> Live:
        return _joined(self, "^", power, lambda a, b: a**b)

    def is_above(self, other: Live | float) -> Live:
        return _joined(self, ">", other, lambda a, b: a > b)

    def is_word(self, word: str) -> Live:
        return Live(f"({self.text}={of(word).text})", self.value == word)


def of(constant: Live | float | str) -> Live:
    """A constant of ours: a number or a plain word, never a text that was given."""
    if isinstance(constant, Live):
        return constant
    if isinstance(constant, str):
        if not _PLAIN.fullmatch(constant):
            raise ValueError("only plain words are part of a formula")
        return Live(f'"{constant}"', constant)
    return Live(f"{constant!r}".upper(), constant)


def _joined(left: Live, sign: str, right: Live | float, come_to: Callable[[float, float], Value]) -> Live:
    other = of(right)
    return Live(f"({left.text}{sign}{other.text})", _come_to(come_to, left, other))


def _called(name: str, come_to: Callable[..., Value], *arguments: Live) -> Live:
    texts = ",".join(argument.text for argument in arguments)
    return Live(f"{name}({texts})", _come_to(come_to, *arguments))


def _come_to(come_to: Callable[..., Value], *arguments: Live) -> Value:
    values = [argument.value for argument in arguments]
    if any(isinstance(value, str) or isnan(value) for value in values):
        return nan
    try:
        return come_to(*values)
    except (ArithmeticError, ValueError):
        return nan


def root(number: Live) -> Live:
    return _called("SQRT", sqrt, number)


def logarithm(number: Live) -> Live:
    return _called("LN", log, number)


def exponential(number: Live) -> Live:
    return _called("EXP", exp, number)


def whole_below(number: Live) -> Live:
    """The greatest integer that is not above."""
    return _called("INT", floor, number)


def whole_above(number: Live) -> Live:
    """The least integer that is not below; by INT, since programs disagree about CEILING of negative numbers."""
    return -whole_below(-number)


def rounded(number: Live) -> Live:
    return _called("INT", floor, number + 0.5)


def rounded_up(number: Live, decimals: int) -> Live:
    """The least decimal that is not below; what a spreadsheet's 15 digits can't hold is not counted as above."""
    kept = _called("ROUND", _nearest, number, of(_KEPT_DECIMALS))
    return _called("ROUNDUP", _above, kept, of(decimals))


def _nearest(number: float, decimals: float) -> float:
    return float(round(Decimal(repr(number)), int(decimals)))


def _above(number: float, decimals: float) -> float:
    return float(Decimal(repr(number)).quantize(Decimal(1).scaleb(-int(decimals)), ROUND_CEILING))


def greater(one: Live | float, other: Live | float) -> Live:
    return _called("MAX", max, of(one), of(other))


def normal_cdf(number: Live) -> Live:
    return _called("NORMSDIST", _NORMAL.cdf, number)


def normal_quantile(chance: Live) -> Live:
    return _called("NORMSINV", _NORMAL.inv_cdf, chance)


def normal_density(number: Live) -> Live:
    return exponential(-(number * number) / 2) / sqrt(2 * pi)


def when(condition: Live, then: Live | float | str, otherwise: Live | float | str) -> Live:
    chosen, other = of(then), of(otherwise)
    return Live(f"IF({condition.text},{chosen.text},{other.text})", chosen.value if condition.value else other.value)


def or_nothing(formula: Live) -> Live:
    """An empty cell instead of an error."""
    is_error = not isinstance(formula.value, str) and isnan(formula.value)
    return Live(f'IFERROR({formula.text},"")', "" if is_error else formula.value)


def both(one: Live, other: Live) -> Live:
    return Live(f"AND({one.text},{other.text})", bool(one.value and other.value))


def are_zero_or_above(cells: Sequence[Live]) -> Live:
    """Whether each of neighbouring cells holds a number, and none is negative; an empty cell holds none."""
    where = range_of(cells)
    text = f"AND(COUNT({where})={len(cells)},MIN({where})>=0)"
    return Live(text, all(not isinstance(cell.value, str) and cell.value >= 0 for cell in cells))


def as_number(cell: Live) -> Live:
    """The cell's number, and 0 for words."""
    return Live(f"N({cell.text})", 0 if isinstance(cell.value, str) else cell.value)


def if_number(cell: Live, formula: Live) -> Live:
    """The cell's own words where it has no number."""
    has_words = isinstance(cell.value, str)
    return Live(f"IF(ISNUMBER({cell.text}),{formula.text},{cell.text})", cell.value if has_words else formula.value)


def total_of(cells: Sequence[Live]) -> Live:
    """The sum of neighbouring cells; words count for nothing."""
    values = [cell.value for cell in cells if not isinstance(cell.value, str)]
    return Live(f"SUM({range_of(cells)})", sum(values))


def one_of(cells: Sequence[Live], position: Live) -> Live:
    """One of neighbouring cells; the first has position 1."""
    assert isinstance(position.value, int)
    return Live(f"INDEX({range_of(cells)},{position.text})", cells[position.value - 1].value)


def position_of(word: Live, cells: Sequence[Live]) -> Live:
    """Where in neighbouring cells a text stands; the first has position 1."""
    found = [cell.value for cell in cells].index(word.value) + 1
    return Live(f"MATCH({word.text},{range_of(cells)},0)", found)


def range_of(cells: Sequence[Live]) -> str:
    """Neighbouring cells, as formulas call them."""
    return f"{cells[0].text}:{cells[-1].text.rpartition('!')[2]}"


def cell(sheet: str, row: int, column: int, value: Value) -> Live:
    """A reference to a cell; sheets have names that need no quotes."""
    return Live(f"{sheet}!{xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True)}", value)


def number_text(number: Live) -> Live:
    """The number as config.json spells it, with a point in every country."""
    assert not isinstance(number.value, str)
    text = f'SUBSTITUTE({number.text}&"",",",".")'
    return Live(text, f"{Decimal(repr(number.value)).normalize():f}")


def listed_with_commas(numbers: Sequence[Live]) -> Live:
    texts = [number_text(number) for number in numbers]
    return Live("(" + '&", "&'.join(text.text for text in texts) + ")", ", ".join(str(text.value) for text in texts))


def followed_by(*texts: Live) -> Live:
    return Live("(" + "&".join(text.text for text in texts) + ")", "".join(str(text.value) for text in texts))


def a_space() -> Live:
    return of(" ")
