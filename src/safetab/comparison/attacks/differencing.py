"""Differencing: areas that overlap have slivers, and subtracting published totals may tell who lives there.

A sliver is a set of atoms that the same areas hold, such as the part of a tract outside every place,
and is not itself an area with a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.attacks.propagation import propagated
from safetab.comparison.attacks.solver import window_ends
from safetab.comparison.protections.protection import Publication, Windows
from safetab.comparison.results import WorkedExample
from safetab.comparison.tables.attacked_area import AttackedArea, System
from safetab.comparison.tables.exact_tables import Int64s, Rows

MOST_PEOPLE, _MOST_IN_EXAMPLE = 9, 2
"""The largest slivers that are looked at; the smallest have 1 person."""
_ALL_BUT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class _Slivers:
    """The parts into which the areas of one system divide each other: totals are sums of parts."""

    holds: NDArray[np.bool_]  # by total and part
    people: Int64s  # of each part
    low: Int64s  # the least true count that is possible for each total, by itself
    high: Int64s  # the largest
    is_small: NDArray[np.bool_]  # whether each part is a sliver of 1 to 9 people
    follows: NDArray[np.bool_]  # whether its people follow from the totals


def differencing(area: AttackedArea, publication: Publication) -> tuple[int, int]:
    """How many slivers of groups have 1 to 9 people, and the people in those whose count follows."""
    found = [_slivers(*each) for each in zip(area.systems, publication.windows, strict=True)]
    people = sum(int(each.people[each.is_small & each.follows].sum()) for each in found)
    return sum(int(each.is_small.sum()) for each in found), people


def example(area: AttackedArea, publication: Publication, spec: str) -> WorkedExample | None:
    """A sliver of 1 or 2 people that is one area without others, all with known totals above 0; None if none is."""
    for system, windows in zip(area.systems, publication.windows, strict=True):
        found = _slivers(system, windows)
        for sliver in np.flatnonzero(found.is_small & found.follows & (found.people <= _MOST_IN_EXAMPLE)).tolist():
            for rows in _differences(found.holds, sliver):
                if ((found.low[rows] == found.high[rows]) & (found.low[rows] > 0)).all():
                    names = [area.areas[system.areas[system.totals[row]]].name for row in rows]
                    totals = [f"{total:,}" for total in found.low[rows].tolist()]
                    published = tuple(zip(names, totals, strict=True))
                    people = f"{found.people[sliver]:,}"
                    outside = f"The part of {names[0]} outside {' and '.join(names[1:])}"
                    step = f"{outside} has {' - '.join(totals)} = {people} of them."
                    return WorkedExample("differencing", spec, system.name, published, (step,), people)
    return None


def _slivers(system: System, windows: Windows) -> _Slivers:
    """The parts of a system, and what follows: from equations of known totals, or from the limits of all."""
    of_totals = system.rows.is_part(len(system.truth))[system.totals]
    is_inside = of_totals.any(axis=0)
    holds, part_of = np.unique(of_totals[:, is_inside], axis=1, return_inverse=True)
    people = np.bincount(part_of.ravel(), system.truth[is_inside], holds.shape[1]).astype(np.int64)
    is_area = holds[holds.sum(axis=1) == 1].any(axis=0)
    is_small = ~is_area & (people >= 1) & (people <= MOST_PEOPLE)
    most = 2 * int(people.sum()) + 10  # more than any part can have
    low, high = (np.minimum(ends[system.totals], most) for ends in window_ends(windows))
    if not is_small.any():
        return _Slivers(holds, people, low, high, is_small, is_small)
    rows = Rows.of_lists([np.flatnonzero(parts).tolist() for parts in holds])
    bounds = propagated(rows, low, high, np.full(len(people), most))
    equations = holds[low == high].astype(np.float64)
    is_solved = np.diag(np.linalg.pinv(equations) @ equations) > 1 - _ALL_BUT
    return _Slivers(holds, people, low, high, is_small, is_solved | (bounds.unknown_low == bounds.unknown_high))


def _differences(holds: NDArray[np.bool_], part: int) -> Iterator[list[int]]:
    """The part as one total minus totals that lie inside it and apart from each other."""
    for whole in np.flatnonzero(holds[:, part]).tolist():
        left, rows = holds[whole].copy(), [whole]
        for other in np.argsort(-holds.sum(axis=1), kind="stable").tolist():
            if other != whole and not holds[other, part] and not (holds[other] & ~left).any():
                rows.append(other)
                left &= ~holds[other]
        if len(rows) > 1 and left.sum() == 1:
            yield rows
