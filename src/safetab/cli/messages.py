"""What the terminal shows of findings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console

from safetab.findings import Finding, described


@contextmanager
def working(what: str) -> Iterator[None]:
    """Shows on a terminal that something is being done; in a log it is silent."""
    with Console(stderr=True).status(what):
        yield


def show_findings(findings: Iterable[Finding]) -> None:
    """On standard error, as plain text: names and values come from files and are not markup."""
    text = described(findings)
    if text:
        sys.stderr.write(_printable(text) + "\n")


def _printable(text: str) -> str:
    """Control characters from a file must not steer the terminal."""
    return "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}" for character in text
    )
