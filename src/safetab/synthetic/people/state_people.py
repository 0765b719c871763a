"""The people of one state of a synthetic nation, in the order of their blocks, a chunk at a time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import gcd

import numpy as np
from numpy.typing import NDArray

from safetab.synthetic.geography.state_geography import StateGeography
from safetab.synthetic.people.cenrace import MAJOR_RACE_COUNT, cenrace_of_bits
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.demographics import Demographics
from safetab.synthetic.people.palettes import COUNTY_PALETTE, NEIGHBOURHOOD_PALETTE, STATE_PALETTE, Palettes, Positions
from safetab.synthetic.seeded_bits import Integers, RandomBits, apportioned

CHUNK_PEOPLE = 250_000
MOST_RACE_CODES = 8

# of 256 people, those whose codes are drawn from the state at large, or from the county
_OF_THE_STATE, _OF_THE_COUNTY = 5, 32
_WEIGHTS_OF_2_TO_8_CODES = (700, 200, 60, 25, 9, 4, 2)
_TRIES = 5  # for a further code that the person hasn't got yet


@dataclass(frozen=True, slots=True, eq=False)
class FurtherCodes:
    """Those people of a chunk who report several race codes, with all their codes."""

    person: Integers  # position in the chunk
    races: NDArray[np.int32]  # a column for each of QRACE1..8; -1 is no code


@dataclass(frozen=True, slots=True, eq=False)
class PeopleChunk:
    """One element per person, but for the blocks and for those with several codes."""

    blocks: Integers  # positions of blocks; one element per block, in the order of the people
    people_of_block: Integers  # one element for each of them
    demographic: NDArray[np.uint16]  # position in the table of demographics
    race: Positions
    ethnicity: Positions
    several: FurtherCodes


@dataclass(frozen=True, slots=True, eq=False)
class StatePeople:
    """Where the people of a state live, and what they can be."""

    geography: StateGeography
    palettes: Palettes
    demographics: Demographics
    several_of_256: int
    is_shuffled: bool

    @property
    def chunks(self) -> int:
        return -(-self.geography.share.people // CHUNK_PEOPLE)

    def chunk(self, number: int, seed: int) -> PeopleChunk:
        """The same whoever asks, and in which order."""
        bits = RandomBits(seed, self.geography.state, 2, number)
        start = number * CHUNK_PEOPLE
        end = min(start + CHUNK_PEOPLE, self.geography.share.people)
        blocks, people_of_block = (self._scattered if self.is_shuffled else self._in_order)(start, end)
        neighbourhood, county = self._palettes_of(blocks, people_of_block)
        words = bits.words(end - start, np.uint32)
        picks = _picks(words, neighbourhood, county)
        race = self.palettes.race[picks]
        several = np.flatnonzero(words >> 24 < self.several_of_256)
        return PeopleChunk(
            blocks=blocks,
            people_of_block=people_of_block,
            demographic=bits.words(end - start, np.uint16),
            race=race,
            ethnicity=self.palettes.ethnicity[picks],
            several=self._further_codes(several, race[several], (neighbourhood[several], county[several]), bits),
        )

    def _in_order(self, start: int, end: int) -> tuple[Integers, Integers]:
        """The blocks of these people, and how many of them each has, if people stand in the order of their blocks."""
        last_person = self.geography.last_person
        first = np.searchsorted(last_person, start, side="right")
        last = np.searchsorted(last_person, end, side="left")
        return np.arange(first, last + 1), np.diff(np.minimum(last_person[first : last + 1], end), prepend=start)

    def _scattered(self, start: int, end: int) -> tuple[Integers, Integers]:
        """The same if they stand in no such order: steps of a fixed length, round and round, meet everybody once."""
        people = self.geography.share.people
        step = next(step for step in count(people * 618 // 1000 + 1) if gcd(step, people) == 1)
        blocks = np.searchsorted(self.geography.last_person, np.arange(start, end) * step % people, side="right")
        return blocks, np.ones(end - start, dtype=np.int64)

    def _palettes_of(
        self, blocks: Integers, people_of_block: Integers
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """For each person where the palette of the neighbourhood begins, and that of the county."""
        geography, palettes = self.geography, self.palettes
        neighbourhood = np.searchsorted(geography.first_block_of_neighbourhood, blocks, side="right") - 1
        county = geography.county_of_tract[geography.tract_of_block[blocks]]
        of_block = (
            palettes.first_of_neighbourhoods + neighbourhood * NEIGHBOURHOOD_PALETTE,
            palettes.first_of_counties + county * COUNTY_PALETTE,
        )
        of_neighbourhood, of_county = (np.repeat(first.astype(np.uint32), people_of_block) for first in of_block)
        return of_neighbourhood, of_county

    def _further_codes(
        self,
        person: Integers,
        race: Positions,
        palettes: tuple[NDArray[np.uint32], NDArray[np.uint32]],
        bits: RandomBits,
    ) -> FurtherCodes:
        """Further codes are picked as the first ones are, and again if the person has that code already."""
        wanted = _counts_of_codes()[bits.words(len(person), np.uint8)]
        races = np.full((len(person), MOST_RACE_CODES), -1, dtype=np.int32)
        races[:, 0] = race
        neighbourhood, county = palettes
        for slot in range(1, MOST_RACE_CODES):
            missing = np.flatnonzero((wanted > slot) & (races[:, slot - 1] >= 0))
            for _ in range(_TRIES):
                words = bits.words(len(missing), np.uint32)
                found = self.palettes.race[_picks(words, neighbourhood[missing], county[missing])]
                is_new = (races[missing, :slot] != found[:, np.newaxis]).all(axis=1)
                races[missing[is_new], slot] = found[is_new]
                missing = missing[~is_new]
        has_several = races[:, 1] >= 0
        return FurtherCodes(person[has_several], races[has_several])


def _picks(
    words: NDArray[np.uint32], neighbourhood: NDArray[np.uint32], county: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Which place of the palettes each word points to."""
    picks = neighbourhood + (words & np.uint32(NEIGHBOURHOOD_PALETTE - 1))
    chance = (words >> np.uint32(16)).astype(np.uint8)
    of_the_county = np.flatnonzero(chance < _OF_THE_COUNTY)
    picks[of_the_county] = county[of_the_county] + (words[of_the_county] & np.uint32(COUNTY_PALETTE - 1))
    of_the_state = np.flatnonzero(chance < _OF_THE_STATE)
    picks[of_the_state] = words[of_the_state] & np.uint32(STATE_PALETTE - 1)
    return picks


def _counts_of_codes() -> Integers:
    """How many codes each of 256 equally likely people with several codes want to report."""
    weights = np.array(_WEIGHTS_OF_2_TO_8_CODES, dtype=np.int64)
    return np.repeat(np.arange(2, MOST_RACE_CODES + 1), apportioned(256, weights, least=1))


def cenrace_of_chunk(chunk: PeopleChunk, mix: CodeMix) -> NDArray[np.uint8]:
    """CENRACE of the major races among each person's codes."""
    # a code of no major race counts as some other race
    bit_of_race = np.append(1 << np.minimum(mix.race_major, MAJOR_RACE_COUNT - 1), 0).astype(np.uint8)
    number_of_bits = cenrace_of_bits()
    cenrace = number_of_bits[bit_of_race][chunk.race]
    cenrace[chunk.several.person] = number_of_bits[np.bitwise_or.reduce(bit_of_race[chunk.several.races], axis=1)]
    return cenrace
