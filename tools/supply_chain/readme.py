"""The page of a package index, made from README.md.

`python -m tools.supply_chain.readme` writes it into packaging. A package index has neither the
project's files nor its pictures, so links and pictures that need them are left out, and commands
are those of an installed package. The pages themselves are in the wheel: `safetab docs`.
"""

from __future__ import annotations

import re

from tools import PROJECT

README = PROJECT / "README.md"
LONG_DESCRIPTION = PROJECT / "packaging" / "long-description.md"
_PICTURE = re.compile(
    r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+(?:\*.*\*\n+)?", re.MULTILINE
)  # with its caption
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)(?:docs/)?([^)#]*?)(?:\.md)?(?:#[^)]*)?\)")
_PATHS = ("- **I ", "given, and never", "[")  # the beginnings of lines that lead to pages
_PAGE = r"\1 (`safetab docs \2`)"
_REPLACED = {
    "need Linux, Python": "need Linux and Python",
    ", make, and a network the first time ([other ways to install](docs/how-to/install.md))": "",
    "```\nmake demo\n```": "```\npip install ./safetab-*.whl\nsafetab demo build/demo\n```",
    "(`make demo OPEN=1` opens the site)": "(`safetab demo build/demo --open` opens the site)",
    " `make test` runs the tests.": "",
    ".venv/bin/safetab ": "safetab ",
    "Four doors lead into the [documentation](docs/overview.md):": (
        "The documentation is part of the package: `safetab docs` opens it in a browser,"
        " without a network. Four doors lead into it:"
    ),
}


def without_relative_links(text: str) -> str:
    """The text for a place that has none of the project's files."""
    return _LINK.sub(r"\1", text)


def long_description() -> str:
    """README.md without what a package index can't show.

    Raises ValueError if a phrase to replace isn't there.
    """
    text = README.read_text(encoding="utf-8")
    for phrase, other in _REPLACED.items():
        if phrase not in text:
            raise ValueError(f"README.md has no {phrase!r}: adapt tools/supply_chain/readme.py.")
        text = text.replace(phrase, other)
    lines = _PICTURE.sub("", text).splitlines()
    return "".join(
        _LINK.sub(_PAGE if line.startswith(_PATHS) else r"\1", line) + "\n" for line in lines
    )


def main() -> None:
    LONG_DESCRIPTION.parent.mkdir(exist_ok=True)
    LONG_DESCRIPTION.write_text(long_description(), encoding="utf-8")


if __name__ == "__main__":
    main()
