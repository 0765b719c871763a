"""The memory that a run needs, before it needs it."""

from types import SimpleNamespace

import pytest

import safetab
from tests.cases import values_of
from tests.inside import RunFailed, least_growth, memory_left, memory_room_module, require_memory

MB = 10**6


def plan_with(*groups):
    return SimpleNamespace(levels=[SimpleNamespace(universe=SimpleNamespace(size=each)) for each in groups])


@pytest.mark.parametrize(
    ("groups", "records", "grew"),
    values_of(
        """
        106_455 | 200_000 | 1
        274_827_798 | 1_000_000 | 112
        274_827_798 | 10_000_000 | 360
        """
    ),
)
def test_the_guess_is_below_what_runs_took_and_not_far_below(groups, records, grew):
    """Three synthetic censuses: docs/testing-faults.md has the numbers."""
    assert 0.2 * grew <= least_growth(plan_with(groups), records) / MB <= grew


def test_larger_runs_than_the_largest_that_was_measured_are_not_guessed_and_few_groups_need_little():
    most = least_growth(plan_with(3 * 10**8), 10**7)
    assert least_growth(plan_with(10**12, 10**12), 10**10) == most < 260 * MB
    assert least_growth(plan_with(1_000), 10**9) < MB


def test_every_limit_is_looked_at():
    plan = plan_with(10**8)
    need = least_growth(plan, 10**6)
    require_memory(plan, 10**6, {"the address space": need, "the memory of this machine": need})
    with pytest.raises(
        RunFailed, match=r"^the address space leaves 45 MB, .* about 46 MB more\. Nothing was written\."
    ):
        require_memory(plan, 10**6, {"the memory of this machine": need, "the address space": need - 1})


def test_this_process_has_memory_left():
    assert all(size > 10 * MB for size in memory_left().values())


@pytest.mark.parametrize("looks_before", [0, 1])
def test_a_run_without_memory_is_refused_before_the_charge(looks_before, releases, tmp_path, monkeypatch):
    world, log, out = releases.people(2, people=60, budget=1).world, tmp_path / "spend.log", tmp_path / "out"
    left = iter([*[{}] * looks_before, {"the address space (`ulimit -v`)": -1}])
    monkeypatch.setattr(memory_room_module, "memory_left", lambda: next(left))
    with pytest.raises(RunFailed, match=r"the address space \(`ulimit -v`\) leaves 1 MB, and this run needs about"):
        safetab.run(*world, out, spend_log=log, spend_limit=20, dataset="people")
    assert not out.exists()
    assert not log.exists() or safetab.spend(log).to_arrow().num_rows == 0
