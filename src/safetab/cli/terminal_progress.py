"""Progress for people: a bar with the time left on a terminal, plain lines in a log. On standard error."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from safetab.cli.messages import printable
from safetab.cli.step_lines import StepLines, rate_in_words
from safetab.cli.wrapping import wrapped

_WIDE = 120
_LONGEST_WORD = 12


class _RateColumn(ProgressColumn):
    """Parts a second, lately."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None or task.finished else rate_in_words(task.speed))


class _PartsColumn(ProgressColumn):
    """How many parts are done, of how many if that is known: persons run into hundreds of millions."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed:,.0f}" if task.total is None else f"{task.completed:,.0f}/{task.total:,.0f}")


def progress_bars(console: Console, *, is_shown: bool) -> Progress:
    """What is done, how far it is and how long it takes; on a narrow terminal names go on below, between words."""
    is_wide = console.width >= _WIDE
    columns = (
        TextColumn("{task.description}", table_column=Column(min_width=_LONGEST_WORD, overflow="fold")),
        BarColumn(bar_width=40 if is_wide else 10),
        _PartsColumn(table_column=Column(no_wrap=True)),
        *([_RateColumn(table_column=Column(no_wrap=True))] if is_wide else []),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
    )
    return Progress(*columns, console=console, disable=not is_shown)


class TerminalProgress:
    """Keeps to the protocol `safetab.foundation.progress.Progress`."""

    def __init__(self, *, is_quiet_in_a_log: bool = False) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._lines = None if self._is_terminal or is_quiet_in_a_log else StepLines(_write_line)
        self._bars = progress_bars(Console(stderr=True), is_shown=self._is_terminal)
        self._bar: TaskID | None = None
        self._left: int | None = None  # of the step's parts; none if nobody knows how many there are

    def step(self, name: str, parts: int) -> None:
        if self._is_terminal:
            self._bar = self._bars.add_task(name, total=parts or None)
            self._left = parts or None
        elif self._lines is not None:
            self._lines.step(name, parts)

    def advance(self, parts: int = 1) -> None:
        if self._bar is not None:
            self._bars.advance(self._bar, self._at_most_left(parts))
        elif self._lines is not None:
            self._lines.advance(parts)

    def _at_most_left(self, parts: int) -> int:
        """A total may be an estimate: what comes beyond it is not shown."""
        if self._left is None:
            return parts
        now = min(parts, self._left)
        self._left -= now
        return now

    def print(self, line: str) -> None:
        """A line on standard output that the bar doesn't spoil."""
        if self._is_terminal and sys.stdout.isatty():
            self._bars.console.print(line, markup=False, highlight=False)
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def note(self, text: str) -> None:
        _write_line(text)

    def tell(self, text: str) -> None:
        _write_line(text)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bars.stop()
        if self._lines is not None and kind is None:
            self._lines.end_step()


def _write_line(text: str) -> None:
    """On standard error, above the bars: they redirect it."""
    sys.stderr.write(f"{wrapped(printable(text))}\n")
    sys.stderr.flush()
