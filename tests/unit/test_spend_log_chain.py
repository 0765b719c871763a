"""An older copy, a changed line, a lost end or another file in the place of a spend log is found."""

from __future__ import annotations

import json
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from tests.commands import cli
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


def begun(run: int, budget: str = "0.6", dataset: str = "census") -> str:
    return begun_line(Spend(f"{run:016x}", UTC, dataset, "us", ZCDP, Fraction(budget), "a" * 32))


def ended(run: int) -> str:
    return line_of(LineState.RELEASED, run=f"{run:016x}", utc=UTC)


def appended(path: Path, *lines: str) -> None:
    file = SpendLogFile(path, may_create=True)
    with file.locked() as content:
        file.append(content, lines)
    file.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two runs, each written in two steps as a run does."""
    path = tmp_path / "spend.log"
    for run in (1, 2):
        appended(path, begun(run))
        appended(path, ended(run))
    return path


def errors_of(path: Path, *against: Path) -> list[str]:
    return [str(each) for each in check_log(path, against) if each.is_error]


# Found by the log alone


def test_every_line_states_the_hash_of_itself_and_all_before(log):
    lines = log.read_text().splitlines()
    heads = [json.loads(line)["chain"] for line in lines[1:]]
    assert len(set(heads)) == len(heads) == 4
    content = read_log(log)
    assert content.chain.heads[1:] == heads
    assert str(content.chain.head) == f"spend log {json.loads(lines[0])['log']}: 5 lines, head {heads[-1]}"


CHANGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a budget": (lambda text: text.replace(b'"3/5", "decimal": "0.6"', b'"3/50", "decimal": "0.06"', 1), "line 2"),
    "a data set": (lambda text: text.replace(b'"census"', b'"people"', 1), "line 2"),
    "a fingerprint": (lambda text: text.replace(b"aaaa", b"bbbb", 1), "line 2"),
    "a date": (lambda text: text.replace(b"2026-01-02", b"2026-01-01", 1), "line 2"),
    "the secret": (lambda text: text.replace(b'"secret": "', b'"secret": "%s' % (b"0" * 64)), "first line"),
    "a line removed": (lambda text: b"".join(text.splitlines(keepends=True)[:1] + text.splitlines(True)[3:]), "line 2"),
    "the last line": (lambda text: b"2026-01-01".join(text.rsplit(b"2026-01-02", 1)), "line 5"),
    "lines exchanged": (
        lambda text: b"".join(text.splitlines(keepends=True)[number] for number in (0, 3, 4, 1, 2)),
        "line 2",
    ),
    "a line without its hash": (lambda text: text.replace(text[text.index(b', "chain"') :][:45], b"", 1), "line 2"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_line_is_found_without_any_other_file(change, log):
    changed, where = CHANGES[change]
    before = log.read_bytes()
    log.write_bytes(changed(before))
    assert log.read_bytes() != before
    heads_file(log).unlink()
    assert where in errors_of(log)[0]
    with pytest.raises(InvalidInput, match=where):
        read_log(log)


def test_only_the_changed_line_is_named(log):
    log.write_bytes(CHANGES["a date"][0](log.read_bytes()))
    heads_file(log).unlink()
    (error,) = errors_of(log)
    assert error.startswith("line 2: the hash at its end is not that of this line and those before")


# Found by the heads beside the log


def test_an_older_copy_is_refused_by_every_command_that_reads_the_log(log, tmp_path):
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    older = "has 3 lines, and had 5 when .*spend.log.heads was written: it is an older copy, or lost its end"
    with pytest.raises(InvalidInput, match=older):
        appended(log, begun(3))
    with pytest.raises(InvalidInput, match=older):
        set_limit(log, "census", "9", None)
    other = tmp_path / "other.log"
    appended(other, begun(9))
    for options in ([], ["--check"], ["--table", "t.csv"], ["--merge", str(other), "-o", str(tmp_path / "new")]):
        result = cli("spend", log, *options)
        assert result.exit_code == 1
        assert "older copy" in " ".join(result.stderr.split())
    assert len(log.read_bytes().splitlines()) == 3
    log.write_bytes(whole)
    assert errors_of(log) == []


def test_a_log_that_only_lost_what_it_gained_after_the_last_head_is_as_it_was(log):
    """A run that was killed between its line and the head: the log has more than the file of heads says."""
    heads = heads_file(log).read_text().splitlines(keepends=True)
    heads_file(log).write_text("".join(heads[:-1]) + heads[-1][:20])
    appended(log, begun(3))
    assert errors_of(log) == []


@pytest.mark.parametrize("form", [0, 1])
def test_a_log_from_before_the_chain_is_continued_in_its_format_and_is_watched_too(form, tmp_path):
    path = tmp_path / "old.log"
    path.touch(mode=0o600)
    header = earlier_header(bytes(32))
    path.write_text((header if form else header.replace(' "format": 1,', "")) + begun(1) + begun(2))
    before = path.read_text()
    appended(path, ended(1))
    assert path.read_text() == before + ended(1)  # as a version without the chain would have written it
    assert check_log(path)[0].message.startswith(f"run {2:016x}")
    path.write_text(path.read_text().replace('"3/5", "decimal": "0.6"', '"3/50", "decimal": "0.06"', 1))
    (error,) = errors_of(path)
    assert "its first 4 lines are not those that it had when" in error
    path.write_text(before)
    assert "has 3 lines, and had 4" in errors_of(path)[0]


def test_an_earlier_version_may_add_lines_to_an_earlier_log_meanwhile(tmp_path):
    path = tmp_path / "old.log"
    path.touch(mode=0o600)
    path.write_text(earlier_header(bytes(32)) + begun(1))
    appended(path, ended(1))
    with path.open("a") as file:
        file.write(begun(2))  # without a head beside
    appended(path, ended(2))
    assert check_log(path) == ()


def test_a_line_that_was_cut_short_is_part_of_the_chain(log):
    with log.open("a") as file:
        file.write(begun(3)[:60])
    appended(log, begun(4))
    assert errors_of(log) == []
    assert [each.run for each in read_log(log).spends] == [f"{run:016x}" for run in (1, 2, 4)]
    log.write_bytes(log.read_bytes().replace(begun(3)[:60].encode(), begun(5)[:60].encode()))
    assert "line 7: the hash at its end" in errors_of(log)[0]


@pytest.mark.parametrize("how", ["emptied", "removed", "another log"])
def test_a_log_that_was_emptied_removed_or_replaced_is_refused_with_what_to_do(how, log, tmp_path):
    if how == "another log":
        appended(tmp_path / "other.log", begun(9))
        shutil.copy2(tmp_path / "other.log", log)
    elif how == "removed":
        log.unlink()
    else:
        os.truncate(log, 0)
    words = {
        "emptied": "is empty, and no run leaves a spend log so: .* Restore it",
        "removed": "is gone, and .*spend.log.heads says that it was here. Restore it",
        "another log": "is another log than the one that .*spend.log.heads tells of",
    }[how]
    before = log.read_bytes() if log.exists() else None
    with pytest.raises(InvalidInput, match=words):
        appended(log, begun(3))
    assert (log.read_bytes() if log.exists() else None) == before
    assert bool(refused_file(log)) is (how == "removed")  # before anything is read


def test_an_empty_file_is_never_taken_for_a_new_log(tmp_path):
    (tmp_path / "log").touch(mode=0o600)
    with pytest.raises(InvalidInput, match="is empty"):
        appended(tmp_path / "log", begun(1))
    assert (tmp_path / "log").read_bytes() == b""


def test_a_log_without_its_heads_is_doubted_and_continued(log):
    heads_file(log).unlink()
    (doubt,) = check_log(log)
    assert not doubt.is_error
    assert "so nobody can see whether this is an older copy" in doubt.message
    appended(log, begun(3))
    assert errors_of(log) == []


def test_heads_that_can_not_be_written_are_warned_of_and_the_line_counts(log, caplog):
    heads_file(log).unlink()
    heads_file(log).symlink_to(log.parent / "elsewhere")
    with caplog.at_level(logging.WARNING):
        appended(log, begun(3))
    assert "nobody would see that an older copy of the log was restored" in caplog.text
    assert len(read_log(log).spends) == 3
    assert not (log.parent / "elsewhere").exists()


@pytest.mark.parametrize("look", [read_log, errors_of])
def test_a_log_that_grows_while_it_is_looked_at_is_no_older_copy(look, log, monkeypatch):
    """A run adds its lines and their head as soon as the lock is free."""
    lock, runs = SpendLogFile._lock, [3]

    @contextmanager
    def then_a_run(file: SpendLogFile) -> Iterator[None]:
        with lock(file):
            yield
        if runs:
            appended(log, begun(runs.pop()))

    monkeypatch.setattr(SpendLogFile, "_lock", then_a_run)
    found = look(log)
    assert look is read_log or found == []
    assert len(read_log(log).spends) == 3


# Found by what a run wrote into its confidential log


def test_a_check_against_a_confidential_log_finds_an_older_copy(log, tmp_path):
    confidential = tmp_path / "OUT.confidential.log"
    confidential.write_text(f"2026-01-02T03:04:05+00:00 run 2 is charged. {read_log(log).chain.head}\n")
    command = ["spend", str(log), "--check", "--against", str(confidential)]
    assert cli(*command).exit_code == 0
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    heads_file(log).unlink()
    assert errors_of(log) == []  # the log alone can't say
    result = cli(*command)
    assert result.exit_code == 1
    assert "has 3 lines, and had 5 when" in " ".join(result.stderr.split())


def test_a_file_that_tells_nothing_of_the_log_is_refused(log, tmp_path):
    (tmp_path / "other.confidential.log").write_text(f"spend log {'0' * 16}: 3 lines, head {'0' * 32}\n")
    for name in ("other.confidential.log", "no such file"):
        with pytest.raises(InvalidInput, match="tells of no head of this spend log"):
            check_log(log, [tmp_path / name])


def test_heads_are_read_from_any_text():
    text = "x spend log 0123456789abcdef: 12 lines, head " + "0" * 32 + "\nspend log 0123456789abcdef: 3 lines, head"
    ((name, lines, value),) = heads_in(text)
    assert (name, lines, value) == ("0123456789abcdef", 12, "0" * 32)


# Merged


def test_a_merged_log_knows_the_heads_of_its_logs_and_misses_a_later_run(tmp_path):
    first, other, new = (tmp_path / name for name in ("a.log", "b.log", "new.log"))
    for path, run in ((first, 1), (other, 2)):
        appended(path, begun(run))
        appended(path, ended(run))
    merge_logs([first, other], new)
    assert check_log(new) == ()
    assert [errors_of(new, heads_file(log)) for log in (first, other)] == [[], []]
    appended(first, begun(3))
    (error,) = errors_of(new, heads_file(first))
    assert "a run was charged to that log later. Merge that log again" in error
    merge_logs([new, first], tmp_path / "again.log")
    assert errors_of(tmp_path / "again.log", heads_file(first), heads_file(new)) == []
    assert [each.run[-1] for each in read_log(tmp_path / "again.log").spends] == ["1", "2", "3"]


def test_a_merged_log_may_take_the_place_of_the_first_one(log, tmp_path):
    appended(tmp_path / "b.log", begun(7))
    merge_logs([log, tmp_path / "b.log"], tmp_path / "new.log")
    (tmp_path / "new.log").replace(log)
    appended(log, begun(8))
    assert errors_of(log) == []
    assert len(read_log(log).spends) == 4


def test_two_copies_that_went_on_side_by_side_are_found_and_can_be_merged(log, tmp_path):
    copy = tmp_path / "copy.log"
    shutil.copy2(log, copy)
    appended(log, begun(3))
    appended(copy, begun(4))
    (error,) = errors_of(log, heads_file(copy))
    assert "its first 6 lines are not those that it had when" in error
    merge_logs([log, copy], tmp_path / "new.log")
    assert errors_of(tmp_path / "new.log", heads_file(copy), heads_file(log)) == []
    assert len(read_log(tmp_path / "new.log").spends) == 4


def test_an_older_copy_is_merged_with_the_one_that_has_its_lines_as_the_refusal_advises(log, tmp_path):
    copy = tmp_path / "copy.log"
    shutil.copy2(log, copy)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(InvalidInput, match=r"older copy, or lost its end. .* merge the copies into a new log"):
        read_log(log)
    for number, order in enumerate(([log, copy], [copy, log])):
        merge_logs(order, tmp_path / str(number))
        assert errors_of(tmp_path / str(number), heads_file(log)) == []
        assert len(read_log(tmp_path / str(number)).spends) == 2
    (tmp_path / "0").replace(log)
    appended(log, begun(3))
    assert errors_of(log) == []


def test_copies_that_lack_a_line_together_are_not_merged(log, tmp_path):
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3]))
    copy, other = tmp_path / "copy.log", tmp_path / "other.log"
    shutil.copy2(log, copy)
    copy.write_bytes(b"".join(lines[:4]))
    appended(other, begun(9))
    for logs in ([log, copy], [copy, log], [log, other], [other, log]):
        with pytest.raises(InvalidInput, match=r"has 3 lines, and had 5 when .* older copy, or lost its end"):
            merge_logs(logs, tmp_path / "new.log")
    assert not (tmp_path / "new.log").exists()


def test_a_log_in_the_place_of_another_is_merged_with_it_as_the_refusal_advises(log, tmp_path):
    log.rename(tmp_path / "moved.log")
    appended(tmp_path / "other.log", begun(9))
    shutil.copy2(tmp_path / "other.log", log)
    with pytest.raises(InvalidInput, match=r"is another log than .* merge the two"):
        read_log(log)
    merge_logs([log, tmp_path / "moved.log"], tmp_path / "new.log")
    assert errors_of(tmp_path / "new.log", heads_file(log)) == []
    assert len(read_log(tmp_path / "new.log").spends) == 3


def test_a_log_that_lost_its_end_in_every_copy_goes_on_with_a_lower_limit(log, tmp_path):
    """The way in docs/how-to/repeated-runs.md#older-copies, in its order."""
    set_limit(log, "census", "9", None)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    limit = ["spend", str(log), "--dataset", "census", "--set-limit", "8.4"]
    assert cli(*limit).exit_code == 1
    heads_file(log).rename(tmp_path / "spend.log.heads.lost")
    assert cli(*limit).exit_code == 0
    assert check_log(log) == ()
    appended(log, begun(3))
    assert read_log(log).limits["census"].amount == Fraction("8.4")


