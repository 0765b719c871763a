"""Mistakes of a compiler, planted one by one: the judge catches each, on the world that is named."""

import pytest

from tests.specified import planted
from tests.specified.agreement import differences

MISTAKES = (
    (planted.sensitivity_without_only, 0, "sensitivity of"),
    (planted.suppression_at_the_wrong_kind, 6, "choices of"),
    (planted.use_ignored, 4, "totals of"),
    (planted.use_ignored, 20, "sensitivity of"),
    (planted.classes_of_codes_merged_too_far, 3, "totals of"),
    (planted.codes_merged_without_only, 2, "totals of"),
    (planted.nowhere_counted, 5, "universe of"),
    (planted.nowhere_counted, 5, "totals of"),
    (planted.a_pass_charged_with_the_budget_of_another_pass, 12, "losses of passes"),
    (planted.a_pass_measured_with_the_budget_of_another_pass, 13, "choices of"),
)
"""A mistake, the seed of the world that must catch it, and how a difference that it makes begins."""


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each[0].__name__}, {each[2]}")
def test_the_judge_catches_the_mistake(mistake, foreign, monkeypatch):
    """Without it no world differs: test_worlds.py."""
    plant, seed, difference = mistake
    plant(monkeypatch)
    found = differences(*foreign(seed))
    assert any(each.startswith(difference) for each in found)
    assert not any(each.startswith("refused") for each in found)
