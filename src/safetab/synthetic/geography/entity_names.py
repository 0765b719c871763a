"""The names of entities: given ones, or made-up ones in the manner of real ones. States have their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from safetab.census.geography import NATION_ID, region_id
from safetab.census.geography_levels import EntityKind, GeographyLevel, TabulationPass
from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.seeded_bits import RandomBits

Named = tuple[GeographyLevel, str, str]
"""A level, the id of one of its entities, and the entity's name."""

_BEGINNINGS = (
    "Alder", "Amber", "Ash", "Barn", "Bay", "Bell", "Birch", "Black", "Bridge", "Brook", "Cedar", "Clear", "Clover",
    "Copper", "Crest", "Deer", "East", "Elm", "Fair", "Fern", "Flint", "Fox", "Glen", "Gold", "Grand", "Green", "Hart",
    "Haven", "Hazel", "High", "Iron", "Juniper", "Lake", "Linden", "Long", "Maple", "Marsh", "Mill", "North", "Oak",
    "Otter", "Pine", "Prairie", "Red", "Ridge", "River", "Rock", "Rose", "Salt", "Sand", "Silver", "South", "Spring",
    "Stone", "Summer", "Thorn", "Walnut", "West", "White", "Willow",
)  # fmt: skip
_ENDINGS = (
    "bend", "bluff", "borough", "bury", "crossing", "dale", "field", "ford", "gate", "grove", "ham", "haven", "hill",
    "hurst", "land", "ley", "mere", "mont", "more", "port", "ridge", "shore", "side", "stead", "ton", "vale", "view",
    "ville", "water", "way", "wick", "wood", "worth",
)  # fmt: skip
_SPANISH_BEGINNINGS = (
    "Agua",
    "Alto",
    "Bella",
    "Campo",
    "Cerro",
    "Loma",
    "Monte",
    "Palma",
    "Río",
    "Santa",
    "Valle",
    "Villa",
)
_SPANISH_ENDINGS = ("Alegre", "Blanca", "Clara", "del Mar", "Elena", "Grande", "Hermosa", "Nueva", "Rosa", "Verde")
_ORDINALS = ("", " Heights", " Center", " Junction", " Springs", " Park", " Corners", " Falls")


def nation_name() -> Named:
    return GeographyLevel.USA, str(NATION_ID), "United States"


def names_in(geography: StateGeography, seed: int) -> Iterator[Named]:
    """The state and everything inside it that no other state shares; a name says in which state it is."""
    state, share = geography.share.state, geography.share
    level_of = {
        level.entity_kind: level for level in GeographyLevel if level.tabulation_pass is geography.share.tabulation_pass
    }
    bits = RandomBits(seed, geography.state, 3)
    yield level_of[EntityKind.STATE], state.code, state.name
    county_names = [county.name for county in share.given_counties] or [
        f"{name} {_county_noun(geography)}" for name in _made_up(share.counties, geography, bits)
    ]
    first_tract = np.searchsorted(geography.county_of_tract, np.arange(share.counties))
    county_id = geography.state * 1000 + geography.county_number_of_tract
    for county, name in zip(county_id[first_tract].tolist(), county_names, strict=True):
        yield level_of[EntityKind.COUNTY], region_id(county, EntityKind.COUNTY), f"{name}, {state.name}"
    tracts = zip(county_id.tolist(), geography.tract_number.tolist(), geography.county_of_tract.tolist(), strict=True)
    for county, number, position in tracts:
        tract = region_id(county * 10**6 + number, EntityKind.TRACT)
        yield (
            level_of[EntityKind.TRACT],
            tract,
            f"Census Tract {_dotted(number)}, {county_names[position]}, {state.name}",
        )
    place_names = [place.name for county in share.given_counties for place in county.places] or _made_up(
        share.places, geography, bits
    )
    for number, name in zip(geography.place_number.tolist(), place_names, strict=True):
        place = region_id(geography.state * 10**5 + number, EntityKind.PLACE)
        yield level_of[EntityKind.PLACE], place, f"{name}, {state.name}"


def names_of_areas(shares: Sequence[StateShare], seed: int) -> Iterator[Named]:
    """AIANNH areas, which states can share."""
    areas = sorted({area for share in shares for area in share.aiannh_areas})
    given = {
        area.code: area.name for share in shares for county in share.given_counties for area in county.aiannh_areas
    }
    names = _combined(_BEGINNINGS, ("Reservation", "Village", "Off-Reservation Trust Land", "Rancheria"), len(areas))
    order = np.argsort(RandomBits(seed, 0, 3).words(len(areas), np.uint64), kind="stable")
    for area, position in zip(areas, order.tolist(), strict=True):
        yield GeographyLevel.AIANNH, region_id(area, EntityKind.AIANNH), given.get(area, names[position])


def _made_up(count: int, geography: StateGeography, bits: RandomBits) -> list[str]:
    """Distinct names, in an order of the bits."""
    if geography.share.tabulation_pass is TabulationPass.PUERTO_RICO:
        names = _combined(_SPANISH_BEGINNINGS, _SPANISH_ENDINGS, count)
    else:
        joined = [beginning + ending for beginning in _BEGINNINGS for ending in _ENDINGS if beginning.lower() != ending]
        order = np.argsort(bits.words(len(joined), np.uint64), kind="stable")
        names = _combined([joined[position] for position in order.tolist()], _ORDINALS, count)
    order = np.argsort(bits.words(count, np.uint64), kind="stable")
    return [names[position] for position in order.tolist()]


def _combined(beginnings: tuple[str, ...] | list[str], endings: tuple[str, ...], count: int) -> list[str]:
    """The first of all combinations; should they run out, they come again with a number."""
    names = []
    for number in range(count):
        again, within = divmod(number, len(beginnings) * len(endings))
        ending, beginning = divmod(within, len(beginnings))
        text = f"{beginnings[beginning]} {endings[ending].strip()}".strip()
        names.append(text if not again else f"{text} {again + 1}")
    return names


def _county_noun(geography: StateGeography) -> str:
    if geography.share.tabulation_pass is TabulationPass.PUERTO_RICO:
        return "Municipio"
    return {"22": "Parish", "02": "Borough", "11": "District"}.get(geography.share.state.code, "County")


def _dotted(number: int) -> str:
    """101 for 010100, 101.01 for 010101."""
    whole, split = divmod(number, 100)
    return f"{whole}.{split:02d}" if split else str(whole)
