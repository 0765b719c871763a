"""A release, opened for people who use its numbers: what it has, and answers to questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress, groupby
from operator import attrgetter
from pathlib import Path

import pyarrow as pa

from safetab.core.privacy.output_status import OutputStatus
from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.findings import shortened
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import capitalized
from safetab.model.census.groups import CharacteristicIteration
from safetab.model.products.product import Product
from safetab.release.estimates.estimate import Absence, Difference, Estimate, sum_of_estimates
from safetab.release.estimates.group_numbers import GroupNumbers
from safetab.release.estimates.overlaps import groups_with_shared_codes, wider_groups
from safetab.release.estimates.ratio import Ratio
from safetab.release.estimates.reading.lookup import Entity, Lookup, same_named, what_nests
from safetab.release.estimates.results import (
    Answer,
    Answers,
    Areas,
    Found,
    Groups,
    GroupTable,
    Statuses,
    found_in,
)
from safetab.release.files import group_statuses, release_folder
from safetab.release.files.release_universe import Universe

Geographic = str | Entity
Grouped = str | CharacteristicIteration
Addend = Answer | Answers | tuple[Geographic, Grouped]


def open_release(path: str | Path) -> Release:
    """Opens OUT of a run, or OUT/release. Raises `safetab.InvalidInput` if there isn't one."""
    return Release(release_folder.open_release_folder(Path(path)))


