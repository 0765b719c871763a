"""Programs in real and in whole numbers; the seven people of a block, from its published statistics."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from tests.cases import cases_of
from tests.inside import IntegerProgram, LinearProgram, linear_programs_module

LIMIT = 60.0
NO_SOLUTION = None, True
OLDEST = 115


def said(program):
    answer = program.solution(LIMIT)
    return answer.values, answer.is_finished


def test_a_linear_program_finds_the_cheapest_solution_after_each_change():
    program = LinearProgram()
    x, y = program.add_unknown(0, 10, cost=1), program.add_unknown(0, 10, cost=3)
    program.add_row([x, y], [1, 1], 4, 20)
    assert program.solution() == pytest.approx([4, 0])
    program.set_cost(x, 5)
    assert program.solution() == pytest.approx([0, 4])
    program.set_bounds(y, 0, 1)
    assert program.solution() == pytest.approx([3, 1])
    program.set_bounds(x, 0, 1)
    assert program.solution() is None
    assert 0 < program.seconds < 1


def test_an_integer_program_knows_that_halves_are_no_people():
    program = IntegerProgram()
    x, y = program.add_unknown(0, 5), program.add_unknown(1, 4, holes=[0, 2, 3, 9])
    program.add_row([x, y], [2, 1], 6, 6)
    assert program.solution(LIMIT).values.tolist() == [1, 4]
    program.set_bounds(x, 2, 5)
    assert said(program) == NO_SOLUTION


def test_an_unknown_without_values_has_no_solution():
    program = IntegerProgram()
    program.add_unknown(2, 3, holes=[2, 3])
    assert said(program) == NO_SOLUTION


def test_a_limit_that_comes_first_proves_nothing():
    program = IntegerProgram()
    unknowns = [program.add_unknown(0, 1, cost=-1) for _ in range(40)]
    for row in np.random.default_rng(1).integers(-9, 10, (40, 40)).tolist():
        program.add_row(unknowns, row, -3, 3)
    assert not program.solution(1e-9).is_finished


def test_the_same_program_has_the_same_solution():
    def values():
        program = IntegerProgram()
        unknowns = [program.add_unknown(0, 9) for _ in range(30)]
        for start in range(25):
            program.add_row(unknowns[start : start + 6], [1] * 6, 20, 25)
        return program.solution(LIMIT).values.tolist()

    assert values() == values()


def test_nothing_loads_or_tools_at_start_up():
    modules = "attacks.solver, protections.rounding, linear_programs"
    imports = "; ".join(f"import safetab.apps.compare.{module}" for module in modules.split(", "))
    words = f"{imports}; import sys; print([name for name in sys.modules if 'ortools' in name or name == 'pandas'])"
    assert subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_where_or_tools_is_not_installed_it_is_said(monkeypatch):
    assert linear_programs_module.is_available()
    monkeypatch.setattr(linear_programs_module, "find_spec", lambda _: None)
    assert not linear_programs_module.is_available()


STATISTICS = """
1A | 7 | 30 | 266
2A | 4 | 30 | 134
2B | 3 | 30 | 132
2C | 4 | 51 | 194
2D | 3 | 24 | 72
3B | 4 | 51 | 216
4A | 3 | 36 | 110
"""
"""Name, people, median age and sum of ages."""


class Block:
    """Seven people in order of age, each female or not, black or not, married or not.

    Source of the statistics: Garfinkel, Abowd and Martindale, "Understanding Database Reconstruction
    Attacks on Public Data" (2018), table 1. Counts of 1 or 2 people are withheld there.
    """

    def __init__(self, without=None):
        self.program = IntegerProgram()
        self.ages = [self.unknown(1, OLDEST) for _ in range(7)]
        for younger, older in pairwise(self.ages):
            self.row({older: 1, younger: -1}, 0, OLDEST)
        self.row({self.ages[2]: 1}, 18, OLDEST)  # fewer than three are under 18 (and under 5)
        self.row({self.ages[4]: 1}, 1, 63)  # fewer than three are 64 or older
        self.is_female, self.is_black, self.is_married, self.is_adult = (
            [self.bit() for _ in range(7)] for _ in range(4)
        )
        for age, is_married, is_adult in zip(self.ages, self.is_married, self.is_adult, strict=True):
            self.row({age: 1, is_married: -15}, 0, OLDEST)
            self.row({age: 1, is_adult: -18}, 0, OLDEST)
            self.row({age: 1, is_adult: -OLDEST}, -OLDEST, 17)
        is_black_female = self.both(self.is_female, self.is_black)
        is_married_adult = self.both(self.is_married, self.is_adult)
        self.row(dict.fromkeys(self.is_adult, 1) | dict.fromkeys(is_married_adult, -1), 0, 2)  # single adults: withheld
        self.row(dict.fromkeys(is_black_female, 1), 2, 3)  # so no other sex and race has more than two
        members = {
            "1A": [self.bit(1) for _ in range(7)],
            "2A": self.is_female,
            "2B": self.others(self.is_female),
            "2C": self.is_black,
            "2D": self.others(self.is_black),
            "3B": is_married_adult,
            "4A": is_black_female,
        }
        for name, *statistic in cases_of(STATISTICS):
            if name != without:
                self.add_statistic(members[name], *map(int, statistic))

    def unknown(self, low, high):
        return self.program.add_unknown(low, high)

    def bit(self, least=0):
        return self.unknown(least, 1)

    def row(self, terms, low, high):
        self.program.add_row(terms.keys(), terms.values(), low, high)

    def both(self, first, second):
        found = [self.bit() for _ in first]
        for one, other, is_both in zip(first, second, found, strict=True):
            self.row({is_both: 2, one: -1, other: -1}, -1, 0)
        return found

    def others(self, bits):
        found = [self.bit() for _ in bits]
        for bit, is_other in zip(bits, found, strict=True):
            self.row({bit: 1, is_other: 1}, 1, 1)
        return found

    def add_statistic(self, members, people, median, sum_of_ages):
        """Name the first, second, ... member; their ages have the median and the sum."""
        ages = [self.unknown(1, OLDEST) for _ in range(people)]
        is_nth = [[self.bit() for _ in members] for _ in range(people)]
        for age, bits in zip(ages, is_nth, strict=True):
            self.row(dict.fromkeys(bits, 1), 1, 1)
            for bit, of_person in zip(bits, self.ages, strict=True):
                self.row({age: 1, of_person: -1, bit: OLDEST}, -OLDEST, OLDEST)
                self.row({age: -1, of_person: 1, bit: OLDEST}, -OLDEST, OLDEST)
        for member, bits in zip(members, zip(*is_nth, strict=True), strict=True):
            self.row(dict.fromkeys(bits, 1) | {member: -1}, 0, 0)
        for bits, later in pairwise(is_nth):
            places = {bit: -place for place, bit in enumerate(bits)} | {bit: place for place, bit in enumerate(later)}
            self.row(places, 1, 7)
        self.row(dict.fromkeys(ages, 1), sum_of_ages, sum_of_ages)
        middle = ages[(people - 1) // 2 : people // 2 + 1]
        self.row(dict.fromkeys(middle, 1), len(middle) * median, len(middle) * median)

    def data_sets(self):
        """Every data set that fits; the last question proves that no other fits."""
        sets = set()
        bits = [*self.is_female, *self.is_black, *self.is_married]
        while (answer := self.program.solution(LIMIT)).values is not None:
            values = answer.values
            people = zip(self.ages, self.is_female, self.is_black, self.is_married, strict=True)
            words = [f"{values[a]}{'MF'[values[f]]}{'WB'[values[b]]}{'SM'[values[m]]}" for a, f, b, m in people]
            sets.add(" ".join(words))
            self.exclude({unknown: int(values[unknown]) for unknown in [*self.ages, *bits]})
        assert answer.is_finished
        return sets

    def exclude(self, found):
        """Ask for another data set: some unknown is smaller or greater."""
        differs = []
        for unknown, value in found.items():
            is_less, is_more = self.bit(), self.bit()
            self.row({unknown: 1, is_less: OLDEST}, 0, value - 1 + OLDEST)
            self.row({unknown: 1, is_more: -OLDEST}, value + 1 - OLDEST, OLDEST)
            differs += [is_less, is_more]
        self.row(dict.fromkeys(differs, 1), 1, len(differs))


THE_BLOCK = "8FBS 18MWS 24FWS 30MWM 36FBM 66FBM 84MBM"
ANOTHER = "2FBS 12MWS 24FWM 30MBM 36FWS 72FBM 90MBM"


def test_one_data_set_fits_the_statistics_of_the_block_and_two_fit_without_that_of_black_females():
    assert Block().data_sets() == {THE_BLOCK}
    assert Block("4A").data_sets() == {THE_BLOCK, ANOTHER}
