"""An older copy, a changed line, a lost end or another file in the place of a spend log is found."""

import json
import logging
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction

import pytest

from tests.cases import cases_of
from tests.commands import done, invalid, refused
from tests.inside import (
    InvalidInput,
    LineState,
    PrivacyDefinition,
    RunFailed,
    Spend,
    SpendLogFile,
    begun_line,
    check_log,
    heads_file,
    heads_in,
    heads_in_file,
    line_of,
    log_file_module,
    merge_logs,
    read_log,
    refused_file,
    set_limit,
)
from tests.spend_logs import earlier_header

ZCDP = PrivacyDefinition.ZCDP
UTC = "2026-01-02T03:04:05Z"


def begun(run):
    return begun_line(Spend(f"{run:016x}", UTC, "census", "us", ZCDP, Fraction("0.6"), "a" * 32))


def ended(run):
    return line_of(LineState.RELEASED, run=f"{run:016x}", utc=UTC)


def appended(path, *lines):
    """Lines, and runs that begin."""
    file = SpendLogFile(path, may_create=True)
    with file.locked() as content:
        file.append(content, [begun(line) if isinstance(line, int) else line for line in lines])
    file.close()


def cut(path, lines):
    """An older copy."""
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


@pytest.fixture
def log(tmp_path):
    """Two runs, each written in two steps as a run does."""
    path = tmp_path / "spend.log"
    for run in 1, 2:
        appended(path, run)
        appended(path, ended(run))
    return path


@pytest.fixture
def other(tmp_path):
    """Another log with one run."""
    appended(tmp_path / "other.log", 9)
    return tmp_path / "other.log"


@pytest.fixture
def new(tmp_path):
    return tmp_path / "new.log"


def errors_of(path, *against):
    return [str(each) for each in check_log(path, against) if each.is_error]


# Found by the log alone


def test_every_line_states_the_hash_of_itself_and_all_before(log):
    lines = log.read_text().splitlines()
    heads = [json.loads(line)["chain"] for line in lines[1:]]
    assert len(set(heads)) == len(heads) == 4
    content = read_log(log)
    assert content.chain.heads[1:] == heads
    assert str(content.chain.head) == f"spend log {json.loads(lines[0])['log']}: 5 lines, head {heads[-1]}"


CHANGES = {
    "a budget": ((b'"3/5", "decimal": "0.6"', b'"3/50", "decimal": "0.06"'), "line 2"),
    "a data set": ((b'"census"', b'"people"'), "line 2"),
    "a fingerprint": ((b"aaaa", b"bbbb"), "line 2"),
    "a date": ((b"2026-01-02", b"2026-01-01"), "line 2"),
    "the secret": ((b'"secret": "', b'"secret": "' + b"0" * 64), "first line"),
    "a line removed": ((0, 3, 4), "line 2"),
    "lines exchanged": ((0, 3, 4, 1, 2), "line 2"),
    "the last line": (lambda text: b"2026-01-01".join(text.rsplit(b"2026-01-02", 1)), "line 5"),
    "a line without its hash": (lambda text: text.replace(text[text.index(b', "chain"') :][:45], b"", 1), "line 2"),
}
"""Texts to replace, or the lines that are left."""


def changed(log, name):
    """Where a check must find the change."""
    (change, where), text = CHANGES[name], log.read_bytes()
    if callable(change):
        now = change(text)
    elif isinstance(change[0], bytes):
        now = text.replace(*change, 1)
    else:
        now = b"".join(text.splitlines(keepends=True)[number] for number in change)
    assert now != text
    log.write_bytes(now)
    heads_file(log).unlink()
    return where


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_line_is_found_without_any_other_file(change, log):
    where = changed(log, change)
    assert where in errors_of(log)[0]
    with pytest.raises(InvalidInput, match=where):
        read_log(log)


