"""Runs the code cells of a notebook, one after the other, as a reader would."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any


def run_notebook(path: Path) -> list[str]:
    """What the last line of each cell shows; whatever a cell raises goes on to the caller."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"]), f"cell {number}").body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if last is not None:
            shown.append(repr(eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)))
    return shown
