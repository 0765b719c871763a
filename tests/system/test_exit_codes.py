"""The exit code says whether the output is there; interrupts, full disks and lost listeners don't make it lie."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.commands import cli
from tests.conftest import SMALL_EXAMPLE
from tests.inside import ConfidentialLog, locked_folder_module, standard_streams_module
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

SMALL = [str(SMALL_EXAMPLE / "parameters"), str(SMALL_EXAMPLE / "data")]
LOGS = ("out.confidential.log", "spend.log", "spend.log.heads")
MAIN = "\nfrom safetab.cli.start import main; main()"
AT_A_MODULE = """
import sys
class InterruptedAt:
    def find_spec(self, name, *_):
        if name == {}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, InterruptedAt())
"""
INTERRUPTED_AT = f"""
{AT_A_MODULE.format("sys.argv[1]")}
sys.argv[0] = "/usr/bin/safetab"
from safetab.cli.start import main; main()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_random_world(tmp_path_factory.mktemp("last-word"), 3, people=60, budget=1)


def arguments(world: World, folder: Path) -> list[str]:
    (folder / "temp").mkdir()
    places = [world.parameters, world.data, folder / "out", "--temp", folder / "temp"]
    return ["run", *map(str, places), "--dataset", "a", "--spend-log", str(folder / "spend.log")]


def program(patch: str, *given: str, **streams: object) -> subprocess.CompletedProcess[str]:
    """Runs the command with a part of the program replaced."""
    return subprocess.run([sys.executable, "-c", patch + MAIN, *given], text=True, check=False, **streams)


def states(folder: Path) -> list[str]:
    lines = [json.loads(line) for line in (folder / "spend.log").read_text().splitlines()]
    return [line["state"] for line in lines if "state" in line]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_signal_before_the_output_is_there_leaves_nothing(world, tmp_path):
    patch = "import signal\nfrom safetab.pipeline import run as output\noutput.write_release = lambda *_: signal.raise_signal(signal.SIGTERM)"
    ended = program(patch, *arguments(world, tmp_path), capture_output=True)
    assert (ended.returncode, ended.stdout) == (143, "")
    assert "Traceback" not in ended.stderr
    assert names(tmp_path) == {"temp", *LOGS}
    assert names(tmp_path / "temp") == set()
    assert states(tmp_path)[-1] == "failed"


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_the_exit_code_tells_the_signal(name, code):
    patch = f"""
import signal
signal.signal(signal.{name}, signal.default_int_handler if {name!r} == "SIGINT" else signal.SIG_DFL)  # nohup ignores it
from safetab.planning import planner
planner.plan_of_files = lambda *_: signal.raise_signal(signal.{name})
"""
    ended = program(patch, "plan", *SMALL, capture_output=True)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert "Traceback" not in ended.stderr


def test_a_signal_after_the_output_is_there_changes_nothing(world, tmp_path):
    patch = """
import signal
from safetab.outputs import output_folder
output_folder.sync_directory = lambda _: signal.raise_signal(signal.SIGTERM)
from safetab.cli import summaries
show = summaries.show_run
summaries.show_run = lambda *given, **how: (signal.raise_signal(signal.SIGINT), show(*given, **how))
"""
    ended = program(patch, *arguments(world, tmp_path), capture_output=True)
    assert ended.returncode == 0, ended.stderr
    assert "Wrote" in ended.stdout
    assert names(tmp_path) == {"out", "temp", *LOGS}
    assert names(tmp_path / "temp") == set()
    assert states(tmp_path)[-1] == "released"


def test_a_log_that_can_no_longer_be_written_is_a_warning_once_the_output_is_there(world, tmp_path, monkeypatch):
    write = ConfidentialLog.write

    def full(log, line):
        if (tmp_path / "out").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        write(log, line)

    monkeypatch.setattr(ConfidentialLog, "write", full)
    ended = cli(*arguments(world, tmp_path))
    assert ended.exit_code == 0
    assert "was written, and is whole. What followed failed: No space left on device." in ended.stderr
    assert "Nothing was written" not in ended.stderr
    assert names(tmp_path / "temp") == set()
    assert states(tmp_path)[-1] == "released"


