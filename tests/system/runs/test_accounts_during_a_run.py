"""The accounts, OUT and the records stay what they were while a run is at work, or it costs nothing."""

import fcntl
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
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
from tests.releases import lines_of
from tests.worlds.people import write_random_world

KEY = bytes(range(32))
CHECKING, FINGERPRINT = "Checking the person records", "Taking the fingerprint of the records"
TABULATING, RELEASING = "Tabulating the levels", "Writing and checking the release"


class During(NoProgress):
    """Does something when a step begins, and keeps what is told."""

    def __init__(self, step="", action=lambda: None):
        self._step, self._action, self.told = step, action, []

    def step(self, name, parts):  # noqa: ARG002 - as Progress has it
        if name == self._step:
            self._action()

    def tell(self, text):
        self.told.append(text)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Of one level, so that runs are short."""
    folder = tmp_path_factory.mktemp("world")
    world = write_random_world(folder, 3, people=40, budget=0, privacy_defn="zcdp", run_pr=False)
    world.configure(privacy_budget_p_level_2_state=1)
    return world


@pytest.fixture
def log(tmp_path):
    return tmp_path / "spend.log"


def options(folder, **more):
    return RunOptions(test_key=KEY, dataset="census", spend_log=folder / "spend.log", **more)


def run(world, folder, name="out", during=None, **more):
    return run_files(*world, folder / name, options(folder, **more), during or During())


def refused(*given, words, **more):
    with pytest.raises(InvalidInput, match=words) as told:
        run(*given, **more)
    return told.value


def states_of(log):
    return [json.loads(line)["state"] for line in lines_of(log)[1:]] if log.exists() else []


def begin(log, *lines):
    file = SpendLogFile(log, may_create=True)
    with file.locked() as content:
        file.append(content, lines)
    file.close()


# What a run leaves for the next


def test_a_run_leaves_its_cost_and_the_head_of_the_log_at_the_end_of_its_confidential_log(world, log, out, tmp_path):
    """And takes over a lock that a killed run left."""
    lock = tmp_path / ".out.safetab-lock"
    lock.touch()
    run(world, tmp_path)
    assert not lock.exists()
    confidential, head, [spend] = tmp_path / "out.confidential.log", read_log(log).chain.head, read_log(log).spends
    last = [line for line in lines_of(confidential) if "is charged with" in line][-1]
    assert f"run {spend.run} is charged with rho " in last
    assert last.endswith(f'on "census" in {log}. {head}')
    assert heads_in_file(heads_file(log))[-1] == heads_in_file(confidential)[-1] == head
    assert check_log(log, [confidential]) == ()
    for file in out.rglob("*"):
        assert file.is_dir() or head.value.encode() not in file.read_bytes()


def test_an_older_copy_is_found_by_the_next_run_beside_an_earlier_one(world, log, tmp_path):
    """The log and the heads beside it both come from a backup; OUT.confidential.log does not."""
    begin(log)
    backup = {path: path.read_bytes() for path in (log, heads_file(log))}
    run(world, tmp_path)
    for path, content in backup.items():
        path.write_bytes(content)
    words = r"had 3 when .*out\.confidential\.log was written: it is an older copy"
    refused(world, tmp_path, "out", overwrite=True, words=words)
    refused(world, tmp_path, "out-2", words=words)
    assert states_of(log) == []


def test_a_log_that_was_removed_with_its_heads_is_missed_by_the_next_run_beside_an_earlier_one(world, log, tmp_path):
    """Whether or not it was begun anew."""
    removed = (log.unlink, heads_file(log).unlink)
    begun_anew = (*removed, lambda: begin(log))
    missed = f"{log}: {tmp_path / 'out.confidential.log'} names runs that were charged to an earlier log"
    for name, happens in {"out": (), "out-2": (), "out-3": removed, "out-4": begun_anew}.items():
        for each in happens:
            each()
        during = During()
        run(world, tmp_path, name, during=during)
        assert any(missed in told for told in during.told) is bool(happens)


# The log during a run


def replaced(log):
    other = log.with_name("other.log")
    spend = Spend("0" * 16, "2026-01-02T03:04:05Z", "census", "us", PrivacyDefinition.ZCDP, Fraction(1), "a" * 32)
    begin(other, begun_line(spend))
    other.replace(log)


LOSSES = {
    "removed": Path.unlink,
    "replaced": replaced,
    "moved": lambda log: log.rename(log.with_name("moved.log")),
    "emptied": lambda log: os.truncate(log, 0),
}


@pytest.mark.parametrize("how", LOSSES)
def test_an_account_that_vanishes_after_the_charge_is_found_before_publication(how, world, log, out, tmp_path):
    with pytest.raises(RunFailed, match=r"is not the file that was charged: .* Nothing was released") as failed:
        run(world, tmp_path, during=During(RELEASING, lambda: LOSSES[how](log)))
    assert "counts as spent" in str(failed.value)
    assert not out.exists()
    assert "is charged with rho" in (tmp_path / "out.confidential.log").read_text()
    refused(world, tmp_path, "next", words=r"spend\.log has 1 problem:")  # nor does the next run start without it


def test_an_account_that_vanishes_at_publication_is_told(world, log, out, tmp_path, monkeypatch):
    during = During()
    monkeypatch.setattr(RunSpending, "require_charged", lambda _: log.unlink())
    run(world, tmp_path, during=during)
    assert out.exists()
    assert "is not the file that was charged" in during.told[-1]
    assert "Merge the two before the next run" in during.told[-1]


# OUT during a run


def test_of_two_runs_into_one_out_the_second_is_refused_and_costs_nothing(world, log, tmp_path):
    advice = []

    def another():
        for overwrite in (False, True):
            told = refused(world, tmp_path, words="another run is writing it now", overwrite=overwrite)
            advice.append(told.advice)

    run(world, tmp_path, during=During(CHECKING, another))
    assert advice == ["Nothing was spent."] * 2
    assert states_of(log) == ["begun", "released"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


APPEARS = {"a folder": Path.mkdir, "a file": Path.touch, "a dangling link": lambda out: out.symlink_to("nowhere")}


@pytest.mark.parametrize(("what", "has_accounts"), [*((what, True) for what in APPEARS), ("a folder", False)])
def test_an_out_that_appears_before_the_charge_costs_nothing(what, has_accounts, world, log, out, tmp_path):
    step = FINGERPRINT if has_accounts else "Counting the persons of each state"
    chosen = options(tmp_path) if has_accounts else RunOptions(test_key=KEY)
    with pytest.raises(InvalidInput) as told:
        run_files(*world, out, chosen, During(step, lambda: APPEARS[what](out)))
    assert told.value.advice == "Nothing was spent."
    assert states_of(log) == []


def test_a_lock_that_another_process_holds_refuses_before_anything_is_written(world, tmp_path):
    with (tmp_path / ".out.safetab-lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused(world, tmp_path, words="another run is writing it now")
    assert [path.name for path in tmp_path.iterdir()] == [".out.safetab-lock"]


@pytest.mark.slow
@pytest.mark.parametrize("overwrite", [False, True])
def test_of_many_runs_into_one_out_at_once_one_pays(overwrite, world, log, tmp_path):
    start, told = threading.Barrier(6), []

    def one():
        start.wait()
        try:
            run(world, tmp_path, overwrite=overwrite)
        except InvalidInput as error:
            told.append(error)

    with ThreadPoolExecutor(6) as threads:
        for _ in range(6):
            threads.submit(one)
    states = states_of(log)
    released = states.count(LineState.RELEASED.value)
    assert released + len(told) == 6
    assert released == 1 or overwrite  # one that begins after another has ended may replace its output
    assert states.count("begun") == released


# The records during a run


@pytest.fixture
def changing(world, tmp_path):
    """A world, and what changes its records."""
    copy = world.copy(tmp_path / "world")
    return copy, lambda: copy.append("person-records.txt", "")


def test_records_that_change_while_their_fingerprint_is_taken_cost_nothing(changing, log, tmp_path, monkeypatch):
    original = LocalEngine.fingerprint

    def changed_after(engine, secret):
        found = original(engine, secret)
        changing[1]()
        return found

    monkeypatch.setattr(LocalEngine, "fingerprint", changed_after)
    with pytest.raises(RunFailed, match=r"person-records.txt changed while the run was reading it.* Nothing was spent"):
        run(changing[0], tmp_path)
    assert states_of(log) == []


MISCOUNTED = MiscountedRecords("the number of rows read differs from the number in the files.")
FAILED = RunFailed("the records changed while they were read. Nothing was written.")


@pytest.mark.parametrize(
    ("method", "error"), [("check", MISCOUNTED), ("prepare", FAILED), ("fingerprint", MISCOUNTED), ("check", None)]
)
def test_records_that_change_are_named_whatever_follows_from_it(method, error, changing, tmp_path, monkeypatch):
    """And what failed is named if no record changed."""

    def fails(*_):
        if error is not None:
            changing[1]()
        raise error or MISCOUNTED

    monkeypatch.setattr(LocalEngine, method, fails)
    words = "person-records.txt changed while the run was reading it" if error else "the number of rows read differs"
    with pytest.raises(RunFailed, match=words):
        run(changing[0], tmp_path)
