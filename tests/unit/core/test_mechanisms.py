import multiprocessing
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import accumulate, chain, pairwise, product
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.cases import digits_in, lines_in, values_of
from tests.inside import (
    DETAILED,
    PERSONS,
    PR_PASS,
    SAFETAB_P,
    SEX_BY_AGE_4,
    TOTAL,
    US,
    US_PASS,
    AddressedBits,
    DrawingRight,
    ExactCounts,
    InversionTable,
    Ledger,
    MeasurementEvent,
    OverspentBudget,
    PopulationGroupLevel,
    PrivacyDefinition,
    Sensitivity,
    SharedBits,
    Stage,
    _prefix,
    _write_indices_from,
    compiled,
    compiled_module,
    indices_whose_noise_may_exceed,
    noisy_count,
    take_counts,
    write_indices_from,
)
from tests.noises import gaussian, laplace

LEVEL = PopulationGroupLevel(US.area_level("TRACT"), DETAILED)
NOISE = gaussian("5000/159")
KEY = bytes(range(32))
BITS = AddressedBits(KEY)


@pytest.fixture(autouse=True)
def no_work_so_far(monkeypatch):
    """What is compiled doesn't depend on other tests."""
    monkeypatch.setattr(compiled_module, "_work_so_far", Counter())


def ledger(cost=1, level=LEVEL):
    """With a budget for one level, and bits of its own."""
    return Ledger({(PERSONS, level): Fraction(cost)}, AddressedBits(KEY))


def event(stage, cost, level=LEVEL, definition=PrivacyDefinition.ZCDP):
    return MeasurementEvent(SAFETAB_P, PERSONS, level, stage, definition, Sensitivity.of_groups(9), Fraction(cost))


COST = Fraction(1431, 10000)  # 9 / (2 rho) = 5000 / 159
STAGE_2 = event(Stage.STAGE_2, COST)


def right(stage=Stage.STAGE_2, level=LEVEL):
    """To draw NOISE."""
    return ledger(COST, level).charge(event(stage, COST, level))


def nobody(groups, cells=1):
    return ExactCounts(np.arange(groups), np.zeros((groups, cells), dtype=np.int64))


# The ledger


def test_a_level_can_be_spent_but_not_overspent():
    spending = ledger("0.1")
    spending.charge(event(Stage.STAGE_1, "0.01"))
    with pytest.raises(OverspentBudget):
        spending.charge(event(Stage.STAGE_2, Fraction(9, 100) + Fraction(1, 10**30)))
    with pytest.raises(OverspentBudget, match="charged already"):
        spending.charge(event(Stage.STAGE_1, "0.01"))
    spending.charge(event(Stage.STAGE_2, "0.09"))
    assert [spending.spent(each) for each in (US_PASS, PR_PASS)] == [Fraction(1, 10), 0]


def test_total_only_groups_and_adaptive_ones_share_a_levels_budget():
    spending, costs = ledger(), {Stage.STAGE_1: "0.1", Stage.STAGE_2: "0.9", Stage.TOTAL_ONLY: 1}
    for each in costs.items():
        spending.charge(event(*each))
    assert spending.spent(US_PASS) == 1
    assert [one.stage for one in spending.events] == [*costs]


def test_nothing_is_free_and_nothing_is_charged_to_a_level_without_a_budget():
    for budget, cost in values_of(
        """
        1 | 0
        1 | -1
        0 | "0.01"
        """
    ):
        with pytest.raises(OverspentBudget):
            ledger(budget).charge(event(Stage.STAGE_1, cost))
    with pytest.raises(OverspentBudget):
        Ledger({}, AddressedBits(KEY)).charge(STAGE_2)


def test_what_an_event_draws_follows_from_what_it_pays():
    assert right().event.noise == NOISE
    assert event(Stage.STAGE_1, "1e-9").noise == gaussian(Fraction(9 * 10**9, 2))
    assert event(Stage.STAGE_1, "0.5", LEVEL, PrivacyDefinition.PURE_DP).noise == laplace(18)


def test_nobody_but_the_ledger_makes_a_right_to_draw():
    with pytest.raises(TypeError):
        DrawingRight(STAGE_2, AddressedBits(KEY), object())


# Addresses and bits


def test_no_two_numbers_of_a_run_share_an_address():
    rights = [right(stage, level) for level in US.levels for stage in Stage]
    prefixes = [
        _prefix(one, table, cell, extension)
        for one in rights
        for table in PERSONS.shapes
        for cell in range(table.cells)
        for extension in (0, 1, 2**24 - 1)
    ]
    assert len(set(prefixes)) == len(prefixes)
    assert max(prefixes) < 2**64


