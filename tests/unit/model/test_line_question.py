"""Questions about people of a sex, from one age to another."""

import itertools
from math import prod

import pytest

from tests.cases import values_of
from tests.inside import SAFETAB_H, SAFETAB_P, SEX_BY_AGE_4, Refusal, WantedCells

ASKED = SAFETAB_P.line_question
SHAPES = {shape.label: shape for shape in SAFETAB_P.shapes}


@pytest.mark.parametrize(
    ("shape", "sex", "ages", "cells", "words"),
    values_of(
        """
        "total" | "both" | (0, 115) | (0,) | "all ages"
        "sex_age_4" | "both" | (0, 115) | (0, 1, 2, 3, 4, 5, 6, 7) | "all ages"
        "sex_age_4" | "male" | (0, 115) | (0, 1, 2, 3) | "male all ages"
        "sex_age_4" | " Female " | (18, 64) | (5, 6) | "female 18 to 64"
        "sex_age_4" | "both" | (65, 999) | (3, 7) | "65 and over"
        "sex_age_9" | "female" | (0, 4) | (9,) | "female 0 to 4"
        """
    ),
)
def test_a_question_is_about_the_cells_inside_its_range(shape, sex, ages, cells, words):
    assert ASKED.cells_of(SHAPES[shape], sex, ages) == WantedCells(cells, words)


def test_a_question_without_arguments_is_about_everybody():
    assert ASKED.cells_of(SEX_BY_AGE_4) == WantedCells(tuple(range(8)), "all ages")


@pytest.mark.parametrize(
    ("shape", "sex", "ages", "argument", "words"),
    values_of(
        """
        "total" | "men" | (0, 115) | "sex" | 'must be both, male or female, not "men"'
        "total" | "male" | (0, 115) | "sex" | "the group has a total alone"
        "total" | "male" | (0, 17) | "ages" | "0 to 17 is not a range of this table: the group has a total alone"
        "sex_age_4" | "both" | (0, 20) | "ages" | "its ages begin at 0, 18, 45, 65"
        "sex_age_4" | "both" | (18, 17) | "ages" | "18 to 17 is not a range of this table"
        """
    ),
)
def test_what_a_table_does_not_have_is_refused(shape, sex, ages, argument, words):
    refusal = ASKED.cells_of(SHAPES[shape], sex, ages)
    assert refusal.argument == argument
    assert words in refusal.message


def test_a_question_is_read_as_people_type_it():
    refusal = Refusal("ages", "must be like 0-17 or 65+.")
    for texts, arguments in values_of(
        """
        {"sex": "both"} | {}
        {"sex": "male"} | {"sex": "male"}
        {"sex": "both", "ages": "0-17"} | {"ages": (0, 17)}
        {"sex": "female", "ages": " 65 + "} | {"sex": "female", "ages": (65, 115)}
        {"sex": "both", "ages": "both"} | None
        {"sex": "both", "ages": ""} | None
        """
    ):
        assert ASKED.parsed(texts) == (refusal if arguments is None else arguments)


def test_lines_are_named_by_sex_and_ages():
    assert [ASKED.name_of(line) for line in SEX_BY_AGE_4.lines[1:5]] == [
        "both, all ages", "male, all ages", "male, 0 to 17", "male, 18 to 44",
    ]  # fmt: skip


@pytest.mark.parametrize("product", [SAFETAB_P, SAFETAB_H], ids=lambda one: one.name)
def test_the_cells_of_a_shape_are_its_divisions_crossed(product):
    for shape in product.shapes:
        divisions = product.line_question.divisions_of(shape)
        assert prod(len(division.parts) for division in divisions) == shape.cells
        crossed = itertools.product(*(division.parts for division in divisions))
        words = [" ".join(part.words for part in parts) for parts in crossed]
        of_cell = {line.first_cell: line.words for line in shape.lines if line.cells == 1}
        assert words == [of_cell[cell] for cell in range(shape.cells)]
