"""What may have been meant by a name that there isn't."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence

from safetab.estimates.reading.names import NameIndex

_MOST_SUGGESTIONS = 3
_LEAST_LIKENESS = 0.7

NamedIndex = tuple[NameIndex, Callable[[int], str | None]]
"""An index, and the name of what is at a position; none if it is not to be suggested."""


def suggestions(wanted: str, indices: Sequence[NamedIndex]) -> list[str]:
    """Names that have all the words that are wanted, else names that look like it."""
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
    """The names, given by their forms, that look most like what is wanted, best first; none if none does."""
    close = difflib.get_close_matches(wanted, names, n=_MOST_SUGGESTIONS, cutoff=_LEAST_LIKENESS)
    return list(dict.fromkeys(name for form in close for name in names[form]))
