"""The tutorial is run, on the demo's census and with noise that is the same each time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from docs.site.notebook import run_notebook
from tests.conftest import PROJECT

import safetab
from safetab.synthetic.demo_census import write_demo_census

TUTORIAL = PROJECT / "docs" / "tutorial" / "using-a-release.ipynb"


@pytest.mark.slow
def test_the_tutorial_runs_from_beginning_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = tmp_path / "safetab-demo"
    write_demo_census(demo)
    safetab.run(demo / "parameters", demo / "data", demo / "output", test_key="00" * 32)
    monkeypatch.chdir(tmp_path)
    shown = [repr(cell.shown) for cell in run_notebook(TUTORIAL) if cell.shown is not None]
    assert any(one.startswith("Dominican, Providence County, Rhode Island: ") for one in shown)
    assert any("Fieller's method" in one for one in shown)
    assert any("Equal true numbers are ruled out at 95 %." in one for one in shown)
    assert any("no number (suppressed)" in one for one in shown)
    assert any("counted more than once" in one for one in shown)


def test_a_cell_that_fails_fails_the_tutorial(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["1 / 0"]}]
    (tmp_path / "broken.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.raises(ZeroDivisionError):
        list(run_notebook(tmp_path / "broken.ipynb"))


def test_the_tutorial_is_stored_without_results() -> None:
    cells = json.loads(TUTORIAL.read_text())["cells"]
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
