"""The census that a specification describes, and the configuration of a run, as values.

Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from itertools import product as product_of_lists
from types import MappingProxyType

from safetab.model.census.area_levels import AreaKind, AreaLevel, Ids, Pass, TextIds
from safetab.model.census.census import (
    Census,
    PopulationGroupLevel,
    Spelling,
    Words,
    a_or_an,
    capitalized,
)
from safetab.model.census.groups import (
    MOST_ANSWERS,
    Classification,
    GroupKind,
    GroupLevel,
    GroupList,
    Members,
)
from safetab.model.config.run_config import ConfigSpelling, FamilyConfig, ReaderKind, RunConfig
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product, TableFamily, Thresholds
from safetab.model.products.record import classification_of, ordered_lists
from safetab.model.specification.kinds import in_sentence
from safetab.model.specification.values import (
    SPECIFICATION_FILE,
    Choice,
    LevelOfAreas,
    PassOfAreas,
    Privacy,
    Specification,
)
from safetab.model.specification.writing import privacy_keys

WHOLE_TERRITORY = "all"
"""The name of the pass of a census without passes."""
_EVERYWHERE = AreaKind(
    "everywhere",
    "area",
    "areas",
    "Area",
    TextIds(("all",)),
    parent=None,
    suppresses=False,
    is_whole=True,
)
"""The one part of a table of areas that is not divided."""


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """The facts about levels, by their names, in the table of areas.

    It also says which kinds of groups there are.
    """

    ids: Mapping[str, Ids]
    parents: Mapping[str, str] = field(
        default_factory=dict
    )  # the smallest level that holds whole areas of a level
    part: str | None = (
        None  # the level whose areas are held in memory one at a time; None: all at once
    )
    group_kinds: frozenset[str] | None = (
        None  # the names of those that have groups; None: all possible ones
    )


def census_of(spec: Specification, facts: PublicFacts) -> Census:
    """The census of a specification with these levels of areas."""
    kinds = _kinds(spec, facts)
    passes = tuple(Pass(one.name, one.title) for one in passes_of(spec))
    classifications = slots_of(spec)
    wholes = [kind for kind in kinds if kind.is_whole]
    return Census(
        name=spec.about.name,
        kinds=kinds,
        passes=passes,
        area_levels=_area_levels(spec, kinds, passes),
        classifications=classifications,
        group_levels=_group_levels(spec),
        group_kinds=_group_kinds(spec, facts.group_kinds),
        lists=_lists(spec, kinds),
        part=next((kind for kind in kinds if kind.name == facts.part), _EVERYWHERE),
        donor_order=tuple(kind for kind in kinds if not kind.is_whole),
        words=_words(spec, kinds),
        spelling=Spelling(
            tuple(
                dict.fromkeys(
                    chain.from_iterable((one.name, one.noun.casefold()) for one in wholes)
                )
            )
        ),
        pass_of_part={number: one.name for number, one in enumerate(passes)},
        example_order=tuple(
            reversed([label for one in passes_of(spec) for label in one.levels.values()])
        ),
    )


def passes_of(spec: Specification) -> tuple[PassOfAreas, ...]:
    """The passes of a specification.

    Without any, it is the one that holds every area and tabulates every level.
    """
    if spec.areas.passes:
        return spec.areas.passes
    levels = {level.name: level.name for level in spec.areas.levels}
    return (PassOfAreas(WHOLE_TERRITORY, "The whole territory", {}, levels),)


def slots_of(spec: Specification) -> tuple[Classification, ...]:
    """The classifications, the one with more answers first: it takes the engines' eight columns."""
    return tuple(classification_of(spec, each) for each in ordered_lists(spec))


