"""Commands of safetab in forks of a process that has loaded everything: a case costs what the command itself costs."""

import contextlib
import gc
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from safetab.cli.main import main
from tests.commands import cli
from tests.faults.injector import arm

HUNG = -1000
"""The exit code that stands for a command that had to be ended."""

_SECONDS = float(os.environ.get("FAULT_SECONDS", "60"))


@dataclass(frozen=True)
class Ending:
    """How a command ended; a negative code is the signal that ended it."""

    code: int
    stdout: str
    stderr: str
    trace: tuple[tuple[str, str], ...] = ()  # name and path of each operation, if they were asked for

    @property
    def words(self):
        return " ".join(self.stderr.split())


@dataclass(frozen=True)
class Started:
    """A command at work."""

    process: int
    files: tuple[Path, Path, Path]

    def ended(self, seconds=_SECONDS):
        code = _code_of(self.process, seconds)
        stdout, stderr, traced = (path.read_text(encoding="utf-8", errors="replace") for path in self.files)
        for path in self.files:
            path.unlink()
        operations = [line.split("\t") for line in traced.splitlines()]
        return Ending(code, stdout, stderr, tuple((name, path) for _, name, path in operations))


def ended(work, fault=None, folders=(), *, is_traced=False, address_space=None):
    """How `safetab ARGUMENTS`, or a function that gives an exit code, ends with this fault under these folders."""
    return started(work, fault, folders, is_traced=is_traced, address_space=address_space).ended()


def started(work, fault=None, folders=(), *, is_traced=False, address_space=None):
    handles, paths = zip(*(tempfile.mkstemp(prefix="fault-") for _ in range(3)), strict=True)
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.dup2(handles[0], 1)
        os.dup2(handles[1], 2)
        _do_and_exit(work, lambda: _prepare(fault, folders, handles[2] if is_traced else -1, address_space))
    for handle in handles:
        os.close(handle)
    return Started(process, tuple(Path(path) for path in paths))


def _prepare(fault, folders, trace, address_space):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):  # nohup ignores them
        signal.signal(number, signal.SIG_DFL)
    if address_space is not None:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    if fault is not None:
        arm(fault, folders, trace)


def _do_and_exit(work, prepare):
    """What came to the top is shown as Python would show it."""
    code = 1
    try:
        prepare()
        code = work() if callable(work) else code_of_command(work)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def code_of_command(arguments):
    sys.argv = ["safetab", *map(str, arguments)]
    try:
        main()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    return 0


def _code_of(process, seconds):
    latest, pause = time.monotonic() + seconds, 0.001
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > latest:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return HUNG
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def warmed_up(*commands):
    """Runs commands in this process, so that forks find their modules loaded."""
    for arguments in commands:
        result = cli(*arguments)
        assert result.exit_code == 0, result.output
    gc.collect()
    gc.freeze()
