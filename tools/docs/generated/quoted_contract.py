"""CONTRIBUTING.md, with the contract of `noisy_count` as its docstring states it."""

from __future__ import annotations

import ast

from tools import PROJECT

PAGE = PROJECT / "CONTRIBUTING.md"
GATE = PROJECT / "src" / "safetab" / "core" / "mechanisms" / "noisy_count.py"
BEGIN = (
    "<!-- Begin of what `python -m tools.docs.generated` quotes from"
    " core/mechanisms/noisy_count.py -->\n"
)
END = "<!-- End of the quotation -->\n"


def quoting_page() -> str:
    """The page with the contract of today between its two marks."""
    return with_contract(PAGE.read_text(encoding="utf-8"), GATE.read_text(encoding="utf-8"))


def with_contract(page: str, module: str) -> str:
    """A page whose quotation is replaced. Raises ValueError if it lacks a mark."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(
            f"{PAGE.name} has no place for the contract: put these two lines into it.\n{BEGIN}{END}"
        )
    return f"{before}{BEGIN}```python\n{contract_of(module)}\n```\n{END}{after}"


def contract_of(module: str) -> str:
    """The lines of `noisy_count` from its name to the end of its docstring."""
    gate = next(
        node for node in ast.parse(module).body if getattr(node, "name", "") == "noisy_count"
    )
    assert isinstance(gate, ast.FunctionDef), "noisy_count is a function"
    return "\n".join(module.splitlines()[gate.lineno - 1 : gate.body[0].end_lineno])
