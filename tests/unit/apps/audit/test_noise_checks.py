"""The audit's checks of noise, each repeated with many keys: a bug that shows only by luck is not caught."""

from tests.inside import CheckResult, _counts_enter_exactly
from tests.planted.noise_bugs import a_float_between_count_and_noise


def results():
    """With five counts in place of 320, one key in about ninety hid the float."""
    return {_counts_enter_exactly().result for _ in range(300)}


def test_counts_enter_exactly_and_a_float_between_count_and_noise_is_seen_with_any_key(monkeypatch):
    assert results() == {CheckResult.PASSED}
    a_float_between_count_and_noise(monkeypatch)
    assert CheckResult.PASSED not in results()
