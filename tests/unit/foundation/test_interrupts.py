"""Interrupts stop the work until its output is published, and no longer."""

import os
import re
import signal
import subprocess
import sys

import pytest

from tests.cases import cases_of
from tests.inside import is_the_command, publishing, publishing_for_itself, until_published


@pytest.fixture(autouse=True)
def python_answers_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_work_once_it_is_published():
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


def test_an_interrupt_before_stops_the_work():
    with pytest.raises(KeyboardInterrupt), until_published():
        interrupt()


def test_if_publishing_fails_the_interrupt_is_answered():
    def fail():
        interrupt()
        raise OSError

    with until_published() as publication, pytest.raises(KeyboardInterrupt), publishing():
        fail()
    assert not publication.is_done


def test_the_last_word_is_not_taken_back():
    with until_published(is_last_word=True):
        with publishing():
            interrupt()
        interrupt()
    interrupt()


def test_what_is_published_for_itself_alone_can_be_interrupted_afterwards():
    with until_published(is_last_word=True) as publication, publishing_for_itself():
        with until_published(), publishing():
            pass
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert not publication.is_done


def test_a_signal_that_is_ignored_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with publishing():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_only_the_command_itself_ends_quietly():
    # -m stands while Python looks for the module of `python -m safetab`
    for program in "/usr/local/bin/safetab", "C:/Python/Scripts/safetab.exe".replace("/", os.sep), "-m":
        assert is_the_command(program)
    for program in "/usr/lib/python3/site-packages/pytest/__main__.py", "-c", "study.py", "":
        assert not is_the_command(program)


_COMMANDS = """
import os, signal, sys, time, weakref
from safetab.cli.messages import exit_code_of
from safetab.foundation import interrupts

class Thing: pass

def lose(number):
    thing = Thing()
    kept = weakref.ref(thing, lambda _: signal.raise_signal(number))
    del thing

def goes_on():
    lose(signal.SIGHUP)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        time.sleep(0.01)
    print("never stopped")

def publishes():
    interrupts.signal.setitimer = lambda *_: None  # so that nothing but the look before it can stop it
    lose(signal.SIGHUP)
    with interrupts.publishing():
        print("published")

def publishes_then_loses():
    with interrupts.publishing():
        lose(signal.SIGHUP)
    time.sleep(0.1)

def gets_two():
    try:
        signal.raise_signal(signal.SIGHUP)
    finally:
        signal.raise_signal(signal.SIGTERM)

def gets_one_at_its_end():
    ignore = interrupts.stop_signals.ignore
    def ignore_late():
        signal.raise_signal(signal.SIGTERM)
        ignore()
    interrupts.stop_signals.ignore = ignore_late
    signal.raise_signal(signal.SIGINT)

for command in (goes_on, publishes, publishes_then_loses, gets_two, gets_one_at_its_end):
    sys.stderr.write(f"{command.__name__}: ")
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        code = exit_code_of(command)
        sys.stderr.write(f"{code}\\n")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.waitpid(process, 0)
"""


def test_a_signal_stops_a_command_once_even_if_a_callback_loses_it():
    ended = subprocess.run([sys.executable, "-c", _COMMANDS], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stdout == ""
    found = re.findall(r"(\w+): (Interrupted. Nothing was written.)?\s?(\d+)\n", ended.stderr)
    assert [*map(list, found)] == cases_of(
        """
        goes_on | Interrupted. Nothing was written. | 129
        publishes | Interrupted. Nothing was written. | 129
        publishes_then_loses | | 0
        gets_two | Interrupted. Nothing was written. | 129
        gets_one_at_its_end | Interrupted. Nothing was written. | 130
        """
    )
    assert len(ended.stderr.splitlines()) == 9
