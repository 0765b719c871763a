"""Ctrl-C ends a long call at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from safetab.foundation.interruptible import interruptibly


def test_what_comes_back_is_what_the_work_gives_or_raises() -> None:
    assert interruptibly(lambda: 7, lambda: None) == 7
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 // 0, lambda: None)


@pytest.fixture
def python_answers_ctrl_c() -> Iterator[None]:
    """As at the start of a program: a library that another test used may have left a handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("python_answers_ctrl_c")
def test_ctrl_c_interrupts_until_the_work_ends() -> None:
    interrupts: list[float] = []
    enough = threading.Event()

    def work() -> None:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        assert enough.wait(timeout=30)  # a library that looks for nothing but its own interrupt

    def interrupt() -> None:
        interrupts.append(time.monotonic())
        if len(interrupts) == 3:  # the first two come too early
            enough.set()

    with pytest.raises(KeyboardInterrupt):
        interruptibly(work, interrupt)
    assert len(interrupts) == 3
