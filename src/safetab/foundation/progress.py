"""How long work shows that it goes on. Only the curator sees it."""

from __future__ import annotations

import logging
from typing import Protocol


class Progress(Protocol):
    def step(self, name: str, parts: int) -> None:
        """A step of so many parts begins; the one before is done. Parts may be levels, files, or persons."""

    def advance(self, parts: int = 1) -> None:
        """So many parts more are done."""

    def note(self, text: str) -> None:
        """Good to know, and nothing is wrong; nothing of a record."""

    def tell(self, text: str) -> None:
        """Something that the curator should know before the run goes on; nothing of a record."""


class NoProgress:
    """Shows no progress; what must be said goes to Python's logging, by default to standard error."""

    def step(self, name: str, parts: int) -> None:
        pass

    def advance(self, parts: int = 1) -> None:
        pass

    def note(self, text: str) -> None:
        logging.getLogger("safetab").info(text)

    def tell(self, text: str) -> None:
        logging.getLogger("safetab").warning(text)
