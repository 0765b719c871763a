"""The size of a synthetic census: its people and geography, shared out among the states."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from safetab.apps.synthetic.seeded_bits import apportioned
from safetab.foundation.findings import Finding, FindingsOf
from safetab.model.census.area_levels import Pass
from safetab.model.us.us_census import PR_PASS, US_PASS

_FEWEST_PEOPLE = 102  # fewer would leave Puerto Rico empty
MOST_PEOPLE = 2_000_000_000  # more would not fit into the integers that share people out
_MOST_TRACTS = 200_000
_FEWEST_BLOCKS_OF_A_TRACT = 4
_AREAS_FOR_ONE_THAT_CROSSES = 20
_HIGHEST_AREA = 9_990  # 9999 means "in no area"
_MOST_COUNTIES_OF_A_STATE = 999


@dataclass(frozen=True, slots=True)
class _NationState:
    """A state as it was counted in 2020."""

    code: str
    name: str
    people: int
    counties: int
    aiannh_weight: int  # areas of a synthetic nation are shared out in this proportion


_STATES_TEXT = (files("safetab.apps.synthetic") / "states_of_2020.csv").read_text(encoding="utf-8")
*US_STATES_OF_2020, PUERTO_RICO_OF_2020 = (
    _NationState(code, name, *map(int, numbers))
    for code, name, *numbers in list(csv.reader(_STATES_TEXT.splitlines()))[1:]
)
"""The states in the order of their codes, and Puerto Rico.

