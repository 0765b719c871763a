"""The amounts that a run reads, measures and writes at a time."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class BatchSizes:
    """The most that each step takes at once. No number that is released depends on it."""

    text_bytes: int = 8 << 20  # of a block of lines
    records: int = 1 << 17  # whose positions stay near the processor
    rows_of_units: int = 1 << 22  # that wait to be added up
    groups: int = 1 << 21  # that are measured together
    cells: int = 1 << 20  # that are measured together
    measurements: int = 1 << 20  # rows of a row group
    numbers: int = 1 << 17  # rows of a row group

    def __post_init__(self) -> None:
        if min(astuple(self)) < 1:
            raise ValueError("a batch holds at least 1")


USUAL_SIZES = BatchSizes()