def test_only_the_changed_line_is_named(log):
    changed(log, "a date")
    (error,) = errors_of(log)
    assert error.startswith("line 2: the hash at its end is not that of this line and those before")


# Found by the heads beside the log


def test_an_older_copy_is_refused_by_every_command_that_reads_the_log(log, other, new):
    whole = log.read_bytes()
    cut(log, 3)
    older = "has 3 lines, and had 5 when .*spend.log.heads was written: it is an older copy, or lost its end"
    with pytest.raises(InvalidInput, match=older):
        appended(log, 3)
    with pytest.raises(InvalidInput, match=older):
        set_limit(log, "census", "9", None)
    for options in [], ["--check"], ["--table", "t.csv"], ["--merge", other, "-o", new]:
        assert "older copy" in refused("spend", log, *options)
    assert len(log.read_bytes().splitlines()) == 3
    log.write_bytes(whole)
    assert errors_of(log) == []


def test_a_log_that_only_lost_what_it_gained_after_the_last_head_is_as_it_was(log):
    """A run that was killed between its line and the head: the log has more than the file of heads says."""
    heads = heads_file(log).read_text().splitlines(keepends=True)
    heads_file(log).write_text("".join(heads[:-1]) + heads[-1][:20])
    appended(log, 3)
    assert errors_of(log) == []


@pytest.mark.parametrize("left_out", ["", ' "format": 1,'])
def test_a_log_from_before_the_chain_is_continued_in_its_format_and_is_watched_too(left_out, new):
    new.touch(mode=0o600)
    before = earlier_header(bytes(32)).replace(left_out, "") + begun(1) + begun(2)
    new.write_text(before)
    appended(new, ended(1))
    assert new.read_text() == before + ended(1)  # as a version without the chain would have written it
    assert check_log(new)[0].message.startswith(f"run {2:016x}")
    with new.open("a") as file:
        file.write(ended(2))  # an earlier version writes no head beside
    appended(new, 3, ended(3))
    assert check_log(new) == ()
    new.write_text(new.read_text().replace('"3/5", "decimal": "0.6"', '"3/50", "decimal": "0.06"', 1))
    (error,) = errors_of(new)
    assert "its first 7 lines are not those that it had when" in error
    new.write_text(before)
    assert "has 3 lines, and had 7" in errors_of(new)[0]


def test_a_line_that_was_cut_short_is_part_of_the_chain(log):
    with log.open("a") as file:
        file.write(begun(3)[:60])
    appended(log, 4)
    assert errors_of(log) == []
    assert [each.run for each in read_log(log).spends] == [f"{run:016x}" for run in (1, 2, 4)]
    log.write_bytes(log.read_bytes().replace(begun(3)[:60].encode(), begun(5)[:60].encode()))
    assert "line 7: the hash at its end" in errors_of(log)[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda log, _: os.truncate(log, 0), "is empty, and no run leaves a spend log so: .* Restore it"),
        (lambda log, _: log.unlink(), "is gone, and .*spend.log.heads says that it was here. Restore it"),
        (lambda log, other: shutil.copy2(other, log), "is another log than the one that .*spend.log.heads tells of"),
    ],
    ids=["emptied", "removed", "another log"],
)
def test_a_log_that_was_emptied_removed_or_replaced_is_refused_with_what_to_do(change, words, log, other):
    change(log, other)
    before = log.exists() and log.read_bytes()
    with pytest.raises(InvalidInput, match=words):
        appended(log, 3)
    assert (log.exists() and log.read_bytes()) == before
    assert bool(refused_file(log)) is (before is False)  # before anything is read


def test_an_empty_file_is_never_taken_for_a_new_log(new):
    new.touch(mode=0o600)
    assert "is empty" in invalid(appended, new, 1)
    assert new.read_bytes() == b""


def test_a_log_without_its_heads_is_doubted_and_continued(log):
    heads_file(log).unlink()
    (doubt,) = check_log(log)
    assert not doubt.is_error
    assert "so nobody can see whether this is an older copy" in doubt.message
    appended(log, 3)
    assert errors_of(log) == []


