"""The tutorial as a page, with all results.

It runs on the demo's census, with the same noise each time.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import safetab
from safetab.apps.synthetic.demo_census import write_demo_census
from tools.docs.site.notebook import Cell, run_notebook

_WHERE_IT_IS = (
    "*This page is the notebook `docs/tutorial/using-a-release.ipynb`,"
    " run from beginning to end when the site was made.*"
)


def tutorial_page(notebook: Path) -> str:
    """Markdown of the notebook, with the results below each cell."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "safetab-demo"
        write_demo_census(demo)
        safetab.run(demo / "parameters", demo / "data", demo / "output", test_key="00" * 32)
        before = Path.cwd()
        os.chdir(folder)
        try:
            first, *rest = [part for cell in run_notebook(notebook) for part in _parts(cell)]
        finally:
            os.chdir(before)
    return "\n\n".join([first, _WHERE_IT_IS, *rest]).replace(f"{folder}{os.sep}", "") + "\n"


def _parts(cell: Cell) -> list[str]:
    if not cell.is_code:
        return [cell.source]
    parts = [f"```python\n{cell.source}\n```"]
    if cell.printed:
        parts.append(f"```text\n{cell.printed.rstrip()}\n```")
    if cell.shown is not None:
        parts.append(_shown(cell.shown))
    return parts


def _shown(result: Any) -> str:
    """A result as a notebook shows it.

    A chart is a picture, a table is a table, and anything else is text.
    """
    if hasattr(result, "to_dict") and hasattr(result, "save"):
        return _html(_picture(result))
    if hasattr(result, "_repr_html_"):
        return _html(result._repr_html_())
    return f"```text\n{result!r}\n```"


def _picture(chart: Any) -> str:
    import vl_convert  # noqa: PLC0415 - for charts alone

    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def _html(markup: str) -> str:
    return f'````{{raw}} html\n<div class="output">\n{markup}\n</div>\n````'
