"""What goes wrong with machine code that was kept costs time alone."""

import hashlib
import importlib.util
import pickle
import resource
from pathlib import Path

import numba
import numpy as np
import pytest

from tests.cases import cases_of
from tests.inside import compiled

NUMBERS = np.arange(5, dtype=int)


LOOPS = """
def added(numbers):
    total = 0
    for one in numbers:
        total += one
    return total

def divided(numbers):
    numbers[2] += 1
    return numbers[1] // numbers[0]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "loops.py").write_text(LOOPS)
    return tmp_path


def loops(folder):
    """A module of its own, so that it has a cache of its own."""
    spec = importlib.util.spec_from_file_location("loops", folder / "loops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hits_of_a_sum(folder):
    """How often kept code was used for a sum, which is right."""
    made = compiled(loops(folder).added)
    assert made(NUMBERS) == 10
    return sum(made.stats.cache_hits.values())


def kept(folder, ending="nb?"):
    return [*folder.rglob(f"*.{ending}")]


def test_machine_code_is_kept_outside_the_package_and_used_if_it_is_whole(folder):
    """In the package it would outlive the package."""
    assert [hits_of_a_sum(folder) for _ in range(2)] == [0, 1]
    assert {path.parents[1] for path in kept(folder)} == {folder / "cache/safetab"}
    assert (folder / "cache/safetab").stat().st_mode & 0o777 == 0o700  # nobody else gets in
    assert numba.config.CACHE_DIR == ""  # a program that uses safetab keeps its own folder
    (code,) = kept(folder, "nbc")
    content = bytearray(code.read_bytes())
    content[len(content) // 2] ^= 1
    for ending, damaged in ("nbc", content), ("nbc", b""), ("nbi", b"not what it was"):
        kept(folder, ending)[0].write_bytes(damaged)
        assert [hits_of_a_sum(folder) for _ in range(2)] == [0, 1]  # compiled again, and kept
    code.unlink()
    code.mkdir()  # stands for a damaged file that can't be removed
    assert [hits_of_a_sum(folder) for _ in range(2)] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"not what it was"])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_kept_files_that_are_cut_short_are_made_again(ending, content, folder):
    hits_of_a_sum(folder)
    kept(folder, ending)[0].write_bytes(content)
    assert [hits_of_a_sum(folder) for _ in range(2)] == [0, 1]


def test_a_folder_that_the_user_names_is_used(folder, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder / "named"))
    hits_of_a_sum(folder)
    assert {path.parents[1] for path in kept(folder)} == {folder / "named"}


def test_without_a_cache_nothing_is_kept_in_the_package(folder):
    (folder / "cache").write_text("a file in its place")
    assert [hits_of_a_sum(folder) for _ in range(2)] == [0, 0]
    assert kept(folder) == []


def test_what_a_loop_raises_is_raised(folder):
    made = compiled(loops(folder).divided)
    for _ in range(2):
        assert made(np.array([2, 6, 0])) == 3
        numbers = np.array([0, 6, 0])
        with pytest.raises(ZeroDivisionError):
            made(numbers)
        assert numbers[2] == 1  # it ran once: a loop that counts may not count twice


def test_the_code_that_was_made_ready_is_the_code_that_runs(folder):
    made = compiled(loops(folder).added)
    read_only = NUMBERS.copy()
    read_only.flags.writeable = False
    for numbers in NUMBERS, read_only, NUMBERS[::2], NUMBERS.astype("int32"):
        made(numbers)
        compilations = sum(made.stats.cache_misses.values())
        made(numbers)
        assert sum(made.stats.cache_misses.values()) == compilations


class Planted:
    """What runs when it is unpickled."""

    def __init__(self, made):
        self._made = made

    def __reduce__(self):
        return Path.touch, (self._made,)


def test_code_is_not_loaded_if_others_may_change_it(folder):
    """Where it is loaded, nobody else can have planted it; and the test sees that what is planted would run."""
    hits_of_a_sum(folder)
    (index,) = kept(folder, "nbi")
    for rights, *runs in cases_of(
        """
        755 777 644
        755 775 644
        755 757 644
        777 755 644
        755 755 666
        755 755 644 | runs
        1777 755 644 | runs
        700 777 666 | runs
        """
    ):
        around, of_code, file = (int(each, 8) for each in rights.split())
        index.write_bytes(pickle.dumps(Planted(folder / "ran")))
        index.with_name(f"{index.name}.sha256").write_text(hashlib.sha256(index.read_bytes()).hexdigest())
        index.chmod(file)
        index.parent.chmod(of_code)
        index.parents[1].chmod(around)
        assert not hits_of_a_sum(folder)
        assert (folder / "ran").exists() == bool(runs)
        (folder / "ran").unlink(missing_ok=True)


def test_a_full_disk_means_compiling_in_the_process(folder, capsys):
    """A limit on the size of files stands for it: numba finds a folder for its cache, and can't write there."""
    made, (before, most) = compiled(loops(folder).added), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        sums = [made(np.arange(size)) for size in (5, 4)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
    assert sums == [10, 6]
    assert capsys.readouterr() == ("", "")
    assert not any(path.stat().st_size for path in kept(folder))
