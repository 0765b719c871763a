"""Tables of cases as text, and cases for the night."""

from ast import literal_eval

import pytest


def cases_of(table):
    """A case a line, its cells between bars; an empty cell is an empty text."""
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def values_of(table):
    """As `cases_of`, but each cell is a Python literal."""
    return [[literal_eval(cell) for cell in case] for case in cases_of(table)]


def lines_in(text):
    """Its lines, without what is around each."""
    return [line.strip() for line in text.strip().splitlines()]


def digits_in(text):
    """Lists of digits, a word each: "01 2" is [[0, 1], [2]]."""
    return [[int(digit) for digit in word] for word in text.split()]


def later(*case):
    """A case among those of a parametrised test, of the slow suite alone."""
    return pytest.param(*case, marks=pytest.mark.slow)
