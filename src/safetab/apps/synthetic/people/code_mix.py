"""The mix of codes that people report.

It says how often, in the nation and in the palette of each neighbourhood. In each major group the
lowest code stands for the group's checkbox, which many people mark without writing more. The other
codes have a heavy tail, and the seed decides which of them are common. A palette holds (race code,
ethnicity code) pairs; each person takes one. That of a neighbourhood is drawn from its county's,
which is drawn from the state's, so groups gather in few tracts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from safetab.apps.synthetic.geography.census_size import StateShare
from safetab.apps.synthetic.geography.state_geography import StateGeography
from safetab.apps.synthetic.seeded_bits import Integers, RandomBits
from safetab.model.census.area_levels import Pass
from safetab.model.census.areas import NO_ENTITY
from safetab.model.census.groups import PublicLists
from safetab.model.products.bureau_columns import RACE
from safetab.model.us.us_census import ETHNICITY_KIND, MAJOR, PR_PASS, RACE_ALONE, US_PASS

MAJOR_RACE_COUNT = 6
_OTHER_MAJOR = MAJOR_RACE_COUNT  # none of the major races that CENRACE knows


def numbers_of_sets(majors: int) -> NDArray[np.uint8]:
    """The number of each set of major races, with one bit per race.

    CENRACE is that of six races. 1 to 6 are one race alone, then come pairs, and so on to 63 for
    all six.
    """
    number_of_bits = np.zeros(1 << majors, dtype=np.uint8)
    sets = (chosen for size in range(1, majors + 1) for chosen in combinations(range(majors), size))
    for number, chosen in enumerate(sets, start=1):
        number_of_bits[sum(1 << major for major in chosen)] = number
    return number_of_bits


MAJORS = (
    "White", "Black or African American", "American Indian", "Asian", "Native Hawaiian",
    "Some Other Race", "",
)  # fmt: skip
"""The beginnings of the names of major groups, in the order of CENRACE.

