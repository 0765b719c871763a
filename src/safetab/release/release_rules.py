"""Rules of the tabulation system: numbers that are measured and stay measured, but are not shown, or shown as zero."""

from __future__ import annotations

from enum import Enum

from safetab.census.iterations import CharacteristicIteration, IterationKind
from safetab.census.public_lists import PublicLists


class ReleaseRule(Enum):
    """The value is the name on the command line and in the release."""

    CLAMP_NEGATIVES = "clamp-negatives"
    WITHHOLD_NEGATIVES = "withhold-negatives"
    WITHHOLD_ALONE_ABOVE_PARTNER = "withhold-alone-above-partner"

    @property
    def explanation(self) -> str:
        return _EXPLANATIONS[self]


_EXPLANATIONS = {
    ReleaseRule.CLAMP_NEGATIVES: "a number below 0 is shown as 0",
    ReleaseRule.WITHHOLD_NEGATIVES: "a number below 0 is withheld",
    ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER: (
        "a number of an Alone group is withheld if it is above the same number of its partner, the group Alone or in"
        " Any Combination of the same codes"
    ),
}


def partner_codes(lists: PublicLists, *, is_substate: bool) -> dict[str, str]:
    """For each Alone iteration tabulated there its partner: in combination, of the same level, with the same codes.

    A code belongs to at most one iteration of a kind, a level and a grain of geography, so there is at most one.
    """

    def identity(iteration: CharacteristicIteration) -> tuple[int, frozenset[str]]:
        return int(iteration.level), lists.codes_of_iteration.get(iteration.code, frozenset())

    tabulated = [iteration for iteration in lists.iterations if iteration.is_tabulated(is_substate=is_substate)]
    in_combination = {
        identity(iteration): iteration.code
        for iteration in tabulated
        if iteration.kind is IterationKind.RACE_IN_COMBINATION and lists.codes_of_iteration.get(iteration.code)
    }
    alone = ((one.code, identity(one)) for one in tabulated if one.kind is IterationKind.RACE_ALONE)
    return {code: in_combination[its_own] for code, its_own in alone if its_own in in_combination}