class Release:
    """Answers questions about a release.

    Areas and groups are given by name or by id, as docs/names.md says. What is not found or not
    unique raises an `InvalidInput` with candidates. A number that is absent comes back as an
    `Absence`, which says why and what to use instead; it is never taken for zero.

    Example:
        >>> release = safetab.open_release("OUT")  # doctest: +SKIP
        >>> release.areas("region")  # doctest: +SKIP
        >>> print(release.total("Northland", "Tongan"))  # doctest: +SKIP
        >>> print(release.table("Northland", "Tongan").count(hours=(1, 19)))  # doctest: +SKIP
    """

    def __init__(self, folder: release_folder.ReleaseFolder) -> None:
        self._folder = folder
        self._universe = folder.universe
        self._lookup = Lookup(folder.universe, str(folder.path))
        self._numbers = GroupNumbers(folder)

    def __reduce__(self) -> tuple[object, ...]:
        """A copy, in whatever process, opens the folder again."""
        return open_release, (self._numbers.release,)

    def __repr__(self) -> str:
        entities = self._universe.entities.items()
        levels = ", ".join(f"{len(of_level.names):,} {level.label}" for level, of_level in entities)
        facts = self._folder.facts
        return f"release of {facts.date} ({facts.status.value}) in {self._folder.path}: {levels}"

    @property
    def product(self) -> Product:
        """The product that was counted, with its tables."""
        return self._universe.product

    @property
    def is_specified(self) -> bool:
        """Whether a specification describes the census."""
        return self._universe.specification is not None

    @property
    def output_status(self) -> OutputStatus:
        """Whether the numbers may leave the agency. Its `sentence` says so in words."""
        return self._folder.facts.status

    @checks_arguments
    def area(self, name: Geographic, level: str | None = None) -> Entity:
        """The one area of this name or id.

        Args:
            name: What the area is called, its id, or an area that another question gave.
            level: The kind of area, such as county, if the name fits several.
        """
        return self._lookup.entity(name, level)

    @checks_arguments
    def is_level(self, word: str) -> bool:
        """Whether a word names a level with many areas, such as county, and no area.

        Args:
            word: What might be a level.
        """
        return self._lookup.is_level(word)

    @checks_arguments
    def group(
        self, name: Grouped, kind: str | None = None, groups: str | None = None
    ) -> CharacteristicIteration:
        """The one group of this name or code, in whatever area.

        Args:
            name: What the group is called, its code, or a group that another question gave.
            kind: Which answers define the group, if its name fits several, such as alone.
            groups: The level of groups, if the name fits several.
        """
        return self._lookup.group(
            name, kind, of=None if groups is None else self._lookup.group_level(groups)
        )

    @checks_arguments
    def areas(self, level: str | None = None, *, within: Geographic | None = None) -> Areas:
        """The areas of a level, or all areas of the release.

        Args:
            level: The kind of areas, such as county; all if left out.
            within: A larger area: those in it alone. Give the level too.
        """
        entities = self._lookup.entities(self._lookup.geographies_of(level))
        if within is None:
            return Areas(tuple(entities))
        around = self.area(within)
        inside = [
            one.name for one in self._universe.census.kinds if around.geography.kind in one.around
        ]
        if level is None and inside and not around.geography.kind.is_whole:
            raise self._lookup.refusal(
                "level", f"is needed with within=. Say one of {', '.join(inside)}."
            )
        return Areas(tuple(self._inside(entities, around)))

    @checks_arguments
    def groups(self, kind: str | None = None, *, level: str | None = None) -> Groups:
        """The groups of the release.

        Args:
            kind: Which answers define the groups, such as alone; all if left out.
            level: A level of areas: the groups that are tabulated there alone.
        """
        groups = self._universe.lists.iterations
        if kind is not None:
            wanted = self._lookup.kind(kind)
            groups = tuple(one for one in groups if one.kind == wanted)
        if level is not None:
            area_kind = self._lookup.geographies_of(level)[0].kind
            groups = tuple(one for one in groups if one.is_tabulated(area_kind))
        return Groups(groups)

    @checks_arguments
    def find(self, text: str) -> Found:
        """The areas and groups that a text finds by their names, or by their id.

        The names have words that begin with those of the text.

        Args:
            text: Some words or beginnings of words, in any order, or an id; accents and case don't
                matter.
        """
        found = found_in(text, self.areas(), self.groups())
        return (
            found
            if found.areas or found.groups
            else replace(found, hint=self._lookup.suggestions(text).strip())
        )

    @checks_arguments
    def status(
        self,
        *,
        area: Geographic | None = None,
        group: Grouped | None = None,
        level: str | None = None,
        kind: str | None = None,
    ) -> Statuses:
        """For each group of a part of the release why its number is there, or absent.

        Args:
            area: The area; all if left out.
            group: The group; all if left out.
            level: The level of areas; all if left out.
            kind: Which answers define the group, if its name fits several, such as alone.
        """
        entity = None if area is None else self._lookup.entity(area, level)
        levels = self._lookup.geographies_of(level) if entity is None else (entity.geography,)
        at = levels[0] if len(levels) == 1 else None
        groups = self.groups(kind) if group is None else (self._lookup.group(group, kind, at=at),)
        codes = () if group is None and kind is None else tuple(one.code for one in groups)
        regions = () if entity is None else (entity.region_id,)
        wanted = group_statuses.Slice(tuple(one.label for one in levels), regions, codes)
        schema = group_statuses.status_schema(self._universe.product)
        return Statuses(
            pa.Table.from_batches(group_statuses.statuses(self._folder, wanted), schema=schema)
        )

    def _inside(self, entities: list[Entity], around: Entity) -> list[Entity]:
        """The entities inside another."""
        kind = around.geography.kind
        if kind.is_whole or any(kind not in entity.geography.kind.around for entity in entities):
            raise self._lookup.refusal("within", what_nests(self._universe.census))
        position = self._universe.entities[around.geography].region_ids.index(around.region_id)
        of_level = groupby(entities, attrgetter("geography"))
        found: list[Entity] = []
        for level, in_order in of_level:
            is_inside = self._universe.parents(level, kind) == position
            is_of_pass = level.tabulation_pass == around.geography.tabulation_pass
            found += compress(in_order, is_inside) if is_of_pass else []
        if not found:
            raise self._lookup.refusal("within", f"{around.name} has no areas of this level.")
        return found

    @checks_arguments
    def total(
        self, area: Geographic, group: Grouped, *, level: str | None = None, kind: str | None = None
    ) -> Answer:
        """The number of records of a group in an area.

        Args:
            area: The area: its name or its id.
            group: The group: its name or its code.
            level: The level of the area, if its name fits several.
            kind: Which answers define the group, if its name fits several, such as alone.
        """
        entity, iteration = self._found(area, group, level, kind)
        answer = self._numbers.total(entity, iteration)
        note = self._note_on_name(group, iteration)
        if isinstance(answer, Estimate):
            return replace(answer, notes=answer.notes + note)
        return self._instead_of(answer, note)

    @checks_arguments
    def table(
        self,
        area: Geographic,
        group: Grouped,
        *,
        level: str | None = None,
        kind: str | None = None,
        family: str | None = None,
        adjusted: bool = False,
    ) -> GroupTable | Absence:
        """A group in the product's tables, as finely as the release has it.

        Args:
            area: The area: its name or its id.
            group: The group: its name or its code.
            level: The level of the area, if its name fits several.
            kind: Which answers define the group, if its name fits several, such as alone.
            family: Which of its tables, if the product has several: by the name of the family.
            adjusted: Gives the least-squares cells, labelled, with which the tables of all families
                have one total.
        """
        entity, iteration = self._found(area, group, level, kind)
        table = self._numbers.adjusted_table if adjusted else self._numbers.table
        answer = table(entity, iteration, self._lookup.family(family))
        if answer is None:
            raise self._lookup.refusal(
                "adjusted", "there is no second table of the group to agree with."
            )
        note = self._note_on_name(group, iteration)
        return (
            self._instead_of(answer, note)
            if isinstance(answer, Absence)
            else replace(answer, notes=note)
        )

    @checks_arguments
    def totals(
        self,
        *,
        group: Grouped | None = None,
        area: Geographic | None = None,
        level: str | None = None,
        kind: str | None = None,
        within: Geographic | None = None,
        groups: str | None = None,
    ) -> Answers:
        """Totals of one group in all areas of a level, or of all groups in one area.

        With a group, areas without a number are among the answers as absences; with an area,
        published groups alone.

        Args:
            group: The group; give the level too.
            area: The area, if no group is given.
            level: The kind of areas, such as county.
            kind: Which answers define the group, if its name fits several, such as alone.
            within: A larger area: those in it alone.
            groups: The level of groups; all if left out.
        """
        of = None if groups is None else self._lookup.group_level(groups)
        answers: list[Answer] = []
        if group is not None and area is None and level is not None:
            iteration = self._lookup.group(group, kind, self._lookup.geographies_of(level)[0], of)
            for _, areas in groupby(self.areas(level, within=within), attrgetter("geography")):
                answers += self._numbers.totals_of_group([*areas], iteration)
        elif area is not None and group is None:
            entity = self.area(area, level)
            chosen = {one.code: one for one in self.groups(kind)}
            for iterations in self._universe.census.tabulated_group_levels if of is None else (of,):
                answers += self._numbers.totals_of_area(entity, iterations, chosen)
        else:
            raise self._lookup.refusal("totals", "give group= and level=, or area= alone.")
        return Answers(tuple(answers), product=self._universe.product)

    @checks_arguments
    def sum(self, addends: Iterable[Addend], what: str | None = None) -> Estimate:
        """The sum of numbers, with its exact noise.

        Its interval considers which of them passed suppression. `notes` of the result say who is
        counted more than once and who is missing.

        Args:
            addends: Numbers, answers of `totals`, or pairs of an area and a group.
            what: What to call the sum.
        """
        answers = [answer for addend in addends for answer in self._answers(addend)]
        parts = [one for one in answers if isinstance(one, Estimate)]
        absences = [one for one in answers if isinstance(one, Absence)] + [
            one for part in parts for one in part.absent
        ]
        if not parts:
            why = [f"{one.what} ({one.status})" for one in absences] or ["no numbers were given"]
            raise self._lookup.refusal("sum", f"nothing to add up: {shortened(why, between='; ')}.")
        return sum_of_estimates(
            parts, what or f"the sum of {len(parts):,} numbers", tuple(absences)
        )

    @checks_arguments
    def differ(self, a: Answer, b: Answer) -> Difference:
        """The difference of two numbers, and whether they may be equal; shared noise cancels.

        Args:
            a: A number of this release.
            b: The number that is taken from it.
        """
        return Difference(self._present(a), self._present(b))

    @checks_arguments
    def ratio(self, a: Answer, b: Answer) -> Ratio:
        """A ratio or a share, with the interval of Fieller's method.

        The interval is a wider one where selection matters.

        Args:
            a: A number of this release.
            b: The number that it is divided by.
        """
        return Ratio(self._present(a), self._present(b))

    def _found(
        self, area: Geographic, group: Grouped, level: str | None, kind: str | None
    ) -> tuple[Entity, CharacteristicIteration]:
        entity = self._lookup.entity(area, level)

        def is_published(one: CharacteristicIteration) -> bool:
            return isinstance(self._numbers.total(entity, one), Estimate)

        return entity, self._lookup.group(group, kind, entity.geography, is_published=is_published)

    def _note_on_name(self, asked: Grouped, found: CharacteristicIteration) -> tuple[str, ...]:
        """A sentence if groups of other levels have the name that was asked for."""
        others = same_named(self._universe, found)
        if not others or not isinstance(asked, str) or self._lookup.groups_by_code(asked):
            return ()
        named = shortened([f"{one.code} ({one.level.name})" for one in others])
        return (f"this is {found.code} ({found.level.name}). Groups with the same name: {named}.",)

    def _instead_of(self, absence: Absence, notes: Sequence[str]) -> Absence:
        """The absence with the nearest published numbers, and notes in its hint."""
        found = _instead_of(absence, self._universe, self._numbers)
        hints = [*filter(None, [found.hint]), *map(capitalized, notes)]
        return replace(found, hint=" ".join(hints) or None)

    def _present(self, answer: Answer) -> Estimate:
        """The number. Raises InvalidInput if it is absent or of another release."""
        if isinstance(answer, Absence):
            raise self._lookup.refusal(
                answer.what, f"has no number ({answer.status}). {answer.reason}"
            )
        if any(measured.release != self._numbers.release for measured in answer.form.weights):
            raise self._lookup.refusal(
                answer.what, "is of another release. Ask this one for all numbers."
            )
        return answer

    def _answers(self, addend: Addend) -> Iterable[Answer]:
        """The answers that an addend stands for. Raises InvalidInput if not of this release."""
        if isinstance(addend, Answers | Estimate | Absence):
            answers = addend if isinstance(addend, Answers) else [addend]
            return [one if isinstance(one, Absence) else self._present(one) for one in answers]
        if not isinstance(addend, tuple) or len(addend) != 2:
            raise self._lookup.refusal(
                "sum", "give numbers, answers of totals(), or pairs (area, group)."
            )
        entity, iteration = self._found(*addend, None, None)
        return [self._numbers.total(entity, iteration)]


