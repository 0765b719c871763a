"""The demo census: `demo.toml`, read as an input of the generator of synthetic nations."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from safetab.census.iterations import IterationLevel, TabulationList
from safetab.census.public_lists import PublicLists
from safetab.foundation.progress import NoProgress
from safetab.products.record import RACE_COLUMNS
from safetab.synthetic.census import CensusPlan, write_census_data
from safetab.synthetic.files.census_files import CensusFormat
from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.geography.given_counties import GivenCounty, Stretch
from safetab.synthetic.geography.nation_states import PUERTO_RICO_OF_2020, US_STATES_OF_2020, NationState
from safetab.synthetic.households.household_parameters import HOUSEHOLD_PARAMETERS, write_household_parameters
from safetab.synthetic.lists.listed_groups import ListedGroup, public_lists_of
from safetab.synthetic.lists.parameter_files import write_parameters
from safetab.synthetic.people.code_mix import CodeMix, StateCodes, code_mix_of
from safetab.synthetic.seeded_bits import apportioned

FEWEST_PEOPLE = 1_000

_HAS_OWN_GROUP = {TabulationList.COMMON, TabulationList.TOTAL_ONLY}
_IS_AMONG_OTHERS = {TabulationList.TOTAL_ONLY, TabulationList.SUBSTATE_ONLY}


def write_demo_census(out: Path, people: int = 200_000, seed: int = 2020, *, has_households: bool = False) -> None:
    """Writes `out/parameters` and `out/data`; the same people and seed give the same bytes.

    With households it writes their records too, and `out/household-parameters`.

    No such folder may exist: the marker for made-up people must never come to lie beside real ones. Fewer than
    FEWEST_PEOPLE are refused, since a state or Puerto Rico could be left without anyone.
    """
    if people < FEWEST_PEOPLE:
        raise ValueError(f"{people} people are too few for six states. Ask for {FEWEST_PEOPLE} or more.")
    parameters, household_parameters, data = out / "parameters", out / HOUSEHOLD_PARAMETERS, out / "data"
    for folder in (parameters, household_parameters, data):
        if folder.exists():
            raise FileExistsError(f"{folder} exists. Give a directory without it.")
    plan = replace(demo_plan(people, seed), has_households=has_households)
    parameters.mkdir(parents=True)
    write_parameters(parameters, plan.lists, plan.us_states)
    if has_households:
        write_household_parameters(household_parameters, parameters)
    write_census_data(data, plan, NoProgress())


def demo_plan(people: int, seed: int) -> CensusPlan:
    description = tomllib.loads((files("safetab.synthetic") / "demo.toml").read_text(encoding="utf-8"))
    races, ethnicities = (list(map(_code_of, description[kind])) for kind in ("races", "ethnicities"))
    names = {code.code: code.name for code in (*races, *ethnicities)}
    lists = public_lists_of(names, list(_groups(races)), list(_groups(ethnicities)))
    return CensusPlan(
        shares=tuple(_shares(description, people)),
        lists=lists,
        mix=_mix(description, races, ethnicities, lists, seed),
        max_race_codes=len(RACE_COLUMNS),
        seed=seed,
        form=CensusFormat.TEXT,
        is_shuffled=False,
        threads=1,
    )


@dataclass(frozen=True, slots=True)
class _Code:
    """A row of the description: `list_name` is empty for a checkbox, which leads to no Detailed group."""

    major: str
    region: str
    code: str
    name: str
    list_name: str
    weights: Sequence[int]  # one for each state

    @property
    def listed(self) -> TabulationList | None:
        return TabulationList[self.list_name] if self.list_name else None


def _code_of(row: Sequence[Any]) -> _Code:
    major, region, code, name, list_name, *weights = row
    return _Code(major, region, code, name, list_name, weights)


def _groups(codes: Sequence[_Code]) -> Iterator[ListedGroup]:
    """Each major group, followed by the regions and Detailed groups inside it."""
    for major, of_major in groupby(codes, key=lambda code: code.major):
        inside = list(of_major)
        yield ListedGroup(major, IterationLevel.MAJOR, None, _codes_of(inside))
        for region, of_region in groupby(inside, key=lambda code: code.region):
            yield from _groups_of_region(region, list(of_region))


def _groups_of_region(region: str, inside: Sequence[_Code]) -> Iterator[ListedGroup]:
    if region:
        yield ListedGroup(region, IterationLevel.REGIONAL, TabulationList.COMMON, _codes_of(inside))
    for code in inside:
        if code.listed in _HAS_OWN_GROUP:
            yield ListedGroup(code.name, IterationLevel.DETAILED, code.listed, (code.code,))
    if any(code.listed is TabulationList.SUBSTATE_ONLY for code in inside):
        others = _codes_of([code for code in inside if code.listed in _IS_AMONG_OTHERS])
        yield ListedGroup(f"Other {region}", IterationLevel.DETAILED, TabulationList.SUBSTATE_ONLY, others)


def _codes_of(codes: Sequence[_Code]) -> tuple[str, ...]:
    return tuple(code.code for code in codes)


def _shares(description: dict[str, Any], people: int) -> Iterator[StateShare]:
    """The states of the description, with people in proportion to their tracts."""
    nation = {state.code: state for state in (*US_STATES_OF_2020, PUERTO_RICO_OF_2020)}
    states = [(nation[code], _counties_of(nation[code], description)) for code in description["states"]]
    tracts = np.array([sum(county.tracts for county in counties) for _, counties in states], dtype=np.int64)
    for (state, counties), residents, count in zip(
        states, apportioned(people, tracts).tolist(), tracts.tolist(), strict=True
    ):
        yield StateShare(
            state=state,
            people=residents,
            counties=len(counties),
            tracts=count,
            blocks=count * description["blocks_of_a_tract"],
            places=sum(len(county.places) for county in counties),
            aiannh_areas=tuple(sorted({area.code for county in counties for area in county.aiannh_areas})),
            given_counties=counties,
        )


def _counties_of(state: NationState, description: dict[str, Any]) -> tuple[GivenCounty, ...]:
    def stretches(kind: str, county: str) -> tuple[Stretch, ...]:
        return tuple(Stretch(*row[1:]) for row in description[kind] if row[0] == county)

    return tuple(
        GivenCounty(int(county[2:]), name, tracts, stretches("places", county), stretches("aiannh_areas", county))
        for county, name, tracts in description["counties"]
        if county.startswith(state.code)
    )


def _mix(
    description: dict[str, Any], races: Sequence[_Code], ethnicities: Sequence[_Code], lists: PublicLists, seed: int
) -> CodeMix:
    """From the races of Hispanic people, which the description gives, to the Hispanic people of each race."""
    mix = code_mix_of(lists, seed)
    position = {code: number for number, code in enumerate(mix.codes)}
    hispanic = [code for code in ethnicities if position[code.code] != mix.not_hispanic]
    (not_hispanic,) = (code for code in ethnicities if position[code.code] == mix.not_hispanic)
    percent = np.zeros(mix.races, dtype=np.int64)
    for code, share in description["races_of_hispanic_people"].items():
        percent[position[code]] = share
    given = {}
    for number, state in enumerate(description["states"]):
        weights = np.zeros(mix.races, dtype=np.int64)
        weights[[position[code.code] for code in races]] = [code.weights[number] for code in races]
        hispanic_weight = np.array([code.weights[number] for code in hispanic], dtype=np.int64)
        of_hispanic = hispanic_weight.sum() * (percent * weights.sum() + (100 - percent.sum()) * weights)
        of_all = of_hispanic + not_hispanic.weights[number] * 100 * weights
        given[state] = StateCodes(of_all, 1000 * of_hispanic // np.maximum(of_all, 1), hispanic_weight)
    return replace(
        mix,
        hispanic=np.array([position[code.code] for code in hispanic], dtype=np.int64),
        given=given,
        given_homes={int(area): position[code] for area, code in description["homes"].items()},
    )
