"""Run the code cells of a notebook, one after the other, as a reader would."""

from __future__ import annotations

import ast
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A cell and, if it is code, its printed output and the value of its last line."""

    is_code: bool
    source: str
    printed: str = ""
    shown: Any = None


def run_notebook(path: Path) -> Iterator[Cell]:
    """Run the cells and yield each with its results; an exception of a cell is passed on."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield Cell(is_code=False, source=source)
            continue
        body = ast.parse(source, f"cell {number}").body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
            shown = None
            if last is not None:
                shown = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        yield Cell(True, source, printed.getvalue(), shown)
