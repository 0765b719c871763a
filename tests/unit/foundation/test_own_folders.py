"""Clearing away touches only our own, and an output changes in one step."""

import errno
import os
import signal
import stat
from pathlib import Path

import numpy as np
import pytest

from tests.cases import cases_of
from tests.inside import (
    US_PASS,
    CantBeDone,
    InvalidInput,
    LeftBehind,
    PartAtoms,
    PartRecords,
    RunFailed,
    locked_folder,
    locked_folder_module,
    new_files_module,
    output_findings,
    output_folder_module,
    whole_output,
    write_new_file,
    write_new_files,
)


def test_encoded_persons_are_for_their_owner_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        persons = PartRecords(tmp_path, [PartAtoms(US_PASS, 0, 2)], 100)
        many = np.arange(100_000, dtype=np.int32)  # fewer stay in memory
        persons.add(1 - many % 2, many, many.astype(np.uint8))
        modes = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()]
        found = persons.sorted_part(0)
        modes += [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()]
    finally:
        os.umask(before)
    assert modes == [0o600] * 6
    assert found.run_patterns.tolist() == [*range(1, 100_000, 2), *range(0, 100_000, 2)]


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def names(folder):
    return [path.name for path in folder.iterdir()]


def left_by_a_killed_run(parent, name):
    folder = parent / name
    folder.mkdir(mode=0o700)
    (folder / ".safetab-lock").touch()
    return folder


def clear_away(folder):
    with locked_folder(folder, "part-"):
        pass


def test_links_to_the_folders_of_others_and_inside_our_own_are_not_followed(tmp_path):
    theirs = left_by_a_killed_run(tmp_path, "theirs")
    (theirs / "precious").write_text("theirs")
    (tmp_path / "part-link").symlink_to(theirs)
    (left_by_a_killed_run(tmp_path, "part-left") / "link").symlink_to(theirs)
    clear_away(tmp_path)
    assert (theirs / "precious").read_text() == "theirs"
    assert (tmp_path / "part-link").is_symlink()
    assert not (tmp_path / "part-left").exists()


def test_a_lock_that_is_no_file_is_none_of_ours(tmp_path):
    folders = [tmp_path / f"part-{number}" for number in range(3)]
    for folder, lock in zip(folders, (os.mkfifo, Path.mkdir, lambda path: path.symlink_to("precious")), strict=True):
        folder.mkdir()
        lock(folder / ".safetab-lock")
        (folder / "precious").write_text("theirs")
    clear_away(tmp_path)
    assert [(folder / "precious").read_text() for folder in folders] == ["theirs"] * 3


def test_a_folder_of_another_user_stays(tmp_path, monkeypatch):
    folder = left_by_a_killed_run(tmp_path, "part-theirs")
    monkeypatch.setattr(locked_folder_module.os, "geteuid", lambda: os.getuid() + 1)
    clear_away(tmp_path)
    assert folder.is_dir()


@pytest.mark.parametrize(
    ("place", "step"),
    cases_of("""
        tempfile | mkdtemp
        | _remove
    """),
)
def test_an_interrupt_while_a_folder_is_made_or_cleared_away_leaves_none(place, step, tmp_path, monkeypatch):
    where, entered = getattr(locked_folder_module, place, locked_folder_module), []
    usual = getattr(where, step)

    def interrupted(*arguments, **named):
        if step == "_remove":
            signal.raise_signal(signal.SIGINT)
        found = usual(*arguments, **named)
        signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(where, step, interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), locked_folder(tmp_path, "part-") as folder:
            entered.append((folder / "persons").touch())
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(entered) == (step == "_remove")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_removed_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(locked_folder_module.shutil, "rmtree", lambda *_, **__: None)
    with pytest.raises(LeftBehind, match="could not be removed"):
        clear_away(tmp_path)


def cannot(*_):
    raise CantBeDone


def write_output(out, text, *, overwrite=True):
    with whole_output(out, overwrite=overwrite) as output:
        (output / "manifest.json").write_text(text)


@pytest.mark.parametrize("can_exchange", [True, False])
def test_an_output_is_replaced_and_nothing_is_left(can_exchange, tmp_path, monkeypatch):
    if not can_exchange:
        monkeypatch.setattr(output_folder_module, "exchange", cannot)
    for text in ("old", "new"):
        write_output(tmp_path / "out", text)
    assert contents(tmp_path / "out") == {"manifest.json": "new"}
    assert names(tmp_path) == ["out"]


def test_an_output_changes_in_one_step(tmp_path, monkeypatch):
    """Where the file system can exchange, no moment is seen in which nothing is at OUT."""
    write_output(tmp_path / "out", "old")
    renamed, exchanged = [], []
    exchange, rename = output_folder_module.exchange, Path.rename
    monkeypatch.setattr(output_folder_module, "exchange", lambda *both: (exchanged.append(both), exchange(*both)))
    monkeypatch.setattr(Path, "rename", lambda path, to: (renamed.append(to), rename(path, to))[1])
    write_output(tmp_path / "out", "new")
    assert len(exchanged) == 1
    assert renamed == []


