"""How levels, kinds and numbers are spelled on the page."""

from __future__ import annotations

from math import ceil, floor

from safetab.census.geography_levels import EntityKind, GeographyLevel, TabulationPass
from safetab.census.iterations import IterationKind
from safetab.products.product import Shape, TableFamily
from safetab.release.release_universe import ReleaseLevel

PASS_NAMES = {TabulationPass.US: "United States", TabulationPass.PUERTO_RICO: "Puerto Rico"}
KIND_NAMES = {
    IterationKind.RACE_ALONE: "Race alone",
    IterationKind.RACE_IN_COMBINATION: "Race alone or in combination",
    IterationKind.ETHNICITY: "Ethnicity",
}
NOTHING = "\N{EN DASH}"
_PLACES_OF_A_PERCENT = 10


def geography_name(level: GeographyLevel) -> str:
    noun = level.entity_kind.noun
    return noun if level.entity_kind is EntityKind.AIANNH else noun.capitalize()


def shape_name(shape: Shape, family: TableFamily) -> str:
    return "total only" if shape is family.total else shape.words


def level_name(level: ReleaseLevel) -> str:
    """Such as "County, Detailed", and which pass, where it isn't the United States."""
    family = f", {level.family.name}" if level.design.product.has_several_families else ""
    return f"{area_name(level.geography)}, {level.level.iterations.label}{family}"


def area_name(level: GeographyLevel) -> str:
    """Such as "County", and which pass, where it isn't the United States."""
    which, noun = level.tabulation_pass, geography_name(level)
    return noun if which is TabulationPass.US else f"{PASS_NAMES[which]} {noun.lower()}"


def percent(part: int, whole: int) -> str:
    """Never 0% for something and never 100% for less than all."""
    if not whole:
        return NOTHING
    if part in {0, whole}:
        return "100%" if part else "0%"
    share = 100 * part / whole
    if share < 0.1:
        return "<0.1%"
    if share > 99.9:
        return ">99.9%"
    shown = f"{share:.1f}" if share < _PLACES_OF_A_PERCENT or share > 100 - _PLACES_OF_A_PERCENT else f"{share:.0f}"
    return f"{shown.removesuffix('.0')}%"


def rounded_up(number: float) -> str:
    """A bound stays a bound: more than it is, at three digits if it is small."""
    if number >= 100:
        return f"{ceil(number):,}"
    if number <= 0:
        return "0"
    digits = 0
    while number * 10**digits < 100 and digits < 4:
        digits += 1
    shown = ceil(number * 10**digits) / 10**digits
    return f"{floor(shown):,}" if shown == floor(shown) else f"{shown:.{digits}f}"
