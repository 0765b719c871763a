"""Thresholds: only tables of groups, or of areas, that are large enough are published."""

from __future__ import annotations

from safetab.apps.compare.protections.method import Form, Made, Method, Place
from safetab.apps.compare.protections.protection import Threshold


def _areas(people: int) -> Made:
    return Threshold(people, is_of_areas=True), f"areas from {people} people on"


def _groups(people: int) -> Made:
    return Threshold(people, is_of_areas=False), f"groups from {people} people on"


_PEOPLE = range(1, 10**9 + 1)
THRESHOLDS = Method(
    "thresholds",
    Place.SELECTIONS,
    (Form("area", _areas, {"people": _PEOPLE}), Form("threshold", _groups, {"people": _PEOPLE})),
)
