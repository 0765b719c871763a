"""Household swapping: pairs of households of about one size exchange their places.

Every household has a pseudo-tract: its own, that of another household of its county, or that of
another one of its state, by given chances. Its match key is its size plus -1, 0 or 1, by given
chances. In each state a share of the households, the rate, is chosen. Chosen households of one
pseudo-tract and one match key are paired. Of an odd number, the last one takes a household that was
not chosen, or stays where it is, equally often; if all were chosen, it looks for a partner in the
pseudo-county, then in the state.

After the Census Bureau's experiments with the 2010 census (Abowd and others 2025, A Simulated
Reconstruction and Reidentification Attack on the 2010 U.S. Census, appendix C, and the program
published with it). One thing differs: nobody goes further than `geography` allows. There, a household
of LO goes to the next tract if all households of its size in its own tract have a partner.

In the code, tract, county and state are the inner, middle and outer areas: in any census, the finest
kind of area that covers everything, and the two kinds around it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.protections.protection import Floats, Known, Windows
from safetab.comparison.tables.exact_tables import Int64s

Flags = NDArray[np.bool_]
_LEAST = 1e-300  # stands for a chance of 0 in logarithms
_CUT = 30.0  # true counts less likely than exp(-30) beside the likeliest are left out


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """Where households live, and by smallest area, the number of the area of each kind that it lies in."""

    areas: Int64s  # position of the smallest area
    sizes: Int64s
    is_unique: Flags  # whether no other person of the inner area has a member's codes and attribute
    inner: Int64s
    middle: Int64s
    outer: Int64s

    def chosen(self, which: Int64s) -> Self:
        """The households at these positions."""
        return replace(self, areas=self.areas[which], sizes=self.sizes[which], is_unique=self.is_unique[which])


@dataclass(frozen=True, slots=True)
class Swapping:
    """Swapping of this share of the households.

    `target` says which are chosen first: those with a unique member, or none. An agency's targets are
    secret, so "unique" is an assumption.
    """

    rate: float
    size_noise: tuple[float, float, float] = (0.0, 1.0, 0.0)  # chances that the match key is one less, equal, one more
    geography: tuple[float, float, float] = (1.0, 0.0, 0.0)  # chances of the own tract, one of the county, the state
    target: Literal["none", "unique"] = "none"

    def protect(self, people: Households, rng: np.random.Generator) -> Households:
        """The same households after the exchange. Each area keeps its number of households."""
        areas, outer = people.areas.copy(), people.outer[people.areas]
        order = np.argsort(outer, kind="stable")
        for inside in np.split(order, np.flatnonzero(np.diff(outer[order])) + 1):
            first, second = (inside[each] for each in self._pairs(people.chosen(inside), rng))
            areas[first], areas[second] = people.areas[second], people.areas[first]
        return replace(people, areas=areas)

    def _pairs(self, people: Households, rng: np.random.Generator) -> tuple[Int64s, Int64s]:
        """The positions of households of one outer area that exchange their places."""
        order = rng.permutation(len(people.areas))
        is_first = people.is_unique & (self.target == "unique")
        order = order[np.argsort(~is_first[order], kind="stable")]
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        chosen = int(self.rate * len(order) + rng.random())
        key = people.sizes + rng.choice([0, 1, 2], len(order), p=self.size_noise)
        place = _pseudo_places(people, self.geography, rng)
        kinds = (people.inner, people.middle, people.outer)[: 1 + int(np.flatnonzero(self.geography)[-1])]
        pairs, left = list[tuple[Int64s, Int64s]](), np.arange(len(order))
        for kind in kinds:
            cell = kind[place[left]] * (key.max(initial=0) + 1) + key[left]
            first, second, alone = _paired_in_cells(cell, rank[left], chosen, is_first[left], rng)
            pairs.append((left[first], left[second]))
            left = left[alone]
        return np.concatenate([one for one, _ in pairs]), np.concatenate([other for _, other in pairs])

    def leaving_shares(self, people: Int64s, middle: Int64s, outer: Int64s) -> Floats:
        """The share of each inner area's people whom swapping takes to another one, by its parameters.

        The arrays have an element per inner area: its people, and the positions of what it lies in.
        A swapped household stays if its partner comes from the same tract. The partner has the same
        pseudo-tract, to which households come as `geography` says. Sizes of households and rounding
        to pairs are left out.
        """
        own, near, far = self.geography
        of_middle, of_outer = np.bincount(middle, people)[middle], np.bincount(outer, people)[outer]
        of_near, of_far = people / np.maximum(of_middle, 1), people / np.maximum(of_outer, 1)
        around = of_middle / np.maximum(of_outer, 1)
        is_home = own + near * of_near + far * of_far  # the pseudo-tract is the own one
        is_near = near * (1 - of_near) + far * (around - of_far)
        is_far = far * (1 - around)
        stays = is_home**2 + is_near * (near * of_near + far * of_far) + is_far * far * of_far
        return np.asarray(self.rate * np.clip(1 - stays, 0, 1))


def windows_before_swapping(windows: Windows, known: Known, leaving: float) -> Windows:
    """Windows over true counts, from windows over the counts of the swapped records.

    Of n people each stays with chance 1 - `leaving`, and those who arrive are Poisson with mean
    `leaving` times what is expected. Members of a household move together, which a likelihood of
    one number can't know: it takes the moves of people as independent.
    """
    if not leaving:
        return windows
    leaving = min(max(leaving, _LEAST), 1 - 1e-9)
    arriving = leaving * np.maximum(known.expected, 0)
    sizes = np.diff(windows.starts)
    last = np.maximum(windows.firsts + sizes - 1, 0)
    fewest = np.maximum(windows.firsts - np.ceil(arriving + 8 * np.sqrt(arriving) + 12).astype(np.int64), 0)
    least = np.maximum(fewest, known.least)
    root = 4 * np.sqrt(leaving) + np.sqrt(16 * leaving + last)
    beyond = root**2 / (1 - leaving) + _CUT / -np.log(leaving) + 1
    beyond = np.minimum(beyond, 10 * (last + known.expected) + 600)  # if nearly all leave
    most = np.maximum(np.minimum(np.ceil(beyond).astype(np.int64), known.most), least)
    factorials = np.concatenate(
        [[0.0], np.cumsum(np.log(np.arange(1, max(most.max(initial=0), last.max(initial=0)) + 1)))]
    )
    starts = np.concatenate([[0], np.cumsum(np.where(sizes > 0, most - least + 1, 0))])
    logs = np.zeros(starts[-1])
    for number in np.flatnonzero(sizes).tolist():
        first, window = windows.of(number)
        stay, counts = np.arange(fewest[number], last[number] + 1), np.arange(least[number], most[number] + 1)
        arrived, left = first + np.arange(len(window)) - stay[:, None], counts[:, None] - stay
        comes = arrived * np.log(max(arriving[number], _LEAST)) - arriving[number] - factorials[arrived]
        goes = factorials[counts][:, None] - factorials[stay] - factorials[left]
        goes += stay * np.log1p(-leaving) + left * np.log(leaving)
        chances = np.exp(np.where(arrived < 0, -np.inf, comes + window - window.max())).sum(axis=1)
        total = np.exp(np.where(left < 0, -np.inf, goes)) @ chances
        logs[starts[number] : starts[number + 1]] = window.max() + np.log(np.maximum(total, _LEAST))
    return Windows(least, starts, logs)


def _pseudo_places(people: Households, geography: tuple[float, float, float], rng: np.random.Generator) -> Int64s:
    """The area that stands for each household's own when partners are looked for."""
    reach = rng.choice(3, len(people.areas), p=geography)
    place = people.areas.copy()
    for number, kind in enumerate((people.middle, people.outer), start=1):
        moving = np.flatnonzero(reach == number)
        around = kind[people.areas[moving]]
        in_order = np.argsort(around, kind="stable")
        shuffled = np.lexsort((rng.permutation(len(moving)), around))
        place[moving[in_order]] = people.areas[moving[shuffled]]
    return place


def _paired_in_cells(
    cell: Int64s, rank: Int64s, chosen: int, is_first: Flags, rng: np.random.Generator
) -> tuple[Int64s, Int64s, Int64s]:
    """Pairs of households of one cell, and chosen ones of cells where nobody is left to pair them with.

    The households with the first ranks are chosen. Where an odd number of a cell is, the last one
    takes one that is not: in half of such cells, those where it has to be first.
    """
    order = np.lexsort((rank, cell))
    begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
    sizes = np.diff(begins, append=len(order))
    taken = np.add.reduceat(rank[order] < chosen, begins, dtype=np.int64) if len(begins) else begins
    last = order[np.maximum(begins + taken - 1, 0)]
    is_odd = taken % 2 == 1
    may_take = np.flatnonzero(is_odd & (sizes > taken))
    may_take = may_take[np.lexsort((rng.permutation(len(may_take)), ~is_first[last[may_take]]))]
    paired = taken - is_odd
    paired[may_take[: (len(may_take) + 1) // 2]] += 2
    within = np.arange(len(order)) - np.repeat(begins, sizes)
    inside = order[within < np.repeat(paired, sizes)]  # an even number of each cell, side by side
    return inside[::2], inside[1::2], last[is_odd & (sizes == taken)]
