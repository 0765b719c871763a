"""The facts of a census for the explorer's page.

They are its passes and answers, and words for the page's scripts and sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from safetab.model.census.area_levels import Pass
from safetab.model.census.census import Census, PopulationGroupLevel, capitalized
from safetab.model.census_value import WHOLE_TERRITORY, slots_of
from safetab.model.config.run_config import RunConfig
from safetab.model.products.product import Selector, TableFamily
from safetab.model.specification.values import Specification

JsonObject = dict[str, object]


def census_facts(config: RunConfig) -> JsonObject:
    """The facts for the scripts."""
    census = config.census
    groups, words = census.tabulated_group_levels, census.words
    return {
        "passes": [
            {
                "name": one.name,
                "title": _title(one),
                "in_sentences": one.in_sentences or _title(one),
                "key": config.spelling.passes[one],
            }
            for one in census.passes
        ],
        "most_answers": census.most_answers,
        "answers_key": config.spelling.most_answers,
        "opens_with": census.example_level,
        "words": {
            "answer": words.answer,
            "answers": words.answers,
            "below": words.below,
            "below_short": words.below_short or words.below,
            "whole": _without_article(words.whole),
            "labels": words.example_levels or census.area_levels[0].label,
            "group_levels": _joined(
                (*(str(one.number) for one in groups), *(one.name for one in groups)), "or"
            ),
        },
    }


def threshold_unit(config: RunConfig) -> str:
    """The things that thresholds count: records, or what published totals count."""
    if config.product.selector is not Selector.PUBLISHED_TOTALS:
        return config.product.record.counted
    if config.specification is None:
        return "people"
    return config.specification.about.holds or config.product.record.counted


def counts_in_words(
    level: PopulationGroupLevel, config: RunConfig, family: TableFamily, entities: int
) -> str:
    """The counts of a level, within a sentence: such as "county counts of detailed groups".

    The names of a specification are quoted, since they may be any words.
    """
    area, name = level.geography, level.iterations.name
    groups = f"{name} groups".lower()
    if config.specification is not None:
        groups = (
            f"“{name}”" if re.search(r"\bgroups?$", name, re.IGNORECASE) else f"“{name}” groups"
        )
    tables = f" by {family.name}" if config.product.has_several_families else ""
    if area.kind.is_whole:
        where = (
            f"in the {area.kind.noun}" if config.specification is None else "for all areas together"
        )
        return f"counts of {groups}{tables} {where}"
    of_pass = area.tabulation_pass
    whole = of_pass.in_sentences or of_pass.title
    where = "" if area.title == area.kind.title else f" in {whole}"
    if where and entities == 1:
        return f"counts of {groups}{tables} for all of {whole}"
    return f"{area.kind.noun} counts of {groups}{tables}{where}"


def fixed_choices(spec: Specification) -> JsonObject:
    """The choices of a specification that the page keeps as they are."""
    privacy, several = spec.privacy, slots_of(spec)[0].name
    return {
        "definition": None
        if spec.about.reference is None
        else privacy.definition,  # a reference is of one definition
        "selector": privacy.selector,
        "negatives": privacy.negatives,
        "totals": privacy.totals,
        "suppress_areas": list(privacy.suppress_areas),
        "use": {name: number for name, number in privacy.use.items() if name != several},
        "answers_of": several,
    }


def _title(one: Pass) -> str:
    """The title of a pass, or "All areas" for the only one of a specification without passes.

    Its own title would be that of the census.
    """
    return "All areas" if one.name == WHOLE_TERRITORY else one.title


def sentence_words(census: Census) -> dict[str, str]:
    """The words in the page's sentences, by placeholder."""
    groups, words = census.tabulated_group_levels, census.words
    whole = next(
        (level for level in census.area_levels if level.kind.is_whole), census.area_levels[0]
    )
    passes = [one.in_sentences or _title(one) for one in census.passes]
    examples = (
        f"{one.name} (such as “{one.example}”)" if one.example else one.name for one in groups
    )
    return {
        "title": words.title[:1].lower() + words.title[1:],
        "kinds": ", ".join(kind.noun for kind in census.kinds[:3]),
        "group_levels": _joined(examples, "or"),
        "whole_noun": whole.kind.noun,
        "whole_label": whole.label,
        "group_numbers": _joined((str(one.number) for one in groups), "and"),
        "below": words.below,
        "Below": capitalized(words.below),
        "Whole": capitalized(_without_article(words.whole)),
        "for_passes": " and ".join(f"for {one}" for one in passes),
        "of_passes": " or ".join(f"of {one}" for one in passes),
        "answers": words.answers,
        "group": words.group,
        "example": words.example,
    }


def _without_article(text: str) -> str:
    return text.removeprefix("the ")


def _joined(texts: Iterable[str], conjunction: str) -> str:
    """Such as "a, b or c"."""
    *first, last = texts
    return f"{', '.join(first)} {conjunction} {last}" if first else last