def test_a_number_without_room_in_an_address_is_refused():
    """It would have the address, and so the noise, of another number."""
    for most in {"shape": 255}, {"cell": 255}, {"extension": 2**24 - 1}:
        prefix_of_numbers(**most)
        for number in -1, *(each + 1 for each in most.values()):
            with pytest.raises(OverflowError, match="no room"):
                prefix_of_numbers(**dict.fromkeys(most, number))


def prefix_of_numbers(shape=0, cell=0, extension=0):
    """The prefix of the last event, of a shape with this number in its family."""
    family = SimpleNamespace(number_of=lambda _: shape)
    last_right = SimpleNamespace(address_prefix=2**24 - 1, event=SimpleNamespace(family=family))
    return _prefix(last_right, TOTAL, cell, extension)


def test_neighbouring_addresses_have_their_own_bits_however_they_are_asked_for():
    places = np.array([0, 1, 5, 2**31, 2**40 - 1])
    words = BITS.words(7, places)
    assert words.tolist() == [BITS.words(7, places[[n]])[0].tolist() for n in range(len(places))]
    for first, end in (0, 100_000), (99_000, 99_010), (2**40 - 3, 2**40 + 3), (5, 5):
        parts = [(start, words.tolist()) for start, words in BITS.first_words_of_range(7, first, end)]
        assert [word for _, part in parts for word in part] == BITS.words(7, np.arange(first, end))[:, 0].tolist()
        begins = accumulate((len(part) for _, part in parts), initial=first)
        assert [start for start, _ in parts] + [end] == list(begins)


def test_threads_that_read_at_once_have_their_own_bits():
    """Each keeps what it has, while the other goes on: a shared buffer would be overwritten."""
    both_have_read = threading.Barrier(2, timeout=30)

    def read(prefix):
        found = []
        for _, words in BITS.first_words_of_range(prefix, 0, 50_000):
            both_have_read.wait()
            found += words.tolist()
            both_have_read.wait()
        return found

    with ThreadPoolExecutor(2) as pool:
        for prefix, found in zip((7, 8), pool.map(read, (7, 8)), strict=True):
            assert found == BITS.words(prefix, np.arange(50_000))[:, 0].tolist()


def test_the_bits_of_an_address_are_aes_of_it():
    """By another way through the library, at both ends of a batch and far out."""
    aes = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    places = np.array([0, 1, 2**14 - 1, 2**14, 2**14 + 1, 2**40 - 1, 2**62])
    dense = np.arange(2**14 + 2)
    for prefix in 0, 7, 2**64 - 1:
        for asked in places, dense:
            expected = [aes.update((prefix << 64 | place).to_bytes(16, "big")) for place in asked.tolist()]
            assert BITS.words(prefix, asked).tobytes() == b"".join(expected)


@pytest.mark.parametrize("other_prefix", [None, 8, 7 + (1 << 24), 7 + (1 << 32), 7 + (1 << 40)])
def test_bits_of_different_prefixes_and_of_neighbouring_groups_are_unrelated(other_prefix):
    """Of 128 * 20,000 pairs of bits half agree; false alarm 1e-9 (six standard deviations)."""
    words = BITS.words(7, np.arange(20_001))
    others = words[1:] if other_prefix is None else BITS.words(other_prefix, np.arange(20_000))
    one, other = (np.unpackbits(part.copy().view(np.uint8)) for part in (words[:-1], others))
    assert abs(np.count_nonzero(one == other) - len(one) / 2) < 6 * np.sqrt(len(one)) / 2


def first_words(_):
    return AddressedBits.of_the_operating_system().words(0, np.array([0])).tobytes()


def test_two_runs_have_two_keys_and_forked_processes_share_nothing():
    assert len({first_words(0) for _ in range(50)}) == 50
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert len(set(pool.map(first_words, range(8), chunksize=1))) == 8


def test_a_key_has_256_bits():
    for length in 0, 16, 31, 33:
        with pytest.raises(ValueError, match="32 bytes"):
            AddressedBits(bytes(length))


def test_two_ledgers_can_not_share_bits():
    shared = AddressedBits(KEY)
    Ledger({}, shared)
    with pytest.raises(SharedBits, match="belong to one ledger"):
        Ledger({}, shared)


def test_a_right_draws_from_the_bits_of_its_ledger_alone():
    budgets = {(PERSONS, LEVEL): COST}
    ledgers = (Ledger(budgets, AddressedBits.of_the_operating_system()) for _ in range(2))
    noises = [noisy_count(nobody(2000), TOTAL, each.charge(STAGE_2))[:, 0] for each in ledgers]
    assert abs(np.corrcoef(*noises)[0, 1]) < 7 / np.sqrt(2000)


