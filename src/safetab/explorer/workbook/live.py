"""Spreadsheet formulas that know their value, and the noise in such formulas.

The cached number of a cell can't differ from its formula. One geometric draw is exact. The discrete
Gaussian and sums of geometric draws are approximated by a normal distribution rounded to whole persons,
whose variance is smaller by 1/12 (Sheppard's correction). The sheet "What is exact" says how far off this is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import partial
from math import exp, floor, isnan, log, nan, pi, sqrt
from statistics import NormalDist

from xlsxwriter.utility import xl_rowcol_to_cell

Value = float | str | bool
_KEPT_DECIMALS = 12
_PLAIN = re.compile("[A-Za-z0-9 .:]*")


@dataclass(frozen=True, slots=True)
class Live:
    """A formula or a part of one, with its value in this workbook. The value is nan for an error."""

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
        """The formula raised to a power."""
        return _joined(self, "^", power, lambda a, b: a**b)

    def is_above(self, other: Live | float) -> Live:
        """Whether the number is above another."""
        return _joined(self, ">", other, lambda a, b: a > b)

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


def _joined(left: Live, sign: str, right: Live | float, value_of: Callable[[float, float], Value]) -> Live:
    """Two formulas with an operator between them, in parentheses."""
    other = of(right)
    return Live(f"({left.text}{sign}{other.text})", _value(value_of, left, other))


def _called(name: str, value_of: Callable[..., Value], *arguments: Live) -> Live:
    """A call of a spreadsheet function."""
    texts = ",".join(argument.text for argument in arguments)
    return Live(f"{name}({texts})", _value(value_of, *arguments))


def _value(value_of: Callable[..., Value], *arguments: Live) -> Value:
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
exponential: _Function = partial(_called, "EXP", exp)
whole_below: _Function = partial(_called, "INT", floor)
normal_cdf: _Function = partial(_called, "NORMSDIST", NormalDist().cdf)
normal_quantile: _Function = partial(_called, "NORMSINV", NormalDist().inv_cdf)


def whole_above(number: Live) -> Live:
    """The number rounded up. It uses INT, because programs disagree about CEILING of negative numbers."""
    return -whole_below(-number)


def rounded(number: Live) -> Live:
    """The nearest integer, with halves rounded up."""
    return whole_below(number + 0.5)


def rounded_up(number: Live, decimals: int) -> Live:
    """The number rounded up to these places. Digits beyond the 15 of a spreadsheet don't count."""

    def nearest(number: float, decimals: float) -> float:
        return float(round(Decimal(repr(number)), int(decimals)))

    def above(number: float, decimals: float) -> float:
        return float(Decimal(repr(number)).quantize(Decimal(1).scaleb(-int(decimals)), ROUND_CEILING))

    kept = _called("ROUND", nearest, number, of(_KEPT_DECIMALS))
    return _called("ROUNDUP", above, kept, of(decimals))


def greater(one: Live | float, other: Live | float) -> Live:
    """The larger of two numbers."""
    return _called("MAX", max, of(one), of(other))


def normal_density(number: Live) -> Live:
    """The density of the standard normal distribution."""
    return exponential(-(number * number) / 2) / sqrt(2 * pi)


def when(condition: Live, then: Live | float | str, otherwise: Live | float | str) -> Live:
    """One of two values, depending on a condition."""
    chosen, other = of(then), of(otherwise)
    return Live(f"IF({condition.text},{chosen.text},{other.text})", chosen.value if condition.value else other.value)


def or_nothing(formula: Live) -> Live:
    """The formula, with an empty cell instead of an error."""
    is_error = not isinstance(formula.value, str) and isnan(formula.value)
    return Live(f'IFERROR({formula.text},"")', "" if is_error else formula.value)


def both(one: Live, other: Live) -> Live:
    """Whether two conditions hold."""
    return Live(f"AND({one.text},{other.text})", bool(one.value and other.value))


def are_zero_or_above(cells: Sequence[Live]) -> Live:
    """Whether all of these neighbouring cells have numbers of at least 0. An empty cell has no number."""
    where = range_of(cells)
    text = f"AND(COUNT({where})={len(cells)},MIN({where})>=0)"
    return Live(text, all(not isinstance(cell.value, str) and cell.value >= 0 for cell in cells))


def as_number(cell: Live) -> Live:
    """The number of a cell, or 0 for words."""
    return Live(f"N({cell.text})", 0 if isinstance(cell.value, str) else cell.value)


def if_number(cell: Live, formula: Live) -> Live:
    """The formula if the cell has a number, otherwise the words of the cell."""
    has_words = isinstance(cell.value, str)
    return Live(f"IF(ISNUMBER({cell.text}),{formula.text},{cell.text})", cell.value if has_words else formula.value)


