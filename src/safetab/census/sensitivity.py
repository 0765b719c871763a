"""How much one record can change the counts of a level. It follows from public lists alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeMaps:
    """The group of each code of one classification, for one level of groups and one kind of area.

    A record is in a group of `any_of` if one of its codes is in the group, and in a group of `only`
    if it has a code and all of its codes are in the group. A code is in at most one group of each
    map; sensitivity needs this.
    """

    any_of: Mapping[str, str]
    only: Mapping[str, str]
    most_answers: int  # how many answers of a record count, at least 1

    def groups_of(self, codes: Sequence[str]) -> frozenset[str]:
        """The groups of a record that has these codes, in the order of its answers.

        The first `most_answers` of them count, and a repeated code counts once.
        """
        used = set(codes[: self.most_answers])
        found = {self.any_of[code] for code in used if code in self.any_of}
        around = {self.only.get(code) for code in used}
        if len(around) == 1:  # all codes are in the same group, or none is in any
            found.update(group for group in around if group is not None)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far one record can move the vector of a level's counts, in squared L2 norm and in L1 norm.

    One record changes each count by at most one, so both are its number of groups. They are kept
    apart because k equal records would change s counts by k each: k * k * s and k * s.
    """

    l2_squared: int
    l1: int

    @classmethod
    def of_groups(cls, groups: int) -> Sensitivity:
        """The sensitivity if one record is in at most this many groups."""
        return cls(l2_squared=groups, l1=groups)

    def __bool__(self) -> bool:
        return self.l2_squared > 0 or self.l1 > 0


def sensitivity(maps: Iterable[CodeMaps]) -> Sensitivity:
    """The sensitivity of a level of groups, given the maps of each classification.

    It is the exact maximum over all records if no two classifications share a column, and an upper
    bound if they do.

    Neighbours: add or remove one record, which then changes at most this many of a level's counts,
    by one each, because the entities of a level are disjoint.
    Spends: nothing; it reads public lists only.
    Proof: docs/privacy.md#stability.
    """
    return Sensitivity.of_groups(sum(map(_most_groups, maps)))


def _most_groups(maps: CodeMaps) -> int:
    """Either the codes reach the most groups of `any_of`, or all stay inside one group of `only`."""
    reached_inside: defaultdict[str, set[str]] = defaultdict(set)
    for code, group in maps.only.items():
        reached_inside[group].update({maps.any_of[code]} if code in maps.any_of else ())
    most = maps.most_answers
    spread = min(most, len(set(maps.any_of.values())))
    return max([spread, *(1 + min(most, len(reached)) for reached in reached_inside.values())])
