"""The words by which names are read, handed to the page, so that it reads a name as `show`, `status` and Python do."""

from __future__ import annotations

from safetab.census.state_names import STATE_NAMES
from safetab.estimates.reading.lookup import TRACTS_AS_WRITTEN, WORDS_FOR_MANY_AREAS
from safetab.estimates.reading.names import KIND_ENDS, NATION_NAMES, SAME_WORDS, TRACT_WORDS, TYPE_WORDS
from safetab.site.name_files import KINDS


def spellings() -> dict[str, object]:
    """Names of the nation and of states, words for what an area is, ends of the names of groups by their kind."""
    return {
        "nation": NATION_NAMES,
        "states": [[code, *names] for code, names in STATE_NAMES.items()],
        "same": dict(SAME_WORDS),
        "types": {kind.name.lower(): words for kind, words in TYPE_WORDS.items()},
        "tract": TRACT_WORDS,
        "tractsAsWritten": TRACTS_AS_WRITTEN,
        "kindEnds": [[end for one, end in KIND_ENDS if one is kind] for kind in KINDS],
        "levels": WORDS_FOR_MANY_AREAS,
    }
