"""Records what enters `noisy_count` in a run, and replays one run's noisy numbers in another.

The audit stands in the place of `noisy_count` in the module that calls it: the run itself has no door for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from safetab.privacy.exact_counts import ExactCounts
from safetab.privacy.ledger import DrawingRight
from safetab.privacy.measurement_event import MeasurementEvent
from safetab.products.product import Shape
from safetab.tabulation import tabulate_level as caller

NoisyCount = Callable[[ExactCounts, Shape, DrawingRight], NDArray[np.int64]]
Question = tuple[MeasurementEvent, Shape]
Numbers = dict[int, NDArray[np.int64]]
"""For each group index the numbers of its cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What was counted, and what came of it, for every event and shape of a run."""

    counts: dict[Question, Numbers] = field(default_factory=dict)
    noisy: dict[Question, Numbers] = field(default_factory=dict)

    def add(self, question: Question, counts: ExactCounts, noisy: NDArray[np.int64]) -> None:
        indices = counts.indices.tolist()
        self.counts.setdefault(question, {}).update(zip(indices, counts.confidential_counts, strict=True))
        self.noisy.setdefault(question, {}).update(zip(indices, noisy, strict=True))

    @property
    def events(self) -> set[MeasurementEvent]:
        return {event for event, _ in self.counts}

    def exact(self, question: Question, indices: NDArray[np.int64]) -> ExactCounts:
        """What this run counted for these groups: 0 where it never asked."""
        nobody, counted = np.zeros(question[1].cells, dtype=np.int64), self.counts.get(question, {})
        rows = [counted.get(index, nobody) for index in indices.tolist()]
        return ExactCounts(indices, np.array(rows, dtype=np.int64).reshape(len(indices), -1 if rows else len(nobody)))


Change = Callable[[Question, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Takes a question, its group indices and their noisy numbers; gives other noisy numbers."""


@contextmanager
def recorded(replayed: Record | None = None, change: Change | None = None) -> Iterator[Record]:
    """Records runs; with `replayed`, every noisy number is what that run had, or would have had, at its address.

    Both runs need the same key. `change` may alter the numbers on their way.
    """
    record, noisy_count = Record(), _current()

    def standing_in(counts: ExactCounts, shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
        question = (right.event, shape)
        noised = counts if replayed is None else replayed.exact(question, counts.indices)
        noisy = noisy_count(noised, shape, right)
        if change is not None:
            noisy = change(question, counts.indices, noisy)
        record.add(question, counts, noisy)
        return noisy

    with _in_place_of_noisy_count(standing_in):
        yield record


@contextmanager
def before_each_draw(look: Callable[[], None]) -> Iterator[None]:
    """Calls `look` whenever noise is about to be drawn."""
    noisy_count = _current()

    def standing_in(counts: ExactCounts, shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
        look()
        return noisy_count(counts, shape, right)

    with _in_place_of_noisy_count(standing_in):
        yield


@contextmanager
def _in_place_of_noisy_count(substitute: NoisyCount) -> Iterator[None]:
    original = _current()
    setattr(caller, "noisy_count", substitute)  # noqa: B010 - a module's function is replaced on purpose
    try:
        yield
    finally:
        setattr(caller, "noisy_count", original)  # noqa: B010


def _current() -> NoisyCount:
    return cast(NoisyCount, getattr(caller, "noisy_count"))  # noqa: B009 - what the module calls now