def total_of(cells: Sequence[Live]) -> Live:
    """The sum of neighbouring cells. Words count as 0."""
    values = [cell.value for cell in cells if not isinstance(cell.value, str)]
    return Live(f"SUM({range_of(cells)})", sum(values))


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


def cell(sheet: str, row: int, column: int, value: Value) -> Live:
    """A reference to a cell. The names of sheets need no quotes."""
    return Live(f"{sheet}!{xl_rowcol_to_cell(row, column, row_abs=True, col_abs=True)}", value)


def number_text(number: Live) -> Live:
    """The number as config.json spells it, with a decimal point in every locale."""
    assert not isinstance(number.value, str)
    text = f'SUBSTITUTE({number.text}&"",",",".")'
    return Live(text, f"{Decimal(repr(number.value)).normalize():f}")


def listed_with_commas(numbers: Sequence[Live]) -> Live:
    """The numbers as config.json spells them, separated by commas."""
    texts = [number_text(number) for number in numbers]
    return Live("(" + '&", "&'.join(text.text for text in texts) + ")", ", ".join(str(text.value) for text in texts))


def joined_texts(*texts: Live) -> Live:
    """The texts one after another."""
    return Live("(" + "&".join(text.text for text in texts) + ")", "".join(str(text.value) for text in texts))


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
        spread = normal_quantile((1 + confidence) / 2)
        gaussian = whole_above(spread * _before_rounding(draws * self._squared) - 0.5)
        if draws == 1:
            tail = (1 - confidence) / 2
            geometric = whole_below(-self.parameter * logarithm(tail * (1 + self._failure)))
        else:
            success = 1 - self._failure
            variance = 2 * self._failure / (success * success)
            geometric = whole_above(spread * _before_rounding(draws * variance) - 0.5)
        return greater(0, when(self.is_zcdp, gaussian, geometric))

    def quantile(self, chance: Live) -> Live:
        """The smallest k with P[X <= k] >= chance."""
        gaussian = whole_above(normal_quantile(chance) * self._deviation - 0.5)
        upper = whole_above(-self.parameter * logarithm((1 - chance) * (1 + self._failure))) - 1
        lower = -whole_below(-self.parameter * logarithm(chance * (1 + self._failure)))
        is_upper = chance.is_above(self._failure / (1 + self._failure))
        return when(self.is_zcdp, gaussian, when(is_upper, upper, lower))

    def at_least(self, least: Live) -> Live:
        """P[X >= least]."""
        gaussian = normal_cdf(-(least - 0.5) / self._deviation)
        return when(self.is_zcdp, gaussian, self._geometric_tail(least))

    def mean_given_at_least(self, least: Live) -> Live:
        """E[X | X >= least]."""
        cut = (least - 0.5) / self._deviation
        gaussian = self._squared / self._deviation * normal_density(cut) / normal_cdf(-cut)
        outside = greater(least, 1 - least)
        beyond = self._failure / (1 - self._failure)
        geometric = self._geometric_upper_tail(outside) * (outside + beyond) / self._geometric_tail(least)
        return when(self.is_zcdp, gaussian, geometric)

    def _geometric_tail(self, least: Live) -> Live:
        upper, lower = self._geometric_upper_tail(least), 1 - self._geometric_upper_tail(1 - least)
        return when(least.is_above(0), upper, lower)

    def _geometric_upper_tail(self, least: Live) -> Live:
        return exponential(-least / self.parameter) / (1 + self._failure)

    @property
    def _squared(self) -> Live:
        return self.parameter * self.parameter

    @property
    def _deviation(self) -> Live:
        return _before_rounding(self._squared)

    @property
    def _failure(self) -> Live:
        return exponential(-1 / self.parameter)


def _before_rounding(variance: Live) -> Live:
    """The standard deviation of a normal distribution that has this variance after rounding."""
    return root(greater(variance - _ROUNDING_VARIANCE, _LEAST_VARIANCE))


def least_rho(margin: Live, confidence: Live, stability: Live, share: Live) -> Live:
    """A rho of a level that achieves the margin at 95 %, at most 0.1 % above the smallest one.

    The rounded normal distribution alone asks for too little: 0.204 % at a margin of 1, and less than
    0.0021 over the cube of any margin. Another millionth covers the rounding of a spreadsheet.
    """
    spread = normal_quantile((1 + confidence) / 2)
    sigma_squared = ((margin + 0.5) / spread).to_the(2) + _ROUNDING_VARIANCE
    enough = of(1.000001) + of(_SHORTFALL_AT_1) / margin.to_the(3)
    return stability / (2 * share * sigma_squared) * enough
