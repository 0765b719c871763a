"""How people write the names of areas, and files of boundaries their ids: facts of a census."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from safetab.census.area_levels import AreaKind


@dataclass(frozen=True, slots=True)
class Spelling:
    """Words in the names of areas, in the plain form: lower case, no punctuation, single spaces.

    The rules that use them are in estimates/reading and in the scripts of a site.

    The areas of the kind `last` are many, and their names are looked at last. These begin with one of
    `starts`, the last of which is the usual one, and name behind the first comma what contains the area.
    """

    whole_names: tuple[str, ...] = ()  # other names of the area that holds everybody
    part_names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Names and abbreviations of the census's parts by id. If it is empty, the areas' own names are taken."""
    ends: Mapping[AreaKind, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Generic words at the end of names, such as county, which people leave out; the first that fits counts."""
    repeats: tuple[AreaKind, ...] = ()  # kinds whose names may end with several of these words
    last: AreaKind | None = None
    starts: tuple[str, ...] = ()
    as_written: str = ""  # a sentence that shows how areas of the last kind are written


@dataclass(frozen=True, slots=True)
class BoundaryFiles:
    """How files of boundaries spell the ids of areas, besides the columns of each kind of area."""

    id_columns: tuple[str, ...] = ("ID",)  # in capitals
    column_end: str = "$"  # a regular expression: endings of columns that don't matter
    id_forms: tuple[str, ...] = ("(.*)",)  # regular expressions whose group is the id
    example: str = ""  # an id
