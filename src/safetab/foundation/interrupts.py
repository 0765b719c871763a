"""Ctrl-C, SIGTERM and SIGHUP: they stop the work until its output is published, and no longer."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from safetab.foundation.failures import NOTHING_WRITTEN

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows has no SIGHUP

_Handler = Callable[[int, FrameType | None], object]


class Publication:
    """Whether something was published, and the signals that wait meanwhile.

    Only signals that Python answers wait: one that is ignored, as under nohup, stays ignored. In a thread other than
    the main one there is nothing to hold, since Python answers signals in the main thread alone.
    """

    def __init__(self) -> None:
        self.is_done = False
        self.if_interrupted = NOTHING_WRITTEN  # what an interrupt left and cost, in a sentence
        self._came: list[int] = []
        self._before: dict[int, _Handler] = {}

    def hold(self) -> None:
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                self._before[number] = handler
                signal.signal(number, lambda came, _: self._came.append(came))

    def release(self) -> None:
        """Signals are answered as before, and so are those that came."""
        before, self._before = self._before, {}
        for number, handler in before.items():
            signal.signal(number, handler)
        came, self._came = self._came, []
        for number in came:
            signal.raise_signal(number)


class _Open(threading.local):
    """The blocks that are open in a thread, the innermost last: another thread publishes something else."""

    def __init__(self) -> None:
        self.blocks: list[Publication | None] = []


_open = _Open()


@contextmanager
def until_published(*, is_last_word: bool = False) -> Iterator[Publication]:
    """Interrupts are answered until `publishing` is done inside, and then wait for the end of the outermost such block.

    There they are answered; but if this is the program's last word, which is that it is done, they wait for ever.
    """
    if _open.blocks and (outer := _open.blocks[-1]) is not None:
        yield outer
        return
    publication = Publication()
    _open.blocks.append(publication)
    try:
        yield publication
    finally:
        _open.blocks.pop()
        if not (is_last_word and publication.is_done):
            publication.release()


@contextmanager
def if_interrupted(outcome: str) -> Iterator[None]:
    """Around a command: what an interrupt leaves and costs, as long as nobody inside knows better."""
    with until_published() as publication:
        publication.if_interrupted = outcome
        yield


@contextmanager
def publishing() -> Iterator[None]:
    """Around the step that makes an output appear: it is not torn by an interrupt, nor is what follows it."""
    with until_published() as publication:
        publication.hold()
        try:
            yield
        except BaseException:
            if not publication.is_done:
                publication.release()
            raise
        publication.is_done = True


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Around clearing away: an interrupt waits until that is done."""
    held = Publication()
    held.hold()
    try:
        yield
    finally:
        held.release()


@contextmanager
def publishing_for_itself() -> Iterator[None]:
    """Outputs that are made inside are not what the program was asked for: it can be interrupted after them."""
    _open.blocks.append(None)
    try:
        yield
    finally:
        _open.blocks.pop()
