"""The curator's log: row counts, progress, reasons; readable by its owner alone, never inside an output."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class ConfidentialLog:
    """Appends lines, with the time, to a file of mode 0600."""

    def __init__(self, path: Path) -> None:
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8")
        os.fchmod(self._file.fileno(), 0o600)

    def write(self, line: str) -> None:
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self._file.write(f"{now} {line}\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