The states have 331,449,281 people in 3,143 counties.
"""

_US_PEOPLE = sum(state.people for state in US_STATES_OF_2020)
NATION_PEOPLE = _US_PEOPLE + PUERTO_RICO_OF_2020.people


@dataclass(frozen=True, slots=True)
class Stretch:
    """A place or AIANNH area.

    It covers a county's line of blocks from one percentage to another.
    """

    code: int
    name: str
    start_percent: int
    end_percent: int


@dataclass(frozen=True, slots=True)
class GivenCounty:
    """A county that is given instead of drawn. Stretches of one kind rise and do not overlap."""

    number: int
    name: str
    tracts: int
    places: tuple[Stretch, ...]
    aiannh_areas: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class _Extent:
    """The number of entities of each kind."""

    counties: int
    tracts: int
    blocks: int
    places: int
    aiannh_areas: int

    def scaled(self, tracts: int, counties: int) -> _Extent:
        """Other numbers of tracts and counties, with this density of blocks, places and areas."""

        def share(count: int) -> int:
            return max(1, round(count * tracts / self.tracts)) if count else 0

        return _Extent(counties, tracts, *map(share, (self.blocks, self.places, self.aiannh_areas)))


_US_EXTENT = _Extent(
    counties=3_143, tracts=84_414, blocks=8_132_968, places=31_617, aiannh_areas=704
)
_PUERTO_RICO_EXTENT = _Extent(counties=78, tracts=981, blocks=41_987, places=292, aiannh_areas=0)


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """The size that a user asks for.

    None means the nation's number, as far as the others allow. States, counties and tracts are
    those of the US. Puerto Rico has its share of tracts on top.
    """

    people: int
    states: int | None = None
    counties: int | None = None
    tracts: int | None = None

    def findings(self) -> tuple[Finding, ...]:
        """Every reason why no census of this size can be made."""
        findings = FindingsOf("the command")
        if not _FEWEST_PEOPLE <= self.people <= MOST_PEOPLE:
            findings.error("--people", f"must be from {_FEWEST_PEOPLE:,} to {MOST_PEOPLE:,}.")
        limits = {
            "states": len(US_STATES_OF_2020),
            "counties": _US_EXTENT.counties,
            "tracts": _MOST_TRACTS,
        }
        given: dict[str, int | None] = {option: getattr(self, option) for option in limits}
        for option, most in limits.items():
            if (number := given[option]) is not None and not 1 <= number <= most:
                findings.error(f"--{option}", f"must be from 1 to {most:,}.")
        for finer, coarser in (
            ("counties", "states"),
            ("tracts", "counties"),
            ("tracts", "states"),
        ):
            finer_number, number = given[finer], given[coarser]
            if finer_number is not None and number is not None and finer_number < number:
                problem = (
                    f"{finer_number:,} are too few for {number:,} {coarser}, one each at least."
                )
                findings.error(f"--{finer}", problem)
        most = _MOST_COUNTIES_OF_A_STATE
        if not findings.has_errors and any(share.counties > most for share in state_shares(self)):
            problem = (
                f"{self.counties:,} are too many for this number of states."
                f" A state can have {most}."
            )
            findings.error("--counties", problem)
        return findings.findings


@dataclass(frozen=True, slots=True)
class StateShare:
    """The people and entities of one state.

    Its counties and everything inside them are drawn, or given in the order of their numbers.
    """

    state: _NationState
    people: int
    counties: int
    tracts: int
    blocks: int
    places: int
    aiannh_areas: tuple[int, ...]  # their codes
    given_counties: tuple[GivenCounty, ...] = ()

    @property
    def tabulation_pass(self) -> Pass:
        """The pass that tabulates the state."""
        return PR_PASS if self.state is PUERTO_RICO_OF_2020 else US_PASS


def state_shares(request: SizeRequest) -> tuple[StateShare, ...]:
    """The shares of the states in the order of their codes, Puerto Rico last.

    The request must be without findings. Fewer than 51 states are the most populous ones.
    """
    states, us = _states_and_extent(request)
    of_puerto_rico = _PUERTO_RICO_EXTENT
    if us != _US_EXTENT:
        tracts = max(1, round(of_puerto_rico.tracts * us.tracts / _US_EXTENT.tracts))
        counties = max(1, round(of_puerto_rico.counties * us.counties / _US_EXTENT.counties))
        of_puerto_rico = of_puerto_rico.scaled(tracts, min(tracts, counties))
    there = round(request.people * PUERTO_RICO_OF_2020.people / NATION_PEOPLE)
    us_shares = _shared_out(states, request.people - there, us)
    return (*us_shares, *_shared_out([PUERTO_RICO_OF_2020], there, of_puerto_rico))


def _states_and_extent(request: SizeRequest) -> tuple[list[_NationState], _Extent]:
    """The states of a request, and how many entities they have together."""
    given = (request.states, request.counties, request.tracts)
    most = min([51, *(number for number in given if number is not None)])
    by_people = sorted(US_STATES_OF_2020, key=lambda state: -state.people)
    states = sorted(by_people[:most], key=lambda state: state.code)
    share = sum(state.people for state in states) / _US_PEOPLE
    counties, tracts = request.counties, request.tracts
    if counties is None:
        counties = sum(state.counties for state in states)
        if tracts is not None:
            scaled = round(_US_EXTENT.counties * tracts / _US_EXTENT.tracts)
            counties = min(counties, tracts, max(most, scaled))
    if tracts is None:
        scale = share if request.counties is None else counties / _US_EXTENT.counties
        tracts = max(counties, round(_US_EXTENT.tracts * scale))
    return states, _US_EXTENT.scaled(tracts, counties)


def _shared_out(states: Sequence[_NationState], people: int, extent: _Extent) -> list[StateShare]:
    """The shares of some states in people and entities that they have together."""
    residents = np.array([state.people for state in states], dtype=np.int64)
    real_counties = np.array([state.counties for state in states], dtype=np.int64)
    counties = real_counties
    if extent.counties != real_counties.sum():
        counties = apportioned(extent.counties, real_counties, least=1)
    # people need places and blocks, and so does land, which counties measure
    land = residents.sum() * real_counties // real_counties.sum()
    tracts = apportioned(extent.tracts, residents)
    if (tracts < counties).any():  # every county needs a tract
        tracts = counties + apportioned(extent.tracts - int(counties.sum()), residents)
    least = _FEWEST_BLOCKS_OF_A_TRACT * tracts
    blocks = least + apportioned(extent.blocks - int(least.sum()), 6 * residents + 4 * land)
    places = apportioned(extent.places, 4 * residents + 6 * land)
    numbers = (apportioned(people, residents), counties, tracts, blocks, places)
    columns = [column.tolist() for column in numbers]
    return [*map(StateShare, states, *columns, _areas(states, extent.aiannh_areas))]


def _areas(states: Sequence[_NationState], total: int) -> list[tuple[int, ...]]:
    """The codes of the AIANNH areas of each state. One in twenty also lies in the next state."""
    weights = np.array([state.aiannh_weight for state in states], dtype=np.int64)
    if not weights.any():
        weights += 1
    areas: list[list[int]] = [[] for _ in states]
    state_of_area = np.repeat(np.arange(len(states)), apportioned(total, weights)).tolist()
    step = _HIGHEST_AREA // max(total, _HIGHEST_AREA // 10)  # 10 if four digits allow it
    for number, position in enumerate(state_of_area):
        areas[position].append(step + step * number)
        if len(states) > 1 and number % _AREAS_FOR_ONE_THAT_CROSSES == 0:
            areas[(position + 1) % len(states)].append(step + step * number)
    return [tuple(codes) for codes in areas]
