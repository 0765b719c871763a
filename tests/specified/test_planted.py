"""Mistakes of a compiler, planted one by one: the judge catches each, on the world that is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.specified import planted
from tests.specified.agreement import differences
from tests.worlds.specified.random_world import write_foreign_world


@dataclass(frozen=True)
class Planted:
    """A mistake, the seed of the world that must catch it, and how a difference that it makes begins."""

    plant: Callable[[pytest.MonkeyPatch], None]
    seed: int
    difference: str


MISTAKES = (
    Planted(planted.sensitivity_without_only, 0, "sensitivity of"),
    Planted(planted.suppression_at_the_wrong_kind, 6, "choices of"),
    Planted(planted.use_ignored, 4, "totals of"),
    Planted(planted.use_ignored, 20, "sensitivity of"),
    Planted(planted.classes_of_codes_merged_too_far, 3, "totals of"),
    Planted(planted.codes_merged_without_only, 2, "totals of"),
    Planted(planted.nowhere_counted, 5, "universe of"),
    Planted(planted.nowhere_counted, 5, "totals of"),
    Planted(planted.a_pass_charged_with_the_budget_of_another_pass, 12, "losses of passes"),
    Planted(planted.a_pass_measured_with_the_budget_of_another_pass, 13, "choices of"),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.plant.__name__}, {each.difference}")
def test_the_judge_catches_the_mistake(mistake, tmp_path, monkeypatch):
    world = write_foreign_world(tmp_path / "world", mistake.seed)
    assert differences(world.parameters, world.data) == []
    mistake.plant(monkeypatch)
    found = differences(world.parameters, world.data)
    assert any(each.startswith(mistake.difference) for each in found)
    assert not any(each.startswith("refused") for each in found)
