"""Interrupts stop the work until its output is published, and no longer."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from safetab.foundation.interrupts import publishing, publishing_for_itself, until_published
from safetab.foundation.quiet_start import is_the_command


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
    ("called", "is_it"),
    [
        (["python", "/usr/local/bin/safetab", "run"], True),
        (["python", "-m", "safetab"], True),
        (["python", "-u", "-m", "safetab", "run"], True),
        (["python", "-X", "dev", "-Wd", "-um", "safetab"], True),
        (["python", "-W", "error", "--check-hash-based-pycs", "always", "-msafetab"], True),
        (["python", "-I", "/usr/local/bin/safetab"], True),
        (["python", "-m", "pytest", "-m", "safetab"], False),
        (["python", "-c", "import safetab", "-m", "safetab"], False),
        (["python", "-u", "study.py", "-m", "safetab"], False),
        (["python", "-m"], False),
        (["python", "study.py", "safetab"], False),
        (["python"], False),
    ],
)
def test_only_the_command_itself_ends_quietly(called: list[str], is_it: bool) -> None:
    assert is_the_command(called) == is_it
