"""Levels of a few bits: every combination of words is run, and nothing that is published costs more than was charged.

Output distributions of neighbours are exact up to rounding: no check here fails or passes by chance.
docs/privacy.md#every-word says what this shows, and what it does not.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests import every_word
from tests.every_word import CutTable, EveryCombination, SmallLevel, letters_of, outputs_of, revealed
from tests.inside import (
    DiscreteGaussian,
    DiscreteLaplace,
    Stage,
    compiled_module,
    noisy_count_module,
    tabulate_level_module,
)


@pytest.fixture(autouse=True)
def small_levels_on_arrays(request, monkeypatch):
    """To compile loops would take longer than all small levels together. The large ones do, as runs do."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(compiled_module, "_LEAST_WORK_INSTEAD_OF_ARRAYS", 1 << 60)


ONE_CELL, TWO_CELLS = ("present",), ("gender",)

TOTALS = SmallLevel("zcdp", Fraction(1, 2), "0.5", (2,), "0.8", word_bits=4, most_noise=7, shapes=(ONE_CELL,))
PURE = replace(TOTALS, definition="puredp", budget=Fraction(2), most_noise=4)
TABLES = SmallLevel("zcdp", Fraction(1, 2), "0.5", (1,), "0.8", word_bits=2, most_noise=4)
ANY_AND_ONLY = replace(PURE, thresholds=(1,), suppress="0.6", word_bits=1, most_noise=2, members=("any", "only"))
UNIT_OF_TWO = replace(PURE, suppress="0.6", word_bits=3, most_noise=5, most_records=2, most_size=2)


def sizes(*neighbours):
    """Neighbours with one group each, whose records differ in nothing."""
    return [(((before,),), ((after,),)) for before, after in neighbours]


def of_gender(*neighbours):
    """Neighbours with one group each, whose records have one of two genders."""
    return [((before,), (after,)) for before, after in neighbours]


def in_every_group(groups, before, after):
    return [((before,) * groups, (after,) * groups)]


SMALL = {
    "totals": (TOTALS, sizes((0, 1))),
    "tables of two cells": (TABLES, of_gender(((0, 0), (1, 0)))),
    "nothing suppressed": (replace(TOTALS, suppress=None, word_bits=3, most_noise=12), sizes((0, 1))),
    "two groups of one record": (ANY_AND_ONLY, in_every_group(2, (0,), (1,))),
    "a unit of two records": (UNIT_OF_TWO, sizes((0, 2))),
}
LARGE = {
    "totals, words of 6 bits": (replace(TOTALS, word_bits=6, most_noise=9, most_size=3), sizes((0, 1), (1, 2), (2, 3))),
    "pure totals, words of 6 bits": (replace(PURE, word_bits=6, most_noise=9), sizes((0, 1))),
    "tables, words of 4 bits": (
        replace(TABLES, word_bits=4, most_noise=5, most_size=2),
        of_gender(((0, 0), (1, 0)), ((0, 0), (0, 1)), ((0, 1), (1, 1))),
    ),
    "pure tables, words of 4 bits": (
        replace(TABLES, definition="puredp", budget=Fraction(3, 2), word_bits=4, most_noise=4),
        of_gender(((0, 0), (0, 1))),
    ),
    "tables, nothing suppressed": (replace(TABLES, suppress=None, most_noise=10), of_gender(((0, 0), (1, 0)))),
    "three shapes": (
        replace(TABLES, thresholds=(1, 2), shapes=(ONE_CELL, TWO_CELLS), stage_1="0.25"),
        of_gender(((0, 0), (1, 0))),
    ),
    "tables of two groups": (
        replace(ANY_AND_ONLY, shapes=(TWO_CELLS,), budget=Fraction(3)),
        in_every_group(2, (0, 0), (0, 1)),
    ),
    "two groups, one of them with a record": (
        replace(PURE, thresholds=(1,), suppress="0.6", word_bits=1, most_noise=3, codes=2),
        [(((0,), (1,)), ((1,), (1,))), (((0,), (0,)), ((0,), (1,)))],
    ),
    "tables of a unit": (
        replace(TABLES, stage_1="0.75", most_noise=6, most_records=2, most_size=2),
        of_gender(((0, 0), (2, 0)), ((0, 0), (1, 1))),
    ),
}
WITHOUT_SLACK = {
    "nothing suppressed", "tables, nothing suppressed", "two groups of one record", "a unit of two records",
    "pure totals, words of 6 bits", "pure tables, words of 4 bits", "tables of two groups",
    "two groups, one of them with a record",
}  # fmt: skip


def assert_costs_what_was_charged(name, level, neighbours):
    found = revealed(level, neighbours)
    assert found.wrong == []
    least = 1 - 1e-9 if name in WITHOUT_SLACK else 0.9  # if it could be far below, too little would be looked at
    assert least < found.share_of_charge < 1 + 1e-9


