"""How names of areas and groups are spelled, and which spellings are the same name.

Case, accents, punctuation and spaces don't matter. Two names are the same if all their words are.
Part of a name is not the name. docs/names.md states the rules.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from types import MappingProxyType

from safetab.census.area_levels import AreaKind
from safetab.census.groups import GroupKind
from safetab.dialects.bureau.states import STATE_NAMES
from safetab.dialects.bureau.us_census import (
    AIANNH,
    COUNTY,
    ETHNICITY_KIND,
    PLACE,
    RACE_ALONE,
    RACE_IN_COMBINATION,
    TRACT,
)

NATION_NAMES = (
    "nation", "usa", "us", "united states", "united states of america", "the united states", "america",
)  # fmt: skip
_NOT_HEARD = re.compile("['\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER TURNED COMMA}]|(?<!\\d)\\.|\\.(?!\\d)")
_BETWEEN_WORDS = re.compile(r"[^\w.]+|_")
_BETWEEN_PARTS = re.compile("[,;]")
_ASIDE = re.compile(r"\([^()]*\)")
SAME_WORDS = MappingProxyType({"saint": "st"})
TYPE_WORDS: Mapping[AreaKind, tuple[str, ...]] = MappingProxyType(
    {
        COUNTY: (
            "city and borough", "census area", "planning region", "county", "parish", "borough", "municipality",
            "municipio", "city",
        ),
        PLACE: (
            "city and borough", "zona urbana", "comunidad", "municipality", "borough", "village", "city", "town", "cdp",
        ),
        AIANNH: (
            "reservation and off reservation trust land", "pueblo and off reservation trust land",
            "rancheria and off reservation trust land", "community and off reservation trust land",
            "off reservation trust land", "indian reservation", "hawaiian home land", "reservation", "rancheria",
            "pueblo", "anvsa", "otsa", "sdtsa", "tdsa", "tribe", "nation",
        ),
    }
)  # fmt: skip
_TYPE_ENDS = {kind: tuple(f" {word}" for word in words) for kind, words in TYPE_WORDS.items()}
TRACT_WORDS = ("census tract", "tract")
KIND_ENDS = {
    RACE_IN_COMBINATION: (
        "alone or in any combination", "alone or in combination", "in any combination", "in combination", "combination",
    ),
    RACE_ALONE: ("alone",),
    ETHNICITY_KIND: ("ethnicity",),
}  # fmt: skip

Forms = tuple[list[str], list[str]]
"""Whole ones, and short ones."""

_WORDS_OF_FORMS = frozenset(" ".join(chain(SAME_WORDS.values(), TRACT_WORDS, *KIND_ENDS.values())).split())
"""What a form may have and its name does not, in lists of many names: nations and states have other names too."""
_FEW_NAMES = 1000
_SELDOM = 16
_MOST_COMPARED = 200


@lru_cache(maxsize=1 << 12)  # the areas of a state all have its name behind their own
def plain(text: str) -> str:
    """The words in lower case, without accents and punctuation, single-spaced; 1.02 stays 1.02."""
    if not text.isascii():
        text = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    words = _BETWEEN_WORDS.sub(" ", _NOT_HEARD.sub("", text.casefold()).replace("&", " and ")).split()
    return " ".join(SAME_WORDS.get(word, word) for word in words)


def _roughly_plain(text: str) -> str:
    """A text that contains all words of the plain form. Usually faster."""
    if text.isascii() and not ("." in text or "'" in text or "&" in text):
        return text.casefold()
    return plain(text)


def parts_of(text: str) -> list[str]:
    """The texts between commas or semicolons: the area, then what contains it."""
    return [part for part in map(plain, _BETWEEN_PARTS.split(text)) if part]


def state_forms(code: str) -> frozenset[str]:
    """The name and the abbreviation of a state; empty if the code is unknown."""
    return frozenset(map(plain, STATE_NAMES.get(code, ())))


STATE_OF_FORM = MappingProxyType({form: code for code in STATE_NAMES for form in state_forms(code)})


@lru_cache(maxsize=1 << 12)
def states_in(part: str) -> frozenset[str]:
    """The codes of the states that a part of a name lists, such as "az nm ut", or empty."""
    if part in STATE_OF_FORM:
        return frozenset({STATE_OF_FORM[part]})
    codes = [STATE_OF_FORM.get(word) for word in part.split()]
    return frozenset(code for code in codes if code) if all(codes) else frozenset()


def without_state(parts: Sequence[str]) -> list[str]:
    """The parts of a name without a final part that names states."""
    return list(parts[:-1] if len(parts) > 1 and states_in(parts[-1]) else parts)


def short_forms(head: str, kind: AreaKind) -> list[str]:
    """A name without its generic word: "providence county" is providence."""
    if kind == TRACT:
        starts = [f"{word} " for word in TRACT_WORDS if head.startswith(f"{word} ")]
        return [f"{word} {head.removeprefix(starts[0])}" for word in TRACT_WORDS] if starts else []
    shorter = _without_end(head, _TYPE_ENDS.get(kind, ()))
    if shorter is None:
        return []
    return [shorter, *(short_forms(shorter, kind) if kind == AIANNH else ())]


def heads_of_area(name: str, kind: AreaKind) -> Forms:
    """The names of an area without what contains it: whole and short."""
    parts = without_state(parts_of(name))
    asides = without_state(parts_of(_ASIDE.sub(" ", name))) if "(" in name else parts
    wholes = [" ".join(some[:1] if kind == TRACT else some) for some in (parts, asides)]
    wholes = list(dict.fromkeys(one for one in wholes if one))
    return wholes, [short for whole in wholes for short in short_forms(whole, kind)]


def forms_of_group(name: str, kind: GroupKind) -> Forms:
    """The names of a group: with its kind, and without."""
    wholes, shorts = [], []
    for text in (name, _ASIDE.sub(" ", name)):
        whole = plain(text)
        base = _without_end(whole, tuple(f" {end}" for end in KIND_ENDS[kind])) or whole
        wholes += [whole, *(f"{base} {end}" for end in KIND_ENDS[kind])]
        shorts.append(base)
    return list(dict.fromkeys(wholes)), list(dict.fromkeys(shorts))


def _without_end(text: str, ends: tuple[str, ...]) -> str | None:
    """The text without the first ending that fits, or None. Endings include the space before them."""
    return next(text.removesuffix(end) for end in ends if text.endswith(end)) if text.endswith(ends) else None


class NameIndex:
    """Finds positions in a list of named things. Whole names beat short forms.

    All forms take long to make, so the first few questions look only at names that share a word.
    """

    def __init__(self, names: Sequence[str], forms_of: Callable[[int], Forms]) -> None:
        """`forms_of` returns the forms of the name at a position, made of its words or _WORDS_OF_FORMS."""
        self._names = names
        self._forms_of = forms_of
        self._times_asked = 0

    @cached_property
    def _positions(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        found: tuple[dict[str, list[int]], dict[str, list[int]]] = ({}, {})
        for position in range(len(self._names)):
            for by_form, forms in zip(found, self._forms_of(position), strict=True):
                for form in dict.fromkeys(forms):
                    by_form.setdefault(form, []).append(position)
        return found

    @cached_property
    def _rough_names(self) -> list[str]:
        return list(map(_roughly_plain, self._names))

    def ranked(self, form: str) -> list[tuple[int, int]]:
        """(rank, position) of everything with this form: rank 0 for whole forms, 1 for short ones."""
        self._times_asked += 1
        own_words = [word for word in form.split() if word not in _WORDS_OF_FORMS]
        if len(self._names) <= _FEW_NAMES or self._times_asked > _SELDOM or not own_words:
            return [(rank, at) for rank, by_form in enumerate(self._positions) for at in by_form.get(form, ())]
        word = max(own_words, key=len)
        near = [(at, self._forms_of(at)) for at, words in enumerate(self._rough_names) if word in words]
        return [(rank, at) for rank in (0, 1) for at, forms in near if form in forms[rank]]

    def similar(self, wanted: str) -> list[tuple[str, list[int]]]:
        """The forms that share the most letter pairs with the text, and their positions."""
        pairs = {wanted[start : start + 2] for start in range(len(wanted) - 1)}
        forms = [one for by_form in self._positions for one in by_form.items()]
        likeness = [-sum(pair in form for pair in pairs) for form, _ in forms]
        best = sorted(range(len(forms)), key=likeness.__getitem__)[:_MOST_COMPARED]
        return [forms[one] for one in best]

    def with_words(self, wanted: str) -> list[int]:
        """The things whose whole name has all the wanted words, shortest names first."""
        words = set(wanted.split())
        found = [position for position, name in enumerate(self._names) if words <= set(plain(name).split())]
        return sorted(found, key=lambda position: len(self._names[position]))


_MOST_SUGGESTIONS = 3
_LEAST_LIKENESS = 0.7

NamedIndex = tuple[NameIndex, Callable[[int], str | None]]
"""An index, and the name of what is at a position; none if it is not to be suggested."""


def suggestions(wanted: str, indices: Sequence[NamedIndex]) -> list[str]:
    """Names that have all the wanted words, else names that look similar."""
    if not wanted:
        return []
    with_words = (name_of(position) for index, name_of in indices for position in index.with_words(wanted))
    found = [name for name in with_words if name is not None] or _alike(wanted, indices)
    return list(dict.fromkeys(found))[:_MOST_SUGGESTIONS]


def _alike(wanted: str, indices: Sequence[NamedIndex]) -> list[str]:
    named: dict[str, list[str]] = {}
    for index, name_of in indices:
        for form, positions in index.similar(wanted):
            names = [name for name in map(name_of, positions) if name is not None]
            if names:
                named.setdefault(form, []).extend(names)
    return nearest(wanted, named)


def nearest(wanted: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    """The names that look most like the text, best first; empty if none does."""
    close = difflib.get_close_matches(wanted, names, n=_MOST_SUGGESTIONS, cutoff=_LEAST_LIKENESS)
    return list(dict.fromkeys(name for form in close for name in names[form]))
