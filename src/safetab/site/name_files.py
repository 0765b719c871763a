"""What areas and groups are called, and what follows from the public lists about groups that are absent."""

from __future__ import annotations

import numpy as np

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import TABULATED_ITERATION_LEVELS, CharacteristicIteration, IterationKind, IterationLevel
from safetab.estimates.reading.instead import groups_with_shared_codes, wider_groups
from safetab.release.release_universe import NotTabulated, Universe
from safetab.site.area_files import state_numbers
from safetab.site.cuts import begins, cuts
from safetab.site.data_files import DataFolder

_GROUPS_OF_A_FILE = 4000
REASONS = tuple(NotTabulated)
KINDS = tuple(IterationKind)


def write_area_names(data: DataFolder, geography: GeographyLevel, universe: Universe) -> list[list[object]]:
    """Writes ids and names, one after the other; gives back the position and the id with which each file begins."""
    entities = universe.entities[geography]
    pairs = [*zip(entities.region_ids, entities.names, strict=True)]
    if not pairs:
        return []
    sizes = np.array([len(one) + len(name.encode()) + 6 for one, name in pairs], dtype=np.int64)
    states = state_numbers(geography, universe, np.arange(len(pairs)))
    parts = cuts(sizes, [begins(states)]).tolist()
    for number, (first, end) in enumerate(zip(parts, [*parts[1:], len(pairs)], strict=True)):
        data.write(f"names/{geography.label}/{number}", [text for pair in pairs[first:end] for text in pair])
    return [[first, pairs[first][0]] for first in parts]


def write_group_names(data: DataFolder, universe: Universe) -> int:
    """Writes the groups in the order of the list; gives back how many files there are."""
    iterations = universe.lists.iterations
    position = {one.code: number for number, one in enumerate(iterations)}
    firsts = range(0, len(iterations), _GROUPS_OF_A_FILE)
    for number, first in enumerate(firsts):
        some = iterations[first : first + _GROUPS_OF_A_FILE]
        data.write(f"groups/{number}", [_group(one, universe, position) for one in some])
    return len(firsts)


def _group(group: CharacteristicIteration, universe: Universe, position: dict[str, int]) -> list[object]:
    """Code, name, level, kind; the wider group, or -1; groups with the same codes; where it is tabulated; its partner.

    The last two are given for nation and states, and below them. A partner holds everybody of a group alone.
    """
    wider = wider_groups(universe, group)[:1]
    others = [one for one in groups_with_shared_codes(universe, group) if one is not group]
    return [
        group.code,
        group.name,
        int(group.level),
        KINDS.index(group.kind),
        position[wider[0].code] if wider else -1,
        [position[one.code] for one in others],
        [int(group.is_tabulated(is_substate=is_substate)) for is_substate in (False, True)],
        [position.get(universe.partners[is_substate].get(group.code, ""), -1) for is_substate in (False, True)],
    ]


def reasons_of_geography(geography: GeographyLevel, universe: Universe) -> str:
    """For each group, in the order of the list, a digit: 0 if it is tabulated at the level, else 1 + its reason."""
    levels = {one: universe.level_of(geography, one) for one in TABULATED_ITERATION_LEVELS}
    digits = []
    for group in universe.lists.iterations:
        is_major = group.level is IterationLevel.MAJOR
        why = NotTabulated.MAJOR_GROUP if is_major else levels[group.level].why_not_tabulated(group)
        digits.append("0" if why is None else str(1 + REASONS.index(why)))
    return "".join(digits)
