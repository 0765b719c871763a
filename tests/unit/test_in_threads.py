"""Work in threads gives what it would give one after the other, and stops when it must."""

from __future__ import annotations

from functools import partial
from threading import Event

import pytest

from safetab.foundation.in_threads import results_in_threads


def test_results_come_in_the_order_of_the_work_whichever_ends_first() -> None:
    second_is_done = Event()

    def first() -> int:
        assert second_is_done.wait(10)
        return 1

    def second() -> int:
        second_is_done.set()
        return 2

    assert list(results_in_threads([first, second], 2)) == [1, 2]


def test_few_pieces_are_taken_ahead() -> None:
    taken: list[int] = []

    def pieces():
        for number in range(100):
            taken.append(number)
            yield partial(int, number)

    results = results_in_threads(pieces(), 3)
    assert next(results) == 0
    assert len(taken) == 4
    results.close()
    assert len(taken) == 4


def test_an_error_comes_in_its_turn_and_ends_the_work() -> None:
    begun: list[int] = []

    def piece(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise ValueError("the second")
        return number

    results = results_in_threads((partial(piece, number) for number in range(50)), 2)
    assert next(results) == 0
    with pytest.raises(ValueError, match="the second"):
        next(results)
    assert max(begun) <= 4
