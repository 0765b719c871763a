"""The most that one record can change the counts of a level. It follows from public lists alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations


@dataclass(frozen=True, slots=True)
class CodeMaps:
    """The group of each code of a classification, for one level of groups and kind of area.

    A record is in a group of `any_of` if one of its codes is in the group, and in a group of `only`
    if it has a code and all of its codes are in the group. A code is in at most one group of each
    map; sensitivity needs this.
    """

    any_of: Mapping[str, str]
    only: Mapping[str, str]
    most_answers: int  # how many answers of a record count, at least 1
    columns: tuple[
        str, ...
    ] = ()  # of a record, that hold these answers; a single one may hold several

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
    """The greatest move of a level's vector of counts by what is protected.

    It is given in squared L2 norm and in L1 norm. One record changes each count by at most one, so
    both are its number of groups s. All records of a unit, at most k, change s counts by k each if
    they are equal: k * k * s and k * s.
    Proof: docs/privacy.md#units.
    """

    l2_squared: int
    l1: int
    is_exact: bool = field(default=True, compare=False)  # whether some record reaches it

    @classmethod
    def of_groups(cls, groups: int, most_records: int = 1, *, is_exact: bool = True) -> Sensitivity:
        """The sensitivity if a record is in at most this many groups.

        A unit has at most `most_records` records.
        """
        return cls(most_records * most_records * groups, most_records * groups, is_exact)

    @property
    def groups(self) -> int:
        """The greatest number of groups that one record can be in: the stability."""
        return self.l1 * self.l1 // self.l2_squared if self.l2_squared else 0

    def __bool__(self) -> bool:
        return self.l2_squared > 0 or self.l1 > 0


def sensitivity(maps: Iterable[CodeMaps], most_records: int = 1) -> Sensitivity:
    """The sensitivity of a level of groups, given the maps of each classification.

    It is the exact maximum over all records with listed codes if no two classifications share a
    column. It is an upper bound if they do, or if a rule of the record forbids some of these.

    Neighbours: add or remove a unit with at most `most_records` records. Each of them changes at
    most `groups` of a level's counts, by one each, because the entities of a level are disjoint.
    Spends: nothing; it reads public lists only.
    Proof: docs/privacy.md#stability and docs/privacy.md#units.
    """
    with_groups = [each for each in maps if each.any_of or each.only]
    shares = any({*one.columns} & {*other.columns} for one, other in combinations(with_groups, 2))
    return Sensitivity.of_groups(
        sum(map(_most_groups, with_groups)), most_records, is_exact=not shares
    )


def _most_groups(maps: CodeMaps) -> int:
    """The most groups that a record's codes can reach.

    Either the codes reach the most groups of `any_of`, or all stay inside one group of `only`.
    """
    reached_inside: defaultdict[str, set[str]] = defaultdict(set)
    for code, group in maps.only.items():
        reached_inside[group].update({maps.any_of[code]} if code in maps.any_of else ())
    most = maps.most_answers
    spread = min(most, len(set(maps.any_of.values())))
    return max([spread, *(1 + min(most, len(reached)) for reached in reached_inside.values())])


def reaching_record(maps: Sequence[CodeMaps]) -> tuple[tuple[str, ...], ...]:
    """Answers with which a record is in as many groups as the sensitivity says.

    There are answers to each classification. If classifications share a column, it is the best
    record found: the worst answers to one of them, and the worst answers to the next that these
    allow.
    """
    records = [_answered(maps, order) for order in permutations(range(len(maps)))]
    return max(records, key=lambda answers: groups_reached(maps, answers))


def groups_reached(maps: Iterable[CodeMaps], answers: Iterable[Sequence[str]]) -> int:
    """The number of groups of a record with these answers to each classification."""
    return sum(len(each.groups_of(codes)) for each, codes in zip(maps, answers, strict=True))


def _answered(maps: Sequence[CodeMaps], order: Iterable[int]) -> tuple[tuple[str, ...], ...]:
    """The answers of a record that answers one classification after another as badly as it can."""
    code_of: dict[tuple[str, int], str] = {}
    for number in order:
        slots = _slots(maps[number], number)
        free = [slot for slot in slots if slot not in code_of]
        given = [code_of[slot] for slot in slots if slot in code_of]
        repeated = given[:1] * len(
            free
        )  # leaves no gap before an answer that is given, and counts once
        code_of |= zip(free, (*_worst_codes(maps[number], given), *repeated), strict=False)
    slots_of = [_slots(each, number) for number, each in enumerate(maps)]
    return tuple(tuple(code_of[slot] for slot in slots if slot in code_of) for slots in slots_of)


def _slots(maps: CodeMaps, number: int) -> list[tuple[str, int]]:
    """The places of the answers that count: a column and, in the last one, which of its answers."""
    columns = maps.columns or (f"classification {number}",)
    most = min(maps.most_answers, len(columns) + len(maps.any_of) + len(maps.only))
    last = len(columns) - 1
    return [(columns[min(answer, last)], max(answer - last, 0)) for answer in range(most)]


def _worst_codes(maps: CodeMaps, given: Sequence[str]) -> tuple[str, ...]:
    """The codes that a record adds to those given, to be in the most groups.

    They reach one new group of `any_of` each. As in the proof, they are taken from all codes or
    from those of one group of `only`.
    """
    inside: defaultdict[str, list[str]] = defaultdict(list)
    for code, group in maps.only.items():
        inside[group].append(code)
    free = max(maps.most_answers - len(given), 0)
    reached = {maps.any_of[code] for code in given if code in maps.any_of}
    found: list[tuple[str, ...]] = [()]
    for codes in ([*maps.any_of], *inside.values()):
        reaching = {
            maps.any_of[code]: code for code in sorted(codes, reverse=True) if code in maps.any_of
        }
        added = [reaching[group] for group in sorted(reaching.keys() - reached)] or sorted(codes)[
            :1
        ]
        found.append(tuple(added[:free]))
    return max(found, key=lambda added: len(maps.groups_of([*given, *added])))
