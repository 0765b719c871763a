"""Killed at any moment, a run leaves no half output, and the next run clears away what it left."""

import hashlib
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from tests.cases import later
from tests.inside import locked_folder, locked_folder_module
from tests.releases import files_of, json_of
from tests.worlds.people import write_random_world

SAFETAB = [sys.executable, "-c", "from safetab.cli.start import main; main()"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return write_random_world(tmp_path_factory.mktemp("killed"), 11, people=3000, budget=1)


def is_whole(out):
    manifest = json_of(out / "manifest.json")
    hashes = {name: facts["sha256"] for name, facts in (manifest["outputs"] | manifest["documents"]).items()}
    found = files_of(out)
    del found["manifest.json"]
    return {name: hashlib.sha256(content).hexdigest() for name, content in found.items()} == hashes


def command(world, out):
    (out.parent / "temporary").mkdir(exist_ok=True)
    return [*SAFETAB, "run", *map(str, [*world, out]), "--overwrite", "--temp", str(out.parent / "temporary")]


def nothing_is_left(out):
    return not [*(out.parent / "temporary").iterdir(), *out.parent.glob(".out.partial-*")]


STEPS = """
Reading the public files
Checking the person records
Counting the persons of each state
Tabulating the levels
Writing and checking the release
""".strip().splitlines()


@contextmanager
def begun(step, arguments):
    """A run that has just begun a step."""
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith(step):
                break
        yield process


def killed_after(step, delay, arguments):
    """Kills a run a moment after it began a step; whether it was still there to be killed."""
    with begun(step, arguments) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("series", range(5))
def test_a_killed_run_leaves_a_whole_output_or_none(series, world, out):
    arguments = command(world, out)
    subprocess.run(arguments, check=True, capture_output=True)
    rng = random.Random(series)
    moments = [(step, rng.uniform(0, 0.02)) for step in STEPS]
    moments += [(step, rng.uniform(0, 0.4)) for step in STEPS[-2:] for _ in range(3)]
    killed = 0
    for step, delay in moments:
        killed += killed_after(step, delay, arguments)
        assert is_whole(out)
    assert killed > 0
    subprocess.run(arguments, check=True, capture_output=True)
    assert is_whole(out)
    assert nothing_is_left(out)


@pytest.mark.parametrize("step", [STEPS[4], *map(later, STEPS[:4])])
def test_ctrl_c_stops_a_run_and_leaves_nothing(step, world, out):
    with begun(step, command(world, out)) as process:
        process.send_signal(signal.SIGINT)
        stderr = process.stderr.read()
        assert process.wait(timeout=20) in {0, 130, -signal.SIGINT}  # 0 and the last: it was done and on its way out
    assert "Traceback" not in stderr
    assert nothing_is_left(out)
    assert is_whole(out) if out.exists() else process.returncode == 130


def test_a_folder_is_removed_with_its_lock_last(tmp_path, monkeypatch):
    """Killed while it clears away, a run leaves a folder that still has its lock, and the next run removes it."""
    removed, rmtree = [], shutil.rmtree

    def killed_at_the_second(path, **options):
        removed.append(path)
        if len(removed) == 2:
            raise KeyboardInterrupt
        rmtree(path, **options)

    folder = tmp_path / "part-abandoned"
    folder.mkdir()
    (folder / ".safetab-lock").touch()
    for name in ("a", "z"):
        (folder / name).mkdir()
        (folder / name / "file").write_text("x")
    monkeypatch.setattr(locked_folder_module.shutil, "rmtree", killed_at_the_second)
    next_run = locked_folder(tmp_path, "part-")
    with pytest.raises(KeyboardInterrupt):
        next_run.__enter__()
    assert sorted(path.name for path in folder.iterdir())[0] == ".safetab-lock"
    assert len(list(folder.iterdir())) == 2
    monkeypatch.undo()
    with locked_folder(tmp_path, "part-"):
        pass
    assert not [*tmp_path.iterdir()]
