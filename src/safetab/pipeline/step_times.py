"""How long each step of a run took. It depends on the persons, so it is for the curator's log alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from safetab.engines.contract import GroupCounts
from safetab.foundation.progress import Progress
from safetab.planning.run_plan import LevelPlan
from safetab.privacy.exact_counts import ExactCounts
from safetab.products.product import Shape

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Elapsed:
    """A time, or the time between two: on the clock, and of all processor cores together."""

    wall_seconds: float
    cpu_seconds: float

    @classmethod
    def now(cls) -> Self:
        return cls(time.monotonic(), time.process_time())

    def __sub__(self, earlier: Elapsed) -> Elapsed:
        return Elapsed(self.wall_seconds - earlier.wall_seconds, self.cpu_seconds - earlier.cpu_seconds)

    def __add__(self, other: Elapsed) -> Elapsed:
        return Elapsed(self.wall_seconds + other.wall_seconds, self.cpu_seconds + other.cpu_seconds)

    def __str__(self) -> str:
        return f"{self.wall_seconds:.2f} s, {self.cpu_seconds:.2f} CPU s"


class StepTimes:
    """Progress that is passed on, and the time of each step, and of named parts of it, written to a log."""

    def __init__(
        self, progress: Progress, log: Callable[[str], None], now: Callable[[], Elapsed] = Elapsed.now
    ) -> None:
        self._progress = progress
        self._log = log
        self._now = now
        self._step: str | None = None
        self._began = now()
        self._of_parts: dict[str, Elapsed] = {}
        self._inside = Elapsed(0, 0)  # parts that lie in the part that is open
        self._alongside = 0.0  # CPU seconds of work in another thread

    def step(self, name: str, parts: int) -> None:
        self.end_step()
        self._step, self._began = name, self._now()
        self._progress.step(name, parts)

    def advance(self, parts: int = 1) -> None:
        self._progress.advance(parts)

    def note(self, text: str) -> None:
        self._log(text)
        self._progress.note(text)

    def tell(self, text: str) -> None:
        self._log(text)
        self._progress.tell(text)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time inside is this part's, but for parts that lie in it."""
        before, self._inside = self._inside, Elapsed(0, 0)
        began = self._now_of_parts()
        yield
        taken = self._now_of_parts() - began
        self._of_parts[name] = self._of_parts.get(name, Elapsed(0, 0)) + (taken - self._inside)
        self._inside = before + taken

    def alongside(self, work: Callable[[], None]) -> Callable[[], None]:
        """The same work, for another thread or between parts: its CPU time, taken when it ends, is no part's."""

        def timed() -> None:
            began = time.thread_time()
            work()
            self._alongside += time.thread_time() - began

        return timed

    def _now_of_parts(self) -> Elapsed:
        return self._now() - Elapsed(0, self._alongside)

    def each(self, name: str, things: Iterator[Thing]) -> Iterator[Thing]:
        """The same things; the time to make them is this part's, what is done with them is not."""
        while True:
            with self.part(name):
                thing = next(things, None)
            if thing is None:
                return
            yield thing

    def end_step(self) -> None:
        if self._step is None:
            return
        self._log(f'step "{self._step}": {self._now() - self._began}')
        for name, taken in self._of_parts.items():
            self._log(f'of it "{name}": {taken}')
        self._step, self._of_parts = None, {}


class TimedCounts:
    """An engine's answers, with the time that they take."""

    def __init__(self, counts: GroupCounts, times: StepTimes) -> None:
        self._counts = counts
        self._times = times

    def totals(self, level: LevelPlan) -> ExactCounts:
        with self._times.part("counting"):
            return self._counts.totals(level)

    def cells(self, level: LevelPlan, groups_of: Mapping[Shape, NDArray[np.int64]]) -> Mapping[Shape, ExactCounts]:
        with self._times.part("counting"):
            return self._counts.cells(level, groups_of)
