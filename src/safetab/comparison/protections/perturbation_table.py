"""Perturbation tables for cell keys: for each count the chances of its changes, with most entropy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from safetab.comparison.protections.protection import Floats
from safetab.comparison.tables.exact_tables import Int64s

_STEP_OF_PSTAY = 0.05
_CLOSE = 1e-12


def least_variance(js: int) -> int:
    """The variance that a table without the numbers 1 to js needs: count i can only go to 0 or js + 1."""
    return max((count * (js + 1 - count) for count in range(1, js + 1)), default=0)


def table_of(
    largest: int, variance: float, js: int = 0, pstay: float = 0.0, is_rising: Sequence[bool] = (True,)
) -> Floats:
    """One row per count and one column per change up to `largest`: mean 0, variance at most `variance`.

    A count is never changed to 1 ... `js`, and stays with a chance of at least `pstay`, which is lowered
    in steps of 0.05 until the variance is reached. Where `is_rising`, the chances do not fall
    towards 0 from the left; it has an element per row, and the last one holds for all further rows.
    """
    table = np.zeros((largest + (js + 1 if js else 0) + 1, 2 * largest + 1))
    table[0, largest] = 1.0
    for count in range(1, len(table)):
        targets = np.arange(max(count - largest, 0), count + largest + 1)
        changes = targets[(targets == 0) | (targets > js)] - count
        rises = is_rising[min(count, len(is_rising)) - 1]
        table[count, changes + largest] = _row(changes, variance, pstay, is_rising=rises)
    return table


def _row(changes: Int64s, variance: float, pstay: float, *, is_rising: bool) -> Floats:
    """The chances of one count's changes."""
    if variance == 0:
        return np.asarray(changes == 0, dtype=np.float64)
    while True:
        chances = _most_entropy(changes, variance, pstay, is_rising=is_rising)
        if changes**2 @ chances > variance - 1e-6 or pstay == 0 or 0 not in changes:
            return chances
        pstay = max(round(pstay - _STEP_OF_PSTAY, 10), 0.0)


def _most_entropy(changes: Int64s, variance: float, pstay: float, *, is_rising: bool) -> Floats:
    """Pool neighbours whose order is broken, and fix the chance to stay, until every condition holds."""
    stay = np.flatnonzero(changes == 0).tolist()
    pools = [[place] for place in range(len(changes))]
    fixed: list[int] = []  # the pool whose chances are `pstay`
    while True:
        chances = _dual(changes, variance, pools, fixed, pstay)
        if stay and not fixed and chances[stay[0]] < pstay - _CLOSE:
            fixed, pools = stay, [[place] for place in range(len(changes)) if place not in stay]
            continue
        ordered = [*(pool for pool in pools if changes[pool[-1]] <= 0), *([fixed] if fixed else [])]
        pairs = pairwise(ordered if is_rising else [])
        broken = next((pair for pair in pairs if chances[pair[0][0]] > chances[pair[1][0]] + _CLOSE), None)
        if broken is None:
            return chances
        pools = [pool for pool in pools if pool not in broken]
        if fixed in broken:
            fixed = broken[0] + broken[1]
        else:
            pools = sorted([*pools, broken[0] + broken[1]])


def _dual(changes: Int64s, variance: float, pools: list[list[int]], fixed: list[int], pstay: float) -> Floats:
    """Chances proportional to exp(-a v - b v**2), equal inside a pool, with b = 0 if the variance allows it."""
    chances = np.zeros(len(changes))
    chances[fixed] = pstay
    mass = 1 - chances.sum()
    if mass <= 0:
        return chances
    sizes = np.array([len(pool) for pool in pools])
    powers = np.array([[changes[pool].mean(), (changes[pool] ** 2).mean()] for pool in pools])
    wanted = np.array([-changes @ chances, variance - changes**2 @ chances]) / mass
    weights = _fitted(sizes, powers[:, :1] - wanted[:1])
    if powers[:, 1] @ weights > wanted[1]:
        weights = _fitted(sizes, powers - wanted)
    for pool, weight in zip(pools, weights, strict=True):
        chances[pool] = mass * weight / len(pool)
    return chances


def _fitted(sizes: Int64s, powers: Floats) -> Floats:
    """The weights sizes * exp(-powers @ x) / sum with means 0, by Newton's method on the convex dual."""

    def exponents_and_value(at: Floats) -> tuple[Floats, float]:
        exponents = np.log(sizes) - powers @ at
        return exponents, float(np.logaddexp.reduce(exponents))

    place = np.zeros(powers.shape[1])
    for _ in range(200):
        exponents, value = exponents_and_value(place)
        weights = np.exp(exponents - value)
        slope = weights @ powers
        curvature = (powers * weights[:, None]).T @ powers - np.outer(slope, slope)
        step = np.linalg.lstsq(curvature + 1e-15 * np.eye(len(place)), slope, rcond=None)[0]
        lengths = 0.5 ** np.arange(30)
        enough = (
            length
            for length in lengths
            if exponents_and_value(place + length * step)[1] <= value - 1e-4 * length * (slope @ step) + 1e-14
        )
        length = next(enough, 0.0)
        if np.abs(slope).max() < _CLOSE or length == 0:
            break
        place += length * step
    return np.asarray(weights / weights.sum())
