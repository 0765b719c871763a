"""The audit's checks of noise, each repeated with many keys: a bug that shows only by luck is not caught."""

from tests.inside import Result, _counts_enter_exactly
from tests.planted.noise_bugs import a_float_between_count_and_noise

KEYS = 300  # with five counts in place of 320, one key in about ninety hid the float


def test_counts_enter_exactly_with_any_key():
    assert [
        found.faults for found in (_counts_enter_exactly() for _ in range(KEYS)) if found.result is not Result.PASSED
    ] == []


def test_a_float_between_count_and_noise_is_seen_with_any_key(monkeypatch):
    a_float_between_count_and_noise(monkeypatch)
    assert [
        found.seen for found in (_counts_enter_exactly() for _ in range(KEYS)) if found.result is Result.PASSED
    ] == []
