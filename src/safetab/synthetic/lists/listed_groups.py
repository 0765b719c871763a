"""Public lists from groups of codes: each race group is an iteration alone and one in combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel, TabulationList
from safetab.census.public_lists import PublicLists

_FIRST_ITERATION = 1001
_SUFFIXES = {
    IterationKind.RACE_ALONE: " alone",
    IterationKind.RACE_IN_COMBINATION: " alone or in any combination",
    IterationKind.ETHNICITY: "",
}


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """An iteration before it has a kind and a code of its own."""

    name: str
    level: IterationLevel
    listed: TabulationList | None
    codes: tuple[str, ...]


def public_lists_of(
    code_names: Mapping[str, str], races: Sequence[ListedGroup], ethnicities: Sequence[ListedGroup]
) -> PublicLists:
    of_kind = {
        IterationKind.RACE_ALONE: races,
        IterationKind.RACE_IN_COMBINATION: races,
        IterationKind.ETHNICITY: ethnicities,
    }
    listed: list[CharacteristicIteration] = []
    codes_of_iteration: dict[str, frozenset[str]] = {}
    for kind, groups in of_kind.items():
        for group in groups:
            code = str(_FIRST_ITERATION + len(listed))
            listed.append(CharacteristicIteration(code, group.name + _SUFFIXES[kind], group.level, kind, group.listed))
            codes_of_iteration[code] = frozenset(group.codes)
    return PublicLists(MappingProxyType(dict(code_names)), tuple(listed), MappingProxyType(codes_of_iteration))
