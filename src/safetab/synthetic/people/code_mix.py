"""How often each code of a list is reported: any list, with shares in the manner of the 2020 census.

Within a major group the lowest code is taken for the group's checkbox, which many people mark and leave it at that;
the others have a heavy tail. Which of them are common follows from the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from safetab.census.geography_levels import TabulationPass
from safetab.census.iterations import IterationKind, IterationLevel
from safetab.census.public_lists import PublicLists, is_race_code
from safetab.synthetic.people.cenrace import MAJOR_RACE_COUNT
from safetab.synthetic.seeded_bits import Integers, RandomBits

OTHER_MAJOR = MAJOR_RACE_COUNT  # none of those that CENRACE knows


@dataclass(frozen=True, slots=True)
class MajorMix:
    """People per 10,000 whose first code is of this major group, and how many of them are Hispanic, in each pass."""

    name: str
    share: Mapping[TabulationPass, int]
    hispanic_per_mille: Mapping[TabulationPass, int]


def _major(name: str, us: tuple[int, int], puerto_rico: tuple[int, int]) -> MajorMix:
    share, hispanic = zip(us, puerto_rico, strict=True)
    passes = (TabulationPass.US, TabulationPass.PUERTO_RICO)
    return MajorMix(name, dict(zip(passes, share, strict=True)), dict(zip(passes, hispanic, strict=True)))


MAJORS = (
    _major("White", (6_150, 135), (3_100, 980)),
    _major("Black or African American", (1_240, 40), (1_000, 980)),
    _major("American Indian", (130, 280), (60, 990)),
    _major("Asian", (620, 20), (20, 400)),
    _major("Native Hawaiian", (30, 80), (5, 700)),
    _major("Some Other Race", (800, 920), (5_800, 995)),
    _major("", (50, 190), (15, 980)),
)
"""In the order in which CENRACE numbers them; the last is for codes of no such group."""

_CHECKBOX_SHARE = 400  # per mille of a major group
_TAIL_OF_RACES = 1.1
_TAIL_OF_ETHNICITIES = 1.5
_RESOLUTION = 10**6


@dataclass(frozen=True, slots=True, eq=False)
class StateCodes:
    """How often codes are reported in one state, where that is given and not drawn from the nation's mix."""

    race_weight: Integers  # one element per race code
    hispanic_per_mille: Integers  # of the people with that race code
    hispanic_weight: Integers  # one element per Hispanic code


@dataclass(frozen=True, slots=True, eq=False)
class CodeMix:
    """The codes that people report, and how often in the nation at large."""

    codes: tuple[str, ...]  # races first, then those that only QSPAN may hold
    race_major: Integers  # position in MAJORS, one element per race code
    race_weight: Integers  # within its major group
    hispanic: Integers  # positions in `codes`
    hispanic_weight: Integers
    not_hispanic: int  # position in `codes`
    given: Mapping[str, StateCodes] = field(default_factory=dict)  # by the code of the state
    given_homes: Mapping[int, int] = field(default_factory=dict)  # from an AIANNH area to the race code of its people

    @property
    def races(self) -> int:
        return len(self.race_major)


def code_mix_of(lists: PublicLists, seed: int) -> CodeMix:
    """Any lists that have a race code."""
    bits = RandomBits(seed, 0, 0)
    codes = sorted(lists.code_names, key=lambda code: (not is_race_code(code), code))
    races = [code for code in codes if is_race_code(code)]
    majors = _major_of_codes(lists)
    race_major = np.array([majors.get(code, OTHER_MAJOR) for code in races], dtype=np.int64)
    weight = np.zeros(len(races), dtype=np.int64)
    for major in range(len(MAJORS)):
        inside = np.flatnonzero(race_major == major)
        weight[inside[:1]] = _RESOLUTION * _CHECKBOX_SHARE
        weight[inside[1:]] = _tail(len(inside) - 1, _TAIL_OF_RACES, bits) * (1000 - _CHECKBOX_SHARE)
    hispanic = _hispanic_codes(lists)
    positions = {code: position for position, code in enumerate(codes)}
    return CodeMix(
        codes=tuple(codes),
        race_major=race_major,
        race_weight=weight,
        hispanic=np.array([positions[code] for code in hispanic], dtype=np.int64),
        hispanic_weight=_tail(len(hispanic), _TAIL_OF_ETHNICITIES, bits),
        not_hispanic=positions[_not_hispanic_code(lists, set(hispanic))],
    )


def _tail(count: int, exponent: float, bits: RandomBits) -> Integers:
    """Weights that sum to about a million, in an order of the bits; the k-th largest falls with k to the exponent."""
    if count <= 0:
        return np.empty(0, dtype=np.int64)
    falling = [1 / rank**exponent for rank in range(1, count + 1)]
    whole = sum(falling)
    weights = np.array([max(1, round(_RESOLUTION * part / whole)) for part in falling], dtype=np.int64)
    return weights[np.argsort(bits.words(count, np.uint64), kind="stable")]


def _major_of_codes(lists: PublicLists) -> Mapping[str, int]:
    """By the name of the largest major iteration that holds the code."""
    majors = [
        iteration
        for iteration in lists.iterations
        if iteration.level is IterationLevel.MAJOR and iteration.kind is IterationKind.RACE_ALONE
    ]
    major_of: dict[str, int] = {}
    for iteration in sorted(majors, key=lambda iteration: len(lists.codes_of_iteration[iteration.code])):
        named = (position for position, major in enumerate(MAJORS) if iteration.name.startswith(major.name))
        major_of |= dict.fromkeys(lists.codes_of_iteration[iteration.code], next(named))
    return major_of


def _hispanic_codes(lists: PublicLists) -> list[str]:
    """The codes that lead to a tabulated ethnicity group; without one, the highest code stands for all."""
    tabulated = {
        code
        for iteration in lists.iterations
        if iteration.kind is IterationKind.ETHNICITY and iteration.listed is not None
        for code in lists.codes_of_iteration[iteration.code]
    }
    return sorted(tabulated) or [max(lists.code_names)]


def _not_hispanic_code(lists: PublicLists, hispanic: set[str]) -> str:
    """The highest code that leads to no ethnicity group: 9950 in 2020."""
    return max(set(lists.code_names) - hispanic, default=max(lists.code_names))
