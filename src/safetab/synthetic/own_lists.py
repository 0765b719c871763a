"""Code lists of a synthetic census's own, with any number of iterations, in the proportions of the 2020 lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel, TabulationList
from safetab.census.public_lists import PublicLists
from safetab.synthetic.seeded_bits import apportioned

FEWEST_ITERATIONS = 40
MOST_ITERATIONS = 8_000
ITERATIONS_OF_2020 = 2_996
NOT_HISPANIC = "9950"

_FIRST_ITERATION = 1001
_ETHNICITIES_PER_MILLE = 12
_REGIONS_PER_MILLE = 17
_EVERY_FOURTH = 4  # Detailed group has only a total, at nation and state level
_EVERY_FIFTH = 5  # Detailed group has two codes


@dataclass(frozen=True, slots=True)
class _Major:
    name: str
    first_code: int
    weight: int  # how many of 1,000 Detailed groups are inside


_RACES = (
    _Major("White", 1000, 95),
    _Major("Black or African American", 2000, 45),
    _Major("Asian", 2500, 45),
    _Major("American Indian and Alaska Native", 3000, 670),
    _Major("Native Hawaiian and Other Pacific Islander", 8000, 35),
    _Major("Some Other Race", 8300, 110),
)
_HISPANIC = _Major("Hispanic or Latino", 9000, 1)
_SUFFIXES = {
    IterationKind.RACE_ALONE: " alone",
    IterationKind.RACE_IN_COMBINATION: " alone or in any combination",
    IterationKind.ETHNICITY: "",
}


@dataclass(frozen=True, slots=True)
class _Group:
    """An iteration before it has a kind and a code of its own."""

    name: str
    level: IterationLevel
    listed: TabulationList | None
    codes: tuple[str, ...]


def own_public_lists(iterations: int) -> PublicLists:
    """Lists with exactly so many tabulated iterations, Regional and Detailed together, besides the major groups."""
    ethnicities = max(2, iterations * _ETHNICITIES_PER_MILLE // 1000)
    ethnicities += (iterations - ethnicities) % 2  # the others come in pairs, alone and in combination
    names: dict[str, str] = {NOT_HISPANIC: "Not Hispanic"}
    races = list(_groups(_RACES, (iterations - ethnicities) // 2, names))
    hispanics = list(_groups([_HISPANIC], ethnicities, names))
    of_kind = {
        IterationKind.RACE_ALONE: races,
        IterationKind.RACE_IN_COMBINATION: races,
        IterationKind.ETHNICITY: hispanics,
    }
    listed: list[CharacteristicIteration] = []
    codes_of_iteration: dict[str, frozenset[str]] = {}
    for kind, groups in of_kind.items():
        for group in groups:
            code = str(_FIRST_ITERATION + len(listed))
            listed.append(CharacteristicIteration(code, group.name + _SUFFIXES[kind], group.level, kind, group.listed))
            codes_of_iteration[code] = frozenset(group.codes)
    return PublicLists(MappingProxyType(names), tuple(listed), MappingProxyType(codes_of_iteration))


def _groups(majors: Sequence[_Major], tabulated: int, names: dict[str, str]) -> Iterator[_Group]:
    """Each major group, its regions and Detailed groups; so many are tabulated. Tells the names of the codes."""
    weights = np.array([major.weight for major in majors], dtype=np.int64)
    for major, count in zip(majors, apportioned(tabulated, weights, least=2).tolist(), strict=True):
        regions = max(1, round(count * _REGIONS_PER_MILLE / 1000))
        inside = list(_detailed_groups(major, count - regions, names))
        plain = str(major.first_code)
        names[plain] = f"{major.name} (checkbox)"
        codes = (plain, *(code for group in inside for code in group.codes))
        yield _Group(major.name, IterationLevel.MAJOR, None, codes)
        for region in range(regions):
            own = inside[region::regions]
            codes = tuple(code for group in own for code in group.codes)
            yield _Group(f"{major.name}, region {region + 1}", IterationLevel.REGIONAL, TabulationList.COMMON, codes)
        yield from inside


def _detailed_groups(major: _Major, count: int, names: dict[str, str]) -> Iterator[_Group]:
    code = major.first_code
    for number in range(1, count + 1):
        name = f"{major.name} {number}"
        codes = []
        for spelling in ("", " (other spelling)")[: 2 if number % _EVERY_FIFTH == 0 else 1]:
            code += 1
            names[str(code)] = name + spelling
            codes.append(str(code))
        listed = TabulationList.TOTAL_ONLY if number % _EVERY_FOURTH == 0 else TabulationList.COMMON
        yield _Group(name, IterationLevel.DETAILED, listed, tuple(codes))
