"""Who lives in a neighbourhood: a palette of (race code, ethnicity code) pairs, of which each person takes one.

A neighbourhood's palette is drawn from its county's, that from the state's, and that from the nation's mix. A draw
fills several places of the palette, some of them many: so groups gather, and most groups are absent from most tracts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safetab.census.geography import NO_ENTITY
from safetab.census.geography_levels import TabulationPass
from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.people.code_mix import MAJORS, CodeMix
from safetab.synthetic.seeded_bits import Integers, RandomBits

STATE_PALETTE = 1 << 16
COUNTY_PALETTE = 1 << 11
NEIGHBOURHOOD_PALETTE = 1 << 8

_DRAWS_OF_A_COUNTY = 600
_DRAWS_OF_A_NEIGHBOURHOOD = 80
# between states: sigma of the logarithm of weights
_SPREAD_OF_MAJORS = {TabulationPass.US: 0.5, TabulationPass.PUERTO_RICO: 0.05}
_WEIGHT_OF_THE_SECOND = {TabulationPass.US: 0, TabulationPass.PUERTO_RICO: 20}  # times that of all others
_SPREAD_OF_CODES = 1.0
_AMERICAN_INDIAN = 2  # in MAJORS
_AT_HOME = 160  # of a neighbourhood's palette inside an AIANNH area
_AREAS = 0xA1A  # where in the addresses of random bits the areas stand: no state has this number

Positions = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Palettes:
    """All palettes of a state in one line: the state's, the counties', the neighbourhoods'."""

    race: Positions
    ethnicity: Positions
    first_of_counties: int
    first_of_neighbourhoods: int


def palettes_of(geography: StateGeography, mix: CodeMix, seed: int) -> Palettes:
    bits = RandomBits(seed, geography.state, 1)
    race, ethnicity = _state_palette(mix, geography.share, bits)
    first = geography.first_block_of_neighbourhood
    county = geography.county_of_tract[geography.tract_of_block[first]]
    # where a state's codes are given, its counties are like it, and only neighbourhoods differ
    draws = COUNTY_PALETTE if geography.share.state.code in mix.given else _DRAWS_OF_A_COUNTY
    in_county = _gathered(bits, geography.share.counties, draws, STATE_PALETTE, COUNTY_PALETTE)
    inside = _gathered(bits, len(first), _DRAWS_OF_A_NEIGHBOURHOOD, COUNTY_PALETTE, NEIGHBOURHOOD_PALETTE)
    in_neighbourhood = in_county[county[:, np.newaxis], inside]
    order = np.concatenate([np.arange(STATE_PALETTE), in_county.ravel(), in_neighbourhood.ravel()])
    first_of_neighbourhoods = STATE_PALETTE + in_county.size
    palettes = Palettes(race[order], ethnicity[order], STATE_PALETTE, first_of_neighbourhoods)
    _settle_areas(palettes, geography.aiannh[first], mix, seed)
    return palettes


def _state_palette(mix: CodeMix, share: StateShare, bits: RandomBits) -> tuple[Positions, Positions]:
    which, given = share.tabulation_pass, mix.given.get(share.state.code)
    race = _chosen(given.race_weight if given else _race_weights(mix, which, bits), STATE_PALETTE, bits)
    of_major = np.array([major.hispanic_per_mille[which] for major in MAJORS], dtype=np.int64)
    per_mille = given.hispanic_per_mille if given else of_major[mix.race_major]
    weights = given.hispanic_weight if given else _hispanic_weights(mix, which, bits)
    hispanic = mix.hispanic[_chosen(weights, len(race), bits)]
    is_hispanic = bits.below(1000, len(race)) < per_mille[race]
    ethnicity = np.where(is_hispanic, hispanic, mix.not_hispanic)
    return race.astype(np.uint16), ethnicity.astype(np.uint16)


def _race_weights(mix: CodeMix, which: TabulationPass, bits: RandomBits) -> Integers:
    shares = np.array([major.share[which] for major in MAJORS], dtype=np.int64)
    shares = shares * bits.lognormal(_SPREAD_OF_MAJORS[which], len(MAJORS))
    weights = mix.race_weight * bits.lognormal(_SPREAD_OF_CODES, mix.races) // 1000 + 1
    of_major = np.bincount(mix.race_major, weights=weights, minlength=len(MAJORS)).astype(np.int64)
    weights = weights * 1000 // np.maximum(of_major[mix.race_major] // 10**6, 1)  # about 10^9 in each major group
    weights *= shares[mix.race_major]
    return weights


def _hispanic_weights(mix: CodeMix, which: TabulationPass, bits: RandomBits) -> Integers:
    """Where nearly all people are Hispanic, most of them have one code, the nation's second."""
    weights: Integers = mix.hispanic_weight * bits.lognormal(_SPREAD_OF_CODES, len(mix.hispanic)) // 1000 + 1
    second = np.argsort(-mix.hispanic_weight, kind="stable")[:2][-1]
    weights[second] += _WEIGHT_OF_THE_SECOND[which] * weights.sum()
    return weights


def _chosen(weights: Integers, count: int, bits: RandomBits) -> Integers:
    ends = np.cumsum(weights)
    steps = bits.words(count, np.uint64) % np.uint64(ends[-1])
    return np.searchsorted(ends, steps.astype(np.int64), side="right")


def _gathered(bits: RandomBits, rows: int, draws: int, choices: int, places: int) -> Integers:
    """For each row, places filled from a few draws among the choices, the first ones many times."""
    falling = np.array([1000 // (3 + rank) for rank in range(draws)], dtype=np.int64)
    times = 1 + falling * (places - draws) // falling.sum()
    times[0] += places - times.sum()
    drawn = bits.below(choices, rows * draws).reshape(rows, draws)
    return np.repeat(drawn, times, axis=1)


def _settle_areas(palettes: Palettes, area_of_neighbourhood: Integers, mix: CodeMix, seed: int) -> None:
    """Inside an AIANNH area most people have one code of American Indians, the same in every state it lies in."""
    native = np.flatnonzero(mix.race_major == _AMERICAN_INDIAN)
    if not len(native):
        return
    race, ethnicity = (
        of_all[palettes.first_of_neighbourhoods :].reshape(-1, NEIGHBOURHOOD_PALETTE)
        for of_all in (palettes.race, palettes.ethnicity)
    )
    for area in np.unique(area_of_neighbourhood[area_of_neighbourhood != NO_ENTITY]).tolist():
        inside = area_of_neighbourhood == area
        drawn = native[_chosen(mix.race_weight[native], 1, RandomBits(seed, _AREAS, area))]
        race[inside, :_AT_HOME] = mix.given_homes.get(area, int(drawn[0]))
        ethnicity[inside, :_AT_HOME] = mix.not_hispanic
