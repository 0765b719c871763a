"""Tables of cases as text, and cases for the night."""

from ast import literal_eval

import pytest


def cases_of(table):
    """A case a line, its cells between bars; an empty cell is an empty text."""
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def values_of(table):
    """As `cases_of`, but each cell is a Python literal."""
    return [[literal_eval(cell) for cell in case] for case in cases_of(table)]


def later(*case):
    """A case among those of a parametrised test, of the slow suite alone."""
    return pytest.param(*case, marks=pytest.mark.slow)
