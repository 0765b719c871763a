"""One small run, made in other ways: the quick form of what slow tests do at length."""

import numpy as np
import pytest

import safetab
from tests.inside import EmptyGroups, RunOptions, guards_module, run_files
from tests.releases import files_of
from tests.worlds.world import KEY

SMALL = {
    "seed": 5,
    "people": 40,
    "budget": 0.05,
    "zero_suppression_chance": 0.6,
    "state_filter_us": ["44"],
    "run_pr": False,
}


def test_other_ways_give_the_same_bytes(releases, tmp_path, monkeypatch):
    """Small batches of groups in several threads; and every empty group drawn, in one thread."""
    world, out = releases.people(**SMALL)
    expected, key = files_of(out), bytes.fromhex(KEY)
    run_files(*world, tmp_path / "batches", RunOptions(test_key=key, threads=3, groups_at_once=50))
    assert files_of(tmp_path / "batches") == expected
    monkeypatch.setattr(EmptyGroups, "that_may_be_published", lambda _, first, end: np.arange(first, end))
    run_files(*world, tmp_path / "drawn", RunOptions(test_key=key, threads=1))
    assert files_of(tmp_path / "drawn") == expected


@pytest.fixture
def asked(monkeypatch):
    """What the program forbids about its memory, asked of nobody."""
    asked = []
    library = type("Library", (), {"prctl": lambda _, *given: asked.append(f"prctl {given[:2]}")})
    monkeypatch.setattr(guards_module.resource, "setrlimit", lambda *given: asked.append(f"limit {given}"))
    monkeypatch.setattr(guards_module.ctypes, "CDLL", lambda _: library())
    monkeypatch.setattr(guards_module.sys, "platform", "linux")
    return asked


def test_no_memory_is_dumped(releases, tmp_path, asked):
    """By a run and by a check of records, before either reads one."""
    world = releases.people(**SMALL).world
    for work in (lambda: safetab.validate(*world), lambda: world.run(tmp_path / "out")):
        asked.clear()
        work()
        assert asked == [f"limit ({guards_module.resource.RLIMIT_CORE}, (0, 0))", "prctl (4, 0)"]
