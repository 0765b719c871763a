"""The run itself failed, whoever is at fault: exit code 3."""

from __future__ import annotations


class RunFailed(Exception):  # noqa: N818 - the name is the sentence
    """The message is for the terminal: it holds nothing of the confidential input."""