def test_what_was_charged_can_be_read_again_and_is_the_same():
    spending = ledger(COST)
    with pytest.raises(OverspentBudget, match="nothing was charged"):
        spending.right_to_read_again(STAGE_2)
    rights = spending.charge(STAGE_2), spending.right_to_read_again(STAGE_2)
    assert len({noisy_count(nobody(50), TOTAL, each).tobytes() for each in rights}) == 1
    assert len(spending.events) == 1


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    ("there", "wanted"),
    values_of(
        """
        0 | 9
        9 | 0
        1 | 1
        40 | 40
        90 | 15
        15 | 90
        100 | 100
        """
    ),
)
def test_the_counts_of_groups_are_theirs_and_0_where_there_are_none(many, there, wanted):
    compiled_module._work_so_far[take_counts] = many << 30
    for seed, cells in product(range(10), (1, 3)):
        rng = np.random.default_rng(seed)
        indices, asked = (np.sort(rng.choice(100, size, replace=False)) for size in (there, wanted))
        counts = ExactCounts(indices, rng.integers(1, 10**12, (there, cells)))
        known = dict(zip(indices.tolist(), counts.confidential_counts.tolist(), strict=True))
        found = counts.of_groups(asked)
        assert found.indices.tolist() == asked.tolist()
        assert found.confidential_counts.tolist() == [known.get(one, [0] * cells) for one in asked.tolist()]


@pytest.mark.parametrize("places", digits_in("11 32 021"))
def test_counts_are_of_groups_that_rise(places):
    with pytest.raises(ValueError, match="indices must rise"):
        nobody(5).of_groups(np.array(places))
    with pytest.raises(ValueError, match="must rise"):
        ExactCounts(np.array(places), np.zeros((len(places), 1), dtype=np.int64))


# Inversion

FEW, MANY = 1, 1 << 20


def values_by(table, words, draws):
    """The values, and the positions of the undecided ones, by the way that is taken for so many draws."""
    blocks = np.array([[word << (64 - table.word_bits), 0] for word in words], dtype=np.uint64)
    compiled_module._work_so_far.clear()
    values, undecided = table.inverter(draws)(blocks)
    return values.tolist(), undecided.tolist()


