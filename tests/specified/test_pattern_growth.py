"""Records without a code are a pattern like others, also when the table of patterns grows."""

import numpy as np

from tests.inside import CODES, PatternTable


def test_patterns_keep_their_numbers_when_the_table_grows_although_one_is_empty():
    table = PatternTable(8, may_be_empty=True)
    codes = np.zeros((3000, CODES), dtype=np.int16)
    codes[:, 0] = np.arange(3000)  # the first has no code at all
    codes[:, 1] = np.where(codes[:, 0] > 0, 3001, 0)
    numbers = table.numbers_of(codes)
    assert numbers.tolist() == list(range(3000))
    assert np.array_equal(table.codes, codes)
    assert np.array_equal(table.numbers_of(codes), numbers)
