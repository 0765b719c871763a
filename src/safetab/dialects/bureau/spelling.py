"""How Americans write the names of areas."""

from __future__ import annotations

from types import MappingProxyType

from safetab.census.area_levels import AreaKind
from safetab.census.spelling import Spelling
from safetab.dialects.bureau.states import STATE_NAMES

_TRACTS = 'Tracts are written with commas, e.g. "Tract 1.01, Providence County, RI", or by an id of 11 digits.'


def us_spelling(*, kinds: tuple[AreaKind, ...]) -> Spelling:
    """The spelling of the U.S. census, whose kinds of area are given."""
    named = {kind.name: kind for kind in kinds}
    return Spelling(
        whole_names=named["nation"].words,
        part_names=STATE_NAMES,
        ends=MappingProxyType({kind: kind.ends for kind in kinds if kind.ends}),
        repeats=(named["aiannh"],),
        last=named["tract"],
        starts=("census tract", "tract"),
        as_written=_TRACTS,
    )  # fmt: skip
