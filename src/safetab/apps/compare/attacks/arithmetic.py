"""Two attacks that add and subtract published numbers.

Averaging: a table builder that divides a group in two, at many values of one attribute, gives away
its total. Differencing: areas that overlap have slivers, and subtracting totals may tell who lives
there. A sliver is a set of atoms that the same areas hold, such as the part of a tract outside
every place, and is not itself an area with a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.attacks.solver import propagated, window_ends
from safetab.apps.compare.protections.protection import Known, Protection, PublishedArea, Windows
from safetab.apps.compare.protections.steps import publish, windows_of
from safetab.apps.compare.results import WorkedExample
from safetab.apps.compare.tables.attacked_area import AttackedArea, System
from safetab.apps.compare.tables.exact_tables import ExactTables, Int64s, Rows, UInt64s

SPLITS = (0, 1, 10, 30, 90)
_SPLITS_IN_EXAMPLE = 5
_NO_LIMIT = 1 << 40
_MOST_IN_SLIVER, _MOST_IN_EXAMPLE = 9, 2
_ALL_BUT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class SplitGroups:
    """Groups by the values of the attribute.

    All arrays but the last have a row for each group.
    """

    names: Sequence[str]
    by_value: Int64s  # groups x values
    keys: UInt64s  # groups x values: sums of record keys
    area_people: Int64s  # everybody in the group's area
    # each value's place, from 0 on, in the order that is split; equal places stay together
    ordered: Int64s


def averaging(groups: SplitGroups, protection: Protection, seed: int) -> Mapping[int, float]:
    """The share of totals that are found exactly, by the number of splits; 0: as published."""
    answers = _Answers(groups, protection, seed)
    return {splits: float((answers.estimates(splits) == answers.truth).mean()) for splits in SPLITS}


def averaging_example(
    groups: SplitGroups, protection: Protection, seed: int
) -> WorkedExample | None:
    """A group whose published total is wrong, and whose average is right.

    None if no group is like that.
    """
    answers = _Answers(groups, protection, seed)
    shown = answers.numbers[:, : 2 * _SPLITS_IN_EXAMPLE + 1]
    before, after = (answers.estimates(splits) == answers.truth for splits in (0, SPLITS[-1]))
    is_right = after & ~before
    right = np.flatnonzero(is_right & ~shown.mask.any(axis=1))
    if not len(right):
        return None
    total, *parts = shown[right[0]].tolist()
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    printed = [
        (f"split {place}: below and above", f"{a:,} and {b:,}")
        for place, (a, b) in enumerate(pairs, 1)
    ]
    published, truth = (("all", f"{total:,}"), *printed), f"{answers.truth[right[0]]:,}"
    sums = ", ".join(f"{low + high:,}" for low, high in pairs)
    steps = (
        "Each split counts everybody once,"
        f" so both parts together estimate the total: {sums}, and so on.",
        "The errors differ from split to split."
        f" The mean of the sums of {answers.splits} splits and of the published total,"
        " which counts twice, is rounded and kept within what the method allows:"
        " it is the true total."
        " Of all totals asked for,"
        f" {is_right.mean():.0%} are wrong as published and right after averaging;"
        f" for {(before & ~after).mean():.0%} it is the reverse.",
    )
    return WorkedExample(
        "averaging", protection.spec, groups.names[right[0]], published, steps, truth
    )


class _Answers:
    """The table builder's answers: for each group its total, then both parts of every split."""

    def __init__(self, groups: SplitGroups, protection: Protection, seed: int) -> None:
        bits = np.random.default_rng([seed, 7])
        cuts = bits.permutation(np.arange(1, int(groups.ordered.max()) + 1))[: SPLITS[-1]]
        counts, keys = (
            _parts(values, groups.ordered, cuts) for values in (groups.by_value, groups.keys)
        )
        self.splits, self.truth = len(cuts), counts[:, 0]
        totals, everybody = (
            np.repeat(each, counts.shape[1]) for each in (self.truth, groups.area_people)
        )
        published = publish(
            protection, ExactTables(counts.ravel(), keys.ravel(), totals, everybody), bits
        )
        is_total = np.arange(counts.size) % counts.shape[1] == 0
        # far limits, which tell nothing
        known = Known(np.zeros_like(totals), 2 * totals + 10, totals / 2.0, is_total)
        low, high = window_ends(windows_of(protection, published, known))
        self.numbers: Any = published.numbers.reshape(counts.shape)
        self._least, self._most = (
            low.reshape(counts.shape),
            np.minimum(high, _NO_LIMIT).reshape(counts.shape),
        )

    def estimates(self, splits: int) -> Int64s:
        """The attacker's total of each group after some splits; -1 if he has none.

        A published total counts as much as two sums, which have two errors each.
        """
        total = self.numbers[:, 0]
        if not splits:
            return np.asarray(total.filled(-1))
        below, above = slice(1, 2 * splits + 1, 2), slice(2, 2 * splits + 1, 2)
        sums = self.numbers[:, below] + self.numbers[:, above]
        weights = sums.count(axis=1) + 2 * ~total.mask
        means = (sums.sum(axis=1).filled(0) + 2 * total.filled(0)) / np.maximum(weights, 1)
        low = np.maximum(
            self._least[:, 0], (self._least[:, below] + self._least[:, above]).max(axis=1)
        )
        high = np.minimum(
            self._most[:, 0], (self._most[:, below] + self._most[:, above]).min(axis=1)
        )
        nearest = np.clip(np.rint(means).astype(np.int64), low, np.maximum(low, high))
        return np.where((weights > 0) | (low == high), nearest, -1)


