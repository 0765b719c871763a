"""Prints the files of tests that call what was changed since a commit.

Run it as `python -m tools.touched [COMMIT]`. All tests are printed, with a word on standard error,
if there is no map yet.
"""

from __future__ import annotations

import subprocess
import sys

from tools import PROJECT
from tools.called import SOURCE, test_files


def changed(since: str) -> set[str]:
    """Paths of the project that differ from a commit, new files included."""
    differing = _git("diff", "--name-only", "--no-renames", since)
    return {*differing, *_git("ls-files", "--others", "--exclude-standard")}


def _git(*words: str) -> list[str]:
    return subprocess.run(
        ["git", *words], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def touched(paths: set[str]) -> list[str]:
    """The files of tests that were changed or call a function of a changed module."""
    prefix = f"{SOURCE.relative_to(PROJECT).as_posix()}/"
    modules = {path.removeprefix(prefix) for path in paths if path.startswith(prefix)}
    calling = {each["tests"] for each in test_files() if modules & each["functions"].keys()}
    own = {
        path
        for path in paths
        if path.startswith("tests/") and path.rpartition("/")[2].startswith("test_")
    }
    return sorted(calling | {path for path in own if (PROJECT / path).exists()})


def main() -> None:
    if not test_files():
        print(
            "There is no map of the tests yet: `python -m tools.called` writes it. All tests run.",
            file=sys.stderr,
        )
        print("tests")
        return
    print("\n".join(touched(changed(*sys.argv[1:2] or ["HEAD"]))))


if __name__ == "__main__":
    main()
