"""A run keeps to what it may use of the machine, and fails whole when the machine has no more."""

import errno
import re
import shutil
from collections import namedtuple

import pyarrow as pa
import pytest

from tests.commands import cli, ran, refusing
from tests.conftest import PROJECT
from tests.inside import pass_files_module
from tests.worlds.people import write_random_world
from tools.benchmarks.runs import shares_of

pytestmark = pytest.mark.slow

DiskUsage = namedtuple("DiskUsage", ("total", "used", "free"))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_random_world(tmp_path_factory.mktemp("limits"), 5, people=2000, budget=1)


@pytest.fixture
def temporary(tmp_path):
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


@pytest.fixture
def run(world, temporary, out):
    """What a run says that ends with this code."""

    def said(*more, code=0):
        result = cli("run", *world, out, "--temp", temporary, *more)
        assert result.exit_code == code
        return result.stderr

    return said


def left_behind(out, temporary):
    log = out.parent / f"{out.name}.confidential.log"
    return [path for path in (*out.parent.iterdir(), *temporary.iterdir()) if path not in (log, temporary)]


def test_a_disk_that_is_too_small_is_told_before_any_noise(run, out, temporary, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: DiskUsage(10**9, 10**9 - 10**6, 10**6))
    stderr = run(code=3)
    assert "1 MB free, but about 20 MB are needed. Nothing was written." in stderr
    assert "Checking the person records" not in stderr
    assert left_behind(out, temporary) == []


def test_a_quota_that_is_used_up_is_told_and_leaves_nothing(run, out, temporary, monkeypatch):
    monkeypatch.setattr(pass_files_module.TableFile, "write", refusing(errno.EDQUOT))
    stderr = run(code=3)
    assert "The run failed: a disk that the run writes to is full, or a quota on it is used up" in stderr
    assert "Nothing was written." in stderr
    assert left_behind(out, temporary) == []


def test_the_disk_that_is_needed_is_told(run):
    stderr = run()
    assert "Disk: about 10 MB for --temp and 10 MB for OUT." in stderr


def test_pyarrow_works_with_as_many_threads_as_were_given(run, monkeypatch):
    before, seen = (pa.cpu_count(), pa.io_thread_count()), []
    write = pass_files_module.TableFile.write

    def watched(file, *given, **named):
        seen.append((pa.cpu_count(), pa.io_thread_count()))
        write(file, *given, **named)

    monkeypatch.setattr(pass_files_module.TableFile, "write", watched)
    run("--threads", "3")
    assert set(seen) == {(3, 3)}
    assert (pa.cpu_count(), pa.io_thread_count()) == before


def test_durations_are_in_the_curators_log_alone(run, out, tmp_path):
    run()
    taken = r"\d+\.\d\d s, \d+\.\d\d CPU s"
    log = (tmp_path / "out.confidential.log").read_text()
    for name in ("Reading the public files", "Tabulating the levels"):
        assert re.search(rf'step "{name}": {taken}$', log, re.MULTILINE)
    for name in ("counting", "noise"):
        assert re.search(rf'of it "{name}": {taken}$', log, re.MULTILINE)
    for path in out.rglob("*.*"):
        assert b"CPU s" not in path.read_bytes()


def test_the_benchmark_finds_every_step_in_the_log(run, tmp_path):
    run()
    shares = shares_of((tmp_path / "out.confidential.log").read_text(), cpu_seconds=1000.0)
    assert sum(shares.values()) == pytest.approx(1000.0)
    assert shares["start"] < 1000.0


def test_a_log_shows_the_end_of_each_step(run):
    stderr = run()
    for name in ("Reading the public files", "Checking the person records", "Tabulating the levels"):
        assert re.search(rf"^{name}\n(.*\n)*?{name}: done in \d+\.\d s$", stderr, re.MULTILINE)


def test_help_loads_nothing_that_counts():
    heavy = "{'numpy', 'pyarrow', 'flint', 'duckdb', 'numba', 'cryptography', 'safetab.runs.run'}"
    program = (
        "import atexit, sys; sys.argv = ['safetab', '--help'];"
        f"atexit.register(lambda: print(sorted({heavy} & set(sys.modules)), file=sys.stderr));"
        "from safetab.cli.start import main; main()"
    )
    shown = ran(program, check=True)
    assert "Exit codes" in shown.stdout
    assert shown.stderr.strip() == "[]"


def test_a_command_loads_no_pandas_though_arrow_would():
    program = (
        "import sys; sys.argv = ['safetab', 'plan', 'examples/small/parameters', 'examples/small/data'];"
        "from safetab.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print([name for name in ('pandas', 'pyarrow') if name in sys.modules], file=sys.stderr)"
    )
    shown = ran(program, check=True, cwd=PROJECT)
    assert shown.stderr.strip().splitlines()[-1] == "['pyarrow']"
