"""A terminal's display as a page.

Real commands run in a pseudo-terminal, with the colours that they print.
"""

from __future__ import annotations

import io
import os
import pty
import shutil
import subprocess
import sys
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

from tools.docs.pictures.pictured import Picture, Terminal

COLUMNS, LINES = 88, 40
WINDOW_PIXELS = 700
# Five shades of each colour are enough for letters, and make files a third as large.
PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<title>Terminal</title>
<style>
html {{ background: {background}; color: {foreground}; filter: url(#shades); }}
body {{ margin: 0; }}
svg {{ position: absolute; }}
pre {{ margin: 0; padding: 12px 12px 0; font: 12.6px/1.35 "DejaVu Sans Mono", monospace; }}
</style>
<svg width="0" height="0"><filter id="shades" color-interpolation-filters="sRGB">\
<feComponentTransfer>
<feFuncR type="discrete" tableValues="0 .25 .5 .75 1"/>
<feFuncG type="discrete" tableValues="0 .25 .5 .75 1"/>
<feFuncB type="discrete" tableValues="0 .25 .5 .75 1"/>
</feComponentTransfer></filter></svg>
<pre>{code}</pre>
"""


def page_of(terminal: Terminal, build: Path) -> Picture:
    """A page in build/ with the commands and all that they printed."""
    folder = build / "terminal" / terminal.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for made in ("demo", "nz"):
        (folder / made).symlink_to(build / made)
    for command in terminal.before:
        _printed(command, folder, exit_code=0)
    screen = Console(record=True, width=COLUMNS, file=io.StringIO())
    for command in terminal.shown:
        screen.print(Text.assemble(("$ ", "bold green"), (command, "bold")), soft_wrap=True)
        text = _printed(command, folder, terminal.exit_code if command == terminal.shown[-1] else 0)
        assert str(folder) not in text, f"{command} names a folder of this machine: {text}"
        screen.print(Text.from_ansi(text), soft_wrap=True)
    page = screen.export_html(theme=SVG_EXPORT_THEME, code_format=PAGE, inline_styles=True)
    (folder / "page.html").write_text(page, encoding="utf-8")
    return Picture(
        terminal.name, f"terminal/{terminal.name}/page.html", "body", "pre", WINDOW_PIXELS
    )


def _printed(command: str, folder: Path, exit_code: int) -> str:
    """What the command prints on a terminal of its own, with this Python's `safetab`."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (LINES, COLUMNS))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sizes = {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    environment = os.environ | sizes | {"PATH": path, "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(  # noqa: S603 - our own commands
        ["/bin/sh", "-c", command], cwd=folder, env=environment, stdin=its, stdout=its, stderr=its
    ) as running:
        os.close(its)
        printed = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    text = printed.decode().replace("\r\n", "\n").rstrip()
    assert running.returncode == exit_code, f"{command} ended with {running.returncode}: {text}"
    return text


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: everybody who could write has ended
        return b""
