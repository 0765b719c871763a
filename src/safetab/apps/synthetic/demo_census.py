"""The demo census, as a plan for a synthetic census.

`demo.toml` describes its six states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from safetab.apps.synthetic.census import CensusPlan, write_census
from safetab.apps.synthetic.files import parameter_files
from safetab.apps.synthetic.files.census_files import CensusFormat
from safetab.apps.synthetic.files.parameter_files import ListedGroup
from safetab.apps.synthetic.geography import census_size
from safetab.apps.synthetic.geography.census_size import GivenCounty, StateShare, Stretch
from safetab.apps.synthetic.people.code_mix import CodeMix, StateCodes, code_mix_of
from safetab.apps.synthetic.seeded_bits import apportioned
from safetab.foundation.files import package_data
from safetab.foundation.progress import NoProgress
from safetab.model.census.groups import GroupList
from safetab.model.products.bureau_columns import RACE_COLUMNS
from safetab.model.us.us_census import (
    COMMON,
    DETAILED,
    MAJOR,
    REGIONAL,
    SUBSTATE_ONLY,
    TOTAL_ONLY,
    US,
)

_FEWEST_PEOPLE = 1_000


def write_demo_census(
    out: Path, people: int = 200_000, seed: int = 2020, *, has_households: bool = False
) -> None:
    """Write `out/parameters` and `out/data`. The same people and seed give the same bytes.

    With households, also write their records and `out/household-parameters`.

    Raises FileExistsError if one of these folders exists: the marker for made-up people must never
    lie beside real people. Raises ValueError for fewer than FEWEST_PEOPLE people, which could leave
    a state or Puerto Rico empty.
    """
    if people < _FEWEST_PEOPLE:
        raise ValueError(
            f"{people} people are too few for six states. Ask for {_FEWEST_PEOPLE} or more."
        )
    for folder in (
        out / name for name in ("parameters", parameter_files.HOUSEHOLD_PARAMETERS, "data")
    ):
        if folder.exists():
            raise FileExistsError(f"{folder} already exists. Choose another directory.")
    plan = replace(demo_plan(people, seed), has_households=has_households)
    out.mkdir(parents=True, exist_ok=True)
    write_census(out, plan, NoProgress())


def demo_plan(people: int, seed: int) -> CensusPlan:
    """The plan of a demo census with this number of people."""
    description = package_data("safetab.apps.synthetic", "demo.toml")
    races = [_code_of(row) for row in description["races"]]
    ethnicities = [_code_of(row) for row in description["ethnicities"]]
    names = {code.code: code.name for code in (*races, *ethnicities)}
    lists = parameter_files.public_lists_of(names, list(_groups(races)), list(_groups(ethnicities)))
    shares = tuple(_shares(description, people))
    mix = _mix(description, races, ethnicities, code_mix_of(lists, seed))
    codes = len(RACE_COLUMNS)
    return CensusPlan(
        shares, lists, mix, codes, seed, CensusFormat.TEXT, is_shuffled=False, threads=1
    )


@dataclass(frozen=True, slots=True)
class _Code:
    """A code of the description. A checkbox has no list and belongs to no Detailed group."""

    major: str
    region: str
    code: str
    name: str
    listed: GroupList | None
    weights: Sequence[int]  # one for each state


def _code_of(row: Sequence[Any]) -> _Code:
    """The code of one row of the description."""
    major, region, code, name, listed, *weights = row
    return _Code(
        major,
        region,
        code,
        name,
        US.group_list(listed.lower().replace("_", " ")) if listed else None,
        weights,
    )


def _groups(codes: Sequence[_Code]) -> Iterator[ListedGroup]:
    """Each major group, followed by the regions and Detailed groups inside it."""
    for major, of_major in groupby(codes, key=lambda code: code.major):
        inside = list(of_major)
        yield ListedGroup(major, MAJOR, None, _codes_of(inside))
        for region, of_region in groupby(inside, key=lambda code: code.region):
            members = list(of_region)
            if region:
                yield ListedGroup(region, REGIONAL, COMMON, _codes_of(members))
            for code in members:
                if code.listed in {COMMON, TOTAL_ONLY}:
                    yield ListedGroup(code.name, DETAILED, code.listed, (code.code,))
            if any(code.listed == SUBSTATE_ONLY for code in members):  # below state level
                others = _codes_of([code for code in members if code.listed not in {None, COMMON}])
                yield ListedGroup(f"Other {region}", DETAILED, SUBSTATE_ONLY, others)


def _codes_of(codes: Sequence[_Code]) -> tuple[str, ...]:
    return tuple(code.code for code in codes)


def _shares(description: dict[str, Any], people: int) -> Iterator[StateShare]:
    """The shares of the states of the description, with people in proportion to their tracts."""
    nation = {
        state.code: state
        for state in (*census_size.US_STATES_OF_2020, census_size.PUERTO_RICO_OF_2020)
    }
    counties_of = {code: _counties_of(code, description) for code in description["states"]}
    tracts_of = [sum(county.tracts for county in counties) for counties in counties_of.values()]
    people_of = apportioned(people, np.array(tracts_of, dtype=np.int64)).tolist()
    for (code, counties), tracts, residents in zip(
        counties_of.items(), tracts_of, people_of, strict=True
    ):
        areas = {area.code for county in counties for area in county.aiannh_areas}
        blocks = tracts * description["blocks_of_a_tract"]
        places = sum(len(county.places) for county in counties)
        entities = (len(counties), tracts, blocks, places, tuple(sorted(areas)))
        yield StateShare(nation[code], residents, *entities, given_counties=counties)


def _counties_of(state: str, description: dict[str, Any]) -> tuple[GivenCounty, ...]:
    """The counties of a state, with their places and AIANNH areas."""

    def stretches(kind: str, county: str) -> tuple[Stretch, ...]:
        return tuple(Stretch(*row[1:]) for row in description[kind] if row[0] == county)

    return tuple(
        GivenCounty(
            int(county[2:]),
            name,
            tracts,
            stretches("places", county),
            stretches("aiannh_areas", county),
        )
        for county, name, tracts in description["counties"]
        if county.startswith(state)
    )


def _mix(
    description: dict[str, Any], races: Sequence[_Code], ethnicities: Sequence[_Code], mix: CodeMix
) -> CodeMix:
    """The mix of codes of each state, given for these lists.

    The description gives the races of Hispanic people; a mix needs the Hispanic people of each
    race.
    """
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
        races_of_hispanic = percent * weights.sum() + (100 - percent.sum()) * weights
        of_hispanic = hispanic_weight.sum() * races_of_hispanic
        of_all = of_hispanic + not_hispanic.weights[number] * 100 * weights
        per_mille = 1000 * of_hispanic // np.maximum(of_all, 1)
        given[state] = StateCodes(of_all, per_mille, hispanic_weight)
    return replace(
        mix,
        hispanic=np.array([position[code.code] for code in hispanic], dtype=np.int64),
        given=given,
        given_homes={int(area): position[code] for area, code in description["homes"].items()},
    )
