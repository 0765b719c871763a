"""The people of one state of a synthetic nation, a chunk at a time.

They come in the order of their blocks. Age, sex and householder come from one table of 65,536
equally likely people. Codes come from palettes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from safetab.apps.synthetic.geography.state_geography import StateGeography
from safetab.apps.synthetic.people import code_mix
from safetab.apps.synthetic.people.code_mix import CodeMix, Palettes, Positions
from safetab.apps.synthetic.seeded_bits import (
    Integers,
    RandomBits,
    apportioned,
    from_age_on,
    stride_through,
)
from safetab.foundation.arrays import find_sorted
from safetab.model.census.area_levels import Pass
from safetab.model.products.safetab_p.safetab_p import OLDEST_AGE
from safetab.model.us.us_census import PR_PASS, US_PASS

CHUNK_PEOPLE = 250_000
MOST_RACE_CODES = 8
PEOPLE_OF_THE_TABLE = 1 << 16

_PYRAMIDS = {
    US_PASS: (112, 126, 131, 137, 123, 124, 127, 92, 40, 11),
    PR_PASS: (58, 95, 125, 122, 128, 136, 138, 118, 56, 16),
}
"""The weight of one year of age at the beginning of each decade.

Between them it changes evenly.
"""
# from this age on, per mille
_WOMEN = ((0, 489), (40, 503), (65, 535), (80, 590), (90, 680))
_HOUSEHOLDERS = ((0, 0), (18, 120), (25, 430), (35, 540), (65, 610))

# of 256 people, how many draw their codes from the palette of the state, or of the county
_OF_THE_STATE = 5
_OF_THE_COUNTY = 32
_WEIGHTS_OF_2_TO_8_CODES = (700, 200, 60, 25, 9, 4, 2)
_TRIES = 5  # to find a further code that the person does not have yet

_Starts = NDArray[np.uint32]
"""The beginnings of palettes in the array of all palettes."""


@dataclass(frozen=True, slots=True, eq=False)
class Demographics:
    """The table of demographics: one element per person."""

    age: NDArray[np.int8]
    is_female: NDArray[np.int8]
    is_householder: NDArray[np.int8]


def demographics(which: Pass, seed: int) -> Demographics:
    """Draw the table of demographics of a pass."""
    bits = RandomBits(seed, 0, 1)
    people_of_age = apportioned(PEOPLE_OF_THE_TABLE, _weights_of_ages(_PYRAMIDS[which]), least=1)
    age = np.repeat(np.arange(OLDEST_AGE + 1), people_of_age)
    women = bits.chances(from_age_on(_WOMEN, age), len(age))
    householders = bits.chances(from_age_on(_HOUSEHOLDERS, age), len(age))
    return Demographics(*(column.astype(np.int8) for column in (age, women, householders)))


def _weights_of_ages(pyramid: Sequence[int]) -> Integers:
    """The weight of each year of age, interpolated between the decades of a pyramid."""
    knots = (*zip(range(0, 100, 10), pyramid, strict=True), (100, 0), (OLDEST_AGE + 1, 0))
    weights = [
        (weight * (next_age - age - year) + next_weight * year) * 100 // (next_age - age)
        for (age, weight), (next_age, next_weight) in pairwise(knots)
        for year in range(next_age - age)
    ]
    return np.array(weights, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class FurtherCodes:
    """The people of a chunk who report several race codes, with all their codes."""

    person: Integers  # position in the chunk
    races: NDArray[np.int32]  # one column for each of QRACE1..8; -1 means no code

    def of(self, people: Integers) -> FurtherCodes:
        """The codes of these people, by their position in the list."""
        row, has_several = find_sorted(self.person, people)
        return FurtherCodes(np.flatnonzero(has_several), self.races[row[has_several]])


@dataclass(frozen=True, slots=True, eq=False)
class PeopleChunk:
    """Some people of a state.

    Arrays have one element per person unless a comment says otherwise.
    """

    blocks: Integers  # positions of blocks in the order of the people; one element per block
    people_of_block: Integers  # one element per block
    demographic: NDArray[np.uint16]  # position in the table of demographics
    race: Positions
    ethnicity: Positions
    several: FurtherCodes

    def of(self, people: Integers, blocks: Integers, people_of_block: Integers) -> PeopleChunk:
        """Some of the people, who live in these blocks."""
        codes = self.race[people], self.ethnicity[people], self.several.of(people)
        return PeopleChunk(blocks, people_of_block, self.demographic[people], *codes)


@dataclass(frozen=True, slots=True, eq=False)
class StatePeople:
    """The homes of the people of a state, and the traits that they can have."""

    geography: StateGeography
    palettes: Palettes
    demographics: Demographics
    several_of_256: int
    is_shuffled: bool

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.geography.share.people // CHUNK_PEOPLE)

    def chunk(self, number: int, seed: int) -> PeopleChunk:
        """One chunk of people. It is the same in whatever order chunks are asked for."""
        bits = RandomBits(seed, self.geography.state, 2, number)
        start = number * CHUNK_PEOPLE
        end = min(start + CHUNK_PEOPLE, self.geography.share.people)
        locate = self._blocks_shuffled if self.is_shuffled else self._blocks_in_order
        blocks, people_of_block = locate(start, end)
        neighbourhood, county = self._palettes_of(blocks, people_of_block)
        words = bits.words(end - start, np.uint32)
        picks = _picks(words, neighbourhood, county)
        race = self.palettes.race[picks]
        several = np.flatnonzero(words >> 24 < self.several_of_256)
        demographic = bits.words(end - start, np.uint16)
        codes = self._further_codes(
            several, race[several], neighbourhood[several], county[several], bits
        )
        ethnicity = self.palettes.ethnicity[picks]
        return PeopleChunk(blocks, people_of_block, demographic, race, ethnicity, codes)

    def whole_blocks(self, seed: int) -> Iterator[PeopleChunk]:
        """All chunks with every block in one chunk: households don't cross blocks.

        The last block of a chunk, which may go on in the next one, is moved there.
        """
        held: PeopleChunk | None = None
        for number in range(self.chunks):
            chunk = self.chunk(number, seed)
            whole = chunk if held is None else _joined(held, chunk)
            if number == self.chunks - 1:
                yield whole
            else:
                people, begun = (
                    np.arange(len(whole.race)),
                    len(whole.race) - int(whole.people_of_block[-1]),
                )
                yield whole.of(people[:begun], whole.blocks[:-1], whole.people_of_block[:-1])
                held = whole.of(people[begun:], whole.blocks[-1:], whole.people_of_block[-1:])

    def _blocks_in_order(self, start: int, end: int) -> tuple[Integers, Integers]:
        """The blocks of people in the order of their blocks, and how many live in each."""
        last_person = self.geography.last_person
        first = np.searchsorted(last_person, start, side="right")
        last = np.searchsorted(last_person, end, side="left")
        ends = np.minimum(last_person[first : last + 1], end)
        return np.arange(first, last + 1), np.diff(ends, prepend=start)

    def _blocks_shuffled(self, start: int, end: int) -> tuple[Integers, Integers]:
        """The block of each person if people stand in no order, and 1 for each."""
        people = self.geography.share.people
        person = np.arange(start, end) * stride_through(people) % people
        blocks = np.searchsorted(self.geography.last_person, person, side="right")
        return blocks, np.ones(end - start, dtype=np.int64)

    def _palettes_of(self, blocks: Integers, people_of_block: Integers) -> tuple[_Starts, _Starts]:
        """The beginnings of the palettes of each person's neighbourhood and county."""
        geography, palettes = self.geography, self.palettes
        begins = geography.first_block_of_neighbourhood
        neighbourhood = np.searchsorted(begins, blocks, side="right") - 1
        county = geography.county_of_tract[geography.tract_of_block[blocks]]
        of_neighbourhood = (
            palettes.first_of_neighbourhoods + neighbourhood * code_mix.NEIGHBOURHOOD_PALETTE
        )
        of_county = code_mix.STATE_PALETTE + county * code_mix.COUNTY_PALETTE
        starts = np.repeat(
            np.array([of_neighbourhood, of_county], dtype=np.uint32), people_of_block, axis=1
        )
        return starts[0], starts[1]

    def _further_codes(
        self,
        person: Integers,
        race: Positions,
        neighbourhood: _Starts,
        county: _Starts,
        bits: RandomBits,
    ) -> FurtherCodes:
        """Pick further codes like first codes, and again if the person already has the code."""
        weights = np.array(_WEIGHTS_OF_2_TO_8_CODES, dtype=np.int64)
        counts = np.repeat(np.arange(2, MOST_RACE_CODES + 1), apportioned(256, weights, least=1))
        wanted = counts[bits.words(len(person), np.uint8)]
        races = np.full((len(person), MOST_RACE_CODES), -1, dtype=np.int32)
        races[:, 0] = race
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


