"""Tries of mutants, each in a process of its own.

It forks from one which has loaded the libraries, but not the program.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import pytest

from tools import PROJECT
from tools.called import SOURCE

LIBRARIES = (
    "_pytest.assertion.rewrite", "cryptography.hazmat.primitives.ciphers", "flint", "hypothesis",
    "numba", "numpy", "pandas", "polars", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet",
    "pydantic", "rich.console", "typer.testing", "xdist.plugin",
)  # fmt: skip
SECONDS = 120
"""How long a test may take; a mutant with one that runs longer is dead."""
_LOOPS = "compiled"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the test that died of it, if one did."""

    is_dead: bool
    killer: str
    seconds: float
    output: str = ""


def load_libraries() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)


class _Mutated(SourceFileLoader):
    """Loads a module from another tree than that of its file."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self.tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module: str, tree: ast.Module) -> None:
        self.path = SOURCE / module
        self.name = ".".join(("safetab", *Path(module).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        self.tree = tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        loader = _Mutated(fullname, str(self.path), self.tree)
        is_package = self.path.name == "__init__.py"
        places = [str(self.path.parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=loader, submodule_search_locations=places
        )


class _Killer:
    """The first test that fails, in a file whose time is that of the last test that ended."""

    def __init__(self, told: Path) -> None:
        self.told = told
        self.is_found = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.is_found:
            self.told.write_text(report.nodeid if report.failed else "", encoding="utf-8")
            self.is_found = report.failed


def tried(module: str, tree: ast.Module | None, tests: Sequence[str]) -> Verdict:
    """Run the tests, up to the first that fails.

    They see the program with this tree in place of the module's.
    """
    assert "safetab" not in sys.modules
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        child = os.fork()
        if not child:
            _run(module, tree, tests, folder)
        told = folder / "killer"
        told.touch()
        code = _code_of(child, told)
        killer = told.read_text(encoding="utf-8") or f"exit code {code}"
        output = (folder / "output").read_text(encoding="utf-8", errors="replace")
    is_dead = code != pytest.ExitCode.OK
    return Verdict(is_dead, killer if is_dead else "", time.monotonic() - began, output)


def _run(module: str, tree: ast.Module | None, tests: Sequence[str], folder: Path) -> None:
    """In the child: never returns."""
    code = 1
    try:
        os.setsid()
        output = os.open(folder / "output", os.O_RDWR | os.O_CREAT)
        for stream in (0, 1, 2):
            os.dup2(output, stream)
        os.chdir(PROJECT)
        if tree is not None:
            sys.meta_path.insert(0, _Finder(module, tree))
            if _LOOPS in (SOURCE / module).read_text(encoding="utf-8") or "loops" in module:
                os.environ["NUMBA_CACHE_DIR"] = str(folder)  # kept machine code is that of the file
                importlib.import_module("numba").config.CACHE_DIR = str(folder)
        options = [
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
        ]
        place = ["--basetemp", str(folder / "tests")]
        for some in _fewest_first(tests):
            code = pytest.main([*options, *place, *some], plugins=[_Killer(folder / "killer")])
            if code not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
                break
        else:
            code = 0
    except BaseException:  # the child must not go on as its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def _fewest_first(tests: Sequence[str]) -> Iterator[Sequence[str]]:
    """Most mutants die of the first files: the others need not be loaded."""
    yield tests[:4]
    yield from filter(None, (tests[4:20], tests[20:60], tests[60:]))


def _code_of(child: int, told: Path) -> int:
    """The exit code of a child, which ends with all that it started when a test takes too long."""
    while time.time() < told.stat().st_mtime + SECONDS:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL
