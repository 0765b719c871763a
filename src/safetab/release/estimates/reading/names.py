"""Names of areas and groups: their spellings, and which spellings are the same name.

Case, accents, punctuation and spaces don't matter. Two names are the same if all their words are.
Part of a name is not the name. docs/names.md states the rules.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from operator import contains
from types import MappingProxyType

from safetab.model.census.area_levels import AreaKind
from safetab.model.census.census import Spelling
from safetab.model.census.groups import GroupKind

_NOT_HEARD = re.compile(
    "['\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER TURNED COMMA}]|(?<!\\d)\\.|\\.(?!\\d)"
)
_BETWEEN_WORDS = re.compile(r"[^\w.]+|_")
_BETWEEN_PARTS = re.compile("[,;]")
_ASIDE = re.compile(r"\([^()]*\)")
SAME_WORDS = MappingProxyType({"saint": "st"})

Forms = tuple[list[str], list[str]]
"""Whole ones, and short ones."""

_FEW_NAMES = 1000
_SELDOM = 16
_MOST_COMPARED = 200


@lru_cache(maxsize=1 << 12)  # areas may all have the name of the area around behind their own
def plain(text: str) -> str:
    """The words in lower case, without accents and punctuation, single-spaced; 1.02 stays 1.02."""
    if not text.isascii():
        text = "".join(
            one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)
        )
    words = _BETWEEN_WORDS.sub(
        " ", _NOT_HEARD.sub("", text.casefold()).replace("&", " and ")
    ).split()
    return " ".join(SAME_WORDS.get(word, word) for word in words)


def _roughly_plain(text: str) -> str:
    """A text that contains all words of the plain form. Usually faster."""
    if text.isascii() and not ("." in text or "'" in text or "&" in text):
        return text.casefold()
    return plain(text)


def parts_of(text: str) -> list[str]:
    """The texts between commas or semicolons: the area, then what contains it."""
    return [part for part in map(plain, _BETWEEN_PARTS.split(text)) if part]


class AreaNames:
    """Reads the names of a census's areas by its spelling.

    `part_names` has the names of its parts, such as states, by their ids.
    """

    def __init__(self, spelling: Spelling, part_names: Mapping[str, Sequence[str]]) -> None:
        self._spelling = spelling
        self._ends = {
            kind: tuple(f" {end}" for end in ends) for kind, ends in spelling.ends.items()
        }
        self._forms_of_part = {
            code: frozenset(map(plain, names)) for code, names in part_names.items()
        }
        self.part_of_form = {
            form: code for code, forms in self._forms_of_part.items() for form in forms
        }
        self.parts_in = lru_cache(maxsize=1 << 12)(self._parts_in)

    def part_forms(self, code: str) -> frozenset[str]:
        """The names and abbreviations of a part; empty if the id is unknown."""
        return self._forms_of_part.get(code, frozenset())

    def _parts_in(self, part: str) -> frozenset[str]:
        """The ids of the parts that the end of a name lists, such as "az nm ut", or empty."""
        if part in self.part_of_form:
            return frozenset({self.part_of_form[part]})
        codes = [self.part_of_form.get(word) for word in part.split()]
        return frozenset(code for code in codes if code) if all(codes) else frozenset()

    def without_part(self, names: Sequence[str]) -> list[str]:
        """The texts of a name without a final one that names parts of the census."""
        return list(names[:-1] if len(names) > 1 and self.parts_in(names[-1]) else names)

    def short_forms(self, head: str, kind: AreaKind) -> list[str]:
        """A name without its generic word, as "providence" for "providence county"."""
        if kind == self._spelling.last:
            return self.started_forms(head)
        shorter = _without_end(head, self._ends.get(kind, ()))
        if shorter is None:
            return []
        return [
            shorter,
            *(self.short_forms(shorter, kind) if kind in self._spelling.repeats else ()),
        ]

    def started_forms(self, head: str) -> list[str]:
        """The name of an area of the last kind with each of the words that it may begin with."""
        words = self._spelling.starts
        starts = [f"{word} " for word in words if head.startswith(f"{word} ")]
        return [f"{word} {head.removeprefix(starts[0])}" for word in words] if starts else []

    def heads_of_area(self, name: str, kind: AreaKind) -> Forms:
        """The names of an area without what contains it: whole and short."""
        parts = self.without_part(parts_of(name))
        asides = self.without_part(parts_of(_ASIDE.sub(" ", name))) if "(" in name else parts
        wholes = [
            " ".join(some[:1] if kind == self._spelling.last else some) for some in (parts, asides)
        ]
        wholes = list(dict.fromkeys(one for one in wholes if one))
        return wholes, [short for whole in wholes for short in self.short_forms(whole, kind)]


def forms_of_group(name: str, kind: GroupKind) -> Forms:
    """The names of a group, with its kind and without.

    What follows a colon, as in "Black: Somali", is a short name, too.
    """
    wholes, shorts = [], []
    for text in (name, _ASIDE.sub(" ", name)):
        whole = plain(text)
        base = _without_end(whole, tuple(f" {end}" for end in kind.ends)) or whole
        wholes += [whole, *(f"{base} {end}" for end in kind.ends)]
        shorts.append(base)
    shorts += map(plain, name.split(": ")[1:][-1:])
    return list(dict.fromkeys(wholes)), list(dict.fromkeys(shorts))


def _without_end(text: str, ends: tuple[str, ...]) -> str | None:
    """The text without the first ending that fits, or None.

    Endings include the space before them.
    """
    return (
        next(text.removesuffix(end) for end in ends if text.endswith(end))
        if text.endswith(ends)
        else None
    )


class NameIndex:
    """Finds positions in a list of named things. Whole names beat short forms.

    All forms take long to make, so the first few questions look only at names that share a word.
    """

    def __init__(
        self,
        names: Sequence[str],
        forms_of: Callable[[int], Forms],
        other_words: Iterable[str] = (),
    ) -> None:
        """`forms_of` returns the forms of the name at a position.

        They are made of its words or of `other_words`. A short list may have other forms too.
        """
        self._names = names
        self._forms_of = forms_of
        self._other_words = frozenset(" ".join([*SAME_WORDS.values(), *other_words]).split())
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
        """(rank, position) of everything with this form: rank 0 if it is whole, 1 if short."""
        self._times_asked += 1
        own_words = [word for word in form.split() if word not in self._other_words]
        if len(self._names) <= _FEW_NAMES or self._times_asked > _SELDOM or not own_words:
            return [
                (rank, at)
                for rank, by_form in enumerate(self._positions)
                for at in by_form.get(form, ())
            ]
        word = max(own_words, key=len)
        near = [
            (at, self._forms_of(at)) for at, words in enumerate(self._rough_names) if word in words
        ]
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
        found = [
            position
            for position, name in enumerate(self._names)
            if words <= set(plain(name).split())
        ]
        return sorted(found, key=lambda position: len(self._names[position]))


_MOST_SUGGESTIONS = 3
_LEAST_LIKENESS = 0.7

_NamedIndex = tuple[NameIndex, Callable[[int], str | None]]
"""An index, and the name of what is at a position; none if it is not to be suggested."""


def suggestions(wanted: str, indices: Sequence[_NamedIndex]) -> list[str]:
    """Names that have all the wanted words, else names that look similar."""
    if not wanted:
        return []
    with_words = (
        name_of(position) for index, name_of in indices for position in index.with_words(wanted)
    )
    found = [name for name in with_words if name is not None] or _alike(wanted, indices)
    return list(dict.fromkeys(found))[:_MOST_SUGGESTIONS]


def _alike(wanted: str, indices: Sequence[_NamedIndex]) -> list[str]:
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


_LEAST_LETTERS = 4  # of a word that may have a typing error
_SEVERAL = 3


def group_suggestions(wanted: str, groups: Sequence[tuple[str, GroupKind]]) -> list[str]:
    """Names of groups that are in the text, then those that have the text in them.

    A word that no name has may have one typing error. Around a name, only words may be left over
    that several groups share, such as American in "Mexican American". So no suggestion is a
    different people.
    """
    of_kinds = {word for _, kind in groups for end in kind.ends for word in end.split()}
    shared = _shared_words(groups)
    known = of_kinds.union(*(plain(name).split() for name, _ in groups))
    meant = [
        {word} if word in known else {one for one in known if _is_typing_error(word, one)}
        for word in wanted.split()
    ]
    named = [words for words in meant if not words or words - of_kinds]
    kinds_meant = set[str]().union(*(words for words in meant if words <= of_kinds))
    in_text, with_text = [], []
    for name, kind in groups:
        words, *heads = [
            [word for word in form.split() if word not in of_kinds]
            for form in _heads_of_group(name, kind)
        ]
        if not kinds_meant <= {*plain(name).split(), *" ".join(kind.ends).split()}:
            continue
        if any(_is_in_text(head, named, shared) for head in [words, *heads]):
            in_text.append(name)
        elif _has_text(words, named):
            with_text.append(name)
    return list(dict.fromkeys([*sorted(in_text, key=len), *sorted(with_text, key=len)]))[
        :_MOST_SUGGESTIONS
    ]


def _shared_words(groups: Sequence[tuple[str, GroupKind]]) -> set[str]:
    """The words that the names of several groups have, of whatever kind."""
    groups_of: dict[str, set[str]] = defaultdict(set)
    for name, kind in groups:
        base = forms_of_group(name, kind)[1][0]
        for word in base.split():
            groups_of[word].add(base)
    return {word for word, bases in groups_of.items() if len(bases) >= _SEVERAL}


def _heads_of_group(name: str, kind: GroupKind) -> list[str]:
    """The whole name, then its short forms, then its part before a comma.

    In "Chinese, except Taiwanese" this part is Chinese.
    """
    return [plain(name), *forms_of_group(name, kind)[1], plain(name.partition(",")[0])]


def _is_in_text(words: Sequence[str], text: Sequence[Set[str]], shared: Set[str]) -> bool:
    """Whether words follow each other in a text whose other words several groups share."""
    for at in range(len(text) - len(words) + 1 if words else 0):
        others = [*text[:at], *text[at + len(words) :]]
        if all(map(contains, text[at:], words)) and all(one & shared for one in others):
            return True
    return False


def _has_text(words: Sequence[str], text: Sequence[Set[str]]) -> bool:
    """Whether the words of a text follow each other in a name."""
    return any(
        all(map(contains, text, words[at:]))
        for at in range(len(words) - len(text) + 1 if text else 0)
    )


def _is_typing_error(typed: str, word: str) -> bool:
    """Whether a letter is missing, added or wrong, or two neighbours are swapped.

    The first letter must be right.
    """
    if len(typed) < _LEAST_LETTERS or typed[0] != word[:1] or abs(len(typed) - len(word)) > 1:
        return False
    differs = (at for at, (one, other) in enumerate(zip(typed, word, strict=False)) if one != other)
    start = next(differs, min(len(typed), len(word)))
    one, other = typed[start:], word[start:]
    is_swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return is_swapped or other in (one[1:], other[:1] + one, other[:1] + one[1:])