class Killed(BaseException):
    """As if the process had been killed: nothing is cleared away after it."""


@pytest.mark.parametrize("after", [1, 2])
def test_an_output_that_a_killed_run_had_moved_aside_is_put_back(after, tmp_path, monkeypatch):
    out, renames, rename = tmp_path / "out", [], Path.rename
    write_output(out, "old")

    def killed(path, to):
        renames.append(rename(path, to))
        if len(renames) == after:
            raise Killed
        return renames[-1]

    with monkeypatch.context() as patched:
        patched.setattr(output_folder_module, "exchange", cannot)
        patched.setattr(Path, "rename", killed)
        patched.setattr(locked_folder_module, "_clear", lambda _, lock: os.close(lock))
        with pytest.raises(Killed):
            write_output(out, "new")
    assert out.exists() == (after == 2)
    assert "already exists" in output_findings(out, [], overwrite=False)[0].message
    assert contents(out) == {"manifest.json": "old" if after == 1 else "new"}
    assert names(tmp_path) == ["out"]


def test_what_took_the_place_of_an_output_meanwhile_stays(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(FileExistsError, match="meanwhile"), whole_output(out, overwrite=False):
        write_output(out, "theirs")
    assert contents(out) == {"manifest.json": "theirs"}
    with pytest.raises(FileExistsError), whole_output(tmp_path / "file", overwrite=True):
        (tmp_path / "file").write_text("theirs")
    assert (tmp_path / "file").read_text() == "theirs"
    assert sorted(names(tmp_path)) == ["file", "out"]


def test_a_published_output_is_no_failure_though_something_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(locked_folder_module.shutil, "rmtree", lambda *_, **__: None)
    write_output(tmp_path / "out", "new")
    monkeypatch.undo()
    assert len(names(tmp_path)) == 2
    write_output(tmp_path / "out", "newer")
    assert names(tmp_path) == ["out"]


def test_a_full_disk_is_a_failure_and_no_fault_of_what_was_given(tmp_path):
    with pytest.raises(RunFailed, match="No space left on device"):
        write_new_file(tmp_path / "file", raising(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_somebody_made_meanwhile_stays(tmp_path):
    def write(beside):
        beside.write_text("ours")
        (tmp_path / "file").write_text("theirs")

    with pytest.raises(InvalidInput, match="meanwhile"):
        write_new_file(tmp_path / "file", write)
    assert contents(tmp_path) == {"file": "theirs"}


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("before", [{}, {"first": "old"}, {"first": "old", "second": "old"}])
def test_of_two_files_both_appear_or_none(before, has_links, tmp_path, monkeypatch):
    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", raising(errno.EPERM))
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    with monkeypatch.context() as patch:
        patch.setattr(new_files_module, "_publish", refusing_the_second)
        with pytest.raises(RunFailed, match=r"second can't be written: .* Nothing was written\."):
            write_two(tmp_path)
    assert contents(tmp_path) == before
    write_two(tmp_path)
    assert contents(tmp_path) == {"first": "new", "second": "new"}


def test_a_first_file_that_cant_be_taken_back_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files_module, "_publish", refusing_the_second)
    monkeypatch.setattr(new_files_module, "_undo", lambda *_: raising(errno.ESTALE))
    with pytest.raises(RunFailed, match=r"first was written, .* could not be removed: .* Stale file handle\.$"):
        write_two(tmp_path)
    assert contents(tmp_path) == {"first": "new"}


def write_new(path):
    path.write_text("new")


def write_two(folder):
    write_new_files({folder / name: write_new for name in ("first", "second")}, overwrite=True)


def raising(number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    return refuse


def refusing_the_second(beside, file, **_):
    if file.name == "second":
        raising(errno.EIO)()
    beside.replace(file)


def test_a_new_file_is_made_where_the_file_system_knows_no_exclusive_move(tmp_path, monkeypatch):
    monkeypatch.setattr(new_files_module, "move_to_new", cannot)
    write_new_file(tmp_path / "file", write_new)
    assert contents(tmp_path) == {"file": "new"}


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="not a regular file"):
        write_new_file(tmp_path / "pipe", write_new, overwrite=True)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("manifest", ['{"name": "ext"}', "[1]", '{"outputs": {"t1/us.csv": {}}, "documents": {}}'])
def test_a_folder_with_files_that_no_run_wrote_is_not_replaced(manifest, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text(manifest)
    (out / "thesis.txt").write_text("precious")
    findings = output_findings(out, (), overwrite=True)
    assert [one.message for one in findings if "holds what safetab didn't write there" in one.message]
    (out / "thesis.txt").unlink()
    assert bool(output_findings(out, (), overwrite=True)) == ("outputs" not in manifest)
