"""Totals of the next level, counted while one is measured: the same answers, each counted once."""

import threading
from types import SimpleNamespace

import pytest

from tests.inside import CountsAhead


def level(name, universe, *stages):
    return SimpleNamespace(name=name, universe=universe, design=SimpleNamespace(stages=stages))


COUNTIES, TRACTS, PLACES, NOWHERE, UNMEASURED = (SimpleNamespace(size=size) for size in (3, 4, 5, 0, 9))
LEVELS = [
    level("counties, by type", COUNTIES, 1),
    level("counties, by tenure", COUNTIES, 1),
    level("nowhere", NOWHERE, 1),
    level("not measured", UNMEASURED),
    level("tracts, by type", TRACTS, 1),
    level("places, by type", PLACES, 1),
]
ASKED = [LEVELS[0], LEVELS[4], LEVELS[5]]


class Counts:
    """Notes who is counted, and in which thread; some can't be."""

    def __init__(self, fails_at=""):
        self.asked, self.threads, self._fails_at = [], set(), fails_at

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