def test_draws_are_compiled_once_there_were_many():
    table = InversionTable(NOISE)
    assert table.inverter(FEW) == table._values
    assert [table.inverter(MANY // 4) for _ in range(4)] == [table._values, *[table._values_compiled] * 3]
    assert table.inverter(FEW) == table._values_compiled


@pytest.mark.parametrize("draws", [FEW, MANY])
@pytest.mark.parametrize("noise", [gaussian("1/2"), NOISE, laplace(10), gaussian("1e-12")])
def test_every_word_gives_the_value_that_its_probability_says(noise, draws):
    """All 256 words of 8 bits: each value gets its words, and only words on a threshold are undecided."""
    ends = [None, *(noise.quantile(Fraction(word, 256)) for word in range(1, 256)), None]
    values, undecided = values_by(InversionTable(noise, 8), range(256), draws)
    for word, (least, most) in enumerate(pairwise(ends)):
        if word in undecided:
            assert values[word] == 0  # nothing is added
            assert least is None or most is None or least < most
        else:
            assert values[word] == least == most


@pytest.mark.parametrize("noise", [NOISE, laplace(10), gaussian("1e-12"), gaussian(10**8)])
def test_many_draws_and_few_give_the_same_values(noise):
    """Random words, both ends, and every threshold with its neighbours."""
    table = InversionTable(noise)
    thresholds = [table.least_word_above(value) for value in range(-1000, 1000)]
    near = {min(max(word + step, 0), 2**64 - 1) for word in thresholds for step in (-1, 0, 1)}
    words = [*BITS.words(3, np.arange(10_000))[:, 0].tolist(), *near, 0, 2**64 - 1]
    some_at_once = [values_by(table, words[first : first + 1000], FEW)[0] for first in range(0, len(words), 1000)]
    assert values_by(table, words, MANY) == values_by(table, words, FEW)
    assert values_by(table, words * 4, FEW)[0][: len(words)] == list(chain(*some_at_once))  # by the guide
    assert set(thresholds) <= {words[position] for position in values_by(table, words, MANY)[1]}


def test_an_undecided_draw_reads_more_bits_until_it_is_certain():
    on_a_threshold = NOISE.lower_thresholds(256)[-1]  # P[X <= -1] to 256 bits
    first_128, next_128 = on_a_threshold >> 128, on_a_threshold & (2**128 - 1)
    # with 0 the threshold was rounded down, so U < F(-1)
    for shift, value, blocks in values_of(
        """
        -1 | -1 | [1]
        1 | 0 | [1]
        0 | -1 | [1, 2]
        """
    ):
        asked = []

        def more_bits(block, shift=shift, asked=asked):
            asked.append(block)
            return next_128 + shift if block == 1 else 0

        assert InversionTable(NOISE).resolved(first_128, more_bits) == value
        assert asked == blocks


@pytest.mark.parametrize("bits", [0, 2**128 - 1])
def test_a_draw_at_the_very_end_of_the_table_is_decided_too(bits):
    assert abs(InversionTable(NOISE).resolved(bits, lambda _: 2**127)) > 70  # 13 sigma out, one draw in 2^128


def test_the_least_word_above_a_value_is_sharp():
    table = InversionTable(NOISE)
    for value in -3, 0, 21:
        word = table.least_word_above(value)
        assert values_by(table, [word - 1, word, word + 1], FEW) == ([value, 0, value + 1], [1])
    assert table.least_word_above(-(10**6)) == 0
    assert table.least_word_above(10**6) == 2**64 - 1


def test_noise_has_the_certified_mean_and_variance():
    """400,000 draws; the variance of a sample variance is near 2 sigma^4 / n, and six standard deviations alarm once in 1e9."""
    drawn = noisy_count(nobody(400_000), TOTAL, right())
    exact = float(NOISE.variance().mid())
    assert abs(drawn.mean()) < 6 * np.sqrt(exact / len(drawn))
    assert abs(drawn.var() - exact) < 6 * exact * np.sqrt(2 / len(drawn))


def test_noise_is_added_and_does_not_depend_on_the_counts():
    empty, full = (
        noisy_count(ExactCounts(np.array([3, 77, 1000]), np.full((3, 8), count)), SEX_BY_AGE_4, right())
        for count in (0, 50)
    )
    assert (full - empty == 50).all()
    assert len(np.unique(empty)) > 8


def test_counts_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="another shape"):
        noisy_count(nobody(1, 18), SEX_BY_AGE_4, right())


@pytest.mark.parametrize("value", [-30, -1, 0, 5, 21])
def test_groups_with_large_noise_are_found_without_drawing_all(value):
    drawn = noisy_count(nobody(70_000), TOTAL, right())[:, 0]
    for first, end in (0, 70_000), (100, 200):
        large = first + np.flatnonzero(drawn[first:end] > value)
        assert indices_whose_noise_may_exceed(value, first, end, right()).tolist() == large.tolist()


def test_large_words_are_found_alike_by_the_loop_and_on_arrays():
    half = 2**63
    in_blocks = np.array([half - 1, half, 0, 2 * half - 1, half + 1, 1], dtype=np.uint64).repeat(2)[::2]
    for some in in_blocks, in_blocks[:0], in_blocks[2:3]:
        expected = [100 + position for position, word in enumerate(some.tolist()) if word >= half]
        for write in write_indices_from, compiled(write_indices_from), _write_indices_from:
            indices = np.full(len(some) + 2, -1)
            assert write(some, np.uint64(half), 100, indices) == len(expected)
            assert indices.tolist() == expected + [-1] * (len(indices) - len(expected))


def test_a_word_that_is_undecided_counts_as_large(monkeypatch):
    threshold = InversionTable(NOISE).least_word_above(21)
    words = np.array([threshold - 1, threshold, threshold + 1], dtype=np.uint64)
    monkeypatch.setattr(AddressedBits, "first_words_of_range", lambda *_: iter([(50, words)]))
    assert indices_whose_noise_may_exceed(21, 50, 53, right()).tolist() == [51, 52]


@pytest.mark.parametrize(
    "sigma",
    lines_in("""
    1e-6
    0.3
    1
    1.5307
    8
    75
"""),
)
def test_variances_are_right_to_the_last_digit(sigma):
    squared = Fraction(sigma) ** 2
    with mpmath.workdps(40):
        exact, reach = mpmath.mpf(squared.numerator) / squared.denominator, int(20 * float(sigma)) + 20
        weights = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * exact)) for k in range(reach)]
        expected = 2 * mpmath.fsum(k * k * weight for k, weight in enumerate(weights))
        expected /= 2 * mpmath.fsum(weights) - weights[0]
    assert float(gaussian(squared).variance().mid()) == float(expected)
