"""Code lists of a synthetic census's own, with any number of iterations, in the proportions of the 2020 lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from safetab.census.iterations import IterationLevel, TabulationList
from safetab.census.public_lists import PublicLists
from safetab.synthetic.lists.listed_groups import ListedGroup, public_lists_of
from safetab.synthetic.seeded_bits import apportioned

FEWEST_ITERATIONS = 40
MOST_ITERATIONS = 8_000
ITERATIONS_OF_2020 = 2_996
NOT_HISPANIC = "9950"

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


def own_public_lists(iterations: int) -> PublicLists:
    """Lists with exactly so many tabulated iterations, Regional and Detailed together, besides the major groups."""
    ethnicities = max(2, iterations * _ETHNICITIES_PER_MILLE // 1000)
    ethnicities += (iterations - ethnicities) % 2  # the others come in pairs, alone and in combination
    names: dict[str, str] = {NOT_HISPANIC: "Not Hispanic"}
    races = list(_groups(_RACES, (iterations - ethnicities) // 2, names))
    hispanics = list(_groups([_HISPANIC], ethnicities, names))
    return public_lists_of(names, races, hispanics)


def _groups(majors: Sequence[_Major], tabulated: int, names: dict[str, str]) -> Iterator[ListedGroup]:
    """Each major group, its regions and Detailed groups; so many are tabulated. Tells the names of the codes."""
    weights = np.array([major.weight for major in majors], dtype=np.int64)
    for major, count in zip(majors, apportioned(tabulated, weights, least=2).tolist(), strict=True):
        regions = max(1, round(count * _REGIONS_PER_MILLE / 1000))
        inside = list(_detailed_groups(major, count - regions, names))
        plain = str(major.first_code)
        names[plain] = f"{major.name} (checkbox)"
        codes = (plain, *(code for group in inside for code in group.codes))
        yield ListedGroup(major.name, IterationLevel.MAJOR, None, codes)
        for region in range(regions):
            own = inside[region::regions]
            codes = tuple(code for group in own for code in group.codes)
            yield ListedGroup(
                f"{major.name}, region {region + 1}", IterationLevel.REGIONAL, TabulationList.COMMON, codes
            )
        yield from inside


def _detailed_groups(major: _Major, count: int, names: dict[str, str]) -> Iterator[ListedGroup]:
    code = major.first_code
    for number in range(1, count + 1):
        name = f"{major.name} {number}"
        codes = []
        for spelling in ("", " (other spelling)")[: 2 if number % _EVERY_FIFTH == 0 else 1]:
            code += 1
            names[str(code)] = name + spelling
            codes.append(str(code))
        listed = TabulationList.TOTAL_ONLY if number % _EVERY_FOURTH == 0 else TabulationList.COMMON
        yield ListedGroup(name, IterationLevel.DETAILED, listed, tuple(codes))
