"""Made-up people: where they live, how old they are, and which codes they report.

The randomness here is NumPy's, from a seed. That is right for people who do not exist and for nothing else: noise
that protects people never comes from NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from safetab.products.safetab_p.tables import OLDEST_AGE
from safetab.synthetic.blocks import Blocks
from safetab.synthetic.demo_codes import (
    ETHNICITY_FAMILIES,
    NOT_HISPANIC_CODE,
    RACE_FAMILIES,
    RACES_OF_HISPANIC_PEOPLE,
)
from safetab.synthetic.demo_states import HOME_AREAS, STATES, AgeKnots, HomeArea
from safetab.synthetic.neighbourhood_weights import gathered_weights, state_weights, with_home_areas
from safetab.synthetic.weighted_choice import Integers, WeightedChoice, is_drawn

MOST_RACE_CODES = 8
NO_CODE = -1
BATCH_PEOPLE = 200_000

RACE_CODES = tuple(code for family in RACE_FAMILIES for code in family.codes)
ETHNICITY_CODES = tuple(code for family in ETHNICITY_FAMILIES for code in family.codes)

_RACES = [code.code for code in RACE_CODES]
_ETHNICITIES = [code.code for code in ETHNICITY_CODES]
_WEIGHTS_OF_2_TO_8_CODES = (700, 200, 60, 25, 9, 4, 2)
_CANDIDATES = 24  # further codes drawn for one person; those that come up again are dropped
_NOT_HISPANIC_IN_A_HOME_AREA = 93  # percent
_HOUSEHOLDERS_AMONG_ADULTS = 490  # per mille
_ADULT_AGE = 18
_WOMEN_PER_MILLE = ((0, 490), (40, 505), (65, 540), (85, 650))  # from this age on


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """One element per person, in the order of their blocks."""

    block_position: Integers
    age: Integers
    is_female: NDArray[np.bool_]
    is_householder: NDArray[np.bool_]
    races: Integers  # positions in RACE_CODES, a column for each of QRACE1..8, or NO_CODE
    ethnicity: Integers  # positions in ETHNICITY_CODES


class Census:
    """Draws people into blocks, a batch at a time, so that memory doesn't grow with their number."""

    def __init__(self, blocks: Blocks, random: Generator) -> None:
        neighbourhoods = blocks.neighbourhoods
        races = with_home_areas(
            gathered_weights(RACE_CODES, neighbourhoods, random), _RACES, neighbourhoods, HOME_AREAS
        )
        not_hispanic = dict.fromkeys(HOME_AREAS, HomeArea(NOT_HISPANIC_CODE, _NOT_HISPANIC_IN_A_HOME_AREA))
        ethnicities = gathered_weights(ETHNICITY_CODES, neighbourhoods, random)
        self._blocks = blocks
        self._random = random
        self._block = WeightedChoice(blocks.weight)
        self._race = WeightedChoice(races)
        self._race_in_the_state = WeightedChoice(state_weights(RACE_CODES))
        self._ethnicity = WeightedChoice(with_home_areas(ethnicities, _ETHNICITIES, neighbourhoods, not_hispanic))
        self._age = WeightedChoice([_weights_of_ages(state.ages) for state in STATES])

    def batches(self, people: int) -> Iterator[People]:
        block_position = np.sort(self._block.draw(np.zeros(people, dtype=np.int64), self._random))
        for start in range(0, people, BATCH_PEOPLE):
            yield self._people_in(block_position[start : start + BATCH_PEOPLE])

    def _people_in(self, block_position: Integers) -> People:
        neighbourhood = self._blocks.neighbourhoods.of_block[block_position]
        state = self._blocks.state_position[block_position]
        ethnicity = self._ethnicity.draw(neighbourhood, self._random)
        age = self._age.draw(state, self._random)
        ages, per_mille = zip(*_WOMEN_PER_MILLE, strict=True)
        women = np.array(per_mille)[np.searchsorted(ages, age, side="right") - 1]
        count = len(age)
        return People(
            block_position=block_position,
            age=age,
            is_female=is_drawn(women, count, self._random),
            is_householder=(age >= _ADULT_AGE) & is_drawn(_HOUSEHOLDERS_AMONG_ADULTS, count, self._random),
            races=self._races(state, neighbourhood, ethnicity),
            ethnicity=ethnicity,
        )

    def _races(self, state: Integers, neighbourhood: Integers, ethnicity: Integers) -> Integers:
        """The codes of QRACE1..8: the first is of the neighbourhood, further ones are of the state at large."""
        races = np.full((len(state), MOST_RACE_CODES), NO_CODE, dtype=np.int64)
        races[:, 0] = self._first_race(neighbourhood, ethnicity)
        several_per_mille = np.array([one.several_race_codes_per_mille for one in STATES])
        several = np.flatnonzero(is_drawn(several_per_mille[state], len(state), self._random))
        counts = 2 + WeightedChoice(_WEIGHTS_OF_2_TO_8_CODES).draw(np.zeros_like(several), self._random)
        candidates = self._race_in_the_state.draw(np.repeat(state[several], _CANDIDATES), self._random)
        races[several] = _first_distinct(
            np.column_stack([races[several, 0], candidates.reshape(-1, _CANDIDATES)]), counts
        )  # fmt: skip
        return races

    def _first_race(self, neighbourhood: Integers, ethnicity: Integers) -> Integers:
        race = self._race.draw(neighbourhood, self._random)
        as_others_do = 100 - sum(RACES_OF_HISPANIC_PEOPLE.values())
        weights = [*RACES_OF_HISPANIC_PEOPLE.values(), as_others_do]
        hispanic = np.flatnonzero(ethnicity != _ETHNICITIES.index(NOT_HISPANIC_CODE))
        choice = WeightedChoice(weights).draw(np.zeros_like(hispanic), self._random)
        own = np.array([_RACES.index(code) for code in RACES_OF_HISPANIC_PEOPLE])
        replaced = choice < len(own)
        race[hispanic[replaced]] = own[choice[replaced]]
        return race


def _first_distinct(candidates: Integers, counts: Integers) -> Integers:
    """The first distinct codes of each row, as many as its count or as there are, then NO_CODE."""
    chosen = np.full((len(candidates), MOST_RACE_CODES), NO_CODE, dtype=np.int64)
    filled = np.zeros(len(candidates), dtype=np.int64)
    for candidate in candidates.T:
        rows = np.flatnonzero((filled < counts) & (chosen != candidate[:, np.newaxis]).all(axis=1))
        chosen[rows, filled[rows]] = candidate[rows]
        filled[rows] += 1
    return chosen


def _weights_of_ages(knots: AgeKnots) -> list[int]:
    """A weight for each age from 0 to OLDEST_AGE, at least 1 up to the oldest."""
    weights = []
    for (age, weight), (next_age, next_weight) in pairwise(knots):
        span = next_age - age
        weights += [(weight * (span - step) + next_weight * step) * 10 // span for step in range(span)]
    assert len(weights) == OLDEST_AGE
    return [*weights, 1]
