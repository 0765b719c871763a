"""Totals of the next level, counted while one is measured: the same answers, each counted once."""

import threading
from types import SimpleNamespace

import pytest

from tests.inside import CountsAhead


def level(name, universe, *, is_measured=True):
    return SimpleNamespace(name=name, universe=universe, design=SimpleNamespace(stages=[1] if is_measured else []))


COUNTIES, TRACTS, PLACES = (SimpleNamespace(size=size) for size in (3, 4, 5))
NOWHERE = SimpleNamespace(size=0)
LEVELS = [
    level("counties, by type", COUNTIES),
    level("counties, by tenure", COUNTIES),
    level("nowhere", NOWHERE),
    level("not measured", SimpleNamespace(size=9), is_measured=False),
    level("tracts, by type", TRACTS),
    level("places, by type", PLACES),
]
ASKED = [LEVELS[0], LEVELS[4], LEVELS[5]]


class Counts:
    """Notes who is counted, and in which thread; some can't be."""

    def __init__(self, fails_at=""):
        self.asked = []
        self.threads = set()
        self._fails_at = fails_at

    def totals(self, one):
        self.asked.append(one.name)
        self.threads.add(threading.get_ident())
        if one.name == self._fails_at:
            raise MemoryError
        return f"totals of {one.name}"

    def cells(self, one, groups_of):
        return f"cells of {one.name}, {groups_of}"


@pytest.mark.parametrize("is_beside", [False, True])
def test_every_level_is_counted_once(is_beside):
    counts = Counts()
    with CountsAhead(counts, LEVELS, is_ahead=is_beside) as ahead:
        assert ahead.totals(LEVELS[0]) == ahead.totals(LEVELS[1]) == "totals of counties, by type"
        assert [ahead.totals(one) for one in ASKED] == [f"totals of {one.name}" for one in ASKED]
        assert ahead.cells(LEVELS[4], {}) == "cells of tracts, by type, {}"
    assert counts.asked == [one.name for one in ASKED]
    assert (counts.threads == {threading.get_ident()}) is not is_beside


def test_who_skips_a_level_gets_its_own():
    counts = Counts()
    with CountsAhead(counts, LEVELS, is_ahead=True) as ahead:
        ahead.totals(LEVELS[0])
        assert ahead.totals(LEVELS[5]) == "totals of places, by type"
    assert counts.asked[0] == "counties, by type"


def test_what_goes_wrong_ahead_is_told_to_whom_asks_for_it():
    counts = Counts(fails_at="tracts, by type")
    with CountsAhead(counts, LEVELS, is_ahead=True) as ahead:
        ahead.totals(LEVELS[0])
        with pytest.raises(MemoryError):
            ahead.totals(LEVELS[4])
        assert ahead.totals(LEVELS[5]) == "totals of places, by type"
    with CountsAhead(counts, LEVELS, is_ahead=True) as ahead:
        ahead.totals(LEVELS[0])  # nobody asks for the next
