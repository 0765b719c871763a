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
from rich.table import Column
from rich.text import Text

from safetab.cli.step_lines import rate_in_words

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


def progress_bars(console: Console) -> Progress:
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
    return Progress(*columns, console=console)