The last one fits all others.
"""
# by major group: the people per 10,000 whose first code is in it
_SHARES = {
    US_PASS: (6_150, 1_240, 130, 620, 30, 800, 50),
    PR_PASS: (3_100, 1_000, 60, 20, 5, 5_800, 15),
}
# and how many of 1,000 of them are Hispanic
_HISPANIC_PER_MILLE = {
    US_PASS: (135, 40, 280, 20, 80, 920, 190),
    PR_PASS: (980, 980, 990, 400, 700, 995, 980),
}

_CHECKBOX_SHARE = 400  # per mille of a major group
_TAIL_OF_RACES = 1.1
_TAIL_OF_ETHNICITIES = 1.5
_RESOLUTION = 10**6


@dataclass(frozen=True, slots=True, eq=False)
class StateCodes:
    """The frequency of codes in one state, if this is given instead of drawn."""

    race_weight: Integers  # one element per race code
    hispanic_per_mille: Integers  # among the people with this race code
    hispanic_weight: Integers  # one element per Hispanic code


@dataclass(frozen=True, slots=True, eq=False)
class CodeMix:
    """The codes that people report, and how often in the nation as a whole."""

    codes: tuple[str, ...]  # races first, then codes that only QSPAN may hold
    race_major: Integers  # position in MAJORS, one element per race code
    race_weight: Integers  # within its major group
    hispanic: Integers  # positions in `codes`
    hispanic_weight: Integers
    not_hispanic: int  # position in `codes`
    given: Mapping[str, StateCodes] = field(default_factory=dict)  # by the code of the state
    # the race code of the people of an AIANNH area, by the code of the area
    given_homes: Mapping[int, int] = field(default_factory=dict)

    @property
    def races(self) -> int:
        """The number of race codes."""
        return len(self.race_major)


def code_mix_of(lists: PublicLists, seed: int) -> CodeMix:
    """The mix of codes for these lists, which must have a race code."""
    bits = RandomBits(seed, 0, 0)
    codes = sorted(lists.code_names, key=lambda code: (not RACE.may_hold(code), code))
    races = [code for code in codes if RACE.may_hold(code)]
    majors = _major_of_codes(lists)
    race_major = np.array([majors.get(code, _OTHER_MAJOR) for code in races], dtype=np.int64)
    weight = np.zeros(len(races), dtype=np.int64)
    for major in range(len(MAJORS)):
        inside = np.flatnonzero(race_major == major)
        weight[inside[:1]] = _RESOLUTION * _CHECKBOX_SHARE
        weight[inside[1:]] = _tail(len(inside) - 1, _TAIL_OF_RACES, bits) * (1000 - _CHECKBOX_SHARE)
    ethnicities = [
        lists.codes_of_iteration[iteration.code]
        for iteration in lists.iterations
        if iteration.kind == ETHNICITY_KIND and iteration.listed is not None
    ]
    # without tabulated ethnicity groups, the highest code stands for all of them
    hispanic = sorted(frozenset().union(*ethnicities)) or [max(codes)]
    # the highest code that belongs to no ethnicity group: 9950 in 2020
    not_hispanic = max(set(codes) - set(hispanic), default=max(codes))
    positions = {code: position for position, code in enumerate(codes)}
    at = np.array([positions[code] for code in hispanic], dtype=np.int64)
    hispanic_weight = _tail(len(hispanic), _TAIL_OF_ETHNICITIES, bits)
    return CodeMix(tuple(codes), race_major, weight, at, hispanic_weight, positions[not_hispanic])


def _tail(count: int, exponent: float, bits: RandomBits) -> Integers:
    """Weights that sum to about a million, in random order.

    The k-th largest is proportional to 1 / k to the power of the exponent.
    """
    if count <= 0:
        return np.empty(0, dtype=np.int64)
    falling = [1 / rank**exponent for rank in range(1, count + 1)]
    whole = sum(falling)
    weights = [max(1, round(_RESOLUTION * part / whole)) for part in falling]
    return np.array(weights, dtype=np.int64)[bits.order(count)]


def _major_of_codes(lists: PublicLists) -> Mapping[str, int]:
    """The position in MAJORS of each code.

    The name of the largest major iteration that has the code decides.
    """
    major_of: dict[str, int] = {}
    for iteration in sorted(
        lists.iterations, key=lambda iteration: len(lists.codes_of_iteration[iteration.code])
    ):
        if iteration.level == MAJOR and iteration.kind == RACE_ALONE:
            position = next(
                position for position, name in enumerate(MAJORS) if iteration.name.startswith(name)
            )
            major_of |= dict.fromkeys(lists.codes_of_iteration[iteration.code], position)
    return major_of


STATE_PALETTE = 1 << 16
COUNTY_PALETTE = 1 << 11
NEIGHBOURHOOD_PALETTE = 1 << 8

_DRAWS_OF_A_COUNTY = 600
_DRAWS_OF_A_NEIGHBOURHOOD = 80
# sigma of the logarithm of weights, between states
_SPREAD_OF_MAJORS = {US_PASS: 0.5, PR_PASS: 0.05}
_WEIGHT_OF_THE_SECOND = {US_PASS: 0, PR_PASS: 20}  # times that of all others
_SPREAD_OF_CODES = 1.0
_AMERICAN_INDIAN = 2  # in MAJORS
_AT_HOME = 160  # of a neighbourhood's palette inside an AIANNH area
_AREAS = 0xA1A  # the address of random bits for areas: no state has this number

Positions = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class Palettes:
    """All palettes of a state in one array.

    The state's come first, then the counties', then the neighbourhoods'. The first palette of a
    county begins at STATE_PALETTE.
    """

    race: Positions
    ethnicity: Positions
    first_of_neighbourhoods: int


def palettes_of(geography: StateGeography, mix: CodeMix, seed: int) -> Palettes:
    """Draw the palettes of a state, its counties and its neighbourhoods."""
    bits = RandomBits(seed, geography.state, 1)
    race, ethnicity = _state_palette(mix, geography.share, bits)
    first = geography.first_block_of_neighbourhood
    county = geography.county_of_tract[geography.tract_of_block[first]]
    # if the codes of a state are given, its counties are like it and only neighbourhoods differ
    draws = COUNTY_PALETTE if geography.share.state.code in mix.given else _DRAWS_OF_A_COUNTY
    in_county = _gathered(bits, geography.share.counties, draws, STATE_PALETTE, COUNTY_PALETTE)
    inside = _gathered(
        bits, len(first), _DRAWS_OF_A_NEIGHBOURHOOD, COUNTY_PALETTE, NEIGHBOURHOOD_PALETTE
    )
    in_neighbourhood = in_county[county[:, np.newaxis], inside]
    order = np.concatenate([np.arange(STATE_PALETTE), in_county.ravel(), in_neighbourhood.ravel()])
    palettes = Palettes(race[order], ethnicity[order], STATE_PALETTE + in_county.size)
    _settle_areas(palettes, geography.aiannh[first], mix, seed)
    return palettes


def _state_palette(
    mix: CodeMix, share: StateShare, bits: RandomBits
) -> tuple[Positions, Positions]:
    """The race and ethnicity codes of the state's palette, by their positions in the mix."""
    which = share.tabulation_pass
    given = mix.given.get(share.state.code)
    race_weight = given.race_weight if given else _race_weights(mix, which, bits)
    race = _chosen(race_weight, STATE_PALETTE, bits)
    of_major = np.array(_HISPANIC_PER_MILLE[which], dtype=np.int64)
    per_mille = given.hispanic_per_mille if given else of_major[mix.race_major]
    hispanic_weight = given.hispanic_weight if given else _hispanic_weights(mix, which, bits)
    hispanic = mix.hispanic[_chosen(hispanic_weight, len(race), bits)]
    is_hispanic = bits.chances(per_mille[race], len(race))
    ethnicity = np.where(is_hispanic, hispanic, mix.not_hispanic)
    return race.astype(np.uint16), ethnicity.astype(np.uint16)


