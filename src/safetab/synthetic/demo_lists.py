"""The public lists of the demo census: its codes, and the characteristic iterations that they lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel, TabulationList
from safetab.census.public_lists import PublicLists
from safetab.synthetic.demo_codes import ETHNICITY_FAMILIES, RACE_FAMILIES, CodeFamily

_HAS_OWN_GROUP = {TabulationList.COMMON, TabulationList.TOTAL_ONLY}
_IS_AMONG_OTHERS = {TabulationList.TOTAL_ONLY, TabulationList.SUBSTATE_ONLY}


@dataclass(frozen=True, slots=True)
class _Group:
    """An iteration before it has a kind and a code of its own."""

    name: str
    level: IterationLevel
    listed: TabulationList | None
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _KindOfList:
    kind: IterationKind
    families: tuple[CodeFamily, ...]
    first_code: int
    major_suffix: str
    suffix: str


_KINDS = (
    _KindOfList(IterationKind.RACE_ALONE, RACE_FAMILIES, 1001, " alone", " alone"),
    _KindOfList(
        IterationKind.RACE_IN_COMBINATION,
        RACE_FAMILIES,
        2001,
        " alone or in combination with one or more other races",
        " alone or in any combination",
    ),
    _KindOfList(IterationKind.ETHNICITY, ETHNICITY_FAMILIES, 4001, "", ""),
)


def demo_public_lists() -> PublicLists:
    """Codes and iterations; within a kind, level and grain of geography a code is in one iteration at most."""
    names = {code.code: code.name for family in RACE_FAMILIES + ETHNICITY_FAMILIES for code in family.codes}
    iterations: list[CharacteristicIteration] = []
    codes_of_iteration: dict[str, frozenset[str]] = {}
    for listing in _KINDS:
        for number, group in enumerate(_groups_of(listing.families), start=listing.first_code):
            suffix = listing.major_suffix if group.level is IterationLevel.MAJOR else listing.suffix
            iteration = CharacteristicIteration(
                str(number), group.name + suffix, group.level, listing.kind, group.listed
            )  # fmt: skip
            iterations.append(iteration)
            codes_of_iteration[iteration.code] = group.codes
    return PublicLists(MappingProxyType(names), tuple(iterations), MappingProxyType(codes_of_iteration))


def _groups_of(families: Sequence[CodeFamily]) -> Iterator[_Group]:
    """Each major group, followed by the regions and detailed groups inside it."""
    for major in dict.fromkeys(family.major for family in families):
        inside = [family for family in families if family.major == major]
        codes = frozenset(code.code for family in inside for code in family.codes)
        yield _Group(major, IterationLevel.MAJOR, None, codes)
        for family in inside:
            yield from _groups_of_family(family)


def _groups_of_family(family: CodeFamily) -> Iterator[_Group]:
    if family.region is not None:
        codes = frozenset(code.code for code in family.codes)
        yield _Group(family.region, IterationLevel.REGIONAL, TabulationList.COMMON, codes)
    for code in family.codes:
        if code.listed in _HAS_OWN_GROUP:
            yield _Group(code.name, IterationLevel.DETAILED, code.listed, frozenset([code.code]))
    if family.others is not None:
        codes = frozenset(code.code for code in family.codes if code.listed in _IS_AMONG_OTHERS)
        yield _Group(family.others, IterationLevel.DETAILED, TabulationList.SUBSTATE_ONLY, codes)
