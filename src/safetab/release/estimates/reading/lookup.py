"""From what people write to the geographic entities and the groups of a release.

The one resolver of names of the command line and Python. docs/names.md has the rules. A site's page
(templates/site/search) follows them step by step with the words of the census's spelling, and a
test holds both to the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import chain
from typing import NamedTuple

from safetab.foundation.findings import Finding, InvalidInput, Severity, shortened
from safetab.model.census.area_levels import AreaKind, AreaLevel
from safetab.model.census.census import Census, a_or_an
from safetab.model.census.groups import CharacteristicIteration, GroupKind, GroupLevel
from safetab.model.products.product import TableFamily
from safetab.release.estimates.reading import names
from safetab.release.estimates.reading.names import AreaNames, Forms, NameIndex, plain
from safetab.release.files.release_universe import Universe

_MOST_CANDIDATES = 10
_MOST_PART_WORDS = 3
_ID_AT_END = re.compile(r"\(((?:[^()]* )?([^()\s]+))\)\s*$")


def _kinds_by_word(census: Census) -> dict[str, AreaKind]:
    """The kinds of area by the words that name them."""
    return {
        plain(word): kind
        for kind in census.kinds
        for word in (kind.name, kind.noun, kind.nouns, *kind.words)
    }


def words_for_many_areas(census: Census) -> list[str]:
    """Words that name a kind and no area, such as county; the whole is an area."""
    return [word for word, kind in _kinds_by_word(census).items() if not kind.is_whole]


def names_of_parts(universe: Universe) -> Mapping[str, Sequence[str]]:
    """The names of the census's parts, such as states, by id.

    They are those of its spelling, else those of the areas.
    """
    census = universe.census
    if census.spelling.part_names:
        return census.spelling.part_names
    levels = [
        entities for level, entities in universe.entities.items() if level.kind == census.part
    ]
    named = [zip(one.region_ids, one.names, strict=True) for one in levels]
    return {region_id: (name,) for region_id, name in chain.from_iterable(named)}


def _did_you_mean(near: Sequence[str]) -> str:
    """A question, after a space, if there are names to suggest."""
    choices = near[0] if len(near) == 1 else f"one of these: {'; '.join(near)}"
    return f" Did you mean {choices}?" if near else ""


class Entity(NamedTuple):
    """A geographic entity of a release."""

    geography: AreaLevel
    region_id: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.geography.kind.noun} {self.region_id})"


class Lookup:
    """Finds entities and groups by name.

    Unknown and ambiguous names are refused, with candidates.
    """

    def __init__(self, universe: Universe, where: str) -> None:
        self._universe = universe
        self._census = universe.census
        self._where = where
        self._kind_of_word = _kinds_by_word(universe.census)
        self._names = AreaNames(universe.census.spelling, names_of_parts(universe))
        self._index = cache(self._index_of_level)
        self._positions_of_ids = cache(self._positions_of_level)

    def geographies_of(self, level: str | None) -> tuple[AreaLevel, ...]:
        """The levels that a word such as county means, in all passes."""
        known = tuple(self._universe.entities)
        if level is None:
            return known
        word = plain(level)
        kind = self._kind_of_word.get(word)
        found = [one for one in known if one.kind == kind or plain(one.label) == word]
        if not found:
            kinds = [one.name for one in self._census.kinds]
            near = names.nearest(word, {one: [one] for one in kinds})
            hint = f"Did you mean {near[0]}?" if near else f"Say one of {', '.join(kinds)}."
            raise self.refusal("level", f'"{level}" is not a level of this release. {hint}')
        return tuple(found)

    def is_level(self, word: str) -> bool:
        """Whether the word names a level with many areas, such as county. The whole is an area."""
        kind = self._kind_of_word.get(plain(word))
        return kind is not None and not kind.is_whole

    def entity(self, wanted: str | Entity, level: str | None = None) -> Entity:
        """The entity with this id or name. Raises InvalidInput unless there is exactly one."""
        if isinstance(wanted, Entity):
            return wanted
        levels = self.geographies_of(level)
        spelling = self._census.spelling
        coarse = [one for one in levels if one.kind != spelling.last]
        fine = [one for one in levels if one.kind == spelling.last]
        found = (
            self._by_id(wanted, levels)
            or self._by_name(wanted, coarse)
            or self._by_name(wanted, fine)
        )
        if len(found) == 1:
            return found[0]
        if found:
            exact = ", or the level" if len({one.geography.kind for one in found}) > 1 else ""
            hint = f"Give an id, or the whole name{exact}."
            raise self._ambiguous("area", wanted, [str(one) for one in found], hint)
        if self.is_level(wanted):
            raise self.refusal(
                "area", f'"{wanted}" is a level, not an area. Name one area, or give its id.'
            )
        forms = self._names.started_forms(plain(wanted))
        if fine and any(
            re.match(f"{re.escape(spelling.starts[-1])} [0-9]", form) for form in forms
        ):
            raise self.refusal("area", f'"{wanted}" is not in this release. {spelling.as_written}')
        is_group = bool(self.groups_by_code(wanted) or self._groups.ranked(plain(wanted)))
        raise self._missing(
            "area", wanted, self._suggested_areas(wanted, coarse or fine), is_other=is_group
        )

    def entities(self, geographies: Sequence[AreaLevel]) -> list[Entity]:
        """All entities of some levels, in the order of the release."""
        sizes = [
            (geography, len(self._universe.entities[geography].names)) for geography in geographies
        ]
        return [
            self._entity(geography, position)
            for geography, size in sizes
            for position in range(size)
        ]

    def group(
        self,
        wanted: str | CharacteristicIteration,
        kind: str | None = None,
        at: AreaLevel | None = None,
        of: GroupLevel | None = None,
        is_published: Callable[[CharacteristicIteration], bool] = lambda _: True,
    ) -> CharacteristicIteration:
        """The group with this code or name, `of` a level of groups.

        Groups that are tabulated `at` a level are preferred. If levels of groups share the name, it
        is that of the finest level that is published, or just the finest. Raises InvalidInput
        unless there is exactly one.
        """
        if isinstance(wanted, CharacteristicIteration):
            return wanted
        named = [one for one in self.groups(wanted) if of is None or one.level == of]
        if of is not None and not named:
            there = [f"{one.name} ({one.level.name})" for one in self.groups(wanted)]
            raise self.refusal(
                "group", f'"{wanted}" is not in {of.name}. There is: {shortened(there)}.'
            )
        found = [one for one in named if kind is None or one.kind == self.kind(kind)]
        if at is not None and len(found) > 1:
            found = [one for one in found if one.is_tabulated(at.kind)] or found
        if len(found) == 1:
            return found[0]
        if (
            found
            and len({one.level for one in found}) == len(found)
            and len({_named(one) for one in found}) == 1
        ):
            finest_first = sorted(found, key=lambda one: -one.level.number)
            return next(filter(is_published, finest_first), finest_first[0])
        if found:
            kinds = len({one.kind for one in found}) > 1
            hint = "Give a code, the whole name" + (
                f", or the kind: {self._kinds}." if kinds else "."
            )
            raise self._ambiguous(
                "group", wanted, [f"{one.name} ({one.code})" for one in found], hint
            )
        there = [f"{one.name} ({one.kind.name})" for one in named]
        raise self.refusal(
            "group", f'"{wanted}" has no group of the kind {kind}. It has: {shortened(there)}.'
        )

    def group_level(self, word: str) -> GroupLevel:
        """The level of groups with this name.

        Raises InvalidInput if the census has no such level.
        """
        levels = {plain(level.name): level for level in self._census.tabulated_group_levels}
        if plain(word) not in levels:
            known = ", ".join(level.name for level in levels.values())
            raise self.refusal("groups", f'"{word}" is not a level of groups. Say one of {known}.')
        return levels[plain(word)]

    def groups(self, wanted: str) -> list[CharacteristicIteration]:
        """All groups that a name means, such as alone and in combination.

        Groups are found by code, else by the best match; one that is never tabulated only if
        nothing else matches. Raises InvalidInput if none is found.
        """
        iterations = self._universe.lists.iterations
        by_code = self.groups_by_code(wanted)
        if by_code:
            return by_code
        ranked = self._groups.ranked(plain(wanted))
        if not ranked:
            is_area = bool(self._by_name(wanted, tuple(self._universe.entities)))
            raise self._missing("group", wanted, self._suggested_groups(wanted), is_other=is_area)
        best = min(rank for rank, _ in ranked)
        found = [iterations[position] for rank, position in ranked if rank == best]
        return [one for one in found if one.level.is_tabulated] or found

    def groups_by_code(self, wanted: str) -> list[CharacteristicIteration]:
        """The groups with this code. Listed choices end with the code."""
        at_end = _ID_AT_END.search(wanted)
        codes = {wanted.strip(), *(at_end.groups() if at_end else ())}
        return [one for one in self._universe.lists.iterations if one.code in codes]

    def family(self, word: str | None) -> TableFamily:
        """The table family with this name, or the first without a name."""
        families = self._universe.product.families
        if word is None:
            return families[0]
        found = [family for family in families if plain(family.name) == plain(word)]
        if not found:
            raise self.refusal(
                "family", f'must be {" or ".join(one.name for one in families)}, not "{word}".'
            )
        return found[0]

    def refusal(self, where: str, message: str) -> InvalidInput:
        """The error to raise: `where` is the argument that is wrong."""
        return InvalidInput([Finding(Severity.ERROR, self._where, where, message)])

    def _by_id(self, wanted: str, levels: Iterable[AreaLevel]) -> list[Entity]:
        """Entities with this id.

        Listed choices end with the noun and the id, which may have spaces too.
        """
        at_end = _ID_AT_END.search(wanted)
        inside, last = at_end.groups() if at_end else ("", "")
        found: dict[AreaLevel, Entity] = {}
        for level in levels:
            position_of = self._positions_of_ids(level)
            for text in (wanted.strip(), inside.removeprefix(f"{level.kind.noun} "), last):
                if text in position_of:
                    found.setdefault(level, self._entity(level, position_of[text]))
        return list(found.values())

    def _by_name(self, wanted: str, levels: Sequence[AreaLevel]) -> list[Entity]:
        """The best matches in some levels, for the first way to read the name that has any."""
        for head, around in self._readings(wanted):
            ranked = []
            for level in levels:
                ranked += [
                    (rank, self._entity(level, at)) for rank, at in self._index(level).ranked(head)
                ]
            fitting = [
                (rank, one)
                for rank, one in ranked
                if not around or self._around(one).issuperset(around)
            ]
            if fitting:
                best = min(rank for rank, _ in fitting)
                return list(dict.fromkeys(one for rank, one in fitting if rank == best))
        return []

    def _around(self, entity: Entity) -> set[str]:
        """Texts that may be written after an entity's name.

        They are its parts, and what the names of the last kind have there.
        """
        level, parts = entity.geography, names.parts_of(entity.name)
        ending = parts[-1] if len(parts) > 1 else ""
        own_part = self._universe.id_around(level, entity.region_id, self._census.part)
        codes = self._names.parts_in(ending).union(() if own_part is None else (own_part,))
        found = {ending}.union(*map(self._names.part_forms, codes))
        if level.kind == self._census.spelling.last:
            for around in self._names.without_part(parts)[1:]:
                found |= {
                    around,
                    *(
                        self._names.short_forms(around, level.kind.parent)
                        if level.kind.parent
                        else ()
                    ),
                }
        return found

    def _entity(self, level: AreaLevel, position: int) -> Entity:
        entities = self._universe.entities[level]
        return Entity(level, entities.region_ids[position], entities.names[position])

    def _positions_of_level(self, level: AreaLevel) -> dict[str, int]:
        return {
            region_id: position
            for position, region_id in enumerate(self._universe.entities[level].region_ids)
        }

    def _index_of_level(self, level: AreaLevel) -> NameIndex:
        forms_of = partial(self._forms_of_area, level)
        return NameIndex(
            self._universe.entities[level].names, forms_of, self._census.spelling.starts
        )

    def _forms_of_area(self, level: AreaLevel, position: int) -> Forms:
        entities, kind = self._universe.entities[level], level.kind
        wholes, shorts = self._names.heads_of_area(entities.names[position], kind)
        wholes.extend(self._census.spelling.whole_names if kind.is_whole else ())
        is_part = kind == self._census.part
        wholes.extend(
            sorted(self._names.part_forms(entities.region_ids[position])) if is_part else ()
        )
        return wholes, shorts

    @cached_property
    def _groups(self) -> NameIndex:
        iterations = self._universe.lists.iterations
        ends = chain.from_iterable(kind.ends for kind in self._census.group_kinds)

        def forms_of(position: int) -> Forms:
            return names.forms_of_group(iterations[position].name, iterations[position].kind)

        return NameIndex([one.name for one in iterations], forms_of, ends)

    def suggestions(self, wanted: str) -> str:
        """A question with names of areas and groups that resemble the text."""
        coarse = [one for one in self._universe.entities if one.kind != self._census.spelling.last]
        return _did_you_mean(self._suggested_areas(wanted, coarse) + self._suggested_groups(wanted))

    def _suggested_groups(self, wanted: str) -> list[str]:
        named = [(one.name, one.kind) for one in self._universe.lists.iterations]
        return names.group_suggestions(plain(wanted), named)

    def _suggested_areas(self, wanted: str, levels: Sequence[AreaLevel]) -> list[str]:
        """Suggestions in the part of the census that is written after the name.

        If there are none, those for the name anywhere, else for the first part of the name.
        """
        texts = self._with_part_corrected(names.parts_of(wanted))
        head = " ".join(self._names.without_part(texts))
        parts = self._names.parts_in(texts[-1]) if len(texts) > 1 else frozenset()

        def name_of(level: AreaLevel, position: int) -> str | None:
            entity = self._entity(level, position)
            return (
                entity.name
                if parts & {self._names.part_of_form.get(one) for one in self._around(entity)}
                else None
            )

        in_parts = [(self._index(level), partial(name_of, level)) for level in levels if parts]
        near = names.suggestions(head, in_parts)
        anywhere = [
            (self._index(level), self._universe.entities[level].names.__getitem__)
            for level in levels
        ]
        return (
            near
            or names.suggestions(head, anywhere)
            or names.suggestions("".join(texts[:1]), anywhere)
        )

    def _readings(self, wanted: str) -> Iterator[tuple[str, list[str]]]:
        """A name and the areas that contain it, for each way to read a text.

        The text is split at each comma, then before a part of the census at the end.
        """
        parts = names.parts_of(wanted)
        for count in range(len(parts), 0, -1):
            yield " ".join(parts[:count]), parts[count:]
        words = " ".join(parts).split()
        for count in range(min(_MOST_PART_WORDS, len(words) - 1), 0, -1):
            part = " ".join(words[-count:])
            if part in self._names.part_of_form:
                yield " ".join(words[:-count]), [part]

    def _with_part_corrected(self, texts: Sequence[str]) -> list[str]:
        """The texts, with the last one replaced by the part of the census that it resembles.

        A last text that is such a part stays.
        """
        if len(texts) < 2 or self._names.parts_in(texts[-1]):
            return list(texts)
        near = names.nearest(texts[-1], {form: [form] for form in self._names.part_of_form})
        return [*texts[:-1], *(near[:1] or texts[-1:])]

    def kind(self, word: str) -> GroupKind:
        """The kind of group that a word means. Raises InvalidInput if it means none."""
        kinds = self._census.group_kinds
        kind = next(
            (kind for kind in kinds if plain(word) in (*kind.words, plain(kind.name))), None
        )
        if kind is None:
            raise self.refusal("kind", f'"{word}" is not a kind of group. Say {self._kinds}.')
        return kind

    @property
    def _kinds(self) -> str:
        """The shortest words for the kinds of group, as a choice."""
        words = [(*kind.words, kind.name)[0] for kind in self._census.group_kinds]
        return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]

    def _ambiguous(self, where: str, wanted: str, candidates: list[str], hint: str) -> InvalidInput:
        shown = "; ".join(candidates[:_MOST_CANDIDATES])
        more = len(candidates) - _MOST_CANDIDATES
        rest = f"; and {more:,} more" if more > 0 else ""
        return self.refusal(
            where, f'"{wanted}" has {len(candidates):,} matches: {shown}{rest}. {hint}'
        )

    def _missing(
        self, where: str, wanted: str, near: Sequence[str], *, is_other: bool
    ) -> InvalidInput:
        other = {"area": "a group", "group": "an area"}[where]
        note = f" There is {other} of this name." if is_other else ""
        return self.refusal(where, f'"{wanted}" is not in this release.{note}{_did_you_mean(near)}')


def what_nests(census: Census) -> str:
    """Which areas hold whole areas of other kinds, as a hint."""
    inside = {
        kind: [one.noun for one in census.kinds if kind in one.around] for kind in census.kinds
    }
    first, *others = [
        kind for kind, nouns in inside.items() if nouns and not kind.is_whole
    ] or census.kinds[:1]
    more = [
        f", or {a_or_an(kind.noun)} if the level is {' or '.join(inside[kind])}" for kind in others
    ]
    return f"give {a_or_an(first.noun)}{''.join(more)}: other areas don't nest."


def same_named(universe: Universe, group: CharacteristicIteration) -> list[CharacteristicIteration]:
    """The groups of other levels that have a group's name and kind."""
    return [
        one
        for one in universe.lists.iterations
        if one.level != group.level and _named(one) == _named(group)
    ]


def _named(group: CharacteristicIteration) -> tuple[str, GroupKind]:
    return plain(group.name), group.kind
