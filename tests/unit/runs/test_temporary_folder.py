"""Confidential temporary files lie in the folder that was asked for, and only if it is private."""

import os
import stat
from pathlib import Path

import pytest

from tests.commands import refused
from tests.inside import RunOptions, backend_of, refused_options

NOBODY = 65534


@pytest.fixture(params=["--temp", "TMPDIR", "TEMP", "TMP"])
def name(request):
    return request.param


@pytest.fixture
def asked(name, monkeypatch):
    """Options with which a folder is asked for, by an option or by the environment."""
    for variable in "TMPDIR", "TEMP", "TMP":
        monkeypatch.delenv(variable, raising=False)

    def options(folder):
        if name == "--temp":
            return RunOptions(temporary_parent=folder)
        monkeypatch.setenv(name, str(folder))
        return RunOptions()

    return options


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "folder"
    made.mkdir()
    return made


def refusals(options):
    return [(finding.where, finding.message) for finding in refused_options(Path("data"), options)]


def test_the_folder_that_was_asked_for_is_used(asked, tmp_path):
    options = asked(tmp_path)
    assert refusals(options) == []
    with backend_of(options):
        (made,) = tmp_path.iterdir()
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there_or_no_directory_is_refused(asked, name, tmp_path):
    (tmp_path / "file").touch()
    told = {"gone": "does not exist. Create it, or name another folder with --temp."}
    for path, message in (told | {"file": "is not a directory. Name another folder with --temp."}).items():
        assert refusals(asked(tmp_path / path)) == [(name, f"{tmp_path / path} {message}")]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o722])
def test_a_folder_that_others_may_write_to_is_refused(mode, asked, name, folder):
    folder.chmod(mode)
    ((where, message),) = refusals(asked(folder))
    assert where == name
    assert message.startswith(f"{folder} has mode {mode:04o}: other users could replace the confidential files in it.")
    folder.chmod(mode | stat.S_ISVTX)
    assert refusals(asked(folder)) == []


def test_a_folder_of_another_user_is_refused(asked, name, folder, monkeypatch):
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    ((where, message),) = refusals(asked(folder))
    assert where == name
    assert message.startswith(f"{folder} belongs to another user")


def test_a_folder_without_permission_is_refused(asked, name, folder):
    folder.chmod(0o500)
    for path in folder.parents:
        if path.stat().st_mode & 0o055 != 0o055:
            path.chmod(path.stat().st_mode | 0o055)
    if os.geteuid() == 0:  # who may do anything: another user looks
        os.chown(folder, NOBODY, -1)
    found = as_nobody(lambda: refusals(asked(folder)))
    assert found == repr([(name, f"{folder} can't be written to: permission denied. Name another folder with --temp.")])


def as_nobody(look):
    """What is seen without the rights of root, which tests may have."""
    if os.geteuid():
        return repr(look())
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(NOBODY)
        os.write(writing, repr(look()).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as seen:
        return seen.read()


@pytest.mark.parametrize("command", ["run", "validate", "accuracy"])
def test_every_command_that_reads_records_refuses_it(command, world, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    out = [tmp_path / "out"] if command != "validate" else []
    assert f"TMPDIR: {tmp_path}" in refused(command, *world, *out)
    assert list(tmp_path.glob("out*")) == []