def _picks(words: NDArray[np.uint32], neighbourhood: _Starts, county: _Starts) -> _Starts:
    """The position in the array of all palettes that each word points to."""
    picks = neighbourhood + (words & np.uint32(code_mix.NEIGHBOURHOOD_PALETTE - 1))
    chance = (words >> np.uint32(16)).astype(np.uint8)
    of_county = np.flatnonzero(chance < _OF_THE_COUNTY)
    picks[of_county] = county[of_county] + (
        words[of_county] & np.uint32(code_mix.COUNTY_PALETTE - 1)
    )
    of_state = np.flatnonzero(chance < _OF_THE_STATE)
    picks[of_state] = words[of_state] & np.uint32(code_mix.STATE_PALETTE - 1)
    return picks


def _joined(held: PeopleChunk, chunk: PeopleChunk) -> PeopleChunk:
    """One chunk of both. `held` is one block, which may go on in the other chunk."""
    names = ("blocks", "people_of_block", "demographic", "race", "ethnicity")
    columns = {name: np.concatenate((getattr(held, name), getattr(chunk, name))) for name in names}
    if columns["blocks"][0] == columns["blocks"][1]:
        columns["people_of_block"][1] += columns["people_of_block"][0]
        columns |= {name: columns[name][1:] for name in names[:2]}
    persons = np.concatenate((held.several.person, chunk.several.person + len(held.race)))
    races = np.concatenate((held.several.races, chunk.several.races))
    return PeopleChunk(**columns, several=FurtherCodes(persons, races))


def cenrace_of_chunk(chunk: PeopleChunk, mix: CodeMix) -> NDArray[np.uint8]:
    """CENRACE of each person: the set of major races among the person's codes."""
    # a code of no major race counts as some other race
    major = np.minimum(mix.race_major, code_mix.MAJOR_RACE_COUNT - 1)
    bit_of_race = np.append(1 << major, 0).astype(np.uint8)
    number_of_bits = code_mix.numbers_of_sets(code_mix.MAJOR_RACE_COUNT)
    cenrace = number_of_bits[bit_of_race][chunk.race]
    bits_of_several = np.bitwise_or.reduce(bit_of_race[chunk.several.races], axis=1)
    cenrace[chunk.several.person] = number_of_bits[bits_of_several]
    return cenrace
