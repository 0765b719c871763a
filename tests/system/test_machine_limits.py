"""A run keeps to what it may use of the machine, and fails whole when the machine has no more."""

from __future__ import annotations

import errno
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.runs import shares_of
from tests.commands import cli
from tests.conftest import PROJECT
from tests.inside import pass_files_module
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

DiskUsage = namedtuple("DiskUsage", ("total", "used", "free"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_random_world(tmp_path_factory.mktemp("limits"), 5, people=2000, budget=1)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def run(world: World, out: Path, temporary: Path, *more: str) -> tuple[int, str]:
    arguments = [str(world.parameters), str(world.data), str(out), "--temp", str(temporary), *more]
    result = cli("run", *arguments)
    return result.exit_code, result.stderr


def left_behind(out: Path, temporary: Path) -> list[Path]:
    log = out.parent / f"{out.name}.confidential.log"
    return [path for path in (*out.parent.iterdir(), *temporary.iterdir()) if path not in (log, temporary)]


def test_a_disk_that_is_too_small_is_told_before_any_noise(world, tmp_path, temporary, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: DiskUsage(10**9, 10**9 - 10**6, 10**6))
    code, stderr = run(world, tmp_path / "out", temporary)
    assert code == 3
    assert "1 MB free, but about 20 MB are needed. Nothing was written." in stderr
    assert "Checking the person records" not in stderr
    assert left_behind(tmp_path / "out", temporary) == []


def test_a_quota_that_is_used_up_is_told_and_leaves_nothing(world, tmp_path, temporary, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.EDQUOT, "as the system says it")

    monkeypatch.setattr(pass_files_module.TableFile, "write", full)
    code, stderr = run(world, tmp_path / "out", temporary)
    assert code == 3
    assert (
        "The run failed: a disk that the run writes to is full, or a quota on it is used up (--temp, OUT, the spend log or the confidential log). Nothing was written."
        in stderr
    )
    assert left_behind(tmp_path / "out", temporary) == []


def test_the_disk_that_is_needed_is_told(world, tmp_path, temporary):
    _, stderr = run(world, tmp_path / "out", temporary)
    assert "Disk: about 10 MB for --temp and 10 MB for OUT." in stderr


def test_pyarrow_works_with_as_many_threads_as_were_given(world, tmp_path, temporary, monkeypatch):
    before, seen = (pa.cpu_count(), pa.io_thread_count()), []
    write = pass_files_module.TableFile.write

    def watched(file: pass_files_module.TableFile, *given: object, **named: object) -> None:
        seen.append((pa.cpu_count(), pa.io_thread_count()))
        write(file, *given, **named)

    monkeypatch.setattr(pass_files_module.TableFile, "write", watched)
    code, _ = run(world, tmp_path / "out", temporary, "--threads", "3")
    assert code == 0
    assert set(seen) == {(3, 3)}
    assert (pa.cpu_count(), pa.io_thread_count()) == before


def test_durations_are_in_the_curators_log_alone(world, tmp_path, temporary):
    run(world, tmp_path / "out", temporary)
    taken = r"\d+\.\d\d s, \d+\.\d\d CPU s"
    log = (tmp_path / "out.confidential.log").read_text()
    for name in ("Reading the public files", "Tabulating the levels"):
        assert re.search(rf'step "{name}": {taken}$', log, re.MULTILINE)
    for name in ("counting", "noise"):
        assert re.search(rf'of it "{name}": {taken}$', log, re.MULTILINE)
    for path in (tmp_path / "out").rglob("*.*"):
        assert b"CPU s" not in path.read_bytes()


def test_the_benchmark_finds_every_step_in_the_log(world, tmp_path, temporary):
    run(world, tmp_path / "out", temporary)
    shares = shares_of((tmp_path / "out.confidential.log").read_text(), cpu_seconds=1000.0)
    assert sum(shares.values()) == pytest.approx(1000.0)
    assert shares["start"] < 1000.0


def test_a_log_shows_the_end_of_each_step(world, tmp_path, temporary):
    _, stderr = run(world, tmp_path / "out", temporary)
    for name in ("Reading the public files", "Checking the person records", "Tabulating the levels"):
        assert re.search(rf"^{name}\n(.*\n)*?{name}: done in \d+\.\d s$", stderr, re.MULTILINE)


def test_help_loads_nothing_that_counts():
    heavy = "{'numpy', 'pyarrow', 'flint', 'duckdb', 'numba', 'cryptography', 'safetab.pipeline.run'}"
    program = (
        "import atexit, sys; sys.argv = ['safetab', '--help'];"
        f"atexit.register(lambda: print(sorted({heavy} & set(sys.modules)), file=sys.stderr));"
        "from safetab.cli.start import main; main()"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Exit codes" in shown.stdout
    assert shown.stderr.strip() == "[]"


def test_a_command_loads_no_pandas_though_arrow_would():
    program = (
        "import sys; sys.argv = ['safetab', 'plan', 'examples/small/parameters', 'examples/small/data'];"
        "from safetab.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print([name for name in ('pandas', 'pyarrow') if name in sys.modules], file=sys.stderr)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert shown.stderr.strip().splitlines()[-1] == "['pyarrow']"
