"""Progress on standard error.

A terminal shows a bar with the time left, a log plain lines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self

from rich import progress as bars
from rich.console import Console, ConsoleDimensions
from rich.table import Column
from rich.text import Text

from safetab.cli.messages import terminal_width, wrapped
from safetab.foundation.files import printable

_SECONDS_BETWEEN_LINES = 30.0
_WIDE = 120
_LONGEST_WORD = 12


class TerminalProgress:
    """Implements the protocol `safetab.foundation.progress.Progress`."""

    def __init__(self, *, is_quiet: bool = False, is_quiet_in_a_log: bool = False) -> None:
        shows_bars = sys.stderr.isatty() and not is_quiet
        self._bars = progress_bars(_console()) if shows_bars else None
        self._lines = StepLines((lambda _: None) if is_quiet or is_quiet_in_a_log else _write_line)
        self.is_quiet = is_quiet

    def step(self, name: str, parts: int) -> None:
        """Begin a step of `parts` parts; 0 if their number is not known."""
        if self._bars is not None:
            self._bars.add_task(name, total=parts or None)
        else:
            self._lines.step(name, parts)

    def advance(self, parts: int = 1) -> None:
        """Count parts as done. A step's total may be an estimate: what exceeds it is not shown."""
        if self._bars is None:
            self._lines.advance(parts)
        elif self._bars.tasks:
            task = self._bars.tasks[-1]
            self._bars.advance(
                task.id, parts if task.remaining is None else min(parts, task.remaining)
            )

    def print(self, line: str) -> None:
        """Print a line on standard output without disturbing the bar."""
        if self._bars is not None and sys.stdout.isatty():
            self._bars.console.print(line, markup=False, highlight=False)
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a remark on standard error, above the bar, unless the command is to be quiet."""
        if not self.is_quiet:
            _write_line(text)

    def tell(self, text: str) -> None:
        """Print what the curator should know on standard error, above the bar."""
        _write_line(text)

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()
        elif kind is None:
            self._lines.end_step()


def _console() -> Console:
    """Standard error. Of a terminal that can't move its cursor, rich would not ask the width."""
    console = Console(stderr=True)
    if console.is_dumb_terminal:
        console.size = ConsoleDimensions(terminal_width(), console.height)
    return console


def _write_line(text: str) -> None:
    sys.stderr.write(f"{wrapped(printable(text))}\n")  # rich shows it above the bars
    sys.stderr.flush()


class StepLines:
    """Plain lines: when a step begins, each half minute of a long step, and when it ends."""

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._clock = clock
        self._step: str | None = None
        self._parts = self._done = 0
        self._began = self._last_line = 0.0

    def step(self, name: str, parts: int) -> None:
        """End the last step and begin another; `parts` is 0 if their number is not known."""
        self.end_step()
        self._step = name
        self._parts = parts
        self._done = 0
        self._began = self._last_line = self._clock()
        self._write(name)

    def advance(self, parts: int) -> None:
        """Count parts as done; write a line if the last one is half a minute old."""
        self._done = min(self._done + parts, self._parts) if self._parts else 0
        now = self._clock()
        is_due = now - self._last_line >= _SECONDS_BETWEEN_LINES
        if self._step is not None and 0 < self._done < self._parts and is_due:
            self._last_line = now
            rate = self._done / (now - self._began)
            left = (self._parts - self._done) / rate
            self._write(
                f"{self._step}: {self._done / self._parts:.0%} ({self._done:,} of {self._parts:,}),"
                f" {_rate_in_words(rate)}, {seconds_in_words(left)} left"
            )

    def end_step(self) -> None:
        """Write how long the step took, if one has begun."""
        if self._step is not None:
            self._write(f"{self._step}: done in {seconds_in_words(self._clock() - self._began)}")
            self._step = None


def _rate_in_words(parts_a_second: float) -> str:
    """Such as 12.5/s or 1,250/s."""
    return f"{parts_a_second:,.1f}/s" if parts_a_second < 100 else f"{parts_a_second:,.0f}/s"


def seconds_in_words(seconds: float) -> str:
    """Such as 12.5 s, 2 min 5 s or 1 h 2 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


class _RateColumn(bars.ProgressColumn):
    """Parts per second, lately."""

    def render(self, task: bars.Task) -> Text:
        return Text("" if task.speed is None or task.finished else _rate_in_words(task.speed))


class _PartsColumn(bars.ProgressColumn):
    """The number of parts done, and of all parts if it is known."""

    def render(self, task: bars.Task) -> Text:
        total = "" if task.total is None else f"/{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{total}")


def progress_bars(console: Console) -> bars.Progress:
    """Bars that show the step, its parts and the time left.

    A narrow terminal breaks long names.
    """
    is_wide = console.width >= _WIDE
    name = Column(min_width=_LONGEST_WORD, overflow="fold")
    numbers = (
        _PartsColumn,
        *([_RateColumn] if is_wide else []),
        bars.TimeElapsedColumn,
        bars.TimeRemainingColumn,
    )
    return bars.Progress(
        bars.TextColumn("{task.description}", table_column=name),
        bars.BarColumn(bar_width=40 if is_wide else 10),
        *(column(table_column=Column(no_wrap=True)) for column in numbers),
        console=console,
    )
