"""What to use where a number is absent: the area around, or the wider group."""

from __future__ import annotations

from dataclasses import replace

from safetab.census.geography import NATION_ID
from safetab.census.geography_levels import GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationLevel
from safetab.estimates.estimate import Estimate
from safetab.estimates.reading.absence import Absence
from safetab.estimates.reading.group_numbers import GroupNumbers
from safetab.estimates.reading.lookup import Entity
from safetab.foundation.findings import shortened
from safetab.release.group_status import NOT_TABULATED
from safetab.release.release_universe import Universe


def instead_of(absence: Absence, universe: Universe, numbers: GroupNumbers) -> Absence:
    """The absence with the nearest numbers that are there: the group in an area around, a wider group in this area."""
    entity, group = absence.entity, absence.group
    around = (numbers.total(area, group) for area in _areas_around(universe, entity))
    nearest = next((answer for answer in around if isinstance(answer, Estimate)), None)
    wider = [numbers.total(entity, one) for one in wider_groups(universe, group)]
    found = [nearest, *wider[:1]]
    return replace(
        absence,
        instead=tuple(one for one in found if isinstance(one, Estimate)),
        hint=_hint(universe, entity.geography, group) if absence.status == NOT_TABULATED else None,
    )


def _areas_around(universe: Universe, entity: Entity) -> list[Entity]:
    areas = []
    for kind in entity.geography.entity_kind.around:
        region_id = str(NATION_ID) if kind.crosses_states else entity.region_id[: kind.id_digits]
        for level, entities in universe.entities.items():
            is_kind = level.entity_kind is kind and level.tabulation_pass is entity.geography.tabulation_pass
            if is_kind and region_id in entities.region_ids:
                position = entities.region_ids.index(region_id)
                areas.append(Entity(level, region_id, entities.names[position]))
    return areas


def wider_groups(universe: Universe, group: CharacteristicIteration) -> list[CharacteristicIteration]:
    """Regional groups of the same kind that hold all of the group's codes."""
    codes = universe.lists.codes_of_iteration
    own = codes.get(group.code, frozenset())
    if group.level is not IterationLevel.DETAILED or not own:
        return []
    return [
        one
        for one in universe.lists.iterations
        if one.kind is group.kind and one.level is IterationLevel.REGIONAL and own <= codes.get(one.code, frozenset())
    ]


def groups_with_shared_codes(universe: Universe, group: CharacteristicIteration) -> list[CharacteristicIteration]:
    """Groups of the same kind, as fine or finer, that share codes with one: they may be tabulated where it is not."""
    codes = universe.lists.codes_of_iteration
    own = codes.get(group.code, frozenset())
    return [
        one
        for one in universe.lists.iterations
        if one.kind is group.kind
        and one.level is not IterationLevel.MAJOR
        and one.level >= group.level
        and not own.isdisjoint(codes.get(one.code, frozenset()))
    ]


def _hint(universe: Universe, geography: GeographyLevel, group: CharacteristicIteration) -> str | None:
    """Groups that are tabulated there and share codes with one that is not."""
    there = [
        one.name
        for one in groups_with_shared_codes(universe, group)
        if universe.level_of(geography, one.level).why_not_tabulated(one) is None
    ]
    nouns = universe.product.record.nouns
    return f"Its {nouns} are counted there in: {shortened(there, 4)}." if there else None