def _parts(values: NDArray[Any], ordered: Int64s, cuts: Int64s) -> NDArray[Any]:
    """The sum of each group's values, then those before and from each cut on.

    Unsigned sums wrap around.
    """
    total = values.sum(axis=1, dtype=values.dtype)
    before = [values[:, ordered < cut].sum(axis=1, dtype=values.dtype) for cut in cuts.tolist()]
    return np.stack([total, *(part for each in before for part in (each, total - each))], axis=1)


class _Slivers(NamedTuple):
    """The parts into which the areas of one system divide each other.

    Totals are sums of parts.
    """

    holds: NDArray[np.bool_]  # by total and part
    known: Int64s  # each total, if one true count alone is possible for it; else 0
    people: Int64s  # of each part
    is_small: NDArray[np.bool_]  # whether each part is a sliver of 1 to 9 people
    follows: NDArray[np.bool_]  # whether such people follow from the totals


def differencing(area: AttackedArea, publication: PublishedArea) -> tuple[int, int]:
    """The number of groups' slivers with 1 to 9 people, and the people whose count follows.

    The second number is of the people in those slivers.
    """
    found = [_slivers(*each) for each in zip(area.systems, publication.windows, strict=True)]
    return sum(int(each.is_small.sum()) for each in found), sum(
        int(each.people[each.follows].sum()) for each in found
    )


def differencing_example(
    area: AttackedArea, publication: PublishedArea, spec: str
) -> WorkedExample | None:
    """A sliver of 1 or 2 people that is one area without others.

    All these areas have known totals above 0. None if there is no such sliver.
    """
    for system, windows in zip(area.systems, publication.windows, strict=True):
        found = _slivers(system, windows)
        for sliver in np.flatnonzero(found.follows & (found.people <= _MOST_IN_EXAMPLE)).tolist():
            for rows in _differences(found.holds, sliver):
                if found.known[rows].all():
                    names = [area.areas[system.areas[system.totals[row]]].name for row in rows]
                    totals, people = (
                        [f"{total:,}" for total in found.known[rows].tolist()],
                        f"{found.people[sliver]:,}",
                    )
                    outside = f"The part of {names[0]} outside {' and '.join(names[1:])}"
                    step = f"{outside} has {' - '.join(totals)} = {people} of them."
                    published = tuple(zip(names, totals, strict=True))
                    return WorkedExample(
                        "differencing", spec, system.name, published, (step,), people
                    )
    return None


def _slivers(system: System, windows: Windows) -> _Slivers:
    """The parts of a system, and what follows from known totals or from the limits of all.

    Known totals are solved as equations; the limits are propagated.
    """
    of_totals = system.rows.is_part(len(system.truth))[system.totals]
    is_inside = of_totals.any(axis=0)
    holds, part_of = np.unique(of_totals[:, is_inside], axis=1, return_inverse=True)
    people = np.bincount(part_of.ravel(), system.truth[is_inside], holds.shape[1]).astype(np.int64)
    is_area = holds[holds.sum(axis=1) == 1].any(axis=0)
    is_small = ~is_area & (people >= 1) & (people <= _MOST_IN_SLIVER)
    most = 2 * int(people.sum()) + 10  # more than any part can have
    low, high = (np.minimum(ends[system.totals], most) for ends in window_ends(windows))
    rows = Rows.of_lists([np.flatnonzero(parts).tolist() for parts in holds])
    bounds = propagated(rows, low, high, np.full(len(people), most))
    equations = holds[low == high].astype(np.float64)
    is_solved = np.diag(np.linalg.pinv(equations) @ equations) > 1 - _ALL_BUT
    follows = is_small & (is_solved | (bounds.unknown_low == bounds.unknown_high))
    return _Slivers(holds, np.where(low == high, low, 0), people, is_small, follows)


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
