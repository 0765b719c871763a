"""One small run, made in other ways and released by other rules: the quick form of what slow tests do at length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import safetab
from tests.inside import EmptyGroups, RunOptions, guards_module, run_files
from tests.releases import Row, numbers_of
from tests.worlds.people import write_random_world
from tests.worlds.world import World

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    """Noise so wide that many numbers are negative."""
    folder = tmp_path_factory.mktemp("small")
    world = write_random_world(folder, 5, people=40, budget=1, privacy_defn="zcdp", zero_suppression_chance=0.6,
                               allow_negative_counts=True)  # fmt: skip
    world.configure(**{key: 0.05 for key, value in world.config().items() if "budget_p_level" in key and value})
    run_files(*world, folder / "out", RunOptions(test_key=KEY))
    return world, folder / "out"


def released(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def other_ways_give_the_same_bytes(made: tuple[World, Path], folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Small batches of groups in several threads; and every empty group drawn, in one thread."""
    world, out = made
    run_files(*world, folder / "batches", RunOptions(test_key=KEY, threads=3, groups_at_once=50))
    assert released(folder / "batches") == released(out)
    patch.setattr(EmptyGroups, "that_may_be_published", lambda _, first, end: np.arange(first, end))
    run_files(*world, folder / "drawn", RunOptions(test_key=KEY, threads=1))
    assert released(folder / "drawn") == released(out)


def test_other_ways_give_the_same_bytes(made, tmp_path, monkeypatch):
    other_ways_give_the_same_bytes(made, tmp_path, monkeypatch)


NOTHING = dict.fromkeys(
    ("count", "unclamped_count", "margin_of_error", "unclamped_margin_of_error", "interval_low", "interval_high",
     "stage_1_total")
)  # fmt: skip


def after_rule(before: Row, rule: str) -> Row:
    if before["count"] >= 0:
        return before
    if rule == "clamp-negatives":
        return before | {"count": 0, "rule": rule}
    return before | NOTHING | {"status": "withheld", "rule": rule}


@pytest.mark.parametrize("rule", ["clamp-negatives", "withhold-negatives"])
def test_a_rule_changes_negative_numbers_alone(rule, made, tmp_path):
    safetab.rerelease(made[1], tmp_path / "ruled", rules=[rule])
    before = numbers_of(made[1])
    assert sum(row["count"] < 0 for row in before) > 10
    assert numbers_of(tmp_path / "ruled") == [after_rule(row, rule) for row in before]


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the program forbids about its memory, asked of nobody."""
    asked: list[str] = []
    library = type("Library", (), {"prctl": lambda _, *given: asked.append(f"prctl {given[:2]}")})
    monkeypatch.setattr(guards_module.resource, "setrlimit", lambda *given: asked.append(f"limit {given}"))
    monkeypatch.setattr(guards_module.ctypes, "CDLL", lambda _: library())
    monkeypatch.setattr(guards_module.sys, "platform", "linux")
    return asked


def no_memory_is_dumped(made: tuple[World, Path], folder: Path, asked: list[str]) -> None:
    """By a run and by a check of records, before either reads one."""
    world, _ = made
    for work in (
        lambda: safetab.validate(*world),
        lambda: safetab.run(*world, folder / "out"),
    ):
        asked.clear()
        work()
        assert asked == [f"limit ({guards_module.resource.RLIMIT_CORE}, (0, 0))", "prctl (4, 0)"]


def test_no_memory_is_dumped(made, tmp_path, forbidden):
    no_memory_is_dumped(made, tmp_path, forbidden)
