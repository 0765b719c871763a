"""Limits on memory that were set for a process are kept to, or said to be too small before anything is loaded."""

import re
import resource
import subprocess
import sys

import pytest
from typer.main import get_command

from safetab.cli.main import app
from tests.cases import values_of
from tests.inside import RunFailed, control_group_limit, os_errors_as_run_failed, start_up_module, why_too_little
from tests.worlds.people import write_random_world

MB = 1 << 20


@pytest.mark.parametrize(
    ("command", "space", "memory", "words"),
    values_of(
        """
        "run" | None | None | None
        "run" | 900 | 300 | None
        "run" | 899 | None | "limited to 899 MB of address space (`ulimit -v`), and safetab run needs 900 MB"
        "compare" | 899 | None | "and safetab compare needs 900 MB"
        "show" | 500 | 200 | None
        "show" | 499 | None | "limited to 499 MB of address space (`ulimit -v`), and safetab show needs 500 MB"
        "validate" | None | 299 | "limited to 299 MB of memory (by its control group, as that of a container)"
        """
    ),
)
def test_a_limit_that_is_too_small_is_told(command, space, memory, words):
    told = why_too_little(command, *(most and most * MB for most in (space, memory)))
    assert (told is None) if words is None else words in str(told)


def test_the_limit_of_a_control_group_is_the_least_of_those_above_it(tmp_path):
    inner = tmp_path / "batch" / "job"
    inner.mkdir(parents=True)
    (tmp_path / "own").write_text("0::/batch/job\n")
    assert limit_of(tmp_path) is None
    for folder, text, limit in (
        (inner, "max", None),
        (tmp_path / "batch", f"{700 * MB}", 700 * MB),
        (inner, f"{250 * MB}", 250 * MB),
    ):
        (folder / "memory.max").write_text(f"{text}\n")
        assert limit_of(tmp_path) == limit


def test_the_first_version_of_control_groups_is_known_too(tmp_path):
    (tmp_path / "own").write_text("12:cpu,cpuacct:/\n4:memory:/docker/of-another-machine\n1:name=systemd:/\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(f"{512 * MB}\n")
    assert limit_of(tmp_path) == 512 * MB


def test_every_command_that_opens_records_is_known_to_need_more():
    """Those that take DATA, and say of none that it opens no record; and those that make their own records."""
    found = {"audit", "selftest", "demo", "synthesize"}
    for name, command in get_command(app).commands.items():
        within = getattr(command, "commands", {name: command}).values()
        takes = {parameter.name for each in within for parameter in each.params}
        opens_none = re.search(r"Opens no (person file|record)", " ".join((command.help or "").split()))
        if "data" in takes and not opens_none:
            found.add(name)
    assert found == start_up_module._READ_RECORDS


_LOADING = """
import os, sys, threading
from safetab.cli.main import main
from safetab.foundation import compiled
compiled._LEAST_WORK_TO_COMPILE = 1
class Noted:
    def find_spec(self, name, path=None, target=None):
        if name in ("numba", "numba.np.arraymath"):  # the last asks for BLAS
            print(name, threading.current_thread() is threading.main_thread(), flush=True)
        if name == "numba.np.arraymath":
            os._exit(0)  # nothing is asked of what comes after
sys.meta_path.insert(0, Noted())
main()
"""


def test_what_compiles_is_loaded_before_threads_start(tmp_path):
    command = ["validate", *map(str, write_random_world(tmp_path, 2)), "--threads", "2"]
    ended = subprocess.run([sys.executable, "-c", _LOADING, *command], capture_output=True, text=True, check=False)
    assert ended.stdout.splitlines() == ["numba True", "numba.np.arraymath True"], ended.stderr


def test_want_of_memory_is_answered_with_what_helps_every_command():
    """Most commands have no --memory, and under `ulimit -v` another machine is not needed."""
    with pytest.raises(RunFailed, match="raise a limit on memory") as failed, os_errors_as_run_failed():
        raise MemoryError
    assert "--" not in str(failed.value)


@pytest.mark.parametrize("text", ["", "x", "0::\n", "0::/../..\n", ":::\n"])
def test_a_system_without_control_groups_has_no_such_limit(text, tmp_path):
    (tmp_path / "own").write_text(text)
    assert limit_of(tmp_path) is None
    assert control_group_limit(str(tmp_path), str(tmp_path / "nowhere")) is None


def limit_of(folder):
    return control_group_limit(str(folder), str(folder / "own"))


def limited(space, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "safetab", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space)),
    )


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="limits on the address space hold on Linux")


@ON_LINUX
def test_a_command_that_has_too_little_address_space_ends_before_it_begins(world, tmp_path):
    ended = limited(300 * MB, "run", *world, tmp_path / "out")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert (
        "this process is limited to 300 MB of address space (`ulimit -v`), and safetab run needs 900 MB" in ended.stderr
    )
    assert "Nothing was written. Raise the limit." in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "parameters"]
    assert limited(300 * MB, "run", "--help").returncode == 0


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize("space", [900 * MB, 1400 * MB])
def test_a_small_run_needs_no_more_than_is_told(space, releases, tmp_path):
    """At 1400 MB Arrow's allocator would reserve most of it for itself."""
    ended = limited(space, "run", *releases.people(2, people=60, budget=1).world, tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
