"""How a command ends: the exit code says whether what was asked for is there."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from types import FrameType

from safetab.cli.exit_codes import ExitCode
from safetab.cli.messages import say_failed, say_interrupted
from safetab.cli.standard_streams import open_standard_streams, why_unwritten
from safetab.foundation.failures import OUT_OF_MEMORY, is_out_of_memory, why_refused
from safetab.foundation.interrupts import SIGNALS, Publication, until_published


class _Signals:
    """SIGTERM and SIGHUP stop a command as Ctrl-C does; the first of them gives its exit code."""

    def __init__(self) -> None:
        self.came: int | None = None
        for number in SIGNALS:
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:  # as under nohup
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: FrameType | None) -> None:
        self.came = self.came or number
        raise KeyboardInterrupt

    def ignore(self) -> None:
        """There is nothing left to stop."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    @property
    def exit_code(self) -> int:
        return ExitCode.INTERRUPTED if self.came is None else 128 + self.came


def last_word(command: Callable[[], object]) -> int:
    """Runs a command, and gives its exit code: 0 if its output is published, whatever happened afterwards."""
    open_standard_streams()
    sys.unraisablehook = _end_of_objects
    with until_published(is_last_word=True) as publication:
        signals = _Signals()
        try:
            code = _ended(command, publication)
            signals.ignore()
        except KeyboardInterrupt:
            signals.ignore()
            code = ExitCode.INTERRUPTED
        if code == ExitCode.INTERRUPTED:
            say_interrupted(publication.if_interrupted)
            return signals.exit_code
        return _told(publication) if code == ExitCode.DONE else code


def _end_of_objects(ended: sys.UnraisableHookArgs) -> None:
    """Ignore errors from closing a file when its object is destroyed; its user has reported them or was done."""
    if not isinstance(ended.exc_value, OSError):
        sys.__unraisablehook__(ended)


def _ended(command: Callable[[], object], publication: Publication) -> int:
    try:
        command()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else ExitCode.DONE if ended.code is None else 1
    except OSError as error:
        return _failed(why_refused(error), publication)
    except Exception as error:
        if is_out_of_memory(error):
            return _failed(OUT_OF_MEMORY, publication)
        return _failed(f"an error of the program itself ({type(error).__name__}, {_place_of(error)}).", publication)
    return ExitCode.DONE


def _failed(reason: str, publication: Publication) -> int:
    say_failed(f"What was asked for was written. Afterwards: {reason}" if publication.is_done else reason)
    return ExitCode.DONE if publication.is_done else ExitCode.RUN_FAILED


def _place_of(error: Exception) -> str:
    """Where it was raised, by file and line: its text may quote what was read."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{PurePath(last.filename).name}, line {last.lineno}"


def _told(publication: Publication) -> int:
    why = why_unwritten()
    if why is None:
        return ExitCode.DONE
    with suppress(OSError):
        sys.stderr.write(f"Standard output can't be written: {why}.\n")
    return ExitCode.DONE if publication.is_done else ExitCode.RUN_FAILED
