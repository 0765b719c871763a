"""One draw of any protection in the attacked area: the published numbers, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from safetab.comparison.attacks.averaging import SplitGroups, averaging_under_one_budget
from safetab.comparison.protections.protection import Known, Protection, Publication, Windows, chosen
from safetab.comparison.protections.steps import publish, windows_of
from safetab.comparison.protections.swapping import windows_before_swapping
from safetab.comparison.tables.count_area import CountedArea
from safetab.comparison.tables.exact_tables import PublishedTables
from safetab.comparison.tables.people_of_area import PeopleOfArea

_MOST_GROUPS, _LEAST_PEOPLE, _MOST_PEOPLE = 200, 5, 199


@dataclass(frozen=True, slots=True, eq=False)
class Swapped:
    """The records of the area after swapping, and the share of people who left their smallest area."""

    people: PeopleOfArea
    leaving: float


def published_area(
    counted: CountedArea, protection: Protection, seed: int, swapped: Swapped | None = None
) -> Publication:
    """What a protection of records and numbers publishes in the area. The seed decides every draw.

    Of swapped records the leaves alone are read: totals are sums of them, and people who leave a place
    or another area that is not made of smallest ones may stay in their smallest area.
    """
    systems = counted.area.systems
    exact = [system.exact for system in systems] if swapped is None else counted.recounted(swapped.people)
    tables, windows = [], []
    for place, (system, counts) in enumerate(zip(systems, exact, strict=True)):
        known = Known(system.least, system.most, system.rows.sums(system.expected))
        published = publish(protection, counts, np.random.default_rng([seed, place]))
        found = windows_of(protection, published, known)
        if swapped is not None:
            nothing = Windows(found.firsts, np.zeros_like(found.starts), np.zeros(0))
            found = chosen(np.isin(np.arange(len(system.lines)), system.leaves), found, nothing)
            found = windows_before_swapping(found, known, swapped.leaving)
        tables.append(published)
        windows.append(found)
    return Publication(tables, windows, can_be_proven=swapped is None or not swapped.leaving)


@dataclass(frozen=True, slots=True, eq=False)
class SplitTotals:
    """Some groups of 5 to 199 people, whose totals a table builder is asked for again and again, in parts.

    `places` says where their totals are: a system, a number and an area each.
    """

    groups: SplitGroups
    places: Sequence[tuple[int, int, int]]

    @classmethod
    def of(cls, counted: CountedArea, seed: int) -> Self:
        """Groups that the seed chooses among those of the smallest areas."""
        area = counted.area
        places = [
            (place, number, of)
            for place, system in enumerate(area.systems)
            for number, of in zip(system.totals.tolist(), system.areas[system.totals].tolist(), strict=True)
            if area.areas[of].level == area.smallest and _LEAST_PEOPLE <= system.exact.counts[number] <= _MOST_PEOPLE
        ]
        which = np.sort(np.random.default_rng([seed, 5]).permutation(len(places))[:_MOST_GROUPS])
        places = [places[each] for each in which.tolist()]
        by_value, keys = counted.by_value([(place, of) for place, _, of in places])
        names = [f"{area.systems[place].name}, {area.areas[of].name}" for place, _, of in places]
        people = np.array([area.areas[of].people for _, _, of in places], dtype=np.int64)
        return cls(SplitGroups(names, by_value, keys, people, counted.ordered_values), places)

    def under_one_budget(self, publication: Publication) -> Mapping[int, float]:
        """The share of exact totals where one budget pays for all questions, so that asking again gives nothing."""
        tables = [(publication.tables[place], number) for place, number, _ in self.places]
        numbers = np.array([table.numbers.filled(0)[number] for table, number in tables], dtype=np.int64)
        hidden = np.array([not table.is_shown[number] for table, number in tables], dtype=np.bool_)
        return averaging_under_one_budget(PublishedTables.of(numbers, hidden), self.groups.by_value.sum(axis=1))
