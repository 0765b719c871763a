"""Many pieces of work in a few threads: what they give comes in their order, whichever ends first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from safetab.foundation.interrupts import interrupts_held

Result = TypeVar("Result")
_FEW = 1 << 12  # rows: writing so many takes milliseconds


def results_in_threads(work: Iterable[Callable[[], Result]], threads: int) -> Generator[Result]:
    """What each piece gives or raises, in order; few are taken ahead, so that few are in memory.

    When it is closed, or a piece raises, pieces that have begun are waited for and no other begins. One thread is the
    caller's: each piece is done when it is asked for.
    """
    if threads == 1:
        yield from (piece() for piece in work)
        return
    ahead: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for piece in work:
                ahead.append(pool.submit(piece))
                if len(ahead) > threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


class Alongside:
    """Work that is done in the order it is given, in a thread beside the caller's if there may be one.

    Few pieces wait, so that few are in memory. What a piece raises is raised by a later call, or at the end of the
    context, which waits for all of them; after the first error, here or there, no other piece begins. A piece about few
    things is done by the caller, if none waits: two threads that take turns cost more than it.
    """

    def __init__(self, threads: int) -> None:
        self._may_begin = threads > 1
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: deque[Future[None]] = deque()
        self._has_failed = False

    def do(self, piece: Callable[[], None], things: int = _FEW) -> None:
        if not self._may_begin or (things < _FEW and self._nothing_waits()):
            piece()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1)
        if len(self._ahead) > 1:
            self._ahead.popleft().result()
        self._ahead.append(self._pool.submit(self._done, piece))

    def do_steps(self, steps: Iterator[None]) -> None:
        """One long piece, which ends between two of its steps once anything has failed."""
        self.do(partial(self._go_through, steps))

    def _nothing_waits(self) -> bool:
        while self._ahead and self._ahead[0].done():
            self._ahead.popleft().result()
        return not self._ahead

    def _go_through(self, steps: Iterator[None]) -> None:
        for _ in steps:
            if self._has_failed:
                return

    def _done(self, piece: Callable[[], None]) -> None:
        if self._has_failed:
            return
        try:
            piece()
        except BaseException:
            self._has_failed = True
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._has_failed |= error is not None
        try:
            if error is None:
                for piece in self._ahead:
                    piece.result()
        except BaseException:  # of a piece, or an interrupt while it was waited for
            self._has_failed = True
            raise
        finally:
            if self._pool is not None:
                with interrupts_held():  # nobody goes on while a piece is at work
                    self._pool.shutdown()
