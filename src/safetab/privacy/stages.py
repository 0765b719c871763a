"""When noise is drawn for a group."""

from __future__ import annotations

from enum import IntEnum


class Stage(IntEnum):
    """The numbers are those of the measurement file, and are in the address of noise."""

    TOTAL_ONLY = 0  # the whole budget at once
    STAGE_1 = 1
    STAGE_2 = 2
