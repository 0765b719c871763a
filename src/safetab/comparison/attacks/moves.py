"""Small changes of a data set: one unknown, two in one number, and changes that keep the sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.attacks.posterior_loops import Moves
from safetab.comparison.tables.exact_tables import Int64s, Rows

_MOVES_OF_AN_UNKNOWN, _MOST_MOVES, _MOST_ORDERS = 24, 6_000, 20


def moves_of(numbers: Rows, free: Int64s, sizes: Int64s, random: np.random.Generator) -> Moves:
    """Moves of the free unknowns; each can be undone with the same chance. Windows have these `sizes`.

    A half, where it can be done, keeps every number that is known exactly. Of the others, a quarter
    changes one unknown. The rest take a second unknown from a number that tells something and has
    the first; most of these, where it can be done, take two more that make a rectangle: every sum
    of two unknowns or more that tells something stays as it is.
    """
    by_unknown = _Members(numbers, free, sizes > 0)
    size = min(_MOVES_OF_AN_UNKNOWN * len(free), _MOST_MOVES)
    kept = _keeping(numbers, free, sizes == 1, size // 2, random)
    size -= len(kept)
    single = np.tile(free, -(-size // (4 * len(free))))
    first = random.choice(free, size - size // 4)
    second = by_unknown.partners(first, random)
    third = by_unknown.partners(first, random)
    fourth = by_unknown.completing(first, second, third)
    is_pair = second != first
    is_rectangle = is_pair & (fourth >= 0) & (third != first) & (third != second)
    is_rectangle &= (fourth != first) & (fourth != second) & (fourth != third) & (random.random(len(first)) < 2 / 3)
    is_pair &= ~is_rectangle
    a_rectangle = np.stack([first, second, third, fourth], axis=1)[is_rectangle]
    a_pair = np.stack([first, second], axis=1)[is_pair]
    move, at = np.nonzero(kept)
    who = np.concatenate([single, a_pair.ravel(), a_rectangle.ravel(), free[at]])
    by = np.concatenate(
        [np.ones_like(single), np.tile([1, -1], len(a_pair)), np.tile([1, -1, -1, 1], len(a_rectangle)), kept[move, at]]
    )
    lengths = np.repeat([1, 2, 4], [len(single), len(a_pair), len(a_rectangle)])
    lengths = np.concatenate([lengths, np.count_nonzero(kept, axis=1)])
    return _with_sums(numbers, np.concatenate([[0], np.cumsum(lengths)]), who, by)


def _keeping(
    numbers: Rows, free: Int64s, is_exact: NDArray[np.bool_], wanted: int, random: np.random.Generator
) -> Int64s:
    """Changes of the free unknowns (a row each) that keep all exact numbers: as few unknowns as possible.

    Take unknowns in random order. One that depends on those taken before it makes a change with them,
    and no part of that change would keep the numbers.
    """
    number, place = np.repeat(np.arange(len(numbers)), np.diff(numbers.starts)), np.full(numbers.members.max() + 1, -1)
    place[free] = np.arange(len(free))
    is_in = is_exact[number] & (place[numbers.members] >= 0)
    left = np.zeros((len(numbers), len(free)))
    left[number[is_in], place[numbers.members[is_in]]] = 1
    left = left[left.any(axis=1)]
    found, count = [np.zeros((0, len(free)), dtype=np.int64)], 0
    for _ in range(_MOST_ORDERS if len(left) else 0):
        left, bases = _solved(left, random.permutation(len(free)))
        others = np.setdiff1d(np.arange(len(free)), bases)
        changes = np.zeros((len(others), len(free)))
        changes[np.arange(len(others)), others] = 1
        changes[:, bases] = -left[:, others].T
        found.append(
            np.rint(changes[np.abs(changes - np.rint(changes)).max(axis=1, initial=0) < 1e-6]).astype(np.int64)
        )
        count += len(found[-1])
        if count >= wanted or not len(others):
            break
    return np.concatenate(found)[:wanted]


def _solved(equations: NDArray[np.float64], order: Int64s) -> tuple[NDArray[np.float64], Int64s]:
    """The same equations, each solved for an unknown of its own, the first possible ones in order; and these."""
    bases = list[int]()
    for unknown in order.tolist():
        row = len(bases)
        if row == len(equations):
            break
        best = row + int(np.argmax(np.abs(equations[row:, unknown])))
        if abs(equations[best, unknown]) > 1e-6:
            equations[[row, best]] = equations[[best, row]]
            equations[row] /= equations[row, unknown]
            has_it = np.flatnonzero(equations[:, unknown])
            has_it = has_it[has_it != row]
            equations[has_it] -= np.outer(equations[has_it, unknown], equations[row])
            bases.append(unknown)
    return np.round(equations[: len(bases)], 9), np.array(bases, dtype=np.int64)


class _Members:
    """The free unknowns of the numbers that tell something and have two or more; the numbers of each."""

    def __init__(self, numbers: Rows, free: Int64s, tells: NDArray[np.bool_]) -> None:
        number = np.repeat(np.arange(len(numbers)), np.diff(numbers.starts))
        is_free = np.zeros(int(max(free.max(), numbers.members.max())) + 1, dtype=np.bool_)
        is_free[free] = True
        kept = is_free[numbers.members] & tells[number]
        kept &= np.bincount(number[kept], minlength=len(numbers))[number] > 1
        self._number, self._member = number[kept], numbers.members[kept]
        self._starts = np.searchsorted(self._number, np.arange(len(numbers) + 1))
        order = np.argsort(self._member, kind="stable")
        self._numbers_of = self._number[order]
        self._unknown_starts = np.searchsorted(self._member[order], np.arange(len(is_free) + 1))
        marks = np.random.default_rng(0).integers(0, 1 << 63, len(numbers), dtype=np.uint64)
        self._marks: NDArray[np.uint64] = np.zeros(len(is_free), dtype=np.uint64)
        np.add.at(self._marks, self._member, marks[self._number])
        self._free = free[np.argsort(self._marks[free], kind="stable")]

    def partners(self, unknowns: Int64s, random: np.random.Generator) -> Int64s:
        """A free unknown from one of the numbers of each unknown, or itself if it has no such number."""
        starts = self._unknown_starts[unknowns]
        sizes = self._unknown_starts[unknowns + 1] - starts
        if not len(self._number):
            return unknowns
        chosen = starts + (random.random(len(unknowns)) * sizes).astype(np.int64)
        number = self._numbers_of[np.minimum(chosen, len(self._numbers_of) - 1)]
        first, last = self._starts[number], self._starts[number + 1]
        partner = self._member[first + (random.random(len(unknowns)) * (last - first)).astype(np.int64)]
        return np.where(sizes > 0, partner, unknowns)

    def completing(self, first: Int64s, second: Int64s, third: Int64s) -> Int64s:
        """The unknown in just the numbers that close a rectangle, or -1: sums of random marks tell it."""
        wanted = self._marks[second] + self._marks[third] - self._marks[first]
        sorted_marks = self._marks[self._free]
        at = np.minimum(np.searchsorted(sorted_marks, wanted), len(sorted_marks) - 1)
        return np.where(sorted_marks[at] == wanted, self._free[at], -1)


def _with_sums(numbers: Rows, who_starts: Int64s, who: Int64s, by: Int64s) -> Moves:
    """The moves, with what each changes in the numbers."""
    order = np.argsort(numbers.members, kind="stable")
    number = np.repeat(np.arange(len(numbers)), np.diff(numbers.starts))[order]
    starts = np.searchsorted(numbers.members[order], np.arange(int(max(who.max(), numbers.members.max())) + 2))
    sizes = (starts[1:] - starts[:-1])[who]
    entry = np.repeat(np.arange(len(who)), sizes)
    at = starts[who][entry] + np.arange(len(entry)) - (np.cumsum(sizes) - sizes)[entry]
    move = np.repeat(np.arange(len(who_starts) - 1), np.diff(who_starts))[entry]
    keys, where = np.unique(move * len(numbers) + number[at], return_inverse=True)
    sums = np.bincount(where, by[entry], len(keys)).astype(np.int64)
    keys, sums = keys[sums != 0], sums[sums != 0]
    row_starts = np.searchsorted(keys, np.arange(len(who_starts)) * len(numbers))
    return Moves(who_starts, who, by, row_starts, keys % len(numbers), sums)