def test_heads_that_can_not_be_written_are_warned_of_and_the_line_counts(log, new, caplog):
    heads_file(log).unlink()
    heads_file(log).symlink_to(new)
    with caplog.at_level(logging.WARNING):
        appended(log, 3)
    assert "nobody would see that an older copy of the log was restored" in caplog.text
    assert len(read_log(log).spends) == 3
    assert not new.exists()


@pytest.mark.parametrize("look", [read_log, errors_of])
def test_a_log_that_grows_while_it_is_looked_at_is_no_older_copy(look, log, monkeypatch):
    """A run adds its lines and their head as soon as the lock is free."""
    lock, runs = SpendLogFile._lock, [3]

    @contextmanager
    def then_a_run(file):
        with lock(file):
            yield
        if runs:
            appended(log, runs.pop())

    monkeypatch.setattr(SpendLogFile, "_lock", then_a_run)
    found = look(log)
    assert look is read_log or found == []
    assert len(read_log(log).spends) == 3


# Found by what a run wrote into its confidential log


def test_a_check_against_a_confidential_log_finds_an_older_copy(log, tmp_path):
    confidential = tmp_path / "OUT.confidential.log"
    confidential.write_text(f"2026-01-02T03:04:05+00:00 run 2 is charged. {read_log(log).chain.head}\n")
    command = ["spend", log, "--check", "--against", confidential]
    done(*command)
    cut(log, 3)
    heads_file(log).unlink()
    assert errors_of(log) == []  # the log alone can't say
    assert "has 3 lines, and had 5 when" in refused(*command)


def test_a_file_that_tells_nothing_of_the_log_is_refused(log, tmp_path):
    (tmp_path / "other.confidential.log").write_text(f"spend log {'0' * 16}: 3 lines, head {'0' * 32}\n")
    for name in "other.confidential.log", "no such file":
        assert "tells of no head of this spend log" in invalid(check_log, log, [tmp_path / name])


def test_heads_are_read_from_any_text():
    text = "x spend log 0123456789abcdef: 12 lines, head " + "0" * 32 + "\nspend log 0123456789abcdef: 3 lines, head"
    assert [tuple(head) for head in heads_in(text)] == [("0123456789abcdef", 12, "0" * 32)]


# Merged


def test_a_merged_log_knows_the_heads_of_its_logs_and_misses_a_later_run(log, other, new, tmp_path):
    appended(other, ended(9))
    merge_logs([log, other], new)
    assert check_log(new) == ()
    assert [errors_of(new, heads_file(one)) for one in (log, other)] == [[], []]
    appended(log, 3)
    (error,) = errors_of(new, heads_file(log))
    assert "a run was charged to that log later. Merge that log again" in error
    again = tmp_path / "again.log"
    merge_logs([new, log], again)
    assert errors_of(again, heads_file(log), heads_file(new)) == []
    assert sorted(each.run[-1] for each in read_log(again).spends) == [*"1239"]


def test_a_merged_log_may_take_the_place_of_the_first_one(log, other, new):
    merge_logs([log, other], new)
    new.replace(log)
    appended(log, 8)
    assert errors_of(log) == []
    assert len(read_log(log).spends) == 4


def test_two_copies_that_went_on_side_by_side_are_found_and_can_be_merged(log, new, tmp_path):
    copy = shutil.copy2(log, tmp_path / "copy.log")
    appended(log, 3)
    appended(copy, 4)
    (error,) = errors_of(log, heads_file(copy))
    assert "its first 6 lines are not those that it had when" in error
    merge_logs([log, copy], new)
    assert errors_of(new, heads_file(copy), heads_file(log)) == []
    assert len(read_log(new).spends) == 4


