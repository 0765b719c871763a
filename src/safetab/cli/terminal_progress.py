"""Progress for people: a bar with the time left on a terminal, plain lines in a log. On standard error."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from safetab.cli.step_lines import StepLines
from safetab.cli.wrapping import wrapped
from safetab.foundation.text_files import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class TerminalProgress:
    """Keeps to the protocol `safetab.foundation.progress.Progress`."""

    def __init__(self, *, is_quiet_in_a_log: bool = False) -> None:
        self._bars = _bars() if sys.stderr.isatty() else None
        self._lines = None if self._bars is not None or is_quiet_in_a_log else StepLines(_write_line)
        self._bar: TaskID | None = None
        self._left: int | None = None  # of the step's parts; none if nobody knows how many there are

    def step(self, name: str, parts: int) -> None:
        if self._bars is not None:
            self._bar = self._bars.add_task(name, total=parts or None)
            self._left = parts or None
        elif self._lines is not None:
            self._lines.step(name, parts)

    def advance(self, parts: int = 1) -> None:
        if self._bars is not None and self._bar is not None:
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
        if self._bars is not None and sys.stdout.isatty():
            self._bars.console.print(line, markup=False, highlight=False)
        else:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    def note(self, text: str) -> None:
        _write_line(text)

    def tell(self, text: str) -> None:
        _write_line(text)

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()
        if self._lines is not None and kind is None:
            self._lines.end_step()


def _bars() -> Progress:
    from rich.console import Console  # noqa: PLC0415 - a log needs none of what draws bars

    from safetab.cli.progress_bars import progress_bars  # noqa: PLC0415

    return progress_bars(Console(stderr=True))


def _write_line(text: str) -> None:
    """On standard error, above the bars: they redirect it."""
    sys.stderr.write(f"{wrapped(printable(text))}\n")
    sys.stderr.flush()
