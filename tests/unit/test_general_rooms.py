"""General rooms know no census: they name no level, kind, pass, state, race or list of the U.S. census."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from safetab.dialects.bureau.states import STATE_NAMES
from safetab.dialects.bureau.us_census import US

SOURCE = Path(__file__).parents[2] / "src" / "safetab"

AMERICAN_ROOMS = (
    "dialects/bureau",
    "synthetic",  # a made-up U.S. census
    "audit",  # worlds in the Bureau's files, spelled apart from the program on purpose
    "products/safetab_p",
    "products/safetab_h",
    "engines/local/cef.py",
    "pipeline/cef_tables.py",
    "pipeline/official.py",
    "release/official",
    "release/census_form.py",
    "tuning/paper.py",  # the paper's tables
    "cli/commands/demo.py",
    "cli/commands/synthesize.py",
)
"""The rooms that may be American, by name."""

WORDS = re.compile(
    r"(?<![a-z])(county|counties|tracts?|aiannh|puerto|races?|ethnicit(y|ies)|ethnic|hispanic|fips|substate|qrace\d?|qspan"
    r"|tabblk\w*|grf|safetab_p|regional|detailed|municipios?|tribal|bureau|census_bureau)(?![a-z])"
)
"""Words of the U.S. census, as whole words or as parts of a name between underscores."""

LABELS = {level.label for level in US.area_levels} | {one.name for one in (*US.passes, *US.lists)}
LABELS |= {name for names in STATE_NAMES.values() for name in names}


def is_general(path: Path) -> bool:
    """Whether the file lies in none of the American rooms."""
    name = path.relative_to(SOURCE).as_posix()
    return not any(name == room or name.startswith(f"{room}/") for room in AMERICAN_ROOMS)


def american_lines(source: str) -> Iterator[str]:
    """The lines of a Python file that know something American, in names or texts; docstrings may explain."""
    docstrings = set(_docstring_lines(ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if line in docstrings:
            continue
        if token.type == tokenize.NAME and WORDS.search(token.string.lower().replace("_", " ")):
            yield f"{line}: {token.string}"
        elif token.type in {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}:
            text = token.string.strip("\"'frb")
            if text in LABELS or WORDS.search(text.lower().replace("_", " ")):
                yield f"{line}: {token.string[:80]}"


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
