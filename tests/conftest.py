import os
import random
import shutil
import signal
from functools import cache
from pathlib import Path

import pytest
import typer.main

from tests.inside import SETTINGS, in_threads_module, output_checks_module, write_demo_census
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world
from tests.worlds.released import Releases
from tests.worlds.world import World

typer.main.get_command = cache(typer.main.get_command)
"""Before `typer.testing` is imported: a test's runner would make every command and option anew for each call."""

PROJECT = Path(__file__).parents[1]
SMALL_EXAMPLE = PROJECT / "examples" / "small"
SHARED = PROJECT.parent / "shared"
SUITES = {
    "slow": ("slow", "seeds(", "later(", "stored_formats"),
    "spark": ("spark", "SPARK_MARKS"),
    "browser": ("browser",),
}
"""What a module has that belongs to a suite: the name of its marker, or of what marks for it."""


@pytest.fixture(scope="session", autouse=True)
def _threads_as_in_large_jobs():
    """What is too little for a thread of its own gets one, so that small outputs show what large ones would."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_threads_module, "_SMALL", 0)
        patch.setattr(output_checks_module, "_LARGE", 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_place():
    """Tests keep no accounts in the spend log of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in SETTINGS.values():
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _wide_terminal():
    """Sentences stay in one line, so that tests find them; width has tests of its own."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "1000"
    yield
    os.environ.pop("COLUMNS")
    if before is not None:
        os.environ["COLUMNS"] = before


@pytest.fixture(scope="session")
def releases(tmp_path_factory):
    """Releases that are made once for all tests that only look at them."""
    return Releases(tmp_path_factory.mktemp("releases"))


@pytest.fixture(scope="session")
def both_products(tmp_path_factory):
    """A folder with two small worlds, p and h, and their releases with CSV files, people and households.

    Made once for all tests that only look at it.
    """
    folder = tmp_path_factory.mktemp("both")
    people = write_random_world(folder / "p", 2, people=60, budget=1, zero_suppression_chance=0.99)
    long = "Zuni Reservation and Off-Reservation Trust Land in the County of Saint Elsewhere"
    (people.data / "geography-names.txt").write_text(f"REGION_TYPE|REGION_ID|NAME\nSTATE|44|{long}\n")
    households = write_household_world(folder / "h", 21, budget=0.3, people=60)
    people.run(folder / "people", csv=True)
    households.run(folder / "households", csv=True)
    return folder


@pytest.fixture
def world(tmp_path):
    shutil.copytree(SMALL_EXAMPLE, tmp_path, dirs_exist_ok=True)
    return World.of(tmp_path)


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, help="of each parametrised test, this many cases, spread over all")
    parser.addoption("--order", type=int, help="modules, and the tests of each, in the random order of this seed")


def pytest_configure():
    """Children take signals as those of a terminal do, also where a shell in the background started the tests."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


def pytest_ignore_collect(collection_path, config):
    """Of a suite that a marker names, only modules are loaded that name it or what marks for them."""
    words = SUITES.get(config.option.markexpr.removesuffix(" and not spark"))
    if words is None or not collection_path.match("test_*.py"):
        return None
    naming = [collection_path, collection_path.with_name("conftest.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in naming if path.exists())
    return None if any(word in text for word in words) else True


@pytest.hookimpl(trylast=True)  # of those that the suite has
def pytest_collection_modifyitems(config, items):
    if config.option.cases:
        kept = some_cases(items, config.option.cases)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    if config.option.order is not None:
        items[:] = in_random_order(items, config.option.order)
    if (SHARED / "spec-2020").is_dir():
        return
    skip = pytest.mark.skip(reason="the 2020 parameter files are not beside the project")
    for item in items:
        if item.get_closest_marker("needs_2020_files"):
            item.add_marker(skip)


def some_cases(items, count):
    """Of each test `count` cases at most: the first, the last, and others at equal distances."""
    tests = dict[str, list[pytest.Item]]()
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set[pytest.Item]()
    for cases in tests.values():
        steps = max(count - 1, 1)
        kept.update(cases[step * (len(cases) - 1) // steps] for step in range(count))
    return kept


def in_random_order(items, seed):
    """The tests of a module stay together, for the sake of its fixtures."""
    dice = random.Random(seed)
    modules = dict[str, list[pytest.Item]]()
    for item in dice.sample(items, len(items)):
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    return [item for of_module in modules.values() for item in of_module]


@pytest.fixture
def spec_2020():
    return SHARED / "spec-2020"


@pytest.fixture
def cases():
    return SHARED / "cases"


@pytest.fixture(scope="session")
def demo_census(tmp_path_factory):
    """Parameters and data of the demo; not to be changed."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo_census(folder)
    return folder


@pytest.fixture(scope="session")
def demo_out(demo_census):
    """A run with Puerto Rico, copies between areas of the same blocks, and numbers that a rule withheld."""
    rules = ["withhold-alone-above-partner"]
    return World.of(demo_census).run(demo_census / "out", test_key="00" * 32, coterminous=True, rules=rules)


@pytest.fixture(scope="session")
def household_run(releases):
    """A small world of households and its run; not to be changed."""
    return releases.households(run={"test_key": "0a" * 32}, budget=0.3, people=250)
