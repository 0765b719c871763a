"""The map from tests to the program.

`python -m tools.called` writes which functions each file of tests calls. It runs the default suite,
WORKERS=N tests at once. build/called/FILE.json has the functions by module and the seconds of its
tests. What another process calls is not seen.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tools import PROJECT

SOURCE = PROJECT / "src" / "safetab"
MAP = PROJECT / "build" / "called"

Functions = dict[str, list[str]]
"""The qualified names of functions, by the path of their module below the package."""


class Calls:
    """The functions that ran in this process since the last look."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.codes = set[CodeType]()
        self.seconds = 0.0

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self.codes.add(frame.f_code)

    def functions(self) -> Functions:
        found: Functions = {}
        for code in self.codes:
            path = Path(code.co_filename)
            if path.is_relative_to(SOURCE) and code.co_name != "<module>":
                found.setdefault(path.relative_to(SOURCE).as_posix(), []).append(code.co_qualname)
        return {module: sorted(set(names)) for module, names in sorted(found.items())}


calls = Calls()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    began = time.process_time()
    threading.setprofile(calls.see)
    sys.setprofile(calls.see)
    yield
    sys.setprofile(None)
    threading.setprofile(None)
    calls.seconds += time.process_time() - began
    if nextitem is None or nextitem.path != item.path:
        write(item.path)


def write(tests: Path) -> None:
    name = tests.relative_to(PROJECT).as_posix()
    MAP.mkdir(parents=True, exist_ok=True)
    told = {"tests": name, "seconds": round(calls.seconds, 2), "functions": calls.functions()}
    (MAP / f"{name.replace('/', '.')}.json").write_text(
        json.dumps(told, indent=1), encoding="utf-8"
    )
    calls.begin()


def test_files() -> list[dict[str, Any]]:
    """The map, the cheapest files of tests first; empty if none was made."""
    told = [json.loads(path.read_text(encoding="utf-8")) for path in MAP.glob("*.json")]
    return sorted(
        (each for each in told if (PROJECT / each["tests"]).exists()),
        key=lambda each: each["seconds"],
    )


def main() -> int:
    shutil.rmtree(MAP, ignore_errors=True)
    workers = os.environ.get("WORKERS", "2")
    return pytest.main(["-n", workers, "--dist", "loadfile", "-q", "-p", "tools.called"])


if __name__ == "__main__":
    sys.exit(main())
