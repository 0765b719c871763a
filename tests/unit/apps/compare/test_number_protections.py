"""Protections of single numbers: what they publish, and what that tells."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import cases_of, digits_in, lines_in, values_of
from tests.counted_census import parsed
from tests.inside import (
    ExactTables,
    Known,
    Protection,
    PublishedTables,
    Rows,
    between,
    publish,
    rounding_module,
    told_once,
    windows_of,
)

CHI_SQUARE_1_AT_1E_6 = 23.93  # a fair draw is above it once in a million times


def tables_of(counts, keys=None, group=None, area=1_000):
    """Numbers of one group, with cell keys between 0 and 1."""
    size = len(counts)
    scaled = np.array([int(key * 2**64) for key in keys or [0.0] * size], np.uint64)
    true = np.array(counts, int)
    return ExactTables(true, scaled, true if group is None else np.full(size, group), np.full(size, area))


def drawn(spec, tables, seed=0):
    return publish(parsed(spec), tables, default_rng(seed))


def published_by(*given):
    return drawn(*given).numbers.tolist()


def many_published_by(spec, count, draws):
    counts = np.full(draws, count)
    return drawn(spec, ExactTables(counts, counts.astype(np.uint64), counts, counts), count).numbers.data


def known_of(size, least=0, most=60, *, is_total=False):
    return Known(np.full(size, least), np.full(size, most), np.ones(size), np.full(size, is_total))


def window_of(spec, number, *, is_total=False):
    """The chance of the published number by true count."""
    shown = PublishedTables.of(np.array([number or 0]), np.array([int(number is None)]))
    first, logs = windows_of(parsed(spec), shown, known_of(1, is_total=is_total)).of(0)
    return {place: np.exp(log) for place, log in enumerate(logs, first)}


# Rounding


@pytest.mark.parametrize(
    ("count", "rounded"),
    cases_of(
        """
        0 | 0
        1 |
        14 |
        15 | 20
        24 | 20
        25 | 20
        35 | 40
        99 | 100
        100 | 100
        124 | 100
        125 | 100
        126 | 150
        175 | 200
        999 | 1000
        1049 | 1000
        1050 | 1000
        1150 | 1200
        9999 | 10000
        10250 | 10000
        10251 | 10500
        99999 | 100000
        100500 | 100000
        101500 | 102000
        1234500 | 1234000
        1234501 | 1235000
        12345678 | 12350000
        334735155 | 334700000
        """
    ),
)  # fmt: skip
def test_the_ladder_has_seven_rows_and_halves_go_to_the_even_multiple(count, rounded):
    assert published_by("round:ladder=drb", tables_of([int(count)])) == [int(rounded) if rounded else None]


def test_the_10_5_rule_withholds_below_10_and_rounds_the_others_to_5():
    tables = tables_of([0, 1, 9, 10, 12, 13, 17, 18, 1_002])
    rounded = [None, None, 10, 10, 15, 15, 20, 1_000]
    assert published_by("round:rule=10-5", tables) == [0, *rounded]
    assert published_by("round:rule=10-5,zeros=withheld", tables) == [None, *rounded]


def test_rounding_to_a_base_keeps_nothing_back():
    assert published_by("round:base=5", tables_of([0, 2, 3, 7, 8])) == [0, 0, 5, 5, 10]
    assert published_by("round:base=10", tables_of([5, 15, 25])) == [0, 20, 20]


# Random rounding


def test_17_is_rounded_to_15_one_time_in_three_and_to_18_two_times():
    """Stats NZ's example. A chi-square test that rejects fair rounding once in a million, and chances off by 0.01."""
    draws = 300_000
    published = many_published_by("round-random:base=3", 17, draws)
    assert set(np.unique(published)) == {15, 18}
    ups = (published == 18).sum()
    chances = 2 / 3 + np.array([0, 0.01, -0.01])
    chi_squares = (ups - draws * chances) ** 2 / (draws * chances * (1 - chances))
    assert (chi_squares < CHI_SQUARE_1_AT_1E_6).tolist() == [True, False, False]


def test_every_rest_is_rounded_up_with_its_own_chance():
    for rest in range(5):
        ups = np.mean(many_published_by("round-random:base=5", 20 + rest, 100_000) == 25)
        assert abs(ups - rest / 5) < 5 * np.sqrt(0.25 / 100_000)  # false alarm: below 1e-6


def test_fixed_rounding_looks_only_at_the_people_counted():
    tables = tables_of([17, 17, 17, 3, 0], [0.6, 0.7, 0.0, 0.0, 0.0])
    fixed = [published_by("round-random:base=3,fixed=yes", tables, seed) for seed in range(5)]
    assert fixed == [[18, 15, 18, 3, 0]] * 5
    assert len({tuple(published_by("round-random:base=3", tables, seed)) for seed in range(20)}) > 1


# Suppression and selection


def test_suppression_withholds_1_to_below_and_zeros_if_asked():
    tables, shown = tables_of([0, 1, 2, 3, 50]), [None, None, 3, 50]
    assert published_by("suppress:below=3", tables) == [0, *shown]
    assert published_by("suppress:below=3,zeros=withheld", tables) == [None, *shown]


def test_secondary_suppression_gets_the_primary_pattern_and_its_bounds(monkeypatch):
    given = {}

    def secondary(tables, is_primary, **bounds):
        given.update(bounds, primary=[*is_primary])
        return tables.counts < 6, True  # not finished

    monkeypatch.setattr(rounding_module, "secondary", secondary)
    one_by_one = tables_of([1, 5, 6])
    assert published_by("suppress:below=3,secondary=lp", one_by_one) == [None, 5, 6]
    assert not given
    whole = replace(one_by_one, parts=Rows.of_lists(digits_in("0 1 01")))
    published = drawn("suppress:below=3,secondary=lp,range=2", whole)
    assert list(published.withheld_by) == [1, 1, 0]
    assert not published.is_finished
    assert given == {"primary": [True, False, False], "zeros_shown": True, "width": 2, "limit": 600.0}


@pytest.mark.parametrize(
    ("spec", "counts", "published", "given"),
    values_of(
        """
        "suppress:rule=1980" | [14, 9, 0] | [None, None, None] | {"group": 14}
        "suppress:rule=1980" | [15, 12, 2, 1, 0] | [15, 12, 0, 0, 0] | {"group": 15}
        "suppress:rule=1980" | [0, 0] | [0, 0] | {"group": 0}
        "threshold:people=100" | [99, 50] | [None, None] | {"group": 99}
        "threshold:people=100" | [100, 50] | [100, 50] | {"group": 100}
        "area:people=40" | [5, 39] | [None, None] | {"area": 39}
        "area:people=40" | [5, 39] | [5, 39] | {"area": 40}
        """
    ),
)
def test_rules_and_thresholds_look_at_the_group_or_at_the_area(spec, counts, published, given):
    assert published_by(spec, tables_of(counts, **given)) == published


@pytest.mark.parametrize(
    ("spec", "number", "is_total", "possible"),
    values_of(
        """
        "suppress:rule=1980" | 0 | False | (0, 3)
        "suppress:rule=1980" | None | False | (0, 15)
        "suppress:rule=1980" | None | True | (1, 15)
        "suppress:rule=1980" | 0 | True | (0, 1)
        "suppress:rule=1980" | 15 | True | (15, 16)
        "area:people=40" | None | False | (0, 40)
        "suppress:below=3" | None | False | (1, 3)
        "suppress:below=3,zeros=withheld" | None | False | (0, 3)
        "suppress:below=3,secondary=lp" | None | False | (1, 61)
        "suppress:below=3,secondary=lp,zeros=withheld" | None | False | (0, 61)
        """
    ),
)
def test_a_withheld_number_may_be_whatever_its_rules_withhold(spec, number, is_total, possible):
    """Anything, if it may be a secondary one."""
    assert window_of(spec, number, is_total=is_total) == dict.fromkeys(range(*possible), 1.0)


