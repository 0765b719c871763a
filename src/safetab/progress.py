"""How long work shows that it goes on. What is told may be seen by the curator alone."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    def step(self, name: str, parts: int) -> None:
        """A step of so many parts begins; the one before is done."""

    def advance(self) -> None:
        """One part is done."""


class NoProgress:
    def step(self, name: str, parts: int) -> None:
        pass

    def advance(self) -> None:
        pass
