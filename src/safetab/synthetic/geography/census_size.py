"""How large a synthetic census is: its people and geography, shared out among the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safetab.census.geography_levels import TabulationPass
from safetab.foundation.findings import Finding, FindingsOf
from safetab.synthetic.geography.given_counties import GivenCounty
from safetab.synthetic.geography.nation_states import PUERTO_RICO_OF_2020, US_STATES_OF_2020, NationState
from safetab.synthetic.seeded_bits import Integers, apportioned

FEWEST_PEOPLE = 102  # fewer would leave Puerto Rico empty
MOST_PEOPLE = 2_000_000_000  # more would not fit into the integers that share people out
MOST_TRACTS = 200_000
_FEWEST_BLOCKS_OF_A_TRACT = 4
_AREAS_FOR_ONE_THAT_CROSSES = 20
_HIGHEST_AREA = 9_990  # 9999 is in no area
_MOST_COUNTIES_OF_A_STATE = 999

_US_PEOPLE = sum(state.people for state in US_STATES_OF_2020)
NATION_PEOPLE = _US_PEOPLE + PUERTO_RICO_OF_2020.people


@dataclass(frozen=True, slots=True)
class Extent:
    """How many entities of each kind."""

    counties: int
    tracts: int
    blocks: int
    places: int
    aiannh_areas: int

    def scaled(self, tracts: int, counties: int) -> Extent:
        """The same density of blocks, places and areas with so many tracts."""

        def share(count: int) -> int:
            return max(1, round(count * tracts / self.tracts)) if count else 0

        return Extent(counties, tracts, share(self.blocks), share(self.places), share(self.aiannh_areas))


US_OF_2020 = Extent(counties=3_143, tracts=84_414, blocks=8_132_968, places=31_617, aiannh_areas=704)
PUERTO_RICO_EXTENT_OF_2020 = Extent(counties=78, tracts=981, blocks=41_987, places=292, aiannh_areas=0)


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """What was asked for; None is the nation's own number, as far as the other numbers leave room for it.

    States, counties and tracts are those of the US; Puerto Rico has its share of tracts beside them.
    """

    people: int
    states: int | None = None
    counties: int | None = None
    tracts: int | None = None

    def findings(self) -> tuple[Finding, ...]:
        """What can't be made of it."""
        findings = FindingsOf("the command")
        if not FEWEST_PEOPLE <= self.people <= MOST_PEOPLE:
            findings.error("--people", f"must be from {FEWEST_PEOPLE:,} to {MOST_PEOPLE:,}.")
        limits = {
            "--states": (self.states, len(US_STATES_OF_2020)),
            "--counties": (self.counties, US_OF_2020.counties),
            "--tracts": (self.tracts, MOST_TRACTS),
        }
        for option, (number, most) in limits.items():
            if number is not None and not 1 <= number <= most:
                findings.error(option, f"must be from 1 to {most:,}.")
        nested = (
            ("counties", self.counties, "states", self.states),
            ("tracts", self.tracts, "counties", self.counties),
        )
        for finer, finer_number, coarser, number in (*nested, ("tracts", self.tracts, "states", self.states)):
            if finer_number is not None and number is not None and finer_number < number:
                findings.error(
                    f"--{finer}", f"{finer_number:,} are too few for {number:,} {coarser}, one each at least."
                )
        if not findings.has_errors and any(share.counties > _MOST_COUNTIES_OF_A_STATE for share in state_shares(self)):
            limit = f"A state can have {_MOST_COUNTIES_OF_A_STATE}."
            findings.error("--counties", f"{self.counties:,} are too many for so few states. {limit}")
        return findings.findings


@dataclass(frozen=True, slots=True)
class StateShare:
    """What one state gets. Its counties and all inside them are drawn, or given in the order of their numbers."""

    state: NationState
    people: int
    counties: int
    tracts: int
    blocks: int
    places: int
    aiannh_areas: tuple[int, ...]  # their codes
    given_counties: tuple[GivenCounty, ...] = ()

    @property
    def tabulation_pass(self) -> TabulationPass:
        return TabulationPass.PUERTO_RICO if self.state is PUERTO_RICO_OF_2020 else TabulationPass.US


