"""Long calls into libraries that don't look for Ctrl-C: they run in a thread, and Ctrl-C is answered outside."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")

_SECONDS_BETWEEN_INTERRUPTS = 0.1


def interruptibly(work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
    """What `work` gives or raises. Ctrl-C calls `interrupt`, which must make `work` end soon, and is raised again.

    DuckDB looks for Ctrl-C itself, but in a long aggregation only after 5 to 40 seconds.
    """
    future: Future[Result] = Future()
    thread = Thread(target=_fulfil, args=(future, work))
    try:
        thread.start()
        return future.result()
    except KeyboardInterrupt:
        future.cancel()  # if the work has not begun, it won't
        while thread.is_alive():  # an interrupt that comes before the call is in the library is lost
            interrupt()
            thread.join(_SECONDS_BETWEEN_INTERRUPTS)
        raise


def _fulfil(future: Future[Result], work: Callable[[], Result]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
