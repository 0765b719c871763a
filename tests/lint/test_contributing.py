"""CONTRIBUTING, its recipes, the Makefile and the list of tools: what they name exists, and each is short."""

import re
import shlex
from importlib.util import find_spec

import pytest

from tests.conftest import PROJECT
from tests.lint.texts import text_of
from tools.docs.generated.quoted_contract import BEGIN, END, GATE, PAGE, contract_of, with_contract

MAKEFILE, TOOLS = text_of("Makefile"), text_of("tools/README.md")
RECIPES = text_of("docs/adding-things.md")
HEADINGS = re.findall(r"^## (.+)$", RECIPES, re.MULTILINE)
PARTS = sorted((PROJECT / "tests").glob("*.txt"))
"""Parts of suites: what pytest is given, an argument a line."""


def exists(name):
    return any((root / name).exists() for root in (PROJECT, PROJECT / "src" / "safetab"))


def anchor(heading):
    return heading.lower().replace(" ", "-")


def programs():
    """The modules of tools that are programs."""
    mains = [path for path in (PROJECT / "tools").rglob("*.py") if '__name__ == "__main__"' in path.read_text()]
    names = [".".join(path.relative_to(PROJECT).with_suffix("").parts) for path in sorted(mains)]
    return [name.removesuffix(".__main__") for name in names]


def listed_programs():
    """The modules that the README of tools lists."""
    for table in TOOLS.split("\n\n"):
        prefix = re.match(r"\| `python -m (tools\.[\w.]*)` \|", table)
        if prefix:
            yield from (prefix[1] + name for name in re.findall(r"^\| `(?!python)([\w.]+)[ `]", table, re.MULTILINE))


def test_contributing_is_two_screens():
    assert len(text_of("CONTRIBUTING.md").splitlines()) <= 90


def test_contributing_names_ten_files_to_read_first():
    section = text_of("CONTRIBUTING.md").split("## Ten files to read first")[1].split("\n## ")[0]
    names = re.findall(r"^\| `([\w/]+\.py)` \|", section, re.MULTILINE)
    assert names[:2] == ["core/algorithm/safetab.py", "core/algorithm/tabulate_level.py"]
    assert len(names) == 10
    assert [name for name in names if not exists(name)] == []


def test_contributing_says_where_to_add_what_there_is_a_recipe_for():
    section = text_of("CONTRIBUTING.md").split("## Where to add what")[1]
    linked = re.findall(r"^\| \[(.+?)\]\(docs/adding-things\.md#(.+?)\) \|", section, re.MULTILINE)
    assert linked == [(heading[0].lower() + heading[1:], anchor(heading)) for heading in HEADINGS]
    assert [name for name in re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", section) if not exists(name)] == []


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_recipe_names_files_that_exist(heading):
    recipe = RECIPES.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    named = re.findall(r"`((?:[a-z_0-9-]+/)+(?:[a-z_0-9-]+\.(?:py|js|toml|md))?)(?:: \w+)?`", recipe)
    assert len(named) > 2
    assert [name for name in named if not exists(name)] == []


def test_the_quoted_contract_follows_the_docstring():
    page, gate = PAGE.read_text(), GATE.read_text()
    assert "Neighbours:" in contract_of(gate)
    assert with_contract(page, gate) == page
    other = gate.replace("Spends: what", "Spends: all that", 1)
    assert with_contract(page, other) == page.replace("Spends: what", "Spends: all that", 1) != page


@pytest.mark.parametrize("mark", [BEGIN, END])
def test_a_page_without_a_place_for_the_contract_is_refused(mark):
    with pytest.raises(ValueError, match="no place for the contract"):
        with_contract(PAGE.read_text().replace(mark, ""), GATE.read_text())


def test_the_help_of_make_has_at_most_15_targets():
    listed = re.findall(r"^([a-z-]+):.* ## ", MAKEFILE, re.MULTILINE)
    assert 10 <= len(listed) <= 15
    assert set(listed) <= set(" ".join(re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)).split())


def test_every_program_of_tools_has_its_line():
    parts = {f"tools.benchmarks.{name}" for name in re.findall(r"`(\w+)`", TOOLS.rpartition("\n\n")[2])}
    assert set(listed_programs()) | parts == set(programs())


def test_what_make_and_the_documentation_call_exists():
    pages = [
        PROJECT / "Makefile",
        *PROJECT.glob("*.md"),
        *(PROJECT / "docs").rglob("*.md"),
        *(PROJECT / "tools").rglob("*.py"),
    ]
    called = {name for page in pages for name in re.findall(r"python -m (tools\.[\w.]*\w)", page.read_text())}
    assert len(called) > 20
    assert [name for name in called if find_spec(name) is None] == []


def test_every_target_that_a_text_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    pages = [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "tools").rglob("*.*")]
    named = {
        (page.name, target)
        for page in pages
        if page.suffix in {".md", ".py"}
        for words in re.findall(r"`make ([a-z][a-z -]*)", page.read_text())
        for target in shlex.split(words)
    }
    assert len(named) > 15
    assert [(page, target) for page, target in named if target not in targets] == []


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.stem)
def test_a_part_of_a_suite_names_tests_that_exist(part):
    paths = [line for line in part.read_text().splitlines() if line.startswith("tests")]
    assert paths
    assert [path for path in paths if not (PROJECT / path).exists()] == []
    assert f"@tests/{part.name}" in MAKEFILE