def state_shares(request: SizeRequest) -> tuple[StateShare, ...]:
    """The states in the order of their codes, Puerto Rico last; the numbers of the request, which is without findings.

    Fewer than 51 states are the most populous ones.
    """
    states, us = _states_and_extent(request)
    of_puerto_rico = PUERTO_RICO_EXTENT_OF_2020
    if us != US_OF_2020:
        tracts = max(1, round(of_puerto_rico.tracts * us.tracts / US_OF_2020.tracts))
        counties = min(tracts, max(1, round(of_puerto_rico.counties * us.counties / US_OF_2020.counties)))
        of_puerto_rico = of_puerto_rico.scaled(tracts, counties)
    there = round(request.people * PUERTO_RICO_OF_2020.people / NATION_PEOPLE)
    return (
        *_shared_out(states, request.people - there, us),
        *_shared_out([PUERTO_RICO_OF_2020], there, of_puerto_rico),
    )


def _states_and_extent(request: SizeRequest) -> tuple[list[NationState], Extent]:
    most = min(number for number in (51, request.states, request.counties, request.tracts) if number is not None)
    by_people = sorted(US_STATES_OF_2020, key=lambda state: -state.people)
    states = sorted(by_people[:most], key=lambda state: state.code)
    share = sum(state.people for state in states) / _US_PEOPLE
    counties, tracts = request.counties, request.tracts
    if counties is None:
        counties = sum(state.counties for state in states)
        if tracts is not None:
            counties = min(counties, tracts, max(most, round(US_OF_2020.counties * tracts / US_OF_2020.tracts)))
    if tracts is None:
        scale = share if request.counties is None else counties / US_OF_2020.counties
        tracts = max(counties, round(US_OF_2020.tracts * scale))
    return states, US_OF_2020.scaled(tracts, counties)


def _shared_out(states: Sequence[NationState], people: int, extent: Extent) -> list[StateShare]:
    residents = np.array([state.people for state in states], dtype=np.int64)
    real_counties = np.array([state.counties for state in states], dtype=np.int64)
    counties = real_counties
    if extent.counties != real_counties.sum():
        counties = apportioned(extent.counties, real_counties, least=1)
    # people need places and blocks, and so does land, of which counties are a measure
    land = residents.sum() * real_counties // real_counties.sum()
    tracts = _tracts(extent.tracts, residents, counties)
    least = _FEWEST_BLOCKS_OF_A_TRACT * tracts
    blocks = least + apportioned(extent.blocks - int(least.sum()), 6 * residents + 4 * land)
    parts = zip(
        states,
        apportioned(people, residents).tolist(),
        counties.tolist(),
        tracts.tolist(),
        blocks.tolist(),
        apportioned(extent.places, 4 * residents + 6 * land).tolist(),
        _areas(states, extent.aiannh_areas),
        strict=True,
    )
    return [StateShare(*part) for part in parts]


def _tracts(total: int, residents: Integers, counties: Integers) -> Integers:
    """By residents, if that leaves every county a tract."""
    tracts = apportioned(total, residents)
    if (tracts >= counties).all():
        return tracts
    return counties + apportioned(total - int(counties.sum()), residents)


def _areas(states: Sequence[NationState], total: int) -> list[tuple[int, ...]]:
    """The codes of the areas of each state; one in twenty lies in the next state too."""
    weights = np.array([state.aiannh_weight for state in states], dtype=np.int64)
    if not weights.any():
        weights += 1
    areas: list[list[int]] = [[] for _ in states]
    state_of_area = np.repeat(np.arange(len(states)), apportioned(total, weights)).tolist()
    step = _HIGHEST_AREA // max(total, _HIGHEST_AREA // 10)  # ten as long as four digits are enough
    for number, position in enumerate(state_of_area):
        areas[position].append(step + step * number)
        if len(states) > 1 and number % _AREAS_FOR_ONE_THAT_CROSSES == 0:
            areas[(position + 1) % len(states)].append(step + step * number)
    return [tuple(codes) for codes in areas]