def test_an_older_copy_is_merged_with_the_one_that_has_its_lines_as_the_refusal_advises(log, tmp_path):
    copy = shutil.copy2(log, tmp_path / "copy.log")
    cut(log, 3)
    with pytest.raises(InvalidInput, match=r"older copy, or lost its end. .* merge the copies into a new log"):
        read_log(log)
    for number, order in enumerate(([log, copy], [copy, log])):
        new = tmp_path / str(number)
        merge_logs(order, new)
        assert errors_of(new, heads_file(log)) == []
        assert len(read_log(new).spends) == 2
    new.replace(log)
    appended(log, 3)
    assert errors_of(log) == []


def test_copies_that_lack_a_line_together_are_not_merged(log, other, new, tmp_path):
    copy = shutil.copy2(log, tmp_path / "copy.log")
    cut(log, 3)
    cut(copy, 4)
    for logs in [log, copy], [copy, log], [log, other], [other, log]:
        with pytest.raises(InvalidInput, match=r"has 3 lines, and had 5 when .* older copy, or lost its end"):
            merge_logs(logs, new)
    assert not new.exists()


def test_a_log_in_the_place_of_another_is_merged_with_it_as_the_refusal_advises(log, other, new, tmp_path):
    moved = log.rename(tmp_path / "moved.log")
    shutil.copy2(other, log)
    with pytest.raises(InvalidInput, match=r"is another log than .* merge the two"):
        read_log(log)
    merge_logs([log, moved], new)
    assert errors_of(new, heads_file(log)) == []
    assert len(read_log(new).spends) == 3


def test_a_log_that_lost_its_end_in_every_copy_goes_on_with_a_lower_limit(log, tmp_path):
    """The way in docs/how-to/repeated-runs.md#older-copies, in its order."""
    set_limit(log, "census", "9", None)
    cut(log, 3)
    limit = ["spend", log, "--dataset", "census", "--set-limit", "8.4"]
    refused(*limit)
    heads_file(log).rename(tmp_path / "spend.log.heads.lost")
    done(*limit)
    assert check_log(log) == ()
    appended(log, 3)
    assert read_log(log).limits["census"].amount == Fraction("8.4")


def test_a_changed_line_of_a_merged_log_is_found(log, other, new):
    merge_logs([log, other], new)
    new.write_text(new.read_text().replace('"census"', '"people"', 1))
    assert "line 3: the hash at its end" in errors_of(new)[0]


# New logs


@pytest.mark.parametrize(
    ("call", "name"),
    cases_of("""
        write_for_its_owner | new.log
        _write | spend.log
    """),
)
def test_a_full_disk_leaves_no_new_log_and_the_message_names_it(call, name, log, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log_file_module, call, full)
    with pytest.raises(RunFailed, match=rf"{name} can't be written: .*No space left on device"):
        appended(log.with_name(name), 3)
    assert {path.name for path in log.parent.iterdir()} == {"spend.log", "spend.log.heads"}


def test_of_many_that_begin_a_log_at_once_each_adds_its_line_to_the_same_one(tmp_path):
    """Eighteen at once; a limit for seven of them is kept exactly."""
    path, start, charged = tmp_path / "spend.log", threading.Barrier(18), []

    def charge(run):
        start.wait()
        file = SpendLogFile(path, may_create=True)
        with file.locked() as content:
            if len(content.spends) < 7:
                file.append(content, [begun(run)])
                charged.append(run)
        file.close()

    with ThreadPoolExecutor(18) as threads:
        [*threads.map(charge, range(18))]
    assert len(charged) == len(read_log(path).spends) == 7
    assert errors_of(path) == []
    assert len(heads_in_file(heads_file(path))) == 7
    assert sorted(each.name for each in tmp_path.iterdir()) == ["spend.log", "spend.log.heads"]


def test_a_limit_begins_a_log_too(new):
    set_limit(new, "census", "9", ZCDP)
    assert read_log(new).limits["census"].amount == 9
    assert errors_of(new) == []