def test_a_total_that_is_there_is_at_least_as_large_as_its_threshold():
    spec = "threshold:people=10+round-random:base=3"
    assert list(window_of(spec, 9)) == [7, 8, 9, 10, 11]
    assert list(window_of(spec, 9, is_total=True)) == [10, 11]
    assert list(window_of(spec, None, is_total=True)) == list(range(10))


def test_the_design_of_the_tables_does_not_limit_changed_records():
    """A group of 20 people has no table because of its true size; after swapping 25 people may be counted."""
    known, published = known_of(1, most=21), PublishedTables.of(np.array([25]))
    of_changed, of_true = (windows_of(parsed("none"), published, of) for of in (known.of_changed_records, known))
    assert (of_changed.of(0)[0], len(of_changed.of(0)[1]), len(of_true.of(0)[1])) == (25, 1, 0)


def test_each_withheld_number_says_which_step_withheld_it_and_has_that_steps_window():
    protection = parsed("area:people=40+threshold:people=10+suppress:below=3")
    true = np.array([1, 1, 1, 30])
    tables = ExactTables(true, np.zeros(4, np.uint64), np.array([5, 5, 50, 50]), np.array([20, 100, 100, 100]))
    published = publish(protection, tables, default_rng(0))
    assert list(published.withheld_by) == [1, 2, 3, 0]
    assert list(published.numbers.data) == [0, 0, 0, 30]  # no true count below the mask
    windows = windows_of(protection, published, known_of(4))
    spans = [[windows.of(number)[0], len(windows.of(number)[1])] for number in range(4)]
    assert spans == values_of(
        """
        0 | 40
        0 | 10
        1 | 2
        30 | 1
        """
    )


# What every protection must satisfy

SPECS = lines_in("""
    none
    round:base=5
    round:base=4
    round:ladder=drb
    round:rule=10-5
    round:rule=10-5,zeros=withheld
    round-random:base=3
    round-random:base=3,fixed=yes
    round-random:base=10
    suppress:below=3
    suppress:below=10,zeros=withheld
    suppress:rule=1980
    cell-key:D=2,V=0.9
    cell-key:D=5,V=3,js=2,pstay=0.5
    cell-key:D=2,V=1.08,js=1
    threshold:people=10
    area:people=40+round-random:base=5
""")


def with_keys(counts, group, people, generator):
    return ExactTables(counts, generator.integers(0, 2**64, len(counts), dtype=np.uint64), group, people)


@pytest.mark.parametrize("spec", SPECS)
def test_windows_are_the_frequencies_of_what_is_published(spec):
    """For every true count, every published number has its chance in the window, within six standard errors."""
    protection, most, draws = parsed(spec), 30, 4_000
    generator = default_rng(40)
    true = np.repeat(np.arange(most + 1), draws)
    group = np.maximum(true, 15) if "1980" in spec else true  # shown tables; the withheld ones have a test above
    published = publish(protection, with_keys(true, group, np.full(len(true), 100), generator), generator)
    seen = published.numbers.data * 8 + published.withheld_by
    for each in np.unique(seen):
        number, withheld_by = divmod(int(each), 8)
        frequencies = np.bincount(true[(seen == each)], minlength=most + 1) / draws
        one = PublishedTables.of(np.array([number]), np.array([withheld_by]))
        first, logs = windows_of(protection, one, known_of(1, most=most)).of(0)
        chances = np.zeros(most + 1)
        chances[first : first + len(logs)] = np.exp(logs)
        assert np.abs(chances - frequencies).max() < 6 * np.sqrt(0.25 / draws)
        assert ((chances > 0) | (frequencies == 0)).all()
        assert len(logs) == 0 or (logs[0] > -np.inf and logs[-1] > -np.inf)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.startswith(("round-random", "cell-key"))])
