"""Alone groups beside their partners: who is in the first is in the second, but noise can turn the order around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.release.release_universe import ReleaseLevel, Universe

_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class PairAbove:
    """An Alone total above that of its partner, in one entity."""

    entity: int
    alone: int  # positions of the iterations
    partner: int
    alone_count: int
    partner_count: int

    @property
    def excess(self) -> int:
        return self.alone_count - self.partner_count


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs have both totals, how often the Alone one is above, and where most."""

    compared: int
    above: int
    widest: tuple[PairAbove, ...]


class PairTally:
    """Takes totals by rising entity, in parts that may end inside an entity."""

    def __init__(self, universe: Universe, facts: ReleaseLevel) -> None:
        self._partner = universe.partner_positions(facts)
        self._waiting = [np.empty(0, dtype=np.int64) for _ in range(3)]
        self._compared = 0
        self._above = 0
        self._widest: list[PairAbove] = []

    def add(self, entity: NDArray[np.int64], iteration: NDArray[np.int64], count: NDArray[np.int64]) -> None:
        parts = zip(self._waiting, (entity, iteration, count), strict=True)
        joined = [np.concatenate(part) for part in parts]
        end = int(np.searchsorted(joined[0], joined[0][-1])) if len(joined[0]) else 0  # the last entity may go on
        self._compare(*(column[:end] for column in joined))
        self._waiting = [column[end:] for column in joined]

    def pairs(self) -> Pairs:
        """Whoever asks has added everything."""
        self._compare(*self._waiting)
        self._waiting = [column[:0] for column in self._waiting]
        return Pairs(self._compared, self._above, tuple(self._widest))

    def _compare(self, entity: NDArray[np.int64], iteration: NDArray[np.int64], count: NDArray[np.int64]) -> None:
        """Totals of whole entities."""
        if not len(entity) or not len(self._partner):
            return
        width = len(self._partner)
        key = entity * width + iteration
        order = np.argsort(key, kind="stable")
        alone = np.flatnonzero(self._partner[iteration] >= 0)
        wanted = entity[alone] * width + self._partner[iteration[alone]]
        rising = key[order]
        place = np.minimum(np.searchsorted(rising, wanted), len(key) - 1)
        has_partner = rising[place] == wanted
        alone, partner = alone[has_partner], order[place[has_partner]]
        is_above = count[alone] > count[partner]
        self._compared += len(alone)
        self._above += int(is_above.sum())
        alone, partner = alone[is_above], partner[is_above]
        widest = np.argsort(count[partner] - count[alone], kind="stable")[:_EXAMPLES]
        self._widest += [
            PairAbove(int(entity[one]), int(iteration[one]), int(iteration[other]), int(count[one]), int(count[other]))
            for one, other in zip(alone[widest], partner[widest], strict=True)
        ]
        self._widest = sorted(self._widest, key=lambda one: -one.excess)[:_EXAMPLES]  # stable: the first of equals
