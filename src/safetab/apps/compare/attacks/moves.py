"""Small changes of a data set, and the compiled walk that makes one after another.

A move changes one unknown, two in one number, or several so that sums stay as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.protections.protection import Floats
from safetab.apps.compare.tables.exact_tables import Int64s, Rows

_MOVES_OF_AN_UNKNOWN, _MOST_MOVES, _MOST_ORDERS = 24, 6_000, 20


class Factors(NamedTuple):
    """The knowledge of each unknown and each number; one without logarithms tells nothing.

    The prior of unknown u is growth[count] + count * rates[u], but for a constant. Number n has the
    true counts firsts[n], firsts[n] + 1, ... with logs[starts[n]:starts[n + 1]]; `far` is 0 where a
    count is possible, as the first and the last are, else the distance to the next that is.
    """

    least: Int64s
    most: Int64s
    rates: Floats
    growth: Floats
    firsts: Int64s
    starts: Int64s
    logs: Floats
    far: Int64s


class Moves(NamedTuple):
    """Small changes of a data set.

    Move m adds by[i] to the unknown who[i], and so sums[i] to the number rows[i].
    """

    who_starts: Int64s
    who: Int64s
    by: Int64s
    row_starts: Int64s
    rows: Int64s
    sums: Int64s


class Walker(NamedTuple):
    """The state of one chain, and a tally of the data sets that fit everything published."""

    counts: Int64s  # of each unknown
    sums: Int64s  # each number
    ones: Int64s  # how often each number was 1
    present: Int64s  # how often it was 1 or more
    last: Int64s  # the counts of the last data set recorded


def walk(  # noqa: C901 - one loop: compiled code calls no plain function
    factors: Factors,
    moves: Moves,
    walker: Walker,
    draws: tuple[Int64s, Int64s, Floats],
    weight: float,
    every: int,
) -> tuple[int, int]:
    """Try the drawn moves, and count the steps inside all windows and the recorded data sets.

    A step tries a move, once or a few times over (below 0: undoes it), if a chance (its log)
    allows. Each `every`-th data set is recorded if it is inside. The walk also goes outside, at the
    price of `weight` for each step of distance: this is how it gets from one island of data sets to
    another. What is recorded has the posterior's own chances.
    """

    def log_of(number: int, count: int) -> tuple[float, int]:
        first, last = factors.starts[number], factors.starts[number + 1] - 1
        if last < first:
            return 0.0, 0
        at = first + count - factors.firsts[number]
        nearest = min(max(at, first), last)
        return factors.logs[nearest], factors.far[nearest] + abs(at - nearest)

    outside = 0
    for number in range(len(walker.sums)):
        outside += log_of(number, walker.sums[number])[1]
    picks, times_over, log_chances = draws
    inside = recorded = 0
    for step in range(len(picks)):
        move, times = picks[step], times_over[step]
        gain, farther, is_possible = 0.0, 0, True
        for at in range(moves.who_starts[move], moves.who_starts[move + 1]):
            unknown, by = moves.who[at], moves.by[at] * times
            old = walker.counts[unknown]
            if old + by < factors.least[unknown] or old + by > factors.most[unknown]:
                is_possible = False
                break
            gain += factors.growth[old + by] - factors.growth[old] + by * factors.rates[unknown]
        if is_possible:
            for at in range(moves.row_starts[move], moves.row_starts[move + 1]):
                number = moves.rows[at]
                old_log, old_far = log_of(number, walker.sums[number])
                new_log, new_far = log_of(number, walker.sums[number] + moves.sums[at] * times)
                gain += new_log - old_log
                farther += new_far - old_far
            if log_chances[step] <= gain - weight * farther:
                outside += farther
                for at in range(moves.who_starts[move], moves.who_starts[move + 1]):
                    walker.counts[moves.who[at]] += moves.by[at] * times
                for at in range(moves.row_starts[move], moves.row_starts[move + 1]):
                    walker.sums[moves.rows[at]] += moves.sums[at] * times
        inside += outside == 0
        if outside == 0 and step % every == 0:
            walker.ones[:] += walker.sums == 1
            walker.present[:] += walker.sums >= 1
            walker.last[:] = walker.counts
            recorded += 1
    return inside, recorded


def moves_of(numbers: Rows, free: Int64s, sizes: Int64s, random: np.random.Generator) -> Moves:
    """Moves of the free unknowns; each can be undone with the same chance.

    Windows have these `sizes`. A half, where it can be done, keeps every number that is known
    exactly. Of the others, a quarter changes one unknown. The rest take a second unknown from a
    number that tells something and has the first; most of these, where it can be done, take two
    more that make a rectangle: every sum of two unknowns or more that tells something stays as it
    is.
    """
    is_part, unknowns = (
        numbers.is_part(max(free.max(), numbers.members.max()) + 1)[:, free],
        len(free),
    )
    size = min(_MOVES_OF_AN_UNKNOWN * unknowns, _MOST_MOVES)
    kept = _keeping(is_part[sizes == 1], size // 2, random)
    size -= len(kept)
    holds = is_part & (sizes > 0)[:, None]
    holds &= (holds.sum(axis=1) > 1)[:, None]
    first = random.choice(unknowns, size - size // 4)
    second, third = _partners(holds, first, random), _partners(holds, first, random)
    fourth = _completing(holds, first, second, third)
    corners = np.stack([first, second, third, fourth])
    differ = (np.diff(np.sort(corners, axis=0), axis=0) > 0).all(axis=0)
    is_rectangle = (fourth >= 0) & differ & (random.random(len(first)) < 2 / 3)
    is_pair = (second != first) & ~is_rectangle
    # what adding 1 changes: unknowns, then numbers
    one = np.hstack([np.eye(unknowns), is_part.T], dtype=np.float32)
    singles = np.tile(one, (-(-size // (4 * unknowns)), 1))
    a, b, c, d = one[corners[:, is_rectangle]]
    changes = np.concatenate(
        [singles, one[first[is_pair]] - one[second[is_pair]], a - b - c + d, kept @ one]
    )
    who_starts, who, by = _entries(changes[:, :unknowns])
    return Moves(who_starts, free[who], by, *_entries(changes[:, unknowns:]))


def _entries(changes: NDArray[np.float32]) -> tuple[Int64s, Int64s, Int64s]:
    """The entries other than 0: where each row begins, the columns, and the changes."""
    row, column = np.nonzero(changes != 0)
    return (
        np.searchsorted(row, np.arange(len(changes) + 1)),
        column,
        changes[row, column].astype(np.int64),
    )


def _partners(holds: NDArray[np.bool_], unknowns: Int64s, random: np.random.Generator) -> Int64s:
    """Another unknown from one of the numbers that hold each unknown, or itself if none does."""
    if not holds.any():
        return unknowns
    member, numbers_of = np.nonzero(holds)[1], np.nonzero(holds.T)[1]
    sizes, sizes_of = holds.sum(axis=1), holds.sum(axis=0)
    starts, starts_of = np.cumsum(sizes) - sizes, np.cumsum(sizes_of) - sizes_of
    chosen = starts_of[unknowns] + (random.random(len(unknowns)) * sizes_of[unknowns]).astype(
        np.int64
    )
    number = numbers_of[np.minimum(chosen, len(numbers_of) - 1)]
    at = starts[number] + (random.random(len(unknowns)) * sizes[number]).astype(np.int64)
    return np.where(sizes_of[unknowns] > 0, member[at], unknowns)


def _completing(holds: NDArray[np.bool_], first: Int64s, second: Int64s, third: Int64s) -> Int64s:
    """The unknown in just the numbers that close a rectangle, or -1.

    Sums of random marks tell it.
    """
    marks = np.random.default_rng(0).integers(
        0, 1 << 63, len(holds), dtype=np.uint64
    ) @ holds.astype(np.uint64)
    wanted, order = marks[second] + marks[third] - marks[first], np.argsort(marks, kind="stable")
    at = np.minimum(np.searchsorted(marks, wanted, sorter=order), len(marks) - 1)
    return np.where(marks[order[at]] == wanted, order[at], -1)


def _keeping(
    equations: NDArray[np.bool_], wanted: int, random: np.random.Generator
) -> NDArray[np.float32]:
    """Changes of the unknowns that keep all exact numbers, with as few unknowns as possible.

    Each change is a row. Take unknowns in random order. One that depends on those taken before it
    makes a change with them, and no part of that change would keep the numbers.
    """
    left, unknowns = equations[equations.any(axis=1)].astype(np.float64), equations.shape[1]
    found = np.zeros((0, unknowns))
    for _ in range(_MOST_ORDERS if len(left) else 0):
        left, bases = _solved(left, random.permutation(unknowns))
        others = np.setdiff1d(np.arange(unknowns), bases)
        changes = np.eye(unknowns)[others]
        changes[:, bases] = -left[:, others].T
        is_whole = np.abs(changes - np.rint(changes)).max(axis=1, initial=0) < 1e-6
        found = np.concatenate([found, np.rint(changes[is_whole])])
        if len(found) >= wanted or not len(others):
            break
    return found[:wanted].astype(np.float32)


def _solved(equations: Floats, order: Int64s) -> tuple[Floats, list[int]]:
    """The equations, each solved for an unknown of its own, and these unknowns.

    They are the first possible ones in `order`.
    """
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
    return np.round(equations[: len(bases)], 9), bases
