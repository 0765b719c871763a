"""The bars of a terminal: how many parts are done, how fast, and the time left."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from safetab.cli.step_lines import rate_in_words


class _RateColumn(ProgressColumn):
    """Parts a second, lately."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None or task.finished else rate_in_words(task.speed))


class _PartsColumn(ProgressColumn):
    """How many parts are done, of how many: persons run into hundreds of millions."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed:,.0f}/{task.total or 0:,.0f}")


def progress_bars() -> Progress:
    """On standard error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        _PartsColumn(),
        _RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True))
