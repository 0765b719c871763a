"""The states of the U.S. census, and which pass tabulates which."""

from __future__ import annotations

from types import MappingProxyType

from safetab.foundation.files import package_data

PUERTO_RICO_STATE = "72"
_STATES = package_data("safetab.model.us", "states.toml")

STATE_NAMES = MappingProxyType(
    {code: (name, abbreviation) for code, (abbreviation, name, *_) in _STATES.items()}
)
"""(name, abbreviation) by the two digits of a state's id."""

TILES = tuple((code, abbreviation, *tile) for code, (abbreviation, _, *tile) in _STATES.items())
"""The id and abbreviation of each state, and the column and row of its tile in a map of tiles."""

ISLAND_AREAS = frozenset({"60", "66", "69", "74", "78"})
"""FIPS codes of the island areas, which are in no pass.

American Samoa, Guam, the Northern Marianas, the minor outlying and the Virgin Islands.
"""

US_STATES = frozenset(STATE_NAMES) - {PUERTO_RICO_STATE}
"""FIPS codes of the 50 states and the District of Columbia."""
