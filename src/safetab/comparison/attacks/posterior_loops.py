"""The sampler's inner loop, compiled: a walk over data sets, one small change after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.tables.exact_tables import Int64s

Floats = NDArray[np.float64]


class Factors(NamedTuple):
    """What is known of each unknown and of each number; a number without logarithms tells nothing.

    The prior of unknown u is growth[count] + count * rates[u], but for a constant. Number n has the
    true counts firsts[n], firsts[n] + 1, ... with logs[starts[n]:starts[n + 1]]; `far` is 0 where a
    count is possible, else the distance to the next that is.
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
    """Small changes: move m adds by[i] to the unknown who[i], and so by sums[i] to the number rows[i]."""

    who_starts: Int64s
    who: Int64s
    by: Int64s
    row_starts: Int64s
    rows: Int64s
    sums: Int64s


class Draws(NamedTuple):
    """A step tries a move, once or a few `times` over (below 0: undoes it), if a chance allows."""

    moves: Int64s
    times: Int64s
    log_chances: Floats


class Walker(NamedTuple):
    """Where one chain stands, and what it has seen at the data sets that fit everything published."""

    counts: Int64s  # of each unknown
    sums: Int64s  # each number
    ones: Int64s  # how often each number was 1
    present: Int64s  # how often it was 1 or more
    last: Int64s  # the counts of the last data set recorded


def walk(  # noqa: C901 - one loop: compiled code calls no plain function
    factors: Factors, moves: Moves, walker: Walker, draws: Draws, weight: float, every: int
) -> tuple[int, int]:
    """Try the drawn moves; how many steps were inside all windows, and how many data sets were recorded.

    Each `every`-th data set is recorded if it is inside. The walk also goes outside, at the price of
    `weight` for each step of distance: this is how it gets from one island of data sets to another.
    What is recorded has the posterior's own chances.
    """

    def log_of(number: int, count: int) -> tuple[float, int]:
        first, last = factors.starts[number], factors.starts[number + 1] - 1
        if last < first:
            return 0.0, 0
        at = first + count - factors.firsts[number]
        if at < first:
            return factors.logs[first], first - at
        if at > last:
            return factors.logs[last], at - last
        return factors.logs[at], factors.far[at]

    outside = 0
    for number in range(len(walker.sums)):
        outside += log_of(number, walker.sums[number])[1]
    inside = recorded = 0
    for step in range(len(draws.moves)):
        move, times = draws.moves[step], draws.times[step]
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
            if draws.log_chances[step] <= gain - weight * farther:
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
