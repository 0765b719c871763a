"""Progress in a log that is no terminal: plain lines, few of them."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS_BETWEEN_LINES = 30.0


class StepLines:
    """A line when a step begins and when it ends; of a long one, how far it is each half minute."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write = write
        self._clock = clock
        self._step: str | None = None
        self._parts = self._done = 0
        self._began = self._last_line = 0.0

    def step(self, name: str, parts: int) -> None:
        self.end_step()
        self._step, self._parts, self._done = name, parts, 0
        self._began = self._last_line = self._clock()
        self._write(name)

    def advance(self, parts: int) -> None:
        self._done = min(self._done + parts, self._parts) if self._parts else 0
        now = self._clock()
        if self._step is not None and 0 < self._done < self._parts and now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            rate = self._done / (now - self._began)
            left = (self._parts - self._done) / rate
            self._write(
                f"{self._step}: {self._done / self._parts:.0%} ({self._done:,} of {self._parts:,}),"
                f" {rate_in_words(rate)}, {seconds_in_words(left)} left"
            )

    def end_step(self) -> None:
        if self._step is not None:
            self._write(f"{self._step}: done in {seconds_in_words(self._clock() - self._began)}")
            self._step = None


def rate_in_words(parts_a_second: float) -> str:
    return f"{parts_a_second:,.1f}/s" if parts_a_second < 100 else f"{parts_a_second:,.0f}/s"


def seconds_in_words(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
