"""Work in threads gives what it would give one after the other, and stops when it must."""

import os
import signal
import threading
from concurrent.futures import Future
from functools import partial
from threading import Event, Timer, get_ident
from time import sleep

import pytest

from tests.inside import SecondThread, Workers, closing_without_masking, in_threads_module, results_in_threads


def test_results_come_in_the_order_of_the_work_whichever_ends_first():
    second_is_done = Event()
    work = [lambda: second_is_done.wait(10) and 1, lambda: second_is_done.set() or 2]
    assert list(results_in_threads(work, 2)) == [1, 2]


def test_few_pieces_are_taken_ahead():
    taken = []
    results = results_in_threads((taken.append(number) or partial(int, number) for number in range(100)), 3)
    assert next(results) == 0
    assert len(taken) == 4
    results.close()
    assert len(taken) == 4


def test_an_error_comes_in_its_turn_and_ends_the_work():
    begun = []

    def piece(number):
        begun.append(number)
        return 1 // (1 - number)

    results = results_in_threads((partial(piece, number) for number in range(50)), 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert max(begun) <= 4


def test_one_thread_is_the_callers_and_nothing_is_done_ahead():
    done = []
    results = results_in_threads([partial(done.append, number) for number in range(3)], 1)
    next(results)
    assert done == [0]
    assert list(results_in_threads([get_ident], 1)) == [get_ident()]


@pytest.mark.parametrize("threads", [1, 2])
def test_work_alongside_is_done_in_its_order_and_done_at_the_end(threads):
    caller, done, steps = get_ident(), [], []
    with SecondThread(threads) as alongside:
        for number in range(20):
            alongside.do(partial(lambda n: done.append((n, get_ident() == caller)), number))
        alongside.do_steps(steps.append(number) for number in range(20))
    assert done == [(number, threads == 1) for number in range(20)]
    assert steps == list(range(20))


def full():
    raise OSError("no space")


def test_a_piece_about_few_things_is_the_callers_unless_one_waits(monkeypatch):
    monkeypatch.setattr(in_threads_module, "_SMALL", 10)
    caller, may_end, done = get_ident(), Event(), []

    def piece(name):
        done.append((name, get_ident() == caller))

    with SecondThread(2) as alongside:
        alongside.do(partial(piece, "few"), 9)
        alongside.do(partial(piece, "many"), 10)
        alongside.do(lambda: may_end.wait(10) and piece("slow"), 10)
        alongside.do(partial(piece, "few, and one waits"), 9)
        may_end.set()
    assert done == [("few", True), ("many", False), ("slow", False), ("few, and one waits", False)]


def test_an_error_of_work_alongside_is_raised_before_the_caller_does_a_piece(monkeypatch):
    monkeypatch.setattr(in_threads_module, "_SMALL", 10)
    has_failed, done = Event(), []

    def both():
        with SecondThread(2) as alongside:
            alongside.do(lambda: has_failed.set() or full(), 10)
            assert has_failed.wait(10)
            alongside.do(lambda: done.append(1), 9)

    with pytest.raises(OSError, match="no space"):
        both()
    assert not done


@pytest.mark.parametrize("threads", [1, 2])
def test_what_work_alongside_raises_is_raised_and_nothing_else_begins(threads):
    done = []

    def both():
        with SecondThread(threads) as alongside:
            alongside.do(full)
            alongside.do(lambda: done.append("went on") or 1 / 0)

    with pytest.raises(OSError, match="no space"):
        both()
    assert not done


def test_the_caller_goes_on_while_work_alongside_waits_and_is_held_up_by_the_third_piece():
    may_end, done = Event(), []
    with SecondThread(2) as alongside:
        alongside.do(lambda: done.append(may_end.wait(10)))
        alongside.do(lambda: done.append(2))
        assert not done
        may_end.set()
        alongside.do(lambda: done.append(3))
        assert done[0] is True
    assert done == [True, 2, 3]


def interrupted(begin, event):
    """By the caller, while what it began alongside waits for the event."""
    with SecondThread(2) as alongside:
        begin(alongside)
        Timer(0.05, event.set).start()
        raise KeyboardInterrupt


def test_what_the_caller_raises_is_raised_and_work_that_waits_never_begins():
    may_end, done = Event(), []

    def begin(alongside):
        alongside.do(lambda: may_end.wait(10) and full())
        alongside.do(lambda: done.append(1))

    with pytest.raises(KeyboardInterrupt):
        interrupted(begin, may_end)
    assert may_end.is_set()
    assert not done


def test_steps_alongside_end_when_the_caller_fails():
    has_begun, may_go_on, done = Event(), Event(), []

    def steps():
        for number in range(20):
            has_begun.set()
            may_go_on.wait(10)
            done.append(number)
            yield

    def begin(alongside):
        alongside.do_steps(steps())
        assert has_begun.wait(10)

    with pytest.raises(KeyboardInterrupt):
        interrupted(begin, may_go_on)
    assert done == [0]


def test_ctrl_c_is_answered_while_steps_alongside_are_waited_for():
    done = []

    def steps():
        for number in range(20):
            if number == 1:
                os.kill(os.getpid(), signal.SIGINT)  # answered by the main thread, which waits
                assert is_answered.wait(10)
            sleep(0.05)
            done.append(number)
            yield

    is_answered = Event()

    def answered(*_):
        is_answered.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, answered)
    try:
        with pytest.raises(KeyboardInterrupt), SecondThread(2) as alongside:
            alongside.do_steps(steps())
    finally:
        signal.signal(signal.SIGINT, before)
    assert done[:2] == [0, 1]
    assert len(done) < 20


def test_what_failed_before_is_raised_whatever_closing_says():
    class Broken:
        def close(self):
            raise ValueError("the file is closed")

    with pytest.raises(OSError, match="no space"), closing_without_masking(Broken()):
        raise OSError("no space")
    with pytest.raises(ValueError, match="closed"), closing_without_masking(Broken()):
        pass


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thread_that_dies_without_a_result_is_no_endless_wait(threads, monkeypatch):
    """As one that has no memory left to say so."""

    def dies(*_):
        raise MemoryError

    monkeypatch.setattr(in_threads_module, "_SECONDS", 0.01)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    monkeypatch.setattr(Future, "set_result", dies)
    monkeypatch.setattr(Future, "set_exception", dies)
    with pytest.raises(MemoryError), Workers(threads) as pool:
        pool.result_of(pool.submit(int))
    with pytest.raises(MemoryError):
        list(results_in_threads([int] * 5, 2))
    with pytest.raises(MemoryError), SecondThread(2) as alongside:
        alongside.do(lambda: None)
