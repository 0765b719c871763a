"""Groups and areas that share people: notes on sums, and wider groups to use instead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, product

from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.groups import CharacteristicIteration, Members
from safetab.release.estimates.noise import LinearForm
from safetab.release.estimates.noisy_number import Counted
from safetab.release.files.release_universe import Universe

_Regions = dict[AreaLevel, set[str]]
_RegionsOfLevel = tuple[AreaLevel, set[str]]


def overlap_notes(universe: Universe, counted: Sequence[Counted], form: LinearForm) -> list[str]:
    """A sentence for each way in which people may be counted more than once."""
    notes: list[str] = []
    if any(weight > 1 for weights in form.weights.values() for weight in weights):
        notes.append(
            "a measurement is in this sum more than once (the same number twice, or a copy and its"
            " donor): its people are counted more than once"
        )
    regions: dict[CharacteristicIteration, _Regions] = defaultdict(lambda: defaultdict(set))
    for one in counted:
        regions[one.group][one.entity.geography].add(one.entity.region_id)
    notes += _overlapping_groups(universe, regions)
    areas: _Regions = defaultdict(set)
    for of_group in regions.values():
        for level, ids in of_group.items():
            areas[level] |= ids
    for a, b in combinations(sorted(areas, key=lambda level: level.label), 2):
        if areas_overlap(universe, (a, areas[a]), (b, areas[b])):
            kinds = f"{a.kind.noun} and {b.kind.noun}"
            notes.append(f"{kinds} areas may overlap: people in both are counted more than once")
    return notes


def _overlapping_groups(
    universe: Universe, regions: dict[CharacteristicIteration, _Regions]
) -> list[str]:
    overlapping = [(a, b) for a, b in combinations(regions, 2) if groups_overlap(universe, a, b)]
    pairs = [(a, b) for a, b in overlapping if _share_an_area(universe, regions[a], regions[b])]
    if not pairs:
        return []
    a, b = pairs[0]
    more = f" (and {len(pairs) - 1:,} more pairs)" if len(pairs) > 1 else ""
    return [f"{a.name} and {b.name} overlap{more}: people in both are counted more than once"]


def groups_overlap(
    universe: Universe, a: CharacteristicIteration, b: CharacteristicIteration
) -> bool:
    """Whether a person can be in both groups."""
    codes = universe.lists.codes_of_iteration
    share_codes = bool(codes.get(a.code, frozenset()) & codes.get(b.code, frozenset()))
    classification = a.kind.classification
    if share_codes or b.kind.classification != classification:
        return True
    return {a.kind.members, b.kind.members} == {Members.ANY} and not classification.has_one_answer


def _share_an_area(universe: Universe, a: _Regions, b: _Regions) -> bool:
    return any(areas_overlap(universe, one, other) for one, other in product(a.items(), b.items()))


def areas_overlap(universe: Universe, a: _RegionsOfLevel, b: _RegionsOfLevel) -> bool:
    """Whether areas of two levels may share people.

    The smallest kind of area that is around both decides.
    """
    (level, ids), (other, other_ids) = a, b
    if level == other:
        return bool(ids & other_ids)
    if level.tabulation_pass != other.tabulation_pass:
        return False
    kinds = (
        kind
        for kind in (level.kind, *level.kind.around)
        if kind in (other.kind, *other.kind.around)
    )
    kind = next(kinds, None)
    if kind is None or kind.is_whole:
        return True
    around = {universe.id_around(level, one, kind) for one in ids}
    around_other = {universe.id_around(other, one, kind) for one in other_ids}
    # None: the release doesn't say.
    return None in around | around_other or bool(around & around_other)


def wider_groups(
    universe: Universe, group: CharacteristicIteration
) -> list[CharacteristicIteration]:
    """Groups of the next coarser tabulated level that hold all of the group's codes.

    They are of the same kind.
    """
    codes = universe.lists.codes_of_iteration
    own = codes.get(group.code, frozenset())
    levels = [
        coarser
        for coarser, finer in universe.census.finer_group_level.items()
        if finer == group.level
    ]
    if not levels or not own:
        return []
    coarser = [one for one in universe.lists.iterations if one.level == levels[0]]
    return [
        one for one in coarser if one.kind == group.kind and own <= codes.get(one.code, frozenset())
    ]


def groups_with_shared_codes(
    universe: Universe, group: CharacteristicIteration
) -> list[CharacteristicIteration]:
    """Groups of the same kind, as fine or finer, that share codes with this one.

    They may be tabulated where it is not.
    """
    codes = universe.lists.codes_of_iteration
    own = codes.get(group.code, frozenset())
    same_kind = [one for one in universe.lists.iterations if one.kind == group.kind]
    finer = [
        one
        for one in same_kind
        if one.level.is_tabulated and one.level.number >= group.level.number
    ]
    return [one for one in finer if not own.isdisjoint(codes.get(one.code, frozenset()))]
