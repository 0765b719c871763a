"""Every test belongs to a suite, and the suite finds it."""

import re
import tomllib
from dataclasses import dataclass
from itertools import pairwise

import pytest

from tests.cases import values_of
from tests.conftest import PROJECT, SUITES, in_random_order, some_cases
from tests.lint.texts import text_of

TESTS = PROJECT / "tests"
OF_THEIR_OWN = {"tests/lint", "tests/browser"}
"""Folders that a target of the Makefile names."""


@dataclass(frozen=True)
class Item:
    """What is asked of a collected test."""

    nodeid: str
    case: int | None


def test_every_folder_of_tests_belongs_to_a_suite():
    options = tomllib.loads(text_of("pyproject.toml"))["tool"]["pytest"]["ini_options"]
    folders = {f"tests/{path.relative_to(TESTS).parts[0]}" for path in TESTS.rglob("test_*.py")}
    assert folders == set(options["testpaths"]) | OF_THEIR_OWN
    makefile = text_of("Makefile")
    assert all(re.search(rf"pytest.* {folder}$", makefile, re.MULTILINE | re.IGNORECASE) for folder in OF_THEIR_OWN)


def test_tests_in_a_browser_are_below_one_folder():
    marked = [path for path in TESTS.rglob("test_*.py") if "mark.browser" in path.read_text()]
    assert len(marked) > 15
    assert [path for path in marked if (TESTS / "browser") not in path.parents] == [TESTS / "lint" / "test_suites.py"]


def test_what_marks_for_a_module_is_known_to_the_suite():
    """Otherwise a module that uses it would not be loaded, and its tests would be lost."""
    marking = {
        path.relative_to(TESTS).as_posix(): suite
        for path in TESTS.rglob("*.py")
        for suite in SUITES
        if f"mark.{suite}" in path.read_text() and not path.match("test_*.py")
    }
    assert marking == {"cases.py": "slow", "seeds.py": "slow", "stored_formats.py": "slow", "engine_inputs.py": "spark"}
    assert {
        "slow": ("slow", "seeds(", "later(", "stored_formats"),
        "spark": ("spark", "SPARK_MARKS"),
    }.items() <= SUITES.items()


@pytest.mark.parametrize(
    ("count", "kept"),
    values_of("""
        1 | [0]
        2 | [0, 9]
        3 | [0, 4, 9]
        4 | [0, 3, 6, 9]
        10 | [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        99 | [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """),
)
def test_some_cases_of_a_test_are_spread_over_all(count, kept):
    items = [Item(nodeid=f"a.py::test_a[{case}]", case=case) for case in range(10)]
    alone = Item(nodeid="a.py::test_b", case=None)
    found = some_cases([*items, alone], count)
    assert [one.case for one in items if one in found] == kept
    assert alone in found


def test_a_random_order_keeps_modules_together_and_is_repeated_by_its_seed():
    items = [Item(f"{module}.py::test[{case}]", case) for module in "abcdef" for case in range(9)]
    first, again, other = (in_random_order(items, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert sorted(first, key=str) == sorted(items, key=str)
    modules = [item.nodeid.partition("::")[0] for item in first]
    assert sum(one != following for one, following in pairwise(modules)) == 5
    assert modules != sorted(modules)
    assert [item.case for item in first if item.nodeid.startswith("a")] != [*range(9)]