def test_a_changed_line_of_a_merged_log_is_found(log, tmp_path):
    appended(tmp_path / "b.log", begun(7))
    new = tmp_path / "new.log"
    merge_logs([log, tmp_path / "b.log"], new)
    new.write_text(new.read_text().replace('"census"', '"people"', 1))
    assert "line 3: the hash at its end" in errors_of(new)[0]


# New logs


def test_a_full_disk_leaves_no_new_log_and_the_message_names_it(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log_file_module, "write_for_its_owner", full)
    with pytest.raises(RunFailed, match=r"spend\.log can't be written: No space left on device"):
        appended(tmp_path / "spend.log", begun(1))
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_when_a_run_is_charged_is_that_of_the_spend_log(log, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log_file_module, "_write", full)
    with pytest.raises(RunFailed, match=r"spend\.log can't be written: .*No space left on device"):
        appended(log, begun(3))


def test_of_many_that_begin_a_log_at_once_each_adds_its_line_to_the_same_one(tmp_path):
    """Eighteen at once; a limit for seven of them is kept exactly."""
    path, start, done = tmp_path / "spend.log", threading.Barrier(18), []

    def charge(run: int) -> None:
        start.wait()
        file = SpendLogFile(path, may_create=True)
        with file.locked() as content:
            if len(content.spends) < 7:
                file.append(content, [begun(run)])
                done.append(run)
        file.close()

    threads = [threading.Thread(target=charge, args=(run,)) for run in range(18)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(done) == len(read_log(path).spends) == 7
    assert errors_of(path) == []
    assert len(heads_in_file(heads_file(path))) == 7
    assert sorted(each.name for each in tmp_path.iterdir()) == ["spend.log", "spend.log.heads"]


def test_a_limit_begins_a_log_too(tmp_path):
    set_limit(tmp_path / "spend.log", "census", "9", ZCDP)
    assert read_log(tmp_path / "spend.log").limits["census"].amount == 9
    assert errors_of(tmp_path / "spend.log") == []
