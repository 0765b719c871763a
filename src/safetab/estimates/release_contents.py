"""What a release is and has: its areas and groups, to look up, to list and to search."""

from __future__ import annotations

from safetab.census.geography_levels import EntityKind
from safetab.census.iterations import CharacteristicIteration
from safetab.estimates.listings import Areas, Found, Groups, found_in
from safetab.estimates.reading.lookup import Entity, Lookup
from safetab.estimates.statuses import Statuses, statuses_of
from safetab.foundation.argument_types import checks_arguments
from safetab.privacy.output_status import OutputStatus
from safetab.products.product import Product
from safetab.release.group_status import Slice
from safetab.release.release_folder import ReleaseFolder

Geographic = str | Entity
Grouped = str | CharacteristicIteration


class ReleaseContents:
    """The areas and groups of a release, whether they have numbers or not."""

    def __init__(self, folder: ReleaseFolder) -> None:
        self._folder = folder
        self._universe = folder.universe
        self._lookup = Lookup(folder.universe, str(folder.path))

    def __repr__(self) -> str:
        levels = ", ".join(f"{len(ids.ids):,} {level.label}" for level, ids in self._universe.entities.items())
        facts = self._folder.facts
        return f"release of {facts.date} ({facts.status.value}) in {self._folder.path}: {levels}"

    @property
    def product(self) -> Product:
        """What was counted, and in which tables."""
        return self._universe.product

    @property
    def output_status(self) -> OutputStatus:
        """Whether the numbers are of real people and may leave the agency; its `sentence` says it in words."""
        return self._folder.facts.status

    @checks_arguments
    def geography(self, name: Geographic, level: str | None = None) -> Entity:
        """The one area of this name or id.

        Args:
            name: What the area is called, its id, or an area that another question gave.
            level: nation, state, county, tract, place or aiannh, if the name fits several.
        """
        return self._lookup.entity(name, level)

    @checks_arguments
    def group(self, name: Grouped, kind: str | None = None) -> CharacteristicIteration:
        """The characteristic iteration: the one race or ethnicity group of this name or code, wherever people live.

        Args:
            name: What the group is called, its code, or a group that another question gave.
            kind: alone, combination or ethnicity, if the name fits several.
        """
        return self._lookup.group(name, kind)

    @checks_arguments
    def areas(self, level: str | None = None, *, within: Geographic | None = None) -> Areas:
        """The areas of a level, or all areas of the release.

        Args:
            level: nation, state, county, tract, place or aiannh; all if left out.
            within: A state, or a county if the level is tract: the areas in it alone.
        """
        entities = self._lookup.entities(self._lookup.geographies_of(level))
        return Areas(tuple(entities if within is None else self._inside(entities, self.geography(within))))

    @checks_arguments
    def groups(self, kind: str | None = None, *, level: str | None = None) -> Groups:
        """The race and ethnicity groups of the release.

        Args:
            kind: alone, combination or ethnicity; all if left out.
            level: A level of areas: the groups that are tabulated there alone.
        """
        wanted = None if kind is None else self._lookup.kind(kind)
        where = None if level is None else self._lookup.geographies_of(level)[0]
        return Groups(
            tuple(
                one
                for one in self._universe.lists.iterations
                if (wanted is None or one.kind is wanted)
                and (where is None or one.is_tabulated(is_substate=where.is_substate))
            )
        )

    @checks_arguments
    def find(self, text: str) -> Found:
        """The areas and groups whose names have words that begin with those of the text, and those of this id.

        Args:
            text: Some words or beginnings of words, in any order, or an id; accents and case don't matter.
        """
        return found_in(text, self.areas(), self.groups())

    @checks_arguments
    def status(
        self,
        *,
        geography: Geographic | None = None,
        group: Grouped | None = None,
        level: str | None = None,
        kind: str | None = None,
    ) -> Statuses:
        """For each group of a part of the release why its number is there, or absent.

        Args:
            geography: The area; all if left out.
            group: The race or ethnicity group; all if left out.
            level: The level of areas; all if left out.
            kind: alone, combination or ethnicity, if the name of the group fits several.
        """
        entity = None if geography is None else self._lookup.entity(geography, level)
        levels = self._lookup.geographies_of(level) if entity is None else (entity.geography,)
        at = levels[0] if len(levels) == 1 else None
        groups = self.groups(kind) if group is None else (self._lookup.group(group, kind, at=at),)
        codes = () if group is None and kind is None else tuple(one.code for one in groups)
        regions = () if entity is None else (entity.region_id,)
        return statuses_of(self._folder, Slice(tuple(one.label for one in levels), regions, codes))

    def _inside(self, entities: list[Entity], around: Entity) -> list[Entity]:
        """By their ids: those of areas that nest in another begin with its id, but for the nation."""
        kind = around.geography.entity_kind
        if kind is EntityKind.NATION or any(kind not in entity.geography.entity_kind.around for entity in entities):
            raise self._lookup.refusal(
                "within", "give a state, or a county if the level is tract: other areas don't nest."
            )
        found = [entity for entity in entities if entity.region_id.startswith(around.region_id)]
        if not found:
            raise self._lookup.refusal("within", f"{around.name} has no areas of this level.")
        return found
