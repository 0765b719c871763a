"""`safetab docs`: the documentation that came with the program, and how a page is opened in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from safetab.cli.json_document import answer, is_for_programs
from safetab.cli.messages import exits_with_code, say
from safetab.foundation.failures import NOTHING_WRITTEN, RunFailed

PACKAGE = Path(__file__).parents[2]
_PAGE = "A page, such as how-to/read-a-release or file-formats#status. Default: the first one."


def docs(
    page: Annotated[str, typer.Argument(metavar="PAGE", help=_PAGE)] = "",
    path_alone: Annotated[bool, typer.Option("--path", help="Print the path of the page, and open nothing.")] = False,
) -> None:
    """Open the documentation, which needs no network.

    Prints the path of the page, and opens it in a browser if there is one.
    """
    with exits_with_code():
        file, anchor = _found(page)
        typer.echo(file)
        answer({"page": str(file), "anchor": anchor})
        if not (path_alone or is_for_programs()):
            open_in_browser(file.as_uri() + anchor)


def open_in_browser(address: str) -> None:
    """Open the address if there is a display; without one Python would start a text browser here."""
    has_display = sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
    if not (has_display and webbrowser.open(address)):
        say("\nCan't open a browser here. Open the files above on a computer with a screen.")


def _found(page: str) -> tuple[Path, str]:
    """The file of a page and its anchor. Raises BadParameter if there is no such page."""
    folder, ending, front = _folder_of_pages()
    name, hash_sign, anchor = page.partition("#")
    name = name.removeprefix("docs/").removesuffix(".md").removesuffix(".html") or front
    if (file := folder / f"{name}{ending}").is_file():
        return file, hash_sign + anchor
    files = sorted(folder.rglob(f"*{ending}"))
    if len(named := [each for each in files if each.stem == name]) == 1:
        return named[0], hash_sign + anchor
    names = [str(each.relative_to(folder).with_suffix("")) for each in files]
    close = get_close_matches(name, names, 3)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`safetab docs` opens a list of all pages."
    raise typer.BadParameter(f"there is no page {name}. {hint}", param_hint="PAGE")


def _folder_of_pages() -> tuple[Path, str, str]:
    """The pages of this installation, the ending of their names, and the first page.

    A wheel brings them. A source tree has those of `make docs`, or else the Markdown that they are made from.
    """
    tree = PACKAGE.parents[1]
    places = ((PACKAGE / "documentation", "index"), (tree / "build" / "docs", "index"), (tree / "docs", "overview"))
    for folder, front in places:
        for ending in (".html", ".md"):
            if (folder / f"{front}{ending}").is_file():
                return folder, ending, front
    raise RunFailed(
        "this installation has no documentation, because it was made from a source tree. Read docs/overview.md there,"
        f" or install a wheel. {NOTHING_WRITTEN}"
    )
