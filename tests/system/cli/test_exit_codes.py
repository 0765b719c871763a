"""The exit code says whether the output is there; interrupts, full disks and lost listeners don't make it lie."""

import errno
import json
import os
import subprocess
import sys
import threading

import pytest

from tests.cases import cases_of
from tests.commands import done, refused
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    ConfidentialLog,
    locked_folder_module,
    output_folder_module,
    public_files_module,
    run_module,
    standard_streams_module,
)
from tests.worlds.world import World

pytestmark = pytest.mark.slow

SMALL = [str(folder) for folder in World.of(SMALL_EXAMPLE)]
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


@pytest.fixture(scope="module")
def world(releases):
    return releases.people(2, people=60, budget=1).world


@pytest.fixture
def run(world, tmp_path):
    """The words of a run."""
    (tmp_path / "temp").mkdir()
    places = [*world, tmp_path / "out", "--temp", tmp_path / "temp", "--spend-log", tmp_path / "spend.log"]
    return ["run", *map(str, places), "--dataset", "a"]


def program(patch, *given, **more):
    """Runs the command with a part of the program replaced."""
    streams = {} if "stdout" in more else {"capture_output": True}
    return subprocess.run([sys.executable, "-c", patch + MAIN, *given], text=True, check=False, **more, **streams)


def patched(module, name, function):
    return f"\nimport signal\nimport {module} as patched\npatched.{name} = {function}"


def names(folder):
    return {path.name for path in folder.iterdir()}


def left(folder):
    """What lies in --temp, and how the run ended by the spend log."""
    *_, last = (folder / "spend.log").read_text().splitlines()
    return names(folder / "temp"), json.loads(last)["state"]


def test_a_signal_before_the_output_is_there_leaves_nothing(run, tmp_path):
    patch = patched(run_module.__name__, "write_release", "lambda *_: signal.raise_signal(signal.SIGTERM)")
    ended = program(patch, *run)
    assert (ended.returncode, ended.stdout, "Traceback" in ended.stderr) == (143, "", False)
    assert names(tmp_path) == {"temp", *LOGS}
    assert left(tmp_path) == (set(), "failed")


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_the_exit_code_tells_the_signal(name, code):
    patch = f"""
import signal
signal.signal(signal.{name}, signal.default_int_handler if {name!r} == "SIGINT" else signal.SIG_DFL)  # nohup ignores it
{patched(public_files_module.__name__, "plan_of_files", f"lambda *_: signal.raise_signal(signal.{name})")}
"""
    ended = program(patch, "plan", *SMALL)
    assert (ended.returncode, ended.stdout, "Traceback" in ended.stderr) == (code, "", False)


def test_a_signal_after_the_output_is_there_changes_nothing(run, tmp_path):
    patch = f"""
{patched(output_folder_module.__name__, "sync_directory", "lambda _: signal.raise_signal(signal.SIGTERM)")}
from safetab.cli import summaries
show = summaries.show_run
summaries.show_run = lambda *given, **how: (signal.raise_signal(signal.SIGINT), show(*given, **how))
"""
    ended = program(patch, *run)
    assert ended.returncode == 0, ended.stderr
    assert "Wrote" in ended.stdout
    assert names(tmp_path) == {"out", "temp", *LOGS}
    assert left(tmp_path) == (set(), "released")


def test_a_log_that_can_no_longer_be_written_is_a_warning_once_the_output_is_there(run, out, tmp_path, monkeypatch):
    write = ConfidentialLog.write

    def full(log, line):
        if out.exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        write(log, line)

    monkeypatch.setattr(ConfidentialLog, "write", full)
    told = done(*run)
    assert "was written, and is whole. What followed failed: No space left on device." in told
    assert "Nothing was written" not in told
    assert left(tmp_path) == (set(), "released")


def test_persons_that_could_not_be_removed_are_a_warning_once_the_output_is_there(world, run, tmp_path, monkeypatch):
    monkeypatch.setattr(locked_folder_module.shutil, "rmtree", lambda *_, **__: None)
    told = done(*run)
    [persons] = (tmp_path / "temp").iterdir()
    assert f"What followed failed: {persons} could not be removed." in told
    assert left(tmp_path)[1] == "released"
    assert "could not be removed" in refused("validate", *world, "--temp", tmp_path / "temp", code=3)


def test_closed_streams_and_a_full_terminal_dont_change_the_result(run, tmp_path):
    command = f'"{sys.executable}" -m safetab {" ".join(run)} <&- 2>&- >/dev/full'
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
    assert names(tmp_path) == {"out", "temp", *LOGS}


def test_readers_who_left_dont_change_the_result(run, tmp_path):
    """The first line on standard error already finds nobody."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = program("", *run, stdout=writer, stderr=writer)
    os.close(writer)
    assert ended.returncode == 0
    assert names(tmp_path) == {"out", "temp", *LOGS}


@pytest.mark.parametrize("module", ["safetab.runs.declared_options", "safetab.cli.main", "typer"])
def test_ctrl_c_while_the_command_is_loaded_is_130_without_a_traceback(module):
    patch = AT_A_MODULE.format("sys.argv[1]") + 'sys.argv[0] = "/usr/bin/safetab"'
    ended = program(patch, module)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


@pytest.mark.parametrize("options", [["-m"], ["-u", "-m"], ["-X", "dev", "-um"]])
def test_ctrl_c_at_start_is_130_whatever_python_was_told(options, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(AT_A_MODULE.format('"safetab.runs.declared_options"'))
    called = [sys.executable, *options, "safetab", "demo", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(called, capture_output=True, text=True, check=False, env=environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "Interrupted.\n")


@pytest.mark.parametrize(
    ("error", "words"),
    cases_of(
        """
        MemoryError() | out of memory.
        OSError(24, 'Too many open files') | the operating system reported: Too many open files.
        LookupError('a value') | an error of the program itself (LookupError,
        """
    ),
)
def test_an_error_of_any_kind_is_a_sentence(error, words):
    patch = f"def fail(*_): raise {error}" + patched(public_files_module.__name__, "plan_of_files", "fail")
    ended = program(patch, "plan", *SMALL)
    assert ended.returncode == 3
    assert ended.stderr.startswith(f"The run failed: {words}")
    assert "a value" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_full_pipe_that_does_not_wait_is_waited_for():
    """As some programs hand one on to those that they start."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    stream, seen = standard_streams_module._opened(writing, None), []

    def read_whole():
        with os.fdopen(reading, "rb") as file:
            seen.append(file.read())

    reader = threading.Timer(0.2, read_whole)
    reader.start()
    lines = [f"{number}\n" for number in range(20_000)]  # more than a pipe holds
    stream.writelines(lines)
    stream.flush()
    os.close(writing)
    reader.join()
    assert seen == ["".join(lines).encode()]


@pytest.mark.parametrize(("given", "code"), [("--version", 0), ("--nonsense", 2)])
def test_whatever_waits_for_the_end_is_called_and_written(given, code):
    """Python ends as it does for any program: what waits for the end is called, and threads are waited for."""
    at_the_end = "import atexit; atexit.register(print, 'the end')\n"
    wait = "threading.main_thread().join(), print('done')"
    in_a_thread = f"import threading; threading.Thread(target=lambda: ({wait})).start()\n"
    for before, said in ((at_the_end, "left\nthe end\n"), (at_the_end + in_a_thread, "left\ndone\nthe end\n")):
        program = f"{before}from safetab.cli.start import main\ntry: main()\nfinally: print('left')"
        ended = subprocess.run([sys.executable, "-c", program, given], capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout.endswith(said)) == (code, True)
