"""Counties that are given and not drawn, each with its places and AIANNH areas."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """A place or AIANNH area inside a county: from one percentage of the county's line of blocks to another."""

    code: int
    name: str
    start_percent: int
    end_percent: int


@dataclass(frozen=True, slots=True)
class GivenCounty:
    """Its stretches of one kind come in the order of their percentages and do not overlap."""

    number: int
    name: str
    tracts: int
    places: tuple[Stretch, ...]
    aiannh_areas: tuple[Stretch, ...]
