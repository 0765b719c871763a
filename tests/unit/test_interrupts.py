"""Interrupts stop the work until its output is published, and no longer."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from safetab.foundation.interrupts import publishing, publishing_for_itself, until_published
from safetab.foundation.start_up import is_the_command


@pytest.fixture(autouse=True)
def python_answers_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_work_once_it_is_published() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117, PT012 - where it is raised is the point
        with until_published():
            with publishing():
                interrupt()
            reached.append("published")
            interrupt()
            reached.append("the end")
    assert reached == ["published", "the end"]
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_an_interrupt_before_stops_the_work() -> None:
    with pytest.raises(KeyboardInterrupt), until_published():
        interrupt()


def test_if_publishing_fails_the_interrupt_is_answered() -> None:
    def fail() -> None:
        interrupt()
        raise OSError

    with until_published() as publication, pytest.raises(KeyboardInterrupt), publishing():
        fail()
    assert not publication.is_done


def test_the_last_word_is_not_taken_back() -> None:
    with until_published(is_last_word=True):
        with publishing():
            interrupt()
        interrupt()
    interrupt()


def test_what_is_published_for_itself_alone_can_be_interrupted_afterwards() -> None:
    with until_published(is_last_word=True) as publication, publishing_for_itself():
        with until_published(), publishing():
            pass
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert not publication.is_done


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with publishing():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize(
    ("program", "is_it"),
    [
        ("/usr/local/bin/safetab", True),
        ("C:/Python/Scripts/safetab.exe".replace("/", os.sep), True),
        ("-m", True),  # while Python looks for the module of `python -m safetab`
        ("/usr/lib/python3/site-packages/pytest/__main__.py", False),
        ("-c", False),
        ("study.py", False),
        ("", False),
    ],
)
def test_only_the_command_itself_ends_quietly(program: str, is_it: bool) -> None:
    assert is_the_command(program) == is_it
