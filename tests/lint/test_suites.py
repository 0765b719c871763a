"""Every test belongs to a suite, and the suite finds it."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import PROJECT

TESTS = PROJECT / "tests"
OF_THEIR_OWN = {"tests/lint", "tests/browser"}
"""Folders that a target of the Makefile names."""


def test_every_folder_of_tests_belongs_to_a_suite() -> None:
    options = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    folders = {f"tests/{path.relative_to(TESTS).parts[0]}" for path in TESTS.rglob("test_*.py")}
    assert folders == set(options["testpaths"]) | OF_THEIR_OWN
    makefile = (PROJECT / "Makefile").read_text()
    assert all(re.search(rf"pytest .*{folder}$", makefile, re.MULTILINE) for folder in OF_THEIR_OWN)


def test_tests_in_a_browser_are_below_one_folder() -> None:
    marked = [path for path in TESTS.rglob("test_*.py") if "mark.browser" in path.read_text(encoding="utf-8")]
    assert len(marked) > 15
    assert [path for path in marked if (TESTS / "browser") not in path.parents] == [TESTS / "lint" / "test_suites.py"]