def _instead_of(absence: Absence, universe: Universe, numbers: GroupNumbers) -> Absence:
    """The absence with the nearest published numbers.

    They are the group in the nearest larger area, and a wider group in the same area.
    """
    entity, group = absence.entity, absence.group
    around = (numbers.total(area, group) for area in _areas_around(universe, entity))
    nearest = next((answer for answer in around if isinstance(answer, Estimate)), None)
    wider = [numbers.total(entity, one) for one in wider_groups(universe, group)]
    instead = tuple(one for one in (nearest, *wider[:1]) if isinstance(one, Estimate))
    hint = (
        _hint(universe, entity.geography, group)
        if absence.status == group_statuses.NOT_TABULATED
        else None
    )
    return replace(absence, instead=instead, hint=hint)


def _areas_around(universe: Universe, entity: Entity) -> list[Entity]:
    """The areas of the release that contain an entity, smallest first."""
    areas = []
    for kind in entity.geography.kind.around:
        level = universe.level_beside(entity.geography, kind)
        region_id = universe.id_around(entity.geography, entity.region_id, kind)
        if level is not None and region_id in universe.entities[level].region_ids:
            position = universe.entities[level].region_ids.index(region_id)
            areas.append(Entity(level, region_id, universe.entities[level].names[position]))
    return areas


def _hint(universe: Universe, geography: AreaLevel, group: CharacteristicIteration) -> str | None:
    """A sentence on groups that are tabulated there and share codes with this one, or None."""
    others = groups_with_shared_codes(universe, group)
    is_there = [
        universe.level_of(geography, one.level).why_not_tabulated(one) is None for one in others
    ]
    names = [other.name for other in compress(others, is_there)]
    return (
        f"Its {universe.product.record.nouns} are counted there in: {shortened(names, 4)}."
        if names
        else None
    )
