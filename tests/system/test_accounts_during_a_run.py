"""The accounts, OUT and the records stay what they were while a run is at work, or it costs nothing."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.inside import (
    InvalidInput,
    LineState,
    LocalEngine,
    MiscountedRecords,
    NoProgress,
    PrivacyDefinition,
    RunFailed,
    RunOptions,
    RunSpending,
    Spend,
    SpendLogFile,
    begun_line,
    check_log,
    heads_file,
    heads_in_file,
    read_log,
    run_files,
)
from tests.worlds.people import write_random_world
from tests.worlds.world import World

KEY = bytes(range(32))
CHECKING, FINGERPRINT = "Checking the person records", "Taking the fingerprint of the records"
TABULATING, RELEASING = "Tabulating the levels", "Writing and checking the release"


class During(NoProgress):
    """Does something when a step begins, and keeps what is told."""

    def __init__(self, step: str = "", action: Callable[[], object] = lambda: None) -> None:
        self._step, self._action, self.told = step, action, list[str]()

    def step(self, name: str, parts: int) -> None:  # noqa: ARG002 - as Progress has it
        if name == self._step:
            self._action()

    def tell(self, text: str) -> None:
        self.told.append(text)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_random_world(tmp_path_factory.mktemp("world"), 3, people=40, budget=1, privacy_defn="zcdp")


def options(tmp_path: Path, **more: object) -> RunOptions:
    return RunOptions(test_key=KEY, dataset="census", spend_log=tmp_path / "spend.log", **more)


def run(world: World, tmp_path: Path, name: str = "out", during: During | None = None, **more: object):
    return run_files(*world, tmp_path / name, options(tmp_path, **more), during or During())


def states_of(log: Path) -> list[str]:
    return [json.loads(line)["state"] for line in log.read_text().splitlines()[1:]] if log.exists() else []


# What a run leaves for the next


def test_a_run_leaves_its_cost_and_the_head_of_the_log_at_the_end_of_its_confidential_log(world, tmp_path):
    run(world, tmp_path)
    log, confidential = tmp_path / "spend.log", tmp_path / "out.confidential.log"
    head = read_log(log).chain.head
    last = [line for line in confidential.read_text().splitlines() if "is charged with" in line][-1]
    run_name = read_log(log).spends[0].run
    assert f"run {run_name} is charged with rho " in last
    assert last.endswith(f'on "census" in {log}. {head}')
    assert heads_in_file(heads_file(log))[-1] == heads_in_file(confidential)[-1] == head
    assert check_log(log, [confidential]) == ()
    for file in (tmp_path / "out").rglob("*"):
        assert file.is_dir() or head.value.encode() not in file.read_bytes()


@pytest.mark.parametrize("is_overwritten", [True, False])
def test_an_older_copy_is_found_by_the_next_run_beside_an_earlier_one(is_overwritten, world, tmp_path):
    """The log and the heads beside it both come from a backup; OUT.confidential.log does not."""
    log = tmp_path / "spend.log"
    file = SpendLogFile(log, may_create=True)
    with file.locked() as content:
        file.append(content, [])
    file.close()
    backup = {path: path.read_bytes() for path in (log, heads_file(log))}
    run(world, tmp_path)
    for path, content in backup.items():
        path.write_bytes(content)
    again = {"name": "out", "overwrite": True} if is_overwritten else {"name": "out-2"}
    with pytest.raises(InvalidInput, match=r"had 4 when .*out\.confidential\.log was written: it is an older copy"):
        run(world, tmp_path, **again)
    assert states_of(log) == []


@pytest.mark.parametrize("is_begun_anew", [True, False])
def test_a_log_that_was_removed_with_its_heads_is_missed_by_the_next_run_beside_an_earlier_one(
    is_begun_anew, world, tmp_path
):
    log, next_run = tmp_path / "spend.log", During()
    run(world, tmp_path)
    run(world, tmp_path, "out-2", during=next_run)
    missed = f"{log}: {tmp_path / 'out.confidential.log'} names runs that were charged to an earlier log"
    assert not any(missed in told for told in next_run.told)
    log.unlink()
    heads_file(log).unlink()
    if is_begun_anew:
        SpendLogFile(log, may_create=True).close()
    run(world, tmp_path, "out-3", during=next_run)
    assert any(missed in told for told in next_run.told)


# The log during a run


def replaced(log: Path) -> None:
    other = log.with_name("other.log")
    file = SpendLogFile(other, may_create=True)
    with file.locked() as content:
        spend = Spend("0" * 16, "2026-01-02T03:04:05Z", "census", "us", PrivacyDefinition.ZCDP, Fraction(1), "a" * 32)
        file.append(content, [begun_line(spend)])
    file.close()
    other.replace(log)


LOSSES: dict[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "replaced": replaced,
    "moved": lambda log: log.rename(log.with_name("moved.log")),
    "emptied": lambda log: os.truncate(log, 0),
}


@pytest.mark.parametrize("how", LOSSES)
def test_an_account_that_vanishes_after_the_charge_is_found_before_publication(how, world, tmp_path):
    during = During(RELEASING, lambda: LOSSES[how](tmp_path / "spend.log"))
    with pytest.raises(RunFailed, match=r"is not the file that was charged: .* Nothing was released") as failed:
        run(world, tmp_path, during=during)
    assert "counts as spent" in str(failed.value) or "count as spent" in str(failed.value)
    assert not (tmp_path / "out").exists()
    assert "is charged with rho" in (tmp_path / "out.confidential.log").read_text()
    with pytest.raises(InvalidInput, match=r"spend\.log has 1 problem:"):  # nor does the next run start without it
        run(world, tmp_path, "next")


def test_an_account_that_vanishes_at_publication_is_told(world, tmp_path, monkeypatch):
    during = During()
    monkeypatch.setattr(RunSpending, "require_charged", lambda _: (tmp_path / "spend.log").unlink())
    run(world, tmp_path, during=during)
    assert (tmp_path / "out").exists()
    assert "is not the file that was charged" in during.told[-1]
    assert "Merge the two before the next run" in during.told[-1]


# OUT during a run


@pytest.mark.parametrize("overwrite", [False, True])
def test_of_two_runs_into_one_out_the_second_is_refused_and_costs_nothing(overwrite, world, tmp_path):
    refused: list[InvalidInput] = []

    def another():
        with pytest.raises(InvalidInput, match="another run is writing it now") as second:
            run(world, tmp_path, overwrite=overwrite)
        refused.append(second.value)

    run(world, tmp_path, during=During(CHECKING, another), overwrite=overwrite)
    assert len(refused) == 1
    assert refused[0].advice == "Nothing was spent."
    assert states_of(tmp_path / "spend.log") == ["begun", "begun", "released"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


APPEARS: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a file": Path.touch,
    "a dangling link": lambda out: out.symlink_to("nowhere"),
}


@pytest.mark.parametrize(("what", "has_accounts"), [*((what, True) for what in APPEARS), ("a folder", False)])
def test_an_out_that_appears_before_the_charge_costs_nothing(what, has_accounts, world, tmp_path):
    out = tmp_path / "out"
    step = FINGERPRINT if has_accounts else "Counting the persons of each state"
    chosen = options(tmp_path) if has_accounts else RunOptions(test_key=KEY)
    with pytest.raises(InvalidInput) as refused:
        run_files(*world, out, chosen, During(step, lambda: APPEARS[what](out)))
    assert refused.value.advice == "Nothing was spent."
    assert states_of(tmp_path / "spend.log") == []


def test_a_lock_that_a_killed_run_left_is_taken_over(world, tmp_path):
    lock = tmp_path / ".out.safetab-lock"
    lock.touch()
    run(world, tmp_path)
    assert not lock.exists()


def test_a_lock_that_another_process_holds_refuses_before_anything_is_written(world, tmp_path):
    with (tmp_path / ".out.safetab-lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InvalidInput, match="another run is writing it now"):
            run(world, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".out.safetab-lock"]


@pytest.mark.slow
@pytest.mark.parametrize("overwrite", [False, True])
def test_of_many_runs_into_one_out_at_once_one_pays(overwrite, world, tmp_path):
    start, refused = threading.Barrier(6), list[str]()

    def one():
        start.wait()
        try:
            run(world, tmp_path, overwrite=overwrite)
        except InvalidInput as error:
            refused.append(str(error))

    threads = [threading.Thread(target=one) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(300)
    released = states_of(tmp_path / "spend.log").count(LineState.RELEASED.value)
    assert released + len(refused) == 6
    assert released == 1 or overwrite  # one that begins after another has ended may replace its output
    assert states_of(tmp_path / "spend.log").count("begun") == 2 * released


# The records during a run


def test_records_that_change_while_their_fingerprint_is_taken_cost_nothing(tmp_path, monkeypatch):
    changing = write_random_world(tmp_path / "world", 3, people=40, budget=1, privacy_defn="zcdp")
    path = changing.data / "person-records.txt"
    original = LocalEngine.fingerprint

    def changed_after(engine, secret):
        found = original(engine, secret)
        path.write_text(path.read_text() + "\n")
        return found

    monkeypatch.setattr(LocalEngine, "fingerprint", changed_after)
    with pytest.raises(RunFailed, match=r"person-records.txt changed while the run was reading it.* Nothing was spent"):
        run(changing, tmp_path)
    assert states_of(tmp_path / "spend.log") == []


WORDS = {
    "miscounted": MiscountedRecords("the number of rows read differs from the number in the files."),
    "failed": RunFailed("the records changed while they were read. Nothing was written."),
}


@pytest.mark.parametrize(
    ("method", "error"), [("check", "miscounted"), ("prepare", "failed"), ("fingerprint", "miscounted")]
)
def test_records_that_change_are_named_whatever_follows_from_it(method, error, tmp_path, monkeypatch):
    changing = write_random_world(tmp_path / "world", 3, people=40, budget=1, privacy_defn="zcdp")
    path = changing.data / "person-records.txt"

    def fails(*_):
        path.write_text(path.read_text() + "\n")
        raise WORDS[error]

    monkeypatch.setattr(LocalEngine, method, fails)
    with pytest.raises(RunFailed, match=r"person-records.txt changed while the run was reading it"):
        run(changing, tmp_path)


def test_what_failed_is_named_if_no_record_changed(world, tmp_path, monkeypatch):
    def fails(*_):
        raise WORDS["miscounted"]

    monkeypatch.setattr(LocalEngine, "check", fails)
    with pytest.raises(RunFailed, match="the number of rows read differs"):
        run(world, tmp_path)
