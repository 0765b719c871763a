"""The tutorial is run, on the demo's census and with noise that is the same each time."""

import contextlib
import json
import re

import pytest

import safetab
from tests.commands import done
from tests.conftest import PROJECT
from tests.inside import write_demo_census
from tools.docs.site import commands
from tools.docs.site.commands import with_results
from tools.docs.site.notebook import run_notebook

OWN_CENSUS = PROJECT / "docs" / "tutorial" / "own-census.md"
TUTORIAL = PROJECT / "docs" / "tutorial" / "using-a-release.ipynb"


@pytest.mark.slow
def test_the_tutorial_runs_from_beginning_to_end(tmp_path, monkeypatch):
    demo = tmp_path / "safetab-demo"
    write_demo_census(demo)
    safetab.run(demo / "parameters", demo / "data", demo / "output", test_key="00" * 32)
    monkeypatch.chdir(tmp_path)
    shown = [str(cell.shown) for cell in run_notebook(TUTORIAL) if cell.shown is not None]
    assert any(one.startswith("Dominican, Providence County, Rhode Island: ") for one in shown)
    assert any("Fieller's method" in one for one in shown)
    assert any("Equal true numbers are ruled out at 95 %." in one for one in shown)
    assert any("no number (suppressed)" in one for one in shown)
    assert any("counted more than once" in one for one in shown)


def test_a_cell_that_fails_fails_the_tutorial(tmp_path):
    cells = [{"cell_type": "code", "source": ["1 / 0"]}]
    (tmp_path / "broken.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.raises(ZeroDivisionError):
        list(run_notebook(tmp_path / "broken.ipynb"))


def test_the_tutorial_is_stored_without_results():
    cells = json.loads(TUTORIAL.read_text())["cells"]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")


@pytest.mark.slow
def test_a_census_of_ones_own_gets_from_a_spreadsheet_to_a_site():
    page = with_results(OWN_CENSUS.read_text(encoding="utf-8"))
    printed = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    names = ("new", "areas", "codes", "synthesize", "validate", "plan", "run", "show", "site")
    shown = dict(zip(names, printed, strict=True))
    assert "Everything is valid." in shown["validate"]
    assert "Plan of a run of Languages: 192 population groups at 6 levels" in shown["plan"]
    assert "Welsh, The Centre: " in shown["show"]
    assert "Open languages-site/index.html in a browser." in shown["site"]


def run_here(command, folder):
    """Without a process."""
    with contextlib.chdir(folder):
        return done(*command.split()[1:])


def test_a_page_saves_files_and_changes_lines_before_it_runs_commands(tmp_path, monkeypatch):
    new = "```sh\nsafetab new mine\n```\n"
    change = 'In `mine/census.toml`, change these lines:\n\n```toml\ntitle = "Mine"\n```\n'
    codes = "Here is `mine/codes.csv`:\n\n```csv\ncode,name,broad,broad_name\n7,Seven,A,All\n```\n"
    people = "```sh\nsafetab synthesize mine --people 5\n```\n"
    with monkeypatch.context() as patch:
        patch.setattr(commands, "_run", run_here)
        assert "Made up 5 people in mine-data." in with_results(new + change + codes + people)
    own = 'Here is `own.toml`:\n\n```toml\ntitle = "Own"\n```\n'
    for page, told in (
        ("```sh\nsafetab nothing\n```\n", "safetab nothing ended with 2"),
        (own + change.replace("mine/census", "own").replace("title", "titel"), "no line for 'titel"),
        ("```csv\na,b\n```\n", "no file is named before"),
        ("```sh\nrm -rf everything\n```\n", "only safetab is run"),
    ):
        with pytest.raises(ValueError, match=told):
            with_results(page)
    assert list(tmp_path.iterdir()) == []
