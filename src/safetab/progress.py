"""How long work shows that it goes on. What is told may be seen by the curator alone."""

from __future__ import annotations

import logging
from typing import Protocol


class Progress(Protocol):
    def step(self, name: str, parts: int) -> None:
        """A step of so many parts begins; the one before is done."""

    def advance(self) -> None:
        """One part is done."""

    def tell(self, text: str) -> None:
        """Something that the curator should know before the run goes on; nothing of a record."""


class NoProgress:
    """Shows no progress; what must be told goes to Python's logging, by default to standard error."""

    def step(self, name: str, parts: int) -> None:
        pass

    def advance(self) -> None:
        pass

    def tell(self, text: str) -> None:
        logging.getLogger("safetab").warning(text)
