"""Codes are numbered by the public list: any texts, more than 10,000 of them, are counted as plain Python does."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.inside import (
    MOST_CODES,
    NOT_DIGITS,
    RACE_CODES,
    Classification,
    CodeColumns,
    CodeMaps,
    CodeNumbers,
    IterationMap,
    PatternTable,
    ThreadPatterns,
    digits_of,
    iteration_lists,
    numbers_of_codes,
)

CODES = [f"{letter}{number:05d}.é" for letter in "ZA" for number in range(5_500)]


def test_numbers_follow_the_order_of_texts():
    assert numbers_of_codes(["b", "10", "9", "a"]) == {"10": 1, "9": 2, "a": 3, "b": 4}


def test_numbers_fit_into_16_bits_or_the_codes_are_refused():
    most = numbers_of_codes([str(code) for code in range(MOST_CODES)])
    assert max(most.values()) == MOST_CODES < np.iinfo(np.int16).max
    with pytest.raises(ValueError, match="32,767 codes, and at most 32,766"):
        numbers_of_codes([str(code) for code in range(MOST_CODES + 1)])


def test_columns_hold_the_codes_of_their_classification_alone():
    number_of = numbers_of_codes(["1000", "8999", "9000"])
    races = CodeNumbers(RACE_CODES, number_of)
    spelled = digits_of(pa.array(["8999", "9000", "1001", "Null", "1000"]), 4)
    assert races.of_digits(np.append(spelled, NOT_DIGITS)).tolist() == [2, -1, -1, -1, 1, -1]
    texts = CodeNumbers(replace(RACE_CODES, digits=None), number_of)
    assert texts.of_texts(["8999", "9000", "1001", None, "1000"]).tolist() == [2, -1, -1, -1, 1]


@pytest.mark.parametrize("most_answers", [3, *(pytest.param(most, marks=pytest.mark.slow) for most in (1, 8))])
def test_many_text_codes_are_in_the_groups_that_plain_python_finds(most_answers):
    dice, groups = random.Random(most_answers), [f"G{number}" for number in range(40)]
    number_of = numbers_of_codes(CODES)

    def map_of(most):
        around = ({code: dice.choice(groups) for code in CODES if dice.random() < 0.8} for _ in range(2))
        return CodeMaps(*around, most)

    maps = [IterationMap(map_of(most_answers), map_of(1)) for _ in range(2)]
    answers = [dice.choices(CODES, k=dice.randint(1, 8)) for _ in range(1_000)]
    answers += [[code] * dice.randint(1, 8) for code in CODES]  # every code occurs, often alone
    both = list(zip(answers, dice.choices(CODES, k=len(answers)), strict=True))
    several = CodeNumbers(CodeColumns(Classification("several", ("A", "B")), "a code"), number_of)
    rows = [[*several.of_texts(codes), *[0] * (8 - len(codes)), number_of[one]] for codes, one in both]
    table = PatternTable(most_answers)
    patterns = ThreadPatterns(table).numbers_of(np.int16(rows).T.copy())
    assert patterns.min() >= 0
    numbers = {group: number for number, group in enumerate(groups)}
    lists = iteration_lists(table.codes, maps, numbers, (number_of, number_of))
    for pattern, given in zip(patterns.tolist(), both, strict=True):
        found = lists.iterations[lists.starts[pattern] : lists.starts[pattern + 1]].tolist()
        expected = set().union(*(of_map.iterations_of(*given) for of_map in maps))
        assert sorted(found) == sorted(numbers[group] for group in expected)