def test_persons_that_could_not_be_removed_are_a_warning_once_the_output_is_there(world, tmp_path, monkeypatch):
    monkeypatch.setattr(locked_folder_module.shutil, "rmtree", lambda *_, **__: None)
    ended = cli(*arguments(world, tmp_path))
    left = next((tmp_path / "temp").iterdir())
    assert ended.exit_code == 0
    assert f"What followed failed: {left} could not be removed." in ended.stderr
    assert states(tmp_path)[-1] == "released"
    validated = cli("validate", *arguments(world, left)[1:3], "--temp", tmp_path / "temp")
    assert validated.exit_code == 3
    assert "could not be removed" in validated.stderr


def test_closed_streams_and_a_full_terminal_dont_change_the_result(world, tmp_path):
    given = " ".join(arguments(world, tmp_path))
    command = f'"{sys.executable}" -m safetab {given} <&- 2>&- >/dev/full'
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
    assert names(tmp_path) == {"out", "temp", *LOGS}


def test_readers_who_left_dont_change_the_result(world, tmp_path):
    """The first line on standard error already finds nobody."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = program("", *arguments(world, tmp_path), stdout=writer, stderr=writer)
    os.close(writer)
    assert ended.returncode == 0
    assert names(tmp_path) == {"out", "temp", *LOGS}


@pytest.mark.parametrize("module", ["safetab.pipeline.declared_options", "safetab.cli.main", "typer"])
def test_ctrl_c_while_the_command_is_loaded_is_130_without_a_traceback(module):
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED_AT, module], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


@pytest.mark.parametrize("options", [["-m"], ["-u", "-m"], ["-X", "dev", "-um"]])
def test_ctrl_c_at_start_is_130_whatever_python_was_told(options, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(AT_A_MODULE.format('"safetab.pipeline.declared_options"'))
    called = [sys.executable, *options, "safetab", "demo", str(tmp_path / "out")]
    ended = subprocess.run(
        called, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("MemoryError()", "The run failed: out of memory."),
        ("OSError(24, 'Too many open files')", "The run failed: the operating system reported: Too many open files."),
        ("LookupError('a value')", "The run failed: an error of the program itself (LookupError, "),
    ],
)
def test_an_error_of_any_kind_is_a_sentence(error, words):
    patch = f"""
from safetab.planning import planner
def fail(*_): raise {error}
planner.plan_of_files = fail
"""
    ended = program(patch, "plan", *SMALL, capture_output=True)
    assert ended.returncode == 3
    assert ended.stderr.startswith(words)
    assert "a value" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_full_pipe_that_does_not_wait_is_waited_for():
    """As some programs hand one on to those that they start."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    stream, seen = standard_streams_module._opened(writing, None), list[bytes]()
    reader = threading.Timer(0.2, lambda: seen.append(_read_whole(reading)))
    reader.start()
    lines = [f"{number}\n" for number in range(20_000)]  # more than a pipe holds
    stream.writelines(lines)
    stream.flush()
    os.close(writing)
    reader.join()
    assert seen == ["".join(lines).encode()]


def _read_whole(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


@pytest.mark.parametrize(("given", "code"), [("--version", 0), ("--nonsense", 2)])
def test_whatever_waits_for_the_end_is_called_and_written(given, code):
    """Python ends as it does for any program: what waits for the end is called, and threads are waited for."""
    at_the_end = "import atexit; atexit.register(print, 'the end')\n"
    wait = "threading.main_thread().join(), print('done')"
    in_a_thread = f"import threading; threading.Thread(target=lambda: ({wait})).start()\n"
    cases = ((at_the_end, "left\nthe end\n"), (at_the_end + in_a_thread, "left\ndone\nthe end\n"))
    for before, said in cases:
        program = f"{before}from safetab.cli.start import main\ntry: main()\nfinally: print('left')"
        ended = subprocess.run([sys.executable, "-c", program, given], capture_output=True, text=True, check=False)
        assert ended.returncode == code
        assert ended.stdout.endswith(said)
