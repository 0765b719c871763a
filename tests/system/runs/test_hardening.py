"""What a process that reads persons leaves of them elsewhere: nothing."""

import os
import stat
from pathlib import Path

import pytest

from tests.commands import ran, refused
from tests.inside import ConfidentialLog

PROGRAM = """
import ctypes, resource, sys
from typer.testing import CliRunner
from safetab.cli.main import app
limits, original = [], resource.setrlimit
resource.setrlimit = lambda *limit: (limits.append(limit), original(*limit))
PR_GET_DUMPABLE = 3
def is_dumpable():
    return sys.platform == "linux" and bool(ctypes.CDLL(None).prctl(PR_GET_DUMPABLE))
assert is_dumpable() == (sys.platform == "linux")
assert CliRunner().invoke(app, sys.argv[1:]).exit_code == 0
print((resource.RLIMIT_CORE, (0, 0)) in limits, is_dumpable())
"""


@pytest.fixture
def world(releases):
    return releases.people(2, people=60, budget=1).world


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "run", "accuracy"])
def test_no_command_that_reads_persons_can_be_dumped(command, world, out):
    more = {"validate": [], "run": [out], "accuracy": [out, "--runs", "1"]}[command]
    ended = ran(PROGRAM, command, *world, *more)
    assert ended.stdout == "True False\n", ended.stderr


def test_the_confidential_log_follows_no_link(world, tmp_path):
    (tmp_path / "theirs").touch(mode=0o644)
    (tmp_path / "log").symlink_to(tmp_path / "theirs")
    for command, *out in (["run", tmp_path / "out"], ["validate"]):
        told = refused(command, *world, *out, "--confidential-log", tmp_path / "log")
        assert "the confidential log can't be written there" in told
    assert (tmp_path / "theirs").read_bytes() == b""
    assert stat.S_IMODE((tmp_path / "theirs").stat().st_mode) == 0o644


def test_the_confidential_log_is_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # so that the pipe could be written
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        with pytest.raises(OSError):  # noqa: PT011 - which one depends on what the path is
            ConfidentialLog(path)
    os.close(reader)


def test_the_confidential_log_is_its_owners_alone_whatever_it_was(tmp_path):
    (tmp_path / "log").touch(mode=0o644)
    with ConfidentialLog(tmp_path / "log") as log:
        log.write("a line")
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600
    assert (tmp_path / "log").read_text().endswith(" a line\n")
