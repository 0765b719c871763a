"""From what people write to the geographic entities and the race or ethnicity groups of a release."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from safetab.census.geography_levels import EntityKind, GeographyLevel
from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel
from safetab.estimates.reading.names import NameIndex, nearest, plain
from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.products.product import TableFamily
from safetab.release.release_universe import Universe

_MOST_CANDIDATES = 10
_KIND_SUFFIXES = (" alone or in any combination", " alone")
_KIND_WORDS = {
    "alone": IterationKind.RACE_ALONE,
    "combination": IterationKind.RACE_IN_COMBINATION,
    "in combination": IterationKind.RACE_IN_COMBINATION,
    "ethnicity": IterationKind.ETHNICITY,
} | {kind.value: kind for kind in IterationKind}
LEVEL_WORDS = ("nation", "state", "county", "tract", "place", "aiannh")


class Entity(NamedTuple):
    """A geographic entity of a release."""

    geography: GeographyLevel
    region_id: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.geography.entity_kind.noun} {self.region_id})"


class Lookup:
    """Finds entities and groups of a universe; what is not found or not unique is refused, with candidates."""

    def __init__(self, universe: Universe, where: str) -> None:
        self._universe = universe
        self._where = where
        self._indices: dict[GeographyLevel, NameIndex] = {}

    def geographies_of(self, level: str | None) -> tuple[GeographyLevel, ...]:
        """The levels that a word such as county means; it means those of Puerto Rico too."""
        known = tuple(self._universe.entities)
        if level is None:
            return known
        word = plain(level).replace("_", "-")
        found = [one for one in known if one.entity_kind.name.casefold() == word]
        found = found or [one for one in known if one.label.casefold() == word]
        if not found:
            raise self.refusal("level", f'"{level}" is no level of this release. Say one of {", ".join(LEVEL_WORDS)}.')
        return tuple(found)

    def entity(self, wanted: str | Entity, level: str | None = None) -> Entity:
        """The one entity with this id, name or part of a name."""
        if isinstance(wanted, Entity):
            return wanted
        levels = self.geographies_of(level)
        coarse = [one for one in levels if one.entity_kind is not EntityKind.TRACT]
        fine = [one for one in levels if one.entity_kind is EntityKind.TRACT]
        found = self._entities(wanted, coarse) or self._entities(wanted, fine)
        if len(found) == 1:
            return found[0]
        if found:
            exact = ", or the level" if len({one.geography for one in found}) > 1 else ""
            raise self._ambiguous(
                "geography", wanted, [str(one) for one in found], f"Give an id, or the whole name{exact}."
            )
        raise self._missing("geography", wanted, [self._index(one) for one in coarse or fine])

    def entities(self, geographies: Sequence[GeographyLevel]) -> list[Entity]:
        return [entity for geography in geographies for entity in self._all(geography)]

    def group(
        self,
        wanted: str | CharacteristicIteration,
        kind: str | None = None,
        at: GeographyLevel | None = None,
    ) -> CharacteristicIteration:
        """The one group with this code, name or part of a name; of several the one that is tabulated `at` a level."""
        if isinstance(wanted, CharacteristicIteration):
            return wanted
        iterations = self._universe.lists.iterations
        rank, positions = self._groups.find(wanted)
        found = [iterations[position] for position in positions]
        if kind is not None:
            found = [one for one in found if one.kind is self.kind(kind)]
        if rank:
            found = [one for one in found if one.level is not IterationLevel.MAJOR] or found
        if at is not None and len(found) > 1:
            found = [one for one in found if one.is_tabulated(is_substate=at.is_substate)] or found
        if len(found) == 1:
            return found[0]
        if found:
            kinds = len({one.kind for one in found}) > 1
            hint = "Give a code, the whole name" + (", or the kind: alone, combination or ethnicity." if kinds else ".")
            raise self._ambiguous("group", wanted, [f"{one.name} ({one.code})" for one in found], hint)
        if positions:
            there = [f"{iterations[position].name} ({iterations[position].kind.value})" for position in positions]
            raise self.refusal("group", f'"{wanted}" is not there as {kind}. There is: {shortened(there)}.')
        raise self._missing("group", wanted, [self._groups])

    def family(self, word: str | None) -> TableFamily:
        """The table family of this name; the first if none is named."""
        families = self._universe.product.families
        if word is None:
            return families[0]
        for family in families:
            if plain(family.name) == plain(word):
                return family
        raise self.refusal("family", f'"{word}" is none. Say {" or ".join(one.name for one in families)}.')

    def refusal(self, where: str, message: str) -> InvalidInput:
        """What to raise: the release is the file, `where` the argument that is at fault."""
        return InvalidInput([Finding(Severity.ERROR, self._where, where, message)])

    def _entities(self, wanted: str, levels: Sequence[GeographyLevel]) -> list[Entity]:
        """The best matches over some levels."""
        by_rank: dict[int, list[Entity]] = {}
        for level in levels:
            rank, positions = self._index(level).find(wanted)
            if positions:
                entities = self._universe.entities[level]
                by_rank.setdefault(rank, []).extend(
                    Entity(level, entities.region_ids[position], entities.names[position]) for position in positions
                )
        return by_rank[min(by_rank)] if by_rank else []

    def _all(self, level: GeographyLevel) -> list[Entity]:
        entities = self._universe.entities[level]
        return [Entity(level, *pair) for pair in zip(entities.region_ids, entities.names, strict=True)]

    def _index(self, level: GeographyLevel) -> NameIndex:
        if level not in self._indices:
            entities = self._universe.entities[level]
            self._indices[level] = NameIndex(
                entities.region_ids, entities.names, lambda name: name.split(",", 1)[0].strip()
            )
        return self._indices[level]

    @cached_property
    def _groups(self) -> NameIndex:
        iterations = self._universe.lists.iterations
        return NameIndex([one.code for one in iterations], [one.name for one in iterations], _without_kind)

    def kind(self, word: str) -> IterationKind:
        kind = _KIND_WORDS.get(plain(word))
        if kind is None:
            raise self.refusal("kind", f'"{word}" is no kind of group. Say alone, combination or ethnicity.')
        return kind

    def _ambiguous(self, where: str, wanted: str, candidates: list[str], hint: str) -> InvalidInput:
        shown = "; ".join(candidates[:_MOST_CANDIDATES])
        more = len(candidates) - _MOST_CANDIDATES
        rest = f"; and {more:,} more" if more > 0 else ""
        return self.refusal(where, f'"{wanted}" could be {len(candidates):,}: {shown}{rest}. {hint}')

    def _missing(self, where: str, wanted: str, indices: Sequence[NameIndex]) -> InvalidInput:
        near = nearest(wanted, [name for index in indices for name in index.similar(wanted)])
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return self.refusal(where, f'"{wanted}" is not in this release.{hint}')


def _without_kind(name: str) -> str:
    for suffix in _KIND_SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name
