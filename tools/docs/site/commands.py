"""A page of commands as a reader would follow it.

Its files are saved, its commands run, and results put below.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"^```(csv|toml|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"`([\w./-]+)`(:|, change these lines:)\s*\Z")
_WIDTH = "90"  # of a page of the site
_LONGEST_MINUTES = 5


def with_results(text: str) -> str:
    """The page with what each command printed.

    Raises ValueError if a command fails or a file has no name.
    """
    parts, end = list[str](), 0
    with tempfile.TemporaryDirectory() as name:
        for block in _BLOCK.finditer(text):
            shown = block[0].replace("```csv", "```text", 1)  # Sphinx knows no colours for CSV
            parts += [text[end : block.start()], shown]
            before, end = text[end : block.start()], block.end()
            if block[1] == "sh":
                printed = "".join(_run(command, Path(name)) for command in block[2].splitlines())
                parts.append(f"\n\n```text\n{printed.rstrip()}\n```" if printed.strip() else "")
            else:
                _save(before, block[2], Path(name))
    return "".join((*parts, text[end:]))


def _run(command: str, folder: Path) -> str:
    """What a command prints, run in the folder."""
    program, *arguments = shlex.split(command)
    if program != "safetab":
        raise ValueError(f"{command}: only safetab is run.")
    ended = subprocess.run(  # noqa: S603 - commands of our own page
        [sys.executable, "-m", program, *arguments],
        cwd=folder, env=os.environ | {"COLUMNS": _WIDTH}, text=True, encoding="utf-8",
        capture_output=True, timeout=60 * _LONGEST_MINUTES, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise ValueError(f"{command} ended with {ended.returncode}: {ended.stderr}")
    return ended.stdout


def _save(before: str, content: str, folder: Path) -> None:
    """Save a file that the text before it names.

    Or change the lines of one that begin with the same keys.
    """
    named = _FILE.search(before)
    if named is None:
        raise ValueError(f"no file is named before {content[:40]!r}.")
    path = folder / named[1]
    if named[2] == ":":
        path.write_text(content, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    for line in content.splitlines():
        key = re.escape(line.partition("=")[0].rstrip())
        text, found = re.subn(
            rf"^{key} *=.*$", line.replace("\\", r"\\"), text, count=1, flags=re.MULTILINE
        )
        if not found:
            raise ValueError(f"{named[1]} has no line for {line!r}.")
    path.write_text(text, encoding="utf-8")