def test_the_chances_of_all_that_can_be_published_sum_to_1_and_keep_the_mean(spec):
    protection = parsed(spec)
    numbers = np.arange(0, 80, getattr(protection.numbers, "base", 1))
    windows = windows_of(protection, PublishedTables.of(numbers), known_of(len(numbers)))
    both = np.zeros((2, 61))
    for place, number in enumerate(numbers):
        first, logs = windows.of(place)
        both[:, first : first + len(logs)] += np.exp(logs) * [[1], [number]]
    assert np.abs(both[:, :31] - [np.ones(31), np.arange(31)]).max() < 1e-9


@pytest.mark.parametrize("spec", SPECS)
def test_the_truth_lies_in_every_window_and_in_what_is_known(spec):
    protection, generator = parsed(spec), default_rng(41)
    true = generator.integers(0, 3_000, 5_000) // generator.integers(1, 300, 5_000)
    published = publish(protection, with_keys(true, true, true + 20, generator), generator)
    known = replace(known_of(5_000), least=np.maximum(true - 2, 0), most=true + 1)
    windows = windows_of(protection, published, known)
    sizes = np.diff(windows.starts)
    assert (windows.firsts <= true).all()
    assert (windows.firsts >= known.least).all()
    assert (true < windows.firsts + sizes).all()
    assert (windows.firsts + sizes - 1 <= known.most).all()
    assert np.isfinite(windows.logs[windows.starts[:-1] + true - windows.firsts]).all()


@pytest.mark.parametrize("spec", [spec for spec in SPECS if "threshold" not in spec])
def test_no_published_number_is_further_off_than_the_largest_error(spec):
    protection, generator = parsed(spec), default_rng(42)
    true = generator.integers(0, 300, 5_000)
    published = publish(protection, with_keys(true, true + 20, true + 20, generator), generator)
    largest = 0 if protection.numbers is None else protection.numbers.largest_error
    assert largest is None or np.abs(published.numbers - true).max() == largest


@pytest.mark.parametrize(
    "spec",
    lines_in(
        """
        none
        round:base=1
        round-random:base=1
        suppress:below=1
        cell-key:D=2,V=0
        threshold:people=1
        area:people=1
        """
    ),
)
def test_at_strength_zero_every_number_is_exact_and_its_window_has_one_count(spec):
    protection, generator = parsed(spec), default_rng(1)
    true = np.arange(1, 200)
    published = publish(protection, with_keys(true, true, true, generator), generator)
    windows = windows_of(protection, published, known_of(len(true), most=10**6))
    assert (published.numbers == true).all()
    assert np.array_equal(windows.firsts, true)
    assert (np.diff(windows.starts) == 1).all()
    assert not windows.logs.any()


def test_the_same_draw_gives_the_same_numbers_and_another_draw_others():
    one, same, other = (published_by("round-random:base=3", tables_of([4] * 50), seed) for seed in (1, 1, 2))
    assert one == same != other


def test_no_numbers_at_all_are_no_problem():
    for spec in SPECS:
        assert len(windows_of(parsed(spec), drawn(spec, tables_of([])), known_of(0)).logs) == 0


def test_steps_without_a_protection_of_numbers_are_exact():
    assert list(publish(Protection("none", "no protection"), tables_of([7]), default_rng(0)).numbers) == [7]


def test_of_equal_sums_with_equal_errors_the_last_one_alone_tells():
    rows, three = Rows.of_lists(digits_in("01 1 01")), np.full(3, 2)
    once = told_once(between(three, three + 1, known_of(3)), rows)
    assert [len(once.of(number)[1]) for number in range(3)] == [0, 2, 2]
    assert once.of(2)[0] == 2
