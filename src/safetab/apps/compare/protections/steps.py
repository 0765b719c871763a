"""A protection's steps one after the other: which numbers are published, then how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safetab.apps.compare.protections.protection import Known, Protection, Windows, between, chosen
from safetab.apps.compare.tables.exact_tables import SHOWN, ExactTables, PublishedTables


def publish(
    protection: Protection, tables: ExactTables, bits: np.random.Generator
) -> PublishedTables:
    """The numbers as published. `tables` count the records that a step on records has left.

    In `withheld_by` selections have the places 1, 2, ... and the step on numbers the next one.
    """
    numbers, selections = protection.numbers, protection.selections
    published = (
        PublishedTables.of(tables.counts) if numbers is None else numbers.protect(tables, bits)
    )
    withheld_by = np.where(published.is_shown, SHOWN, len(selections) + 1).astype(np.int8)
    for place in range(len(selections), 0, -1):
        withheld_by[selections[place - 1].is_withheld(tables)] = place
    return PublishedTables.of(
        published.numbers.data, withheld_by, is_finished=published.is_finished
    )


def windows_of(protection: Protection, published: PublishedTables, known: Known) -> Windows:
    """The windows: what each number tells about the count of the protected records.

    Without a step a number is exact.
    """
    values, numbers = published.numbers.data, protection.numbers
    of_groups = max(
        (each.people for each in protection.selections if not each.is_of_areas), default=0
    )
    # a total that is there is not below the threshold
    least = np.maximum(known.least, np.where(known.is_total, of_groups, 0))
    if_there = replace(known, least=least)
    windows = (
        between(values, values, if_there)
        if numbers is None
        else numbers.windows(published, if_there)
    )
    for place, selection in enumerate(protection.selections, start=1):
        windows = chosen(
            published.withheld_by == place, between(0, selection.people - 1, known), windows
        )
    return windows