def _kinds(spec: Specification, facts: PublicFacts) -> tuple[AreaKind, ...]:
    """The kinds of area in the order of levels; each is made after its parent."""
    made: dict[str, AreaKind] = {}
    level_of = {level.name: level for level in spec.areas.levels}

    def kind_of(name: str) -> AreaKind:
        if name not in made:
            parent = facts.parents.get(name)
            around = None if parent is None else kind_of(parent)
            made[name] = _kind(
                level_of[name],
                facts.ids[name],
                around,
                suppresses=name in spec.privacy.suppress_areas,
            )
        return made[name]

    return tuple(kind_of(level.name) for level in spec.areas.levels)


def _kind(level: LevelOfAreas, ids: Ids, parent: AreaKind | None, *, suppresses: bool) -> AreaKind:
    is_whole = level.whole is not None
    nouns = level.nouns or level.noun
    title = capitalized(level.noun) if is_whole or not level.title else level.title
    boundary = (level.boundary,) if level.boundary else level.id
    return AreaKind(
        level.name,
        level.noun,
        nouns,
        title,
        ids,
        parent,
        suppresses=suppresses,
        is_whole=is_whole,
        boundary=boundary,
    )


def _area_levels(
    spec: Specification, kinds: Sequence[AreaKind], passes: Sequence[Pass]
) -> tuple[AreaLevel, ...]:
    """The area levels of all passes, in the order of noise addresses.

    Passes come in their order, and within a pass levels in theirs.
    """
    found = list[AreaLevel]()
    for number, (one, given) in enumerate(zip(passes, passes_of(spec), strict=True)):
        for kind in (kind for kind in kinds if kind.name in given.levels):
            title = kind.title if number == 0 else f"{one.title}: {kind.title}"
            found.append(AreaLevel(given.levels[kind.name], len(found), one, kind, title))
    return tuple(found)


def _group_levels(spec: Specification) -> tuple[GroupLevel, ...]:
    tabulated = set(chain.from_iterable(choice.groups for choice in spec.privacy.levels))
    levels = enumerate(spec.groups.levels)
    return tuple(
        GroupLevel(number, level.name, is_tabulated=level.name in tabulated)
        for number, level in levels
    )


_ENDS = {Members.ANY: ("", ""), Members.ONLY: (" only", ", only answer")}
"""The endings of the names and titles of kinds of groups."""


def _group_kinds(spec: Specification, given: frozenset[str] | None) -> tuple[GroupKind, ...]:
    """One kind for each way in which a classification's codes decide who is in a group."""
    found = []
    for classification in slots_of(spec):
        title = capitalized(classification.name if spec.classifications[1:] else spec.about.groups)
        for members, (of_name, of_title) in _ENDS.items():
            name = f"{classification.name}{of_name}"
            if given is None or name in given:
                found.append(
                    GroupKind(name, f"{title}{of_title}", classification, members, (members.value,))
                )
    return tuple(found)


def _lists(spec: Specification, kinds: Sequence[AreaKind]) -> tuple[GroupList, ...]:
    """The lists of groups, with the words for the areas where each is tabulated."""
    found = []
    for listed in spec.groups.lists:
        own = tuple(kind for kind in kinds if listed.areas is None or kind.name in listed.areas)
        where = (
            "everywhere"
            if len(own) == len(kinds)
            else in_sentence([kind.nouns for kind in own], "and")
        )
        words = f"{where}, a total" if listed.total_only else where
        only_here = "" if len(own) == len(kinds) else f"tabulated for {where} only"
        found.append(
            GroupList(
                listed.name,
                own,
                listed.total_only,
                words,
                only_here,
                f"for {where}" if only_here else "",
            )
        )
    return tuple(found)


