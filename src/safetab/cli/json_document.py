"""The one JSON document that a command with --json prints on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TextIO

from safetab.cli.standard_streams import is_unread
from safetab.foundation.findings import FORMAT, VERSION, Finding

_JSON_FORMAT = 1
"""Format of the documents that `--json` prints."""


class Document:
    """A command's answer, with its findings and its exit code.

    A long list is printed while it is made.
    """

    def __init__(self, command: str, output: TextIO) -> None:
        self._command = command
        self._output = output
        self._answer: dict[str, object] = {}
        self._findings: list[Finding] = []
        self._failure = self._advice = ""
        self._begun = "{"

    def add(
        self, answer: dict[str, object], findings: Iterable[Finding], *, failure: str, advice: str
    ) -> None:
        """Add keys, findings and, if the command fails, why and what to read."""
        self._answer |= answer
        self._findings += findings
        self._failure = self._failure or failure
        self._advice = self._advice or advice

    def add_list(self, key: str, items: Iterable[object]) -> None:
        """Print a list item by item.

        If making one fails, the list ends before it and stays valid JSON.
        """
        self._output.write(f'{self._begun}\n  "{key}": [')
        self._begun = ","
        try:
            for number, item in enumerate(items):
                if is_unread(self._output):
                    break
                self._output.write(f"{',' if number else ''}\n    {json.dumps(item)}")
        finally:
            self._output.write("\n  ]")

    def end(self, exit_code: int) -> None:
        """Print the document, or the rest of it."""
        about: dict[str, object] = {
            FORMAT: _JSON_FORMAT,
            "safetab_version": VERSION,
            "command": self._command,
            "exit_code": exit_code,
            "failure": self._failure or None,
            "advice": self._advice or None,
            "findings": [finding.as_json() for finding in self._findings],
        }
        self._output.write(
            self._begun + json.dumps(about | self._answer, indent=2).removeprefix("{") + "\n"
        )


document: ContextVar[Document | None] = ContextVar("document", default=None)
"""The document of the command that runs, if it is to print one."""


def is_for_programs() -> bool:
    """Whether the command is to print JSON."""
    return document.get() is not None


def answer(
    keys: dict[str, object] | None = None,
    findings: Iterable[Finding] = (),
    *,
    failure: str = "",
    advice: str = "",
) -> None:
    """Add to the document, if the command is to print one."""
    if (open_document := document.get()) is not None:
        open_document.add(keys or {}, findings, failure=failure, advice=advice)


def answer_list(key: str, items: Iterable[object]) -> None:
    """Print a list in the document. Only for a command that is to print one."""
    open_document = document.get()
    assert open_document is not None
    open_document.add_list(key, items)
