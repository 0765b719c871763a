"""What goes wrong with machine code that was kept costs time alone."""

import hashlib
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from tests.inside import compiled

NUMBERS = np.arange(5, dtype=np.int64)


def loops(path):
    """A module of its own, so that it has a cache of its own."""
    spec = importlib.util.spec_from_file_location("loops", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def loop_file(tmp_path):
    path = tmp_path / "loops.py"
    path.write_text(
        "def added(numbers):\n    total = 0\n    for one in numbers:\n        total += one\n    return total\n"
    )
    return path


def hits(made):
    return sum(made.stats.cache_hits.values())  # type: ignore[attr-defined]


def test_machine_code_is_kept_and_used_if_it_is_whole(loop_file):
    for expected in (0, 1):
        made = compiled(loops(loop_file).added)
        assert made(NUMBERS) == 10
        assert hits(made) == expected
    code = next(loop_file.parent.rglob("*.nbc"))
    content = bytearray(code.read_bytes())
    content[len(content) // 2] ^= 1
    code.write_bytes(content)
    for expected in (0, 1):  # compiled again, and kept
        made = compiled(loops(loop_file).added)
        assert made(NUMBERS) == 10
        assert hits(made) == expected


def test_machine_code_is_kept_outside_the_package(loop_file):
    """In the package it would outlive the package."""
    assert compiled(loops(loop_file).added)(NUMBERS) == 10
    assert {path.parents[1] for path in loop_file.parent.rglob("*.nb?")} == {loop_file.parent / "cache" / "safetab"}
    assert numba.config.CACHE_DIR == ""  # a program that uses safetab keeps its own folder


def test_a_folder_that_the_user_names_is_used(loop_file, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(loop_file.parent / "named"))
    assert compiled(loops(loop_file).added)(NUMBERS) == 10
    assert {path.parents[1] for path in loop_file.parent.rglob("*.nb?")} == {loop_file.parent / "named"}


def test_without_a_cache_nothing_is_kept_in_the_package(loop_file):
    (loop_file.parent / "cache").write_text("a file in its place")
    for _ in range(2):
        made = compiled(loops(loop_file).added)
        assert made(NUMBERS) == 10
        assert not list(loop_file.parent.rglob("*.nb?"))


@pytest.mark.parametrize("content", [b"", b"not what it was"])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_kept_files_that_are_cut_short_are_made_again(ending, content, loop_file):
    assert compiled(loops(loop_file).added)(NUMBERS) == 10
    next(loop_file.parent.rglob(f"*.{ending}")).write_bytes(content)
    for expected in (0, 1):
        made = compiled(loops(loop_file).added)
        assert made(NUMBERS) == 10
        assert hits(made) == expected


def test_a_damaged_file_that_can_not_be_removed_is_not_used(loop_file):
    """A folder of the file's name stands for it."""
    assert compiled(loops(loop_file).added)(NUMBERS) == 10
    code = next(loop_file.parent.rglob("*.nbc"))
    code.unlink()
    code.mkdir()
    for _ in range(2):
        made = compiled(loops(loop_file).added)
        assert made(NUMBERS) == 10
        assert not hits(made)


def test_what_a_loop_raises_is_raised(tmp_path):
    path = tmp_path / "loops.py"
    path.write_text("def divided(numbers):\n    numbers[2] += 1\n    return numbers[1] // numbers[0]\n")
    made = compiled(loops(path).divided)
    for _ in range(2):
        assert made(np.array([2, 6, 0])) == 3
        numbers = np.array([0, 6, 0])
        with pytest.raises(ZeroDivisionError):
            made(numbers)
        assert numbers[2] == 1  # it ran once: a loop that counts may not count twice


def test_the_code_that_was_made_ready_is_the_code_that_runs(loop_file):
    made = compiled(loops(loop_file).added)
    read_only = NUMBERS.copy()
    read_only.flags.writeable = False
    for numbers in (NUMBERS, read_only, NUMBERS[::2], NUMBERS.astype(np.int32)):
        made(numbers)
        compilations = sum(made.stats.cache_misses.values())  # type: ignore[attr-defined]
        made(numbers)
        assert sum(made.stats.cache_misses.values()) == compilations  # type: ignore[attr-defined]


class Planted:
    """What runs when it is unpickled."""

    def __init__(self, made):
        self._made = made

    def __reduce__(self):
        return Path.touch, (self._made,)


@pytest.mark.parametrize(
    ("around", "folder", "file", "runs"),
    [
        (0o755, 0o777, 0o644, False),
        (0o755, 0o775, 0o644, False),
        (0o755, 0o757, 0o644, False),
        (0o777, 0o755, 0o644, False),
        (0o755, 0o755, 0o666, False),
        (0o755, 0o755, 0o644, True),
        (0o1777, 0o755, 0o644, True),
        (0o700, 0o777, 0o666, True),
    ],
)
def test_code_is_not_loaded_if_others_may_change_it(around, folder, file, runs, loop_file):
    """Where it is loaded, nobody else can have planted it; and the test sees that what is planted would run."""
    assert compiled(loops(loop_file).added)(NUMBERS) == 10
    index = next(loop_file.parent.rglob("*.nbi"))
    index.write_bytes(pickle.dumps(Planted(loop_file.parent / "ran")))
    index.with_name(f"{index.name}.sha256").write_text(hashlib.sha256(index.read_bytes()).hexdigest())
    index.chmod(file)
    index.parent.chmod(folder)
    (loop_file.parent / "cache" / "safetab").chmod(around)
    made = compiled(loops(loop_file).added)
    assert made(NUMBERS) == 10
    assert not hits(made)
    assert (loop_file.parent / "ran").exists() == runs


def test_nobody_else_gets_into_the_folder_of_kept_code(loop_file):
    assert compiled(loops(loop_file).added)(NUMBERS) == 10
    assert (loop_file.parent / "cache" / "safetab").stat().st_mode & 0o777 == 0o700


def test_a_full_disk_means_compiling_in_the_process(loop_file):
    """A limit on the size of files stands for it: numba finds a folder for its cache, and can't write there."""
    program = f"""
import resource, signal, sys
import numpy as np
from safetab.foundation.compiled import compiled
sys.path.insert(0, {str(loop_file.parent)!r})
sys.dont_write_bytecode = True
import loops
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.exit(0 if [compiled(loops.added)(np.arange(size)) for size in (5, 4)] == [10, 6] else 1)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
