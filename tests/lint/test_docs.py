"""The documentation and the code say the same."""

import ast
import doctest
import importlib
import io
import re
import tempfile
import tokenize
import tomllib
from bisect import bisect_left, bisect_right
from itertools import pairwise

import pytest

import safetab
from tests.commands import cli
from tests.conftest import PROJECT, SMALL_EXAMPLE
from tests.inside import PRODUCTS
from tests.lint.texts import text_of

SOURCES = sorted((PROJECT / "src").rglob("*.py"))
LINK = re.compile(r"docs/([a-z-]+\.md)#([a-z0-9-]+)")


def test_every_proof_points_at_an_anchor():
    links = [(path, link) for path in SOURCES for link in LINK.findall(path.read_text())]
    assert len(links) >= 8
    for path, (page, anchor) in links:
        assert f'<a id="{anchor}"></a>' in (PROJECT / "docs" / page).read_text(), f"{path.name}: {page}#{anchor}"


def test_every_contract_has_its_three_lines():
    for path in SOURCES:
        text = path.read_text()
        assert text.count("Neighbours:") == text.count("Spends:") <= text.count("Proof:"), path.name


def test_every_name_in_the_map_of_the_paper_exists():
    names = re.findall(r"`(safetab\.[\w.]+)`", text_of("docs/algorithm.md"))
    assert len(names) > 25
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_the_headings_of_tables_are_in_the_file_formats():
    page = " ".join(text_of("docs/file-formats.md").split())
    headings = {shape.table_id: shape.title for product in PRODUCTS for shape in product.shapes}
    assert len(headings) == 10
    for table_id, title in headings.items():
        assert f'"{title}" ({table_id})' in page


def test_the_page_about_runs_shows_what_the_plan_prints():
    printed = {line.rstrip() for line in cli("plan", *_small_example()).stdout.splitlines()}
    page = text_of("docs/how-to/run-a-census.md")
    excerpt = page[page.index("Total privacy loss\n") :].split("```")[0].splitlines()
    assert len(excerpt) > 15
    assert set(excerpt) <= printed


def test_the_examples_of_tuning_are_what_it_answers():
    page = PROJECT / "docs" / "how-to" / "tune-on-the-terminal.md"
    assert doctest.testfile(str(page), module_relative=False).failed == 0
    shown = page.read_text().split("```\n$ safetab ")[1].split("```")[0].strip().splitlines()
    assert cli(*shown[0].split()).stdout.strip().splitlines() == shown[1:]


def test_the_walks_through_the_code_give_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    page = PROJECT / "docs" / "architecture.md"
    assert doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS).failed == 0


def test_the_package_and_the_program_have_one_version():
    assert tomllib.loads(text_of("pyproject.toml"))["project"]["version"] == safetab.__version__


def test_links_between_pages_lead_somewhere():
    for page in [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("door", ["I use the numbers", "I choose parameters", "I run a census", "I check the privacy"])
def test_every_door_of_the_documentation_opens_a_path_of_three_to_five_pages(door):
    section = text_of("docs/overview.md").split(f"## {door}\n")[1].split("\n## ")[0]
    path = re.findall(r"^(\d)\. \[[^]]+\]\(([^)]+)\)", section, re.MULTILINE)
    assert [int(number) for number, _ in path] == list(range(1, len(path) + 1))
    assert 3 <= len(path) <= 5
    for page, following in pairwise([PROJECT / "docs" / page for _, page in path]):
        last_line = page.read_text().strip().splitlines()[-1]
        if page.suffix == ".md":
            assert (page.parent / re.fullmatch(r"Next: \[[^]]+\]\(([^)]+)\)\.", last_line)[1]).resolve() == following


SIZED = {tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING}


def test_no_function_is_over_650_tokens_and_no_file_over_4500():
    """Short lines and docstrings cost next to nothing."""
    long = []
    for path in SOURCES:
        source = path.read_text()
        read = tokenize.generate_tokens(io.StringIO(source).readline)
        lines = [token.start[0] for token in read if token.type in SIZED]
        long += [path.name] if len(lines) > 4500 else []
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                size = bisect_right(lines, node.end_lineno) - bisect_left(lines, node.lineno)
                long += [f"{path.name}: {node.name}"] if size > 650 else []
    assert long == []


def _small_example():
    return [str(SMALL_EXAMPLE / "parameters"), str(SMALL_EXAMPLE / "data")]
