"""What a process that reads persons leaves of them elsewhere: nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import cli
from tests.inside import ConfidentialLog
from tests.worlds.people import write_random_world
from tests.worlds.world import World

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


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_random_world(tmp_path_factory.mktemp("hardening"), 3, budget=1)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["validate", "run", "accuracy"])
def test_no_command_that_reads_persons_can_be_dumped(command, world, tmp_path):
    more = {"validate": [], "run": [tmp_path / "out"], "accuracy": [tmp_path / "out", "--runs", "1"]}[command]
    arguments = map(str, [command, world.parameters, world.data, *more])
    ended = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert ended.stdout == "True False\n", ended.stderr


def test_the_confidential_log_follows_no_link(world, tmp_path):
    (tmp_path / "theirs").touch(mode=0o644)
    (tmp_path / "log").symlink_to(tmp_path / "theirs")
    for arguments in (["run", str(tmp_path / "out")], ["validate"]):
        command, *out = arguments
        given = [command, str(world.parameters), str(world.data), *out, "--confidential-log", str(tmp_path / "log")]
        result = cli(*given)
        assert result.exit_code == 1
        assert "the confidential log can't be written there" in result.stderr
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
