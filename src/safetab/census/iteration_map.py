"""From a person's codes to characteristic iterations: the race and ethnicity half of the paper's g."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from safetab.census.iterations import IterationKind, IterationLevel
from safetab.census.public_lists import PublicLists, is_race_code

IterationOfCode = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class IterationMap:
    """For one iteration level and one grain of geography: the iteration of each code, by kind.

    A code has at most one iteration of a kind, so these are maps and not relations: stability rests on it.
    """

    alone: IterationOfCode
    in_combination: IterationOfCode
    ethnicity: IterationOfCode
    max_race_codes: int

    def iterations_of(self, race_codes: Sequence[str], ethnicity_code: str) -> frozenset[str]:
        """The iterations of a person, given the codes of QRACE1, QRACE2, ... in their order and that of QSPAN.

        Only the first `max_race_codes` positions are used; a code given twice counts once.
        """
        used = set(race_codes[: self.max_race_codes])
        found = {self.in_combination[code] for code in used if code in self.in_combination}
        around = {self.alone.get(code) for code in used}
        if len(around) == 1:  # all codes are inside one and the same group, or all in none
            found.update(group for group in around if group is not None)
        if ethnicity_code in self.ethnicity:
            found.add(self.ethnicity[ethnicity_code])
        return frozenset(found)


def iteration_map_of(
    lists: PublicLists, level: IterationLevel, *, is_substate: bool, max_race_codes: int
) -> IterationMap:
    """The map of the iterations that are tabulated at this level and grain."""
    of_kind: dict[IterationKind, dict[str, str]] = {kind: {} for kind in IterationKind}
    for iteration in lists.tabulated_iterations(level, is_substate=is_substate):
        codes, others = lists.codes_of_iteration[iteration.code], of_kind[iteration.kind]
        if iteration.kind is not IterationKind.ETHNICITY:
            codes = frozenset(filter(is_race_code, codes))  # no person can report another as a race
        for code in others.keys() & codes:
            raise ValueError(f"code {code} is in {others[code]} and {iteration.code}; the lists were not checked")
        others |= dict.fromkeys(codes, iteration.code)
    return IterationMap(
        alone=MappingProxyType(of_kind[IterationKind.RACE_ALONE]),
        in_combination=MappingProxyType(of_kind[IterationKind.RACE_IN_COMBINATION]),
        ethnicity=MappingProxyType(of_kind[IterationKind.ETHNICITY]),
        max_race_codes=max_race_codes,
    )