def _words(spec: Specification, kinds: Sequence[AreaKind]) -> Words:
    about = spec.about
    below = in_sentence([kind.nouns for kind in kinds if kind.suppresses], "and")
    whole = in_sentence([_with_article(kind) for kind in kinds if not kind.suppresses], "and")
    slots = slots_of(spec)
    parts = [kind for kind in kinds if not kind.is_whole] or list(kinds)
    typed = capitalized(", ".join(kind.noun for kind in parts[:2]))
    return Words(
        title=about.title,
        group=about.group,
        groups=about.groups,
        some_groups=about.groups,
        coded_group=about.group,
        smallest_areas="smallest areas",
        answers=f"answers of {slots[0].name}",
        answer=f"answer of {slots[0].name}",
        below=f"for {below}" if below else "nowhere",
        whole=whole or "no area",
        reach=f"from {_with_article(kinds[0])} down to {kinds[-1].nouns}" if kinds[1:] else "",
        typed_areas=f"{typed}, …",
        tried_areas=" or ".join(a_or_an(kind.noun) for kind in parts[:2]),
        same_area=f"{a_or_an(parts[-2].noun)} with one {parts[-1].noun}" if parts[1:] else "",
        areas_file=spec.areas.file,
        agency=about.agency,
        source=about.title,
        overlapping="" if all(each.has_one_answer for each in slots) else capitalized(about.groups),
        example=f"{a_or_an(about.group)} in {a_or_an(kinds[-1].noun)}",
        example_levels=" or ".join(level.name for level in spec.areas.levels[:2]),
    )


def _with_article(kind: AreaKind) -> str:
    return f"the {kind.noun}" if kind.is_whole else kind.nouns


def config_of(
    spec: Specification, census: Census, product: Product, parts: Mapping[Pass, tuple[str, ...]]
) -> RunConfig:
    """The configuration that the choices of a specification make."""
    privacy = spec.privacy
    return RunConfig(
        census=census,
        product=product,
        privacy_definition=PrivacyDefinition.spelled(privacy.definition),
        families=tuple(_family_config(privacy, census, family) for family in product.families),
        stage_1_fraction=privacy.stage_1 or Fraction(0),
        most_answers=spec.use_of(spec.classification(slots_of(spec)[0].name)) or MOST_ANSWERS,
        zero_suppression_chance=privacy.suppress_chance,
        allow_negative_counts=privacy.negatives != "zero",
        withholds_negatives=privacy.negatives == "withheld",
        passes=census.passes,
        parts=MappingProxyType(dict(parts)),
        reader=ReaderKind.CSV,
        spelling=_spelling(spec, census),
        specification=spec,
    )


def _family_config(privacy: Privacy, census: Census, family: TableFamily) -> FamilyConfig:
    budgets = dict.fromkeys(census.levels, Fraction(0))
    thresholds: dict[PopulationGroupLevel, Thresholds] = {}
    for choice in privacy.levels:
        if family.name in choice.tables:
            for label, group in product_of_lists(choice.areas, choice.groups):
                level = census.level(label, group)
                budgets[level], thresholds[level] = choice.budget, Thresholds(choice.thresholds)
    return FamilyConfig(family, MappingProxyType(budgets), MappingProxyType(thresholds))


def _spelling(spec: Specification, census: Census) -> ConfigSpelling:
    several = slots_of(spec)[0].name
    passes = {one: one.name for one in census.passes}
    return ConfigSpelling(
        f"use.{several}",
        "areas.passes",
        passes,
        lambda config: privacy_keys(privacy_of(config)),
        SPECIFICATION_FILE,
    )


def privacy_of(config: RunConfig) -> Privacy:
    """The choices of a configuration again.

    They are those of its specification, with its budgets and thresholds.
    """
    spec = config.specification
    assert spec is not None
    choices = [
        Choice((of_family.family.name,), (level.iterations.name,), (level.geography.label,), budget,
               of_family.thresholds[level].totals)
        for of_family in config.families
        for level, budget in of_family.budgets.items()
        if budget > 0
    ]  # fmt: skip
    several = slots_of(spec)[0].name
    is_usual = config.most_answers == (spec.use_of(spec.classification(several)) or MOST_ANSWERS)
    return replace(
        spec.privacy,
        definition=config.privacy_definition.spelling,
        levels=tuple(choices),
        stage_1=config.stage_1_fraction or None,
        suppress_chance=config.zero_suppression_chance,
        use=spec.privacy.use if is_usual else {**spec.privacy.use, several: config.most_answers},
    )
