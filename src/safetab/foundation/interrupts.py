"""Ctrl-C, SIGTERM and SIGHUP stop the work until its output is published, and not afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from safetab.foundation.failures import NOTHING_WRITTEN

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
_SIGNALS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
_SOON = 0.01  # seconds


class _StopSignals:
    """SIGTERM and SIGHUP stop a command like Ctrl-C.

    The first signal decides; later ones change nothing. Python drops what a handler raises inside a
    callback, such as that of a weak reference. So the first signal is also kept, to be looked at
    before a run is charged and before it is published.
    """

    def __init__(self) -> None:
        self.first: int | None = None
        self._is_lost = False

    def handle(self) -> None:
        """Let signals stop this process from now on."""
        self.first, self._is_lost = None, False
        for number in _SIGNALS:
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:  # nohup ignores SIGHUP
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: FrameType | None) -> None:
        if self.first is None or self._is_lost:
            self.first = self.first or number
            self._is_lost = False
            raise KeyboardInterrupt

    def raise_soon(self) -> None:
        """Raise the first signal again, outside the callback that lost it."""
        self._is_lost = True
        if hasattr(signal, "setitimer"):  # Windows has none
            signal.signal(signal.SIGALRM, self._raise_again)
            signal.setitimer(signal.ITIMER_REAL, _SOON)

    def _raise_again(self, *_: object) -> None:
        if self.first is not None:
            signal.raise_signal(self.first)

    def require_none(self) -> None:
        """Raise KeyboardInterrupt if a signal came."""
        if self.first is not None:
            self._is_lost = False
            raise KeyboardInterrupt

    def ignore(self) -> None:
        """Ignore further signals: the command has ended."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)


stop_signals = _StopSignals()
"""The signals of this process, if it is the command. Others keep Python's own behaviour."""


class Publishing:
    """Whether something was published, and the signals that wait meanwhile.

    Only signals that Python handles wait; an ignored one, as under nohup, stays ignored. Outside
    the main thread there is nothing to hold, because Python handles signals in the main thread
    only.
    """

    def __init__(self) -> None:
        self.is_done = False
        self.if_interrupted = NOTHING_WRITTEN  # what an interrupt left and cost, in a sentence
        self._came: list[int] = []
        self._before: dict[int, Callable[[int, FrameType | None], object]] = {}

    def hold(self) -> None:
        """Make signals wait."""
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[number] = handler
                signal.signal(number, lambda came, _: self._came.append(came))

    def release(self) -> None:
        """Handle signals as before, and then those that waited."""
        before, self._before = self._before, {}
        for number, handler in before.items():
            signal.signal(number, handler)
        came, self._came = self._came, []
        for number in came:
            signal.raise_signal(number)


class _Open(threading.local):
    """The open blocks of a thread, innermost last. Another thread publishes something else."""

    def __init__(self) -> None:
        self.blocks: list[Publishing | None] = []


_open = _Open()


@contextmanager
def until_published(*, is_last_word: bool = False) -> Iterator[Publishing]:
    """Handle interrupts until `publishing` is done inside.

    Then make them wait for the outermost end. They are handled there, unless this is the program's
    last act (`is_last_word`): then they wait for ever, because the work is done.
    """
    if _open.blocks and (outer := _open.blocks[-1]) is not None:
        yield outer
        return
    publication = Publishing()
    _open.blocks.append(publication)
    try:
        yield publication
    finally:
        _open.blocks.pop()
        if not (is_last_word and publication.is_done):
            publication.release()


@contextmanager
def if_interrupted(outcome: str) -> Iterator[None]:
    """State what an interrupt leaves and costs, unless an inner block states it better."""
    with until_published() as publication:
        publication.if_interrupted = outcome
        yield


@contextmanager
def publishing() -> Iterator[None]:
    """Wrap the step that makes an output appear: no interrupt can split it or what follows."""
    with until_published() as publication:
        publication.hold()
        try:
            stop_signals.require_none()
            yield
        except BaseException:
            if not publication.is_done:
                publication.release()
            raise
        publication.is_done = True


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Make an interrupt wait until the clean-up inside is done."""
    held = Publishing()
    held.hold()
    try:
        yield
    finally:
        held.release()


@contextmanager
def publishing_for_itself() -> Iterator[None]:
    """Mark outputs made inside as by-products, after which the program can still be interrupted."""
    _open.blocks.append(None)
    try:
        yield
    finally:
        _open.blocks.pop()
