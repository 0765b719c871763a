"""The times of the steps of a run.

Times depend on records, so only the curator's log gets them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, TypeVar

from safetab.foundation.progress import Progress

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A point in time, or the time between two: on the clock, and in CPU seconds of all cores."""

    wall_seconds: float
    cpu_seconds: float

    @classmethod
    def now(cls) -> Self:
        """The present, on clocks that only go forward."""
        return cls(time.monotonic(), time.process_time())

    def __sub__(self, earlier: Elapsed) -> Elapsed:
        return Elapsed(
            self.wall_seconds - earlier.wall_seconds, self.cpu_seconds - earlier.cpu_seconds
        )

    def __add__(self, other: Elapsed) -> Elapsed:
        return Elapsed(self.wall_seconds + other.wall_seconds, self.cpu_seconds + other.cpu_seconds)

    def __str__(self) -> str:
        return f"{self.wall_seconds:.2f} s, {self.cpu_seconds:.2f} CPU s"


class StepTimes:
    """Passes progress on, and logs the time of each step and of its named parts."""

    def __init__(
        self,
        progress: Progress,
        log: Callable[[str], None],
        now: Callable[[], Elapsed] = Elapsed.now,
    ) -> None:
        self._progress = progress
        self._log = log
        self._now = now
        self._step: str | None = None
        self._began = now()
        self._of_parts: dict[str, Elapsed] = {}
        self._inside = Elapsed(0, 0)  # time of parts inside the open part
        self._elsewhere = 0.0  # CPU seconds of work in another thread

    def step(self, name: str, parts: int) -> None:
        """Log the time of the last step and begin another."""
        self.end_step()
        self._step = name
        self._began = self._now()
        self._progress.step(name, parts)

    def advance(self, parts: int = 1) -> None:
        """Count parts of the step as done."""
        self._progress.advance(parts)

    def note(self, text: str) -> None:
        """Write a remark to the log and to the progress."""
        self._log(text)
        self._progress.note(text)

    def tell(self, text: str) -> None:
        """Write what the curator must see to the log and to the progress."""
        self._log(text)
        self._progress.tell(text)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside as this part's, except for parts inside it."""
        before = self._inside
        self._inside = Elapsed(0, 0)
        began = self._now_of_parts()
        yield
        taken = self._now_of_parts() - began
        self._of_parts[name] = self._of_parts.get(name, Elapsed(0, 0)) + (taken - self._inside)
        self._inside = before + taken

    def in_another_thread(self, work: Callable[[], None]) -> Callable[[], None]:
        """The work, whose CPU time then counts for no part of the step."""

        def timed() -> None:
            began = time.thread_time()
            work()
            self._elsewhere += time.thread_time() - began

        return timed

    def _now_of_parts(self) -> Elapsed:
        return self._now() - Elapsed(0, self._elsewhere)

    def each(self, name: str, things: Iterator[_Thing]) -> Iterator[_Thing]:
        """The things; the time to make them, but not to use them, is this part's."""
        while True:
            with self.part(name):
                thing = next(things, None)
            if thing is None:
                return
            yield thing

    def end_step(self) -> None:
        """Log the times of the step and its parts, if a step has begun."""
        if self._step is None:
            return
        self._log(f'step "{self._step}": {self._now() - self._began}')
        for name, taken in self._of_parts.items():
            # Work in another thread that ended in this part may have begun in the one before.
            self._log(f'of it "{name}": {Elapsed(taken.wall_seconds, max(0.0, taken.cpu_seconds))}')
        self._step = None
        self._of_parts = {}
