"""Many pieces of work in a few threads: what they give comes in their order, whichever ends first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def results_in_threads(work: Iterable[Callable[[], Result]], threads: int) -> Generator[Result]:
    """What each piece gives or raises, in order; few are taken ahead, so that few are in memory.

    When it is closed, or a piece raises, pieces that have begun are waited for and no other begins.
    """
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
