"""Work in a few threads, with results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Thread, current_thread
from typing import Self, TypeVar

from safetab.foundation.interrupts import interrupts_held

_Result = TypeVar("_Result")
_SMALL = 1 << 12  # rows: writing this many takes milliseconds


_SECONDS = 1.0


class Workers(ThreadPoolExecutor):
    """Threads whose results are never waited for in vain.

    A thread that runs out of memory at the wrong moment dies without a word to those who wait for
    it.
    """

    def __init__(self, threads: int) -> None:
        self._begun: list[Thread] = []
        super().__init__(threads, initializer=_add_own_thread, initargs=(self._begun,))

    def result_of(self, future: Future[_Result]) -> _Result:
        """The result of a piece, or its exception. Raises MemoryError if a thread died."""
        while not future.done() and not wait([future], _SECONDS).done:
            if not all(thread.is_alive() for thread in self._begun):
                raise MemoryError
        return future.result()

    def results_of(self, pieces: Iterable[Callable[[], _Result]]) -> Iterator[_Result]:
        """The results of the pieces, or their exceptions, in order; all begin at once."""
        begun = [self.submit(piece) for piece in pieces]
        return map(self.result_of, begun)


def _add_own_thread(begun: list[Thread]) -> None:
    begun.append(current_thread())


def results_in_threads(work: Iterable[Callable[[], _Result]], threads: int) -> Generator[_Result]:
    """The result of each piece, in order, or its exception. Few are in memory at a time.

    When the generator is closed, or a piece raises, it waits for pieces that have begun and starts
    no other. With one thread, the caller does each piece when its result is asked for.
    """
    if threads == 1:
        yield from (piece() for piece in work)
        return
    ahead: deque[Future[_Result]] = deque()
    with Workers(threads) as pool:
        try:
            for piece in work:
                ahead.append(pool.submit(piece))
                if len(ahead) > threads:
                    yield pool.result_of(ahead.popleft())
            while ahead:
                yield pool.result_of(ahead.popleft())
        finally:
            for future in ahead:
                future.cancel()


class SecondThread:
    """Work done in order, in a second thread if one is allowed.

    Few pieces wait, so few are in memory. An error is raised by a later call or at the end of the
    context, which waits for all pieces; after the first error no other piece begins. The caller
    does a small piece itself if none waits, because handing it over would cost more.
    """

    def __init__(self, threads: int) -> None:
        self._may_begin = threads > 1
        self._pool: Workers | None = None
        self._ahead: deque[Future[None]] = deque()
        self._has_failed = False

    def do(self, piece: Callable[[], None], things: int = _SMALL) -> None:
        """Do this piece of work about this many things, now or in the other thread."""
        if not self._may_begin or (things < _SMALL and self._nothing_waits()):
            piece()
            return
        if self._pool is None:
            self._pool = Workers(1)
        if len(self._ahead) > 1:
            self._pool.result_of(self._ahead.popleft())
        self._ahead.append(self._pool.submit(self._done, piece))

    def do_steps(self, steps: Iterator[None]) -> None:
        """Do one long piece, which stops between two of its steps once anything has failed."""

        def go_through() -> None:
            for _ in steps:
                if self._has_failed:
                    return

        self.do(go_through)

    def _nothing_waits(self) -> bool:
        while self._ahead and self._ahead[0].done():
            self._ahead.popleft().result()
        return not self._ahead

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

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._has_failed |= error is not None
        try:
            if error is None and self._pool is not None:
                for piece in self._ahead:
                    self._pool.result_of(piece)
        except BaseException:  # of a piece, or an interrupt while it was waited for
            self._has_failed = True
            raise
        finally:
            if self._pool is not None:
                with interrupts_held():  # nobody goes on while a piece is at work
                    self._pool.shutdown()
