"""Who is counted twice in a sum: overlapping groups, overlapping areas, one number added twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationKind
from safetab.estimates.estimate import Counted
from safetab.estimates.linear_form import LinearForm
from safetab.release.release_universe import Universe


def overlap_notes(universe: Universe, counted: Sequence[Counted], form: LinearForm) -> tuple[str, ...]:
    """A sentence for each way in which people may be counted more than once."""
    notes: list[str] = []
    if form.counts_something_twice:
        notes.append(
            "a measurement is in this sum more than once (the same number twice, or a copy and its donor): its people"
            " are counted more than once"
        )
    regions: dict[CharacteristicIteration, dict[GeographyLevel, set[str]]] = defaultdict(lambda: defaultdict(set))
    for one in counted:
        regions[one.group][one.entity.geography].add(one.entity.region_id)
    notes += _overlapping_groups(universe, regions)
    areas: dict[GeographyLevel, set[str]] = defaultdict(set)
    for of_group in regions.values():
        for level, ids in of_group.items():
            areas[level] |= ids
    for a, b in combinations(sorted(areas, key=lambda level: level.label), 2):
        if areas_overlap(a, areas[a], b, areas[b]):
            notes.append(
                f"{a.entity_kind.noun} and {b.entity_kind.noun} areas may overlap: people in both are counted more"
                " than once"
            )
    return tuple(notes)


def _overlapping_groups(
    universe: Universe, regions: dict[CharacteristicIteration, dict[GeographyLevel, set[str]]]
) -> list[str]:
    pairs = [
        (a, b)
        for a, b in combinations(regions, 2)
        if groups_overlap(universe, a, b) and _share_an_area(regions[a], regions[b])
    ]
    if not pairs:
        return []
    a, b = pairs[0]
    more = f" (and {len(pairs) - 1:,} more pairs)" if len(pairs) > 1 else ""
    return [f"{a.name} and {b.name} overlap{more}: people in both are counted more than once"]


def groups_overlap(universe: Universe, a: CharacteristicIteration, b: CharacteristicIteration) -> bool:
    """Whether a person can be in both groups."""
    codes = universe.lists.codes_of_iteration
    share_codes = bool(codes.get(a.code, frozenset()) & codes.get(b.code, frozenset()))
    ethnicities = [one.kind is IterationKind.ETHNICITY for one in (a, b)]
    if any(ethnicities):
        return share_codes or not all(ethnicities)
    kinds = {a.kind, b.kind}
    if kinds == {IterationKind.RACE_ALONE}:
        return share_codes
    return kinds == {IterationKind.RACE_IN_COMBINATION} or share_codes


def _share_an_area(a: dict[GeographyLevel, set[str]], b: dict[GeographyLevel, set[str]]) -> bool:
    return any(
        areas_overlap(one, ids, other, other_ids) if one is not other else bool(ids & other_ids)
        for one, ids in a.items()
        for other, other_ids in b.items()
    )


def areas_overlap(a: GeographyLevel, a_ids: set[str], b: GeographyLevel, b_ids: set[str]) -> bool:
    """Whether entities of two levels may share people, as far as their ids tell."""
    if a.tabulation_pass is not b.tabulation_pass:
        return False
    kind, other = a.entity_kind, b.entity_kind
    if kind.crosses_states or other.crosses_states:
        return True
    digits = next(one for one in (kind, *kind.around) if one in (other, *other.around)).id_digits
    return bool({one[:digits] for one in a_ids} & {one[:digits] for one in b_ids})
