"""The published tables line by line, compared with literals."""

import pytest

from tests.cases import values_of
from tests.inside import SEX_BY_AGE_4, SEX_BY_AGE_9, SEX_BY_AGE_23, TOTAL

AGES_4 = "Under 18 years, 18 to 44 years, 45 to 64 years, 65 years and over"
AGES_9 = (
    "Under 5 years, 5 to 17 years, 18 to 24 years, 25 to 34 years, 35 to 44 years, 45 to 54 years, 55 to 64 years, "
    "65 to 74 years, 75 years and over"
)
AGES_23 = (
    "Under 5 years, 5 to 9 years, 10 to 14 years, 15 to 17 years, 18 and 19 years, 20 years, 21 years, "
    "22 to 24 years, 25 to 29 years, 30 to 34 years, 35 to 39 years, 40 to 44 years, 45 to 49 years, "
    "50 to 54 years, 55 to 59 years, 60 to 61 years, 62 to 64 years, 65 and 66 years, 67 to 69 years, "
    "70 to 74 years, 75 to 79 years, 80 to 84 years, 85 years and over"
)


@pytest.mark.parametrize(
    ("shape", "table_id", "ages"),
    [(SEX_BY_AGE_4, "T02001", AGES_4), (SEX_BY_AGE_9, "T02002", AGES_9), (SEX_BY_AGE_23, "T02003", AGES_23)],
)
def test_a_sex_by_age_table_has_the_lines_of_the_paper(shape, table_id, ages):
    total, *lines = shape.lines
    assert total.table_id == "T01001"
    assert total.number == 1
    assert total.stub == "Total"
    assert {line.table_id for line in lines} == {table_id}
    assert ", ".join(line.stub for line in lines) == f"Total, Male, {ages}, Female, {ages}"
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


def test_a_total_has_one_line():
    (line,) = TOTAL.lines
    assert line.table_id == "T01001"
    assert line.number == 1
    assert line.stub == "Total"
    assert line.cells == 1


@pytest.mark.parametrize(
    ("number", "first", "cells", "labels"),
    values_of("""
        1 | 0 | 8 | None
        2 | 0 | 4 | ("male", 0, 115)
        7 | 4 | 4 | ("female", 0, 115)
        11 | 7 | 1 | ("female", 65, 115)
    """),
)
def test_lines_sum_the_right_cells(number, first, cells, labels):
    (line,) = (line for line in SEX_BY_AGE_4.lines if (line.table_id, line.number) == ("T02001", number))
    assert line.first_cell == first
    assert line.cells == cells
    assert (labels or line.labels) == line.labels
