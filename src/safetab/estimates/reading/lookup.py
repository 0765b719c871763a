"""From what people write to the geographic entities and the race or ethnicity groups of a release.

The one resolver of names of the command line and Python. docs/names.md has the rules. A site's page
(site/page/search) follows them step by step with the words that `names` has, and a
test holds both to the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import NamedTuple

from safetab.census.area_levels import AreaLevel
from safetab.census.groups import CharacteristicIteration, GroupKind
from safetab.dialects.bureau.us_census import (
    AIANNH,
    COUNTY,
    ETHNICITY_KIND,
    MAJOR,
    NATION,
    PLACE,
    RACE_ALONE,
    RACE_IN_COMBINATION,
    STATE,
    TRACT,
    US,
)
from safetab.estimates.reading import names as spelling
from safetab.estimates.reading.names import NATION_NAMES, Forms, NameIndex, plain
from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.products.product import TableFamily
from safetab.release.release_universe import Universe

_MOST_CANDIDATES = 10
_KIND_WORDS = {
    "alone": RACE_ALONE,
    "combination": RACE_IN_COMBINATION,
    "in combination": RACE_IN_COMBINATION,
    "in any combination": RACE_IN_COMBINATION,
    "ethnicity": ETHNICITY_KIND,
} | {kind.name: kind for kind in US.group_kinds}
LEVEL_WORDS = ("nation", "state", "county", "tract", "place", "aiannh")
_WORDS_OF_KIND = {
    NATION: (*NATION_NAMES, "nations"),
    STATE: ("state", "states"),
    COUNTY: ("county", "counties", "municipio", "municipios", "parish", "parishes"),
    TRACT: ("tract", "tracts", "census tract", "census tracts"),
    PLACE: ("place", "places"),
    AIANNH: ("aiannh", "aiannh area", "aiannh areas", "tribal area", "tribal areas"),
}
_KIND_OF_WORD = {word: kind for kind, words in _WORDS_OF_KIND.items() for word in words}
WORDS_FOR_MANY_AREAS = tuple(word for word, kind in _KIND_OF_WORD.items() if kind != NATION)
"""Words that name a level and no area, such as county; the nation is an area."""
_STATE_DIGITS = STATE.id_digits
_MOST_STATE_WORDS = 3
_ID_AT_END = re.compile(r"\((?:[A-Za-z ]+ )?(\d+)\)\s*$")
TRACTS_AS_WRITTEN = (
    'Tracts are written with commas, e.g. "Tract 1.01, Providence County, RI", or by an id of 11 digits.'
)


class Entity(NamedTuple):
    """A geographic entity of a release."""

    geography: AreaLevel
    region_id: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.geography.kind.noun} {self.region_id})"


class Lookup:
    """Finds entities and groups by name. Unknown and ambiguous names are refused, with candidates."""

    def __init__(self, universe: Universe, where: str) -> None:
        self._universe = universe
        self._where = where
        self._index = cache(self._index_of_level)
        self._positions_of_ids = cache(self._positions_of_level)

    def geographies_of(self, level: str | None) -> tuple[AreaLevel, ...]:
        """The levels that a word such as county means, including those of Puerto Rico."""
        known = tuple(self._universe.entities)
        if level is None:
            return known
        word = plain(level)
        kind = _KIND_OF_WORD.get(word)
        found = [one for one in known if one.kind == kind or plain(one.label) == word]
        if not found:
            near = spelling.nearest(word, {one: [one] for one in LEVEL_WORDS})
            hint = f"Did you mean {near[0]}?" if near else f"Say one of {', '.join(LEVEL_WORDS)}."
            raise self.refusal("level", f'"{level}" is not a level of this release. {hint}')
        return tuple(found)

    def is_level(self, word: str) -> bool:
        """Whether the word names a level with many areas, such as county. The nation is an area."""
        return plain(word) in WORDS_FOR_MANY_AREAS

    def entity(self, wanted: str | Entity, level: str | None = None) -> Entity:
        """The entity with this id or name. Raises InvalidInput unless there is exactly one."""
        if isinstance(wanted, Entity):
            return wanted
        levels = self.geographies_of(level)
        coarse = [one for one in levels if one.kind != TRACT]
        fine = [one for one in levels if one.kind == TRACT]
        found = self._by_id(wanted, levels) or self._by_name(wanted, coarse) or self._by_name(wanted, fine)
        if len(found) == 1:
            return found[0]
        if found:
            exact = ", or the level" if len({one.geography.kind for one in found}) > 1 else ""
            hint = f"Give an id, or the whole name{exact}."
            raise self._ambiguous("geography", wanted, [str(one) for one in found], hint)
        if self.is_level(wanted):
            raise self.refusal("geography", f'"{wanted}" is a level, not an area. Name one area, or give its id.')
        forms = spelling.short_forms(plain(wanted), TRACT)
        if fine and any(re.match("tract [0-9]", form) for form in forms):
            raise self.refusal("geography", f'"{wanted}" is not in this release. {TRACTS_AS_WRITTEN}')
        raise self._missing("geography", wanted, self._suggested_areas(wanted, coarse or fine))

    def entities(self, geographies: Sequence[AreaLevel]) -> list[Entity]:
        """All entities of some levels, in the order of the release."""
        sizes = [(geography, len(self._universe.entities[geography].ids)) for geography in geographies]
        return [self._entity(geography, position) for geography, size in sizes for position in range(size)]

    def group(
        self, wanted: str | CharacteristicIteration, kind: str | None = None, at: AreaLevel | None = None
    ) -> CharacteristicIteration:
        """The group with this code or name, preferring those tabulated `at` a level.

        Raises InvalidInput unless there is exactly one.
        """
        if isinstance(wanted, CharacteristicIteration):
            return wanted
        named = self.groups(wanted)
        found = [one for one in named if kind is None or one.kind == self.kind(kind)]
        if at is not None and len(found) > 1:
            found = [one for one in found if one.is_tabulated(at.kind)] or found
        if len(found) == 1:
            return found[0]
        if found:
            kinds = len({one.kind for one in found}) > 1
            hint = "Give a code, the whole name" + (", or the kind: alone, combination or ethnicity." if kinds else ".")
            raise self._ambiguous("group", wanted, [f"{one.name} ({one.code})" for one in found], hint)
        there = [f"{one.name} ({one.kind.name})" for one in named]
        raise self.refusal("group", f'"{wanted}" is not there as {kind}. There is: {shortened(there)}.')

    def groups(self, wanted: str) -> list[CharacteristicIteration]:
        """All groups that a name means, such as alone and in combination. Raises InvalidInput if none.

        Groups are found by code, else by the best match; a major group only if nothing else matches.
        """
        iterations = self._universe.lists.iterations
        at_end = _ID_AT_END.search(wanted)
        codes = {wanted.strip(), at_end.group(1) if at_end else ""}
        by_code = [one for one in iterations if one.code in codes]
        if by_code:
            return by_code
        ranked = self._groups.ranked(plain(wanted))
        if not ranked:
            near = spelling.suggestions(plain(wanted), [(self._groups, lambda position: iterations[position].name)])
            raise self._missing("group", wanted, near)
        best = min(rank for rank, _ in ranked)
        found = [iterations[position] for rank, position in ranked if rank == best]
        return [one for one in found if one.level != MAJOR] or found

    def family(self, word: str | None) -> TableFamily:
        """The table family with this name, or the first without a name."""
        families = self._universe.product.families
        if word is None:
            return families[0]
        found = [family for family in families if plain(family.name) == plain(word)]
        if not found:
            raise self.refusal("family", f'must be {" or ".join(one.name for one in families)}, not "{word}".')
        return found[0]

    def refusal(self, where: str, message: str) -> InvalidInput:
        """The error to raise: `where` is the argument that is wrong."""
        return InvalidInput([Finding(Severity.ERROR, self._where, where, message)])

    def _by_id(self, wanted: str, levels: Iterable[AreaLevel]) -> list[Entity]:
        """Entities with this id. Ids of different levels differ in length; listed choices end with the id."""
        at_end = _ID_AT_END.search(wanted)
        region = (at_end.group(1) if at_end else wanted).strip()
        for level in levels:
            position = self._positions_of_ids(level).get(region)
            if position is not None:
                return [self._entity(level, position)]
        return []

    def _by_name(self, wanted: str, levels: Sequence[AreaLevel]) -> list[Entity]:
        """The best matches in some levels, for the first way to read the name that has any."""
        for head, around in _readings(wanted):
            ranked = []
            for level in levels:
                ranked += [(rank, self._entity(level, at)) for rank, at in self._index(level).ranked(head)]
            fitting = [(rank, one) for rank, one in ranked if not around or self._around(one).issuperset(around)]
            if fitting:
                best = min(rank for rank, _ in fitting)
                return list(dict.fromkeys(one for rank, one in fitting if rank == best))
        return []

    def _around(self, entity: Entity) -> set[str]:
        """What may be written after an entity's name: its states, and the county of a tract."""
        kind, parts = entity.geography.kind, spelling.parts_of(entity.name)
        ending = parts[-1] if len(parts) > 1 else ""
        own_state = () if kind.crosses_states else (entity.region_id[:_STATE_DIGITS],)
        codes = spelling.states_in(ending).union(own_state)
        found = {ending}.union(*map(spelling.state_forms, codes))
        for county in spelling.without_state(parts)[1:] if kind == TRACT else ():
            found |= {county, *spelling.short_forms(county, COUNTY)}
        return found

    def _entity(self, level: AreaLevel, position: int) -> Entity:
        entities = self._universe.entities[level]
        return Entity(level, entities.region_ids[position], entities.names[position])

    def _positions_of_level(self, level: AreaLevel) -> dict[str, int]:
        return {region_id: position for position, region_id in enumerate(self._universe.entities[level].region_ids)}

    def _index_of_level(self, level: AreaLevel) -> NameIndex:
        return NameIndex(self._universe.entities[level].names, partial(self._forms_of_area, level))

    def _forms_of_area(self, level: AreaLevel, position: int) -> Forms:
        entities, kind = self._universe.entities[level], level.kind
        wholes, shorts = spelling.heads_of_area(entities.names[position], kind)
        wholes.extend(NATION_NAMES if kind == NATION else ())
        wholes.extend(sorted(spelling.state_forms(entities.region_ids[position])) if kind == STATE else ())
        return wholes, shorts

    @cached_property
    def _groups(self) -> NameIndex:
        iterations = self._universe.lists.iterations
        names = [one.name for one in iterations]
        return NameIndex(names, lambda at: spelling.forms_of_group(names[at], iterations[at].kind))

    def _suggested_areas(self, wanted: str, levels: Sequence[AreaLevel]) -> list[str]:
        """Suggestions in the state written after the name, else for the first part of the name."""
        parts = _with_state_corrected(spelling.parts_of(wanted))
        head = " ".join(spelling.without_state(parts))
        states = spelling.states_in(parts[-1]) if len(parts) > 1 else frozenset()

        def name_of(level: AreaLevel, position: int) -> str | None:
            entity = self._entity(level, position)
            return entity.name if states & {spelling.STATE_OF_FORM.get(one) for one in self._around(entity)} else None

        in_states = [(self._index(level), partial(name_of, level)) for level in levels if states]
        near = spelling.suggestions(head, in_states)
        names = [(self._index(level), self._universe.entities[level].names.__getitem__) for level in levels]
        return near or spelling.suggestions(head, names) or spelling.suggestions("".join(parts[:1]), names)

    def kind(self, word: str) -> GroupKind:
        """The kind of group that a word means. Raises InvalidInput if it means none."""
        kind = _KIND_WORDS.get(plain(word))
        if kind is None:
            raise self.refusal("kind", f'"{word}" is not a kind of group. Say alone, combination or ethnicity.')
        return kind

    def _ambiguous(self, where: str, wanted: str, candidates: list[str], hint: str) -> InvalidInput:
        shown = "; ".join(candidates[:_MOST_CANDIDATES])
        more = len(candidates) - _MOST_CANDIDATES
        rest = f"; and {more:,} more" if more > 0 else ""
        return self.refusal(where, f'"{wanted}" could be {len(candidates):,}: {shown}{rest}. {hint}')

    def _missing(self, where: str, wanted: str, near: Sequence[str]) -> InvalidInput:
        choices = near[0] if len(near) == 1 else f"one of these: {'; '.join(near)}"
        hint = f" Did you mean {choices}?" if near else ""
        return self.refusal(where, f'"{wanted}" is not in this release.{hint}')


def _readings(wanted: str) -> Iterator[tuple[str, list[str]]]:
    """A name and the areas that contain it: split at each comma or, without one, before a final state."""
    parts = spelling.parts_of(wanted)
    for count in range(len(parts), 0, -1):
        yield " ".join(parts[:count]), parts[count:]
    words = " ".join(parts).split()
    for count in range(min(_MOST_STATE_WORDS, len(words) - 1), 0, -1):
        state = " ".join(words[-count:])
        if state in spelling.STATE_OF_FORM:
            yield " ".join(words[:-count]), [state]


def _with_state_corrected(parts: Sequence[str]) -> list[str]:
    """The parts with the last one replaced by the state that it resembles, if it is not a state."""
    if len(parts) < 2 or spelling.states_in(parts[-1]):
        return list(parts)
    near = spelling.nearest(parts[-1], {form: [form] for form in spelling.STATE_OF_FORM})
    return [*parts[:-1], *(near[:1] or parts[-1:])]
