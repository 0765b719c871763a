"""`safetab docs`: a page of the documentation that came with the program, in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import Annotated

import typer

from safetab.cli.functions.documentation import page_of
from safetab.cli.json_document import answer, is_for_programs
from safetab.cli.messages import exits_with_code, say

_PAGE = "A page, such as how-to/read-a-release or file-formats#status. Default: the first one."


def docs(
    page: Annotated[str, typer.Argument(metavar="PAGE", help=_PAGE)] = "",
    path_alone: Annotated[
        bool, typer.Option("--path", help="Print the path of the page, and open nothing.")
    ] = False,
) -> None:
    """Open the documentation, which needs no network.

    Prints the path of the page, and opens it in a browser if there is one.
    """
    with exits_with_code():
        file, anchor = page_of(page)
        typer.echo(file)
        answer({"page": str(file), "anchor": anchor})
        if not (path_alone or is_for_programs()):
            open_in_browser(file.as_uri() + anchor)


def open_in_browser(address: str) -> None:
    """Open the address if there is a display.

    Without one Python would start a text browser here.
    """
    has_display = sys.platform != "linux" or any(
        map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    )
    if not (has_display and webbrowser.open(address)):
        say("\nCan't open a browser here. Open the page on a computer with a screen.")