def _race_weights(mix: CodeMix, which: Pass, bits: RandomBits) -> Integers:
    """The weights of race codes in a state: major groups differ, and so do the codes inside."""
    shares = np.array(_SHARES[which]) * bits.lognormal(_SPREAD_OF_MAJORS[which], len(MAJORS))
    weights = mix.race_weight * bits.lognormal(_SPREAD_OF_CODES, mix.races) // 1000 + 1
    of_major = np.bincount(mix.race_major, weights=weights, minlength=len(MAJORS)).astype(np.int64)
    # now about 10^9 in each major group
    weights = weights * 1000 // np.maximum(of_major[mix.race_major] // 10**6, 1)
    return weights * shares[mix.race_major]


def _hispanic_weights(mix: CodeMix, which: Pass, bits: RandomBits) -> Integers:
    """The weights of Hispanic codes.

    Where nearly all people are Hispanic, most of them have the nation's second most common code.
    """
    weights: Integers = (
        mix.hispanic_weight * bits.lognormal(_SPREAD_OF_CODES, len(mix.hispanic)) // 1000 + 1
    )
    second = np.argsort(-mix.hispanic_weight, kind="stable")[:2][-1]
    weights[second] += _WEIGHT_OF_THE_SECOND[which] * weights.sum()
    return weights


def _chosen(weights: Integers, count: int, bits: RandomBits) -> Integers:
    """Random positions, each with a chance in proportion to its weight."""
    ends = np.cumsum(weights)
    steps = bits.words(count, np.uint64) % np.uint64(ends[-1])
    return np.searchsorted(ends, steps.astype(np.int64), side="right")


def _gathered(bits: RandomBits, rows: int, draws: int, choices: int, slots: int) -> Integers:
    """Fill the slots of each row from a few draws among the choices.

    The first draws come often.
    """
    falling = np.array([1000 // (3 + rank) for rank in range(draws)], dtype=np.int64)
    times = 1 + falling * (slots - draws) // falling.sum()
    times[0] += slots - times.sum()
    drawn = bits.below(choices, rows * draws).reshape(rows, draws)
    return np.repeat(drawn, times, axis=1)


def _settle_areas(
    palettes: Palettes, area_of_neighbourhood: Integers, mix: CodeMix, seed: int
) -> None:
    """Give most people of an AIANNH area one American Indian code, the same in every state."""
    native = np.flatnonzero(mix.race_major == _AMERICAN_INDIAN)
    if not len(native):
        return
    neighbourhoods = slice(palettes.first_of_neighbourhoods, None)
    race = palettes.race[neighbourhoods].reshape(-1, NEIGHBOURHOOD_PALETTE)
    ethnicity = palettes.ethnicity[neighbourhoods].reshape(-1, NEIGHBOURHOOD_PALETTE)
    for area in np.unique(area_of_neighbourhood[area_of_neighbourhood != NO_ENTITY]).tolist():
        inside = area_of_neighbourhood == area
        drawn = native[_chosen(mix.race_weight[native], 1, RandomBits(seed, _AREAS, area))]
        race[inside, :_AT_HOME] = mix.given_homes.get(area, int(drawn[0]))
        ethnicity[inside, :_AT_HOME] = mix.not_hispanic
