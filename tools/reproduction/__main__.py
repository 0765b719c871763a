"""`python -m tools.reproduction`: writes docs/the-paper-reproduced.md and docs/figures."""

from __future__ import annotations

from safetab.tuning import tuning_of
from tools import PROJECT
from tools.reproduction.figures import figures
from tools.reproduction.noise_comparison import scopes
from tools.reproduction.page import page

DOCS = PROJECT / "docs"
PAGE = "the-paper-reproduced.md"


def files() -> dict[str, str]:
    """By path inside docs, what is to be written."""
    tuning = tuning_of().require()
    compared = scopes(tuning)
    pictures = {f"figures/{name}": svg for name, svg in figures(compared).items()}
    return {PAGE: page(tuning, compared), **pictures}


if __name__ == "__main__":
    for name, text in files().items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"Wrote docs/{name}.")
