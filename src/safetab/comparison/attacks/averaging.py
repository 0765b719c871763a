"""Averaging: a table builder that divides a group in two, at many values of one attribute, gives away its total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safetab.comparison.attacks.solver import window_ends
from safetab.comparison.protections.protection import Known, Protection
from safetab.comparison.protections.steps import publish, windows_of
from safetab.comparison.results import WorkedExample
from safetab.comparison.tables.exact_tables import ExactTables, Int64s, PublishedTables, UInt64s

SPLITS = (0, 1, 10, 30, 90)
_SHOWN_IN_EXAMPLE = 5
_NO_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class SplitGroups:
    """Groups by the values of the attribute: all arrays but the last have a row for each group.

    `ordered` says, for each value, its place in the order that is split, from 0 on. Values with the
    same place stay together.
    """

    names: Sequence[str]
    by_value: Int64s  # groups x values
    keys: UInt64s  # groups x values: sums of record keys
    area_people: Int64s  # everybody in the group's area
    ordered: Int64s


def averaging(groups: SplitGroups, protection: Protection, seed: int) -> Mapping[int, float]:
    """The share of the groups' totals that are found exactly, by the number of splits; 0: as published."""
    answers = _Answers(groups, protection, seed)
    return {splits: float((answers.estimates(splits) == answers.truth).mean()) for splits in SPLITS}


def averaging_under_one_budget(published: PublishedTables, truth: Int64s) -> Mapping[int, float]:
    """The same for noise with one budget for all questions: it answers none but the one that is published."""
    share = float((published.is_shown & (published.numbers.filled(0) == truth)).mean())
    return {0: share}


def example(groups: SplitGroups, protection: Protection, seed: int) -> WorkedExample | None:
    """A group whose published total is wrong, and whose average is right; None if no group is like that."""
    answers = _Answers(groups, protection, seed)
    most = SPLITS[-1]
    right = np.flatnonzero((answers.estimates(most) == answers.truth) & (answers.estimates(0) != answers.truth))
    right = right[answers.is_shown[right, : 2 * _SHOWN_IN_EXAMPLE + 1].all(axis=1)]
    if not len(right):
        return None
    total, *parts = answers.numbers[right[0], : 2 * _SHOWN_IN_EXAMPLE + 1].tolist()
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    about, published = groups.names[right[0]], [("all", f"{total:,}")]
    published += [(f"split {place}: below and above", f"{a:,} and {b:,}") for place, (a, b) in enumerate(pairs, 1)]
    sums = ", ".join(f"{low + high:,}" for low, high in pairs)
    steps = (
        f"Each split counts everybody once, so both parts together estimate the total: {sums}, and so on.",
        f"The errors differ from split to split. The average of {answers.splits} splits, rounded, is the total.",
    )
    return WorkedExample("averaging", protection.spec, about, tuple(published), steps, f"{answers.truth[right[0]]:,}")


class _Answers:
    """What the table builder answers: for each group its total, then the two parts of every split."""

    def __init__(self, groups: SplitGroups, protection: Protection, seed: int) -> None:
        places = int(groups.ordered.max()) + 1
        bits = np.random.default_rng([seed, 7])
        cuts = bits.permutation(np.arange(1, places))[: SPLITS[-1]]
        self.splits = len(cuts)
        counts = _parts(groups.by_value, groups.ordered, cuts)
        keys = _parts(groups.keys, groups.ordered, cuts)
        self.truth = counts[:, 0]
        totals, everybody = (np.repeat(each, counts.shape[1]) for each in (self.truth, groups.area_people))
        published = publish(protection, ExactTables(counts.ravel(), keys.ravel(), totals, everybody), bits)
        known = Known(np.zeros_like(totals), 2 * totals + 10, totals / 2.0)  # far limits, which tell nothing
        low, high = window_ends(windows_of(protection, published, known))
        self.numbers = published.numbers.filled(0).reshape(counts.shape)
        self.is_shown = published.is_shown.reshape(counts.shape)
        self._least, self._most = low.reshape(counts.shape), np.minimum(high, _NO_LIMIT).reshape(counts.shape)

    def estimates(self, splits: int) -> Int64s:
        """The attacker's total of each group after some splits; -1 if he has none.

        A published total counts as much as two sums, which have two errors each.
        """
        if not splits:
            return np.where(self.is_shown[:, 0], self.numbers[:, 0], -1)
        low, high = slice(1, 2 * splits + 1, 2), slice(2, 2 * splits + 1, 2)
        is_answered = self.is_shown[:, low] & self.is_shown[:, high]
        sums = np.where(is_answered, self.numbers[:, low] + self.numbers[:, high], 0).sum(axis=1)
        sums = sums + 2 * np.where(self.is_shown[:, 0], self.numbers[:, 0], 0)
        weights = is_answered.sum(axis=1) + 2 * self.is_shown[:, 0]
        least = np.maximum(self._least[:, 0], (self._least[:, low] + self._least[:, high]).max(axis=1))
        most = np.minimum(self._most[:, 0], (self._most[:, low] + self._most[:, high]).min(axis=1))
        means = np.rint(sums / np.maximum(weights, 1)).astype(np.int64)
        return np.where((weights > 0) | (least == most), np.clip(means, least, np.maximum(least, most)), -1)


def _parts(values: NDArray[Any], ordered: Int64s, cuts: Int64s) -> NDArray[Any]:
    """The sum of each group's values, then those before and from each cut on; unsigned sums wrap around."""
    below = np.stack([values[:, ordered < cut].sum(axis=1, dtype=values.dtype) for cut in cuts.tolist()], axis=1)
    total = values.sum(axis=1, dtype=values.dtype)[:, None]
    halves = np.stack([below, total - below], axis=2).reshape(len(values), 2 * len(cuts))
    return np.concatenate([total, halves], axis=1)
