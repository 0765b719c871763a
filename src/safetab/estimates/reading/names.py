"""Names to look things up by: whole, in part, or by id; accents and case don't matter."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property

_MOST_SUGGESTIONS = 3
_MOST_COMPARED = 200


def plain(text: str) -> str:
    """Lower case, without accents, with single spaces."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text.replace("\N{MODIFIER LETTER TURNED COMMA}", ""))
        text = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(text.casefold().replace("'", "").split())


class NameIndex:
    """Finds positions in a list of named things.

    An id beats a whole name, a whole name a short one, and that a part of a name: only the best kind of match counts.
    """

    def __init__(self, ids: Sequence[str], names: Sequence[str], short_of: Callable[[str], str]) -> None:
        self._ids = ids
        self._names = names
        self._short_of = short_of

    @cached_property
    def _position_of_id(self) -> dict[str, int]:
        return {one: position for position, one in enumerate(self._ids)}

    @cached_property
    def _plain(self) -> list[str]:
        return [plain(name) for name in self._names]

    @cached_property
    def _short(self) -> list[str]:
        return [self._short_of(name) for name in self._plain]

    def find(self, text: str) -> tuple[int, list[int]]:
        """How the text matched (0 is best) and what it matched; nothing if nothing did."""
        wanted = plain(text)
        if not wanted:
            return 0, []
        if text.strip() in self._position_of_id:
            return 0, [self._position_of_id[text.strip()]]
        for rank, names in ((1, self._plain), (2, self._short)):
            found = [position for position, name in enumerate(names) if name == wanted]
            if found:
                return rank, found
        padded = " " + wanted
        found = [position for position, name in enumerate(self._plain) if padded in " " + name]
        return 3, found or [position for position, name in enumerate(self._plain) if wanted in name]

    def similar(self, text: str) -> list[tuple[str, str]]:
        """Short and whole names that share the most pairs of letters with the text."""
        wanted = plain(text)
        pairs = {wanted[start : start + 2] for start in range(len(wanted) - 1)}
        likeness = [-sum(pair in name for pair in pairs) for name in self._short]
        best = sorted(range(len(likeness)), key=likeness.__getitem__)[:_MOST_COMPARED]
        return [(self._short[position], self._names[position]) for position in best]


def nearest(text: str, names: Sequence[tuple[str, str]]) -> list[str]:
    """The whole names whose short or whole form looks most like the text; none if none does."""
    forms = {plain(whole): whole for _, whole in reversed(names)} | dict(reversed(names))
    close = difflib.get_close_matches(plain(text), forms, n=_MOST_SUGGESTIONS, cutoff=0.7)
    return list(dict.fromkeys(forms[form] for form in close))
