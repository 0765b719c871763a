"""The tracts and blocks of the demo census, and how many people each block draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from safetab.synthetic.demo_states import STATES, County, State, Stretch
from safetab.synthetic.weighted_choice import Integers

NO_PLACE = 99999
NO_AIANNH = 9999

_PEOPLE_A_TRACT = 2_800
_FIRST_TRACT = 101
_FEWEST_BLOCKS, _MOST_BLOCKS = 20, 40  # in a tract
_BLOCKS_A_BLOCK_GROUP = 12
_EMPTY_BLOCKS = 0.08
_WEIGHT_OF_A_PERSON = 10_000


@dataclass(frozen=True, eq=False)
class Blocks:
    """One element per block, in the order of block ids; ids are the integers that their digits spell."""

    block: Integers  # 15 digits: state, county, tract, block
    state_position: Integers  # in STATES
    place: Integers  # PLACEFP, or NO_PLACE
    aiannh: Integers  # AIANNHCE, or NO_AIANNH
    weight: Integers

    @property
    def tract(self) -> Integers:
        return self.block // 10**4

    @cached_property
    def neighbourhoods(self) -> Neighbourhoods:
        _, first_block, of_block = np.unique(
            self.tract * 10**4 + self.aiannh, return_index=True, return_inverse=True
        )  # fmt: skip
        return Neighbourhoods(self.state_position[first_block], self.aiannh[first_block], of_block.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """A tract, or its part inside an AIANNH area: where people have the same chances to be of a group."""

    state_position: Integers
    aiannh: Integers
    of_block: Integers

    @property
    def count(self) -> int:
        return len(self.aiannh)


def demo_blocks(people: int, random: Generator) -> Blocks:
    """The blocks of all states; there are as many tracts as this many people need."""
    tracts = [
        tract
        for position, state in enumerate(STATES)
        for county in state.counties
        for tract in _tracts_of(position, state, county, people, random)
    ]
    return Blocks(
        block=np.concatenate([tract.block for tract in tracts]),
        state_position=np.concatenate([tract.state_position for tract in tracts]),
        place=np.concatenate([tract.place for tract in tracts]),
        aiannh=np.concatenate([tract.aiannh for tract in tracts]),
        weight=np.concatenate([tract.weight for tract in tracts]),
    )


def _tracts_of(position: int, state: State, county: County, people: int, random: Generator) -> Iterator[Blocks]:
    """The blocks of a county, one tract after the other."""
    residents = people * state.people_per_mille * county.people_per_mille // 10**6
    tracts = max(1, round(residents / _PEOPLE_A_TRACT))
    sizes = 75 + (random.random(tracts) * 61).astype(np.int64)
    block_counts = _FEWEST_BLOCKS + (random.random(tracts) * (_MOST_BLOCKS - _FEWEST_BLOCKS + 1)).astype(np.int64)
    ends = np.cumsum(block_counts)
    percent = np.arange(ends[-1]) * 100 // ends[-1]  # where in the county a block lies
    place = _code_at(percent, county.places, NO_PLACE)
    aiannh = _code_at(percent, county.aiannh_areas, NO_AIANNH)
    for number, (size, end, count) in enumerate(zip(sizes, ends, block_counts, strict=True), start=_FIRST_TRACT):
        inside = slice(int(end - count), int(end))
        tract_id = int(state.code + county.code) * 10**6 + number * 100  # the last two digits are for split tracts
        weight = max(residents, 1) * _WEIGHT_OF_A_PERSON * size // sizes.sum()
        yield Blocks(
            block=tract_id * 10**4 + _block_numbers(int(count)),
            state_position=np.full(count, position, dtype=np.int64),
            place=place[inside],
            aiannh=aiannh[inside],
            weight=_block_weights(int(weight), int(count), random),
        )


def _code_at(percent: Integers, stretches: Sequence[Stretch], nowhere: int) -> Integers:
    codes = np.full(len(percent), nowhere, dtype=np.int64)
    for stretch in stretches:
        codes[(stretch.start_percent <= percent) & (percent < stretch.end_percent)] = int(stretch.code)
    return codes


def _block_numbers(count: int) -> Integers:
    """1000, 1001, ... 2000, ...: the first digit is the block group."""
    group, in_group = np.divmod(np.arange(count, dtype=np.int64), _BLOCKS_A_BLOCK_GROUP)
    numbers: Integers = (group + 1) * 1000 + in_group
    return numbers


def _block_weights(tract_weight: int, count: int, random: Generator) -> Integers:
    """The tract's weight shared out unevenly; some blocks are parks and lakes with nobody in them."""
    parts = 10 + (random.random(count) * 91).astype(np.int64)
    parts[1:][random.random(count - 1) < _EMPTY_BLOCKS] = 0
    weights: Integers = tract_weight * parts // parts.sum()
    return weights
