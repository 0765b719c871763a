"""The pages of the documentation that came with the program."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from safetab.foundation.argument_types import python_function
from safetab.foundation.failures import NOTHING_WRITTEN, RunFailed
from safetab.foundation.findings import InvalidInput

PACKAGE = Path(__file__).parents[2]
_FIRST = "overview"
"""The first page of the source tree. In a built site it is the index."""


@python_function
def docs(page: str = "") -> Path:
    """The file of a page of the documentation, which the command `safetab docs` opens.

    Raises `safetab.InvalidInput` if there is no such page, `safetab.RunFailed` if this installation
    has none.

    Args:
        page: A page, such as how-to/read-a-release; the first one if left out.
    """
    return page_of(page)[0]


def page_of(page: str) -> tuple[Path, str]:
    """The file of a page and its anchor. Raises InvalidInput if there is no such page."""
    folder, ending, front = _folder_of_pages()
    name, hash_sign, anchor = page.partition("#")
    name = name.removeprefix("docs/").removesuffix(".md").removesuffix(".html")
    name = front if name in {"", _FIRST} else name
    files = sorted(folder.rglob(f"*{ending}"))
    exact, named = folder / f"{name}{ending}", [each for each in files if each.stem == name]
    if exact not in files and len(named) != 1:
        close = get_close_matches(
            name, [each.relative_to(folder).with_suffix("").as_posix() for each in files], 3, 0.75
        )
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        raise InvalidInput.about(
            f"The page {name}", f"does not exist. `safetab docs` opens a list of all pages.{hint}"
        )
    file = exact if exact in files else named[0]
    if anchor and ending == ".html" and f'id="{anchor}"' not in file.read_text(encoding="utf-8"):
        raise InvalidInput.about(
            f"The part {anchor} of the page {name}", f"does not exist. The page is {file}."
        )
    return file, hash_sign + anchor


def _folder_of_pages() -> tuple[Path, str, str]:
    """The pages of this installation, the ending of their names, and the first page.

    A wheel brings them. A source tree has those of `make docs`, or else the Markdown that they are
    made from.
    """
    tree = PACKAGE.parents[1]
    places = (
        (PACKAGE / "documentation", "index"),
        (tree / "build" / "docs", "index"),
        (tree / "docs", _FIRST),
    )
    for folder, front in places:
        for ending in (".html", ".md"):
            if (folder / f"{front}{ending}").is_file():
                return folder, ending, front
    raise RunFailed(
        "this installation has no documentation, because it was made from a source tree."
        f" Read docs/overview.md there, or install a wheel. {NOTHING_WRITTEN}"
    )
