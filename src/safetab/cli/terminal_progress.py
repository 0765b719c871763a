"""Progress for people: a bar with the time left on a terminal, plain lines in a log. On standard error."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from safetab.cli.messages import printable


class _RateColumn(ProgressColumn):
    """Parts a second, lately."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None or task.finished else f"{task.speed:,.1f}/s")


class TerminalProgress:
    """Keeps to the protocol `safetab.progress.Progress`."""

    def __init__(self, *, is_quiet_in_a_log: bool = False) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._tells_lines = not (self._is_terminal or is_quiet_in_a_log)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _RateColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=Console(stderr=True), disable=not self._is_terminal)
        self._bar: TaskID | None = None

    def step(self, name: str, parts: int) -> None:
        if self._is_terminal:
            self._bar = self._bars.add_task(name, total=parts)
        elif self._tells_lines:
            sys.stderr.write(f"{name}\n")
            sys.stderr.flush()

    def advance(self) -> None:
        if self._bar is not None:
            self._bars.advance(self._bar)

    def print(self, line: str) -> None:
        """A line on standard output that the bar doesn't spoil."""
        if self._is_terminal and sys.stdout.isatty():
            self._bars.console.print(line, markup=False, highlight=False)
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def tell(self, text: str) -> None:
        sys.stderr.write(f"{printable(text)}\n")  # above the bars: they redirect it
        sys.stderr.flush()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bars.stop()