@pytest.mark.parametrize("name", SMALL)
def test_no_output_reveals_more_than_was_charged(name):
    assert_costs_what_was_charged(name, *SMALL[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_no_output_of_a_larger_level_reveals_more_than_was_charged(name):
    assert_costs_what_was_charged(name, *LARGE[name])


SEARCH, LEAST_WORD, PREFIX = (
    tabulate_level_module.indices_whose_noise_may_exceed,
    CutTable.least_word_above,
    noisy_count_module._prefix,
)


def searched_above(stage, more):
    """The search for empty groups with another limit in one stage."""

    def search(value, first, end, right):
        return SEARCH(value + more * (right.event.stage is stage), first, end, right)

    return search


def not_searched(stage):
    """The search that finds nothing in one stage."""

    def search(value, first, end, right):
        return SEARCH(value, first, first if right.event.stage is stage else end, right)

    return search


def without_the_last(value, first, end, right):
    """The search that ends one group too early."""
    return SEARCH(value, first, end - 1, right)


def next_word(table, value):
    """The word after the one that may be undecided."""
    return min(LEAST_WORD(table, value) + (1 << (64 - table.word_bits)), 2**64 - 1)


SEARCHED = (tabulate_level_module, "indices_whose_noise_may_exceed")
PLANTED = {
    "totals just above T are not found": (*SEARCHED, searched_above(Stage.STAGE_2, 1)),
    "tables at the first threshold are not found": (*SEARCHED, searched_above(Stage.STAGE_1, 1)),
    "undecided words are not found": (CutTable, "least_word_above", next_word),
    "no table is found": (*SEARCHED, not_searched(Stage.STAGE_1)),
    "no total is found": (*SEARCHED, not_searched(Stage.STAGE_2)),
    "the last group of a range is not found": (*SEARCHED, without_the_last),
}


def broken_claims(level):
    """Sentences about neighbours; those about single runs are apart."""
    wrong = revealed(level, sizes((0, 1))).wrong
    assert any("are not those of reading every group" in sentence for sentence in wrong)
    return [sentence for sentence in wrong if "was charged" in sentence]


@pytest.mark.parametrize("name", PLANTED)
def test_lazy_reading_that_is_off_by_one_costs_more_and_is_seen(name, monkeypatch):
    monkeypatch.setattr(*PLANTED[name])
    assert broken_claims(PURE)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLANTED if "last" not in name])  # this one costs zCDP too little
def test_lazy_reading_that_is_off_by_one_is_seen_with_gaussian_noise(name, monkeypatch):
    monkeypatch.setattr(*PLANTED[name])
    assert broken_claims(replace(TOTALS, most_noise=4))


def test_a_search_that_finds_a_few_more_groups_changes_nothing(monkeypatch):
    monkeypatch.setattr(*SEARCHED, searched_above(Stage.STAGE_2, -1))
    assert revealed(PURE, sizes((0, 1))).wrong == []


def first_cell(right, shape, cell, extension=0):
    """The address of the shape's first cell, whatever the cell."""
    return PREFIX(right, shape, min(cell, 0), extension)


def test_cells_with_the_same_noise_are_seen(monkeypatch):
    monkeypatch.setattr(noisy_count_module, "_prefix", first_cell)
    level = replace(TABLES, most_noise=3)
    assert any("divergence" in sentence for sentence in revealed(level, of_gender(((0, 0), (1, 0)))).wrong)


def test_every_word_is_run_and_its_chance_is_that_of_its_bits():
    for noise in (DiscreteGaussian(Fraction(2)), DiscreteLaplace(Fraction(1))):
        letters = letters_of(noise, 4, 7)
        words = letters.blocks[:, 0] >> np.uint64(60)
        assert np.bincount(words.astype(np.int64), letters.chances).tolist() == pytest.approx([1 / 16] * 16, abs=1e-15)
        chances = [float(noise.probability(value).mid()) for value in range(-6, 7)]
        inside = np.abs(letters.values) < 7
        by_value = np.bincount(letters.values[inside] + 6, letters.chances[inside])
        assert by_value.tolist() == pytest.approx(chances, abs=1e-15)


def test_a_draw_at_an_address_of_nothing_is_refused():
    words = EveryCombination(TOTALS)
    with pytest.raises(KeyError):
        words.words(int(Stage.STAGE_2) << 40 | 9 << 32, np.arange(3))
    with pytest.raises(KeyError):
        words.words(int(Stage.STAGE_2) << 40 | 1, np.arange(3))


def test_a_level_is_charged_before_its_words_are_read(monkeypatch):
    monkeypatch.setattr(every_word.Ledger, "charge", lambda *_: pytest.fail("charged"))
    monkeypatch.setattr(EveryCombination, "words", lambda *_: pytest.fail("read"))
    with pytest.raises(pytest.fail.Exception, match="charged"):
        outputs_of(TOTALS, ((0,),), EveryCombination(TOTALS))
